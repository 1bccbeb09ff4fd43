//! An engine that does what a test says, to see what waves start with and how they are scheduled.

use wavemill_wave::{Engine, Event, GroupShared, Memory, Wave};

/// An engine made of a closure.
pub struct Fake<F>(pub F);

impl<F: Fn(&mut Wave, &GroupShared, &Memory, u64) -> Event + Send + Sync> Engine for Fake<F> {
    fn run(&self, wave: &mut Wave, group: &GroupShared, memory: &Memory, budget: u64) -> Event {
        (self.0)(wave, group, memory, budget)
    }

    fn invalidate(&self, _: u64, _: u64) {}

    fn revalidate(&self) {}
}
