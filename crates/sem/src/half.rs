//! Half precision: values in the low 16 bits of a [`Word`], upper bits ignored on the way in and zero on the way out.
//!
//! Sums and products are computed in f32, fused ones in f64; both are wide enough that rounding the result again gives
//! the correctly rounded f16 (24 ≥ 2·11 + 2; for the fused sum no f64 rounding can land on an f16 tie that the exact
//! sum missed, because whenever the f64 sum is inexact the smaller term lies more than 31 binary places below).

use crate::fp::Predicate;
use crate::lanes::{Mask, Word, w};
use crate::mode::{FloatMode, Mode};
use crate::soft::{self, F16, F32, Round};

/// Mode of half-precision operations: FP_ROUND and FP_DENORM of f64/f16, and FP16_OVFL.
#[derive(Clone, Copy, Debug)]
pub struct HalfMode {
    /// Rounding and denormals.
    pub float: FloatMode,
    /// Overflow gives the largest finite number.
    pub ovfl: bool,
}

impl HalfMode {
    /// The same with denormals flushed.
    #[must_use]
    pub fn flushing(self) -> HalfMode {
        HalfMode { float: self.float.flushing(), ..self }
    }
}

impl Mode {
    /// The mode of f16 instructions.
    #[inline(always)]
    pub fn half(&self) -> HalfMode {
        HalfMode { float: self.f64, ovfl: self.fp16_ovfl }
    }
}

const NAN: u32 = F16.default_nan() as u32;

#[inline(always)]
fn low<W: Word>(a: W) -> W {
    a & w(0xffff)
}
/// NaN.
#[inline(always)]
pub fn is_nan<W: Word>(a: W) -> W::Mask {
    w::<W>(0x7c00).lt_u(a & w(0x7fff))
}
#[inline(always)]
fn is_snan<W: Word>(a: W) -> W::Mask {
    is_nan(a) & (a & w(0x200)).eq(w(0))
}
#[inline(always)]
fn quiet<W: Word>(a: W) -> W {
    a | w(0x200)
}
/// Denormals become zeros of their sign.
#[inline(always)]
pub fn flush<W: Word>(a: W) -> W {
    W::select((a & w(0x7c00)).eq(w(0)), a & w(0x8000), a)
}
/// An input as the mode wants it.
#[inline(always)]
pub fn input<W: Word>(a: W, m: HalfMode) -> W {
    let a = low(a);
    if m.float.flush_in { flush(a) } else { a }
}
#[inline(always)]
fn output<W: Word>(r: W, m: HalfMode) -> W {
    if m.float.flush_out { flush(r) } else { r }
}

/// FP16_OVFL (manual 3.5): an infinity that no operand was becomes the largest number.
#[inline(always)]
fn overflow<W: Word>(r: W, exact_inf: W::Mask, m: HalfMode) -> W {
    if !m.ovfl {
        return r;
    }
    let inf = (r & w(0x7fff)).eq(w(0x7c00)) & !exact_inf;
    W::select(inf, (r & w(0x8000)) | w(0x7bff), r)
}
#[inline(always)]
fn is_inf<W: Word>(a: W) -> W::Mask {
    (a & w(0x7fff)).eq(w(0x7c00))
}
#[inline(always)]
fn settle<W: Word>(r: W, a: W, b: W, c: W) -> W {
    let nan = is_nan(r);
    if !nan.maybe_any() {
        return r;
    }
    let out = settle_nan(r, a, b, c);
    W::select(nan, out, r)
}
#[cold]
#[inline(never)]
fn settle_nan<W: Word>(r: W, a: W, b: W, c: W) -> W {
    let nan = is_nan(r);
    let ours = W::select(is_nan(c), quiet(c), w(NAN));
    let ours = W::select(is_nan(b), quiet(b), ours);
    let ours = W::select(is_nan(a), quiet(a), ours);
    W::select(nan, ours, r)
}

