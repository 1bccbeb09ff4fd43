//! Whether only one thread of the process runs waves: atomic operations on memory that only waves access need no host atomics
//! then, which cost ten times as much as what they do.
//!
//! Stores of waves are plain stores, so that an operation in several steps could lose one that another thread does in between:
//! no lock helps, only that there is no other thread. Whoever runs waves, or writes to their memory meanwhile, is
//! [`Present`]; waves that run elsewhere never find themselves alone. [`handshake`] has how threads agree; the first one pays
//! for a few plain accesses, the second one for a system call, and where the host has no such call, nobody is ever alone.

mod handshake;

use crate::sync;
use handshake::Handshake;
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// One for all GPUs of the process: they may see each other's memory.
static THREADS: Handshake = Handshake {
    present: Mutex::new(0),
    hint: AtomicUsize::new(0),
    alone: AtomicU64::new(0),
    inside: AtomicBool::new(false),
};

/// What a thread knows of itself.
#[derive(Clone, Copy)]
struct Me {
    /// Its name, if it may be alone; 0 else.
    name: u64,
    /// How often it is present.
    depth: u32,
}

thread_local! {
    static ME: Cell<Me> = const { Cell::new(Me { name: 0, depth: 0 }) };
}

/// While there is one, its thread runs waves or writes to their memory.
pub struct Present {
    name: u64,
    /// It is its thread's.
    _here: PhantomData<*const ()>,
}

impl Present {
    /// This thread will be the only one for a while, if nobody else comes.
    pub fn perhaps_alone() -> Present {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Present::named(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// Others will come, or are there: to be alone for a moment is not worth the trouble.
    pub fn among_others() -> Present {
        Present::named(0)
    }

    fn named(name: u64) -> Present {
        let me = ME.get();
        if me.depth == 0 {
            THREADS.enter();
            ME.set(Me { name, depth: 1 });
        } else {
            ME.set(Me { depth: me.depth + 1, ..me });
        }
        Present { name, _here: PhantomData }
    }
}

impl Drop for Present {
    fn drop(&mut self) {
        let me = ME.get();
        if me.depth > 1 {
            ME.set(Me { depth: me.depth - 1, ..me });
            return;
        }
        ME.set(Me { name: 0, depth: 0 });
        THREADS.leave(self.name);
    }
}

/// Makes ready for threads that are alone, at once, which else happens when it is worth it; false if none ever is.
pub fn prepare() -> bool {
    sync::register()
}

/// While there is one, no other thread is present.
pub(crate) struct Inside(());

/// Whether this thread is alone.
#[inline]
pub(crate) fn inside() -> Option<Inside> {
    let me = ME.get().name;
    (me != 0 && THREADS.begin(me)).then_some(Inside(()))
}

impl Drop for Inside {
    #[inline]
    fn drop(&mut self) {
        THREADS.end();
    }
}

/// What this thread was doing was given up, perhaps inside, and nothing was dropped.
#[cold]
pub(crate) fn given_up() {
    // While this thread is present, no other one can be inside.
    if ME.get().name != 0 {
        THREADS.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn one_thread_is_alone_and_two_are_not() {
        assert!(inside().is_none(), "who is not present is not alone");
        let there = prepare();
        let present = Present::perhaps_alone();
        // Other tests have threads, too.
        let end = Instant::now() + Duration::from_secs(30);
        let alone = || {
            while Instant::now() < end {
                if inside().is_some() {
                    return true;
                }
                std::thread::yield_now();
            }
            false
        };
        assert_eq!(alone(), there);
        let nested = Present::among_others();
        assert_eq!(alone(), there, "a thread is present once");
        drop(nested);
        let (send, wait) = std::sync::mpsc::channel();
        let (stop, stopped) = std::sync::mpsc::channel();
        let other = std::thread::spawn(move || {
            let present = Present::perhaps_alone();
            assert!(inside().is_none());
            send.send(()).unwrap();
            stopped.recv().unwrap();
            drop(present);
        });
        wait.recv().unwrap();
        assert!(inside().is_none());
        stop.send(()).unwrap();
        other.join().unwrap();
        assert_eq!(alone(), there, "it comes back");
        drop(present);
        assert!(inside().is_none());
    }
}
