//! The locks and atomics of code that `loom/` runs with its own.

pub(crate) use std::sync::atomic;

/// Everything before is seen by whoever comes after, in the one order that all `SeqCst` operations have. loom knows that order
/// from fences alone and has one here.
#[inline]
pub(crate) fn total_order() {}
