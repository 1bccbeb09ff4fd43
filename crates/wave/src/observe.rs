//! What observers of waves are told: accesses, instructions; and what they can answer.
//!
//! An [`Observer`](crate::Observer) is given to waves ([`crate::Wave::observer`]) and told what happens to them, in their
//! order. Such waves run step by step; others run whole blocks and know nothing of observers. Observers see the wave, but do
//! not change it.

use crate::event::FaultKind;
use wavemill_isa::Inst;
pub use wavemill_isa::info::WaitCounts;
pub use wavemill_sem::bus::{Coherence, Kind, Space};

/// What an observer wants of the wave it was told about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[must_use]
pub enum Control {
    /// The wave goes on.
    #[default]
    Continue,
    /// The engine returns [`crate::Event::Stopped`]: from [`crate::Observer::before`] at once, else after the instruction. When it is
    /// run again, the wave goes on without asking a second time.
    Stop,
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
    /// What is there behind it, up to eight bytes; 0 if it was not made.
    pub value: u64,
    /// Why it was not made.
    pub fault: Option<FaultKind>,
}

/// What an observer wants to be told. Less is cheaper.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wants {
    /// Every instruction; else only those that access memory.
    pub instructions: bool,
    /// Float exceptions that do not trap.
    pub exceptions: bool,
}

impl Default for Wants {
    /// Everything.
    fn default() -> Wants {
        Wants { instructions: true, exceptions: true }
    }
}

/// What all active lanes access with an instruction, or with a part of it: as much each, in one piece of memory that is there.
#[derive(Clone, Copy, Debug)]
pub struct Lanes<'a> {
    /// Where.
    pub space: Space,
    /// What was done.
    pub kind: Kind,
    /// The instruction's coherence bits.
    pub coherence: Coherence,
    /// Address of the instruction.
    pub pc: u64,
    /// The lanes.
    pub exec: u64,
    /// Bytes of each.
    pub bytes: u32,
    /// The lowest address.
    pub first: u64,
    /// Offsets of lanes, and which of them is that of the lowest address; none: they lie side by side, all 64.
    pub offsets: Option<(&'a [u32; 64], u32)>,
}

impl Lanes<'_> {
    /// The address of a lane's first byte.
    #[inline]
    pub fn address(&self, lane: u32) -> u64 {
        let past = match self.offsets {
            Some((offsets, least)) => offsets[lane as usize & 63].wrapping_sub(least),
            None => lane * self.bytes,
        };
        self.first + u64::from(past)
    }
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
