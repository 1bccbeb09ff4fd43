//! MFMA: matrices gathered from registers, multiplied by the back end's kernels, scattered back.
//!
//! EXEC is ignored, as the matrix core works on whole registers. Columns of B, C and D and rows of A are consecutive lanes
//! of a register. The kernels try the host's own operations first: only where a NaN comes out, and where numbers are so
//! small that a step may be denormal, do they take the steps as `sem` has them in full.

use super::Exec;
use crate::program::{Inst, Src};
use crate::simd::{Bits, V16};
use std::cell::Cell;
use std::ops::Range;
use wavemill_isa::encoding::bits;
use wavemill_sem::FloatMode;
use wavemill_sem::bus::Bus;
use wavemill_sem::lanes::{Long, w};
use wavemill_sem::mfma::{self, Element, Shape, Sum};
use wavemill_sem::state::State;

/// Sixteen lanes.
type Part = [u32; 16];

/// The matrices of a block with sums of 32 bits, rows in parts of sixteen columns.
#[repr(align(64))]
pub(crate) struct Block32 {
    /// Columns of A: words of registers, which kernels take apart into factors.
    a: [[Part; 2]; 16],
    /// Rows of B, likewise.
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

/// What to multiply.
#[derive(Clone, Copy)]
pub(crate) struct Product {
    element: Element,
    sum: Sum,
    /// Words of A's rows and B's columns.
    words: usize,
    /// Rows of A and C.
    rows: usize,
    /// Sixteens of columns.
    parts: usize,
    /// k that make one group of sums.
    group: u32,
    /// A has a row for each column instead: matrices of four columns lie side by side.
    by_column: bool,
}

thread_local! {
    /// Matrices that no instruction of the thread uses.
    static SPARE: Cell<Option<Box<Block32>>> = const { Cell::new(None) };
}

/// Takes words apart into factors, in place; true if some are [`mfma::small`].
#[inline(always)]
fn unpack<V: V16>(matrix: &mut [[Part; 2]; 16], p: &Product) -> bool {
    let mut small = Bits(0);
    for n in (0..p.words).rev() {
        for part in 0..p.parts {
            let word = V::from_array(matrix[n][part]);
            let (low, high) = match p.element {
                Element::F32 | Element::F64 => continue,
                Element::I8 => (mfma::two_i8(word, false), mfma::two_i8(word, true)),
                Element::F16 | Element::Bf16 => {
                    let low = mfma::widen(p.element, p.sum, word & w(0xffff));
                    let high = mfma::widen(p.element, p.sum, word.shr(w(16)));
                    small = small | mfma::small(p.element, low) | mfma::small(p.element, high);
                    (low, high)
                }
            };
            matrix[2 * n][part] = low.to_array();
            matrix[2 * n + 1][part] = high.to_array();
        }
    }
    small.0 != 0
}

/// D = A · B + C.
#[inline(always)]
pub(super) fn multiply_32<V: V16>(block: &mut Block32, p: &Product) {
    let small = unpack::<V>(&mut block.a, p) | unpack::<V>(&mut block.b, p);
    // The modes that matter are known in their loops, and so are the sizes of groups.
    match (p.sum, p.group) {
        (Sum::Integer, _) => groups::<V, 1, _>(block, p, Integer),
        (Sum::Fused(FloatMode::IEEE), _) => groups::<V, 1, _>(block, p, Fused),
        (Sum::Fused(m), _) => groups::<V, 1, _>(block, p, FusedIn(m)),
        (Sum::Pairs, 4) if small => groups::<V, 4, _>(block, p, SmallPairs),
        (Sum::Pairs, 4) => groups::<V, 4, _>(block, p, Pairs),
        (Sum::Pairs, _) if small => groups::<V, 2, _>(block, p, SmallPairs),
        (Sum::Pairs, _) => groups::<V, 2, _>(block, p, Pairs),
        (Sum::Exact, 4) => groups::<V, 4, _>(block, p, Exact),
        (Sum::Exact, _) => groups::<V, 2, _>(block, p, Exact),
    }
}

/// A step of sums, N of k at a time. (Closures would do, were they sure to be inlined where the host's instructions are
/// known.)
trait Step<V: V16, const N: usize>: Copy {
    /// The step holds unless a NaN comes out.
    const CHECKED: bool = false;
    fn step(self, a: &[V; N], b: &[V; N], sum: V) -> V;
    /// The step as it is in full, if it has to be checked.
    #[inline(always)]
    fn full(self, a: &[V; N], b: &[V; N], sum: V) -> V {
        self.step(a, b, sum)
    }
}

#[derive(Clone, Copy)]
struct Integer;
impl<V: V16> Step<V, 1> for Integer {
    #[inline(always)]
    fn step(self, [a]: &[V; 1], [b]: &[V; 1], sum: V) -> V {
        mfma::two_i32(*a, *b, sum)
    }
}

#[derive(Clone, Copy)]
struct Fused;
impl<V: V16> Step<V, 1> for Fused {
    const CHECKED: bool = true;
    #[inline(always)]
    fn step(self, [a]: &[V; 1], [b]: &[V; 1], sum: V) -> V {
        mfma::plain_f32(*a, *b, sum)
    }
    #[inline(always)]
    fn full(self, [a]: &[V; 1], [b]: &[V; 1], sum: V) -> V {
        mfma::step_f32(*a, *b, sum, FloatMode::IEEE)
    }
}

#[derive(Clone, Copy)]
struct FusedIn(FloatMode);
impl<V: V16> Step<V, 1> for FusedIn {
    #[inline(always)]
    fn step(self, [a]: &[V; 1], [b]: &[V; 1], sum: V) -> V {
        mfma::step_f32(*a, *b, sum, self.0)
    }
}

#[derive(Clone, Copy)]
struct Pairs;
impl<V: V16, const N: usize> Step<V, N> for Pairs {
    const CHECKED: bool = true;
    #[inline(always)]
    fn step(self, a: &[V; N], b: &[V; N], sum: V) -> V {
        mfma::plain_pairs(a, b, sum)
    }
    #[inline(always)]
    fn full(self, a: &[V; N], b: &[V; N], sum: V) -> V {
        mfma::pairs(a, b, sum)
    }
}

#[derive(Clone, Copy)]
struct SmallPairs;
impl<V: V16, const N: usize> Step<V, N> for SmallPairs {
    #[inline(always)]
    fn step(self, a: &[V; N], b: &[V; N], sum: V) -> V {
        mfma::pairs(a, b, sum)
    }
}

#[derive(Clone, Copy)]
struct Exact;
impl<V: V16, const N: usize> Step<V, N> for Exact {
    fn step(self, a: &[V; N], b: &[V; N], sum: V) -> V {
        let (a, b) = (a.map(V::to_array), b.map(V::to_array));
        let mut out = sum.to_array();
        for (lane, sum) in out.iter_mut().enumerate() {
            *sum = mfma::exact(&a.map(|a| a[lane]), &b.map(|b| b[lane]), *sum);
        }
        V::from_array(out)
    }
}

/// Rows of A times columns of B.
#[inline(always)]
fn groups<V: V16, const N: usize, S: Step<V, N>>(block: &mut Block32, p: &Product, step: S) {
    for at in 0..p.parts {
        if p.by_column {
            rows::<V, N, 1, S>(block, p, (0, at), step);
            continue;
        }
        // Several rows at a time share what is loaded of B.
        for first in (0..p.rows).step_by(4) {
            rows::<V, N, 4, S>(block, p, (first, at), step);
        }
    }
}

/// R rows from one on, in one part; one row has a row of A for each column.
#[inline(always)]
fn rows<V: V16, const N: usize, const R: usize, S: Step<V, N>>(
    block: &mut Block32,
    p: &Product,
    (first, at): (usize, usize),
    step: S,
) {
    let depth = if p.element == Element::F32 { p.words } else { 2 * p.words };
    let (a, b) = (block.a[..depth].as_chunks::<N>().0, block.b[..depth].as_chunks::<N>().0);
    let mut start = [V::splat(0); R];
    for (n, start) in start.iter_mut().enumerate() {
        *start = mfma::start(p.sum, V::from_array(block.c[first + n][at]));
    }
    let mut total = start;
    for (a, b) in a.iter().zip(b) {
        let b = columns(b, at);
        for (n, total) in total.iter_mut().enumerate() {
            *total = step.step(&factors::<V, N, R>(a, first + n), &b, *total);
        }
    }
    for n in 0..R {
        if S::CHECKED && total[n].funord(total[n]).0 != 0 {
            total[n] = start[n];
            for (a, b) in a.iter().zip(b) {
                total[n] = step.full(&factors::<V, N, R>(a, first + n), &columns(b, at), total[n]);
            }
        }
        block.c[first + n][at] = total[n].to_array();
    }
}

/// N elements of row i of A.
#[inline(always)]
fn factors<V: V16, const N: usize, const R: usize>(a: &[[Part; 2]; N], i: usize) -> [V; N] {
    let mut out = [V::splat(0); N];
    for (out, a) in out.iter_mut().zip(a) {
        *out = if R == 1 { V::from_array(a[0]) } else { V::splat(a[i / 16][i % 16]) };
    }
    out
}

/// N rows of B in a part of its columns.
#[inline(always)]
fn columns<V: V16, const N: usize>(b: &[[Part; 2]; N], at: usize) -> [V; N] {
    let mut out = [V::splat(0); N];
    for (out, b) in out.iter_mut().zip(b) {
        *out = V::from_array(b[at]);
    }
    out
}

/// D = A · B + C in f64, of so many rows of C; a single one has a row of A for each column.
#[inline(always)]
pub(super) fn multiply_64<V: V16>(block: &mut Block64, rows: usize) {
    let Block64 { a, b, c } = block;
    for (i, c) in c[..rows].iter_mut().enumerate() {
        let start = join::<V>(c);
        let mut sum = start;
        for (a, b) in a.iter().zip(b.iter()) {
            sum = mfma::plain_f64(factor_64::<V>(a, rows, i), join::<V>(b), sum);
        }
        if sum.funord(sum).0 != 0 {
            sum = start;
            for (a, b) in a.iter().zip(b.iter()) {
                sum = mfma::step_f64(factor_64::<V>(a, rows, i), join::<V>(b), sum);
            }
        }
        *c = [sum.lo().to_array(), sum.hi().to_array()];
    }
}

#[inline(always)]
fn join<V: V16>([lo, hi]: &[Part; 2]) -> V::Long {
    V::Long::join(V::from_array(*lo), V::from_array(*hi))
}

#[inline(always)]
fn factor_64<V: V16>(a: &[Part; 2], rows: usize, i: usize) -> V::Long {
    if rows == 1 { join::<V>(a) } else { V::Long::splat(a[0][i] as u64 | (a[1][i] as u64) << 32) }
}

/// Registers of an operand.
fn registers(src: Src, count: u32) -> Range<u32> {
    match src {
        Src::Vgpr(r) => r as u32..r as u32 + count,
        _ => 0..0,
    }
}

impl Exec<'_> {
    /// Sixteen lanes of an operand's register, chosen by their places; constants are the same everywhere.
    #[inline(always)]
    fn gather(&mut self, src: Src, register: u32, lane: impl Fn(u32) -> u32) -> Part {
        match src {
            Src::Vgpr(r) => {
                let register = &self.run.wave.vgprs[r as usize + register as usize].0;
                std::array::from_fn(|n| register[lane(n as u32) as usize % 64])
            }
            Src::Const(n) => [(n >> (32 * (register & 1))) as u32; 16],
            src => [self.run.source(src, 32) as u32; 16],
        }
    }

