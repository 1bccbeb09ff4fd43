//! Scalar memory: loads, stores, atomics, time.

use super::Exec;
use crate::engine::{Event, FaultKind};
use crate::guest;
use crate::program::Inst;
use wavemill_isa::encoding::bits;
use wavemill_isa::{Enc, Op, Role};
use wavemill_sem::atomic::Unit;
use wavemill_sem::fidelity::scalar_load;
use wavemill_sem::memory::{self, Access};

impl Exec<'_> {
    pub(super) fn scalar_memory(&mut self, inst: &Inst) -> Result<(), Event> {
        let row = inst.row;
        let encoded =
            wavemill_isa::Inst { row, form: wavemill_isa::Form::Base, len: inst.len, bits: inst.bits };
        let data = encoded.get(Role::Sdata);
        match inst.op {
            Op::s_memtime | Op::s_memtime_gfx6 => {
                let now = self.time();
                self.wave.set_sgpr64(data, now);
                return Ok(());
            }
            Op::s_memrealtime => {
                let now = self.real_time();
                self.wave.set_sgpr64(data, now);
                return Ok(());
            }
            _ => {}
        }
        let Some(sbase) = row.operand(Role::Sbase) else { return Ok(()) };
        let base = encoded.get(Role::Sbase) * 2;
        let offset = self.scalar_offset(inst);
        // A buffer's descriptor gives base and size; a plain base only an address.
        let buffer = sbase.ty.bits == 128;
        let (base, limit) = if buffer {
            let (low, records) = (self.wave.sgpr64(base), self.wave.sgpr(base + 2) as u64);
            let stride = low >> 48 & 0x3fff;
            (low & 0xffff_ffff_ffff, if stride == 0 { records } else { records * stride })
        } else {
            (self.wave.sgpr64(base) & !3, u64::MAX)
        };
        let at = |offset: u64| base.wrapping_add(offset) & !3;
        if let Some((dwords, store)) = scalar_load(inst.op) {
            self.stored |= store;
            for i in 0..dwords as u32 {
                let offset = offset.wrapping_add(4 * i as u64);
                // Beyond the buffer loads give zero and stores do nothing (manual 8.4).
                let inside = !buffer || offset < limit;
                let register = data + i;
                if !inside {
                    if !store {
                        self.wave.set_sgpr(register, 0);
                    }
                    continue;
                }
                let p = self.scalar_check(inst, at(offset), 4, store)?;
                // SAFETY: checked.
                unsafe {
                    if store {
                        guest::write(p, 4, self.wave.sgpr(register));
                    } else {
                        self.wave.set_sgpr(register, guest::read(p, 4));
                    }
                }
            }
            return Ok(());
        }
        if let Some(Access::Atomic { op, bytes }) = memory::access(inst.op) {
            if buffer && offset >= limit {
                return Ok(());
            }
            let address = at(offset);
            if address % bytes as u64 != 0 {
                let kind = FaultKind::Misaligned { bytes: bytes as u32 };
                return Err(self.fault(kind, 0, self.pc(inst), address));
            }
            let p = self.scalar_check(inst, address, bytes as u64, true)?;
            let value =
                |code: u32| if bytes == 4 { self.wave.sgpr(code) as u64 } else { self.wave.sgpr64(code) };
            let (new, second) = (value(data), value(data + bytes as u32 / 4));
            // SAFETY: checked and aligned.
            let old =
                unsafe { guest::update(p, bytes, |old| op.apply(old, new, second, bytes, Unit::Cache)) };
            if bits::SMEM_GLC.get(inst.bits) != 0 {
                if bytes == 4 {
                    self.wave.set_sgpr(data, old as u32);
                } else {
                    self.wave.set_sgpr64(data, old);
                }
            }
        }
        Ok(())
    }

    fn scalar_check(&mut self, inst: &Inst, address: u64, bytes: u64, write: bool) -> Result<*mut u8, Event> {
        guest::check(&mut self.wave.cache, self.memory, address, bytes, write)
            .map_err(|kind| self.fault(kind, 0, self.pc(inst), address))
    }

    /// The byte offset, by generation (manual 8.2.1.1; GFX6 and GFX7 count dwords).
    fn scalar_offset(&self, inst: &Inst) -> u64 {
        let word = inst.bits;
        if inst.row.enc == Enc::Smrd {
            let field = bits::SMRD_OFFSET.get(word);
            return match (bits::SMRD_IMM.get(word) != 0, field) {
                (true, n) => n as u64 * 4,
                (false, 255) => (word >> 32) * 4,
                (false, code) => self.wave.sgpr(code) as u64,
            };
        }
        let imm = bits::SMEM_IMM.get(word) != 0;
        if !self.wave.level.is_gfx9() {
            let field = bits::SMEM_OFFSET20.get(word);
            return if imm { field as u64 } else { self.wave.sgpr(field & 0x7f) as u64 };
        }
        let field = bits::SMEM_OFFSET21.get(word);
        let soe = bits::SMEM_SOE.get(word) != 0;
        let scale = match inst.op {
            Op::s_scratch_load_dword
            | Op::s_scratch_load_dwordx2
            | Op::s_scratch_load_dwordx4
            | Op::s_scratch_store_dword
            | Op::s_scratch_store_dwordx2
            | Op::s_scratch_store_dwordx4 => 64,
            _ => 1,
        };
        let constant = if imm { ((field << 11) as i32 >> 11) as i64 as u64 } else { 0 };
        let register = match (imm, soe) {
            (_, true) => self.wave.sgpr(bits::SMEM_SOFFSET.get(word)) as u64,
            (false, false) => self.wave.sgpr(field & 0x7f) as u64,
            (true, false) => 0,
        };
        // Every part of an address loses its low bits; of a buffer's, only the sum does (manual 8.2.1.1).
        let mask = if inst.row.operand(Role::Sbase).is_some_and(|o| o.ty.bits == 128) { !0 } else { !3 };
        (constant & mask).wrapping_add((register * scale) & mask)
    }
}
