//! MFMA: matrices gathered from registers, multiplied by the back end's kernels, scattered back.
//!
//! EXEC is ignored, as the matrix core works on whole registers. Columns of B, C and D and rows of A are consecutive lanes
//! of a register. The kernels try the host's own operations first: only where a NaN comes out, and where numbers are so
//! small that a step may be denormal, do they take the steps as `sem` has them in full.

use super::Exec;
use crate::program::{Inst, Src};
use crate::simd::{Bits, V16};
use crate::state::Vgpr;
use std::mem::MaybeUninit;
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
struct Factors {
    a: [[MaybeUninit<Part>; 2]; 16],
    b: [[MaybeUninit<Part>; 2]; 16],
}

/// A and B as registers have them.
pub(crate) struct Words {
    a: Operand,
    b: Operand,
    /// Whose A each block takes.
    a_blocks: [u8; 4],
}

/// Where the numbers of an operand are: in registers, or, if it is a constant, in two that are copies of it.
#[derive(Clone, Copy)]
struct Operand {
    first: *const Vgpr,
    constant: bool,
    /// The first lane for each sixteen.
    lanes: [u8; 4],
}

impl Operand {
    /// Where sixteen lanes of a register are.
    #[inline(always)]
    fn place(&self, register: usize, sixteen: usize) -> *const u32 {
        let register = if self.constant { register % 2 } else { register };
        self.first.wrapping_add(register).cast::<u32>().wrapping_add(self.lanes[sixteen % 4] as usize)
    }

    /// The operand as B, whose lanes BLGP moves.
    #[inline(always)]
    fn moved(mut self, shape: &Shape, blgp: u32) -> Operand {
        if blgp != 0 {
            for (first, lane) in (0..64).step_by(16).zip(&mut self.lanes) {
                *lane = shape.b_lane(first, blgp) as u8;
            }
        }
        self
    }
}

/// Where rows of C and D lie: dwords from the first one. Those of D are known to lie in different places.
#[derive(Clone, Copy)]
pub(crate) struct Sums {
    c: *const u32,
    /// A constant has all rows in one place.
    c_rows: &'static [u32; 32],
    d: *mut u32,
    d_rows: &'static [u32; 32],
    /// Dwords from the rows of a block, or of sixteen lanes of small matrices, to those of the next one.
    c_next: usize,
    d_next: usize,
}

impl Sums {
    /// Those of a later block, or of later lanes.
    #[inline(always)]
    fn next(&self, n: usize) -> Sums {
        Sums { c: self.c.wrapping_add(n * self.c_next), d: self.d.wrapping_add(n * self.d_next), ..*self }
    }
}

/// Room for a constant in all lanes of two registers.
type Constant = MaybeUninit<[Vgpr; 2]>;

/// All rows in one place.
const SAME: &[u32; 32] = &[0; 32];
/// Rows of D in registers.
const OF_4: &[u32; 32] = &rows_of(4, Element::F32);
const OF_16: &[u32; 32] = &rows_of(16, Element::F32);
const OF_32: &[u32; 32] = &rows_of(32, Element::F32);
const OF_F64: &[u32; 32] = &rows_of(16, Element::F64);

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
    /// Registers of A and B.
    registers: usize,
    /// How often these are rows of A and columns of B, from one k on.
    steps: usize,
    /// Rows of A and C.
    rows: usize,
    /// Sixteens of columns.
    parts: usize,
    /// k that make one group of sums.
    group: u32,
    /// Matrices.
    blocks: usize,
}

/// Takes sixteen lanes' words apart into elements of k that follow each other, of 16 bits or less; notes if one is [`mfma::small`].
#[inline(always)]
fn apart<V: V16>(word: V, p: &Product, small: &mut Bits) -> [V; 2] {
    match p.element {
        Element::I8 => [mfma::two_i8(word, false), mfma::two_i8(word, true)],
        element => {
            let low = mfma::widen(element, p.sum, word & w(0xffff));
            let high = mfma::widen(element, p.sum, word.shr(w(16)));
            *small = *small | mfma::small(element, low) | mfma::small(element, high);
            [low, high]
        }
    }
}

