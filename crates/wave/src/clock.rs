//! The time that waves see.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Time since waves first looked at the clock.
pub fn clock() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// Where S_MEMTIME and S_MEMREALTIME get the time from.
#[derive(Clone)]
pub enum Clock {
    /// The host's clock.
    Host {
        /// MHz of the shader clock, which S_MEMTIME counts.
        shader: u32,
    },
    /// Instructions executed by this wave: the same in every run.
    Instructions,
    /// Whatever the launcher has.
    Source {
        /// Time since some start, asked for at every reading.
        now: Arc<dyn Fn() -> Duration + Send + Sync>,
        /// MHz of the shader clock.
        shader: u32,
    },
}

impl Clock {
    /// The shader clock (S_MEMTIME) of a wave that has executed so many instructions.
    pub(crate) fn shader(&self, executed: u64) -> u64 {
        match self {
            Clock::Host { shader } | Clock::Source { shader, .. } => self.ticks(*shader, executed),
            Clock::Instructions => executed,
        }
    }

    /// A constant clock of so many MHz (S_MEMREALTIME).
    pub(crate) fn ticks(&self, mhz: u32, executed: u64) -> u64 {
        let now = match self {
            Clock::Host { .. } => clock(),
            Clock::Source { now, .. } => now(),
            Clock::Instructions => return executed,
        };
        (now.as_nanos() * u128::from(mhz) / 1000) as u64
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Clock::Host { shader } => write!(f, "Host at {shader} MHz"),
            Clock::Instructions => f.write_str("Instructions"),
            Clock::Source { shader, .. } => write!(f, "Source at {shader} MHz"),
        }
    }
}
