//! Float exceptions: which of TRAPSTS' flags an instruction raises (manual 3.10).
//!
//! The vector meanings compute results, not flags: an engine asks here, lane by lane, when somebody can see the flags:
//! the program reads TRAPSTS, or MODE.EXCP_EN lets an exception trap. The definitions are IEEE 754's; where it leaves a
//! choice, tininess is detected after rounding, and a result that MODE flushes to zero has underflowed. An operand that
//! MODE flushes is a zero and no denormal.
//!
//! The manual's own rules: V_CVT to integers is inexact only with CLAMP; V_CMP is invalid for a NaN only with CLAMP
//! (V_CMPS of GFX6 and GFX7 always); V_RCP_IFLAG raises nothing but integer division by zero; V_DIV_FIXUP raises
//! invalid, denormal and division by zero for the division it ends; V_EXP_F32, LOG, RCP, RSQ and SQRT flush denormals
//! whatever MODE says; V_DOT and the matrix core raise nothing.

use crate::compare::{Compare, Type};
use crate::hwreg::trapsts::{
    DIVIDE_BY_ZERO, INEXACT, INPUT_DENORMAL, INT_DIVIDE_BY_ZERO, INVALID, OVERFLOW, UNDERFLOW,
};
use crate::mode::{FloatMode, Mode};
use crate::soft::{self, F16, F32, F64, Format, Number, Round};
use wavemill_isa::Op;

/// How an instruction's flags follow from its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// S0 + S1, with either negated.
    Add(Format, bool, bool),
    /// S0 · S1.
    Mul(Format),
    /// 0 · x = 0, else as [`Rule::Mul`].
    MulLegacy,
    /// S0 · S1 + S2, rounded once.
    Fma(Format),
    /// S0 · S1 + S2, rounded after each step; the flag says that 0 · x = 0.
    Mad(Format, bool),
    /// V_DIV_FMAS: input denormals are kept.
    DivFmas(Format),
    /// V_DIV_FIXUP: quotient, denominator, numerator.
    DivFixup(Format),
    /// Chooses among this many operands, or rounds one to an integer: signalling NaNs only.
    Choose(Format, u8),
    /// To an integer of this many bits, signed or not.
    ToInt(Format, u32, bool),
    /// From a signed or unsigned integer of this many bits.
    FromInt(Format, u32, bool),
    /// From one format to another.
    Convert(Format, Format),
    /// 1 / S0.
    Rcp(Format),
    /// 1 / √S0.
    Rsq(Format),
    /// √S0.
    Sqrt(Format),
    /// log₂ S0.
    Log(Format),
    /// 2 to the S0.
    Exp(Format),
    /// Sine and cosine.
    Trig(Format),
    /// S0 · 2 to the integer S1.
    Ldexp(Format),
    /// 1 / S0 for integer division.
    RcpIflag,
    /// V_FMA_MIXLO and the like: a step in f32, fused or not, whose result becomes an f16.
    MixHalf(bool),
    /// V_CVT_PKRTZ: both sources become f16, rounded toward zero.
    PackRtz,
    /// Two f16 in a dword.
    PackedHalf(Packed),
    /// Two f32.
    PackedSingle(Packed),
}

/// Operations on pairs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // the names say it
pub enum Packed {
    Add,
    Mul,
    Fma,
    Choose,
}

impl Packed {
    fn rule(self, f: Format) -> Rule {
        match self {
            Packed::Add => Rule::Add(f, false, false),
            Packed::Mul => Rule::Mul(f),
            Packed::Fma => Rule::Fma(f),
            Packed::Choose => Rule::Choose(f, 2),
        }
    }
}

