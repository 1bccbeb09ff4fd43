//! The time that waves see.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Time since waves first looked at the clock.
pub fn clock() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// The same, counted by a clock of so many MHz: S_MEMTIME counts shader clocks, S_MEMREALTIME those of a constant clock.
pub fn ticks(mhz: u32) -> u64 {
    (clock().as_nanos() * u128::from(mhz) / 1000) as u64
}
