//! Program control: which instruction does what to the wave, branch conditions, targets, and the fork and join of arbitrary
//! control flow (manual 4, 12.1 to 12.5).

use crate::hwreg::status;
use crate::lanes::{Long, Mask, Word, w};
use wavemill_isa::Op;

/// When a branch is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // the names say it
pub enum Condition {
    Always,
    Scc(bool),
    VccZero(bool),
    ExecZero(bool),
    DebugUser,
    DebugSystem,
    DebugEither,
    DebugBoth,
}

impl Condition {
    /// Whether it holds, of values that are the same in all lanes.
    #[inline(always)]
    pub fn holds<W: Word>(self, scc: W::Mask, vcc: W::Long, exec: W::Long, status: W) -> W::Mask {
        let zero = |a: W::Long| a.eq(W::Long::splat(0));
        let bit = |bit: u32| !(status & w(bit)).eq(w(0));
        let (user, system) = (status::DEBUG_USER, status::DEBUG_SYS);
        match self {
            Condition::Always => W::Mask::ones(),
            Condition::Scc(true) => scc,
            Condition::Scc(false) => !scc,
            Condition::VccZero(true) => zero(vcc),
            Condition::VccZero(false) => !zero(vcc),
            Condition::ExecZero(true) => zero(exec),
            Condition::ExecZero(false) => !zero(exec),
            Condition::DebugUser => bit(user),
            Condition::DebugSystem => bit(system),
            Condition::DebugEither => bit(user | system),
            Condition::DebugBoth => bit(user) & bit(system),
        }
    }
}

/// What a scalar instruction does to the wave itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Control {
    /// Jumps by a constant if a condition holds.
    Branch(Condition),
    /// S_CBRANCH_G_FORK: the target is in registers.
    Fork,
    /// S_CBRANCH_I_FORK: the target is a constant.
    ForkImmediate,
    /// S_CBRANCH_JOIN.
    Join,
    /// S_ENDPGM and its like.
    End,
    /// S_BARRIER.
    Barrier,
    /// S_SLEEP.
    Sleep,
    /// S_TRAP.
    Trap,
    /// S_RFE.
    ReturnFromTrap,
    /// S_SETKILL.
    Kill,
    /// S_SETHALT.
    Halt,
    /// S_SENDMSG, with a halt after S_SENDMSGHALT.
    Message {
        /// The wave halts.
        halt: bool,
    },
    /// S_SETPRIO.
    Priority,
    /// S_ICACHE_INV.
    InvalidateCode,
    /// S_INCPERFLEVEL and S_DECPERFLEVEL.
    PerformanceLevel {
        /// It goes up.
        up: bool,
    },
    /// S_GETPC.
    GetPc,
    /// S_SETPC.
    SetPc,
    /// S_SWAPPC.
    SwapPc,
    /// S_CALL.
    Call,
    /// S_MOVRELS: M0 is added to the source's register.
    MoveRelativeSource,
    /// S_MOVRELD: M0 is added to the destination's register.
    MoveRelativeDestination,
    /// S_GETREG.
    GetRegister,
    /// S_SETREG, from an SGPR.
    SetRegister,
    /// S_SETREG_IMM32.
    SetRegisterImmediate,
    /// S_SET_GPR_IDX_ON.
    IndexOn,
    /// S_SET_GPR_IDX_OFF.
    IndexOff,
    /// S_SET_GPR_IDX_MODE.
    IndexMode,
    /// S_SET_GPR_IDX_IDX.
    IndexValue,
    /// S_SETVSKIP.
    SkipVector,
}

impl Control {
    /// What an instruction does, if it is one of these.
    pub const fn of(op: Op) -> Option<Control> {
        use Condition as If;
        Some(match op {
            Op::s_branch => Control::Branch(If::Always),
            Op::s_cbranch_scc0 => Control::Branch(If::Scc(false)),
            Op::s_cbranch_scc1 => Control::Branch(If::Scc(true)),
            Op::s_cbranch_vccz => Control::Branch(If::VccZero(true)),
            Op::s_cbranch_vccnz => Control::Branch(If::VccZero(false)),
            Op::s_cbranch_execz => Control::Branch(If::ExecZero(true)),
            Op::s_cbranch_execnz => Control::Branch(If::ExecZero(false)),
            Op::s_cbranch_cdbguser => Control::Branch(If::DebugUser),
            Op::s_cbranch_cdbgsys => Control::Branch(If::DebugSystem),
            Op::s_cbranch_cdbgsys_or_user => Control::Branch(If::DebugEither),
            Op::s_cbranch_cdbgsys_and_user => Control::Branch(If::DebugBoth),
            Op::s_cbranch_g_fork => Control::Fork,
            Op::s_cbranch_i_fork => Control::ForkImmediate,
            Op::s_cbranch_join => Control::Join,
            Op::s_endpgm | Op::s_endpgm_saved | Op::s_endpgm_ordered_ps_done => Control::End,
            Op::s_barrier => Control::Barrier,
            Op::s_sleep => Control::Sleep,
            Op::s_trap => Control::Trap,
            Op::s_rfe_b64 | Op::s_rfe_restore_b64 => Control::ReturnFromTrap,
            Op::s_setkill => Control::Kill,
            Op::s_sethalt => Control::Halt,
            Op::s_sendmsg => Control::Message { halt: false },
            Op::s_sendmsghalt => Control::Message { halt: true },
            Op::s_setprio => Control::Priority,
            Op::s_icache_inv => Control::InvalidateCode,
            Op::s_incperflevel => Control::PerformanceLevel { up: true },
            Op::s_decperflevel => Control::PerformanceLevel { up: false },
            Op::s_getpc_b64 => Control::GetPc,
            Op::s_setpc_b64 => Control::SetPc,
            Op::s_swappc_b64 => Control::SwapPc,
            Op::s_call_b64 => Control::Call,
            Op::s_movrels_b32 | Op::s_movrels_b64 => Control::MoveRelativeSource,
            Op::s_movreld_b32 | Op::s_movreld_b64 => Control::MoveRelativeDestination,
            Op::s_getreg_b32 => Control::GetRegister,
            Op::s_setreg_b32 => Control::SetRegister,
            Op::s_setreg_imm32_b32 => Control::SetRegisterImmediate,
            Op::s_set_gpr_idx_on => Control::IndexOn,
            Op::s_set_gpr_idx_off => Control::IndexOff,
            Op::s_set_gpr_idx_mode => Control::IndexMode,
            Op::s_set_gpr_idx_idx => Control::IndexValue,
            Op::s_setvskip => Control::SkipVector,
            _ => return None,
        })
    }
}

