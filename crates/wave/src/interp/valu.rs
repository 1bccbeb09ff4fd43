//! Vector ALU instructions: which kernel runs them, and what only the interpreter knows about their operands.

use super::Exec;
use super::kernels::Env;
use crate::program::{Block, Inst, Src};
use crate::state::mode;
use crate::strip::{From, Source, Task};
use wavemill_isa::Role;
use wavemill_isa::row::Access;
use wavemill_sem::FloatMode;

/// Bits of MODE and M0 that switch register indexing on.
const INDEXING: u32 = 1 << mode::GPR_IDX_EN;

impl Exec<'_> {
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

    /// Whether the fast kernels may run: nothing about registers, rounding or denormals is out of the ordinary.
    pub(super) fn ordinary(&self) -> bool {
        self.wave.mode & (INDEXING | 1 << mode::VSKIP) == 0
            && self.mode.f32 == FloatMode::IEEE
            && self.mode.f64 == FloatMode::IEEE
    }

    /// Runs vector instructions of a block from one that is for kernels on; returns the first that is not.
    #[inline(always)]
    pub(super) fn strip(&mut self, block: &Block, at: usize) -> usize {
        let ops = &block.lane_ops.list[at..];
        if self.ordinary && ops[0].fast != Task::Leave {
            let env = self.env(block);
            // SAFETY: the environment is this wave's, and the block was decoded for its shape.
            return at + unsafe { self.kernels.fast(ops, &env) };
        }
        self.strip_any(block, at)
    }

    #[inline(always)]
    fn env<'b>(&mut self, block: &'b Block) -> Env<'b> {
        Env {
            bases: [
                self.wave.vgprs.as_mut_ptr().cast(),
                block.lane_ops.consts.as_ptr().cast_mut().cast(),
                (&raw mut *self.temps).cast(),
            ],
            sgprs: self.wave.sgprs.as_mut_ptr(),
            extras: &block.lane_ops.extras,
            special: [0; 3],
            mode: self.mode,
            level: self.wave.level,
            chunks: 4,
        }
    }

    /// The general case: any mode, any modifiers.
    fn strip_any(&mut self, block: &Block, at: usize) -> usize {
        if self.skips_vector() {
            return at + 1;
        }
        let list = &block.lane_ops.list;
        if !list[at].special && self.wave.mode & INDEXING == 0 {
            let end = match self.ordinary {
                true => at + 1,
                false => list[at..].iter().position(|s| s.special).map_or(list.len(), |n| at + n),
            };
            let env = self.env(block);
            // SAFETY: the environment is this wave's, and the block was decoded for its shape.
            return at + unsafe { self.kernels.any(&list[at..end], &env) };
        }
        self.strip_one(block, at)
    }

    /// One instruction with registers moved by an index, or with sources that only the interpreter knows.
    fn strip_one(&mut self, block: &Block, at: usize) -> usize {
        let mut op = block.lane_ops.list[at];
        let mut extra = block.lane_ops.extras.get((op.extra as usize).wrapping_sub(1)).cloned();
        if self.wave.mode & INDEXING != 0 {
            let inst = self.indexed(&block.insts[at]);
            for (i, src) in inst.src.iter().enumerate() {
                let Src::Vgpr(r) = src else { continue };
                let prepare = extra.as_mut().and_then(|e| e.prepare[i].as_mut());
                match prepare {
                    Some(p) => p.from = From::Source(Source::register(*r)),
                    None => op.src[i] = Source::register(*r),
                }
            }
            op.sdst = inst.sdst;
            match extra.as_mut().and_then(|e| e.merge.as_mut()) {
                Some((_, dst)) => *dst = inst.dst as u32 * 64,
                None => op.dst = inst.dst as u32 * 64,
            }
        }
        let mut special = [0; 3];
        if let Some(extra) = &extra {
            for (value, p) in special.iter_mut().zip(&extra.prepare) {
                if let Some(From::Special(code)) = p.map(|p| p.from) {
                    *value = self.special(code);
                }
            }
            op.extra = 1;
        }
        let env = Env { special, extras: extra.as_slice(), ..self.env(block) };
        // SAFETY: the environment is this wave's, the block was decoded for its shape, and indexing keeps registers
        // inside the file.
        unsafe { self.kernels.any(std::slice::from_ref(&op), &env) };
        at + 1
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
        // A destination that is read as source 2 moves with the destination's bit; MADMK's addend and what V_FMA_MIXHI
        // adds are source 2 themselves.
        let accumulates = inst.row.operand(Role::Vdst).is_some_and(|o| o.access == Access::ReadWrite)
            && inst.row.operand(Role::Src2).is_none();
        for i in 0..3 {
            let bit = if i == 2 && accumulates { 15 } else { 12 + i };
            // Accumulators, which follow the others in the file, are not indexed.
            if let (Src::Vgpr(r), true) = (inst.src[i], m0 >> bit & 1 != 0)
                && r < limit
            {
                let last = r + index + (inst.src_bits[i] == 64) as u16;
                out.src[i] = Src::Vgpr(if last < limit { r + index } else { 0 });
            }
        }
        if m0 >> 15 & 1 != 0 && inst.dst < limit && inst.row.operand(Role::Vdst).is_some() {
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
}
