//! Matrix fused multiply-add: shapes, where the elements of A, B, C and D lie, and how products become sums. The manual
//! gives the shapes; the places are those of AMD's matrix instruction calculator; the order and the roundings of the
//! sums are what the authors of MMA-Sim (arXiv 2511.10909) measured on MI100 and MI250, bit for bit but for NaNs.

use crate::exact::Exact;
use crate::fp::{double, single};
use crate::lanes::{Long, Mask, Word, w};
use crate::mode::{FloatMode, Mode};
use crate::soft::{self, F32};
use wavemill_isa::{Level, Op};

/// The type of A's and B's elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Element {
    F32,
    F16,
    Bf16,
    I8,
    F64,
}

impl Element {
    /// Bits per element.
    #[inline]
    pub const fn bits(self) -> u32 {
        match self {
            Element::F32 => 32,
            Element::F16 | Element::Bf16 => 16,
            Element::I8 => 8,
            Element::F64 => 64,
        }
    }
}

/// The shape of an MFMA instruction: `blocks` products of m×k by k×n matrices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Rows of A, C and D.
    pub m: u32,
    /// Columns of B, C and D.
    pub n: u32,
    /// Columns of A, rows of B.
    pub k: u32,
    /// Independent products.
    pub blocks: u32,
    /// Elements of A and B; C and D are f32, i32 (for i8) or f64.
    pub element: Element,
}

/// Where an element lies: register (from the operand's first), lane, and lowest bit in the register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ElementPosition {
    /// Register.
    pub register: u32,
    /// Lane.
    pub lane: u32,
    /// Lowest bit.
    pub bit: u32,
}

impl Shape {
    const fn new(m: u32, k: u32, blocks: u32, element: Element) -> Shape {
        Shape { m, n: m, k, blocks, element }
    }

    /// Consecutive `k` that one lane holds.
    #[inline]
    pub const fn per_lane(&self) -> u32 {
        self.m * self.k * self.blocks / 64
    }

    /// Where A's element (i, k) of a block lies; B's element (k, j) lies at the same place with j for i.
    #[inline]
    pub const fn a(&self, i: u32, k: u32, block: u32) -> ElementPosition {
        // A power of two, as all of this is: divisions would take longer than small matrices.
        let per = self.per_lane().trailing_zeros();
        let lane = i + self.m * block + self.m * self.blocks * (k >> per);
        let bit = (k & ((1 << per) - 1)) * self.element.bits();
        ElementPosition { register: bit / 32, lane, bit: bit % 32 }
    }

    /// Where C's and D's element (i, j) of a block lies; for f64 the first of two registers.
    #[inline]
    pub const fn d(&self, i: u32, j: u32, block: u32) -> ElementPosition {
        let (register, lane) = match (self.element, self.m) {
            (Element::F64, 16) => (2 * (i / 4), 16 * (i % 4) + j),
            (Element::F64, _) => (0, 16 * i + 4 * block + j),
            (_, 32) => (16 * block + 4 * (i / 8) + i % 4, 32 * (i / 4 % 2) + j),
            (_, 16) => (4 * block + i % 4, 16 * (i / 4) + j),
            _ => (i, 4 * block + j),
        };
        ElementPosition { register, lane, bit: 0 }
    }

    /// The block of A that a block multiplies: CBSZ makes groups of 2^CBSZ blocks share block ABID of the group.
    #[inline]
    pub const fn a_block(&self, block: u32, cbsz: u32, abid: u32) -> u32 {
        let group = 1 << cbsz;
        if matches!(self.element, Element::F64) || group > self.blocks {
            return block;
        }
        block / group * group + abid % group
    }

    /// The lane B's element comes from: BLGP permutes lane groups.
    #[inline]
    pub const fn b_lane(&self, lane: u32, blgp: u32) -> u32 {
        if matches!(self.element, Element::F64) {
            return lane;
        }
        match blgp {
            1 => lane % 32,
            2 => lane % 32 + 32,
            3 => (lane + 16) % 64,
            4..=7 => lane % 16 + 16 * (blgp - 4),
            _ => lane,
        }
    }

    /// How an element of D comes about: the manual (7.1) speaks of fused steps for all floats, silicon takes them for f32
    /// and f64 only. MODE says what f32 does with denormals (manual 7.1).
    #[inline]
    pub fn sum(&self, mode: &Mode, level: Level) -> Sum {
        match self.element {
            Element::F32 => Sum::Fused(FloatMode { round: soft::Round::Nearest, ..mode.f32 }),
            Element::F64 => Sum::Fused(FloatMode::IEEE),
            Element::I8 => Sum::Integer,
            _ if level == Level::Gfx908 => Sum::Exact,
            _ => Sum::Pairs,
        }
    }
}

