//! Moving data between lanes and registers (manual 6.6, 12.12.1).

use crate::bus::Bus;
use crate::inst::Inst;
use crate::lanemove::{LaneMove, first_lane, permute_lane};
use crate::operand::Src;
use crate::state::{State, lanes};

/// A register of the file moved by an index; beyond the wave's registers none.
fn moved(r: u16, index: u32, state: &impl State) -> Option<u16> {
    let r = r as u64 + index as u64;
    (r < state.allocation().vgprs as u64).then_some(r as u16)
}

/// Executes a move.
pub fn execute<B: Bus>(what: LaneMove, inst: &Inst, state: &mut B) {
    let exec = state.exec();
    match what {
        LaneMove::ReadFirst => {
            let value = state.lane_source(inst.src[0], first_lane(exec));
            state.set_sgpr(inst.sdst as u32, value);
        }
        LaneMove::Read => {
            let lane = state.lane_source(inst.src[1], 0) & 63;
            let value = state.lane_source(inst.src[0], lane);
            state.set_sgpr(inst.sdst as u32, value);
        }
        LaneMove::Write => {
            let lane = state.lane_source(inst.src[1], 0) & 63;
            let value = state.lane_source(inst.src[0], 0);
            state.set_vgpr(inst.dst, lane, value);
        }
        LaneMove::Swap => {
            if let Src::Vgpr(r) = inst.src[0] {
                for lane in lanes(exec) {
                    let (a, b) = (state.vgpr(inst.dst, lane), state.vgpr(r, lane));
                    state.set_vgpr(inst.dst, lane, b);
                    state.set_vgpr(r, lane, a);
                }
            }
        }
        LaneMove::Accumulator => {
            if let Src::Vgpr(r) = inst.src[0] {
                for lane in lanes(exec) {
                    let value = state.vgpr(r, lane);
                    state.set_vgpr(inst.dst, lane, value);
                }
            }
        }
        LaneMove::Relative { source, destination } => {
            let m0 = state.m0();
            let dst = if destination { moved(inst.dst, m0, state) } else { Some(inst.dst) };
            let src = match inst.src[0] {
                Src::Vgpr(r) if source => Src::Vgpr(moved(r, m0, state).unwrap_or(0)),
                src => src,
            };
            if let Some(dst) = dst {
                for lane in lanes(exec) {
                    let value = state.lane_source(src, lane);
                    state.set_vgpr(dst, lane, value);
                }
            }
        }
    }
}

/// DS_SWIZZLE and DS_BPERMUTE: each active lane gets a datum of the lane `from` names, zero if that is inactive.
pub fn pull<S: State>(inst: &Inst, data: Src, from: impl Fn(&S, u32) -> u32, state: &mut S) {
    let exec = state.exec();
    let source: [u32; 64] = std::array::from_fn(|lane| state.lane(data, 0, lane as u32));
    let lanes_of: [u32; 64] = std::array::from_fn(|lane| from(state, lane as u32));
    for lane in lanes(exec) {
        let s = lanes_of[lane as usize];
        let value = if exec >> s & 1 != 0 { source[s as usize] } else { 0 };
        state.set_vgpr(inst.dst, lane, value);
    }
}

/// DS_PERMUTE: each active lane's datum goes to the lane its address names.
pub fn push<S: State>(inst: &Inst, offset: u32, state: &mut S) {
    let exec = state.exec();
    let mut out = [0; 64];
    for lane in lanes(exec) {
        let to = permute_lane(state.lane(inst.src[0], 0, lane), offset);
        out[to as usize] = state.lane(inst.src[1], 0, lane);
    }
    for lane in lanes(exec) {
        state.set_vgpr(inst.dst, lane, out[lane as usize]);
    }
}
