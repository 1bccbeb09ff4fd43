//! What runs waves: the [`Engine`] trait.

use crate::event::Event;
use crate::group::GroupShared;
use crate::mem::Memory;
use crate::state::Wave;

/// What an engine has compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CodeStats {
    /// Instructions compiled so far.
    pub instructions: u64,
    /// Nanoseconds of CPU time that it took.
    pub nanoseconds: u64,
    /// Bytes of memory that code takes now.
    pub bytes: u64,
}

/// What waves that ran in turn have come to ([`Engine::run_in_turn`]).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Turns {
    /// So many, from the first one on, have ended or reached a barrier.
    pub done: usize,
    /// Those of them that have reached a barrier, a bit each.
    pub at_barrier: u64,
    /// What the next one has come to, if it ran.
    pub other: Option<Event>,
}

impl Turns {
    /// As many waves as can run in turn.
    pub const MOST: usize = 64;

    /// The next wave has come to something; true if the one behind it may run.
    #[inline]
    pub fn note(&mut self, event: Event) -> bool {
        match event {
            Event::End => {}
            Event::Barrier => self.at_barrier |= 1 << self.done,
            other => {
                self.other = Some(other);
                return false;
            }
        }
        self.done += 1;
        true
    }
}

/// Something that executes a wave's instructions. The interpreter is one; a JIT is another. They give the same bits.
pub trait Engine: Send + Sync {
    /// Runs `wave` from its PC until something happens that the machine must deal with. `budget` is the number of
    /// instructions after which a wave is preempted (checked where blocks end, so a few more may run).
    fn run(&self, wave: &mut Wave, group: &GroupShared, memory: &Memory, budget: u64) -> Event;

    /// Runs waves of a work-group, [`Turns::MOST`] at most, one after the other, each as [`Engine::run`] does, as long as they end
    /// or reach a barrier.
    fn run_in_turn(&self, waves: &mut [Wave], group: &GroupShared, memory: &Memory, budget: u64) -> Turns {
        let mut turns = Turns::default();
        for wave in waves {
            if !turns.note(self.run(wave, group, memory, budget)) {
                break;
            }
        }
        turns
    }

    /// The thread runs no more waves for now: an engine lets go of what it keeps from one [`Engine::run_in_turn`] to the next.
    fn rest(&self) {}

    /// The name by which users know it.
    fn name(&self) -> &'static str {
        "custom"
    }

    /// What it has compiled, if it compiles.
    fn code_stats(&self) -> Option<CodeStats> {
        None
    }

    /// Forgets what was decoded from an address range: code was unloaded or overwritten.
    fn invalidate(&self, start: u64, len: u64);

    /// Code may have been written, or its memory given to something else, since waves ran last: a dispatch begins. What
    /// was decoded must be what is in memory. Engines that keep nothing of it have nothing to do.
    fn revalidate(&self) {}
}
