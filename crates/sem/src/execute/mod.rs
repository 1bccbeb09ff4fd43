//! Executing one instruction on an engine's state: everything but arithmetic on lanes, for which engines have ways of their
//! own ([`crate::Apply`]), and matrices. What an instruction is to do, [`crate::inst::Run`] says; the modules below do it on
//! the registers and memory of a [`crate::state::State`] and a [`crate::bus::Bus`].

pub mod control;
pub mod hwreg;
pub mod interp;
pub mod lanemove;
pub mod raise;
pub mod share;
pub mod smem;
pub mod texel;
pub mod transfer;

use self::control::Flow;
use crate::bus::{Bus, Fault, FaultKind, Kind, Space};
use crate::hwreg::trapsts;
use crate::inst::{Inst, Run};
use crate::memory::CacheControl;
use crate::salu;

/// Executes an instruction. While it runs, the PC points behind it.
pub fn execute<B: Bus>(inst: &Inst, state: &mut B) -> Result<Flow, Fault> {
    if inst.run.is_vector() && state.skips_vector() {
        return Ok(Flow::Next);
    }
    match inst.run {
        Run::Valu(_) | Run::Compare(_) | Run::Mfma => return Ok(Flow::Lanes),
        Run::Salu => scalar(inst, state),
        Run::Control(control) => return Ok(control::execute(control, inst, state)),
        Run::Wait => state.wait(),
        Run::LaneMove(what) => lanemove::execute(what, &inst.indexed_in(state), state),
        Run::ClearExceptions => state.set_trapsts(state.trapsts() & !trapsts::FLOAT),
        Run::Interpolate(what) => interp::execute(what, inst, state)?,
        Run::ScalarMemory(what) => smem::execute(what, inst, state)?,
        Run::Share(what) => share::execute(what, inst, state)?,
        Run::Sync(what) => {
            return Ok(if share::synchronize(what, inst, state)? { Flow::Next } else { Flow::Retry });
        }
        Run::Memory(access) => transfer::execute(access, inst, state)?,
        Run::Formatted(what) => transfer::convert(what, inst, state)?,
        Run::Image(action) => texel::execute(action, inst, state)?,
        Run::Cache(what) => {
            if what != CacheControl::Invalidate {
                state.cache(Space::Global, Kind::WriteBack);
            }
            if what != CacheControl::WriteBack {
                state.cache(Space::Global, Kind::Invalidate);
            }
            if what == CacheControl::WriteBackInvalidate {
                state.drop_vector_lines();
            }
        }
        Run::Export | Run::Nop => {}
        Run::Illegal(word) => return Err(Fault::scalar(FaultKind::Illegal { word }, 0)),
        Run::Unsupported => return Err(Fault::scalar(FaultKind::Unsupported { name: inst.row.name }, 0)),
        Run::Fetch => return Err(Fault::scalar(FaultKind::Fetch, state.pc().wrapping_sub(inst.len as u64))),
    }
    Ok(Flow::Next)
}

/// Executes scalar arithmetic.
#[inline(always)] // a call is a third of what an engine needs for it
pub fn scalar<B: Bus>(inst: &Inst, state: &mut B) {
    let s0 = state.source(inst.src[0], inst.src_bits[0]);
    let s1 = state.source(inst.src[1], inst.src_bits[1]);
    let old = match inst.sdst {
        255 => 0,
        code if inst.src_bits[2] == 64 => state.sgpr64(code as u32),
        code => state.sgpr(code as u32) as u64,
    };
    let Some(out) = salu::salu(inst.op, s0, s1, old, state.scc(), state.exec()) else { return };
    if let Some(d) = out.d
        && inst.sdst != 255
    {
        state.set_scalar(inst.sdst, inst.src_bits[2], d);
    }
    // After the destination, which may be EXEC itself (manual 12.3, S_AND_SAVEEXEC_B64).
    if let Some(exec) = out.exec {
        state.set_exec(exec);
    }
    if let Some(scc) = out.scc {
        state.set_scc(scc);
    }
}
