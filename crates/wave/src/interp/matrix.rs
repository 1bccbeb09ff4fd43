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

/// Where the words of a block's factors are: sixteen lanes of a register each.
pub(crate) struct Words {
    a: [[*const u32; 2]; 8],
    b: [[*const u32; 2]; 8],
}

/// The same for f64: lower words and upper ones.
pub(crate) struct Factors64 {
    a: [[*const u32; 2]; 4],
    b: [[*const u32; 2]; 4],
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

/// Where the numbers of an operand are.
enum Operand<'a> {
    /// From a register on.
    Registers(u16),
    /// They are the same in all lanes of the first register, and of the second.
    Constant(&'a [Row; 2]),
}

/// Room for a constant in all lanes.
type Constant = Option<[Row; 2]>;

impl Operand<'_> {
    /// Where consecutive lanes of a register are.
    #[inline(always)]
    fn place(&self, file: &[Vgpr], register: u32, first: u32) -> *const u32 {
        match self {
            Operand::Registers(r) => {
                let parts = file[*r as usize + register as usize].0.as_chunks::<16>().0;
                parts[first as usize / 16 % 4].as_ptr()
            }
            Operand::Constant(rows) => rows[register as usize % 2].0[0].as_ptr(),
        }
    }
}

/// All rows in one place.
const SAME: &[u32] = &[0; 32];
/// Rows of D in registers.
const OF_4: &[u32] = &rows_of(4, Element::F32);
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
    /// Matrices of four rows and columns lie side by side: a lane has a row of its matrix's A, and a column of its B.
    side_by_side: bool,
}

thread_local! {
    /// Matrices that no instruction of the thread uses.
    static SPARE: Cell<Option<Box<Factors>>> = const { Cell::new(None) };
}