/// Takes a block's words apart into factors; true if some are [`mfma::small`].
///
/// # Safety
/// The operand must be there, aligned.
#[inline(always)]
unsafe fn unpack<V: V16>(
    from: &Operand,
    block: usize,
    matrix: &mut [[MaybeUninit<Part>; 2]; 16],
    p: &Product,
) -> bool {
    let mut small = Bits(0);
    // A word has two elements, unless they have 32 bits.
    let mut elements = matrix.chunks_mut(if p.element == Element::F32 { 1 } else { 2 });
    // Sixteens of lanes follow each other by parts, blocks and steps.
    for step in 0..p.steps {
        let first = p.parts * (block + p.blocks * step);
        for (register, elements) in (0..p.registers).zip(&mut elements) {
            for part in 0..p.parts {
                // SAFETY: the caller's promise.
                let word = unsafe { V::load(from.place(register, first + part)) };
                match elements {
                    [one, two] => {
                        let [low, high] = apart(word, p, &mut small);
                        one[part].write(low.to_array());
                        two[part].write(high.to_array());
                    }
                    [one, ..] => {
                        one[part].write(word.to_array());
                    }
                    [] => {}
                }
            }
        }
    }
    small.0 != 0
}

/// Kernels for how products become sums: the modes that matter are known in their loops, and so are the sizes of groups.
macro_rules! of_sums {
    ($p:expr, $kernel:ident::<$v:ident>($($argument:expr),*)) => {
        match ($p.sum, $p.group) {
            (Sum::Integer, _) => $kernel::<$v, 1, 2, _>($($argument),*, Integer),
            (Sum::Fused(FloatMode::IEEE), _) => $kernel::<$v, 1, 1, _>($($argument),*, Fused),
            (Sum::Fused(m), _) => $kernel::<$v, 1, 1, _>($($argument),*, FusedIn(m)),
            (Sum::Pairs, 4) => $kernel::<$v, 4, 4, _>($($argument),*, Pairs),
            (Sum::Pairs, _) => $kernel::<$v, 2, 2, _>($($argument),*, Pairs),
            (Sum::Exact, 4) => $kernel::<$v, 4, 4, _>($($argument),*, Exact),
            (Sum::Exact, _) => $kernel::<$v, 2, 2, _>($($argument),*, Exact),
        }
    };
}

/// D = A · B + C, for all blocks.
///
/// # Safety
/// The words must be there, and the rows of C and D be where `sums` says, aligned registers or copies of such, for as many parts
/// and blocks as there are. What is written may lie over the same block's words.
#[inline(always)]
pub(super) unsafe fn multiply_32<V: V16>(words: &Words, p: &Product, sums: &Sums) {
    // SAFETY: the caller's promise.
    unsafe { of_sums!(p, blocks::<V>(words, p, sums)) }
}

/// The same for sixteen matrices of four rows and columns, side by side: a lane has a row of its matrix's A, and a column of its
/// B.
///
/// # Safety
/// As for [`multiply_32`]; what is written may lie over what the same lanes have.
#[inline(always)]
pub(super) unsafe fn multiply_small<V: V16>(words: &Words, p: &Product, sums: &Sums) {
    // SAFETY: the caller's promise.
    unsafe { of_sums!(p, side_by_side::<V>(words, p, sums)) }
}

