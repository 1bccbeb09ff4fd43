//! Exception flags: what an instruction adds to TRAPSTS (manual 3.5, 3.10, and the texts of chapter 12).
//!
//! The manual names the flags and, for a few instructions, when they are raised; IEEE 754 says the rest for the
//! operations it defines. Where neither decides, a flag is [`Flags::open`]: it may be there or not, and the reason
//! stands where it is opened. Every operation is done once in quadruple precision, rounded to odd, which keeps apart
//! what is exact, what is too large and what is tiny.

use crate::float::{Env, Fmt};
use crate::operand::{Dpp, dpp_source, dpp_writes, read, source, vdst, vector};
use crate::valu::{clamp_bit, format, omod};
use crate::{State, packed};
use rustc_apfloat::ieee::Quad;
use rustc_apfloat::{Float, Round, Status, StatusAnd};
use wavemill_isa::encoding::bits;
use wavemill_isa::row::{Enc, Form, Role, flag};
use wavemill_isa::{Inst, Row};

/// Bits of TRAPSTS.EXCP (manual 3.10).
pub const INVALID: u32 = 1;
/// A denormal operand.
pub const DENORMAL: u32 = 1 << 1;
/// Division by zero.
pub const DIV0: u32 = 1 << 2;
/// Too large for the format.
pub const OVERFLOW: u32 = 1 << 3;
/// Tiny, and not exact.
pub const UNDERFLOW: u32 = 1 << 4;
/// Rounded.
pub const INEXACT: u32 = 1 << 5;
/// An integer division by zero.
pub const INT_DIV0: u32 = 1 << 6;
/// All of them.
pub const ALL: u32 = 0x7f;
/// What rounding a result may raise.
const ROUNDING: u32 = OVERFLOW | UNDERFLOW | INEXACT;

/// The flags of an operation.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Flags {
    /// These are raised.
    pub raised: u32,
    /// No source says whether these are.
    pub open: u32,
}

impl Flags {
    fn raise(&mut self, flags: u32) {
        self.raised |= flags;
    }

    fn open(&mut self, flags: u32) {
        self.open |= flags;
    }

    /// The flags of both operations: what one of them raises is not open any more.
    #[must_use]
    pub fn and(mut self, other: Flags) -> Flags {
        self.raised |= other.raised;
        self.open = (self.open | other.open) & !self.raised;
        self
    }

    /// The flags after an instruction in a state that has raised these before it.
    #[must_use]
    pub fn after(self, state: &State, inst: &Inst) -> Flags {
        let new = match inst.row.name {
            // "Clear wave's exception state in SIMD": what that does to those that TRAPSTS has already, nothing says.
            "v_clrexcp" => return unsure(self.raised | self.open),
            _ => raised(state, inst).unwrap_or(unsure(ALL)),
        };
        self.and(new)
    }

    /// Whether TRAPSTS may have become this from nothing.
    pub fn permit(self, trapsts: u32) -> bool {
        (trapsts & ALL ^ self.raised) & !self.open == 0
    }
}

fn only(raised: u32) -> Flags {
    Flags { raised, open: 0 }
}

fn unsure(open: u32) -> Flags {
    Flags { raised: 0, open }
}

/// Why a row's flags are not modelled, if they are not.
pub fn excluded(row: &Row) -> Option<&'static str> {
    Some(match row.name {
        n if ["v_div_scale", "v_cube", "v_mullit", "v_trig_preop"].iter().any(|s| n.starts_with(s)) => {
            "not an operation of IEEE 754, and the manual names no flags"
        }
        n if n.contains("norm_") || n.ends_with("_u8_f32") || n == "v_pack_b32_f16" => {
            "a conversion that IEEE 754 does not have, and the manual names no flags"
        }
        n if n.starts_with("v_dot2") && n.contains("_f32_f16") => "the order of the sum is not documented",
        "v_mul_legacy_f32" | "v_mad_legacy_f32" | "v_mac_legacy_f32" => return None,
        n if n.contains("_legacy_f32") || n.contains("_clamp_f") => "legacy rules instead of IEEE 754's",
        _ => return None,
    })
}