impl Rule {
    /// The rule of an instruction; none raises nothing.
    pub fn of(op: Op) -> Option<Rule> {
        use Rule::*;
        Some(match op {
            Op::v_add_f16 => Add(F16, false, false),
            Op::v_add_f32 => Add(F32, false, false),
            Op::v_add_f64 => Add(F64, false, false),
            Op::v_sub_f16 => Add(F16, false, true),
            Op::v_sub_f32 => Add(F32, false, true),
            Op::v_subrev_f16 => Add(F16, true, false),
            Op::v_subrev_f32 => Add(F32, true, false),
            Op::v_mul_f16 => Mul(F16),
            Op::v_mul_f32 => Mul(F32),
            Op::v_mul_f64 => Mul(F64),
            Op::v_mul_legacy_f32 | Op::v_mul_legacy_f32_gfx6 => MulLegacy,
            Op::v_fma_f16 | Op::v_fma_legacy_f16 => Fma(F16),
            Op::v_fma_f32 | Op::v_fmac_f32 => Fma(F32),
            Op::v_fma_f64 | Op::v_fmac_f64 => Fma(F64),
            Op::v_mad_f16 | Op::v_mad_legacy_f16 | Op::v_mac_f16 | Op::v_madmk_f16 | Op::v_madak_f16 => {
                Mad(F16, false)
            }
            Op::v_mad_f32 | Op::v_mac_f32 | Op::v_madmk_f32 | Op::v_madak_f32 => Mad(F32, false),
            Op::v_mad_legacy_f32 | Op::v_mac_legacy_f32 => Mad(F32, true),
            Op::v_fma_mix_f32 => Fma(F32),
            Op::v_mad_mix_f32 => Mad(F32, false),
            Op::v_fma_mixlo_f16 | Op::v_fma_mixhi_f16 => MixHalf(true),
            Op::v_mad_mixlo_f16 | Op::v_mad_mixhi_f16 => MixHalf(false),
            Op::v_cvt_pkrtz_f16_f32 | Op::v_cvt_pkrtz_f16_f32_gfx6 => PackRtz,
            Op::v_div_fmas_f32 => DivFmas(F32),
            Op::v_div_fmas_f64 => DivFmas(F64),
            Op::v_div_fixup_f16 | Op::v_div_fixup_legacy_f16 => DivFixup(F16),
            Op::v_div_fixup_f32 => DivFixup(F32),
            Op::v_div_fixup_f64 => DivFixup(F64),
            Op::v_min_f16 | Op::v_max_f16 => Choose(F16, 2),
            Op::v_min_f32 | Op::v_max_f32 | Op::v_min_legacy_f32 | Op::v_max_legacy_f32 => Choose(F32, 2),
            Op::v_min_f64 | Op::v_max_f64 => Choose(F64, 2),
            Op::v_min3_f16 | Op::v_max3_f16 | Op::v_med3_f16 => Choose(F16, 3),
            Op::v_min3_f32 | Op::v_max3_f32 | Op::v_med3_f32 => Choose(F32, 3),
            Op::v_floor_f16
            | Op::v_ceil_f16
            | Op::v_trunc_f16
            | Op::v_rndne_f16
            | Op::v_fract_f16
            | Op::v_frexp_mant_f16
            | Op::v_frexp_exp_i16_f16 => Choose(F16, 1),
            Op::v_floor_f32
            | Op::v_ceil_f32
            | Op::v_trunc_f32
            | Op::v_rndne_f32
            | Op::v_fract_f32
            | Op::v_frexp_mant_f32
            | Op::v_frexp_exp_i32_f32 => Choose(F32, 1),
            Op::v_floor_f64
            | Op::v_ceil_f64
            | Op::v_trunc_f64
            | Op::v_rndne_f64
            | Op::v_fract_f64
            | Op::v_frexp_mant_f64
            | Op::v_frexp_exp_i32_f64 => Choose(F64, 1),
            Op::v_cvt_i32_f32 | Op::v_cvt_rpi_i32_f32 | Op::v_cvt_flr_i32_f32 => ToInt(F32, 32, true),
            Op::v_cvt_u32_f32 => ToInt(F32, 32, false),
            Op::v_cvt_i32_f64 => ToInt(F64, 32, true),
            Op::v_cvt_u32_f64 => ToInt(F64, 32, false),
            Op::v_cvt_i16_f16 => ToInt(F16, 16, true),
            Op::v_cvt_u16_f16 => ToInt(F16, 16, false),
            Op::v_cvt_f32_i32 => FromInt(F32, 32, true),
            Op::v_cvt_f32_u32 => FromInt(F32, 32, false),
            Op::v_cvt_f16_i16 => FromInt(F16, 16, true),
            Op::v_cvt_f16_u16 => FromInt(F16, 16, false),
            Op::v_cvt_f16_f32 => Convert(F32, F16),
            Op::v_cvt_f32_f16 => Convert(F16, F32),
            Op::v_cvt_f32_f64 => Convert(F64, F32),
            Op::v_cvt_f64_f32 => Convert(F32, F64),
            Op::v_rcp_f16 => Rcp(F16),
            Op::v_rcp_f32 | Op::v_rcp_clamp_f32 | Op::v_rcp_legacy_f32 => Rcp(F32),
            Op::v_rcp_f64 | Op::v_rcp_clamp_f64 => Rcp(F64),
            Op::v_rcp_iflag_f32 => RcpIflag,
            Op::v_rsq_f16 => Rsq(F16),
            Op::v_rsq_f32 | Op::v_rsq_clamp_f32 | Op::v_rsq_legacy_f32 => Rsq(F32),
            Op::v_rsq_f64 | Op::v_rsq_clamp_f64 => Rsq(F64),
            Op::v_sqrt_f16 => Sqrt(F16),
            Op::v_sqrt_f32 => Sqrt(F32),
            Op::v_sqrt_f64 => Sqrt(F64),
            Op::v_log_f16 => Log(F16),
            Op::v_log_f32 | Op::v_log_legacy_f32 | Op::v_log_clamp_f32 => Log(F32),
            Op::v_exp_f16 => Exp(F16),
            Op::v_exp_f32 | Op::v_exp_legacy_f32 => Exp(F32),
            Op::v_sin_f16 | Op::v_cos_f16 => Trig(F16),
            Op::v_sin_f32 | Op::v_cos_f32 => Trig(F32),
            Op::v_ldexp_f16 => Ldexp(F16),
            Op::v_ldexp_f32 | Op::v_ldexp_f32_gfx6 => Ldexp(F32),
            Op::v_ldexp_f64 => Ldexp(F64),
            Op::v_pk_add_f16 => PackedHalf(Packed::Add),
            Op::v_pk_mul_f16 => PackedHalf(Packed::Mul),
            Op::v_pk_fma_f16 | Op::v_pk_fmac_f16 => PackedHalf(Packed::Fma),
            Op::v_pk_min_f16 | Op::v_pk_max_f16 => PackedHalf(Packed::Choose),
            Op::v_pk_add_f32 => PackedSingle(Packed::Add),
            Op::v_pk_mul_f32 => PackedSingle(Packed::Mul),
            Op::v_pk_fma_f32 => PackedSingle(Packed::Fma),
            _ => return None,
        })
    }

