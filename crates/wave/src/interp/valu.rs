//! Vector ALU instructions: fetching operands with their modifiers, and putting results where they belong.

use super::Exec;
use super::frame::Operand;
use crate::program::{Inst, Merge, Select, Src};
use crate::state::{Vgpr, mode};
use wavemill_isa::row::Access;
use wavemill_isa::{Kind, Op, Role, flag};
use wavemill_sem::compare::Compare;
use wavemill_sem::fidelity::Family;
use wavemill_sem::soft;

/// Bits of MODE and M0 that switch register indexing on.
const INDEXING: u32 = 1 << mode::GPR_IDX_EN;

impl Exec<'_> {
    /// A register of the file.
    #[inline]
    fn register(&mut self, index: u16) -> *mut u32 {
        debug_assert!((index as usize) < self.wave.vgprs.len());
        // SAFETY: decoding kept every register and its followers inside the file for this shape (`Resolver`), and the
        // file has spare registers behind the last.
        unsafe { self.wave.vgprs.as_mut_ptr().add(index as usize).cast() }
    }

    /// A scalar source that is not a VGPR, extended to 64 bits for 64-bit operands.
    pub(super) fn scalar_source(&self, src: Src, bits: u8) -> u64 {
        match src {
            Src::Const(n) => n,
            Src::Sgpr(code) if bits == 64 => self.wave.sgpr64(code as u32),
            Src::Sgpr(code) => self.wave.sgprs[code as usize & 127] as u64,
            Src::Special(code) => self.special(code),
            Src::Vgpr(_) | Src::None => 0,
        }
    }

    /// Operand codes 235 to 254.
    fn special(&self, code: u8) -> u64 {
        match code {
            // Apertures are 64-bit addresses with a zero low half.
            235 => self.group.shared_base,
            236 => self.group.shared_base | 0xffff_ffff,
            237 => self.group.private_base,
            238 => self.group.private_base | 0xffff_ffff,
            251 => (self.wave.vcc() == 0) as u64,
            252 => (self.wave.exec() == 0) as u64,
            253 => self.wave.scc as u64,
            254 => self.lds_direct() as u64,
            _ => 0,
        }
    }

    /// A source without its modifiers.
    #[inline(always)]
    fn operand(&mut self, inst: &Inst, i: usize) -> Operand {
        match inst.src[i] {
            Src::Vgpr(r) => Operand { ptr: self.register(r), stride: 16, hi: 64 },
            src => self.uniform(inst, i, src),
        }
    }

    /// A source that is the same in every lane.
    #[inline(never)]
    fn uniform(&mut self, inst: &Inst, i: usize, src: Src) -> Operand {
        let mut value = self.scalar_source(src, inst.src_bits[i]);
        if let (Src::Sgpr(code), true) = (src, inst.row.has(flag::PACKED)) {
            value = self.wave.sgpr64(code as u32);
        }
        // The upper half is there for 64-bit operands; others do not look at it.
        let splat = &mut self.temps.src[i][0].0;
        splat[..16].fill(value as u32);
        splat[16..32].fill((value >> 32) as u32);
        Operand { ptr: splat.as_ptr(), stride: 0, hi: 16 }
    }

    /// Runs a lane-by-lane instruction.
    #[inline(always)]
    pub(super) fn valu(&mut self, inst: &Inst, family: Family) {
        if self.wave.mode & (INDEXING | 1 << mode::VSKIP) != 0 {
            if self.skips_vector() {
                return;
            }
            let indexed = self.indexed(inst);
            return self.valu_any(&indexed, family);
        }
        if !inst.plain || inst.merge != Merge::Whole {
            return self.valu_any(inst, family);
        }
        let exec = self.wave.exec();
        if exec == 0 {
            if inst.sdst != 255 {
                self.wave.set_sgpr64(inst.sdst as u32, 0);
            }
            return;
        }
        self.prepare(inst);
        if exec == !0 {
            self.frame.dst = self.register(inst.dst);
            self.kernels.valu(family, inst.op, &mut self.frame, &self.x);
        } else {
            self.frame.dst = self.temps.dst.as_mut_ptr().cast();
            self.kernels.valu(family, inst.op, &mut self.frame, &self.x);
            let dst = self.register(inst.dst);
            // SAFETY: the temporary and the file have room for the result's registers.
            unsafe { self.kernels.blend(dst, self.frame.dst, exec, inst.dst_dwords as usize) };
        }
        if inst.sdst != 255 {
            let mask = self.frame.mask & exec;
            self.wave.set_sgpr64(inst.sdst as u32, mask);
        }
    }

    /// Operands, masks and mode of an instruction without modifiers.
    #[inline(always)]
    fn prepare(&mut self, inst: &Inst) {
        for i in 0..3 {
            if !matches!(inst.src[i], Src::None) {
                self.frame.src[i] = self.operand(inst, i);
            }
        }
        self.frame.exec = self.wave.exec();
        let carry = inst.carry as usize & 127;
        self.frame.carry = self.wave.sgprs[carry] as u64 | (self.wave.sgprs[(carry + 1) & 127] as u64) << 32;
        self.frame.mask = 0;
        // MODE is put in where it changes.
        self.x.modify(inst.clamp, inst.omod);
    }

    /// The general case: modified sources, merged results.
    fn valu_any(&mut self, inst: &Inst, family: Family) {
        self.prepare(inst);
        self.modify(inst);
        self.frame.dst = self.temps.dst.as_mut_ptr().cast();
        self.kernels.valu(family, inst.op, &mut self.frame, &self.x);
        let exec = self.frame.exec;
        if inst.merge == Merge::Whole {
            let dst = self.register(inst.dst);
            // SAFETY: the temporary and the file have room for the result's registers.
            unsafe { self.kernels.blend(dst, self.frame.dst, exec, inst.dst_dwords as usize) };
        } else {
            self.merge(inst);
        }
        if inst.sdst != 255 {
            let mask = self.frame.mask & exec;
            self.wave.set_sgpr64(inst.sdst as u32, mask);
        }
    }

    /// Runs a comparison: a mask to an SGPR pair, and to EXEC for V_CMPX.
    pub(super) fn compare(&mut self, inst: &Inst, c: Compare) {
        if self.wave.mode & (INDEXING | 1 << mode::VSKIP) != 0 {
            if self.skips_vector() {
                return;
            }
            let indexed = self.indexed(inst);
            self.prepare(&indexed);
            self.modify(&indexed);
        } else {
            self.prepare(inst);
            if !inst.plain {
                self.modify(inst);
            }
        }
        self.kernels.compare(c, &mut self.frame, &self.x);
        let mask = self.frame.mask & self.frame.exec;
        if inst.sdst != 255 {
            self.wave.set_sgpr64(inst.sdst as u32, mask);
        }
        if c.exec {
            self.wave.set_exec(mask);
        }
    }

    /// The instruction with M0's index added to the registers it applies to (manual 6.6).
    pub(super) fn indexed(&self, inst: &Inst) -> Inst {
        let mut out = *inst;
        if self.wave.mode & INDEXING == 0 {
            return out;
        }
        let m0 = self.wave.m0();
        let index = (m0 & 0xff) as u16;
        let limit = self.wave.shape.vgprs;
        // A destination that is read, too, moves with the destination's bit; MADMK's addend is source 2.
        let accumulates = inst.row.operand(Role::Vdst).is_some_and(|o| o.access == Access::ReadWrite);
        for i in 0..3 {
            let bit = if i == 2 && accumulates { 15 } else { 12 + i };
            if let (Src::Vgpr(r), true) = (inst.src[i], m0 >> bit & 1 != 0) {
                let last = r + index + (inst.src_bits[i] == 64) as u16;
                out.src[i] = Src::Vgpr(if last < limit { r + index } else { 0 });
            }
        }
        if m0 >> 15 & 1 != 0 && inst.row.operand(Role::Vdst).is_some() {
            let r = inst.dst + index;
            if r + inst.dst_dwords.max(1) as u16 <= limit {
                out.dst = r;
            } else {
                // No result is written, not even a carry.
                out.dst = limit + self.wave.shape.agprs;
                out.sdst = 255;
            }
        }
        out
    }

    /// Applies SDWA, DPP, op_sel, neg and abs to the sources; DPP also narrows the active lanes.
    fn modify(&mut self, inst: &Inst) {
        let m = inst.modifiers;
        for i in 0..3 {
            if inst.src[i] == Src::None || inst.row.operand(Role::Src2).is_none() && i == 2 {
                continue;
            }
            let operand = self.frame.src[i];
            let long = inst.src_bits[i] == 64 || self.packed32(inst);
            let mut lanes = [Vgpr([0; 64]); 2];
            for (half, lanes) in lanes.iter_mut().enumerate().take(1 + long as usize) {
                for (lane, value) in lanes.0.iter_mut().enumerate() {
                    let at = operand.stride as usize * (lane / 16) + lane % 16 + operand.hi as usize * half;
                    // SAFETY: operands have these lanes, and a second register when they are long.
                    *value = unsafe { operand.ptr.add(at).read() };
                }
            }
            if i == 0
                && let Some((control, mask, bound)) = m.dpp
            {
                self.dpp(&mut lanes, control, mask, bound);
            }
            self.modify_lanes(inst, i, &mut lanes);
            self.temps.src[i] = lanes;
            self.frame.src[i] = Operand { ptr: self.temps.src[i].as_ptr().cast(), stride: 16, hi: 64 };
        }
    }

    /// Packed f32: operands are pairs of dwords.
    fn packed32(&self, inst: &Inst) -> bool {
        inst.row.has(flag::PACKED)
            && inst.row.operand(Role::Vdst).is_some_and(|d| d.ty.bits == 32 && d.ty.count == 2)
    }

    fn modify_lanes(&self, inst: &Inst, i: usize, lanes: &mut [Vgpr; 2]) {
        let m = &inst.modifiers;
        let bit = |mask: u8| mask >> i & 1 != 0;
        let operand = inst.row.operands.iter().find(|o| o.role.source_index() == Some(i as u8));
        let ty = operand.map(|o| o.ty);
        if inst.row.has(flag::PACKED) {
            return self.modify_packed(inst, i, lanes);
        }
        if inst.row.has(flag::MIX) {
            let flush = self.mode.f64.flush_in;
            for v in &mut lanes[0].0 {
                *v = mix_source(*v, bit(m.op_sel_hi), bit(m.op_sel), bit(m.neg_hi), bit(m.neg), flush);
            }
            return;
        }
        let float = ty.is_some_and(|t| t.kind == Kind::F);
        let half = inst.src_bits[i] == 16;
        if let Some(select) = m.sdwa.filter(|_| i < 2) {
            for v in &mut lanes[0].0 {
                *v = select_source(*v, select[i]);
            }
        } else if half && bit(m.op_sel) {
            for v in &mut lanes[0].0 {
                *v >>= 16;
            }
        }
        // Untyped operands that take neg and abs (V_CNDMASK) are f32 to them.
        let sign = if half && float { 0x8000 } else { 0x8000_0000 };
        let top = &mut lanes[(inst.src_bits[i] == 64) as usize];
        if bit(m.abs) {
            top.0.iter_mut().for_each(|v| *v &= !sign);
        }
        if bit(m.neg) {
            top.0.iter_mut().for_each(|v| *v ^= sign);
        }
    }

    /// VOP3P: op_sel picks the half for the low result, op_sel_hi for the high one; neg_lo and neg_hi follow.
    fn modify_packed(&self, inst: &Inst, i: usize, lanes: &mut [Vgpr; 2]) {
        let m = &inst.modifiers;
        let bit = |mask: u8| mask >> i & 1 != 0;
        let (sel, sel_hi) = (bit(m.op_sel), bit(m.op_sel_hi));
        let ty = inst.row.operands.iter().find(|o| o.role.source_index() == Some(i as u8)).map(|o| o.ty);
        let [lo, hi] = lanes;
        if self.packed32(inst) {
            // V_PK_MOV_B32 takes its low dword from source 0 and its high one from source 1, each by op_sel.
            let moves = inst.op == Op::v_pk_mov_b32;
            for (a, b) in lo.0.iter_mut().zip(&mut hi.0) {
                let pick = |high: bool| if high { *b } else { *a };
                let (x, y) = (pick(sel), pick(if moves { sel } else { sel_hi }));
                *a = x ^ (bit(m.neg) as u32) << 31;
                *b = y ^ (bit(m.neg_hi) as u32) << 31;
            }
            return;
        }
        match ty {
            Some(t) if t.bits == 16 && t.count == 2 => {
                let negate = if t.kind == Kind::F {
                    (bit(m.neg) as u32) << 15 | (bit(m.neg_hi) as u32) << 31
                } else {
                    0
                };
                for v in &mut lo.0 {
                    let half = |high: bool| if high { *v >> 16 } else { *v & 0xffff };
                    *v = (half(sel) | half(sel_hi) << 16) ^ negate;
                }
            }
            Some(t) if t.kind == Kind::F && bit(m.neg) => lo.0.iter_mut().for_each(|v| *v ^= 0x8000_0000),
            _ => {}
        }
    }

    /// DPP: moves lanes, and takes lanes without a source out of the active ones unless bound control gives zero.
    fn dpp(&mut self, lanes: &mut [Vgpr; 2], control: u16, mask: u8, bound: bool) {
        let old = *lanes;
        let exec = self.wave.exec();
        let mut active = 0u64;
        for n in 0..64u32 {
            let enabled = mask >> (4 + n / 16) & 1 != 0 && mask >> (n % 16 / 4) & 1 != 0;
            // An inactive source lane counts as out of bounds.
            let source = dpp_source(n, control).filter(|&s| exec >> s & 1 != 0);
            for half in 0..2 {
                lanes[half].0[n as usize] = source.map_or(0, |s| old[half].0[s as usize]);
            }
            active |= ((enabled && (bound || source.is_some())) as u64) << n;
        }
        self.frame.exec &= active;
    }

    /// Merges 16-bit and sub-dword results into their register.
    fn merge(&mut self, inst: &Inst) {
        let exec = self.frame.exec;
        let dst = self.register(inst.dst);
        for lane in 0..64 {
            if exec >> lane & 1 == 0 {
                continue;
            }
            let r = self.temps.dst[0].0[lane];
            // SAFETY: a register of the file.
            unsafe {
                let p = dst.add(lane);
                *p = merged(inst.merge, r, *p);
            }
        }
    }
}