/// The flags that an instruction raises in a state, or nothing if they are not modelled.
pub fn raised(state: &State, inst: &Inst) -> Option<Flags> {
    if excluded(inst.row).is_some() {
        return None;
    }
    // Scalar instructions have no floats here; VSKIP skips.
    if !inst.row.enc.is_valu() || state.mode >> 28 & 1 != 0 {
        return Some(Flags::default());
    }
    // An instruction that cannot write its result is ignored or not: the manual (3.6.1) speaks of the registers only.
    let beyond = inst
        .row
        .operand(Role::Vdst)
        .is_some_and(|o| vdst(state, inst) as usize + o.ty.dwords() as usize > state.vgprs.len());
    let mut all = Flags::default();
    for lane in (0..64).filter(|l| state.exec() >> l & 1 != 0) {
        let off = inst.form == Form::Dpp
            && (!dpp_writes(inst, lane) || matches!(dpp_source(state, inst, lane), Dpp::Disabled));
        if !off {
            all = all.and(lane_flags(state, inst, lane));
        }
    }
    if beyond {
        all = unsure(all.raised | all.open);
    }
    Some(all)
}

/// One lane's flags.
fn lane_flags(state: &State, inst: &Inst, lane: usize) -> Flags {
    let row = inst.row;
    let name = row.name;
    let env = Env::new(state.mode, state.level);
    let get = |role| row.operand(role).map_or(0, |o| source(state, inst, o, lane)) as u64;
    let s = [Role::Src0, Role::Src1, Role::Src2].map(get);
    let op = Op { env, gfx9: state.level.is_gfx9() };
    if row.enc == Enc::Vopc {
        return op.compare(state, inst, s);
    }
    if row.enc == Enc::Vop3p {
        return op.packed(state, inst, lane);
    }
    let d = row
        .operand(Role::Vdst)
        .map_or(0, |o| vector(&state.vgprs, vdst(state, inst), o.ty.dwords(), lane)) as u64;
    if name == "v_pk_fmac_f16" {
        let at = |v: u64, high: bool| if high { v >> 16 } else { v } & 0xffff;
        let half = |high| op.fma(Fmt::F16, [at(s[0], high), at(s[1], high), at(d, high)]);
        return half(false).and(half(true));
    }
    let vcc = state.vcc() >> lane & 1 != 0;
    let clamp = clamp_or_signal(state, inst);
    let converted = op.convert(state, name, s, clamp);
    let f = row.operand(Role::Vdst).and_then(|o| format(o.ty));
    let mut out = match (converted, f) {
        (Some(flags), _) => flags,
        (None, Some(f)) => op.arithmetic(name, f, s, d & f.mask(), inst.bits >> 32 & f.mask(), vcc),
        (None, None) => Flags::default(),
    };
    // The manual does not say whether the multiplication of an output modifier raises flags.
    if f.is_some_and(|f| omod(state, inst) != 0 && !env.ieee && env.flush_out(f)) {
        out.open(ROUNDING & !out.raised);
    }
    // Nor whether those of a number that CLAMP replaces are kept.
    if f.is_some() && clamp_bit(state, inst) {
        out = Flags { raised: out.raised & !ROUNDING, open: out.open | ROUNDING };
    }
    out
}

/// The CLAMP bit, whether or not it clamps.
fn clamp_or_signal(state: &State, inst: &Inst) -> bool {
    match inst.form {
        // GFX9's compares have the scalar destination there.
        Form::Sdwa if inst.row.enc == Enc::Vopc && state.level.is_gfx9() => false,
        Form::Sdwa => bits::SDWA_CLAMP.get(inst.bits) != 0,
        _ if !inst.is_vop3_layout() => false,
        _ if state.level.is_vi_plus() => bits::VOP3_CLAMP.get(inst.bits) != 0,
        _ => bits::VOP3_CLAMP_SI.get(inst.bits) != 0,
    }
}

struct Op {
    env: Env,
    gfx9: bool,
}

/// 2^n.
fn power(n: i32) -> Quad {
    Quad::from_u128(1).value.scalbn(n)
}

/// A result in the wide format, rounded to odd: the last bit tells that something was lost.
fn odd(r: StatusAnd<Quad>) -> Quad {
    let lost = r.status.contains(Status::INEXACT) as u128;
    Quad::from_bits(r.value.to_bits() | lost)
}