    /// Consecutive lanes of an operand's register.
    fn part(&mut self, src: Src, register: u32, first: u32) -> Part {
        match src {
            Src::Vgpr(r) => {
                let parts = self.run.wave.vgprs[r as usize + register as usize].0.as_chunks::<16>().0;
                parts[first as usize / 16]
            }
            src => self.gather(src, register, |n| n),
        }
    }

    fn set_part(&mut self, register: u32, first: u32, values: &Part) {
        self.run.wave.vgprs[register as usize].0.as_chunks_mut::<16>().0[first as usize / 16] = *values;
    }

    pub(super) fn mfma(&mut self, inst: &Inst) {
        if self.run.skips_vector() {
            return;
        }
        let Some(shape) = mfma::shape(inst.op) else { return };
        if shape.element == Element::F64 {
            return self.mfma_f64(inst, &shape);
        }
        let mut work = SPARE.take().unwrap_or_else(|| {
            Box::new(Block32 { a: [[[0; 16]; 2]; 16], b: [[[0; 16]; 2]; 16], c: [[[0; 16]; 2]; 32] })
        });
        match shape.m {
            4 => self.mfma_small(inst, &shape, &mut work),
            _ => self.mfma_blocks(inst, &shape, &mut work),
        }
        SPARE.set(Some(work));
    }

