//! Instructions under way on other threads.
//!
//! Memory changes before a check hears of it: a wave on another thread may see a value and be told about its load first.
//! Threads say when they are between the two; whoever has read a flag waits until those are through that were under way
//! then, and so knows of every write that its load can have seen.

use std::cell::OnceCell;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::sync::{Arc, PoisonError, RwLock, Weak};
use std::time::{Duration, Instant};

/// A thread's count of begun and ended instructions: odd while one is under way.
type Slot = AtomicU64;

static ALL: RwLock<Vec<Weak<Slot>>> = RwLock::new(Vec::new());

/// A thread that takes longer has been stopped from outside, and nobody can say for how long.
const PATIENCE: Duration = Duration::from_secs(2);

thread_local! {
    static OWN: OnceCell<Arc<Slot>> = const { OnceCell::new() };
}

fn own<R>(f: impl FnOnce(&Arc<Slot>) -> R) -> R {
    OWN.with(|own| {
        f(own.get_or_init(|| {
            let slot = Arc::new(Slot::new(0));
            let mut all = ALL.write().unwrap_or_else(PoisonError::into_inner);
            all.retain(|s| s.strong_count() > 0);
            all.push(Arc::downgrade(&slot));
            slot
        }))
    })
}

/// An instruction that writes memory begins on this thread.
pub fn begin() {
    own(|slot| {
        slot.store(slot.load(Ordering::Relaxed) | 1, Ordering::Relaxed);
        // Whoever sees what it writes sees that it is under way.
        fence(Ordering::Release);
    });
}

/// The checks know of it, or it was not made.
pub fn end() {
    own(|slot| {
        let now = slot.load(Ordering::Relaxed);
        slot.store(now + (now & 1), Ordering::Release);
    });
}

/// Waits until the checks know of what was under way on other threads when this was called. Not to be called between
/// [`begin`] and [`end`]: two would wait for each other.
pub fn settle() {
    fence(Ordering::Acquire);
    let others: Vec<(Arc<Slot>, u64)> = own(|own| {
        let all = ALL.read().unwrap_or_else(PoisonError::into_inner);
        let under_way = |s: Arc<Slot>| Some(s.load(Ordering::Acquire)).filter(|n| n & 1 != 0).map(|n| (s, n));
        all.iter().filter_map(Weak::upgrade).filter(|s| !Arc::ptr_eq(s, own)).filter_map(under_way).collect()
    });
    let mut started = None;
    for (slot, then) in others {
        while slot.load(Ordering::Acquire) == then {
            if started.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
                return;
            }
            std::thread::yield_now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn who_settles_knows_of_what_was_under_way() {
        let (written, told) = (AtomicBool::new(false), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                begin();
                written.store(true, Ordering::Release);
                std::thread::sleep(Duration::from_millis(20));
                told.store(true, Ordering::Relaxed);
                end();
            });
            while !written.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            settle();
            assert!(told.load(Ordering::Relaxed));
        });
        // Nothing is under way: nobody waits.
        settle();
        end();
        settle();
    }
}
