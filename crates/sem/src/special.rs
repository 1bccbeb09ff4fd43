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
/// V_RSQ_F32; rsq(-0) is -inf.
#[inline(always)]
pub fn rsq_f32<W: Word>(a: W) -> W {
    // In f32, and a step of Newton's with its second term: rounded, what a root and a quotient in f64 give for every number.
    let y = w::<W>(1f32.to_bits()).fdiv(a.fsqrt()).f2d();
    let rest = d::<W::Long>(1.0).fsub(a.f2d().fmul(y.fmul(y)));
    let r = y.fadd(y.fmul(rest.fmul(d::<W::Long>(0.5).fadd(rest.fmul(d(0.375))))));
    W::rarely(is_odd_one_out(a), r.d2f(), move || {
        single::unary(a, rsq(single::input(a, FLUSH).f2d()).d2f(), FLUSH)
    })
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

// Polynomials are those whose greatest relative error is least (Remez). Those in f64 are good for 2⁻⁵², in which case f32
// results hardly ever depend on the way to them, and here never: all numbers have been compared with those of longer sums.

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
    -41.341_702_240_398_29,
    81.605_249_275_516_75,
    -76.705_859_683_274_37,
    42.058_689_667_267_32,
    -15.094_499_476_390_99,
    3.817_288_655_613_276,
    -0.692_156_985_882_705,
];
/// -1/(2 + x) for x from √½ - 1 to √2 - 1: 2⁻⁹.
const RECIPROCAL: [f32; 3] = [-0.50031925, 0.25499255, -0.11686289];
/// 2 log₂e artanh s/s in s², up to s = (√2 - 1)/(√2 + 1).
const LOGARITHM: [f64; 7] = [
    2.885390081777927,
    0.9617966939243245,
    0.5770780172502986,
    0.41219840147221476,
    0.32061642590635764,
    0.2614431078769894,
    0.24292901908461498,
];
/// The same for f16, whose 65,536 numbers each leave room: 2⁻²³.
const EXPONENTIAL_16: [f32; 5] = [0.69314724, 0.24022235, 0.055503085, 0.009671876, 0.001340726];
/// 2⁻²⁷.
const SINE_16: [f32; 5] = [6.2831855, -41.34168, 81.60211, -76.57412, 39.70954];
/// 2⁻³⁰.
const LOGARITHM_16: [f32; 4] = [2.88539, 0.96179885, 0.5767142, 0.43173993];

/// a + bx.
#[inline(always)]
fn line<L: Long>(a: L, b: L, x: L) -> L {
    b.ffma(x, a)
}
/// The sum of four coefficients times powers of `x`. Halves first: what waits for less is done sooner.
#[inline(always)]
fn cubic<L: Long>(c: [f64; 4], x: L, x2: L) -> L {
    line(line(d(c[0]), d(c[1]), x), line(d(c[2]), d(c[3]), x), x2)
}
/// The sum of coefficients times powers of `x`, in f32. Fused products of f32 are cheap everywhere.
#[inline(always)]
fn polynomial<W: Word, const N: usize>(coefficients: &[f32; N], x: W) -> W {
    let mut s: W = w(coefficients[N - 1].to_bits());
    for &c in coefficients[..N - 1].iter().rev() {
        s = s.ffma(x, w(c.to_bits()));
    }
    s
}

/// 2ˣ for |x| ≤ ½.
#[inline(always)]
fn exp2_fraction<L: Long>(x: L) -> L {
    let [c1, c2, c3, c4, c5, c6, c7, c8, c9, c10] = EXPONENTIAL;
    let x2 = x.fmul(x);
    let x4 = x2.fmul(x2);
    let upper = line(cubic([c6, c7, c8, c9], x, x2), d(c10), x4);
    let s = line(cubic([c2, c3, c4, c5], x, x2), upper, x4);
    line(line(d(1.0), d(c1), x), s, x2)
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
/// Base-2 logarithm of f32 numbers above zero that are normal. Rounded to f32, it is what a Taylor sum of twice the length
/// gives for every one of them.
#[inline(always)]
fn log2<W: Word>(a: W) -> W::Long {
    let (m, e) = normalized(a);
    // ln m = 2 artanh((m - 1)/(m + 1)); the difference is exact. The opposite of 1/(m + 1) is had in f32 to nineteen bits, by a
    // step of Newton's, and of it the quotient, by one with its second term: divisions take several times as long.
    let one = w(1f32.to_bits());
    let n = m.fsub(one);
    let y = polynomial(&RECIPROCAL, n);
    let y = y.ffma(m.fadd(one).ffma(y, one), y).f2d();
    let n = n.f2d();
    let (s, rest) = (n.fmul(y), n.fadd(d(2.0)).ffma(y, d(1.0)));
    let s = line(s, line(rest, rest, rest), s);
    let [c0, c1, c2, c3, c4, c5, c6] = LOGARITHM.map(|c| -c);
    let q = s.fmul(s);
    let q2 = q.fmul(q);
    let upper = line(line(d(c4), d(c5), q), d(c6), q2);
    line(e.i2d(), line(cubic([c0, c1, c2, c3], q, q2), upper, q2.fmul(q2)), s)
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
    let [c0, c1, c2, c3, c4, c5, c6, c7] = SINE;
    let q = r.fmul(r);
    let q2 = q.fmul(q);
    r.fmul(line(cubic([c0, c1, c2, c3], q, q2), cubic([c4, c5, c6, c7], q, q2), q2.fmul(q2)))
}
/// V_SIN_F32: the operand counts turns. Denormals go as the mode says.
#[inline(always)]
pub fn sin_f32<W: Word>(a: W, m: FloatMode) -> W {
    let a = single::input(a, m);
    let r = sin_turns(folded(part(a)).f2d()).d2f();
    // The sine of a zero is the zero.
    single::unary(a, W::select(a.feq(w(0)), a, r), m)
}
/// V_COS_F32.
#[inline(always)]
pub fn cos_f32<W: Word>(a: W, m: FloatMode) -> W {
    let a = single::input(a, m);
    let r = d::<W::Long>(0.25).fsub(single::abs(part(a)).f2d());
    single::unary(a, sin_turns(r).d2f(), m)
}

/// V_RCP_F64.
#[inline(always)]
pub fn rcp_f64<L: Long>(a: L, m: FloatMode) -> L {
    let a = double::input(a, m);
    double::unary(a, d::<L>(1.0).fdiv(a), m)
}
/// V_RSQ_F64.
#[inline(always)]
pub fn rsq_f64<L: Long>(a: L, m: FloatMode) -> L {
    let a = double::input(a, m);
    double::unary(a, rsq(a), m)
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