    /// The format of the operands, if they are single floats.
    fn source(self) -> Option<Format> {
        Some(match self {
            Rule::Add(f, ..)
            | Rule::Mul(f)
            | Rule::Fma(f)
            | Rule::Mad(f, _)
            | Rule::DivFmas(f)
            | Rule::DivFixup(f)
            | Rule::Choose(f, _)
            | Rule::ToInt(f, ..)
            | Rule::Convert(f, _)
            | Rule::Rcp(f)
            | Rule::Rsq(f)
            | Rule::Sqrt(f)
            | Rule::Log(f)
            | Rule::Exp(f)
            | Rule::Trig(f)
            | Rule::Ldexp(f) => f,
            Rule::MulLegacy | Rule::RcpIflag | Rule::MixHalf(_) | Rule::PackRtz => F32,
            Rule::FromInt(..) | Rule::PackedHalf(_) | Rule::PackedSingle(_) => return None,
        })
    }

    /// The flags of one lane. Operands are as the instruction's meaning gets them, modifiers applied; bits above their
    /// format do not count.
    pub fn flags(self, s: [u64; 3], mode: &Mode, clamp: bool) -> u32 {
        let s = self.source().map_or(s, |f| s.map(|x| x & mask(f)));
        match self {
            Rule::Add(f, n0, n1) => {
                let m = float_mode(f, mode);
                let negate = |bits: u64, n: bool| if n { bits ^ f.sign() } else { bits };
                let one = f.one();
                fused(f, negate(s[0], n0), one, negate(s[1], n1), m)
            }
            Rule::Mul(f) => product(f, s[0], s[1], float_mode(f, mode)),
            Rule::MulLegacy => {
                if is_zero(F32, s[0], mode.f32) || is_zero(F32, s[1], mode.f32) {
                    return denormals(F32, &s[..2], mode.f32);
                }
                product(F32, s[0], s[1], mode.f32)
            }
            Rule::Fma(f) => fused(f, s[0], s[1], s[2], float_mode(f, mode)),
            Rule::Mad(f, legacy) => {
                // MAD flushes denormals whatever MODE says.
                let m = float_mode(f, mode).flushing();
                let zero = legacy && (is_zero(f, s[0], m) || is_zero(f, s[1], m));
                let (first, p) = if zero {
                    (0, 0)
                } else {
                    let [a, b] = [s[0], s[1]].map(|x| f.flush(x));
                    let mut p = f.flush(soft::mul(f, a, b, m.round));
                    let finite = |x: u64| x & !f.sign() < f.infinity();
                    if f == F16 && mode.fp16_ovfl && p & !f.sign() == f.infinity() && finite(a) && finite(b) {
                        p = p & f.sign() | f.max();
                    }
                    (product(f, a, b, m), p)
                };
                first | fused(f, p, f.one(), s[2], m)
            }
            Rule::DivFmas(f) => {
                fused(f, s[0], s[1], s[2], FloatMode { flush_in: false, ..float_mode(f, mode) })
            }
            Rule::DivFixup(f) => division(f, s[1], s[2], float_mode(f, mode)),
            Rule::Choose(f, n) => {
                let s = &s[..n as usize];
                invalid(s.iter().any(|&x| f.is_snan(x))) | denormals(f, s, float_mode(f, mode))
            }
            Rule::ToInt(f, bits, signed) => to_int(f, s[0], bits, signed, clamp, float_mode(f, mode)),
            Rule::FromInt(f, bits, signed) => {
                let low = s[0] & ((1 << bits) - 1);
                let negative = signed && low >> (bits - 1) != 0;
                let magnitude = if negative { (1 << bits) - low } else { low };
                let exact = Number { negative, exponent: 0, significand: magnitude.into() };
                rounded(f, float_mode(f, mode), |n, r| soft::pack(f, scale(exact, n), r))
            }
            Rule::Convert(from, to) => {
                let (a, m) = (s[0], float_mode(from, mode));
                let a = if m.flush_in { from.flush(a) } else { a };
                if from.is_nan(a) {
                    return invalid(from.is_snan(a));
                }
                let common = denormals(from, &[a], m);
                if a & !from.sign() == from.infinity() {
                    return common;
                }
                // Conversions to f16 round as MODE says for f16.
                let m = float_mode(to, mode);
                common | rounded(to, m, |n, r| soft::pack(to, scale(soft::unpack(from, a), n), r))
            }
            Rule::Rcp(f) => unary(f, s[0], approximate_mode(f, mode), |n| Special {
                divide_by_zero: n.significand == 0,
                // Only powers of two have exact reciprocals.
                inexact: !n.significand.is_power_of_two(),
                ..Special::default()
            }),
            Rule::Rsq(f) => unary(f, s[0], approximate_mode(f, mode), |n| Special {
                divide_by_zero: n.significand == 0,
                invalid: n.negative && n.significand != 0,
                inexact: !even_power_of_two(n),
            }),
            Rule::Sqrt(f) => unary(f, s[0], approximate_mode(f, mode), |n| Special {
                invalid: n.negative && n.significand != 0,
                inexact: !is_square(n),
                ..Special::default()
            }),
            Rule::Log(f) => unary(f, s[0], approximate_mode(f, mode), |n| Special {
                divide_by_zero: n.significand == 0,
                invalid: n.negative && n.significand != 0,
                inexact: !n.significand.is_power_of_two(),
            }),
            Rule::Exp(f) => unary(f, s[0], approximate_mode(f, mode), |n| Special {
                inexact: !is_integer(n),
                ..Special::default()
            }),
            Rule::Trig(f) => {
                let m = float_mode(f, mode);
                let infinite = s[0] & !f.sign() == f.infinity();
                let flags =
                    unary(f, s[0], m, |n| Special { inexact: n.significand != 0, ..Special::default() });
                if infinite { INVALID | denormals(f, &s[..1], m) } else { flags }
            }
            Rule::Ldexp(f) => {
                let m = float_mode(f, mode);
                let a = if m.flush_in { f.flush(s[0]) } else { s[0] };
                if f.is_nan(a) {
                    return invalid(f.is_snan(a));
                }
                if a & !f.sign() == f.infinity() {
                    return 0;
                }
                let n = if f == F16 { s[1] as u16 as i16 as i32 } else { s[1] as u32 as i32 };
                let mut number = soft::unpack(f, a);
                number.exponent += n.clamp(-100_000, 100_000);
                denormals(f, &[a], m) | rounded(f, m, |n, r| soft::pack(f, scale(number, n), r))
            }
            Rule::RcpIflag => {
                if is_zero(F32, s[0], approximate_mode(F32, mode)) {
                    INT_DIVIDE_BY_ZERO
                } else {
                    0
                }
            }
            Rule::MixHalf(fused) => {
                let m = if fused { mode.f32 } else { mode.f32.flushing() };
                let [a, b, c] = s.map(|x| if m.flush_in { F32.flush(x) } else { x });
                let (step, r) = if fused {
                    (Rule::Fma(F32), soft::fma(F32, a, b, c, m.round))
                } else {
                    let product = F32.flush(soft::mul(F32, a, b, m.round));
                    (Rule::Mad(F32, false), soft::add(F32, product, c, m.round))
                };
                let r = if m.flush_out { F32.flush(r) } else { r };
                // What the step has signalled, the conversion does not signal again.
                let quiet = if F32.is_nan(r) { r | F32.quiet() } else { r };
                let f64 = if fused { mode.f64 } else { mode.f64.flushing() };
                step.flags(s, mode, false)
                    | Rule::Convert(F32, F16).flags([quiet, 0, 0], &Mode { f64, ..*mode }, false)
                        & !INPUT_DENORMAL
            }
            Rule::PackRtz => {
                let zero = Mode { f64: FloatMode { round: Round::Zero, ..mode.f64 }, ..*mode };
                let convert = |x: u64| Rule::Convert(F32, F16).flags([x, 0, 0], &zero, false);
                convert(s[0]) | convert(s[1])
            }
            Rule::PackedHalf(p) => [0, 16].into_iter().fold(0, |flags, shift| {
                flags | p.rule(F16).flags(s.map(|x| x >> shift & 0xffff), mode, clamp)
            }),
            Rule::PackedSingle(p) => [0, 32].into_iter().fold(0, |flags, shift| {
                flags | p.rule(F32).flags(s.map(|x| x >> shift & 0xffff_ffff), mode, clamp)
            }),
        }
    }
}

