//! Half precision: values in the low 16 bits of a [`Word`], upper bits ignored on the way in and zero on the way out.
//!
//! Everything is computed in f32, which is wide enough that rounding the result again gives the correctly rounded f16: sums
//! to nearest because 24 ≥ 2·11 + 2; products because they are exact; fused sums, and sums in other round modes, because
//! they are rounded to odd first.

use crate::fp::Predicate;
use crate::fp::single;
use crate::lanes::{Long, Word, w};
use crate::mode::{FloatMode, Mode};
use crate::soft::{F16, Round};

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
    W::rarely(is_nan(r), r, move || {
        let ours = W::select(is_nan(c), quiet(c), w(NAN));
        let ours = W::select(is_nan(b), quiet(b), ours);
        W::select(is_nan(a), quiet(a), ours)
    })
}
/// f32 to f16 in a round mode.
#[inline(always)]
fn narrow<W: Word>(a: W, round: Round) -> W {
    match round {
        Round::Nearest => a.f2h(),
        round => a.f2h_round(round),
    }
}
/// The result `r` of a function of `a`, with its NaN, FP16_OVFL and the mode's denormals; `exact` has lanes whose
/// infinity is the function's own.
#[inline(always)]
pub(crate) fn finish<W: Word>(a: W, r: W, exact: W::Mask, m: HalfMode) -> W {
    output(overflow(settle(r, a, a, a), exact, m), m)
}
/// f64 to f16, to nearest.
#[inline(always)]
pub(crate) fn from_f64<L: Long>(a: L) -> L::Word {
    // Rounded to odd in as many bits as an f32 has; what is too small for that is nothing to an f16.
    let lost = L::splat((1 << 29) - 1);
    let odd = L::select((a & lost).eq(L::splat(0)), a, (a & !lost) | L::splat(1 << 29));
    odd.d2f().f2h()
}
/// a · b + c of widened f16, to be rounded to f16.
#[inline(always)]
fn fused<W: Word>(a: W, b: W, c: W, round: Round) -> W {
    let r = a.ffma_odd(b, c);
    match round {
        // An exact zero has the sign that a product of the same sign, or a sum of two negative zeros gives.
        Round::Down => W::select(r.feq(w(0)), ((a ^ b) | c) & w(1 << 31), r),
        _ => r,
    }
}