/// How the products of an element of D and C become a sum. k ascends; those that a lane holds ([`Shape::per_lane`]) are
/// one group of [`pairs`] and [`exact`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sum {
    /// One fused multiply-add for each k, starting from C.
    Fused(FloatMode),
    /// [`pairs`]: 16-bit types on gfx90a.
    Pairs,
    /// [`exact`]: 16-bit types on gfx908.
    Exact,
    /// Modulo 2³².
    Integer,
}

/// An element of up to 32 bits, the lowest of the word, as wide as the sums: f32, or i32 for i8. What goes into
/// [`Sum::Pairs`] has no denormals: they are +0, whatever their sign.
#[inline(always)]
pub fn widen<W: Word>(element: Element, sum: Sum, bits: W) -> W {
    let pairs = sum == Sum::Pairs;
    match element {
        Element::F16 if pairs => without(bits, 0x7c00).h2f(),
        Element::F16 => bits.h2f(),
        Element::Bf16 if pairs => without(bits, 0x7f80).shl(w(16)),
        Element::Bf16 => bits.shl(w(16)),
        Element::I8 => bits.shl(w(24)).sar(w(24)),
        _ => bits,
    }
}
/// +0 for a denormal, whose exponent field is `exponent`; zeros keep their sign.
#[inline(always)]
fn without<W: Word>(bits: W, exponent: u32) -> W {
    let fraction = (exponent & exponent.wrapping_neg()) - 1;
    let tiny = (bits & w(exponent)).eq(w(0)) & !(bits & w(fraction)).eq(w(0));
    W::select(tiny, w(0), bits)
}

/// C as the sum starts with it.
#[inline(always)]
pub fn start<W: Word>(sum: Sum, c: W) -> W {
    if sum == Sum::Pairs { without(c, 0x7f80_0000) } else { c }
}

/// gfx90a: (p0 + p1) + (p2 + p3), or p0 + p1, then with the sum so far. Each product and sum is rounded to nearest; one
/// that is denormal becomes a zero of its sign.
#[inline(always)]
pub fn pairs<W: Word>(a: &[W], b: &[W], sum: W) -> W {
    let m = FloatMode::FLUSH;
    pairs_of(a, b, sum, |a, b| single::mul(a, b, m), |a, b| single::add(a, b, m))
}
/// The same with the host's own products and sums: right where no element is [`small`], unless a NaN comes out, whose bits
/// may be others.
#[inline(always)]
pub fn plain_pairs<W: Word>(a: &[W], b: &[W], sum: W) -> W {
    pairs_of(a, b, sum, W::fmul, W::fadd)
}
#[inline(always)]
fn pairs_of<W: Word>(a: &[W], b: &[W], sum: W, mul: impl Fn(W, W) -> W, add: impl Fn(W, W) -> W) -> W {
    let group = add(mul(a[0], b[0]), mul(a[1], b[1]));
    let group = if a.len() == 4 { add(group, add(mul(a[2], b[2]), mul(a[3], b[3]))) } else { group };
    add(group, sum)
}
/// Elements, as wide as the sums, that may have a denormal step in [`pairs`]. Products of all others, and sums of these, are
/// multiples of 2⁻⁹⁴ (f16: of 2⁻⁴⁸); so is C, or so much smaller that it is lost, or near enough to one of them to have its
/// last bit at 2⁻¹¹⁸ at least. No sum is between zero and that.
#[inline(always)]
pub fn small<W: Word>(element: Element, x: W) -> W::Mask {
    let magnitude = x & w(0x7fff_ffff);
    match element {
        // 2⁻⁴⁰.
        Element::Bf16 => magnitude.lt_u(w(0x2b80_0000)) & !magnitude.eq(w(0)),
        _ => Mask::zeros(),
    }
}

/// gfx908: products and sum are added without any rounding, then rounded to nearest once; denormals are numbers like
/// others, and a zero is positive. Elements are f32 that came from 16 bits.
pub fn exact(a: &[u32], b: &[u32], sum: u32) -> u32 {
    let nan = |x: u32| F32.is_nan(x as u64);
    let infinite = |x: u32| x & 0x7fff_ffff == 0x7f80_0000;
    let mut special = None;
    let mut invalid = false;
    let mut infinity = None;
    for (&a, &b) in a.iter().zip(b) {
        let factor = [a, b].into_iter().find(|&x| nan(x));
        special = special.or(factor);
        if factor.is_none() && (infinite(a) || infinite(b)) {
            invalid |= a << 1 == 0 || b << 1 == 0;
            let sign = (a ^ b) & 0x8000_0000;
            invalid |= infinity.is_some_and(|s| s != sign);
            infinity = Some(sign);
        }
    }
    special = special.or(Some(sum).filter(|&c| nan(c)));
    if infinite(sum) {
        let sign = sum & 0x8000_0000;
        invalid |= infinity.is_some_and(|s| s != sign);
        infinity = Some(sign);
    }
    match (special, infinity) {
        // Which NaN comes out nobody has published: the first operand's.
        (Some(nan), _) => nan | F32.quiet() as u32,
        _ if invalid => F32.default_nan() as u32,
        (_, Some(sign)) => sign | F32.infinity() as u32,
        _ => {
            let mut total = Exact::default();
            for (&a, &b) in a.iter().zip(b) {
                total.add_product(a, b);
            }
            total.add(sum);
            total.round()
        }
    }
}