/// The flags of a comparison. `signals`: with CLAMP, or a V_CMPS.
pub fn compare_flags(c: Compare, s: [u64; 2], mode: &Mode, signals: bool) -> u32 {
    let f = match c.ty {
        Type::F16 => F16,
        Type::F32 => F32,
        Type::F64 => F64,
        _ => return 0,
    };
    let s = s.map(|x| x & mask(f));
    invalid(signals && s.iter().any(|&x| f.is_nan(x))) | denormals(f, &s, float_mode(f, mode))
}

fn float_mode(f: Format, mode: &Mode) -> FloatMode {
    if f == F32 { mode.f32 } else { mode.f64 }
}

/// The mode of an approximate instruction: the f32 ones flush denormals whatever MODE says, sine and cosine aside.
fn approximate_mode(f: Format, mode: &Mode) -> FloatMode {
    if f == F32 { mode.f32.flushing() } else { mode.f64 }
}

/// All bits of a format.
const fn mask(f: Format) -> u64 {
    f.sign() | (f.sign() - 1)
}

const fn invalid(is: bool) -> u32 {
    if is { INVALID } else { 0 }
}

fn is_zero(f: Format, bits: u64, m: FloatMode) -> bool {
    let bits = if m.flush_in { f.flush(bits) } else { bits };
    bits & !f.sign() == 0
}

