//! Executing program control (manual 4, 12.1 to 12.5).

use super::hwreg;
use crate::bus::{Bus, Kind, Space};
use crate::control::{Branching, Control, fork, join, target};
use crate::hwreg::{Hwreg, Select, mode, status};
use crate::inst::Inst;
use crate::operand::Src;
use crate::scalar::{S32, S64, SMask};
use crate::state::State;
use crate::trap::Cause;
use wavemill_isa::encoding::bits;
use wavemill_isa::regs;

/// What happens after an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// The wave goes on at its PC.
    Next,
    /// It goes on at its PC, with code that may have changed.
    Refetch,
    /// The instruction has not run: the wave waits, and tries it again later.
    Retry,
    /// The wave stops.
    Stop(Stop),
    /// The instruction works lane by lane: it is the engine's own.
    Lanes,
}

/// Why a wave stops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// It is done.
    End,
    /// It came to a barrier.
    Barrier,
    /// It sleeps.
    Sleep,
    /// It traps, and nobody but the machine takes it.
    Trap(u8),
    /// It sends a message, with M0.
    Message {
        /// The instruction's constant.
        message: u16,
        /// M0.
        m0: u32,
    },
    /// It is halted.
    Halt,
    /// It may not execute this instruction.
    Illegal,
}

/// Executes program control. The PC points behind the instruction.
#[inline]
pub fn execute<B: Bus>(control: Control, inst: &Inst, state: &mut B) -> Flow {
    let imm = bits::SIMM16.get(inst.bits) as u16;
    if let Control::Branch(condition) = control {
        let (scc, vcc) = (SMask(state.scc()), S64(state.vcc()));
        if condition.holds::<S32>(scc, vcc, S64(state.exec()), S32(state.status())).0 {
            state.set_pc(target::<S32>(S64(state.pc()), imm).0);
        }
        return Flow::Next;
    }
    other(control, inst, imm, state)
}

fn other<B: Bus>(control: Control, inst: &Inst, imm: u16, state: &mut B) -> Flow {
    let s0 = state.source(inst.src[0], inst.src_bits[0]);
    let (pc, dst) = (state.pc(), inst.sdst as u32);
    let target = target::<S32>(S64(pc), imm).0;
    match control {
        // `execute` has these.
        Control::Branch(_) => {}
        Control::End => return Flow::Stop(Stop::End),
        Control::Barrier => return Flow::Stop(Stop::Barrier),
        Control::Sleep => return Flow::Stop(Stop::Sleep),
        Control::Trap => return trap(inst, imm as u8, state),
        // It is for the trap handler alone; elsewhere it is no instruction.
        Control::ReturnFromTrap if !state.privileged() => return Flow::Stop(Stop::Illegal),
        Control::ReturnFromTrap => {
            state.set_status(state.status() & !status::PRIV);
            state.set_pc(s0);
            return service_requests(state);
        }
        // Kills the wave as the host's command does.
        Control::Kill if imm & 1 != 0 => return Flow::Stop(Stop::End),
        Control::Kill => {}
        Control::Halt => {
            let halt = if imm & 1 != 0 { status::HALT } else { 0 };
            state.set_status(state.status() & !status::HALT | halt);
            return service_requests(state);
        }
        Control::Message { halt } => {
            if halt {
                state.set_status(state.status() | status::HALT);
            }
            return Flow::Stop(Stop::Message { message: imm, m0: state.m0() });
        }
        Control::Priority => {
            let priority = (imm as u32) << 3 & status::USER_PRIO;
            state.set_status(state.status() & !status::USER_PRIO | priority);
        }
        Control::InvalidateCode => {
            state.cache(Space::Code, Kind::Invalidate);
            return Flow::Refetch;
        }
        Control::PerformanceLevel { up } => state.count_level(imm as usize & 15, up),
        Control::GetPc => state.set_sgpr64(dst, pc),
        Control::SetPc => state.set_pc(s0),
        Control::SwapPc => {
            state.set_sgpr64(dst, pc);
            state.set_pc(s0);
        }
        Control::Call => {
            state.set_sgpr64(dst, pc);
            state.set_pc(target);
        }
        Control::MoveRelativeSource => {
            if let Src::Sgpr(code) = inst.src[0] {
                let code = relative(code, inst.src_bits[2], state).unwrap_or(0);
                let value = state.sgpr64(code);
                state.set_scalar(inst.sdst, inst.src_bits[2], value);
            }
        }
        Control::MoveRelativeDestination => {
            if let Some(code) = relative(inst.sdst, inst.src_bits[2], state) {
                state.set_scalar(code as u8, inst.src_bits[2], s0);
            }
        }
        Control::GetRegister => {
            let select = Select::new(imm);
            let register = Hwreg::from_id(select.id, state.level());
            // Reserved registers are zero.
            let value = register.map_or(0, |r| select.get(hwreg::value(r, state)));
            state.set_sgpr(dst, value);
        }
        Control::SetRegister | Control::SetRegisterImmediate => {
            let value = match control {
                Control::SetRegister => s0 as u32,
                _ => state.source(inst.src[1], 32) as u32,
            };
            let select = Select::new(imm);
            if let Some(register) = Hwreg::from_id(select.id, state.level()) {
                hwreg::set(register, select, value, state);
            }
            return service_requests(state);
        }
        Control::IndexOn => {
            set_index(Some(s0 as u32), Some(inst.bits as u32 >> 8), state);
            state.set_mode(state.mode() | mode::GPR_IDX_EN);
        }
        Control::IndexOff => state.set_mode(state.mode() & !mode::GPR_IDX_EN),
        Control::IndexMode => set_index(None, Some(imm as u32), state),
        Control::IndexValue => set_index(Some(s0 as u32), None, state),
        // VSKIP = the bit of S0 that S1 names.
        Control::SkipVector => {
            let n = state.source(inst.src[1], 32) as u32 & 31;
            let skip = if s0 as u32 >> n & 1 != 0 { mode::VSKIP } else { 0 };
            state.set_mode(state.mode() & !mode::VSKIP | skip);
        }
        Control::Fork => {
            let target = state.source(inst.src[1], 64);
            go(fork(s0, state.exec(), csp(state), pc, target), state);
        }
        Control::ForkImmediate => {
            // The mask is where SOPK has its register.
            let mask = state.source(inst.src[0], 64);
            go(fork(mask, state.exec(), csp(state), pc, target), state);
        }
        // At the saved depth go on, else pop and run the side that waited.
        Control::Join => {
            if let Some(csp) = join(csp(state), s0 as u32) {
                let (exec, pc) = (state.sgpr64(csp * 4), state.sgpr64(csp * 4 + 2));
                go(Branching { pc, exec, csp, push: None }, state);
            }
        }
    }
    Flow::Next
}

