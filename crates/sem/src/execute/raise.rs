//! Exceptions of a whole instruction: [`crate::excp`]'s flags of all active lanes, for engines that run step by step because
//! somebody can see them.

use crate::bus::Bus;
use crate::excp::{Rule, compare_flags};
use crate::hwreg::mode;
use crate::inst::{Inst, Run};
use crate::operand::Src;
use crate::scalar::S32;
use crate::state::lanes;
use wavemill_isa::{Row, flag};

/// Exceptions of an instruction, as bits of TRAPSTS.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Raised {
    /// The flags of all lanes.
    pub flags: u32,
    /// The first lane that raised one MODE lets trap.
    pub lane: u32,
}

/// What an instruction is about to raise.
pub fn raised<B: Bus>(inst: &Inst, state: &mut B) -> Raised {
    if !inst.run.is_vector() || state.skips_vector() {
        return Raised::default();
    }
    let mode = state.float_mode();
    match inst.run {
        Run::Valu(_) => match Rule::of(inst.op) {
            Some(rule) => each_lane(inst, state, |s| rule.flags(s, &mode, inst.clamp)),
            None => Raised::default(),
        },
        Run::Compare(c) => {
            let signals = inst.clamp || always_signals(inst.row);
            each_lane(inst, state, |s| compare_flags(c, [s[0], s[1]], &mode, signals))
        }
        _ => Raised::default(),
    }
}

/// The exceptions of all active lanes.
fn each_lane<B: Bus>(inst: &Inst, state: &mut B, flags: impl Fn([u64; 3]) -> u32) -> Raised {
    let inst = &inst.indexed_in(state);
    let float_mode = state.float_mode();
    let changes = [0, 1, 2].map(|i| inst.change(i));
    let exec = state.exec();
    let traps = state.mode() >> mode::EXCP_EN_SHIFT;
    let (mut all, mut first) = (0, None);
    for lane in lanes(exec) {
        let from = match inst.modifiers.dpp {
            None => Some(lane),
            Some(dpp) => match dpp.lane(lane, exec) {
                Some(from) => from,
                None => continue,
            },
        };
        let s = [0, 1, 2].map(|i| {
            let raw = match if i == 0 { from } else { Some(lane) } {
                Some(lane) => raw(inst, i, lane, state),
                None => 0,
            };
            let (lo, hi) = changes[i].apply(S32(raw as u32), S32((raw >> 32) as u32), &float_mode);
            lo.0 as u64 | (hi.0 as u64) << 32
        });
        let raised = flags(s);
        all |= raised;
        if raised & traps != 0 {
            first.get_or_insert(lane);
        }
    }
    Raised { flags: all, lane: first.unwrap_or(0) }
}

/// A source in a lane, before its modifiers.
fn raw<B: Bus>(inst: &Inst, i: usize, lane: u32, state: &mut B) -> u64 {
    let long = inst.src_bits[i] == 64 || inst.row.has(flag::PACKED);
    match inst.src[i] {
        Src::Vgpr(_) if long => state.lane64(inst.src[i], 0, lane),
        Src::Vgpr(_) => state.lane(inst.src[i], 0, lane) as u64,
        src => state.source(src, if long { 64 } else { 32 }),
    }
}

/// V_CMPS and V_CMPSX of GFX6 and GFX7 signal every NaN.
fn always_signals(row: &Row) -> bool {
    row.name.starts_with("v_cmps_") || row.name.starts_with("v_cmpsx_")
}
