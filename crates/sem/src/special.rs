//! Functions the hardware only bounds: reciprocals, roots, powers, logarithms, sines. Ours are within its bound, use
//! nothing but IEEE sums, products (fused or not), quotients and roots, and so give the same bits on every host.

use crate::fp::{double, single};
use crate::half::{self, HalfMode};
use crate::lanes::{Long, Mask, Word, d, w};
use crate::mode::FloatMode;

/// These functions of f32 take denormal operands as zeros and flush denormal results (manual 12.8), whatever MODE says.
const FLUSH: FloatMode = FloatMode::FLUSH;

/// V_RCP_F32.
#[inline(always)]
pub fn rcp_f32<W: Word>(a: W) -> W {
    single::unary(a, w::<W>(1f32.to_bits()).fdiv(single::input(a, FLUSH)), FLUSH)
}
/// What functions of numbers above zero do not take as it comes: all but those that are normal and finite.
#[inline(always)]
fn is_odd_one_out<W: Word>(a: W) -> W::Mask {
    !(a - w(0x0080_0000)).lt_u(w(0x7f00_0000))
}
/// -1/√m of a normal f32 number above zero: a guess, and a sum of the powers of what it leaves of 1. Roots and quotients
/// take several times as long.
#[inline(always)]
fn opposite_rsq<W: Word, const N: usize>(m: W, correction: &[f32; N]) -> W {
    // Bits halved halve the exponent: off by a thirtieth at most.
    let y = w::<W>(0xdf37_5a00) - m.shr(w(1));
    y.fmul(polynomial(correction, m.fmul(y).ffma(y, w((-1f32).to_bits()))))
}
/// V_RSQ_F32; rsq(-0) is -inf.
#[inline(always)]
pub fn rsq_f32<W: Word>(a: W) -> W {
    let one = w(1f32.to_bits());
    let y = opposite_rsq(a, &ROOT);
    let x = single::neg(y);
    // 1 - ay² is had with a product of twice f32's bits; then a step of Newton's with its second term. For every number that
    // is what a root and a quotient in f64 give, rounded.
    let t = a.fmul(y);
    let rest = a.ffma(x, t).ffma(y, t.ffma(x, one));
    let r = x.ffma(rest.fmul(rest.ffma(w(0.375f32.to_bits()), w(0.5f32.to_bits()))), x);
    W::rarely(is_odd_one_out(a), r, move || single::unary(a, rsq(single::input(a, FLUSH).f2d()).d2f(), FLUSH))
}
/// V_SQRT_F32.
#[inline(always)]
pub fn sqrt_f32<W: Word>(a: W) -> W {
    single::unary(a, single::input(a, FLUSH).fsqrt(), FLUSH)
}
#[inline(always)]
fn rsq<L: Long>(x: L) -> L {
    d::<L>(1.0).fdiv(x.fsqrt())
}

// Polynomials are those whose greatest relative error is least (Remez). Those in f64 are good for 2⁻⁵², or 2⁻⁴⁸ for what is
// added to a larger number, in which case f32 results hardly ever depend on the way to them, and here never: all numbers
// have been compared with those of longer sums.