/// One step of a sum of f32 products: k ascending, one rounding each.
#[inline(always)]
pub fn step_f32<W: Word>(a: W, b: W, sum: W, m: FloatMode) -> W {
    single::fma(a, b, sum, m)
}
/// f32's steps with the host's own fused operation: right where denormals are numbers, unless a NaN comes out.
#[inline(always)]
pub fn plain_f32<W: Word>(a: W, b: W, sum: W) -> W {
    a.ffma(b, sum)
}
/// One step of a sum of integer products.
#[inline(always)]
pub fn step_i32<W: Word>(a: W, b: W, sum: W) -> W {
    a * b + sum
}
/// Two bytes as a word, to be multiplied by [`two_i32`]: the first and third of four, or the others.
#[inline(always)]
pub fn two_i8<W: Word>(bytes: W, others: bool) -> W {
    if others { bytes.shr(w(8)) } else { bytes }.sext_even_bytes()
}
/// Two steps of a sum of integer products, in any order, as the sum is one modulo 2³².
#[inline(always)]
pub fn two_i32<W: Word>(a: W, b: W, sum: W) -> W {
    a.dot_i16(b) + sum
}
/// One step of a sum of f64 products.
#[inline(always)]
pub fn step_f64<D: Long>(a: D, b: D, sum: D) -> D {
    double::fma(a, b, sum, FloatMode::IEEE)
}
/// The same with the host's own operation, unless a NaN comes out.
#[inline(always)]
pub fn plain_f64<D: Long>(a: D, b: D, sum: D) -> D {
    a.ffma(b, sum)
}

/// The shape of an instruction.
#[inline]
pub const fn shape(op: Op) -> Option<Shape> {
    use Element::*;
    Some(match op {
        Op::v_mfma_f32_32x32x1f32 => Shape::new(32, 1, 2, F32),
        Op::v_mfma_f32_16x16x1f32 => Shape::new(16, 1, 4, F32),
        Op::v_mfma_f32_4x4x1f32 => Shape::new(4, 1, 16, F32),
        Op::v_mfma_f32_32x32x2f32 => Shape::new(32, 2, 1, F32),
        Op::v_mfma_f32_16x16x4f32 => Shape::new(16, 4, 1, F32),
        Op::v_mfma_f32_32x32x4f16 => Shape::new(32, 4, 2, F16),
        Op::v_mfma_f32_16x16x4f16 => Shape::new(16, 4, 4, F16),
        Op::v_mfma_f32_4x4x4f16 => Shape::new(4, 4, 16, F16),
        Op::v_mfma_f32_32x32x8f16 => Shape::new(32, 8, 1, F16),
        Op::v_mfma_f32_16x16x16f16 => Shape::new(16, 16, 1, F16),
        Op::v_mfma_i32_32x32x4i8 => Shape::new(32, 4, 2, I8),
        Op::v_mfma_i32_16x16x4i8 => Shape::new(16, 4, 4, I8),
        Op::v_mfma_i32_4x4x4i8 => Shape::new(4, 4, 16, I8),
        Op::v_mfma_i32_32x32x8i8 => Shape::new(32, 8, 1, I8),
        Op::v_mfma_i32_16x16x16i8 => Shape::new(16, 16, 1, I8),
        Op::v_mfma_f32_32x32x4bf16_1k => Shape::new(32, 4, 2, Bf16),
        Op::v_mfma_f32_16x16x4bf16_1k => Shape::new(16, 4, 4, Bf16),
        Op::v_mfma_f32_4x4x4bf16_1k => Shape::new(4, 4, 16, Bf16),
        Op::v_mfma_f32_32x32x8bf16_1k => Shape::new(32, 8, 1, Bf16),
        Op::v_mfma_f32_16x16x16bf16_1k => Shape::new(16, 16, 1, Bf16),
        Op::v_mfma_f32_32x32x2bf16 => Shape::new(32, 2, 2, Bf16),
        Op::v_mfma_f32_16x16x2bf16 => Shape::new(16, 2, 4, Bf16),
        Op::v_mfma_f32_4x4x2bf16 => Shape::new(4, 2, 16, Bf16),
        Op::v_mfma_f32_32x32x4bf16 => Shape::new(32, 4, 1, Bf16),
        Op::v_mfma_f32_16x16x8bf16 => Shape::new(16, 8, 1, Bf16),
        Op::v_mfma_f64_16x16x4f64 => Shape::new(16, 4, 1, F64),
        Op::v_mfma_f64_4x4x4f64 => Shape::new(4, 4, 4, F64),
        _ => return None,
    })
}