/// Input denormal, if one of the operands is one that the operation sees.
fn denormals(f: Format, s: &[u64], m: FloatMode) -> u32 {
    if !m.flush_in && s.iter().any(|&x| f.is_denormal(x)) { INPUT_DENORMAL } else { 0 }
}

/// Overflow, underflow and inexact of a finite, rounded result: `result` rounds the exact one, times two to a power.
fn rounded(f: Format, m: FloatMode, result: impl Fn(i32, Round) -> u64) -> u32 {
    // Sixteen times smaller or larger, results around a bound of the exponent are rounded as if there was none.
    const STEP: i32 = 4;
    let magnitude = |scale: i32, round: Round| result(scale, round) & !f.sign();
    let exponent = |e: u64| e << f.fraction;
    let largest = (1 << f.exponent) - 1;
    if magnitude(-STEP, m.round) >= exponent(largest - STEP as u64) {
        return OVERFLOW | INEXACT;
    }
    let scaled = magnitude(STEP, m.round);
    let tiny = scaled < exponent(1 + STEP as u64);
    let (up, down) = (magnitude(0, Round::Up), magnitude(0, Round::Down));
    if up == 0 && down == 0 {
        return 0; // an exact zero, of either sign
    }
    match (tiny, up != down || tiny && m.flush_out) {
        (true, true) => UNDERFLOW | INEXACT,
        (false, true) => INEXACT,
        (_, false) => 0,
    }
}