/// (2ˣ - 1)/x up to |x| = ½.
const EXPONENTIAL: [f64; 10] = [
    0.693_147_180_559_949_2,
    0.240_226_506_959_091,
    0.055_504_108_664_481_85,
    0.009_618_129_107_983_262,
    0.001_333_355_822_579_635,
    0.000_154_035_299_941_531_45,
    0.000_015_252_659_429_514_336,
    1.321_565_362_039_448e-6,
    1.020_832_269_956_351_5e-7,
    7.038_177_582_943_956e-9,
];
/// sin 2πx/x in x², up to x = ¼.
const SINE: [f64; 8] = [
    6.283_185_307_179_585,
    -41.341_702_240_398_3,
    81.605_249_275_516_75,
    -76.705_859_683_274_37,
    42.058_689_667_267_32,
    -15.094_499_476_390_99,
    3.817_288_655_613_276,
    -0.692_156_985_882_705,
];
/// Logarithms are had by thirty-seconds of an octave's numbers as bits count them. The first of them begins here, so that 1 is
/// in the middle of one, whose reciprocal it has: near zero nothing is taken away from anything.
const FIRST: u32 = 0x3f36_0000;
/// Reciprocals, of so few bits that a number's product with its own, less 1, is exact in f32.
const RECIPROCAL: [u32; 32] = [
    0x3fb4_0000,
    0x3fb0_0000,
    0x3fac_0000,
    0x3fa8_0000,
    0x3fa4_0000,
    0x3fa0_0000,
    0x3f9c_0000,
    0x3f9c_0000,
    0x3f98_0000,
    0x3f94_0000,
    0x3f94_0000,
    0x3f90_0000,
    0x3f8c_0000,
    0x3f8c_0000,
    0x3f88_0000,
    0x3f88_0000,
    0x3f84_0000,
    0x3f84_0000,
    0x3f80_0000,
    0x3f78_0000,
    0x3f70_0000,
    0x3f6c_0000,
    0x3f64_0000,
    0x3f5c_0000,
    0x3f58_0000,
    0x3f54_0000,
    0x3f4c_0000,
    0x3f48_0000,
    0x3f44_0000,
    0x3f40_0000,
    0x3f3c_0000,
    0x3f38_0000,
];
/// Their logarithms, with the other sign: f64's lower and upper halves.
const LOGARITHM: [[u32; 32]; 2] = [
    [
        0x68cb_06cf,
        0xe032_ea0f,
        0xf738_82a1,
        0x891f_1709,
        0xcd9d_0cde,
        0x4bcd_1b8b,
        0xab0e_073a,
        0xab0e_073a,
        0xb902_680a,
        0x2db4_ec94,
        0x2db4_ec94,
        0x39fb_d688,
        0x8cda_79e4,
        0x8cda_79e4,
        0xfac9_1316,
        0xfac9_1316,
        0x758e_fd87,
        0x758e_fd87,
        0x0000_0000,
        0xc9d9_58d5,
        0x96cf_bb4c,
        0xe8f2_fd56,
        0x29ff_acb2,
        0xa7ff_f4cc,
        0xa906_3e35,
        0x5363_f158,
        0xb2ce_c598,
        0x6865_c8ea,
        0x0abf_bd32,
        0x7181_0a5e,
        0xc2d4_5fe4,
        0xfe53_8ab3,
    ],
    [
        0xbfdf_7a85,
        0xbfdd_6753,
        0xbfdb_47eb,
        0xbfd9_1bba,
        0xbfd6_e221,
        0xbfd4_9a78,
        0xbfd2_4407,
        0xbfd2_4407,
        0xbfcf_bc16,
        0xbfca_cf5e,
        0xbfca_cf5e,
        0xbfc5_c01a,
        0xbfc0_8c58,
        0xbfc0_8c58,
        0xbfb6_63f6,
        0xbfb6_63f6,
        0xbfa6_bad3,
        0xbfa6_bad3,
        0x0000_0000,
        0x3fa7_7394,
        0x3fb7_d604,
        0x3fbe_0b1a,
        0x3fc5_63dc,
        0x3fcb_fc67,
        0x3fcf_5fd8,
        0x3fd1_69c0,
        0x3fd4_f6fb,
        0x3fd6_cb0f,
        0x3fd8_a898,
        0x3fda_8ff9,
        0x3fdc_819d,
        0x3fde_7df5,
    ],
];
/// log₂(1 + x)/x up to |x| = 0.0232: 2⁻⁴⁸.
const LOGARITHM_REST: [f64; 7] = [
    std::f64::consts::LOG2_E,
    -0.721_347_520_445_952_1,
    0.480_898_346_968_382_7,
    -0.360_673_731_173_377_9,
    0.288_538_954_623_095_03,
    -0.240_588_313_912_412_84,
    0.206_267_035_224_539_24,
];
/// 1/√(1 + x) for what a guess leaves, |x| up to 0.07: 2⁻²⁵.
const ROOT: [f32; 5] = [1.0, -0.49999824, 0.37500164, -0.3139666, 0.2737943];
/// 2⁻²⁰.
const ROOT_20: [f32; 4] = [0.9999992, -0.50000095, 0.3763034, -0.31283882];
/// The same for f16, whose 65,536 numbers each leave room: 2⁻²³.
const EXPONENTIAL_16: [f32; 5] = [0.69314724, 0.24022235, 0.055503085, 0.009671876, 0.001340726];
/// 2⁻²⁷.
const SINE_16: [f32; 5] = [6.2831855, -41.34168, 81.60211, -76.57412, 39.70954];
/// 2⁻³⁰.
const LOGARITHM_16: [f32; 4] = [2.88539, 0.96179885, 0.5767142, 0.43173993];

