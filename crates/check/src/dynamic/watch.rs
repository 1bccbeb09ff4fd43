//! What a check is: something that watches the work-groups of a dispatch.

use super::accesses::Accesses;
use super::book::{Book, Key, Told, Who};
use super::scene::{Executed, Scene};
use std::sync::Arc;
use wavemill_wave::observe::{Space, WaitCounts};
use wavemill_wave::{Event, Wave};

/// What a check can look at and write to.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The dispatch.
    pub scene: &'a Arc<Scene>,
    /// What was found.
    pub book: &'a Book,
    /// It was stopped, and not by a fault: time ran out, or nobody wants it any more.
    pub stopped: bool,
}

impl Context<'_> {
    /// Notes a finding.
    pub fn report(&self, key: Key, who: Who, times: u64, tell: impl FnOnce() -> Told) {
        self.book.note(self.scene, key, who, times, tell);
    }
}

/// A check of one dispatch.
pub trait Watch: Send + Sync {
    /// Watches a work-group that begins, with so many waves.
    fn group(&self, cx: &Context<'_>, id: [u32; 3], waves: u32) -> Box<dyn GroupWatch>;

    /// It looks at memory accesses and nothing else, and has seen enough of those that it takes ([`GroupWatch::takes`]).
    fn is_narrow(&self) -> bool {
        false
    }

    /// Whether it wants to be told of an instruction before it runs ([`GroupWatch::before`]).
    fn wants_before(&self, at: &Executed) -> bool {
        let _ = at;
        true
    }

    /// Whether it wants to be told when an instruction has accessed nothing ([`GroupWatch::after`]).
    fn wants_idle(&self, at: &Executed) -> bool {
        let _ = at;
        false
    }

    /// The dispatch is over.
    fn ended(&self, cx: &Context<'_>) {
        let _ = cx;
    }
}

/// A check of one work-group. What happens to its waves is told in its order; a work-group runs on one thread at a time.
#[allow(unused_variables)] // what the provided methods do not look at
pub trait GroupWatch: Send {
    /// A wave starts.
    fn wave_started(&mut self, cx: &Context<'_>, wave: &Wave) {}

    /// An instruction is about to run.
    fn before(&mut self, cx: &Context<'_>, wave: &Wave, at: &Executed) {}

    /// An instruction has run or faulted, with these accesses.
    fn after(&mut self, cx: &Context<'_>, wave: &Wave, at: &Executed, accesses: &mut Accesses) {}

    /// All that an instruction accesses lies within these bytes: whether nothing more need be known to find nothing wrong
    /// with that.
    fn takes(&mut self, cx: &Context<'_>, space: Space, first: u64, bytes: u64) -> bool {
        true
    }

    /// S_WAITCNT has waited.
    fn waited(&mut self, cx: &Context<'_>, wave: &Wave, until: WaitCounts) {}

    /// A wave came to a barrier.
    fn barrier_reached(&mut self, cx: &Context<'_>, wave: &Wave) {}

    /// A wave goes on behind a barrier.
    fn barrier_released(&mut self, cx: &Context<'_>, wave: &Wave) {}

    /// A wave has ended.
    fn wave_ended(&mut self, cx: &Context<'_>, wave: &Wave, how: &Event) {}

    /// The work-group is over; some of its waves may not have come to their end.
    fn ended(&mut self, cx: &Context<'_>) {}
}
