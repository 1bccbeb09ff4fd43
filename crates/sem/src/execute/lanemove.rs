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
                let (a, b) = (state.row(inst.dst), state.row(r));
                state.set_row(inst.dst, exec, &b);
                state.set_row(r, exec, &a);
            }
        }
        LaneMove::Accumulator => {
            if let Src::Vgpr(r) = inst.src[0] {
                let row = state.row(r);
                state.set_row(inst.dst, exec, &row);
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
                let row = match src {
                    Src::Vgpr(r) => state.row(r),
                    src => [state.lane_source(src, 0); 64],
                };
                state.set_row(dst, exec, &row);
            }
        }
    }
}

/// DS_SWIZZLE and DS_BPERMUTE: each active lane gets a datum of the lane that it names, zero if that is inactive.
pub fn pull<S: State>(inst: &Inst, data: Src, from: &[u32; 64], state: &mut S) {
    let exec = state.exec();
    let mut source = state.operand_row(data);
    if exec != !0 {
        for (lane, value) in source.iter_mut().enumerate() {
            *value = if exec >> lane & 1 != 0 { *value } else { 0 };
        }
    }
    state.set_row(inst.dst, exec, &from.map(|lane| source[lane as usize & 63]));
}

/// DS_PERMUTE: each active lane's datum goes to the lane its address names.
pub fn push<S: State>(inst: &Inst, offset: u32, state: &mut S) {
    let exec = state.exec();
    let (addresses, data) = (state.operand_row(inst.src[0]), state.operand_row(inst.src[1]));
    let mut out = [0; 64];
    for lane in lanes(exec).map(|lane| lane as usize) {
        out[permute_lane(addresses[lane], offset) as usize & 63] = data[lane];
    }
    state.set_row(inst.dst, exec, &out);
}
