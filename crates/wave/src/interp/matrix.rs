//! MFMA: matrices gathered from registers, multiplied by the back end's kernels, scattered back.
//!
//! EXEC is ignored, as the matrix core works on whole registers. Columns of B, C and D and rows of A are consecutive lanes
//! of a register.

use super::Exec;
use crate::program::{Inst, Src};
use crate::simd::V16;
use wavemill_isa::encoding::bits;
use wavemill_sem::FloatMode;
use wavemill_sem::bus::Bus;
use wavemill_sem::lanes::Long;
use wavemill_sem::mfma::{self, Element, Shape, Sum};
use wavemill_sem::state::State;

/// Sixteen lanes.
type Part = [u32; 16];

/// The matrices of a block with sums of 32 bits, rows in parts of sixteen columns.
#[repr(align(64))]
pub(crate) struct Block32 {
    /// Columns of A: k, then rows.
    a: [[Part; 2]; 16],
    /// Rows of B.
    b: [[Part; 2]; 16],
    /// Rows of C, then of D.
    c: [[Part; 2]; 32],
}

/// The matrices of a block of f64: lower words and upper ones of up to sixteen columns.
#[repr(align(64))]
pub(crate) struct Block64 {
    a: [[Part; 2]; 4],
    b: [[Part; 2]; 4],
    c: [[Part; 2]; 16],
}

/// D = A · B + C; A and B are elements as they lie in registers, moved to the lowest bits.
#[inline(always)]
pub(super) fn multiply_32<V: V16>(block: &mut Block32, shape: &Shape, sum: Sum) {
    let depth = shape.k as usize;
    let parts = shape.m.div_ceil(16) as usize;
    for row in block.a[..depth].iter_mut().chain(&mut block.b[..depth]) {
        for part in &mut row[..parts] {
            *part = mfma::widen(shape.element, sum, V::from_array(*part)).to_array();
        }
    }
    // The modes that matter are known in their loops, and so are the sizes of groups.
    match sum {
        Sum::Integer => groups::<V, 1>(block, shape, sum, |[a], [b], sum| mfma::step_i32(a, b, sum)),
        Sum::Fused(FloatMode::IEEE) => {
            groups::<V, 1>(block, shape, sum, |[a], [b], sum| mfma::step_f32(a, b, sum, FloatMode::IEEE))
        }
        Sum::Fused(m) => groups::<V, 1>(block, shape, sum, |[a], [b], sum| mfma::step_f32(a, b, sum, m)),
        Sum::Pairs if shape.per_lane() == 4 => {
            groups::<V, 4>(block, shape, sum, |a, b, sum| mfma::pairs(&a, &b, sum))
        }
        Sum::Pairs => groups::<V, 2>(block, shape, sum, |a, b, sum| mfma::pairs(&a, &b, sum)),
        Sum::Exact if shape.per_lane() == 4 => groups::<V, 4>(block, shape, sum, exact),
        Sum::Exact => groups::<V, 2>(block, shape, sum, exact),
    }
}

/// Element by element: a row of A, columns of B, N of k at a time.
#[inline(always)]
fn groups<V: V16, const N: usize>(
    block: &mut Block32,
    shape: &Shape,
    sum: Sum,
    step: impl Fn([V; N], [V; N], V) -> V,
) {
    let depth = shape.k as usize;
    let parts = shape.m.div_ceil(16) as usize;
    let (a, b) = (block.a[..depth].as_chunks::<N>().0, block.b[..depth].as_chunks::<N>().0);
    for (i, row) in block.c[..shape.m as usize].iter_mut().enumerate() {
        for (at, c) in row[..parts].iter_mut().enumerate() {
            let mut total = mfma::start(sum, V::from_array(*c));
            for (a, b) in a.iter().zip(b) {
                let (a, b) = (a.map(|a| V::splat(a[i / 16][i % 16])), b.map(|b| V::from_array(b[at])));
                total = step(a, b, total);
            }
            *c = total.to_array();
        }
    }
}

/// [`mfma::exact`] lane by lane.
fn exact<V: V16, const N: usize>(a: [V; N], b: [V; N], sum: V) -> V {
    let (a, b) = (a.map(V::to_array), b.map(V::to_array));
    let mut lane = 0..;
    let out = sum.to_array().map(|sum| {
        let lane = lane.next().unwrap_or(0);
        mfma::exact(&a.map(|a| a[lane]), &b.map(|b| b[lane]), sum)
    });
    V::from_array(out)
}

/// The same for f64.
#[inline(always)]
pub(super) fn multiply_64<V: V16>(block: &mut Block64, shape: &Shape) {
    let depth = shape.k as usize;
    let join = |[lo, hi]: [Part; 2]| V::Long::join(V::from_array(lo), V::from_array(hi));
    for (i, c) in block.c[..shape.m as usize].iter_mut().enumerate() {
        let mut sum = join(*c);
        for (a, b) in block.a[..depth].iter().zip(&block.b[..depth]) {
            let a = a[0][i] as u64 | (a[1][i] as u64) << 32;
            sum = mfma::step_f64(V::Long::splat(a), join(*b), sum);
        }
        *c = [sum.lo().to_array(), sum.hi().to_array()];
    }
}