/// a · b + c.
fn fused(f: Format, a: u64, b: u64, c: u64, m: FloatMode) -> u32 {
    let [a, b, c] = [a, b, c].map(|x| if m.flush_in { f.flush(x) } else { x });
    let common = denormals(f, &[a, b, c], m);
    let infinite = |x: u64| x & !f.sign() == f.infinity();
    if f.is_nan(a) || f.is_nan(b) || f.is_nan(c) {
        return common | invalid([a, b, c].iter().any(|&x| f.is_snan(x)));
    }
    if infinite(a) || infinite(b) {
        let zero = [a, b].iter().any(|&x| x & !f.sign() == 0);
        let opposite = infinite(c) && (a ^ b ^ c) & f.sign() != 0;
        return common | invalid(zero || opposite);
    }
    if infinite(c) {
        return common;
    }
    let (x, y, z) = (soft::unpack(f, a), soft::unpack(f, b), soft::unpack(f, c));
    let product = Number {
        negative: x.negative != y.negative,
        exponent: x.exponent + y.exponent,
        significand: x.significand * y.significand,
    };
    common | rounded(f, m, |n, r| soft::sum(f, scale(product, n), scale(z, n), r))
}

fn scale(x: Number, n: i32) -> Number {
    Number { exponent: x.exponent + n, ..x }
}