/// The sum of coefficients times powers of `x`, in f32. Fused products of f32 are cheap everywhere.
#[inline(always)]
fn polynomial<W: Word, const N: usize>(coefficients: &[f32; N], x: W) -> W {
    let mut s: W = w(coefficients[N - 1].to_bits());
    for &c in coefficients[..N - 1].iter().rev() {
        s = s.ffma(x, w(c.to_bits()));
    }
    s
}

/// The same in f64. Even and odd powers apart: the sums wait for less, and cost one product more.
#[inline(always)]
fn sum<L: Long, const N: usize>(coefficients: &[f64; N], x: L) -> L {
    let x2 = x.fmul(x);
    let mut parts: [L; 2] = [d(coefficients[N - 2]), d(coefficients[N - 1])];
    if N % 2 == 1 {
        parts.swap(0, 1);
    }
    for n in (0..N - 2).rev() {
        parts[n % 2] = parts[n % 2].ffma(x2, d(coefficients[n]));
    }
    parts[1].ffma(x, parts[0])
}

/// 2ˣ for |x| ≤ ½.
#[inline(always)]
fn exp2_fraction<L: Long>(x: L) -> L {
    sum(&EXPONENTIAL, x).ffma(x, d(1.0))
}
/// 2ˣ for |x| below 1,000; a NaN stays one.
#[inline(always)]
fn exp2<L: Long>(x: L) -> L {
    let n = x.frint();
    let power = (n.d2i() + w(1023)).zext().shl(w(52));
    exp2_fraction(x.fsub(n)).fmul(power)
}
/// The largest and smallest powers anybody asks for, f32's and f16's range being much smaller.
#[inline(always)]
fn power<W: Word>(x: W) -> W::Long {
    let limit = w::<W>(200f32.to_bits());
    let x = W::select(limit.flt(x), limit, x);
    let x = W::select(x.flt(single::neg(limit)), single::neg(limit), x);
    exp2(x.f2d())
}
/// A small f32 number's distance from the nearest integer, which is exact, and that integer in the exponent's place.
#[inline(always)]
fn nearest<W: Word>(x: W) -> (W, W) {
    // The sum with 1.5 · 2²³ has no bits for a fraction, and the integer in its lowest ones.
    let large = w::<W>(12_582_912f32.to_bits());
    let n = x.fadd(large);
    (x.fsub(n.fsub(large)), n.shl(w(23)))
}
/// V_EXP_F32.
#[inline(always)]
pub fn exp_f32<W: Word>(a: W) -> W {
    // A normal number's power of two, unless it leaves the range, is added to the exponent.
    let (fraction, integer) = nearest(a);
    let r = exp2_fraction(fraction.f2d()).d2f() + integer;
    W::rarely(!single::abs(a).lt_u(w(126f32.to_bits())), r, move || {
        single::unary(a, power(single::input(a, FLUSH)).d2f(), FLUSH)
    })
}
/// An f32 number above zero that is normal, brought into √½..√2, and the exponent it had.
#[inline(always)]
fn normalized<W: Word>(a: W) -> (W, W) {
    let from_root = a - w(0x3f35_04f4);
    (a - (from_root & w(0xff80_0000)), from_root.sar(w(23)))
}
/// Base-2 logarithm of f32 numbers above zero that are normal. Rounded to f32, it is what a Taylor sum of artanh gives for
/// every one of them.
#[inline(always)]
fn log2<W: Word>(a: W) -> W::Long {
    let from_first = a - w(FIRST);
    let m = a - (from_first & w(0xff80_0000));
    let at = from_first.shr(w(18)) & w(31);
    let [low, high] = &LOGARITHM;
    let whole = from_first.sar(w(23)).i2d().fadd(at.lookup(low).join(at.lookup(high)));
    let x = m.ffma(at.lookup(&RECIPROCAL), w((-1f32).to_bits())).f2d();
    sum(&LOGARITHM_REST, x).ffma(x, whole)
}
/// The logarithm `r` of an f32 number, or what it is of an infinity, of what is not above zero, and of zero.
#[inline(always)]
fn log<W: Word>(a: W, r: W, [infinity, none, zero]: [u32; 3]) -> W {
    let r = W::select(a.eq(w(f32::INFINITY.to_bits())), w(infinity), r);
    let r = W::select(w::<W>(0).flt(a), r, w(none));
    W::select(a.feq(w(0)), w(zero), r)
}
/// V_LOG_F32.
#[inline(always)]
pub fn log_f32<W: Word>(a: W) -> W {
    let r = log2(a).d2f();
    // Only numbers above zero that are normal and finite have one of their own, which is neither NaN nor denormal.
    W::rarely(is_odd_one_out(a), r, move || {
        let x = single::input(a, FLUSH);
        single::unary(a, log(x, r, [0x7f80_0000, 0x7fc0_0000, 0xff80_0000]), FLUSH)
    })
}
/// The part of a number of turns that is left without whole ones: -½ to ½, and exact. Infinities become NaNs.
#[inline(always)]
fn part<W: Word>(x: W) -> W {
    x.fsub(x.frint())
}
/// A part of a turn with the same sine: -¼ to ¼, and exact.
#[inline(always)]
fn folded<W: Word>(r: W) -> W {
    // Beyond a quarter the difference is nearer to zero, and exact.
    let half = w::<W>(0.5f32.to_bits());
    r.fmin(half.fsub(r)).fmax(single::neg(half).fsub(r))
}
/// sin 2πr for -¼ ≤ r ≤ ¼.
#[inline(always)]
fn sin_turns<L: Long>(r: L) -> L {
    r.fmul(sum(&SINE, r.fmul(r)))
}
/// V_SIN_F32: the operand counts turns. Denormals go as the mode says.
#[inline(always)]
pub fn sin_f32<W: Word>(a: W, m: FloatMode) -> W {
    let a = single::input(a, m);
    // The integer is found as a number that has no bits for a fraction. Of a zero it is +0: less that, the zero is itself, which
    // is its sine.
    let large = w::<W>(12_582_912f32.to_bits());
    let part = a.fsub(a.fadd(large).fsub(large));
    let r = sin_turns(folded(part).f2d()).d2f();
    // Where denormals are no operands, they are no results.
    let r = if m.flush_in { r } else { single::output(r, m) };
    // Larger ones are whole halves of turns.
    W::rarely(!single::abs(a).lt_u(w(4_194_304f32.to_bits())), r, move || single::unary(a, a.fsub(a), m))
}
/// V_COS_F32.
#[inline(always)]
pub fn cos_f32<W: Word>(a: W) -> W {
    // Denormals make no difference: 1 is their cosine, flushed or not, and none is a cosine.
    let r = d::<W::Long>(0.25).fsub(single::abs(part(a)).f2d());
    single::settle(sin_turns(r).d2f(), a, a, a)
}