impl Exec<'_> {
    /// Consecutive lanes of an operand's register; constants are the same everywhere.
    fn lanes(&mut self, src: Src, register: u32, first: u32, out: &mut [u32]) {
        match src {
            Src::Vgpr(r) => {
                let register = &self.run.wave.vgprs[r as usize + register as usize].0;
                out.copy_from_slice(&register[first as usize..][..out.len()]);
            }
            Src::Const(n) => out.fill((n >> (32 * (register & 1))) as u32),
            src => out.fill(self.run.source(src, 32) as u32),
        }
    }

    fn set_lanes(&mut self, register: usize, first: u32, values: &[u32]) {
        self.run.wave.vgprs[register].0[first as usize..][..values.len()].copy_from_slice(values);
    }

    pub(super) fn mfma(&mut self, inst: &Inst) {
        if self.run.skips_vector() {
            return;
        }
        let Some(shape) = mfma::shape(inst.op) else { return };
        let (cbsz, abid, blgp) =
            (bits::MFMA_CBSZ.get(inst.bits), bits::MFMA_ABID.get(inst.bits), bits::MFMA_BLGP.get(inst.bits));
        match shape.element {
            Element::F64 => self.mfma_f64(inst, &shape),
            _ => self.mfma_32(inst, &shape, cbsz, abid, blgp),
        }
    }

    /// f32 and i32 sums.
    fn mfma_32(&mut self, inst: &Inst, shape: &Shape, cbsz: u32, abid: u32, blgp: u32) {
        let sum = shape.sum(&self.mode, self.run.wave.level);
        let field = ((1u64 << shape.element.bits()) - 1) as u32;
        let width = shape.n.min(16);
        let mut work = Block32 { a: [[[0; 16]; 2]; 16], b: [[[0; 16]; 2]; 16], c: [[[0; 16]; 2]; 32] };
        // The destination may be an operand too: registers of later blocks' operands are kept until they are read.
        let mut done: Vec<[[Part; 2]; 32]> = Vec::new();
        for block in 0..shape.blocks {
            let from = shape.a_block(block, cbsz, abid);
            for first in (0..shape.n).step_by(16) {
                let part = (first / 16) as usize;
                for k in 0..shape.k {
                    let a = shape.a(first, k, from);
                    let row = &mut work.a[k as usize][part][..width as usize];
                    self.lanes(inst.src[0], a.register, a.lane, row);
                    row.iter_mut().for_each(|x| *x = *x >> a.bit & field);
                    let b = shape.a(first, k, block);
                    let row = &mut work.b[k as usize][part][..width as usize];
                    self.lanes(inst.src[1], b.register, shape.b_lane(b.lane, blgp), row);
                    row.iter_mut().for_each(|x| *x = *x >> b.bit & field);
                }
                for i in 0..shape.m {
                    let c = shape.d(i, first, block);
                    let row = &mut work.c[i as usize][part][..width as usize];
                    self.lanes(inst.src[2], c.register, c.lane, row);
                }
            }
            // SAFETY: the kernels were chosen for what the host has.
            unsafe { (self.kernels.mfma_32)(&mut work, shape, sum) };
            if shape.blocks > 1 {
                done.push(work.c);
            } else {
                self.scatter_32(inst, shape, block, &work.c);
            }
        }
        for (block, c) in (0..).zip(&done) {
            self.scatter_32(inst, shape, block, c);
        }
    }

    fn scatter_32(&mut self, inst: &Inst, shape: &Shape, block: u32, d: &[[Part; 2]; 32]) {
        let width = shape.n.min(16) as usize;
        for (i, row) in (0..shape.m).zip(d) {
            for (first, part) in (0..shape.n).step_by(16).zip(row) {
                let place = shape.d(i, first, block);
                self.set_lanes(inst.dst as usize + place.register as usize, place.lane, &part[..width]);
            }
        }
    }

    fn mfma_f64(&mut self, inst: &Inst, shape: &Shape) {
        let width = shape.n as usize;
        let mut done = Vec::with_capacity(shape.blocks as usize);
        for block in 0..shape.blocks {
            let mut work = Block64 { a: [[[0; 16]; 2]; 4], b: [[[0; 16]; 2]; 4], c: [[[0; 16]; 2]; 16] };
            for word in 0..2 {
                let at = word as usize;
                for k in 0..shape.k {
                    let place = shape.a(0, k, block);
                    let (a, b) = (&mut work.a[k as usize][at], &mut work.b[k as usize][at]);
                    self.lanes(inst.src[0], place.register + word, place.lane, &mut a[..width]);
                    self.lanes(inst.src[1], place.register + word, place.lane, &mut b[..width]);
                }
                for i in 0..shape.m {
                    let place = shape.d(i, 0, block);
                    let c = &mut work.c[i as usize][at][..width];
                    self.lanes(inst.src[2], place.register + word, place.lane, c);
                }
            }
            // SAFETY: as above.
            unsafe { (self.kernels.mfma_64)(&mut work, shape) };
            done.push(work.c);
        }
        for (block, d) in (0..).zip(&done) {
            for (i, row) in (0..shape.m).zip(d) {
                let place = shape.d(i, 0, block);
                let register = inst.dst as usize + place.register as usize;
                self.set_lanes(register, place.lane, &row[0][..width]);
                self.set_lanes(register + 1, place.lane, &row[1][..width]);
            }
        }
    }
}
