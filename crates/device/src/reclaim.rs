//! Freed memory: it must stay mapped while waves run, because one of them may be in the middle of an access. `loom/` tries
//! this in every order.

use crate::mapping::Mapping;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicUsize, Ordering};
use std::sync::PoisonError;

/// Where freed memory waits until the waves that may have seen it have ended: deferred reclamation.
#[derive(Default)]
pub struct Reclaimer {
    running: AtomicUsize,
    freed: Mutex<Vec<Mapping>>,
}

/// Says that waves may be running, for as long as it lives.
pub(crate) struct Running<'a>(&'a Reclaimer);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if self.0.running.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.clear();
        }
    }
}

impl Reclaimer {
    /// Waves run until the answer is dropped.
    pub(crate) fn running(&self) -> Running<'_> {
        self.running.fetch_add(1, Ordering::AcqRel);
        Running(self)
    }

    /// Takes memory that was withdrawn from every device. It is unmapped when no wave runs.
    pub fn retire(&self, map: Mapping) {
        if self.running.load(Ordering::Acquire) > 0 {
            // Programs that never pause must not grow: the pages go now, the addresses later.
            // SAFETY: nobody holds references into the mapping, and nobody relies on its content any more.
            unsafe { map.discard() };
        }
        self.freed.lock().unwrap_or_else(PoisonError::into_inner).push(map);
        self.clear();
    }

    /// How many mappings wait.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        self.freed.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn clear(&self) {
        let mut freed = self.freed.lock().unwrap_or_else(PoisonError::into_inner);
        // Nothing freed before this moment is visible to a wave that starts after it.
        if self.running.load(Ordering::Acquire) == 0 {
            freed.clear();
        }
    }
}