/// Takes words apart into factors; true if some are [`mfma::small`].
///
/// # Safety
/// The words must be there, aligned.
#[inline(always)]
unsafe fn unpack<V: V16>(words: &[[*const u32; 2]; 8], matrix: &mut [[Part; 2]; 16], p: &Product) -> bool {
    let mut small = Bits(0);
    for (n, words) in words[..p.words].iter().enumerate() {
        for (part, word) in words[..p.parts].iter().enumerate() {
            // SAFETY: the caller's promise.
            let word = unsafe { V::load(*word) };
            let (low, high) = match p.element {
                Element::F32 | Element::F64 => {
                    matrix[n][part] = word.to_array();
                    continue;
                }
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
///
/// # Safety
/// The words must be there, and the rows of C and D be where `sums` says, aligned registers or copies of such, for as many parts
/// as there are. What is written may lie over the words.
#[inline(always)]
pub(super) unsafe fn multiply_32<V: V16>(words: &Words, factors: &mut Factors, p: &Product, sums: &Sums) {
    // SAFETY: the caller's promise.
    unsafe {
        let small = unpack::<V>(&words.a, &mut factors.a, p) | unpack::<V>(&words.b, &mut factors.b, p);
        multiply::<V>(factors, p, sums, small);
    }
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
    // Several rows at a time share what is loaded of B, and both parts what is loaded of A. Sums stay in registers. (A loop
    // each: closures would not be compiled for the host.)
    // SAFETY: the caller's promise.
    unsafe {
        if p.side_by_side {
            return rows::<V, N, 4, 1, true, S>(f, p, 0, sums, step);
        }
        for i in (0..p.rows).step_by([8, 4][(N > 1) as usize]) {
            match (p.parts, N) {
                (1, 1) => rows::<V, N, 8, 1, false, S>(f, p, i, sums, step),
                (1, _) => rows::<V, N, 4, 1, false, S>(f, p, i, sums, step),
                (_, 1) => rows::<V, N, 8, 2, false, S>(f, p, i, sums, step),
                _ => rows::<V, N, 4, 2, false, S>(f, p, i, sums, step),
            }
        }
    }
}

/// R rows from one on, in P parts; of matrices side by side, or of one. Safe as [`multiply_32`] is.
#[inline(always)]
unsafe fn rows<
    V: V16,
    const N: usize,
    const R: usize,
    const P: usize,
    const SIDE_BY_SIDE: bool,
    S: Step<V, N>,
>(
    f: &Factors,
    p: &Product,
    first: usize,
    sums: &Sums,
    step: S,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let total = totals::<V, N, R, P, SIDE_BY_SIDE, S>(f, p, first, sums, step, false);
        let mut nan = Bits(0);
        for row in &total {
            // A comparison looks at two of them.
            nan = nan | row[0].funord(row[P - 1]);
        }
        if S::CHECKED && nan.0 != 0 {
            // C is still there: nothing of these rows has been written.
            let total = totals::<V, N, R, P, SIDE_BY_SIDE, S>(f, p, first, sums, step, true);
            return put(&total, first, sums);
        }
        put(&total, first, sums);
    }
}

/// R rows of D. Safe as [`multiply_32`] is.
#[inline(always)]
unsafe fn put<V: V16, const R: usize, const P: usize>(total: &[[V; P]; R], first: usize, sums: &Sums) {
    for (row, at) in total.iter().zip(some_rows::<R>(sums.d_rows, first)) {
        for (part, sum) in row.iter().enumerate() {
            // SAFETY: the caller's promise.
            unsafe { sum.store(sums.d.add(at as usize + 16 * part)) };
        }
    }
}

/// Where R rows are.
#[inline(always)]
fn some_rows<const R: usize>(rows: &[u32], first: usize) -> [u32; R] {
    rows.get(first..).and_then(|rows| rows.first_chunk()).copied().unwrap_or([0; R])
}

/// The sums of R rows in P parts, with steps as they are in full or not. Safe as [`multiply_32`] is.
#[inline(always)]
unsafe fn totals<
    V: V16,
    const N: usize,
    const R: usize,
    const P: usize,
    const SIDE_BY_SIDE: bool,
    S: Step<V, N>,
>(
    f: &Factors,
    p: &Product,
    first: usize,
    sums: &Sums,
    step: S,
    full: bool,
) -> [[V; P]; R] {
    let depth = if p.element == Element::F32 { p.words } else { 2 * p.words };
    let (a, b) = (f.a[..depth].as_chunks::<N>().0, f.b[..depth].as_chunks::<N>().0);
    let mut total = [[V::splat(0); P]; R];
    for (row, at) in total.iter_mut().zip(some_rows::<R>(sums.c_rows, first)) {
        for (part, sum) in row.iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            *sum = mfma::start(p.sum, unsafe { V::load(sums.c.add(at as usize + 16 * part)) });
        }
    }
    // Known to be inside, so that nothing is checked on the way.
    let first = first.min(32 - R);
    for (a, b) in a.iter().zip(b) {
        let mut columns = [[V::splat(0); N]; P];
        for (part, columns) in columns.iter_mut().enumerate() {
            for (column, b) in columns.iter_mut().zip(b) {
                *column = V::from_array(b[part]);
            }
        }
        for (n, sums) in total.iter_mut().enumerate() {
            let mut row = [V::splat(0); N];
            for (factor, a) in row.iter_mut().zip(a) {
                *factor = match SIDE_BY_SIDE {
                    true => V::from_array(std::array::from_fn(|lane| a[0][lane & !3 | n & 3])),
                    false => V::splat(a.as_flattened()[first + n]),
                };
            }
            for (sum, columns) in sums.iter_mut().zip(&columns) {
                *sum = match full {
                    true => step.full(&row, columns, *sum),
                    false => step.step(&row, columns, *sum),
                };
            }
        }
    }
    total
}

/// D = A · B + C in f64, of so many rows; a single one has a row of A for each column.
///
/// # Safety
/// As for [`multiply_32`]; upper words are in the register behind.
#[inline(always)]
pub(super) unsafe fn multiply_64<V: V16>(factors: &Factors64, rows: usize, sums: &Sums) {
    let Factors64 { a, b } = factors;
    let mut rows_of_b = [V::Long::splat(0); 4];
    let mut words = [[0u64; 16]; 4];
    // SAFETY: the caller's promise; sixteen times two dwords.
    unsafe {
        for k in 0..4 {
            rows_of_b[k] = join::<V>(&b[k]);
            V::store_groups([V::load(a[k][0]), V::load(a[k][1])], words[k].as_mut_ptr().cast());
        }
    }
    for (i, (c, d)) in sums.c_rows[..rows].iter().zip(sums.d_rows).enumerate() {
        let i = i % 16;
        // SAFETY: the caller's promise.
        unsafe {
            let c = sums.c.add(*c as usize);
            let start = V::Long::join(V::load(c), V::load(c.add(64)));
            let mut sum = start;
            for k in 0..4 {
                let a = if rows == 1 { join::<V>(&a[k]) } else { V::Long::splat(words[k][i]) };
                sum = mfma::plain_f64(a, rows_of_b[k], sum);
            }
            if sum.funord(sum).0 != 0 {
                sum = start;
                for k in 0..4 {
                    let a = if rows == 1 { join::<V>(&a[k]) } else { V::Long::splat(words[k][i]) };
                    sum = mfma::step_f64(a, rows_of_b[k], sum);
                }
            }
            let d = sums.d.add(*d as usize);
            sum.lo().store(d);
            sum.hi().store(d.add(64));
        }
    }
}

#[inline(always)]
unsafe fn join<V: V16>([lo, hi]: &[*const u32; 2]) -> V::Long {
    // SAFETY: the caller's words.
    unsafe { V::Long::join(V::load(*lo), V::load(*hi)) }
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

    /// Where an operand's numbers are.
    #[inline(always)]
    fn operand<'a>(&mut self, src: Src, room: &'a mut Constant) -> Operand<'a> {
        match src {
            Src::Vgpr(r) => Operand::Registers(r),
            src => {
                let rows = [0, 1].map(|register| Row([self.gather(src, register, |n| n); 2]));
                Operand::Constant(room.insert(rows))
            }
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
            side_by_side: false,
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
        let (mut room_a, mut room_b, mut room_c): (Constant, Constant, Constant) = (None, None, None);
        let of_a = self.operand(inst.src[0], &mut room_a);
        let of_b = self.operand(inst.src[1], &mut room_b);
        let of_c = self.operand(inst.src[2], &mut room_c);
        let mut words = Words { a: [[std::ptr::null(); 2]; 8], b: [[std::ptr::null(); 2]; 8] };
        assert!(written.end.max(c.end) <= self.run.wave.vgprs.len(), "decoding sees to it");
        let of_word = 32 / shape.element.bits();
        for block in 0..shape.blocks {
            let from = shape.a_block(block, cbsz, abid);
            for (part, first) in (0..shape.n).step_by(16).enumerate() {
                for n in 0..product.words {
                    let k = n as u32 * of_word;
                    let (a, b) = (shape.a(first, k, from), shape.a(first, k, block));
                    let lane = shape.b_lane(b.lane, blgp);
                    words.a[n][part] = of_a.place(&self.run.wave.vgprs, a.register, a.lane);
                    words.b[n][part] = of_b.place(&self.run.wave.vgprs, b.register, lane);
                }
            }
            let at = shape.d(0, 0, block).register as usize;
            let file = self.run.wave.vgprs.as_mut_ptr();
            // SAFETY: the registers are there, and a block's rows in them; the kernels were chosen for what the host has.
            unsafe {
                let d = if kept { late.as_mut_ptr() } else { file.add(written.start) };
                let d = d.add(at).cast();
                let (c, c_rows) = match &of_c {
                    Operand::Registers(_) => (file.add(c.start + at).cast_const().cast(), d_rows),
                    Operand::Constant([constant, _]) => (constant.0.as_ptr().cast(), SAME),
                };
                (self.kernels.mfma_32)(&words, work, &product, &Sums { c, c_rows, d, d_rows });
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
        let product = Product { parts: 1, side_by_side: true, ..self.product(shape) };
        let factors = product.words as u32;
        // As in larger ones; here lanes that come later may want what lanes before had.
        let written = registers(Src::Vgpr(inst.dst), 4);
        let meets = |r: &Range<usize>| r.start < written.end && written.start < r.end;
        let c = registers(inst.src[2], 4);
        let kept = (0..2).any(|n| meets(&registers(inst.src[n], factors))) || meets(&c) && c != written;
        assert!(written.end.max(c.end) <= self.run.wave.vgprs.len(), "decoding sees to it");
        let mut late = [Vgpr([0; 64]); 4];
        let (mut room_a, mut room_b, mut room_c): (Constant, Constant, Constant) = (None, None, None);
        let of_a = self.operand(inst.src[0], &mut room_a);
        let of_b = self.operand(inst.src[1], &mut room_b);
        let of_c = self.operand(inst.src[2], &mut room_c);
        let mut words = Words { a: [[std::ptr::null(); 2]; 8], b: [[std::ptr::null(); 2]; 8] };
        let mut others = [const { Row([[0; 16]; 2]) }; 2];
        for first in (0..64).step_by(16) {
            for n in 0..factors {
                words.a[n as usize][0] = match cbsz {
                    0 => of_a.place(&self.run.wave.vgprs, n, first),
                    _ => {
                        let other = &mut others[n as usize % 2].0[0];
                        *other = self.gather(inst.src[0], n, |column| {
                            4 * shape.a_block((first + column) / 4, cbsz, abid) + column % 4
                        });
                        other.as_ptr()
                    }
                };
                let lane = shape.b_lane(first, blgp);
                words.b[n as usize][0] = of_b.place(&self.run.wave.vgprs, n, lane);
            }
            let file = self.run.wave.vgprs.as_mut_ptr();
            // SAFETY: the registers are there, with four rows of sixteen lanes from `first` on; the kernels were chosen for
            // what the host has.
            unsafe {
                let d = if kept { late.as_mut_ptr() } else { file.add(written.start) };
                let d = d.cast::<u32>().add(first as usize);
                let (c, c_rows) = match &of_c {
                    Operand::Registers(_) => {
                        (file.add(c.start).cast_const().cast::<u32>().add(first as usize), OF_4)
                    }
                    Operand::Constant([constant, _]) => (constant.0.as_ptr().cast(), SAME),
                };
                (self.kernels.mfma_32)(&words, work, &product, &Sums { c, c_rows, d, d_rows: OF_4 });
            }
        }
        if kept {
            self.run.wave.vgprs[written].copy_from_slice(&late);
        }
    }

    fn mfma_f64(&mut self, inst: &Inst, shape: &Shape) {
        let (mut room_a, mut room_b): (Constant, Constant) = (None, None);
        let of_a = self.operand(inst.src[0], &mut room_a);
        let of_b = self.operand(inst.src[1], &mut room_b);
        let mut work = Factors64 { a: [[std::ptr::null(); 2]; 4], b: [[std::ptr::null(); 2]; 4] };
        for word in 0..2 {
            for k in 0..4 {
                work.a[k as usize][word as usize] = of_a.place(&self.run.wave.vgprs, word, 16 * k);
                work.b[k as usize][word as usize] = of_b.place(&self.run.wave.vgprs, word, 16 * k);
            }
        }
        let sums = 2 * shape.m * shape.n * shape.blocks / 64;
        // D may lie over C as it is, or not at all, and over A and B if they are read once; else it is written late.
        let (written, read) = (registers(Src::Vgpr(inst.dst), sums), registers(inst.src[2], sums));
        let meets = |r: &Range<usize>| r.start < written.end && written.start < r.end;
        let again = shape.m == 4 && (0..2).any(|n| meets(&registers(inst.src[n], 2)));
        let direct = !again && (read == written || !meets(&read));
        assert!(written.end.max(read.end) <= self.run.wave.vgprs.len(), "decoding sees to it");
        let constant = match inst.src[2] {
            Src::Vgpr(_) => None,
            src => Some([0, 1].map(|word| Vgpr([self.gather(src, word, |n| n)[0]; 64]))),
        };
        let mut done = if direct { Vec::new() } else { vec![Vgpr([0; 64]); sums as usize] };
        let file = self.run.wave.vgprs.as_mut_ptr();
        let (c, c_rows) = match &constant {
            None => (file.wrapping_add(read.start).cast_const().cast::<u32>(), OF_F64),
            Some(constant) => (constant.as_ptr().cast(), SAME),
        };
        let d = if direct { file.wrapping_add(written.start) } else { done.as_mut_ptr() }.cast::<u32>();
        if shape.m == 4 {
            // Four matrices side by side: row i of all is sixteen lanes, as in the larger one.
            let all = work.a;
            for i in 0..4 {
                let mut rows = [const { Row([[0; 16]; 2]) }; 4];
                for ((row, all), to) in rows.iter_mut().zip(&all).zip(&mut work.a) {
                    for ((word, from), to) in row.0.iter_mut().zip(all).zip(to) {
                        // SAFETY: sixteen lanes of a register, or of a constant.
                        let part = unsafe { &*from.cast::<Part>() };
                        *word = std::array::from_fn(|column| part[column / 4 * 4 + i]);
                        *to = word.as_ptr();
                    }
                }
                let (c_rows, d_rows) = (&c_rows[i..], &OF_F64[i..]);
                // SAFETY: as above.
                unsafe { (self.kernels.mfma_64)(&work, 1, &Sums { c, c_rows, d, d_rows }) };
            }
        } else {
            // SAFETY: as above.
            unsafe { (self.kernels.mfma_64)(&work, 16, &Sums { c, c_rows, d, d_rows: OF_F64 }) };
        }
        if !direct {
            self.run.wave.vgprs[written].copy_from_slice(&done);
        }
    }
}
