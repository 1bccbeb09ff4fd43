//! Scalar ALU and program control.

use super::{Exec, Next};
use crate::engine::Event;
use crate::program::{Inst, Src};
use crate::state::{Clock, mode};
use std::sync::OnceLock;
use std::time::Instant;
use wavemill_isa::encoding::bits;
use wavemill_isa::{Op, regs};
use wavemill_sem::salu;

/// Hardware register numbers (manual 5.8; 15 from the GFX9 aperture registers).
mod hwreg {
    pub const MODE: u32 = 1;
    pub const STATUS: u32 = 2;
    pub const TRAPSTS: u32 = 3;
    pub const HW_ID: u32 = 4;
    pub const GPR_ALLOC: u32 = 5;
    pub const LDS_ALLOC: u32 = 6;
    pub const SH_MEM_BASES: u32 = 15;
}

impl Exec<'_> {
    /// Writes a scalar destination of one or two registers.
    fn set_scalar(&mut self, code: u8, bits: u8, value: u64) {
        if bits == 64 {
            self.wave.set_sgpr64(code as u32, value);
        } else {
            self.wave.set_sgpr(code as u32, value as u32);
        }
    }

    #[inline]
    pub(super) fn salu(&mut self, inst: &Inst) {
        let s0 = self.scalar_source(inst.src[0], inst.src_bits[0]);
        let s1 = self.scalar_source(inst.src[1], inst.src_bits[1]);
        let old = if inst.sdst == 255 { 0 } else { self.wave.sgpr64(inst.sdst as u32) };
        let old = if inst.src_bits[2] == 64 { old } else { old & 0xffff_ffff };
        let Some(out) = salu::salu(inst.op, s0, s1, old, self.wave.scc, self.wave.exec()) else { return };
        if let Some(exec) = out.exec {
            self.wave.set_exec(exec);
        }
        if let Some(d) = out.d
            && inst.sdst != 255
        {
            self.set_scalar(inst.sdst, inst.src_bits[2], d);
        }
        if let Some(scc) = out.scc {
            self.wave.scc = scc;
        }
    }

    /// Program control. The PC already points behind the instruction.
    pub(super) fn control(&mut self, inst: &Inst) -> Next {
        let imm = bits::SIMM16.get(inst.bits) as u16;
        let target = self.wave.pc.wrapping_add((imm as i16 as i64 * 4) as u64);
        let wave = &mut *self.wave;
        let cdbg = (wave.status >> 20 & 1 != 0, wave.status >> 21 & 1 != 0);
        let taken = match inst.op {
            Op::s_branch => true,
            Op::s_cbranch_scc0 => !wave.scc,
            Op::s_cbranch_scc1 => wave.scc,
            Op::s_cbranch_vccz => wave.vcc() == 0,
            Op::s_cbranch_vccnz => wave.vcc() != 0,
            Op::s_cbranch_execz => wave.exec() == 0,
            Op::s_cbranch_execnz => wave.exec() != 0,
            Op::s_cbranch_cdbguser => cdbg.0,
            Op::s_cbranch_cdbgsys => cdbg.1,
            Op::s_cbranch_cdbgsys_or_user => cdbg.0 || cdbg.1,
            Op::s_cbranch_cdbgsys_and_user => cdbg.0 && cdbg.1,
            _ => return self.control_other(inst, imm, target),
        };
        if taken {
            wave.pc = target;
        }
        Next::Go
    }

    fn control_other(&mut self, inst: &Inst, imm: u16, target: u64) -> Next {
        let s0 = self.scalar_source(inst.src[0], inst.src_bits[0]);
        match inst.op {
            Op::s_endpgm | Op::s_endpgm_saved | Op::s_endpgm_ordered_ps_done => {
                return Next::Stop(Event::End);
            }
            Op::s_barrier => return Next::Stop(Event::Barrier),
            Op::s_sleep => return Next::Stop(Event::Preempted),
            Op::s_trap => return Next::Stop(Event::Trap(imm as u8)),
            Op::s_sethalt if imm & 1 != 0 => return Next::Stop(Event::Halt),
            Op::s_sendmsg | Op::s_sendmsghalt => {
                return Next::Stop(Event::Message { message: imm, m0: self.wave.m0() });
            }
            Op::s_setprio => self.wave.status = self.wave.status & !0x18 | (imm as u32 & 3) << 3,
            Op::s_getpc_b64 => {
                let pc = self.wave.pc;
                self.wave.set_sgpr64(inst.sdst as u32, pc);
            }
            Op::s_setpc_b64 => self.wave.pc = s0,
            Op::s_swappc_b64 => {
                let pc = self.wave.pc;
                self.wave.set_sgpr64(inst.sdst as u32, pc);
                self.wave.pc = s0;
            }
            Op::s_call_b64 => {
                let pc = self.wave.pc;
                self.wave.set_sgpr64(inst.sdst as u32, pc);
                self.wave.pc = target;
            }
            Op::s_movrels_b32 | Op::s_movrels_b64 => {
                if let Src::Sgpr(code) = inst.src[0] {
                    let code = self.relative(code);
                    let value = self.wave.sgpr64(code);
                    self.set_scalar(inst.sdst, inst.src_bits[2], value);
                }
            }
            Op::s_movreld_b32 | Op::s_movreld_b64 => {
                let code = inst.sdst as u32 + self.wave.m0();
                if code < 104 {
                    self.set_scalar(code as u8, inst.src_bits[2], s0);
                }
            }
            Op::s_getreg_b32 => {
                let value = self.hwreg(imm);
                self.wave.set_sgpr(inst.sdst as u32, value);
            }
            Op::s_setreg_b32 => self.set_hwreg(imm, s0 as u32),
            Op::s_setreg_imm32_b32 => {
                let value = self.scalar_source(inst.src[1], 32) as u32;
                self.set_hwreg(imm, value);
            }
            Op::s_set_gpr_idx_on => {
                let enable = inst.bits as u32 >> 8 & 15;
                self.set_index(Some(s0 as u32 & 0xff), Some(enable));
                self.wave.mode |= 1 << mode::GPR_IDX_EN;
            }
            Op::s_set_gpr_idx_off => self.wave.mode &= !(1 << mode::GPR_IDX_EN),
            Op::s_set_gpr_idx_mode => self.set_index(None, Some(imm as u32 & 15)),
            Op::s_set_gpr_idx_idx => self.set_index(Some(s0 as u32 & 0xff), None),
            // VSKIP = the bit of S0 that S1 names.
            Op::s_setvskip => {
                let n = self.scalar_source(inst.src[1], 32) as u32 & 31;
                let skip = s0 as u32 >> n & 1;
                self.wave.mode = self.wave.mode & !(1 << mode::VSKIP) | skip << mode::VSKIP;
            }
            Op::s_cbranch_g_fork => {
                let target = self.scalar_source(inst.src[1], 64);
                self.fork(s0, target);
            }
            Op::s_cbranch_i_fork => {
                // The mask is where SOPK has its register.
                let mask = self.scalar_source(inst.src[0], 64);
                self.fork(mask, target);
            }
            Op::s_cbranch_join => self.join(s0 as u32),
            _ => {}
        }
        Next::Go
    }

    /// M0's index and mode fields for VGPR indexing.
    fn set_index(&mut self, index: Option<u32>, enable: Option<u32>) {
        let mut m0 = self.wave.m0();
        if let Some(i) = index {
            m0 = m0 & !0xff | i;
        }
        if let Some(e) = enable {
            m0 = m0 & !0xf000 | e << 12;
        }
        self.wave.set_sgpr(regs::M0, m0);
    }

    /// S_CBRANCH_*_FORK (manual 12.1): the smaller side runs first, the other waits on the stack in SGPRs.
    fn fork(&mut self, mask: u64, target: u64) {
        let wave = &mut *self.wave;
        let exec = wave.exec();
        let (pass, fail) = (mask & exec, !mask & exec);
        let next = wave.pc;
        if pass == exec {
            wave.pc = target;
        } else if fail != exec {
            let (run, wait, resume) = if fail.count_ones() < pass.count_ones() {
                (fail, pass, target)
            } else {
                wave.pc = target;
                (pass, fail, next)
            };
            let csp = wave.mode >> 29;
            wave.set_exec(run);
            wave.set_sgpr64(csp * 4, wait);
            wave.set_sgpr64(csp * 4 + 2, resume);
            wave.mode = wave.mode & 0x1fff_ffff | (csp + 1) << 29;
        }
    }

    /// S_CBRANCH_JOIN: at the saved depth go on, else pop and run the side that waited.
    fn join(&mut self, depth: u32) {
        let wave = &mut *self.wave;
        let csp = wave.mode >> 29;
        if csp != depth & 7 {
            let csp = csp.wrapping_sub(1) & 7;
            let (mask, pc) = (wave.sgpr64(csp * 4), wave.sgpr64(csp * 4 + 2));
            wave.mode = wave.mode & 0x1fff_ffff | csp << 29;
            wave.set_exec(mask);
            wave.pc = pc;
        }
    }

    /// An SGPR M0 registers on; out of range is s0.
    fn relative(&self, code: u8) -> u32 {
        let code = code as u64 + self.wave.m0() as u64;
        if code < 104 { code as u32 } else { 0 }
    }

    /// A hardware register's field: {size - 1, offset, id}.
    fn hwreg(&self, imm: u16) -> u32 {
        let (id, offset, size) = (imm as u32 & 63, imm as u32 >> 6 & 31, (imm as u32 >> 11) + 1);
        let wave = &self.wave;
        let value = match id {
            hwreg::MODE => wave.mode,
            hwreg::STATUS => {
                wave.status
                    | wave.scc as u32
                    | ((wave.exec() == 0) as u32) << 9
                    | ((wave.vcc() == 0) as u32) << 10
                    | 1 << 16
            }
            hwreg::TRAPSTS => wave.trapsts,
            hwreg::HW_ID => wave.hw_id,
            hwreg::GPR_ALLOC => {
                let vgprs = (wave.shape.vgprs as u32).div_ceil(4).saturating_sub(1);
                (vgprs & 63) << 8 | 12 << 24
            }
            hwreg::LDS_ALLOC => wave.lds_bytes.div_ceil(256) << 12,
            hwreg::SH_MEM_BASES => {
                (self.group.private_base >> 48) as u32 | ((self.group.shared_base >> 48) as u32) << 16
            }
            _ => 0,
        };
        (value >> offset) & (((1u64 << size) - 1) as u32)
    }

    fn set_hwreg(&mut self, imm: u16, value: u32) {
        let (id, offset, size) = (imm as u32 & 63, imm as u32 >> 6 & 31, (imm as u32 >> 11) + 1);
        let mask = (((1u64 << size) - 1) as u32) << offset;
        let write = |old: u32| old & !mask | value << offset & mask;
        match id {
            hwreg::MODE => {
                self.wave.mode = write(self.wave.mode);
                self.mode_changed();
            }
            hwreg::TRAPSTS => self.wave.trapsts = write(self.wave.trapsts),
            _ => {}
        }
    }

    /// What S_MEMTIME reads.
    pub(super) fn time(&self) -> u64 {
        match self.wave.clock {
            Clock::Instructions => self.wave.counters.total(),
            Clock::Host => since_start().as_nanos() as u64,
        }
    }

    /// What S_MEMREALTIME reads: a 25 MHz clock (manual 8.2.5), or a count of instructions.
    pub(super) fn real_time(&self) -> u64 {
        match self.wave.clock {
            Clock::Instructions => self.wave.counters.total(),
            Clock::Host => since_start().as_nanos() as u64 / 40,
        }
    }
}

fn since_start() -> std::time::Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}