/// a + b.
#[inline(always)]
pub fn add<W: Word>(a: W, b: W, m: HalfMode) -> W {
    let (a, b) = (input(a, m), input(b, m));
    let r = match m.float.round {
        Round::Nearest => a.h2f().fadd(b.h2f()).f2h(),
        round => narrow(fused(a.h2f(), w(0x3f80_0000), b.h2f(), round), round),
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
    let r = narrow(a.h2f().fmul(b.h2f()), m.float.round);
    output(overflow(settle(r, a, b, b), is_inf(a) | is_inf(b), m), m)
}
/// a · b + c, rounded once.
#[inline(always)]
pub fn fma<W: Word>(a: W, b: W, c: W, m: HalfMode) -> W {
    let (a, b, c) = (input(a, m), input(b, m), input(c, m));
    let r = narrow(fused(a.h2f(), b.h2f(), c.h2f(), m.float.round), m.float.round);
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
    let r = W::rarely(is_nan(a) | is_nan(b), r, move || {
        let r = W::select(is_nan(b), a, r);
        let r = W::select(is_nan(a), b, r);
        if !ieee {
            return r;
        }
        let r = W::select(is_snan(b), quiet(b), r);
        W::select(is_snan(a), quiet(a), r)
    });
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
/// Equal bits, or zeros of either sign.
#[inline(always)]
fn same<W: Word>(x: W, y: W) -> W::Mask {
    x.eq(y) | ((x | y) & w(0x7fff)).eq(w(0))
}
/// Median; the least if one is a NaN.
#[inline(always)]
pub fn med3<W: Word>(a: W, b: W, c: W, m: HalfMode, ieee: bool) -> W {
    let (a, b, c) = (input(a, m), input(b, m), input(c, m));
    // A flushed maximum would not be found among the operands.
    let k = HalfMode { float: FloatMode { flush_in: false, flush_out: false, ..m.float }, ..m };
    let top = max3(a, b, c, k, ieee);
    let r = W::select(
        same(top, a),
        max(b, c, k, ieee),
        W::select(same(top, b), max(a, c, k, ieee), max(a, b, k, ieee)),
    );
    let nan = is_nan(a) | is_nan(b) | is_nan(c);
    output(W::rarely(nan, r, move || min3(a, b, c, k, ieee)), m)
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
#[inline(always)]
pub fn clamp<W: Word>(a: W, dx10: bool) -> W {
    let a = low(a);
    let nan = is_nan(a);
    let negative = !(a & w(0x8000)).eq(w(0));
    let r = W::select(w::<W>(0x3c00).lt_u(a), w(0x3c00), a);
    let r = W::select(negative, w(0), r);
    W::select(nan, if dx10 { w(0) } else { a }, r)
}
/// OMOD: times 2, 4 or ½.
#[inline(always)]
pub fn omod<W: Word>(a: W, omod: u8, m: HalfMode) -> W {
    let factor = match omod {
        1 => 0x4000,
        2 => 0x4400,
        _ => 0x3800,
    };
    let r = mul(a, w(factor), m.flushing());
    W::select((r & w(0x7fff)).eq(w(0)), w(0), r)
}
/// An integer that a function of f32 made of `a`, an [`input`], rounded back to f16, which is exact.
#[inline(always)]
fn rounded_back<W: Word>(a: W, r: W, m: HalfMode) -> W {
    output(settle(r.f2h(), a, a, a), m)
}
/// V_TRUNC_F16.
#[inline(always)]
pub fn trunc<W: Word>(a: W, m: HalfMode) -> W {
    let a = input(a, m);
    rounded_back(a, a.h2f().ftrunc(), m)
}
/// V_FLOOR_F16.
#[inline(always)]
pub fn floor<W: Word>(a: W, m: HalfMode) -> W {
    let a = input(a, m);
    rounded_back(a, a.h2f().ffloor(), m)
}
/// V_CEIL_F16.
#[inline(always)]
pub fn ceil<W: Word>(a: W, m: HalfMode) -> W {
    let a = input(a, m);
    rounded_back(a, single::neg(single::neg(a.h2f()).ffloor()), m)
}
/// V_RNDNE_F16.
#[inline(always)]
pub fn rndne<W: Word>(a: W, m: HalfMode) -> W {
    let a = input(a, m);
    rounded_back(a, a.h2f().frint(), m)
}

/// V_CVT_F16_F32: f32 input by f32's denormal mode, rounding and result by f16's.
#[inline(always)]
pub fn from_f32<W: Word>(a: W, m: &Mode) -> W {
    rounded(crate::fp::single::input(a, m.f32), m)
}
/// An f32 rounded to f16, denormals of its own kept.
#[inline(always)]
pub fn rounded<W: Word>(a: W, m: &Mode) -> W {
    let r = narrow(a, m.f64.round);
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
    output(a.f2h_round(Round::Zero), m.half())
}
/// A value as any f16 instruction passes it on: denormals by the mode, NaNs quiet (V_PACK_B32_F16, which LLVM uses
/// only for such values).
#[inline(always)]
pub fn canonical<W: Word>(a: W, m: HalfMode) -> W {
    let a = input(a, m);
    output(W::select(is_nan(a), quiet(a), a), m)
}
/// V_LDEXP_F16: the exponent is 16 bits.
#[inline(always)]
pub fn ldexp<W: Word>(a: W, n: W, m: HalfMode) -> W {
    let a = input(a, m);
    // Any exponent beyond this over- or underflows; f32's range holds what is left, and the product is exact.
    let n = n.shl(w(16)).sar(w(16)).max_i(w(-64i32 as u32)).min_i(w(64));
    let r = narrow(a.h2f().fmul((n + w(127)).shl(w(23))), m.float.round);
    output(overflow(settle(r, a, a, a), is_inf(a), m), m)
}
/// V_FREXP_EXP_I16_F16.
#[inline(always)]
pub fn frexp_exp<W: Word>(a: W, m: HalfMode) -> W {
    single::frexp_exp(input(a, m).h2f(), FloatMode::IEEE) & w(0xffff)
}
/// V_FREXP_MANT_F16.
#[inline(always)]
pub fn frexp_mant<W: Word>(a: W, m: HalfMode) -> W {
    single::frexp_mant(input(a, m).h2f(), FloatMode::IEEE).f2h()
}
/// V_CMP_CLASS_F16; the classes are those of f32 and f64 ([`single::class`]).
#[inline(always)]
pub fn class<W: Word>(a: W, set: W) -> W::Mask {
    let magnitude = a & w(0x7fff);
    // Zero 0, denormal 1, normal 2, infinite 3: bits 6 to 9 of the set, and with a sign, counting down, 5 to 2.
    let rank = magnitude.min_u(w(1)) + magnitude.shr(w(10)).min_u(w(1)) + (magnitude + w(0x0400)).shr(w(15));
    let bit = (rank ^ a.shl(w(16)).sar(w(31))) + w(6);
    // Signalling 0, quiet 1.
    let bit = W::select(w::<W>(0x7c00).lt_u(magnitude), a.shr(w(9)) & w(1), bit);
    !(set.shr(bit) & w(1)).eq(w(0))
}
/// V_DIV_FIXUP_F16 (manual 12.11).
#[inline(always)]
pub fn div_fixup<W: Word>(q: W, d: W, n: W, m: HalfMode) -> W {
    let (q, d, n) = (input(q, m), input(d, m), input(n, m));
    let sign = (d ^ n) & w(0x8000);
    let (ad, an) = (d & w(0x7fff), n & w(0x7fff));
    let (inf, zero) = (w(0x7c00), w(0));
    let r = output(sign | (q & w(0x7fff)), m);
    let r = W::select(ad.eq(inf) | an.eq(zero), sign, r);
    let r = W::select(ad.eq(zero) | an.eq(inf), sign | inf, r);
    let r = W::select((ad.eq(zero) & an.eq(zero)) | (ad.eq(inf) & an.eq(inf)), w(NAN), r);
    let r = W::select(is_nan(d), quiet(d), r);
    W::select(is_nan(n), quiet(n), r)
}
