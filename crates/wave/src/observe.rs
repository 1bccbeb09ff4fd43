//! A look at waves as they run: what checkers, debuggers, tracers and profilers hang on.
//!
//! An [`Observer`] is given to waves ([`Wave::observer`]) and told what happens to them, in their order. Such waves run
//! step by step; others run whole blocks and know nothing of observers. Observers see the wave, but do not change it.

use crate::engine::{Event, FaultKind};
use crate::state::Wave;
use wavemill_isa::Inst;
pub use wavemill_sem::bus::{Coherence, Kind, Space};
pub use wavemill_sem::wait::Counters;

/// What an observer wants of the wave it was told about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[must_use]
pub enum Control {
    /// The wave goes on.
    #[default]
    Continue,
    /// The engine returns [`Event::Stopped`]: from [`Observer::before`] at once, else after the instruction. When it is
    /// run again, the wave goes on without asking a second time.
    Stop,
}

/// Is told what happens to waves. All methods do nothing unless written; one observer may have waves of several threads.
#[allow(unused_variables)] // what the provided methods do not look at
pub trait Observer: Send + Sync {
    /// The wave runs for the first time.
    fn wave_started(&self, wave: &Wave) {}

    /// The wave will not run again: [`Event::End`] or [`Event::Fault`].
    fn wave_ended(&self, wave: &Wave, how: &Event) {}

    /// An instruction is about to run: the wave is as it finds it.
    fn before(&self, wave: &Wave, instruction: &Instruction) -> Control {
        Control::Continue
    }

    /// An instruction has run, and did not fault.
    fn after(&self, wave: &Wave, instruction: &Instruction) -> Control {
        Control::Continue
    }

    /// An access was made, or faulted. Those of an instruction come between [`Self::before`] and [`Self::after`], as they
    /// are made: lane by lane, and of several parts where an instruction has several.
    fn access(&self, wave: &Wave, access: &Access) -> Control {
        Control::Continue
    }

    /// An instruction raised counters of operations under way.
    fn counters_raised(&self, wave: &Wave, instruction: &Instruction, by: Counters) {}

    /// S_WAITCNT waited until each counter was at most this.
    fn waited(&self, wave: &Wave, instruction: &Instruction, until: Counters) {}

    /// The wave came to a barrier.
    fn barrier_reached(&self, wave: &Wave) {}

    /// The wave goes on behind a barrier.
    fn barrier_released(&self, wave: &Wave) {}

    /// An instruction raised exceptions, as bits of TRAPSTS, whether they trap or not.
    fn exception(&self, wave: &Wave, instruction: &Instruction, trapsts: u32) {}

    /// The wave enters its trap handler, whose first instruction is at its PC, or leaves the trap to the machine.
    fn trap(&self, wave: &Wave, instruction: &Instruction) {}

    /// S_SENDMSG and S_SENDMSGHALT, with M0.
    fn message(&self, wave: &Wave, instruction: &Instruction, message: u16, m0: u32) {}

    /// The engine returns, whatever the reason: the last thing an observer hears of a run.
    fn stopped(&self, wave: &Wave, event: &Event) {}
}

/// An instruction of a wave.
#[derive(Clone, Copy, Debug)]
pub struct Instruction {
    /// Its address.
    pub pc: u64,
    /// What it is.
    pub inst: Inst,
}

/// An access as it was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// Address of the instruction.
    pub pc: u64,
    /// Where.
    pub space: Space,
    /// First byte.
    pub address: u64,
    /// How many.
    pub bytes: u32,
    /// What was done.
    pub kind: Kind,
    /// The instruction's coherence bits.
    pub coherence: Coherence,
    /// Whose access it is; none of scalar instructions and instruction fetch.
    pub lane: Option<u8>,
    /// Why it was not made.
    pub fault: Option<FaultKind>,
}

/// What a wave remembers for its observer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Told {
    /// It has started.
    pub started: bool,
    /// It is at a barrier.
    pub barrier: bool,
    /// The instruction before which it was stopped.
    pub held: Option<u64>,
    /// Somebody is told about accesses: an observer looks on, or addresses are watched.
    pub looking: bool,
    /// The running instruction's address.
    pub pc: u64,
    /// Its coherence bits.
    pub coherence: Coherence,
    /// Address watches that it has hit, as bits of TRAPSTS.
    pub watched: u32,
    /// An observer wants the wave to stop behind it.
    pub stop: bool,
}
