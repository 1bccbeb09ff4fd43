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

/// Something that executes a wave's instructions. The interpreter is one; a JIT is another. They give the same bits.
pub trait Engine: Send + Sync {
    /// Runs `wave` from its PC until something happens that the machine must deal with. `budget` is the number of
    /// instructions after which a wave is preempted (checked where blocks end, so a few more may run).
    fn run(&self, wave: &mut Wave, group: &GroupShared, memory: &Memory, budget: u64) -> Event;

    /// Runs waves of a work-group one after the other, each as [`Engine::run`] does, as long as they end or reach a barrier, and
    /// appends what each has come to.
    fn run_in_turn(
        &self,
        waves: &mut [Wave],
        group: &GroupShared,
        memory: &Memory,
        budget: u64,
        events: &mut Vec<Event>,
    ) {
        for wave in waves {
            let event = self.run(wave, group, memory, budget);
            let go_on = matches!(event, Event::End | Event::Barrier);
            events.push(event);
            if !go_on {
                return;
            }
        }
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
