//! What runs waves: the [`Engine`] trait, the reasons a run stops, and what it counts.

use crate::group::GroupShared;
use crate::mem::Memory;
use crate::state::Wave;
pub use wavemill_sem::bus::FaultKind;

/// Something that executes a wave's instructions. The interpreter is one; a JIT is another. They give the same bits.
pub trait Engine: Send + Sync {
    /// Runs `wave` from its PC until something happens that the machine must deal with. `budget` is the number of
    /// instructions after which a wave is preempted (checked where blocks end, so a few more may run).
    fn run(&self, wave: &mut Wave, group: &GroupShared, memory: &Memory, budget: u64) -> Event;

    /// The name by which users know it.
    fn name(&self) -> &'static str {
        "custom"
    }

    /// Forgets what was decoded from an address range: code was unloaded or overwritten.
    fn invalidate(&self, start: u64, len: u64);

    /// Code may have been written, or its memory given to something else, since waves ran last: a dispatch begins. What
    /// was decoded must be what is in memory. Engines that keep nothing of it have nothing to do.
    fn revalidate(&self) {}
}

/// Why a run stopped. Except after `End` and `Fault`, running the wave again continues where it stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// S_ENDPGM: the wave is done.
    End,
    /// S_BARRIER: run again when all waves of the work-group that have not ended have come here.
    Barrier,
    /// The budget is used up, or the wave sleeps (S_SLEEP): let others run, then run it again.
    Preempted,
    /// The wave did something it must not; it cannot continue.
    Fault(Fault),
    /// S_TRAP with this id, in a wave whose trap handler is not code of its own. The PC is behind the instruction.
    Trap(u8),
    /// Exceptions that MODE.EXCP_EN lets trap, as bits of TRAPSTS, in a wave whose trap handler is not code of its own.
    /// The PC is behind the instruction.
    Exception {
        /// The exceptions.
        trapsts: u32,
        /// Address of the instruction.
        pc: u64,
    },
    /// S_SENDMSG: message id, operation and stream, with M0. S_SENDMSGHALT too, after setting the halt bit.
    Message {
        /// The instruction's 16-bit constant.
        message: u16,
        /// M0 at the time.
        m0: u32,
    },
    /// The wave is halted: run again after [`Wave::resume`].
    Halt,
    /// An observer asked for it ([`crate::observe::Control::Stop`]): the wave goes on when it is run again.
    Stopped,
}

/// A fault: what, where, which lanes, and the address if there is one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// What happened.
    pub kind: FaultKind,
    /// Address of the instruction.
    pub pc: u64,
    /// Lanes that did it, one bit each; 0 for scalar instructions.
    pub lanes: u64,
    /// The first such lane's address, or the scalar one.
    pub address: u64,
}

/// Classes of instructions that are counted separately.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum CounterClass {
    /// Scalar ALU, without branches.
    Salu,
    /// Branches, calls, barriers, waits and other program control.
    Control,
    /// Scalar memory.
    Smem,
    /// Vector ALU.
    Valu,
    /// Matrix core.
    Mfma,
    /// Data share.
    Lds,
    /// Buffer, flat, global, scratch and image memory.
    Vmem,
    /// Exports and interpolation.
    Export,
}

impl CounterClass {
    /// Every class.
    pub const ALL: [CounterClass; 8] = {
        use CounterClass::*;
        [Salu, Control, Smem, Valu, Mfma, Lds, Vmem, Export]
    };

    /// Name for reports.
    pub const fn name(self) -> &'static str {
        ["salu", "control", "smem", "valu", "mfma", "lds", "vmem", "export"][self as usize]
    }
}

/// Wave instructions executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// By [`CounterClass`].
    pub class: [u64; 8],
    /// Of these, instructions whose result is exact.
    pub exact: u64,
    /// Of these, instructions whose result is within the hardware's bound but not bit for bit its own.
    pub approximate: u64,
    /// S_WAITCNT executed (among `Control`).
    pub waits: u64,
}

impl Counters {
    /// All instructions.
    pub fn total(&self) -> u64 {
        self.class.iter().sum()
    }

    /// Adds another set.
    pub fn add(&mut self, other: &Counters) {
        for (a, b) in self.class.iter_mut().zip(other.class) {
            *a += b;
        }
        self.exact += other.exact;
        self.approximate += other.approximate;
        self.waits += other.waits;
    }
}