const ZERO: Round = Round::TowardZero;

impl Op {
    /// What the operands alone say: denormals and NaNs. The second value is true if there is a NaN.
    fn operands(&self, f: Fmt, s: &[u64], flushes: bool) -> (Flags, bool) {
        let mut out = Flags::default();
        let denormal = s.iter().any(|&x| f.is_denormal(x));
        let nan = s.iter().any(|&x| f.is_nan(x));
        if denormal && (flushes || self.env.flush_in(f) || nan) {
            // Whether a denormal that counts as zero, or meets a NaN, is still reported, nothing says.
            out.open(DENORMAL);
        } else if denormal {
            out.raise(DENORMAL);
        }
        if s.iter().any(|&x| f.is_snan(x)) {
            self.signalling(&mut out);
        }
        (out, nan)
    }

    /// A signalling NaN among the operands: invalid by IEEE 754, which is what MODE.IEEE asks for (manual 3.5). Nothing
    /// says what holds without it.
    fn signalling(&self, out: &mut Flags) {
        if self.env.ieee { out.raise(INVALID) } else { out.open(INVALID) }
    }

    /// What rounding a number to a format raises (IEEE 754, 7.4 to 7.6, default handling).
    fn rounding(&self, f: Fmt, q: Quad, round: Round, flushes: bool) -> Flags {
        let mut out = Flags::default();
        if q.is_zero() || !q.is_finite() {
            return out;
        }
        let (rounded, inexact) = f.narrow(q, round);
        let too_large = q.abs() >= power(f.bias() + 1) || f.is_inf(rounded);
        let smallest = power(1 - f.bias());
        let tiny = q.abs() < smallest;
        if inexact {
            out.raise(INEXACT);
        }
        if too_large {
            out.raise(OVERFLOW | INEXACT);
        }
        if tiny && inexact {
            out.raise(UNDERFLOW);
            // IEEE 754 lets an implementation look at the number before or after it is rounded.
            if f.exponent(rounded) != 0 {
                out = Flags { raised: out.raised & !UNDERFLOW, open: out.open | UNDERFLOW };
            }
        }
        // What a denormal result that becomes zero raises, nothing says.
        if tiny && (flushes || self.env.flush_out(f)) {
            out = unsure(UNDERFLOW | INEXACT);
        }
        // Nor what one does that FP16_OVFL makes finite.
        if too_large && f == Fmt::F16 && self.env.fp16_ovfl {
            out = unsure(OVERFLOW | INEXACT);
        }
        out
    }

    /// An operation on numbers of one format with a result of the same.
    fn number(&self, f: Fmt, s: &[u64], flushes: bool, go: &dyn Fn(&[Quad]) -> StatusAnd<Quad>) -> Flags {
        let (mut out, nan) = self.operands(f, s, flushes);
        if nan {
            return out;
        }
        let flush_in = flushes || self.env.flush_in(f);
        let wide: Vec<Quad> = s.iter().map(|&x| f.widen(if flush_in { f.flush(x) } else { x })).collect();
        let r = go(&wide);
        if r.value.is_nan() {
            // Whether the third operand of an invalid product is still looked at, nothing says.
            out = Flags { raised: out.raised & !DENORMAL, open: out.open | out.raised & DENORMAL };
            out.raise(INVALID);
            return out;
        }
        out.and(self.rounding(f, odd(r), self.env.round(f), flushes))
    }

    fn add(&self, f: Fmt, a: u64, b: u64) -> Flags {
        self.number(f, &[a, b], false, &|s| s[0].add_r(s[1], ZERO))
    }

    fn mul(&self, f: Fmt, a: u64, b: u64) -> Flags {
        self.number(f, &[a, b], false, &|s| s[0].mul_r(s[1], ZERO))
    }

    fn fma(&self, f: Fmt, s: [u64; 3]) -> Flags {
        let mut out = self.number(f, &s, false, &|s| s[0].mul_add_r(s[1], s[2], ZERO));
        let input = |x| self.env.input(f, x);
        let zero_times_infinity =
            |x: u64, y: u64| f.is_zero(input(x)) && f.is_inf(y) || f.is_inf(x) && f.is_zero(input(y));
        if f.is_nan(s[2]) && zero_times_infinity(s[0], s[1]) {
            // IEEE 754 (7.2) leaves it to the implementation.
            out.open(INVALID & !out.raised);
        }
        out
    }

