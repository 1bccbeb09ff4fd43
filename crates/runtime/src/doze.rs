//! Going to sleep without missing who wakes: what queues and signals have in common.
//!
//! Whoever sleeps is counted before it looks for the last time; whoever changes something looks at the count afterwards. Of
//! the two, at least one sees the other. `loom/` tries this in every order.

use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::total_order;

/// Sleeps, counted in `sleepers`, unless a last look says that there is no reason to. The look returns what was seen in the
/// word to sleep on; `sleep` returns at once if that has changed.
pub(crate) fn doze(sleepers: &AtomicU64, look: impl FnOnce() -> Option<u32>, sleep: impl FnOnce(u32)) {
    sleepers.fetch_add(1, Ordering::SeqCst);
    total_order();
    if let Some(seen) = look() {
        sleep(seen);
    }
    sleepers.fetch_sub(1, Ordering::SeqCst);
}

/// Who is to be woken after a change: the count.
#[inline]
pub(crate) fn sleeping(sleepers: &AtomicU64) -> u64 {
    total_order();
    sleepers.load(Ordering::SeqCst)
}