// What is rare is kept out of line, so that the common case stays small.
#[cold]
#[inline(never)]
fn add_soft<W: Word>(a: W, b: W, round: Round) -> W {
    a.map2(b, |a, b| soft::add(F16, a as u64, b as u64, round) as u32)
}
#[cold]
#[inline(never)]
fn mul_soft<W: Word>(a: W, b: W, round: Round) -> W {
    a.map2(b, |a, b| soft::mul(F16, a as u64, b as u64, round) as u32)
}
#[cold]
#[inline(never)]
fn fma_soft<W: Word>(a: W, b: W, c: W, round: Round) -> W {
    a.map3(b, c, |a, b, c| soft::fma(F16, a as u64, b as u64, c as u64, round) as u32)
}

/// a + b.
#[inline(always)]
pub fn add<W: Word>(a: W, b: W, m: HalfMode) -> W {
    let (a, b) = (input(a, m), input(b, m));
    let r = match m.float.round {
        Round::Nearest => a.h2f().fadd(b.h2f()).f2h(),
        round => W::select(W::Mask::ones(), add_soft(a, b, round), a),
    };
    output(overflow(settle(r, a, b, b), is_inf(a) | is_inf(b), m), m)
}
/// a - b.
#[inline(always)]
pub fn sub<W: Word>(a: W, b: W, m: HalfMode) -> W {
    add(a, b ^ w(0x8000), m)
}
/// b - a.
#[inline(always)]
pub fn subrev<W: Word>(a: W, b: W, m: HalfMode) -> W {
    add(b, a ^ w(0x8000), m)
}
/// a · b.
#[inline(always)]
pub fn mul<W: Word>(a: W, b: W, m: HalfMode) -> W {
    let (a, b) = (input(a, m), input(b, m));
    let r = match m.float.round {
        Round::Nearest => a.h2f().fmul(b.h2f()).f2h(),
        round => W::select(W::Mask::ones(), mul_soft(a, b, round), a),
    };
    output(overflow(settle(r, a, b, b), is_inf(a) | is_inf(b), m), m)
}
/// f64 sum of an exact product, rounded to f16.
fn fma_nearest(a: u32, b: u32, c: u32) -> u32 {
    let d = |h: u32| f32::from_bits(soft::h2f(h)) as f64;
    let s = d(a) * d(b) + d(c);
    soft::convert(soft::F64, F16, s.to_bits(), Round::Nearest) as u32
}
/// a · b + c, rounded once.
#[inline(always)]
pub fn fma<W: Word>(a: W, b: W, c: W, m: HalfMode) -> W {
    let (a, b, c) = (input(a, m), input(b, m), input(c, m));
    let r = match m.float.round {
        Round::Nearest => a.map3(b, c, fma_nearest),
        round => W::select(W::Mask::ones(), fma_soft(a, b, c, round), a),
    };
    output(overflow(settle(r, a, b, c), is_inf(a) | is_inf(b) | is_inf(c), m), m)
}
/// a · b + c, rounded twice, without denormals (manual 12.11, V_MAD_F16).
#[inline(always)]
pub fn mad<W: Word>(a: W, b: W, c: W, m: HalfMode) -> W {
    let m = m.flushing();
    add(mul(a, b, m), c, m)
}
/// V_MIN_F16.
#[inline(always)]
pub fn min<W: Word>(a: W, b: W, m: HalfMode, ieee: bool) -> W {
    pick(a, b, m, ieee, false)
}
/// V_MAX_F16.
#[inline(always)]
pub fn max<W: Word>(a: W, b: W, m: HalfMode, ieee: bool) -> W {
    pick(a, b, m, ieee, true)
}
/// A number whose signed order is the floats' order, -0 below +0.
#[inline(always)]
fn order<W: Word>(a: W) -> W {
    let s = a.shl(w(16)).sar(w(16));
    // Negative numbers: flip the magnitude.
    s ^ (s.sar(w(31)) & w(0x7fff))
}
#[inline(always)]
fn pick<W: Word>(a: W, b: W, m: HalfMode, ieee: bool, greater: bool) -> W {
    let (a, b) = (input(a, m), input(b, m));
    let less = order(a).lt_i(order(b));
    let r = if greater { W::select(less, b, a) } else { W::select(less, a, b) };
    let (nan_a, nan_b) = (is_nan(a), is_nan(b));
    let r = if (nan_a | nan_b).maybe_any() {
        let r = W::select(nan_b, a, r);
        let r = W::select(nan_a, b, r);
        if ieee {
            let r = W::select(is_snan(b), quiet(b), r);
            W::select(is_snan(a), quiet(a), r)
        } else {
            r
        }
    } else {
        r
    };
    output(r, m)
}
/// Least of three.
#[inline(always)]
pub fn min3<W: Word>(a: W, b: W, c: W, m: HalfMode, ieee: bool) -> W {
    min(min(a, b, m, ieee), c, m, ieee)
}
/// Greatest of three.
#[inline(always)]
pub fn max3<W: Word>(a: W, b: W, c: W, m: HalfMode, ieee: bool) -> W {
    max(max(a, b, m, ieee), c, m, ieee)
}
/// Median; the least if one is a NaN.
#[inline(always)]
pub fn med3<W: Word>(a: W, b: W, c: W, m: HalfMode, ieee: bool) -> W {
    let (a, b, c) = (input(a, m), input(b, m), input(c, m));
    // A flushed maximum would not be found among the operands.
    let k = HalfMode { float: FloatMode { flush_in: false, flush_out: false, ..m.float }, ..m };
    let top = max3(a, b, c, k, ieee);
    let same = |x: W, y: W| x.eq(y) | ((x | y) & w(0x7fff)).eq(w(0));
    let r = W::select(
        same(top, a),
        max(b, c, k, ieee),
        W::select(same(top, b), max(a, c, k, ieee), max(a, b, k, ieee)),
    );
    let nan = is_nan(a) | is_nan(b) | is_nan(c);
    output(W::select(nan, min3(a, b, c, k, ieee), r), m)
}
/// Comparison by predicate.
#[inline(always)]
pub fn compare<W: Word>(a: W, b: W, p: Predicate, m: HalfMode) -> W::Mask {
    let (a, b) = (input(a, m), input(b, m));
    let unordered = is_nan(a) | is_nan(b);
    let eq = (a.eq(b) | ((a | b) & w(0x7fff)).eq(w(0))) & !unordered;
    let lt = order(a).lt_i(order(b)) & !eq & !unordered;
    p.of(lt, eq, unordered)
}
/// CLAMP to 0..1.
#[inline(never)]
pub fn clamp<W: Word>(a: W, dx10: bool) -> W {
    let a = low(a);
    let nan = is_nan(a);
    let negative = !(a & w(0x8000)).eq(w(0));
    let r = W::select(w::<W>(0x3c00).lt_u(a), w(0x3c00), a);
    let r = W::select(negative, w(0), r);
    W::select(nan, if dx10 { w(0) } else { a }, r)
}
/// OMOD: times 2, 4 or ½.
#[inline(never)]
pub fn omod<W: Word>(a: W, omod: u8, m: HalfMode) -> W {
    let factor = match omod {
        1 => 0x4000,
        2 => 0x4400,
        _ => 0x3800,
    };
    let r = mul(a, w(factor), m.flushing());
    W::select((r & w(0x7fff)).eq(w(0)), w(0), r)
}
/// A function of f32 applied to f16 and rounded back: exact for rounding functions, and within 0.51 ULP for functions
/// whose f32 result is.
#[inline(always)]
pub fn through_f32<W: Word>(a: W, m: HalfMode, f: impl Fn(W) -> W) -> W {
    let a = input(a, m);
    let r = f(a.h2f());
    let r = match m.float.round {
        Round::Nearest => r.f2h(),
        round => r.map1(|r| soft::f2h(r, round)),
    };
    output(settle(r, a, a, a), m)
}