    /// Multiplications in which 0 · x = 0: then nothing is invalid; whether a signalling NaN still is, nothing says.
    fn legacy(&self, f: Fmt, a: u64, b: u64, flushes: bool) -> Option<Flags> {
        let zero = |x: u64| f.is_zero(if flushes { f.flush(x) } else { self.env.input(f, x) });
        if !zero(a) && !zero(b) {
            return None;
        }
        let mut out = self.operands(f, &[a, b], flushes).0;
        if out.raised & INVALID != 0 {
            out = Flags { raised: out.raised & !INVALID, open: out.open | INVALID };
        }
        Some(out)
    }

    /// Unfused: the product is rounded, and neither step knows denormals.
    fn mad(&self, f: Fmt, a: u64, b: u64, c: u64, legacy: bool) -> Flags {
        let mut raw = f.mul(f.flush(a), f.flush(b), self.env.round(f));
        let mut product = self.number(f, &[a, b], true, &|s| s[0].mul_r(s[1], ZERO));
        if let Some(zero) = self.legacy(f, a, b, true).filter(|_| legacy) {
            (raw, product) = (0.into(), zero);
        }
        if f == Fmt::F16 && self.env.fp16_ovfl && raw.overflow {
            raw.bits = raw.bits & f.sign() | f.largest();
        }
        let sum = self.number(f, &[f.flush(raw.bits), c], true, &|s| s[0].add_r(s[1], ZERO));
        product.and(sum)
    }

    /// Operations that only choose or classify: NaNs and denormals of the operands, nothing from rounding.
    fn choice(&self, f: Fmt, s: &[u64]) -> Flags {
        self.operands(f, s, false).0
    }

    /// The approximate ones, of which IEEE 754 knows the special cases. The bounds of the manual leave open whether
    /// a result was rounded, and whether it came too close to the format's limits.
    fn approximate(&self, kind: &str, f: Fmt, a: u64) -> Flags {
        // "Denormals are flushed" in the f32 ones, but "supported" in sine and cosine.
        let flushes = f == Fmt::F32 && !matches!(kind, "sin" | "cos");
        let (mut out, nan) = self.operands(f, &[a], flushes);
        if nan {
            return out;
        }
        let x = if flushes { f.flush(a) } else { self.env.input(f, a) };
        // A denormal that counts as zero: also as the zero that a division is by?
        let flushed = f.is_denormal(a) && f.is_zero(x);
        let below = f.negative(x) && !f.is_zero(x);
        match kind {
            "rcp" | "rsq" | "log" if flushed => out.open(DIV0),
            "rcp" | "rsq" | "log" if f.is_zero(x) => out.raise(DIV0),
            "rsq" | "log" | "sqrt" if below => out.raise(INVALID),
            "sin" | "cos" if f.is_inf(x) => out.raise(INVALID),
            _ if f.is_inf(x) || f.is_zero(x) => {}
            _ => out.open(ROUNDING),
        }
        out
    }

    /// V_DIV_FIXUP: "generates invalid, denorm and divide by zero exceptions caused by the division".
    fn div_fixup(&self, f: Fmt, [q, d, n]: [u64; 3]) -> Flags {
        let (mut out, nan) = self.operands(f, &[d, n], false);
        // The quotient is no operand of the division.
        if f.is_denormal(q) || f.is_nan(q) {
            out.open((DENORMAL | INVALID) & !out.raised);
        }
        // "underflow" and "overflow" results: the manual does not list these flags.
        out.open(ROUNDING);
        if nan {
            return out;
        }
        let [d, n] = [d, n].map(|x| self.env.input(f, x));
        if f.is_zero(d) && f.is_zero(n) || f.is_inf(d) && f.is_inf(n) {
            out.raise(INVALID);
        } else if f.is_zero(d) && !f.is_inf(n) {
            out.raise(DIV0);
        }
        out.open &= !out.raised;
        out
    }