/// V_RCP_F64.
#[inline(always)]
pub fn rcp_f64<L: Long>(a: L, m: FloatMode) -> L {
    let a = double::input(a, m);
    double::unary(a, d::<L>(1.0).fdiv(a), m)
}
/// -1/√a of an f64 above zero, of which this is the upper half: less than 2⁻¹⁹ of it off, which all upper halves have shown.
#[inline(always)]
fn first_guess<L: Long>(h: L::Word) -> L {
    // The fraction's upper bits as an f32 from ½ to 2, and of what that gives an f64's upper half; the lower one is no matter.
    let m = (h.shl(w(3)) & w(0x00ff_ffff)) ^ w(0x3f00_0000);
    let y = opposite_rsq(m, &ROOT_20);
    let y = y.sar(w(3)) + (w::<L::Word>(0xe7f0_0000) - (h.shr(w(1)) & w(0x7ff0_0000)));
    L::join(y, y)
}
/// V_RSQ_F64, less than one unit in the last place off. Hosts take several times as long for a root and a quotient.
#[inline(always)]
pub fn rsq_f64<L: Long>(a: L, m: FloatMode) -> L {
    let h = a.hi();
    let y: L = first_guess(h);
    let x = double::neg(y);
    // 1 - ax², and x · (1 + that)⁻½ by the first terms of its sum; what they leave is below 2⁻⁷⁰.
    let rest = a.fmul(x).ffma(y, d(1.0));
    let slope = rest.ffma(rest.ffma(d(0.3125), d(0.375)), d(0.5));
    let r = x.fmul(rest).ffma(slope, x);
    let normal = (h - w(0x0010_0000)).lt_u(w(0x7fe0_0000));
    L::rarely(!normal, r, move || {
        let a = double::input(a, m);
        double::unary(a, d::<L>(1.0).fdiv(a.fsqrt()), m)
    })
}
/// V_SQRT_F64.
#[inline(always)]
pub fn sqrt_f64<L: Long>(a: L, m: FloatMode) -> L {
    let a = double::input(a, m);
    double::unary(a, a.fsqrt(), m)
}