/// SDWA: byte, word or dword, zero- or sign-extended.
fn select_source(v: u32, s: Select) -> u32 {
    let (value, bits) = match s.sel {
        n @ 0..=3 => (v >> (8 * n) & 0xff, 8),
        4 => (v & 0xffff, 16),
        5 => (v >> 16, 16),
        _ => return v,
    };
    if s.sext { ((value << (32 - bits)) as i32 >> (32 - bits)) as u32 } else { value }
}

/// One register after a partial write.
fn merged(merge: Merge, r: u32, old: u32) -> u32 {
    match merge {
        Merge::Whole => r,
        Merge::Low => old & 0xffff_0000 | r & 0xffff,
        Merge::High => old & 0xffff | r << 16,
        Merge::Sdwa(sel, unused) => {
            let (at, bits) = match sel {
                n @ 0..=3 => (8 * n as u32, 8),
                4 => (0, 16),
                5 => (16, 16),
                _ => return r,
            };
            let field = ((1u64 << bits) - 1) as u32;
            let placed = (r & field) << at;
            match unused {
                // Sign-extend above, zeros below.
                1 => {
                    let sign = r >> (bits - 1) & 1 != 0;
                    let above = !(((1u64 << (at + bits)) - 1) as u32);
                    placed | if sign { above } else { 0 }
                }
                2 => old & !(field << at) | placed,
                _ => placed,
            }
        }
    }
}

