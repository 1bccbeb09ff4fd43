//! Whether a thread is the only one that runs waves, and how another one takes that away from it.
//!
//! Who is alone says that it is inside, looks whether it is still alone, and does what it likes; both are plain accesses. Who
//! comes second first takes aloneness away, then makes every thread of the process pass a barrier, and waits until the first is
//! outside. The first one either had said before the barrier that it is inside, which the second one sees, or looks after it,
//! and sees that it is not alone.

use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use crate::sync::{MutexGuard, barrier_of_all, barrier_of_one, has_barrier, pause};

/// What threads that run waves share.
pub(crate) struct Handshake {
    /// How many there are.
    pub(crate) present: Mutex<usize>,
    /// The same, for who wants no lock: it may be old.
    pub(crate) hint: AtomicUsize,
    /// The one that is alone, and knows it; 0 for none.
    pub(crate) alone: AtomicU64,
    /// It does what it may do because it is alone.
    pub(crate) inside: AtomicBool,
}

impl Handshake {
    fn count(&self, change: impl FnOnce(usize) -> usize) -> MutexGuard<'_, usize> {
        let mut present = self.present.lock().unwrap_or_else(|e| e.into_inner());
        *present = change(*present);
        self.hint.store(*present, Ordering::Relaxed);
        present
    }

    /// A thread comes. It may access what others do when this returns.
    pub(crate) fn enter(&self) {
        // Whoever comes third waits, too.
        let _present = self.count(|n| n + 1);
        if self.alone.load(Ordering::Relaxed) == 0 {
            return;
        }
        self.alone.store(0, Ordering::Relaxed);
        barrier_of_all();
        while self.inside.load(Ordering::Acquire) {
            pause();
        }
    }

    /// A thread goes, which has entered as `me`.
    pub(crate) fn leave(&self, me: u64) {
        let _present = self.count(|n| n - 1);
        if self.alone.load(Ordering::Relaxed) == me {
            self.alone.store(0, Ordering::Relaxed);
        }
    }

    /// Whether this thread, which has entered as `me`, is alone. Then nobody else comes before [`Self::end`].
    #[inline]
    pub(crate) fn begin(&self, me: u64) -> bool {
        if self.alone.load(Ordering::Relaxed) != me && !self.claim(me) {
            return false;
        }
        self.inside.store(true, Ordering::Relaxed);
        barrier_of_one();
        if self.alone.load(Ordering::Relaxed) == me {
            barrier_of_one();
            return true;
        }
        self.end();
        false
    }

    /// See [`Self::begin`].
    #[inline]
    pub(crate) fn end(&self) {
        self.inside.store(false, Ordering::Release);
    }

    /// Becomes alone, if nobody else is present.
    #[cold]
    fn claim(&self, me: u64) -> bool {
        if self.hint.load(Ordering::Relaxed) != 1 || !has_barrier() {
            return false;
        }
        let present = self.present.lock().unwrap_or_else(|e| e.into_inner());
        if *present == 1 {
            self.alone.store(me, Ordering::Relaxed);
        }
        *present == 1
    }
}