/// A step of sums, N of k at a time. (Closures would do, were they sure to be inlined where the host's instructions are
/// known.)
trait Step<V: V16, const N: usize>: Copy {
    /// The step holds unless a NaN comes out or factors are small.
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

/// All blocks. Safe as [`multiply_32`] is.
#[inline(always)]
unsafe fn blocks<V: V16, const N: usize, const D: usize, S: Step<V, N>>(
    words: &Words,
    p: &Product,
    sums: &Sums,
    step: S,
) {
    let mut factors = Factors { a: [[MaybeUninit::uninit(); 2]; 16], b: [[MaybeUninit::uninit(); 2]; 16] };
    let f = &mut factors;
    for block in 0..p.blocks {
        // SAFETY: the caller's promise.
        unsafe {
            let sums = sums.next(block);
            let of_a = words.a_blocks[block % 4] as usize;
            let small = unpack::<V>(&words.a, of_a, &mut f.a, p) | unpack::<V>(&words.b, block, &mut f.b, p);
            // Several rows at a time share what is loaded of B, and both parts what is loaded of A. Sums stay in registers.
            // (A loop each: closures would not be compiled for the host.)
            for i in (0..p.rows).step_by([8, 4][(N > 1) as usize]) {
                match (p.parts, N) {
                    (1, 1) => rows::<V, N, 8, 1, S>(f, p, i, &sums, step, small),
                    (1, _) => rows::<V, N, 4, 1, S>(f, p, i, &sums, step, small),
                    (_, 1) => rows::<V, N, 8, 2, S>(f, p, i, &sums, step, small),
                    _ => rows::<V, N, 4, 2, S>(f, p, i, &sums, step, small),
                }
            }
        }
    }
}

/// Small matrices with D elements of k, in groups of N. Safe as [`multiply_small`] is.
#[inline(always)]
unsafe fn side_by_side<V: V16, const N: usize, const D: usize, S: Step<V, N>>(
    words: &Words,
    p: &Product,
    sums: &Sums,
    step: S,
) {
    for section in 0..4 {
        let mut small = Bits(0);
        let mut factors = [[V::splat(0); D]; 2];
        for (factors, words) in factors.iter_mut().zip([&words.a, &words.b]) {
            // A word has two elements, unless they have 32 bits.
            for (n, factors) in factors.chunks_mut(D.min(2)).enumerate() {
                // SAFETY: the caller's promise.
                let word = unsafe { V::load(words.place(n, section)) };
                match factors {
                    [one] => *one = word,
                    two => two.copy_from_slice(&apart(word, p, &mut small)),
                }
            }
        }
        let [a, b] = &factors;
        // SAFETY: the caller's promise. All rows are read before one is written.
        unsafe {
            let sums = sums.next(section);
            let mut total = small_rows::<V, N, D, S, false>(a, b, p, &sums, step);
            let nan = total[0][0].funord(total[1][0]) | total[2][0].funord(total[3][0]);
            if S::CHECKED && (nan | small).0 != 0 {
                total = small_rows::<V, N, D, S, true>(a, b, p, &sums, step);
            }
            put(&total, 0, &sums);
        }
    }
}

/// The four rows of sums of sixteen lanes, with steps as they are in full or not. Safe as [`multiply_small`] is.
#[inline(always)]
unsafe fn small_rows<V: V16, const N: usize, const D: usize, S: Step<V, N>, const FULL: bool>(
    a: &[V; D],
    b: &[V; D],
    p: &Product,
    sums: &Sums,
    step: S,
) -> [[V; 1]; 4] {
    // SAFETY: the caller's promise.
    unsafe {
        [
            [small_row::<V, N, D, S, FULL, 0>(a, b, p, sums, step)],
            [small_row::<V, N, D, S, FULL, 1>(a, b, p, sums, step)],
            [small_row::<V, N, D, S, FULL, 2>(a, b, p, sums, step)],
            [small_row::<V, N, D, S, FULL, 3>(a, b, p, sums, step)],
        ]
    }
}

/// One of them. Safe as [`multiply_small`] is.
#[inline(always)]
unsafe fn small_row<
    V: V16,
    const N: usize,
    const D: usize,
    S: Step<V, N>,
    const FULL: bool,
    const ROW: usize,
>(
    a: &[V; D],
    b: &[V; D],
    p: &Product,
    sums: &Sums,
    step: S,
) -> V {
    // SAFETY: the caller's promise.
    let mut sum = mfma::start(p.sum, unsafe { V::load(sums.c.add(sums.c_rows[ROW] as usize)) });
    for (a, b) in a.as_chunks::<N>().0.iter().zip(b.as_chunks::<N>().0) {
        let mut row = [V::splat(0); N];
        for (of_row, a) in row.iter_mut().zip(a) {
            *of_row = a.quads::<ROW>();
        }
        sum = if FULL { step.full(&row, b, sum) } else { step.step(&row, b, sum) };
    }
    sum
}

/// R rows from one on, in P parts. Safe as [`multiply_32`] is.
#[inline(always)]
unsafe fn rows<V: V16, const N: usize, const R: usize, const P: usize, S: Step<V, N>>(
    f: &Factors,
    p: &Product,
    first: usize,
    sums: &Sums,
    step: S,
    small: bool,
) {
    // SAFETY: the caller's promise.
    unsafe {
        if !(S::CHECKED && small) {
            let total = totals::<V, N, R, P, S>(f, p, first, sums, step, false);
            // A comparison looks at two of them.
            let mut nan = Bits(0);
            for pair in total.as_flattened().chunks(2) {
                nan = nan | pair[0].funord(pair[pair.len() - 1]);
            }
            if !S::CHECKED || nan.0 == 0 {
                return put(&total, first, sums);
            }
        }
        // C is still there: nothing of these rows has been written.
        put(&totals::<V, N, R, P, S>(f, p, first, sums, step, true), first, sums);
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
fn some_rows<const R: usize>(rows: &[u32; 32], first: usize) -> [u32; R] {
    rows.get(first..).and_then(|rows| rows.first_chunk()).copied().unwrap_or([0; R])
}

/// The sums of R rows in P parts, with steps as they are in full or not. Safe as [`multiply_32`] is.
#[inline(always)]
unsafe fn totals<V: V16, const N: usize, const R: usize, const P: usize, S: Step<V, N>>(
    f: &Factors,
    p: &Product,
    first: usize,
    sums: &Sums,
    step: S,
    full: bool,
) -> [[V; P]; R] {
    let words = p.registers * p.steps;
    let depth = if p.element == Element::F32 { words } else { 2 * words };
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
                // SAFETY: all parts of so many elements of k have been written.
                *column = V::from_array(unsafe { b[part].assume_init() });
            }
        }
        for (n, sums) in total.iter_mut().enumerate() {
            let mut row = [V::splat(0); N];
            for (factor, a) in row.iter_mut().zip(a) {
                // SAFETY: as above, and there is such a row.
                *factor = V::splat(unsafe { a.as_ptr().cast::<u32>().add(first + n).read() });
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

/// D = A · B + C in f64: sixteen rows, or those of four small matrices side by side.
///
/// # Safety
/// As for [`multiply_32`]; upper words are in the register behind.
#[inline(always)]
pub(super) unsafe fn multiply_64<V: V16>(words: &Words, small: bool, sums: &Sums) {
    let Words { a, b, .. } = words;
    let mut rows_of_b = [V::Long::splat(0); 4];
    let mut rows_of_a = [[V::Long::splat(0); 4]; 4];
    let mut columns_of_a = [[0u64; 16]; 4];
    // SAFETY: the caller's promise; sixteen times two dwords.
    unsafe {
        for (k, row) in rows_of_b.iter_mut().enumerate() {
            *row = V::Long::join(V::load(b.place(0, k)), V::load(b.place(1, k)));
        }
        for (k, column) in columns_of_a.iter_mut().enumerate() {
            let (lo, hi) = (V::load(a.place(0, k)), V::load(a.place(1, k)));
            if small {
                rows_of_a[0][k] = V::Long::join(lo.quads::<0>(), hi.quads::<0>());
                rows_of_a[1][k] = V::Long::join(lo.quads::<1>(), hi.quads::<1>());
                rows_of_a[2][k] = V::Long::join(lo.quads::<2>(), hi.quads::<2>());
                rows_of_a[3][k] = V::Long::join(lo.quads::<3>(), hi.quads::<3>());
            } else {
                V::store_groups([lo, hi], column.as_mut_ptr().cast());
            }
        }
        if small {
            for (i, a) in rows_of_a.iter().enumerate() {
                row_64::<V>(i, a, &rows_of_b, sums);
            }
            return;
        }
        for i in 0..16 {
            let mut a = [V::Long::splat(0); 4];
            for (a, column) in a.iter_mut().zip(&columns_of_a) {
                *a = V::Long::splat(column[i]);
            }
            row_64::<V>(i, &a, &rows_of_b, sums);
        }
    }
}

/// A row of D. Safe as [`multiply_64`] is.
#[inline(always)]
unsafe fn row_64<V: V16>(i: usize, a: &[V::Long; 4], b: &[V::Long; 4], sums: &Sums) {
    // SAFETY: the caller's promise.
    unsafe {
        let c = sums.c.add(sums.c_rows[i] as usize);
        let start = V::Long::join(V::load(c), V::load(c.add(64)));
        let mut sum = start;
        for (a, b) in a.iter().zip(b) {
            sum = mfma::plain_f64(*a, *b, sum);
        }
        if sum.funord(sum).0 != 0 {
            sum = start;
            for (a, b) in a.iter().zip(b) {
                sum = mfma::step_f64(*a, *b, sum);
            }
        }
        let d = sums.d.add(sums.d_rows[i] as usize);
        sum.lo().store(d);
        sum.hi().store(d.add(64));
    }
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

    /// Where the numbers of so many registers of an operand are.
    #[inline(always)]
    fn operand(&mut self, src: Src, count: u32, room: &mut Constant) -> Operand {
        match src {
            Src::Vgpr(r) => {
                let file = &mut self.run.wave.vgprs;
                assert!(r as usize + count as usize <= file.len(), "decoding sees to it");
                let first = file.as_mut_ptr().wrapping_add(r as usize).cast_const();
                Operand { first, constant: false, lanes: [0, 16, 32, 48] }
            }
            src => {
                let rows =
                    room.write([0, 1].map(|register| Vgpr([self.gather(src, register, |n| n)[0]; 64])));
                Operand { first: rows.as_ptr(), constant: true, lanes: [0; 4] }
            }
        }
    }

    pub(super) fn mfma(&mut self, inst: &Inst) {
        if self.run.skips_vector() {
            return;
        }
        match mfma::shape(inst.op) {
            None => {}
            Some(shape) if shape.element == Element::F64 => self.mfma_f64(inst, &shape),
            Some(shape) if shape.m == 4 => self.mfma_small(inst, &shape),
            Some(shape) => self.mfma_blocks(inst, &shape),
        }
    }

    fn product(&self, shape: &Shape) -> Product {
        Product {
            element: shape.element,
            sum: shape.sum(&self.mode, self.run.wave.level),
            registers: (shape.per_lane() * shape.element.bits() / 32) as usize,
            steps: (shape.k >> shape.per_lane().trailing_zeros()) as usize,
            rows: shape.m as usize,
            parts: shape.m as usize / 16,
            group: shape.per_lane(),
            blocks: shape.blocks as usize,
        }
    }

    /// f32 and i32 sums of matrices with 16 or 32 columns.
    fn mfma_blocks(&mut self, inst: &Inst, shape: &Shape) {
        let (cbsz, abid, blgp) =
            (bits::MFMA_CBSZ.get(inst.bits), bits::MFMA_ABID.get(inst.bits), bits::MFMA_BLGP.get(inst.bits));
        let product = self.product(shape);
        let (factors, sums) = (product.registers as u32, shape.m * shape.n * shape.blocks / 64);
        let d_rows = if shape.m == 16 { OF_16 } else { OF_32 };
        // D may lie over what later blocks and rows read. As C it has each element where D has it; else all is read first.
        let written = registers(Src::Vgpr(inst.dst), sums);
        let meets = |r: &Range<usize>| r.start < written.end && written.start < r.end;
        let (a, b) = (registers(inst.src[0], factors), registers(inst.src[1], factors));
        let c = registers(inst.src[2], sums);
        let kept = shape.blocks > 1 && (meets(&a) || meets(&b)) || meets(&c) && c != written;
        let mut late: Vec<Vgpr> =
            if kept { self.run.wave.vgprs[written.clone()].to_vec() } else { Vec::new() };
        let (mut room_a, mut room_b, mut room_c) =
            (Constant::uninit(), Constant::uninit(), Constant::uninit());
        let of_a = self.operand(inst.src[0], factors, &mut room_a);
        let of_b = self.operand(inst.src[1], factors, &mut room_b);
        let of_c = self.operand(inst.src[2], sums, &mut room_c);
        assert!(written.end <= self.run.wave.vgprs.len(), "decoding sees to it");
        let mut words = Words { a: of_a, b: of_b.moved(shape, blgp), a_blocks: [0, 1, 2, 3] };
        if cbsz != 0 {
            for (block, from) in (0..shape.blocks).zip(&mut words.a_blocks) {
                *from = shape.a_block(block, cbsz, abid) as u8;
            }
        }
        let file = self.run.wave.vgprs.as_mut_ptr();
        let d_next = (shape.m * shape.n) as usize;
        let (c_rows, c_next) = if of_c.constant { (SAME, 0) } else { (d_rows, d_next) };
        let d = if kept { late.as_mut_ptr() } else { file.wrapping_add(written.start) }.cast();
        // SAFETY: the registers are there, and all blocks' rows in them; the kernels were chosen for what the host has.
        unsafe {
            let sums = Sums { c: of_c.first.cast(), c_rows, d, d_rows, c_next, d_next };
            (self.kernels.mfma_32)(&words, &product, &sums);
        };
        if kept {
            self.run.wave.vgprs[written].copy_from_slice(&late);
        }
    }

    /// Sixteen matrices of four columns, side by side: row i of all of them is a register.
    fn mfma_small(&mut self, inst: &Inst, shape: &Shape) {
        let (cbsz, abid, blgp) =
            (bits::MFMA_CBSZ.get(inst.bits), bits::MFMA_ABID.get(inst.bits), bits::MFMA_BLGP.get(inst.bits));
        let product = self.product(shape);
        // As in larger ones. Sixteen lanes write where they read, but for a B that lanes before them may have been given to read.
        let (factors, sums) = (product.registers as u32, 4);
        let written = registers(Src::Vgpr(inst.dst), sums);
        let b = registers(inst.src[1], factors);
        let kept = blgp != 0 && b.start < written.end && written.start < b.end;
        assert!(written.end <= self.run.wave.vgprs.len(), "decoding sees to it");
        let mut late = MaybeUninit::<[Vgpr; 4]>::uninit();
        let (mut room_a, mut room_b, mut room_c) =
            (Constant::uninit(), Constant::uninit(), Constant::uninit());
        let of_a = self.operand(inst.src[0], factors, &mut room_a);
        let of_b = self.operand(inst.src[1], factors, &mut room_b);
        let of_c = self.operand(inst.src[2], sums, &mut room_c);
        let mut words = Words { a: of_a, b: of_b.moved(shape, blgp), a_blocks: [0, 1, 2, 3] };
        let mut others = MaybeUninit::<[Vgpr; 2]>::uninit();
        if cbsz != 0 {
            let others = others.write([Vgpr([0; 64]), Vgpr([0; 64])]);
            for (register, all) in others.iter_mut().enumerate().take(product.registers) {
                for (first, part) in (0..64).step_by(16).zip(all.0.as_chunks_mut().0) {
                    *part = self.gather(inst.src[0], register as u32, |column| {
                        4 * shape.a_block((first + column) / 4, cbsz, abid) + column % 4
                    });
                }
            }
            (words.a.first, words.a.constant) = (others.as_ptr(), false);
        }
        let file = self.run.wave.vgprs.as_mut_ptr();
        let (c_rows, c_next) = if of_c.constant { (SAME, 0) } else { (OF_4, 16) };
        let d = if kept { late.as_mut_ptr().cast() } else { file.wrapping_add(written.start) }.cast();
        let sums = Sums { c: of_c.first.cast(), c_rows, d, d_rows: OF_4, c_next, d_next: 16 };
        // SAFETY: the registers are there, with four rows of sixteen lanes each time; the kernels were chosen for what the host has,
        // and write all of D.
        unsafe {
            (self.kernels.mfma_small)(&words, &product, &sums);
            if kept {
                self.run.wave.vgprs[written].copy_from_slice(&late.assume_init());
            }
        }
    }

    fn mfma_f64(&mut self, inst: &Inst, shape: &Shape) {
        let (mut room_a, mut room_b) = (Constant::uninit(), Constant::uninit());
        let of_a = self.operand(inst.src[0], 2, &mut room_a);
        let of_b = self.operand(inst.src[1], 2, &mut room_b);
        let words = Words { a: of_a, b: of_b, a_blocks: [0; 4] };
        let mut room_c = Constant::uninit();
        let sums = 2 * shape.m * shape.n * shape.blocks / 64;
        // D may lie over C as it is, or not at all, and over A and B, which are read first. A row of small matrices is in lanes of
        // its own.
        let (written, read) = (registers(Src::Vgpr(inst.dst), sums), registers(inst.src[2], sums));
        let meets = |r: &Range<usize>| r.start < written.end && written.start < r.end;
        let direct = shape.m == 4 || read == written || !meets(&read);
        assert!(written.end.max(read.end) <= self.run.wave.vgprs.len(), "decoding sees to it");
        let of_c = self.operand(inst.src[2], sums, &mut room_c);
        let mut done = if direct { Vec::new() } else { vec![Vgpr([0; 64]); sums as usize] };
        let file = self.run.wave.vgprs.as_mut_ptr();
        let (c, c_rows) = (of_c.first.cast(), if of_c.constant { SAME } else { OF_F64 });
        let d = if direct { file.wrapping_add(written.start) } else { done.as_mut_ptr() }.cast::<u32>();
        let sums = Sums { c, c_rows, d, d_rows: OF_F64, c_next: 0, d_next: 0 };
        // SAFETY: the registers are there, with all rows; the kernels were chosen for what the host has.
        unsafe { (self.kernels.mfma_64)(&words, shape.m == 4, &sums) };
        if !direct {
            self.run.wave.vgprs[written].copy_from_slice(&done);
        }
    }
}