/// a · b.
fn product(f: Format, a: u64, b: u64, m: FloatMode) -> u32 {
    // The product's own sign makes the sum with zero exact and of that sign.
    fused(f, a, b, (a ^ b) & f.sign(), m)
}

/// Numerator / denominator, as V_DIV_FIXUP sees it.
fn division(f: Format, denominator: u64, numerator: u64, m: FloatMode) -> u32 {
    let [d, n] = [denominator, numerator].map(|x| if m.flush_in { f.flush(x) } else { x });
    let common = denormals(f, &[d, n], m);
    if f.is_nan(d) || f.is_nan(n) {
        return common | invalid(f.is_snan(d) || f.is_snan(n));
    }
    let magnitude = |x: u64| x & !f.sign();
    let (d, n) = (magnitude(d), magnitude(n));
    if d == n && (d == 0 || d == f.infinity()) {
        return common | INVALID;
    }
    if d == 0 && n != f.infinity() { common | DIVIDE_BY_ZERO } else { common }
}

/// What is special about a finite operand.
#[derive(Default)]
struct Special {
    divide_by_zero: bool,
    invalid: bool,
    inexact: bool,
}

fn unary(f: Format, a: u64, m: FloatMode, special: impl Fn(Number) -> Special) -> u32 {
    let a = if m.flush_in { f.flush(a) } else { a };
    if f.is_nan(a) {
        return invalid(f.is_snan(a));
    }
    let infinite = a & !f.sign() == f.infinity();
    let common = denormals(f, &[a], m);
    // An infinity behaves like a large power of two: exact, and invalid where a negative number is.
    let n = if infinite {
        Number { negative: a & f.sign() != 0, exponent: 0, significand: 1 }
    } else {
        soft::unpack(f, a)
    };
    let s = special(n);
    common
        | match s {
            Special { invalid: true, .. } => INVALID,
            Special { divide_by_zero: true, .. } => DIVIDE_BY_ZERO,
            Special { inexact: true, .. } if !infinite && n.significand != 0 => INEXACT,
            _ => 0,
        }
}

fn odd(n: Number) -> (u128, i32) {
    let zeros = n.significand.trailing_zeros();
    if n.significand == 0 { (0, 0) } else { (n.significand >> zeros, n.exponent + zeros as i32) }
}

fn even_power_of_two(n: Number) -> bool {
    let (s, e) = odd(n);
    s == 1 && e % 2 == 0
}

fn is_square(n: Number) -> bool {
    let (s, e) = odd(n);
    let root = (s as u64).isqrt() as u128;
    e % 2 == 0 && root * root == s
}

fn is_integer(n: Number) -> bool {
    odd(n).1 >= 0
}

fn to_int(f: Format, a: u64, bits: u32, signed: bool, clamp: bool, m: FloatMode) -> u32 {
    let a = if m.flush_in { f.flush(a) } else { a };
    if f.is_nan(a) || a & !f.sign() == f.infinity() {
        return INVALID;
    }
    let n = soft::unpack(f, a);
    let common = denormals(f, &[a], m);
    // The conversion truncates.
    let (whole, fraction) = match n.exponent {
        0.. => (n.significand.checked_shl(n.exponent as u32).filter(|_| n.exponent < 64), false),
        e if e > -128 => (Some(n.significand >> -e), n.significand & ((1 << -e) - 1) != 0),
        _ => (Some(0), n.significand != 0),
    };
    let limit: u128 = match (signed, n.negative) {
        (false, false) => (1 << bits) - 1,
        (false, true) => 0,
        (true, false) => (1 << (bits - 1)) - 1,
        (true, true) => 1 << (bits - 1),
    };
    if n.significand == 0 {
        return common;
    }
    match whole {
        Some(w) if w <= limit => common | if fraction && clamp { INEXACT } else { 0 },
        _ => common | INVALID,
    }
}
