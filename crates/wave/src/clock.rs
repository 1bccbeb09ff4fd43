//! The time that waves see.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Time since waves first looked at the clock: what S_MEMTIME counts in nanoseconds and S_MEMREALTIME in 25 MHz.
pub fn clock() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}