    /// Instructions with a float as result.
    fn arithmetic(&self, name: &str, f: Fmt, s: [u64; 3], d: u64, k: u64, vcc: bool) -> Flags {
        let Some((stem, _)) = name.strip_prefix("v_").and_then(|n| n.rsplit_once('_')) else {
            return Flags::default();
        };
        let [a, b, c] = s;
        let minus = |x: u64| x ^ f.sign();
        match stem {
            "add" => self.add(f, a, b),
            "sub" => self.add(f, a, minus(b)),
            "subrev" => self.add(f, b, minus(a)),
            "mul" => self.mul(f, a, b),
            "mul_legacy" => self.legacy(f, a, b, false).unwrap_or_else(|| self.mul(f, a, b)),
            "mac" => self.mad(f, a, b, d, false),
            "mac_legacy" => self.mad(f, a, b, d, true),
            "madmk" => self.mad(f, a, k, b, false),
            "madak" => self.mad(f, a, b, k, false),
            "mad" => self.mad(f, a, b, c, false),
            // The 16-bit one is "legacy" in what it does to the other half.
            "mad_legacy" => self.mad(f, a, b, c, f == Fmt::F32),
            "fmac" => self.fma(f, [a, b, d]),
            "fma" | "fma_legacy" => self.fma(f, s),
            "min" | "max" => self.chosen(f, &s[..2]),
            "min3" | "max3" | "med3" => self.chosen(f, &s),
            // IEEE 754's roundToIntegral does not signal inexact, its exact twin does: the manual does not say which
            // of the two these are.
            "floor" | "ceil" | "trunc" | "rndne" => {
                let integral = f.round_integral(a, ZERO) == a || f.is_nan(a);
                self.choice(f, &[a]).and(unsure(if integral { 0 } else { INEXACT }))
            }
            // S0 - floor(S0): how many operations that is, and whether an infinity is an invalid one, is open.
            "fract" => {
                self.choice(f, &[a]).and(unsure(if f.is_inf(a) { INVALID } else { UNDERFLOW | INEXACT }))
            }
            // Not IEEE 754's; C's frexp raises nothing for numbers, and leaves NaNs to the implementation.
            "frexp_mant" => self.choice(f, &[a]).and(unsure(if f.is_nan(a) { INVALID } else { 0 })),
            "ldexp" => {
                let n = if f == Fmt::F16 { b as i16 as i32 } else { b as i32 }.clamp(-5000, 5000);
                self.number(f, &[a], false, &|s| Status::OK.and(s[0].scalbn_r(n, ZERO)))
            }
            "div_fixup" | "div_fixup_legacy" => self.div_fixup(f, s),
            // A fused multiply-add, of whose flags V_DIV_FIXUP gives some for the whole division; it keeps denormal
            // operands. With the scale, how often it rounds is open.
            "div_fmas" => {
                let operands = s.iter().any(|&x| f.is_nan(x) || f.is_denormal(x));
                let mut out = if vcc || operands { unsure(ROUNDING) } else { self.fma(f, s) };
                let early = INVALID | DENORMAL;
                out = Flags { raised: out.raised & !early, open: out.open | early };
                out
            }
            "rcp_iflag" => {
                // "Can raise integer DIV_BY_ZERO exception but cannot raise floating-point exceptions."
                match a {
                    _ if f.is_zero(a) => only(INT_DIV0),
                    _ if f.is_denormal(a) => unsure(INT_DIV0),
                    _ => Flags::default(),
                }
            }
            "rcp" | "rsq" | "sqrt" | "log" | "exp" | "sin" | "cos" => self.approximate(stem, f, a),
            _ => Flags::default(),
        }
    }

    /// Minimum and maximum: signalling NaNs as in IEEE 754-2008 (manual 3.5, IEEE). Before GFX9 they leave denormals
    /// alone, and may not see them.
    fn chosen(&self, f: Fmt, s: &[u64]) -> Flags {
        let mut out = self.choice(f, s);
        if !self.gfx9 {
            out = Flags { raised: out.raised & !DENORMAL, open: out.open | out.raised & DENORMAL };
        }
        out
    }

