//! Vector ALU instructions: which kernel runs them, and what only the interpreter knows about their operands.

use super::Exec;
use super::kernels::Env;
use crate::program::{Block, Src};
use crate::state::mode;
use crate::strip::{From, Source, Task};
use wavemill_sem::FloatMode;
use wavemill_sem::bus::Bus;
use wavemill_sem::state::State;

/// The bit of MODE that switches register indexing on.
const INDEXING: u32 = mode::GPR_IDX_EN;

impl Exec<'_> {
    /// Whether the fast kernels may run: nothing about registers, rounding or denormals is out of the ordinary.
    pub(super) fn ordinary(&self) -> bool {
        self.run.wave.mode & (INDEXING | mode::VSKIP) == 0
            && self.mode.f32 == FloatMode::IEEE
            && self.mode.f64 == FloatMode::IEEE
    }

    /// Runs vector instructions of a block from one that is for kernels on, up to `end`; returns the first that is not.
    #[inline(always)]
    pub(super) fn strip(&mut self, block: &Block, at: usize, end: usize) -> usize {
        let ops = &block.lane_ops.list[at..end];
        if self.ordinary && ops[0].fast != Task::Leave {
            let env = self.env(block);
            // SAFETY: the environment is this wave's, and the block was decoded for its shape.
            return at + unsafe { self.kernels.fast(ops, &env) };
        }
        self.strip_any(block, at, end)
    }

    #[inline(always)]
    fn env<'b>(&mut self, block: &'b Block) -> Env<'b> {
        Env {
            bases: [
                self.run.wave.vgprs.as_mut_ptr().cast(),
                block.lane_ops.consts.as_ptr().cast_mut().cast(),
                (&raw mut **self.temps).cast(),
            ],
            sgprs: self.run.wave.sgprs.as_mut_ptr(),
            extras: &block.lane_ops.extras,
            special: [0; 3],
            mode: self.mode,
            level: self.run.wave.level,
            chunks: 4,
        }
    }

    /// The general case: any mode, any modifiers.
    fn strip_any(&mut self, block: &Block, at: usize, end: usize) -> usize {
        if self.run.skips_vector() {
            return at + 1;
        }
        let list = &block.lane_ops.list[..end];
        if !list[at].special && self.run.wave.mode & INDEXING == 0 {
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
        if self.run.wave.mode & INDEXING != 0 {
            let inst = block.insts[at].indexed_in(&self.run);
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
                if let Some(From::Special(operand)) = p.map(|p| p.from) {
                    *value = self.run.special(operand);
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
}