// f16 functions in f32: rounded to f16, they are the exact ones rounded to f16, for all 65,536 operands. To nearest;
// denormals and overflow as the mode says.

/// Infinite operands.
#[inline(always)]
fn infinite<W: Word>(a: W) -> W::Mask {
    (a & w(0x7fff)).eq(w(0x7c00))
}
/// Zeros.
#[inline(always)]
fn zero<W: Word>(a: W) -> W::Mask {
    (a & w(0x7fff)).eq(w(0))
}
/// V_RCP_F16.
#[inline(always)]
pub fn rcp_f16<W: Word>(a: W, m: HalfMode) -> W {
    let a = half::input(a, m);
    half::finish(a, w::<W>(1f32.to_bits()).fdiv(a.h2f()), zero(a), m)
}
/// V_SQRT_F16.
#[inline(always)]
pub fn sqrt_f16<W: Word>(a: W, m: HalfMode) -> W {
    let a = half::input(a, m);
    half::finish(a, a.h2f().fsqrt(), infinite(a), m)
}
/// V_RSQ_F16.
#[inline(always)]
pub fn rsq_f16<W: Word>(a: W, m: HalfMode) -> W {
    let a = half::input(a, m);
    half::finish(a, w::<W>(1f32.to_bits()).fdiv(a.h2f().fsqrt()), zero(a), m)
}
/// V_EXP_F16.
#[inline(always)]
pub fn exp_f16<W: Word>(a: W, m: HalfMode) -> W {
    let a = half::input(a, m);
    let x = a.h2f();
    let (fraction, integer) = nearest(x);
    // Rounded to odd: one power lies so near to the middle of two f16 that an f32 to nearest would be that middle.
    let one = w(1f32.to_bits());
    let r = fraction.fmul(polynomial(&EXPONENTIAL_16, fraction)).ffma_odd(one, one) + integer;
    W::rarely(!(a & w(0x7fff)).lt_u(w(0x57e0)), half::finish_finite(r, m), move || {
        half::finish(a, power(x).d2f(), infinite(a), m)
    })
}
/// V_LOG_F16.
#[inline(always)]
pub fn log_f16<W: Word>(a: W, m: HalfMode) -> W {
    let a = half::input(a, m);
    let x = a.h2f();
    let (number, e) = normalized(x);
    let one = w(1f32.to_bits());
    let s = number.fsub(one).fdiv(number.fadd(one));
    let r = s.ffma(polynomial(&LOGARITHM_16, s.fmul(s)), e.i2f());
    // Numbers above zero that are finite; widened, they are normal.
    W::rarely(!(a - w(1)).lt_u(w(0x7bff)), half::finish_finite(r, m), move || {
        let r = log(x, r, [0x7f80_0000, 0x7fc0_0000, 0xff80_0000]);
        half::finish(a, r, infinite(a) | zero(a), m)
    })
}
/// sin 2πr for -¼ ≤ r ≤ ¼.
#[inline(always)]
fn sin_turns_16<W: Word>(r: W) -> W {
    r.fmul(polynomial(&SINE_16, r.fmul(r)))
}
/// V_SIN_F16.
#[inline(always)]
pub fn sin_f16<W: Word>(a: W, m: HalfMode) -> W {
    let a = half::input(a, m);
    let x = a.h2f();
    let r = W::select(x.feq(w(0)), x, sin_turns_16(folded(part(x))));
    half::finish(a, r, Mask::zeros(), m)
}
/// V_COS_F16.
#[inline(always)]
pub fn cos_f16<W: Word>(a: W, m: HalfMode) -> W {
    let a = half::input(a, m);
    // Exact: a widened f16's part has no bits below 2⁻²⁴.
    let r = w::<W>(0.25f32.to_bits()).fsub(single::abs(part(a.h2f())));
    half::finish(a, sin_turns_16(r), Mask::zeros(), m)
}
/// The clamp variants of GFX6 and GFX7: infinities become the largest numbers.
#[inline(always)]
pub fn clamp_inf_f32<W: Word>(r: W) -> W {
    W::select((r & w(0x7fff_ffff)).eq(w(0x7f80_0000)), r - w(1), r)
}
/// The same in double precision.
#[inline(always)]
pub fn clamp_inf_f64<L: Long>(r: L) -> L {
    L::select(double::abs(r).eq(d(f64::INFINITY)), r - L::splat(1), r)
}
/// The legacy variants of GFX6 and GFX7: infinities become zeros.
#[inline(always)]
pub fn legacy_inf_f32<W: Word>(r: W) -> W {
    W::select((r & w(0x7fff_ffff)).eq(w(0x7f80_0000)), r & w(0x8000_0000), r)
}
/// V_LOG_CLAMP_F32: the pole at zero becomes the lowest number; an infinite operand's logarithm stays.
#[inline(always)]
pub fn clamp_pole_f32<W: Word>(r: W) -> W {
    W::select(r.eq(w(0xff80_0000)), w(0xff7f_ffff), r)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::S64;

    /// The sign of a · r² - 1, for which the errors of products are products and sums of their own.
    fn beyond(a: f64, r: f64) -> f64 {
        let p = r * r;
        let q = a * p;
        (q - 1.0) + (a.mul_add(p, -q) + a * r.mul_add(r, -p))
    }

    /// 1/√a is between the neighbours of the result: for numbers of both halves of a power of four, next to its ends, and for
    /// the least and the greatest ones.
    #[test]
    fn the_reciprocal_root_is_less_than_one_unit_off() {
        let mut random = 1u64;
        let mut numbers = vec![1.0, 2.0, 4.0, 1f64.next_up(), 2f64.next_down(), 4f64.next_down(), f64::MAX];
        numbers.extend([f64::MIN_POSITIVE, f64::MIN_POSITIVE.next_up(), 0.25, 2f64.powi(1022)]);
        for _ in 0..1_000_000 {
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            numbers.push(f64::from_bits(0x3ff0_0000_0000_0000 + (random >> 11)));
        }
        for a in numbers {
            let r = f64::from_bits(rsq_f64(S64(a.to_bits()), FloatMode::IEEE).0);
            // Scaled by a power of four, so that no product leaves the range.
            let even = ((a.to_bits() >> 52) as i32 - 1023) & !1;
            let (m, s) = (a * 2f64.powi(-even / 2) * 2f64.powi(-even / 2), r * 2f64.powi(even / 2));
            assert!(beyond(m, s.next_down()) < 0.0 && beyond(m, s.next_up()) > 0.0, "1/√{a:e} is not {r:e}");
        }
        for n in -511..=511 {
            let r = rsq_f64(S64(2f64.powi(2 * n).to_bits()), FloatMode::IEEE).0;
            assert_eq!(f64::from_bits(r), 2f64.powi(-n), "of a power of four");
        }
    }
}
