//! MFMA: matrices gathered from registers, multiplied by the back end's kernels, scattered back.
//!
//! EXEC is ignored, as the matrix core works on whole registers. Columns of B, C and D and rows of A are consecutive lanes
//! of a register. The kernels try the host's own operations first: only where a NaN comes out, and where numbers are so
//! small that a step may be denormal, do they take the steps as `sem` has them in full.

use super::Exec;
use crate::program::{Inst, Src};
use crate::simd::{Bits, V16};
use crate::state::Vgpr;
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

/// What a block multiplies: columns of A and rows of B, in parts of sixteen rows and columns. They are words of registers,
/// which kernels take apart.
#[repr(align(64))]
pub(crate) struct Factors {
    a: [[Part; 2]; 16],
    b: [[Part; 2]; 16],
}

/// The same for f64: lower words and upper ones.
#[repr(align(64))]
pub(crate) struct Factors64 {
    a: [[Part; 2]; 4],
    b: [[Part; 2]; 4],
}

/// Where rows of C and D lie: dwords from the first one. Those of D are known to lie in different places.
#[derive(Clone, Copy)]
pub(crate) struct Sums {
    c: *const u32,
    /// A constant has all rows in one place.
    c_rows: &'static [u32],
    d: *mut u32,
    d_rows: &'static [u32],
}

/// A row of C in which all numbers are the same, or one that was copied.
#[repr(align(64))]
struct Row([Part; 2]);

/// All rows in one place.
const SAME: &[u32] = &[0; 32];
/// Rows of D in registers.
const OF_16: &[u32] = &rows_of(16, Element::F32);
const OF_32: &[u32] = &rows_of(32, Element::F32);
const OF_F64: &[u32] = &rows_of(16, Element::F64);

/// Where the first block has the rows of D, which does not depend on how much is multiplied.
const fn rows_of(m: u32, element: Element) -> [u32; 32] {
    let mut rows = [0; 32];
    let shape = Shape { m, n: m, k: 1, blocks: 1, element };
    let mut i = 0;
    while i < shape.m {
        let place = shape.d(i, 0, 0);
        rows[i as usize] = 64 * place.register + place.lane;
        i += 1;
    }
    rows
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
    static SPARE: Cell<Option<Box<Factors>>> = const { Cell::new(None) };
}

