//! The locks, atomics and barriers of code that `loom/` runs with its own.

pub(crate) use barrier::{barrier_of_all, has_barrier, register};
pub(crate) use std::sync::{Mutex, MutexGuard, atomic};

/// A barrier of this thread, as far as the compiler is concerned; [`barrier_of_all`] makes it one of the host's.
#[inline(always)]
pub(crate) fn barrier_of_one() {
    atomic::compiler_fence(atomic::Ordering::SeqCst);
}

/// Lets another thread go on that is waited for.
pub(crate) fn pause() {
    std::thread::yield_now();
}

// Miri has no such call.
#[cfg(all(target_os = "linux", not(miri)))]
mod barrier {
    use rustix::thread::{MembarrierCommand, membarrier};
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    /// How often somebody has asked; or what came of it.
    static ASKED: AtomicU32 = AtomicU32::new(0);
    const THERE: u32 = u32::MAX;
    const MISSING: u32 = u32::MAX - 1;
    /// To register a process with several threads takes the kernel some ten milliseconds. As often must somebody ask before
    /// that is worth it: then as much has been lost by not having done it.
    const PATIENCE: u32 = 1 << 16;

    /// Whether there is a barrier of all threads. The process is registered for it when that pays off.
    pub(crate) fn has_barrier() -> bool {
        match ASKED.load(Ordering::Relaxed) {
            THERE => true,
            MISSING => false,
            0 => {
                ASKED.store(1, Ordering::Relaxed);
                // With one thread, it is a matter of microseconds.
                let threads = std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
                threads == 1 && register()
            }
            PATIENCE.. => register(),
            asked => {
                // A thread's count may get lost in another's.
                ASKED.store(asked + 1, Ordering::Relaxed);
                false
            }
        }
    }

    /// Registers the process at once; whether there is a barrier.
    #[cold]
    pub(crate) fn register() -> bool {
        let there = membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok();
        ASKED.store(if there { THERE } else { MISSING }, Ordering::Relaxed);
        there
    }

    /// All threads of the process that run pass a barrier before this returns; the others have.
    pub(crate) fn barrier_of_all() {
        if membarrier(MembarrierCommand::PrivateExpedited).is_err()
            && membarrier(MembarrierCommand::Global).is_err()
        {
            // A filter of system calls may have come meanwhile. Interrupts are barriers, and come soon.
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
mod barrier {
    /// There is no barrier of all threads.
    pub(crate) fn has_barrier() -> bool {
        false
    }

    /// As above.
    pub(crate) fn register() -> bool {
        false
    }

    /// Nobody is alone, so nobody calls it.
    pub(crate) fn barrier_of_all() {}
}
