//! Functions the hardware only bounds: reciprocals, roots, powers, logarithms, sines. Ours are within its bound, use
//! nothing but IEEE sums, products, quotients and roots, most of them in f64, and so give the same bits on every host.

use crate::fp::{double, single};
use crate::half::{self, HalfMode};
use crate::lanes::{Long, Mask, Word, d, w};
use crate::mode::FloatMode;
use std::f64::consts::{LN_2, PI};

/// These functions of f32 take denormal operands as zeros and flush denormal results (manual 12.8), whatever MODE says.
const FLUSH: FloatMode = FloatMode::FLUSH;

/// V_RCP_F32.
#[inline(always)]
pub fn rcp_f32<W: Word>(a: W) -> W {
    single::unary(a, w::<W>(1f32.to_bits()).fdiv(single::input(a, FLUSH)), FLUSH)
}
/// V_RSQ_F32; rsq(-0) is -inf.
#[inline(always)]
pub fn rsq_f32<W: Word>(a: W) -> W {
    single::unary(a, rsq(single::input(a, FLUSH).f2d()).d2f(), FLUSH)
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

/// 1/n! for n from 0: e^t as a Taylor sum.
const EXPONENTIAL: [f64; 12] = {
    let mut c = [1.0; 12];
    let mut factorial = 1.0;
    let mut n = 1;
    while n < 12 {
        factorial *= n as f64;
        c[n] = 1.0 / factorial;
        n += 1;
    }
    c
};
/// (-1)ⁿ/(2n+1)! for n from 0: sin t/t as a Taylor sum in t². (The next would be below half an
/// ulp of f64 at ½π.)
const SINE: [f64; 10] = {
    let mut c = [1.0; 10];
    let mut factorial = 1.0;
    let mut n = 1;
    while n < 10 {
        factorial *= ((2 * n) * (2 * n + 1)) as f64;
        c[n] = if n % 2 == 0 { 1.0 / factorial } else { -1.0 / factorial };
        n += 1;
    }
    c
};
/// 2 log₂e artanh s/s as a polynomial in s² whose greatest relative error up to s = (√2 - 1)/(√2 + 1) is least (Remez):
/// 2⁻⁵².
const LOGARITHM: [f64; 7] = [
    2.885390081777927,
    0.9617966939243245,
    0.5770780172502986,
    0.41219840147221476,
    0.32061642590635764,
    0.2614431078769894,
    0.24292901908461498,
];
/// The sum of coefficients times powers of `x`. Products and sums are rounded each: not every host has fused ones.
#[inline(always)]
fn polynomial<L: Long, const N: usize>(coefficients: &[f64; N], x: L) -> L {
    let mut s: L = d(coefficients[N - 1]);
    for &c in coefficients[..N - 1].iter().rev() {
        s = s.fmul(x).fadd(d(c));
    }
    s
}

/// 2ˣ for |x| below 1,000; a NaN stays one.
#[inline(always)]
fn exp2<L: Long>(x: L) -> L {
    let n = x.frint();
    // The twelfth power of ½ ln 2 over 12! is below 2⁻²² of an f32 ulp.
    let s = polynomial(&EXPONENTIAL, x.fsub(n).fmul(d(LN_2)));
    let power = (n.d2i() + w(1023)).zext().shl(w(52));
    s.fmul(power)
}
/// The largest and smallest powers anybody asks for, f32's and f16's range being much smaller.
#[inline(always)]
fn power<W: Word>(x: W) -> W::Long {
    let limit = w::<W>(200f32.to_bits());
    let x = W::select(limit.flt(x), limit, x);
    let x = W::select(x.flt(single::neg(limit)), single::neg(limit), x);
    exp2(x.f2d())
}
/// V_EXP_F32.
#[inline(always)]
pub fn exp_f32<W: Word>(a: W) -> W {
    single::unary(a, power(single::input(a, FLUSH)).d2f(), FLUSH)
}
/// Base-2 logarithm of f32 numbers above zero that are normal: that of the number brought into √½..√2, and its exponent.
/// Rounded to f32, it is what quotients and a Taylor sum of twice the length give for every one of them.
#[inline(always)]
fn log2<W: Word>(a: W) -> W::Long {
    let fraction = a & w(0x7f_ffff);
    let above = w::<W>(0x35_04f3).lt_u(fraction);
    let m = fraction | W::select(above, w(0x3f00_0000), w(0x3f80_0000));
    let e = a.shr(w(23)) - W::select(above, w(126), w(127));
    // 1/(m + 1): in f32, and a step of Newton's. ln m = 2 artanh((m - 1)/(m + 1)).
    let one = d::<W::Long>(1.0);
    let y = w::<W>(1f32.to_bits()).fdiv(m.fadd(w(1f32.to_bits()))).f2d();
    let m = m.f2d();
    let y = y.fadd(y.fmul(one.fsub(m.fadd(one).fmul(y))));
    let s = m.fsub(one).fmul(y);
    e.i2d().fadd(s.fmul(polynomial(&LOGARITHM, s.fmul(s))))
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
    let others = !(a - w(0x0080_0000)).lt_u(w(0x7f00_0000));
    W::rarely(others, r, || {
        let x = single::input(a, FLUSH);
        single::unary(a, log(x, r, [0x7f80_0000, 0x7fc0_0000, 0xff80_0000]), FLUSH)
    })
}
/// The part of a number of turns that is left without whole ones: -½ to ½. f32 operands are exact here: the reduction
/// has no error. Infinities become NaNs.
#[inline(always)]
fn part<L: Long>(x: L) -> L {
    x.fsub(x.frint())
}
/// sin 2πr for -½ ≤ r ≤ ½.
#[inline(always)]
fn sin_turns<L: Long>(r: L) -> L {
    let r = L::select(d::<L>(0.25).flt(r), d::<L>(0.5).fsub(r), r);
    let r = L::select(r.flt(d(-0.25)), d::<L>(-0.5).fsub(r), r);
    let t = r.fmul(d(2.0 * PI));
    t.fmul(polynomial(&SINE, t.fmul(t)))
}
/// The sine of a number of turns; that of a zero is the zero.
#[inline(always)]
fn sin<L: Long>(x: L) -> L {
    L::select(x.feq(d(0.0)), x, sin_turns(part(x)))
}
#[inline(always)]
fn cos<L: Long>(x: L) -> L {
    sin_turns(d::<L>(0.25).fsub(double::abs(part(x))))
}
/// V_SIN_F32: the operand counts turns. Denormals go as the mode says.
#[inline(always)]
pub fn sin_f32<W: Word>(a: W, m: FloatMode) -> W {
    let a = single::input(a, m);
    single::unary(a, sin(a.f2d()).d2f(), m)
}
/// V_COS_F32.
#[inline(always)]
pub fn cos_f32<W: Word>(a: W, m: FloatMode) -> W {
    let a = single::input(a, m);
    single::unary(a, cos(a.f2d()).d2f(), m)
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

// f16 functions by their f64 twins: 0.51 ULP, to nearest, denormals and overflow as the mode says.

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
    let r = d::<W::Long>(1.0).fdiv(a.h2f().f2d());
    half::finish(a, half::from_f64(r), zero(a), m)
}
/// V_SQRT_F16.
#[inline(always)]
pub fn sqrt_f16<W: Word>(a: W, m: HalfMode) -> W {
    let a = half::input(a, m);
    half::finish(a, half::from_f64(a.h2f().f2d().fsqrt()), infinite(a), m)
}
/// V_RSQ_F16.
#[inline(always)]
pub fn rsq_f16<W: Word>(a: W, m: HalfMode) -> W {
    let a = half::input(a, m);
    half::finish(a, half::from_f64(rsq(a.h2f().f2d())), zero(a), m)
}
/// V_EXP_F16.
#[inline(always)]
pub fn exp_f16<W: Word>(a: W, m: HalfMode) -> W {
    let a = half::input(a, m);
    half::finish(a, half::from_f64(power(a.h2f())), infinite(a), m)
}
/// V_LOG_F16.
#[inline(always)]
pub fn log_f16<W: Word>(a: W, m: HalfMode) -> W {
    let a = half::input(a, m);
    let x = a.h2f();
    let r = log(x, half::from_f64(log2(x)), [0x7c00, 0x7e00, 0xfc00]);
    half::finish(a, r, infinite(a) | zero(a), m)
}
/// V_SIN_F16.
#[inline(always)]
pub fn sin_f16<W: Word>(a: W, m: HalfMode) -> W {
    let a = half::input(a, m);
    half::finish(a, half::from_f64(sin(a.h2f().f2d())), Mask::zeros(), m)
}
/// V_COS_F16.
#[inline(always)]
pub fn cos_f16<W: Word>(a: W, m: HalfMode) -> W {
    let a = half::input(a, m);
    half::finish(a, half::from_f64(cos(a.h2f().f2d())), Mask::zeros(), m)
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
