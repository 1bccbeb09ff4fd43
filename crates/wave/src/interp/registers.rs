//! Vector instructions about registers: lanes to and from SGPRs, swaps, relative moves.

use super::Exec;
use crate::program::{Inst, Src};
use wavemill_isa::Op;
use wavemill_sem::hwreg::trapsts;
use wavemill_sem::misc;

impl Exec<'_> {
    /// One lane of a vector source, or a scalar source.
    fn lane_source(&self, src: Src, lane: u32) -> u32 {
        match src {
            Src::Vgpr(r) => self.wave.vgprs[r as usize].0[lane as usize & 63],
            src => self.scalar_source(src, 32) as u32,
        }
    }

    /// A register of the file moved by an index; beyond the wave's registers `None`.
    fn moved(&self, r: u16, index: u32) -> Option<u16> {
        let r = r as u64 + index as u64;
        (r < self.wave.shape.vgprs as u64).then_some(r as u16)
    }

    pub(super) fn registers(&mut self, inst: &Inst) {
        if self.skips_vector() {
            return;
        }
        let inst = &self.indexed(inst);
        let exec = self.wave.exec();
        let lanes = |mut f: Box<dyn FnMut(usize) + '_>| {
            for lane in (0..64).filter(|l| exec >> l & 1 != 0) {
                f(lane);
            }
        };
        match inst.op {
            // The first active lane, or lane 0.
            Op::v_readfirstlane_b32 => {
                let lane = if exec == 0 { 0 } else { exec.trailing_zeros() };
                let value = self.lane_source(inst.src[0], lane);
                self.wave.set_sgpr(inst.sdst as u32, value);
            }
            Op::v_readlane_b32 | Op::v_readlane_b32_gfx6 => {
                let lane = self.lane_source(inst.src[1], 0) & 63;
                let value = self.lane_source(inst.src[0], lane);
                self.wave.set_sgpr(inst.sdst as u32, value);
            }
            Op::v_writelane_b32 | Op::v_writelane_b32_gfx6 => {
                let lane = self.lane_source(inst.src[1], 0) & 63;
                let value = self.lane_source(inst.src[0], 0);
                self.wave.vgprs[inst.dst as usize].0[lane as usize] = value;
            }
            Op::v_swap_b32 => {
                if let Src::Vgpr(r) = inst.src[0] {
                    let (a, b) = (inst.dst as usize, r as usize);
                    lanes(Box::new(|l| {
                        let t = self.wave.vgprs[a].0[l];
                        self.wave.vgprs[a].0[l] = self.wave.vgprs[b].0[l];
                        self.wave.vgprs[b].0[l] = t;
                    }));
                }
            }
            // The exceptions that the vector ALU has gathered.
            Op::v_clrexcp => self.wave.trapsts &= !trapsts::FLOAT,
            Op::v_accvgpr_mov_b32 => {
                if let Src::Vgpr(r) = inst.src[0] {
                    lanes(Box::new(|l| {
                        self.wave.vgprs[inst.dst as usize].0[l] = self.wave.vgprs[r as usize].0[l];
                    }));
                }
            }
            Op::v_movreld_b32 | Op::v_movrels_b32 | Op::v_movrelsd_b32 => {
                let m0 = self.wave.m0();
                let dst =
                    if inst.op == Op::v_movrels_b32 { Some(inst.dst) } else { self.moved(inst.dst, m0) };
                let src = match inst.src[0] {
                    Src::Vgpr(r) if inst.op != Op::v_movreld_b32 => Src::Vgpr(self.moved(r, m0).unwrap_or(0)),
                    src => src,
                };
                if let Some(dst) = dst {
                    for lane in (0..64).filter(|l| exec >> l & 1 != 0) {
                        let value = self.lane_source(src, lane);
                        self.wave.vgprs[dst as usize].0[lane as usize] = value;
                    }
                }
            }
            Op::v_mqsad_u32_u8 => {
                for lane in (0..64usize).filter(|l| exec >> l & 1 != 0) {
                    let pair = |src: Src| match src {
                        Src::Vgpr(r) => {
                            self.wave.vgprs[r as usize].0[lane] as u64
                                | (self.wave.vgprs[r as usize + 1].0[lane] as u64) << 32
                        }
                        src => self.scalar_source(src, 64),
                    };
                    let (a, b) = (pair(inst.src[0]), self.lane_source(inst.src[1], lane as u32));
                    let Src::Vgpr(c) = inst.src[2] else { continue };
                    let sums: [u32; 4] = std::array::from_fn(|w| {
                        let c = self.wave.vgprs[c as usize + w].0[lane];
                        misc::mqsad_u32(a, b, c, w as u32, inst.clamp)
                    });
                    for (w, sum) in sums.into_iter().enumerate() {
                        self.wave.vgprs[inst.dst as usize + w].0[lane] = sum;
                    }
                }
            }
            _ => {}
        }
    }
}
