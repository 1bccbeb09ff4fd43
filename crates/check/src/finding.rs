//! What a check says.

use wavemill_isa::Target;
use wavemill_isa::info::{Counter, Reg, WaitCounts};

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
    /// Caches are invalidated before a load is done that the invalidation is for.
    Invalidated,
    /// A store that may release is issued before L2 is written back.
    Released,
    /// A barrier comes before an LDS access is done.
    Met,
    /// A function returns before an access is done.
    Returned,
}

impl Kind {
    /// The check that finds it.
    pub const fn check(self) -> &'static str {
        match self {
            Kind::TooClose => "hazard",
            Kind::Invalidated | Kind::Released | Kind::Met | Kind::Returned => "model",
            Kind::Used | Kind::Overwritten | Kind::StillRead => "wait",
        }
    }

    /// Its name in reports for machines.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Used => "used-before-wait",
            Kind::Overwritten => "overwritten-before-wait",
            Kind::StillRead => "overwritten-while-read",
            Kind::TooClose => "wait-states",
            Kind::Invalidated => "invalidated-before-wait",
            Kind::Released => "released-before-wait",
            Kind::Met => "barrier-before-wait",
            Kind::Returned => "returned-before-wait",
        }
    }
}

/// What would help, before the instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mend {
    /// `s_waitcnt` with these counts.
    Wait(WaitCounts),
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

impl Finding {
    /// One sentence about it.
    pub fn sentence(&self, target: &Target) -> String {
        let regs: Vec<String> = self.regs.iter().map(|r| r.name(1, target).to_string()).collect();
        let regs = regs.join(", ");
        let (are, them) = if self.regs.len() == 1 { ("is", "it") } else { ("are", "them") };
        match (self.kind, self.states) {
            (Kind::TooClose, Some((need, have, rule))) => {
                let on = if regs.is_empty() { String::new() } else { format!(" ({regs})") };
                format!("{need} wait states are needed, {have} are there{on}: {rule}")
            }
            (Kind::Overwritten, _) => {
                format!("{regs} {are} overwritten while a load into {them} is under way")
            }
            (Kind::StillRead, _) => {
                format!("{regs} {are} overwritten while a store or export may still have to read {them}")
            }
            (Kind::Invalidated, _) => {
                "caches are invalidated before a load is done that the wave may wait for others with".into()
            }
            (Kind::Released, _) => "a store that may release is issued before L2 is written back".into(),
            (Kind::Met, _) => {
                "a barrier may be passed before an LDS access is done, which other waves meet behind it"
                    .into()
            }
            (Kind::Returned, _) => {
                "a function returns before an access is done; callers take all of its to be done".into()
            }
            _ => format!("{regs} {are} used before the load into {them} is done"),
        }
    }

    /// The instruction that would help before it.
    pub fn mending(&self, target: &Target) -> String {
        match self.mend {
            Mend::Wait(waits) => format!("s_waitcnt {}", counts(waits, target)),
            Mend::Nops(n) => format!("s_nop {}", n - 1),
        }
    }
}

/// `vmcnt(0) lgkmcnt(1)`.
pub fn counts(waits: WaitCounts, target: &Target) -> String {
    let level = target.level();
    let counts =
        Counter::ALL.iter().filter_map(|c| waits.count(*c, level).map(|n| format!("{}({n})", c.name())));
    counts.collect::<Vec<_>>().join(" ")
}
