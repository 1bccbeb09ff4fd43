//! What a check says.

use wavemill_isa::info::{Reg, Waits};

/// What is wrong.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Kind {
    /// A register is used before the load into it is done.
    Used,
    /// A register is overwritten while a load into it is under way.
    Overwritten,
    /// A register is overwritten while a store or export may still have to read it.
    StillRead,
    /// Two instructions stand closer together than the hardware can bear.
    TooClose,
}

impl Kind {
    /// The check that finds it.
    pub const fn check(self) -> &'static str {
        match self {
            Kind::TooClose => "hazard",
            _ => "wait",
        }
    }

    /// Its name in reports for machines.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Used => "used-before-wait",
            Kind::Overwritten => "overwritten-before-wait",
            Kind::StillRead => "overwritten-while-read",
            Kind::TooClose => "wait-states",
        }
    }
}

/// What would help, before the instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mend {
    /// `s_waitcnt` with these counts.
    Wait(Waits),
    /// So many wait states more.
    Nops(u8),
}

/// One cause: two instructions that do not go together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// What.
    pub kind: Kind,
    /// Address of the instruction that comes too early.
    pub at: u64,
    /// Address of the one that is not done.
    pub other: u64,
    /// The registers in question, one after the other.
    pub regs: Vec<Reg>,
    /// For wait states: how many there must be, how many there are, and which rule asks for them.
    pub states: Option<(u8, u8, &'static str)>,
    /// What would help.
    pub mend: Mend,
}