/// The address a constant number of dwords from the next instruction.
#[inline(always)]
pub fn target<W: Word>(next: W::Long, imm: u16) -> W::Long {
    next + W::Long::splat((imm as i16 as i64 * 4) as u64)
}

/// Where a fork or join leaves the wave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Branching {
    /// The PC.
    pub pc: u64,
    /// EXEC.
    pub exec: u64,
    /// MODE.CSP, the stack pointer.
    pub csp: u32,
    /// What a fork puts on the stack: EXEC and PC of the side that waits, in four SGPRs from this one on.
    pub push: Option<(u32, u64, u64)>,
}

/// Entries of four SGPRs that the stack can have: the pointer is three bits, and the side with fewer lanes runs first,
/// so that six are enough for 64 lanes.
pub const STACK_DEPTH: u32 = 6;

/// S_CBRANCH_G_FORK and S_CBRANCH_I_FORK: the side with fewer lanes runs first, the other waits on the stack.
pub const fn fork(mask: u64, exec: u64, csp: u32, next: u64, target: u64) -> Branching {
    let (pass, fail) = (mask & exec, !mask & exec);
    if pass == exec {
        return Branching { pc: target, exec, csp, push: None };
    }
    if fail == exec {
        return Branching { pc: next, exec, csp, push: None };
    }
    let (run, pc, wait, resume) = if fail.count_ones() < pass.count_ones() {
        (fail, next, pass, target)
    } else {
        (pass, target, fail, next)
    };
    Branching { pc, exec: run, csp: (csp + 1) & 7, push: Some((csp * 4, wait, resume)) }
}

/// The SGPR that a join at another depth than `saved` pops from; none at that depth: the program goes on.
pub const fn join(csp: u32, saved: u32) -> Option<u32> {
    if csp == saved { None } else { Some(csp.wrapping_sub(1) & 7) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All lanes on one side: a jump, or none.
    #[test]
    fn uniform() {
        assert_eq!(fork(!0, 0xff, 2, 4, 100), Branching { pc: 100, exec: 0xff, csp: 2, push: None });
        assert_eq!(fork(0, 0xff, 2, 4, 100), Branching { pc: 4, exec: 0xff, csp: 2, push: None });
        // With no lane active, all of none pass.
        assert_eq!(fork(1, 0, 2, 4, 100), Branching { pc: 100, exec: 0, csp: 2, push: None });
    }

    #[test]
    fn fewer_lanes_first() {
        // Two pass, six fail: the two go to the target.
        let flow = fork(0b11, 0xff, 1, 4, 100);
        assert_eq!(flow, Branching { pc: 100, exec: 0b11, csp: 2, push: Some((4, 0xfc, 4)) });
        // Six pass, two fail: the two go on.
        let flow = fork(0xfc, 0xff, 1, 4, 100);
        assert_eq!(flow, Branching { pc: 4, exec: 0b11, csp: 2, push: Some((4, 0xfc, 100)) });
        // A tie: the lanes that pass run.
        assert_eq!(fork(0xf, 0xff, 0, 4, 100).exec, 0xf);
    }

    /// Halving 64 lanes takes six entries.
    #[test]
    fn depth() {
        let (mut exec, mut csp) = (!0u64, 0);
        while exec.count_ones() > 1 {
            // Every second of the active lanes passes.
            let half = (0..64).filter(|l| exec >> l & 1 != 0).step_by(2).fold(0, |m, l| m | 1 << l);
            let flow = fork(half, exec, csp, 4, 100);
            (exec, csp) = (flow.exec, flow.csp);
        }
        assert_eq!(csp, STACK_DEPTH);
        assert_eq!((join(csp, 0), join(3, 3), join(0, 5)), (Some(5), None, Some(7)));
    }
}