    fn product(&self, shape: &Shape) -> Product {
        Product {
            element: shape.element,
            sum: shape.sum(&self.mode, self.run.wave.level),
            words: (shape.k * shape.element.bits() / 32) as usize,
            rows: shape.m as usize,
            parts: shape.m as usize / 16,
            group: shape.per_lane(),
            by_column: false,
        }
    }

    /// f32 and i32 sums of matrices with 16 or 32 columns.
    fn mfma_blocks(&mut self, inst: &Inst, shape: &Shape, work: &mut Block32) {
        let (cbsz, abid, blgp) =
            (bits::MFMA_CBSZ.get(inst.bits), bits::MFMA_ABID.get(inst.bits), bits::MFMA_BLGP.get(inst.bits));
        let product = self.product(shape);
        // Registers of later blocks' operands are kept until they are read: the destination may be an operand, too. As C,
        // it has each element where D has it.
        let (factors, sums) =
            (shape.per_lane() * shape.element.bits() / 32, shape.m * shape.n * shape.blocks / 64);
        let written = inst.dst as u32..inst.dst as u32 + sums;
        let meets = |r: Range<u32>| r.start < written.end && written.start < r.end;
        let c = registers(inst.src[2], sums);
        let kept = shape.blocks > 1
            && (meets(registers(inst.src[0], factors))
                || meets(registers(inst.src[1], factors))
                || meets(c.clone()) && c != written);
        let mut done: Vec<[[Part; 2]; 32]> = Vec::new();
        for block in 0..shape.blocks {
            let from = shape.a_block(block, cbsz, abid);
            for (part, first) in (0..shape.n).step_by(16).enumerate() {
                for n in 0..product.words {
                    let k = n as u32 * 32 / shape.element.bits();
                    let (a, b) = (shape.a(first, k, from), shape.a(first, k, block));
                    work.a[n][part] = self.part(inst.src[0], a.register, a.lane);
                    work.b[n][part] = self.part(inst.src[1], b.register, shape.b_lane(b.lane, blgp));
                }
                for i in 0..shape.m {
                    let c = shape.d(i, first, block);
                    work.c[i as usize][part] = self.part(inst.src[2], c.register, c.lane);
                }
            }
            // SAFETY: the kernels were chosen for what the host has.
            unsafe { (self.kernels.mfma_32)(work, &product) };
            match kept {
                true => done.push(work.c),
                false => self.scatter(inst, shape, block, &work.c),
            }
        }
        for (block, c) in (0..).zip(&done) {
            self.scatter(inst, shape, block, c);
        }
    }

