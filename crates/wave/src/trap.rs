//! Traps: how a wave enters its trap handler and leaves it (manual 3.10, 12.3, 12.5), and what the host can do to it.
//!
//! STATUS.TRAP_EN says that there is a handler. With an address in TBA it is code that the wave jumps to, privileged,
//! with the cause in TTMP0 and TTMP1. Without one it is the machine: engines return [`crate::Event::Trap`] and
//! [`crate::Event::Exception`].

use crate::state::Wave;
use wavemill_sem::hwreg::{mode, status, trapsts};
use wavemill_sem::trap::Cause;

impl Wave {
    /// Installs a trap handler: its address and that of memory it may use. An address of zero leaves traps to the
    /// machine.
    pub fn set_trap_handler(&mut self, tba: u64, tma: u64) {
        self.tba = tba;
        self.tma = tma;
        self.status |= status::TRAP_EN;
        // Before GFX9, the addresses are operands.
        if !self.level.is_gfx9() {
            self.set_sgpr64(108, tba);
            self.set_sgpr64(110, tma);
        }
    }

    /// Address of the trap handler: TBA.
    pub fn trap_handler(&self) -> u64 {
        if self.level.is_gfx9() { self.tba } else { self.sgpr64(108) }
    }

    /// Address of the trap handler's memory: TMA.
    pub fn trap_memory(&self) -> u64 {
        if self.level.is_gfx9() { self.tma } else { self.sgpr64(110) }
    }

    /// Operand code of TTMP0.
    pub fn ttmp_code(&self) -> u32 {
        if self.level.is_gfx9() { 108 } else { 112 }
    }

    /// The wave is in its trap handler.
    pub fn privileged(&self) -> bool {
        self.status & status::PRIV != 0
    }

    /// Asks the wave to enter its trap handler as soon as it runs again. In the handler, it waits until the handler has
    /// returned; a wave without a handler ignores it.
    pub fn host_trap(&mut self, id: u8) {
        self.host_trap = id;
        self.status |= status::TRAP;
    }

    /// Lets a halted wave go on.
    pub fn resume(&mut self) {
        self.status &= !status::HALT;
    }

    /// Whether traps are taken now, and by code.
    pub(crate) fn can_trap(&self) -> bool {
        self.status & (status::TRAP_EN | status::PRIV) == status::TRAP_EN && self.trap_handler() != 0
    }

    /// Whether an exception in TRAPSTS is one that MODE lets trap.
    pub(crate) fn enabled(&self, exceptions: u32) -> bool {
        exceptions & trapsts::EXCP & self.mode >> mode::EXCP_EN_SHIFT != 0
    }

    /// Jumps to the trap handler, which finds the cause in TTMP0 and TTMP1.
    pub(crate) fn enter_trap(&mut self, cause: Cause) {
        self.set_sgpr64(self.ttmp_code(), cause.word(self.pc));
        self.status |= status::PRIV;
        self.pc = self.trap_handler();
    }

    /// What the wave must do before its next instruction: enter its handler because the host, or SAVECTX, asked for it,
    /// or halt: then it says so. Both are ignored in the handler.
    #[inline]
    pub(crate) fn service_requests(&mut self) -> bool {
        const ASKED: u32 = status::TRAP | status::HALT;
        if self.status & ASKED == 0 && self.trapsts & trapsts::SAVECTX == 0 || self.privileged() {
            return false;
        }
        if self.status & status::TRAP != 0 {
            self.status &= !status::TRAP;
            if self.can_trap() {
                self.enter_trap(Cause::Host(self.host_trap));
                return false;
            }
        }
        if self.trapsts & trapsts::SAVECTX != 0 && self.can_trap() {
            self.enter_trap(Cause::Exception(0));
            return false;
        }
        self.status & status::HALT != 0
    }

    /// Whether somebody can see float exceptions.
    pub(crate) fn shows_exceptions(&self) -> bool {
        self.gather_exceptions
            || self.observer.as_ref().is_some_and(|o| o.wants().exceptions)
            || self.traps_exceptions()
    }

    /// Whether every instruction has to be looked at: somebody can see float exceptions, the wave runs step by step, or
    /// addresses are watched, or it has an observer who wants that, or caches that are modelled.
    #[inline]
    pub fn single_steps(&self) -> bool {
        self.gather_exceptions
            || self.watches.is_some()
            || self.observer.as_ref().is_some_and(|o| o.wants().instructions)
            || self.caches.is_some()
            || self.traps_exceptions()
    }

    /// Whether exceptions trap.
    fn traps_exceptions(&self) -> bool {
        const TRAPS: u32 = mode::DEBUG | mode::EXCP_EN & !(trapsts::MEMORY_VIOLATION << mode::EXCP_EN_SHIFT);
        self.mode & TRAPS != 0 && self.status & (status::TRAP_EN | status::PRIV) == status::TRAP_EN
    }
}
