//! Why a run of a wave stops.

pub use wavemill_sem::bus::FaultKind;

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
    /// The wave is halted: run again after [`crate::Wave::resume`].
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