/// Takes words apart into factors, in place; true if some are [`mfma::small`].
#[inline(always)]
fn unpack<V: V16>(matrix: &mut [[Part; 2]; 16], p: &Product) -> bool {
    let mut small = Bits(0);
    for (n, part) in (0..p.words).rev().flat_map(|n| (0..p.parts).map(move |part| (n, part))) {
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
    small.0 != 0
}

/// D = A · B + C.
///
/// # Safety
/// The rows of C and D must be where `sums` says, aligned registers or copies of such, for as many parts as there are.
#[inline(always)]
pub(super) unsafe fn multiply_32<V: V16>(factors: &mut Factors, p: &Product, sums: &Sums) {
    let small = unpack::<V>(&mut factors.a, p) | unpack::<V>(&mut factors.b, p);
    // SAFETY: the caller's promise.
    unsafe { multiply::<V>(factors, p, sums, small) }
}

/// See [`multiply_32`]; factors have been taken apart.
#[inline(always)]
unsafe fn multiply<V: V16>(f: &Factors, p: &Product, s: &Sums, small: bool) {
    // The modes that matter are known in their loops, and so are the sizes of groups.
    // SAFETY: the caller's promise.
    unsafe {
        match (p.sum, p.group) {
            (Sum::Integer, _) => groups::<V, 1, _>(f, p, s, Integer),
            (Sum::Fused(FloatMode::IEEE), _) => groups::<V, 1, _>(f, p, s, Fused),
            (Sum::Fused(m), _) => groups::<V, 1, _>(f, p, s, FusedIn(m)),
            (Sum::Pairs, 4) if small => groups::<V, 4, _>(f, p, s, SmallPairs),
            (Sum::Pairs, 4) => groups::<V, 4, _>(f, p, s, Pairs),
            (Sum::Pairs, _) if small => groups::<V, 2, _>(f, p, s, SmallPairs),
            (Sum::Pairs, _) => groups::<V, 2, _>(f, p, s, Pairs),
            (Sum::Exact, 4) => groups::<V, 4, _>(f, p, s, Exact),
            (Sum::Exact, _) => groups::<V, 2, _>(f, p, s, Exact),
        }
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

/// Rows of A times columns of B. Safe as [`multiply_32`] is.
#[inline(always)]
unsafe fn groups<V: V16, const N: usize, S: Step<V, N>>(f: &Factors, p: &Product, sums: &Sums, step: S) {
    for at in 0..p.parts {
        if p.by_column {
            // SAFETY: the caller's promise.
            unsafe { rows::<V, N, 1, S>(f, p, (0, at), sums, step) };
            continue;
        }
        // Several rows at a time share what is loaded of B.
        for first in (0..p.rows).step_by(4) {
            // SAFETY: the caller's promise.
            unsafe { rows::<V, N, 4, S>(f, p, (first, at), sums, step) };
        }
    }
}

/// R rows from one on, in one part; one row has a row of A for each column. Safe as [`multiply_32`] is.
#[inline(always)]
unsafe fn rows<V: V16, const N: usize, const R: usize, S: Step<V, N>>(
    f: &Factors,
    p: &Product,
    (first, at): (usize, usize),
    sums: &Sums,
    step: S,
) {
    let depth = if p.element == Element::F32 { p.words } else { 2 * p.words };
    let (a, b) = (f.a[..depth].as_chunks::<N>().0, f.b[..depth].as_chunks::<N>().0);
    let mut start = [V::splat(0); R];
    for (start, row) in start.iter_mut().zip(&sums.c_rows[first..]) {
        // SAFETY: the caller's promise.
        *start = mfma::start(p.sum, unsafe { V::load(sums.c.add(*row as usize + 16 * at)) });
    }
    let mut total = start;
    for (a, b) in a.iter().zip(b) {
        let b = columns(b, at);
        for (n, total) in total.iter_mut().enumerate() {
            *total = step.step(&factors::<V, N, R>(a, first + n), &b, *total);
        }
    }
    let mut nan = Bits(0);
    for total in &total {
        nan = nan | total.funord(*total);
    }
    if S::CHECKED && nan.0 != 0 {
        total = start;
        for (a, b) in a.iter().zip(b) {
            let b = columns(b, at);
            for (n, total) in total.iter_mut().enumerate() {
                *total = step.full(&factors::<V, N, R>(a, first + n), &b, *total);
            }
        }
    }
    for (total, row) in total.iter().zip(&sums.d_rows[first..]) {
        // SAFETY: the caller's promise.
        unsafe { total.store(sums.d.add(*row as usize + 16 * at)) };
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

/// D = A · B + C in f64, of so many rows; a single one has a row of A for each column.
///
/// # Safety
/// As for [`multiply_32`]; upper words are in the register behind.
#[inline(always)]
pub(super) unsafe fn multiply_64<V: V16>(factors: &Factors64, rows: usize, sums: &Sums) {
    let Factors64 { a, b } = factors;
    for (i, (c, d)) in sums.c_rows[..rows].iter().zip(sums.d_rows).enumerate() {
        // SAFETY: the caller's promise.
        let start = unsafe {
            let c = sums.c.add(*c as usize);
            V::Long::join(V::load(c), V::load(c.add(64)))
        };
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
        // SAFETY: the caller's promise.
        unsafe {
            let d = sums.d.add(*d as usize);
            sum.lo().store(d);
            sum.hi().store(d.add(64));
        }
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
fn registers(src: Src, count: u32) -> Range<usize> {
    match src {
        Src::Vgpr(r) => r as usize..r as usize + count as usize,
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

    pub(super) fn mfma(&mut self, inst: &Inst) {
        if self.run.skips_vector() {
            return;
        }
        let Some(shape) = mfma::shape(inst.op) else { return };
        if shape.element == Element::F64 {
            return self.mfma_f64(inst, &shape);
        }
        let mut work = SPARE
            .take()
            .unwrap_or_else(|| Box::new(Factors { a: [[[0; 16]; 2]; 16], b: [[[0; 16]; 2]; 16] }));
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
    fn mfma_blocks(&mut self, inst: &Inst, shape: &Shape, work: &mut Factors) {
        let (cbsz, abid, blgp) =
            (bits::MFMA_CBSZ.get(inst.bits), bits::MFMA_ABID.get(inst.bits), bits::MFMA_BLGP.get(inst.bits));
        let product = self.product(shape);
        let (factors, sums) =
            (shape.per_lane() * shape.element.bits() / 32, shape.m * shape.n * shape.blocks / 64);
        let d_rows = if shape.m == 16 { OF_16 } else { OF_32 };
        // D may lie over what later blocks and rows read. As C it has each element where D has it; else all is read first.
        let written = registers(Src::Vgpr(inst.dst), sums);
        let meets = |r: &Range<usize>| r.start < written.end && written.start < r.end;
        let (a, b) = (registers(inst.src[0], factors), registers(inst.src[1], factors));
        let c = registers(inst.src[2], sums);
        let kept = shape.blocks > 1 && (meets(&a) || meets(&b)) || meets(&c) && c != written;
        let mut late: Vec<Vgpr> =
            if kept { self.run.wave.vgprs[written.clone()].to_vec() } else { Vec::new() };
        let constant = Row([self.gather(inst.src[2], 0, |n| n); 2]);
        assert!(written.end.max(c.end) <= self.run.wave.vgprs.len(), "decoding sees to it");
        for block in 0..shape.blocks {
            let from = shape.a_block(block, cbsz, abid);
            for (part, first) in (0..shape.n).step_by(16).enumerate() {
                for n in 0..product.words {
                    let k = n as u32 * 32 / shape.element.bits();
                    let (a, b) = (shape.a(first, k, from), shape.a(first, k, block));
                    work.a[n][part] = self.part(inst.src[0], a.register, a.lane);
                    work.b[n][part] = self.part(inst.src[1], b.register, shape.b_lane(b.lane, blgp));
                }
            }
            let at = shape.d(0, 0, block).register as usize;
            let file = self.run.wave.vgprs.as_mut_ptr();
            // SAFETY: the registers are there, and a block's rows in them; the kernels were chosen for what the host has.
            unsafe {
                let d = if kept { late.as_mut_ptr() } else { file.add(written.start) };
                let d = d.add(at).cast();
                let (c, c_rows) = match inst.src[2] {
                    Src::Vgpr(_) => (file.add(c.start + at).cast_const().cast(), d_rows),
                    _ => (constant.0.as_ptr().cast(), SAME),
                };
                (self.kernels.mfma_32)(work, &product, &Sums { c, c_rows, d, d_rows });
            }
        }
        if kept {
            self.run.wave.vgprs[written].copy_from_slice(&late);
        }
    }

    /// Sixteen matrices of four columns, side by side: row i of all of them is a register.
    fn mfma_small(&mut self, inst: &Inst, shape: &Shape, work: &mut Factors) {
        let (cbsz, abid, blgp) =
            (bits::MFMA_CBSZ.get(inst.bits), bits::MFMA_ABID.get(inst.bits), bits::MFMA_BLGP.get(inst.bits));
        let product = Product { rows: 1, parts: 1, by_column: true, ..self.product(shape) };
        let mut done = [Vgpr([0; 64]); 4];
        for (i, row) in (0..4).zip(&mut done) {
            for first in (0..64).step_by(16) {
                for n in 0..product.words {
                    let register = n as u32;
                    let a = |column: u32| i + 4 * shape.a_block((first + column) / 4, cbsz, abid);
                    work.a[n][0] = self.gather(inst.src[0], register, a);
                    work.b[n][0] = self.part(inst.src[1], register, shape.b_lane(first, blgp));
                }
                let c = Row([self.part(inst.src[2], i, first); 2]);
                let d = row.0[first as usize..].as_mut_ptr();
                let sums = Sums { c: c.0.as_ptr().cast(), c_rows: SAME, d, d_rows: SAME };
                // SAFETY: as above; one row in one part.
                unsafe { (self.kernels.mfma_32)(work, &product, &sums) };
            }
        }
        self.run.wave.vgprs[inst.dst as usize..][..4].copy_from_slice(&done);
    }

    fn mfma_f64(&mut self, inst: &Inst, shape: &Shape) {
        let mut work = Factors64 { a: [[[0; 16]; 2]; 4], b: [[[0; 16]; 2]; 4] };
        for word in 0..2 {
            for k in 0..4 {
                work.a[k as usize][word as usize] = self.part(inst.src[0], word, 16 * k);
                work.b[k as usize][word as usize] = self.part(inst.src[1], word, 16 * k);
            }
        }
        let sums = 2 * shape.m * shape.n * shape.blocks / 64;
        let constant = [0, 1].map(|word| Vgpr([self.gather(inst.src[2], word, |n| n)[0]; 64]));
        let mut done = [Vgpr([0; 64]); 8];
        let (c, c_rows) = match inst.src[2] {
            Src::Vgpr(_) => {
                (self.run.wave.vgprs[registers(inst.src[2], sums)].as_ptr().cast::<u32>(), OF_F64)
            }
            _ => (constant.as_ptr().cast(), SAME),
        };
        let d = done.as_mut_ptr().cast::<u32>();
        if shape.m == 4 {
            // Four matrices side by side: row i of all is sixteen lanes, as in the larger one.
            let all = work.a;
            for i in 0..4 {
                for (a, all) in work.a.as_flattened_mut().iter_mut().zip(all.as_flattened()) {
                    *a = std::array::from_fn(|column| all[column / 4 * 4 + i]);
                }
                let (c_rows, d_rows) = (&c_rows[i..], &OF_F64[i..]);
                // SAFETY: as above.
                unsafe { (self.kernels.mfma_64)(&work, 1, &Sums { c, c_rows, d, d_rows }) };
            }
        } else {
            // SAFETY: as above.
            unsafe { (self.kernels.mfma_64)(&work, 16, &Sums { c, c_rows, d, d_rows: OF_F64 }) };
        }
        let written = registers(Src::Vgpr(inst.dst), sums);
        self.run.wave.vgprs[written].copy_from_slice(&done[..sums as usize]);
    }
}
