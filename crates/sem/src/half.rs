//! Half precision: values in the low 16 bits of a [`Word`], upper bits ignored on the way in and zero on the way out.
//!
//! Everything is computed in f32, which is wide enough that rounding the result again gives the correctly rounded f16: sums
//! to nearest because 24 ≥ 2·11 + 2; products because they are exact; fused sums, and sums in other round modes, because
//! they are rounded to odd first.

use crate::fp::Predicate;
use crate::fp::single;
use crate::lanes::{Mask, Word, w};
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
/// Replaces whatever NaN `r` is, the f16 of `wide`, by ours.
#[inline(always)]
fn settle<W: Word>(r: W, wide: W, a: W, b: W, c: W) -> W {
    W::rarely(wide.funord(wide), r, move || {
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
/// The result `r` of a function of `a`, an f32 to be rounded to nearest, with its NaN, FP16_OVFL and the mode's denormals;
/// `exact` has lanes whose infinity is the function's own.
#[inline(always)]
pub(crate) fn finish<W: Word>(a: W, r: W, exact: W::Mask, m: HalfMode) -> W {
    output(overflow(settle(r.f2h(), r, a, a, a), exact, m), m)
}
/// The same of a result that is no NaN, and of no infinity.
#[inline(always)]
pub(crate) fn finish_finite<W: Word>(r: W, m: HalfMode) -> W {
    output(overflow(r.f2h(), Mask::zeros(), m), m)
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

/// a + b of widened f16, to be rounded to f16.
#[inline(always)]
fn sum<W: Word>(a: W, b: W, round: Round) -> W {
    match round {
        Round::Nearest => a.fadd(b),
        round => fused(a, w(0x3f80_0000), b, round),
    }
}

/// a + b.
#[inline(always)]
pub fn add<W: Word>(a: W, b: W, m: HalfMode) -> W {
    let (a, b) = (input(a, m), input(b, m));
    let r = sum(a.h2f(), b.h2f(), m.float.round);
    output(overflow(settle(narrow(r, m.float.round), r, a, b, b), is_inf(a) | is_inf(b), m), m)
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
    let r = a.h2f().fmul(b.h2f());
    output(overflow(settle(narrow(r, m.float.round), r, a, b, b), is_inf(a) | is_inf(b), m), m)
}
/// a · b + c, rounded once.
#[inline(always)]
pub fn fma<W: Word>(a: W, b: W, c: W, m: HalfMode) -> W {
    let (a, b, c) = (input(a, m), input(b, m), input(c, m));
    let r = fused(a.h2f(), b.h2f(), c.h2f(), m.float.round);
    output(overflow(settle(narrow(r, m.float.round), r, a, b, c), is_inf(a) | is_inf(b) | is_inf(c), m), m)
}
/// a · b + c, rounded twice, without denormals (manual 12.11, V_MAD_F16).
#[inline(always)]
pub fn mad<W: Word>(a: W, b: W, c: W, m: HalfMode) -> W {
    let (x, y, z) = (widened(a), widened(b), widened(c));
    let (a, b, c) = (low(a), low(b), low(c));
    let exact = x.fmul(y);
    let p = exact.fhalf(m.float.round);
    let p = match m.ovfl {
        true => {
            let inf = single::abs(p).eq(w(0x7f80_0000)) & !(is_inf(a) | is_inf(b));
            W::select(inf, (p & w(1 << 31)) | w(65504f32.to_bits()), p)
        }
        false => p,
    };
    let q = W::select(rounds_to_denormal(exact, p, m.float.round), p & w(1 << 31), p);
    let s = sum(q, z, m.float.round);
    let r = narrow(s, m.float.round);
    let r = W::rarely(s.funord(s), r, move || {
        // The product's NaN is the sum's, too: what it would be comes before the other operand.
        let ours = W::select(is_nan(c), quiet(c), w(NAN));
        let ours = W::select(p.funord(p), w(NAN), ours);
        let ours = W::select(is_nan(b), quiet(b), ours);
        W::select(is_nan(a), quiet(a), ours)
    });
    let r = overflow(r, is_inf(c) | single::abs(q).eq(w(0x7f80_0000)), m);
    flush(r)
}
/// Whether an f32 number becomes an f16 denormal, or zero: `r`, as f32. To nearest, the number itself tells, and sooner.
#[inline(always)]
fn rounds_to_denormal<W: Word>(a: W, r: W, round: Round) -> W::Mask {
    match round {
        // Half a unit below the least f16 that is no denormal; that is the even one.
        Round::Nearest => single::abs(a).lt_u(w(0x387f_e000)),
        _ => single::abs(r).lt_u(w(0x3880_0000)),
    }
}
/// An f16, denormals being zeros, as f32.
#[inline(always)]
pub(crate) fn widened<W: Word>(a: W) -> W {
    a.h2f().flush(a, w(0x7c00))
}
/// Whether nothing is to be done about results but to round them to nearest.
#[inline(always)]
pub(crate) fn is_plain(m: HalfMode) -> bool {
    m.float == FloatMode::IEEE && !m.ovfl
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
#[inline(always)]
fn pick<W: Word>(a: W, b: W, m: HalfMode, ieee: bool, greater: bool) -> W {
    let (a, b) = (input(a, m), input(b, m));
    let (x, y) = (a.h2f(), b.h2f());
    let r = if greater { x.fmax(y) } else { x.fmin(y) }.f2h();
    let r = W::rarely(x.funord(y), r, move || {
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
    let (x, y, z) = (input(a, m).h2f(), input(b, m).h2f(), input(c, m).h2f());
    W::rarely(x.funord(y) | z.funord(z), output(x.fmin(y).fmin(z).f2h(), m), move || {
        min(min(a, b, m, ieee), c, m, ieee)
    })
}
/// Greatest of three.
#[inline(always)]
pub fn max3<W: Word>(a: W, b: W, c: W, m: HalfMode, ieee: bool) -> W {
    let (x, y, z) = (input(a, m).h2f(), input(b, m).h2f(), input(c, m).h2f());
    W::rarely(x.funord(y) | z.funord(z), output(x.fmax(y).fmax(z).f2h(), m), move || {
        max(max(a, b, m, ieee), c, m, ieee)
    })
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
    let (x, y, z) = (a.h2f(), b.h2f(), c.h2f());
    let (less, more) = (x.fmin(y), x.fmax(y));
    let r = less.fmax(more.fmin(z)).f2h();
    // Zeros of either sign are the same where they are greatest.
    let zero = more.fmax(z).feq(w(0));
    let nan = x.funord(y) | z.funord(z);
    let r = W::rarely(zero | nan, r, move || {
        let top = max3(a, b, c, k, ieee);
        let others = W::select(same(top, b), max(a, c, k, ieee), max(a, b, k, ieee));
        let r = W::select(same(top, a), max(b, c, k, ieee), others);
        W::select(nan, min3(a, b, c, k, ieee), r)
    });
    output(r, m)
}
/// Comparison by predicate.
#[inline(always)]
pub fn compare<W: Word>(a: W, b: W, p: Predicate, m: HalfMode) -> W::Mask {
    single::compare(input(a, m).h2f(), input(b, m).h2f(), p, FloatMode::IEEE)
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
    output(settle(r.f2h(), r, a, a, a), m)
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
/// V_FRACT_F16: the distance to the integer below, less than one.
#[inline(always)]
pub fn fract<W: Word>(a: W, m: HalfMode) -> W {
    let a = input(a, m);
    let x = a.h2f();
    let r = sum(x, single::neg(x.ffloor()), m.float.round);
    let r = output(settle(narrow(r, m.float.round), r, a, a, a), m);
    W::select(r.eq(w(0x3c00)), w(0x3bff), r)
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
    let r = a.h2f().fmul((n + w(127)).shl(w(23)));
    output(overflow(settle(narrow(r, m.float.round), r, a, a, a), is_inf(a), m), m)
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