    fn scatter(&mut self, inst: &Inst, shape: &Shape, block: u32, d: &[[Part; 2]; 32]) {
        for (i, row) in (0..shape.m).zip(d) {
            for (first, part) in (0..shape.n).step_by(16).zip(row) {
                let place = shape.d(i, first, block);
                self.set_part(inst.dst as u32 + place.register, place.lane, part);
            }
        }
    }

    /// Sixteen matrices of four columns, side by side: row i of all of them is a register.
    fn mfma_small(&mut self, inst: &Inst, shape: &Shape, work: &mut Block32) {
        let (cbsz, abid, blgp) =
            (bits::MFMA_CBSZ.get(inst.bits), bits::MFMA_ABID.get(inst.bits), bits::MFMA_BLGP.get(inst.bits));
        let product = Product { rows: 1, parts: 1, by_column: true, ..self.product(shape) };
        let mut done = [[[0; 16]; 4]; 4];
        for (i, row) in (0..4).zip(&mut done) {
            for (first, d) in (0..64).step_by(16).zip(row) {
                for n in 0..product.words {
                    let register = n as u32;
                    let a = |column: u32| i + 4 * shape.a_block((first + column) / 4, cbsz, abid);
                    work.a[n][0] = self.gather(inst.src[0], register, a);
                    work.b[n][0] = self.part(inst.src[1], register, shape.b_lane(first, blgp));
                }
                work.c[0][0] = self.part(inst.src[2], i, first);
                // SAFETY: as above.
                unsafe { (self.kernels.mfma_32)(work, &product) };
                *d = work.c[0][0];
            }
        }
        for (i, row) in (0..).zip(&done) {
            for (first, d) in (0..64).step_by(16).zip(row) {
                self.set_part(inst.dst as u32 + i, first, d);
            }
        }
    }

    fn mfma_f64(&mut self, inst: &Inst, shape: &Shape) {
        let mut work = Block64 { a: [[[0; 16]; 2]; 4], b: [[[0; 16]; 2]; 4], c: [[[0; 16]; 2]; 16] };
        let mut done = [[[0; 16]; 2]; 16];
        for word in 0..2 {
            let at = word as usize;
            for k in 0..4 {
                work.b[k as usize][at] = self.part(inst.src[1], word, 16 * k);
                work.a[k as usize][at] = self.part(inst.src[0], word, 16 * k);
            }
            for i in 0..shape.m {
                let place = shape.d(i, 0, 0);
                done[i as usize][at] = self.part(inst.src[2], place.register + word, place.lane);
            }
        }
        if shape.m == 4 {
            // Four matrices side by side.
            let rows = work.a;
            for (i, c) in done[..4].iter_mut().enumerate() {
                for (a, all) in work.a.as_flattened_mut().iter_mut().zip(rows.as_flattened()) {
                    *a = std::array::from_fn(|column| all[column / 4 * 4 + i]);
                }
                work.c[0] = *c;
                // SAFETY: as above.
                unsafe { (self.kernels.mfma_64)(&mut work, 1) };
                *c = work.c[0];
            }
        } else {
            work.c = done;
            // SAFETY: as above.
            unsafe { (self.kernels.mfma_64)(&mut work, 16) };
            done = work.c;
        }
        for (i, row) in (0..shape.m).zip(&done) {
            let place = shape.d(i, 0, 0);
            self.set_part(inst.dst as u32 + place.register, place.lane, &row[0]);
            self.set_part(inst.dst as u32 + place.register + 1, place.lane, &row[1]);
        }
    }
}