    /// Conversions, or nothing for other instructions.
    fn convert(&self, state: &State, name: &str, [a, b, _]: [u64; 3], clamp: bool) -> Option<Flags> {
        use Fmt::{F16, F32, F64};
        let from_int = |f: Fmt, n: i128| self.rounding(f, Quad::from_i128(n).value, self.env.round(f), false);
        let between = |from: Fmt, to: Fmt| self.between(from, to, a, self.env.round(to));
        // "INEXACT exceptions are enabled for this conversion iff CLAMP == 1": what GFX6 and GFX7 do, nothing says.
        let inexact = state.level.is_vi_plus().then_some(clamp);
        let to_int = |f, width, signed| self.to_int(f, a, width, signed, ZERO, inexact);
        Some(match name {
            "v_cvt_i32_f64" => to_int(F64, 32, true),
            "v_cvt_u32_f64" => to_int(F64, 32, false),
            "v_cvt_i32_f32" => to_int(F32, 32, true),
            "v_cvt_u32_f32" => to_int(F32, 32, false),
            "v_cvt_i16_f16" => to_int(F16, 16, true),
            "v_cvt_u16_f16" => to_int(F16, 16, false),
            "v_cvt_flr_i32_f32" => self.to_int(F32, a, 32, true, Round::TowardNegative, None),
            // S0 + 0.5 may leave the range that S0 is in: nothing about it at the limits.
            "v_cvt_rpi_i32_f32" => {
                let mut out = self.to_int(F32, a, 32, true, Round::TowardNegative, None);
                if F32.to_f64(a).abs() >= 2f64.powi(30) && !F32.is_nan(a) {
                    out.open(INVALID);
                }
                out
            }
            "v_cvt_f32_i32" => from_int(F32, a as i32 as i128),
            "v_cvt_f32_u32" => from_int(F32, a as u32 as i128),
            "v_cvt_f16_i16" => from_int(F16, a as i16 as i128),
            "v_cvt_f16_u16" => from_int(F16, a as u16 as i128),
            "v_cvt_f16_f32" => between(F32, F16),
            "v_cvt_f32_f16" => between(F16, F32),
            "v_cvt_f32_f64" => between(F64, F32),
            "v_cvt_f64_f32" => between(F32, F64),
            "v_cvt_pkrtz_f16_f32" => self.between(F32, F16, a, ZERO).and(self.between(F32, F16, b, ZERO)),
            "v_frexp_exp_i32_f64" => self.exponent(F64, a),
            "v_frexp_exp_i32_f32" => self.exponent(F32, a),
            "v_frexp_exp_i16_f16" => self.exponent(F16, a),
            _ => return None,
        })
    }

    fn exponent(&self, f: Fmt, a: u64) -> Flags {
        // As for V_FREXP_MANT; an infinity has no exponent either (IEEE 754's logB calls it invalid, C's frexp not).
        let special = f.is_nan(a) || f.is_inf(a);
        self.choice(f, &[a]).and(unsure(if special { INVALID } else { 0 }))
    }

    fn between(&self, from: Fmt, to: Fmt, a: u64, round: Round) -> Flags {
        let (out, nan) = self.operands(from, &[a], false);
        if nan {
            return out;
        }
        out.and(self.rounding(to, from.widen(self.env.input(from, a)), round, false))
    }

    /// To an integer: a NaN and what is out of range are invalid (IEEE 754, 7.2), and that alone; `inexact` says whether
    /// what is lost is reported, if that is known.
    fn to_int(
        &self,
        f: Fmt,
        a: u64,
        width: usize,
        signed: bool,
        round: Round,
        inexact: Option<bool>,
    ) -> Flags {
        let (mut out, nan) = self.operands(f, &[a], false);
        if nan {
            out.raise(INVALID);
            out.open &= !INVALID;
            return out;
        }
        // A denormal that MODE flushes is zero, unless the conversion does not look at that.
        if f.is_denormal(a) && self.env.flush_in(f) {
            return out.and(unsure(INEXACT));
        }
        let q = f.widen(a);
        // The status, as apfloat's own word on exactness takes -0 for lost in an unsigned integer.
        let status = if signed {
            q.to_i128_r(width, round, &mut false).status
        } else {
            q.to_u128_r(width, round, &mut false).status
        };
        if status.contains(Status::INVALID_OP) {
            out.raise(INVALID);
        } else if status.contains(Status::INEXACT) {
            match inexact {
                Some(true) => out.raise(INEXACT),
                Some(false) => {}
                None => out.open(INEXACT),
            }
        }
        out
    }