/// MODE.CSP.
fn csp(state: &impl State) -> u32 {
    state.mode() >> mode::CSP_SHIFT
}

/// After changes of STATUS and TRAPSTS: halts, or enters the trap handler.
fn service_requests(state: &mut impl State) -> Flow {
    if state.service_requests() { Flow::Stop(Stop::Halt) } else { Flow::Next }
}

/// S_TRAP: the PC saved is that of the instruction itself.
fn trap(inst: &Inst, id: u8, state: &mut impl State) -> Flow {
    if state.status() & status::TRAP_EN == 0 {
        return Flow::Next;
    }
    if state.trap_handler() == 0 {
        return Flow::Stop(Stop::Trap(id));
    }
    state.set_pc(state.pc().wrapping_sub(inst.len as u64));
    state.enter_trap(Cause::Trap(id));
    Flow::Next
}

/// M0's index and mode fields for VGPR indexing.
fn set_index(index: Option<u32>, enable: Option<u32>, state: &mut impl State) {
    let mut m0 = state.m0();
    if let Some(i) = index {
        m0 = m0 & !0xff | i & 0xff;
    }
    if let Some(e) = enable {
        m0 = m0 & !0xf000 | (e & 15) << 12;
    }
    state.set_sgpr(regs::M0, m0);
}

/// The SGPR that lies M0 registers on from one, if the wave has it: indexing does not lead out of the SGPRs.
fn relative(code: u8, bits: u8, state: &impl State) -> Option<u32> {
    let m0 = state.m0();
    let last = (code as u32).checked_add(m0)?.checked_add((bits == 64) as u32)?;
    let limit = state.allocation().named_sgprs(state.level()) as u32;
    let inside = m0 == 0 && code < 128 || last < limit;
    inside.then(|| code as u32 + m0)
}

/// A fork or join leaves the wave there.
fn go(flow: Branching, state: &mut impl State) {
    state.set_pc(flow.pc);
    state.set_exec(flow.exec);
    state.set_mode(state.mode() & !(7 << mode::CSP_SHIFT) | flow.csp << mode::CSP_SHIFT);
    if let Some((register, exec, pc)) = flow.push {
        state.set_sgpr64(register, exec);
        state.set_sgpr64(register + 2, pc);
    }
}