/// V_CVT_F16_F32: f32 input by f32's denormal mode, rounding and result by f16's.
#[inline(always)]
pub fn from_f32<W: Word>(a: W, m: &Mode) -> W {
    rounded(crate::fp::single::input(a, m.f32), m)
}
/// An f32 rounded to f16, denormals of its own kept.
#[inline(always)]
pub fn rounded<W: Word>(a: W, m: &Mode) -> W {
    let r = match m.f64.round {
        Round::Nearest => a.f2h(),
        round => a.map1(|a| soft::f2h(a, round)),
    };
    let exact_inf = (a & w(0x7fff_ffff)).eq(w(0x7f80_0000));
    output(overflow(r, exact_inf, m.half()), m.half())
}
/// V_CVT_F32_F16.
#[inline(always)]
pub fn to_f32<W: Word>(a: W, m: &Mode) -> W {
    let a = input(a, m.half());
    W::select(is_nan(a), quiet(a), a).h2f()
}
/// f32 to f16 toward zero (V_CVT_PKRTZ_F16_F32), denormals of both by their modes.
#[inline(always)]
pub fn from_f32_rtz<W: Word>(a: W, m: &Mode) -> W {
    let a = crate::fp::single::input(a, m.f32);
    output(a.map1(|a| soft::convert(F32, F16, a as u64, Round::Zero) as u32), m.half())
}
/// A value as any f16 instruction passes it on: denormals by the mode, NaNs quiet (V_PACK_B32_F16, which LLVM uses
/// only for such values).
#[inline(always)]
pub fn canonical<W: Word>(a: W, m: HalfMode) -> W {
    let a = input(a, m);
    output(W::select(is_nan(a), quiet(a), a), m)
}
/// V_LDEXP_F16: the exponent is 16 bits.
pub fn ldexp(a: u32, n: u32, m: HalfMode) -> u32 {
    let a = if m.float.flush_in { F16.flush(a as u64 & 0xffff) } else { a as u64 & 0xffff };
    let r = soft::ldexp(F16, a, n as u16 as i16 as i32, m.float.round);
    let r = if m.ovfl && r & 0x7fff == 0x7c00 && a & 0x7fff != 0x7c00 { r - 1 } else { r };
    (if m.float.flush_out { F16.flush(r) } else { r }) as u32
}
/// V_FREXP_EXP_I16_F16.
pub fn frexp_exp(a: u32, m: HalfMode) -> u32 {
    let a = if m.float.flush_in { F16.flush(a as u64 & 0xffff) as u32 } else { a & 0xffff };
    crate::fp::single::frexp_exp(soft::h2f(a), FloatMode::IEEE) & 0xffff
}
/// V_FREXP_MANT_F16.
pub fn frexp_mant(a: u32, m: HalfMode) -> u32 {
    let a = if m.float.flush_in { F16.flush(a as u64 & 0xffff) as u32 } else { a & 0xffff };
    soft::f2h_nearest(crate::fp::single::frexp_mant(soft::h2f(a), FloatMode::IEEE))
}
/// V_CMP_CLASS_F16.
pub fn class(a: u32, set: u32) -> bool {
    // Widening makes denormals normal numbers; put their class back.
    let h = a & 0xffff;
    if F16.is_denormal(h as u64) {
        return set >> if h & 0x8000 != 0 { 4 } else { 7 } & 1 != 0;
    }
    crate::fp::single::class(soft::h2f(h), set)
}
/// V_DIV_FIXUP_F16 (manual 12.11).
pub fn div_fixup(q: u32, d: u32, n: u32, m: HalfMode) -> u32 {
    let f = |x: u32| if m.float.flush_in { F16.flush(x as u64 & 0xffff) as u32 } else { x & 0xffff };
    let (q, d, n) = (f(q), f(d), f(n));
    let sign = (d ^ n) & 0x8000;
    let (ad, an) = (d & 0x7fff, n & 0x7fff);
    if an > 0x7c00 {
        n | 0x200
    } else if ad > 0x7c00 {
        d | 0x200
    } else if ad == 0 && an == 0 || ad == 0x7c00 && an == 0x7c00 {
        NAN
    } else if ad == 0 || an == 0x7c00 {
        sign | 0x7c00
    } else if ad == 0x7c00 || an == 0 {
        sign
    } else {
        let r = sign | q & 0x7fff;
        if m.float.flush_out { F16.flush(r as u64) as u32 } else { r }
    }
}