/// V_FMA_MIX source: an f32, or the f16 in either half, as f32, its denormals by the f16 mode; abs, then neg.
fn mix_source(v: u32, half: bool, high: bool, abs: bool, neg: bool, flush: bool) -> u32 {
    let widen = |h: u32| soft::h2f(if flush { soft::F16.flush(h as u64) as u32 } else { h });
    let f = match (half, high) {
        (false, _) => v,
        (true, false) => widen(v & 0xffff),
        (true, true) => widen(v >> 16),
    };
    let f = if abs { f & 0x7fff_ffff } else { f };
    if neg { f ^ 0x8000_0000 } else { f }
}

/// The lane a DPP control reads for lane `n` (manual 13.3.9), or none.
pub(super) fn dpp_source(n: u32, control: u16) -> Option<u32> {
    let count = control as u32 & 15;
    let (row, at) = (n & !15, n & 15);
    match control {
        0..=0xff => Some(n & !3 | control as u32 >> (n % 4 * 2) & 3),
        0x101..=0x10f => (at + count < 16).then_some(n + count),
        0x111..=0x11f => (at >= count).then(|| n - count),
        0x121..=0x12f => Some(row | (at + 16 - count) & 15),
        0x130 => (n < 63).then_some(n + 1),
        0x134 => Some((n + 1) & 63),
        0x138 => n.checked_sub(1),
        0x13c => Some((n + 63) & 63),
        0x140 => Some(row | (15 - at)),
        // Stays within its eight lanes; the manual's formula forgets the row.
        0x141 => Some(n & !7 | (7 - (n & 7))),
        0x142 => (n > 15).then(|| row - 1),
        0x143 => (n > 31).then_some(31),
        0x150..=0x15f => Some(row | count),
        _ => Some(n),
    }
}
