//! Ctrl-C: dispatches under way end, with a report of where their waves are.
//!
//! A signal is the whole process's, and so is this. What a handler may call does nothing but look at and store to
//! atomic words.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// Dispatches shall end. True if there are some and nobody has asked before: then a report will come. A signal handler
/// may call it.
pub fn ask() -> bool {
    RUNNING.load(Ordering::SeqCst) > 0 && !ASKED.swap(true, Ordering::SeqCst)
}

/// Somebody has asked.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// A dispatch under way.
pub(crate) struct Running;

impl Running {
    pub(crate) fn new() -> Running {
        RUNNING.fetch_add(1, Ordering::SeqCst);
        Running
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::SeqCst);
    }
}
