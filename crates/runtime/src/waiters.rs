//! Threads that sleep until a word of memory changes.
//!
//! Whoever changes a word through this crate wakes its waiters. Device code just stores to it, so a
//! dispatch's host looks at all words that somebody sleeps on when waves' turns end.

use crate::turns;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use wavemill_device::control::Host;

/// What somebody can sleep on.
#[derive(Clone, Copy)]
pub(crate) enum Word {
    /// A signal's value.
    Value(&'static AtomicU64),
    /// A packet's header. What follows it is its producer's, who writes it without atomics before.
    Header(&'static AtomicU16),
}

impl Word {
    /// What is in it.
    pub(crate) fn load(self) -> u64 {
        match self {
            Word::Value(word) => word.load(Ordering::SeqCst),
            Word::Header(word) => word.load(Ordering::SeqCst).into(),
        }
    }

    fn address(self) -> usize {
        match self {
            Word::Value(word) => word.as_ptr() as usize,
            Word::Header(word) => word.as_ptr() as usize,
        }
    }
}

/// A word that somebody sleeps on.
struct Waiter {
    word: Word,
    /// What was in it when the waiter last looked.
    seen: u64,
    /// What to wake.
    bell: &'static AtomicU32,
}

static WAITERS: Mutex<Vec<Waiter>> = Mutex::new(Vec::new());
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Changes whenever something happened that several signals' listeners may wait for.
static EVENTS: AtomicU32 = AtomicU32::new(0);

/// Threads that sleep until the next event.
static LISTENING: AtomicUsize = AtomicUsize::new(0);

/// The longest sleep: whatever is overlooked is noticed after this time.
const LONGEST: Duration = Duration::from_millis(100);

/// Looks at something for a few hundred nanoseconds; the first answer counts. A virtual machine's host takes the
/// processor away from whoever pauses again and again, so there is one pause to many looks.
#[inline]
pub(crate) fn spin<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    for _ in 0..8 {
        for _ in 0..32 {
            let seen = look();
            if seen.is_some() {
                return seen;
            }
        }
        std::hint::spin_loop();
    }
    None
}

/// Sleeps while `bell` holds `value`, but not longer than `limit`.
pub(crate) fn sleep(bell: &AtomicU32, value: u32, limit: Option<Duration>) {
    // Interrupted, changed, timed out: the caller looks again in any case.
    host::wait(bell, value, limit.map_or(LONGEST, |l| l.min(LONGEST)));
}

/// Wakes every thread that sleeps on `bell`.
pub(crate) fn wake(bell: &AtomicU32) {
    host::wake(bell);
}

/// Sleeping on a word, as Linux has it.
#[cfg(target_os = "linux")]
mod host {
    use rustix::thread::futex;
    use std::sync::atomic::AtomicU32;
    use std::time::Duration;

    pub(super) fn wait(bell: &AtomicU32, value: u32, limit: Duration) {
        let time = rustix::time::Timespec { tv_sec: 0, tv_nsec: limit.subsec_nanos().into() };
        // Not private: words may be shared memory.
        let _ = futex::wait(bell, futex::Flags::empty(), value, Some(&time));
    }

    pub(super) fn wake(bell: &AtomicU32) {
        let _ = futex::wake(bell, futex::Flags::empty(), i32::MAX as u32);
    }
}

/// The same with what every system has: one bell for all, whose waiters look whether it was theirs.
#[cfg(not(target_os = "linux"))]
mod host {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::{Condvar, Mutex, PoisonError};
    use std::time::Duration;

    static LOCK: Mutex<()> = Mutex::new(());
    static RUNG: Condvar = Condvar::new();

    pub(super) fn wait(bell: &AtomicU32, value: u32, limit: Duration) {
        let lock = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        if bell.load(Ordering::SeqCst) == value {
            drop(RUNG.wait_timeout(lock, limit));
        }
    }

    pub(super) fn wake(_: &AtomicU32) {
        // Whoever has looked at its word and not gone to sleep yet holds the lock.
        drop(LOCK.lock());
        RUNG.notify_all();
    }
}

/// Registers a waiter until the answer is dropped.
pub(crate) fn register(word: Word, seen: u64, bell: &'static AtomicU32) -> Registered {
    let mut waiters = WAITERS.lock().unwrap_or_else(PoisonError::into_inner);
    waiters.push(Waiter { word, seen, bell });
    COUNT.store(waiters.len(), Ordering::SeqCst);
    Registered { word, bell }
}

/// A waiter's registration.
pub(crate) struct Registered {
    word: Word,
    bell: &'static AtomicU32,
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut waiters = WAITERS.lock().unwrap_or_else(PoisonError::into_inner);
        let own = |s: &Waiter| s.word.address() == self.word.address() && std::ptr::eq(s.bell, self.bell);
        let at = waiters.iter().position(own);
        at.map(|i| waiters.swap_remove(i));
        COUNT.store(waiters.len(), Ordering::SeqCst);
    }
}

/// Wakes those whose word has changed, unless somebody else is at it: [`wake_changed`] follows when the dispatch ends.
pub(crate) fn wake_changed_if_free() {
    if COUNT.load(Ordering::SeqCst) > 0
        && let Ok(waiters) = WAITERS.try_lock()
    {
        wake_all(waiters);
    }
}

/// The host of dispatches whose waves may change words that somebody sleeps on.
pub(crate) struct WaitersHost;

impl Host for WaitersHost {
    fn message(&self) {
        wake_changed();
    }

    fn turn_ended(&self) {
        wake_changed_if_free();
        turns::rest(true, || false);
    }
}

/// Wakes those whose word has changed.
pub(crate) fn wake_changed() {
    if COUNT.load(Ordering::SeqCst) > 0 {
        wake_all(WAITERS.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

fn wake_all(waiters: MutexGuard<'_, Vec<Waiter>>) {
    let mut events = false;
    for s in waiters.iter().filter(|s| s.word.load() != s.seen) {
        if std::ptr::eq(s.bell, &EVENTS) {
            events = true;
        } else {
            wake(s.bell);
        }
    }
    drop(waiters);
    if events {
        event();
    }
}

/// The number of the last event.
pub(crate) fn events() -> &'static AtomicU32 {
    &EVENTS
}

/// Something happened that a listener may wait for.
pub(crate) fn event() {
    EVENTS.fetch_add(1, Ordering::SeqCst);
    if LISTENING.load(Ordering::SeqCst) > 0 {
        wake(&EVENTS);
    }
}

/// Sleeps until the next event after the one numbered `seen`.
pub(crate) fn sleep_for_event(seen: u32, limit: Option<Duration>) {
    LISTENING.fetch_add(1, Ordering::SeqCst);
    sleep(&EVENTS, seen, limit);
    LISTENING.fetch_sub(1, Ordering::SeqCst);
}