    /// Compares (manual 12.9): with CLAMP any NaN signals. GFX6 and GFX7 have opcodes of their own for that, V_CMPS.
    fn compare(&self, state: &State, inst: &Inst, [a, b, _]: [u64; 3]) -> Flags {
        let Some(f) = inst.row.operand(Role::Src0).and_then(|o| format(o.ty)) else {
            return Flags::default();
        };
        let name = inst.row.name;
        if name.contains("_class_") {
            // IEEE 754's class signals nothing, not even a signalling NaN (5.7.2).
            return Flags::default();
        }
        let denormals = self.operands(f, &[a, b], false).0;
        let mut out = Flags { raised: denormals.raised & DENORMAL, open: denormals.open & DENORMAL };
        let nan = f.is_nan(a) || f.is_nan(b);
        let old = !state.level.is_vi_plus();
        let signals = if old { name.starts_with("v_cmps") } else { clamp_or_signal(state, inst) };
        if old && clamp_or_signal(state, inst) {
            // Both an opcode and a bit that may ask for it.
            out.open(INVALID);
        } else if nan && signals {
            out.raise(INVALID);
        } else if f.is_snan(a) || f.is_snan(b) {
            // IEEE 754's quiet comparisons signal this one, the manual's "NaN does not signal" has no exception.
            out.open(INVALID);
        }
        if name.contains("_f_") || name.contains("_tru_") {
            // They do not look at their operands; whether they still report them, nothing says.
            out = unsure(out.raised | out.open);
        }
        out
    }

    /// VOP3P: both halves.
    fn packed(&self, state: &State, inst: &Inst, lane: usize) -> Flags {
        if inst.row.has(flag::MIX) {
            return self.mix(state, inst, lane);
        }
        let Some(name) = packed::float_name(inst.row.name) else { return Flags::default() };
        let raw = [Role::Src0, Role::Src1, Role::Src2]
            .map(|r| inst.row.operand(r).map_or(0, |o| read(state, inst, o, lane)));
        let f = if name.ends_with("f16") { Fmt::F16 } else { Fmt::F32 };
        let half = |high| {
            let s = packed::operands(inst, raw, f.width(), true, high).map(|v| v as u64);
            self.arithmetic(name, f, s, 0, 0, false)
        };
        let mut out = half(false).and(half(true));
        if bits::VOP3_CLAMP.get(inst.bits) != 0 {
            // As for the other instructions.
            out = Flags { raised: out.raised & !ROUNDING, open: out.open | ROUNDING };
        }
        out
    }

    /// V_FMA_MIX and V_MAD_MIX: the sum's flags; those of converting a half to a single, which is exact, are a
    /// denormal's or a NaN's at most and open.
    fn mix(&self, state: &State, inst: &Inst, lane: usize) -> Flags {
        let near = Round::NearestTiesToEven;
        let Some(s) = packed::mix_sources(state, inst, lane) else { return Flags::default() };
        let mut out = Flags::default();
        let fused = inst.row.name.starts_with("v_fma");
        let wide = s.map(|(f, v)| {
            if f == Fmt::F16 && (f.is_denormal(v) || f.is_nan(v)) {
                out.open(DENORMAL | INVALID);
            }
            let v = if fused { self.env.input(f, v) } else { f.flush(v) };
            if f == Fmt::F16 { f.convert(Fmt::F32, v, near).bits } else { v }
        });
        // Flushed operands that are gone by now.
        if s.iter().any(|&(f, v)| f.is_denormal(v)) {
            out.open(DENORMAL);
        }
        let f = Fmt::F32;
        let sum = match fused {
            true => self.fma(f, wide),
            false => self.mad(f, wide[0], wide[1], wide[2], false),
        };
        out = out.and(sum);
        // Whether the sum becomes an f32 before it becomes an f16, or only one of the two roundings is reported, is open.
        if !inst.row.name.ends_with("_f32") || bits::VOP3_CLAMP.get(inst.bits) != 0 {
            out = Flags { raised: out.raised & !ROUNDING, open: out.open | ROUNDING };
        }
        out
    }
}
