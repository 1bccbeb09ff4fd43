//! Scalar ALU and program control.

use super::{Exec, Next};
use crate::engine::{Event, FaultKind};
use crate::program::{Inst, Src};
use crate::state::{Clock, mode};
use crate::trap::Cause;
use std::sync::OnceLock;
use std::time::Instant;
use wavemill_isa::encoding::bits;
use wavemill_isa::{Op, regs};
use wavemill_sem::hwreg::status;
use wavemill_sem::{control, salu};

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
        if let Some(d) = out.d
            && inst.sdst != 255
        {
            self.set_scalar(inst.sdst, inst.src_bits[2], d);
        }
        // After the destination, which may be EXEC itself (manual 12.3, S_AND_SAVEEXEC_B64).
        if let Some(exec) = out.exec {
            self.wave.set_exec(exec);
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
            _ => {
                let next = self.control_other(inst, imm, target);
                // Some of these write MODE and STATUS.
                self.mode_changed();
                return next;
            }
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
            Op::s_trap => return self.trap(inst, imm as u8),
            Op::s_rfe_b64 | Op::s_rfe_restore_b64 => return self.return_from_trap(inst, s0),
            // Kills the wave as the host's command does.
            Op::s_setkill if imm & 1 != 0 => return Next::Stop(Event::End),
            Op::s_sethalt => {
                let halt = if imm & 1 != 0 { status::HALT } else { 0 };
                self.wave.status = self.wave.status & !status::HALT | halt;
                return self.attend();
            }
            Op::s_sendmsg => return Next::Stop(Event::Message { message: imm, m0: self.wave.m0() }),
            Op::s_sendmsghalt => {
                self.wave.status |= status::HALT;
                return Next::Stop(Event::Message { message: imm, m0: self.wave.m0() });
            }
            Op::s_setprio => {
                let priority = (imm as u32) << 3 & status::USER_PRIO;
                self.wave.status = self.wave.status & !status::USER_PRIO | priority;
            }
            Op::s_icache_inv => return Next::Refetch,
            Op::s_incperflevel | Op::s_decperflevel => {
                let level = &mut self.wave.perf_levels[imm as usize & 15];
                *level = level.wrapping_add(if inst.op == Op::s_incperflevel { 1 } else { !0 });
            }
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
                    let code = self.relative(code, inst.src_bits[2]).unwrap_or(0);
                    let value = self.wave.sgpr64(code);
                    self.set_scalar(inst.sdst, inst.src_bits[2], value);
                }
            }
            Op::s_movreld_b32 | Op::s_movreld_b64 => {
                if let Some(code) = self.relative(inst.sdst, inst.src_bits[2]) {
                    self.set_scalar(code as u8, inst.src_bits[2], s0);
                }
            }
            Op::s_getreg_b32 => {
                let value = self.get_hwreg(imm);
                self.wave.set_sgpr(inst.sdst as u32, value);
            }
            Op::s_setreg_b32 => {
                self.set_hwreg(imm, s0 as u32);
                return self.attend();
            }
            Op::s_setreg_imm32_b32 => {
                let value = self.scalar_source(inst.src[1], 32) as u32;
                self.set_hwreg(imm, value);
                return self.attend();
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

    /// S_TRAP: the PC saved is that of the instruction itself.
    fn trap(&mut self, inst: &Inst, id: u8) -> Next {
        if self.wave.status & status::TRAP_EN == 0 {
            return Next::Go;
        }
        if self.wave.trap_handler() == 0 {
            return Next::Stop(Event::Trap(id));
        }
        self.wave.pc = self.pc(inst);
        self.wave.enter_trap(Cause::Trap(id));
        Next::Go
    }

    /// S_RFE is for the trap handler alone; elsewhere it is no instruction.
    fn return_from_trap(&mut self, inst: &Inst, pc: u64) -> Next {
        if !self.wave.privileged() {
            let kind = FaultKind::Illegal { word: inst.bits as u32 };
            return Next::Stop(self.fault(kind, 0, self.pc(inst), 0));
        }
        self.wave.leave_trap(pc);
        self.attend()
    }

    /// After changes of STATUS and TRAPSTS: halts, or enters the trap handler.
    fn attend(&mut self) -> Next {
        self.wave.attend().map_or(Next::Go, Next::Stop)
    }

    /// S_CBRANCH_*_FORK.
    fn fork(&mut self, mask: u64, target: u64) {
        let wave = &mut *self.wave;
        let flow = control::fork(mask, wave.exec(), wave.mode >> mode::CSP, wave.pc, target);
        wave.pc = flow.pc;
        wave.set_exec(flow.exec);
        wave.set_csp(flow.csp);
        if let Some((register, exec, pc)) = flow.push {
            wave.set_sgpr64(register, exec);
            wave.set_sgpr64(register + 2, pc);
        }
    }

    /// S_CBRANCH_JOIN: at the saved depth go on, else pop and run the side that waited.
    fn join(&mut self, depth: u32) {
        let wave = &mut *self.wave;
        if let Some(csp) = control::join(wave.mode >> mode::CSP, depth) {
            let (exec, pc) = (wave.sgpr64(csp * 4), wave.sgpr64(csp * 4 + 2));
            wave.set_csp(csp);
            wave.set_exec(exec);
            wave.pc = pc;
        }
    }

    /// The SGPR that lies M0 registers on from one, if the wave has it: indexing does not lead out of the SGPRs.
    fn relative(&self, code: u8, bits: u8) -> Option<u32> {
        let m0 = self.wave.m0();
        let last = (code as u32).checked_add(m0)?.checked_add((bits == 64) as u32)?;
        let inside = m0 == 0 && code < 128 || last < self.wave.sgpr_limit() as u32;
        inside.then(|| code as u32 + m0)
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

/// Time since waves first looked at the clock: what S_MEMTIME counts in nanoseconds and S_MEMREALTIME in 25 MHz.
pub fn since_start() -> std::time::Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}
