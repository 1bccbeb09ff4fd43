//! Vector floating-point arithmetic whose operands and result have one format.

use crate::float::{Env, Fmt, Raw};
use rustc_apfloat::Round;
use wavemill_isa::Level;

/// What an operation needs beside its operands.
#[derive(Clone, Copy)]
pub struct Fp {
    /// MODE.
    pub env: Env,
    /// The instruction set.
    pub level: Level,
    /// The lane's VCC bit.
    pub vcc: bool,
}

/// The result before output modifiers, and whether denormals are flushed whatever MODE says.
pub struct Result {
    /// The number.
    pub raw: Raw,
    /// The instruction knows no denormals.
    pub flush: bool,
    /// It keeps them.
    pub keep: bool,
}

impl From<Raw> for Result {
    fn from(raw: Raw) -> Result {
        Result { raw, flush: false, keep: false }
    }
}

impl From<u64> for Result {
    fn from(bits: u64) -> Result {
        Raw::from(bits).into()
    }
}

const NEAREST: Round = Round::NearestTiesToEven;

/// Output modifiers, clamping and flushing (manual 6.2.2, 6.4, 6.5).
pub fn finish(env: &Env, fmt: Fmt, result: &Result, omod: u32, clamp: bool) -> u64 {
    let saturate = |r: Raw| saturate(env, fmt, r);
    let flush_out = env.flush_out(fmt);
    let flush = |b: u64| if flush_out || result.flush { fmt.flush(b) } else { b };
    let mut b = saturate(result.raw);
    if !result.keep {
        b = flush(b);
    }
    // Ignored with IEEE, and when denormal results are kept.
    if omod != 0 && !env.ieee && flush_out {
        let factor = fmt.scale(fmt.one(), [0, 1, 2, -1][omod as usize & 3], NEAREST).bits;
        b = flush(saturate(fmt.mul(flush(b), factor, env.round(fmt))));
        if fmt.is_zero(b) {
            b = 0;
        }
    }
    if clamp {
        if fmt.is_nan(b) {
            b = if env.dx10_clamp { 0 } else { b };
        } else if fmt.negative(b) {
            // -0 too: CLAMP is what LLVM makes of a median with 0 and 1, and V_MED3's is +0.
            b = 0;
        } else if fmt.less(fmt.one(), b) {
            b = fmt.one();
        }
    }
    b
}

/// FP16_OVFL.
fn saturate(env: &Env, fmt: Fmt, r: Raw) -> u64 {
    let sign = r.bits & fmt.sign();
    if fmt == Fmt::F16 && env.fp16_ovfl && r.overflow { sign | fmt.largest() } else { r.bits }
}

/// V_MIN and V_MAX, word by word from the manual.
fn min_max(f: Fmt, ieee: bool, max: bool, a: u64, b: u64) -> u64 {
    if ieee && f.is_snan(a) {
        f.quiet(a)
    } else if ieee && f.is_snan(b) {
        f.quiet(b)
    } else if f.is_nan(a) {
        b
    } else if f.is_nan(b) {
        a
    } else if f.is_zero(a) && f.is_zero(b) {
        // -0 is the smaller one.
        if max { a & b } else { a | b }
    } else if f.less(a, b) != max {
        a
    } else {
        b
    }
}

/// GFX6 and GFX7: plain comparisons, so that a NaN gives the second operand.
fn legacy_min_max(f: Fmt, max: bool, a: u64, b: u64) -> u64 {
    let first = if max { f.compare(a, b).is_some_and(|o| o.is_ge()) } else { f.less(a, b) };
    if first { a } else { b }
}

/// V_MED3, word by word.
fn med3(f: Fmt, ieee: bool, [a, b, e]: [u64; 3]) -> u64 {
    let min = |a, b| min_max(f, ieee, false, a, b);
    let max = |a, b| min_max(f, ieee, true, a, b);
    let top = max(max(a, b), e);
    let is_top = |x| f.compare(top, x).is_some_and(|o| o.is_eq());
    if [a, b, e].iter().any(|&x| f.is_nan(x)) {
        min(min(a, b), e)
    } else if is_top(a) {
        max(b, e)
    } else if is_top(b) {
        max(a, e)
    } else {
        max(a, b)
    }
}

fn fract(c: &Fp, f: Fmt, a: u64) -> Result {
    let floor = f.round_integral(a, Round::TowardNegative);
    let r = f.add(a, floor ^ f.sign(), c.env.round(f));
    // From GFX7 on never 1: LLVM forms it from min(x - floor(x), the number below 1).
    if c.level != Level::Gfx6 && !f.is_nan(r.bits) && !f.less(r.bits, f.one()) {
        return (f.one() - 1).into();
    }
    r.into()
}

fn cube(name: &str, f: Fmt, round: Round, [x, y, z]: [u64; 3]) -> Option<u64> {
    let ge = |a: u64, b: u64| f.compare(f.abs(a), f.abs(b)).is_some_and(|o| o.is_ge());
    let below = |a: u64| f.less(a, 0);
    let minus = |a: u64| a ^ f.sign();
    let z_major = ge(z, x) && ge(z, y);
    let y_major = !z_major && ge(y, x);
    let number = |n: i128| f.from_int(n, NEAREST).bits;
    let pick = |zz: u64, yy: u64, xx: u64| {
        if z_major {
            zz
        } else if y_major {
            yy
        } else {
            xx
        }
    };
    Some(match name {
        "v_cubeid_f32" => {
            pick(number(4 + below(z) as i128), number(2 + below(y) as i128), number(below(x) as i128))
        }
        "v_cubesc_f32" => pick(if below(z) { minus(x) } else { x }, x, if below(x) { z } else { minus(z) }),
        "v_cubetc_f32" => pick(minus(y), if below(y) { minus(z) } else { z }, minus(y)),
        "v_cubema_f32" => f.mul(number(2), pick(z, y, x), round).bits,
        _ => return None,
    })
}

fn div_fixup(c: &Fp, f: Fmt, [q, d, n]: [u64; 3]) -> u64 {
    let sign = (d ^ n) & f.sign();
    if f.is_nan(n) {
        f.quiet(n)
    } else if f.is_nan(d) {
        f.quiet(d)
    } else if f.is_zero(d) && f.is_zero(n) || f.is_inf(d) && f.is_inf(n) {
        f.default_nan()
    } else if f.is_zero(d) || f.is_inf(n) {
        sign | f.inf()
    } else if f.is_inf(d) || f.is_zero(n) {
        sign
    } else if f != Fmt::F16 && f.exponent(n) - f.exponent(d) < if f == Fmt::F32 { -150 } else { -1075 } {
        // "underflow": the smallest result there is, rounded.
        let tiny = f.scale(sign | f.one(), -5000, c.env.round(f)).bits;
        tiny & f.mask()
    } else if f != Fmt::F16 && f.abs(q) >= f.inf() {
        // "overflow": the manual asks for S1's exponent, which cannot be that any more. The quotient's can: it has left
        // the range on its way (CLRX's manual has this rule for a NaN), and the division must not give a NaN.
        f.scale(sign | f.one(), 5000, c.env.round(f)).bits
    } else {
        sign | f.abs(q)
    }
}

/// V_DIV_SCALE: the scaled operand and the lane's VCC bit.
pub fn div_scale(f: Fmt, [s0, d, n]: [u64; 3]) -> (u64, bool) {
    let (near_max, step, tiny) = if f == Fmt::F32 { (96, 64, 23) } else { (768, 128, 53) };
    let up = |b| f.scale(b, step, NEAREST).bits;
    let down = |b| f.scale(b, -step, NEAREST).bits;
    // Quotients as numbers of unlimited range: a denormal one is anything below the smallest normal, so that one too
    // small for a denormal is still divided with care.
    let quotient_tiny = |a: u64, b: u64| {
        let finite = f.abs(a) < f.inf() && f.abs(b) < f.inf() && !f.is_zero(b);
        finite && !f.is_zero(a) && {
            let q = f.div(f.abs(a), f.abs(b), Round::TowardZero).bits;
            f.exponent(q) == 0
        }
    };
    let rcp_denormal = quotient_tiny(f.one(), d);
    let q_denormal = quotient_tiny(n, d);
    if f.is_zero(n) || f.is_zero(d) {
        (f.default_nan(), false)
    } else if f.exponent(n) - f.exponent(d) >= near_max {
        (if s0 == d { up(s0) } else { s0 }, true)
    } else if f.is_denormal(d) {
        (up(s0), false)
    } else if rcp_denormal && q_denormal {
        // The manual scales up, which overflows a denominator this large: divisions come out right with "down".
        (if s0 == d { down(s0) } else { s0 }, true)
    } else if rcp_denormal {
        (down(s0), false)
    } else if q_denormal {
        (if s0 == n { up(s0) } else { s0 }, true)
    } else if f.exponent(n) <= tiny {
        (up(s0), false)
    } else {
        (s0, false)
    }
}

/// A floating-point instruction's result, or nothing for other instructions.
pub fn op(name: &str, f: Fmt, c: &Fp, s: [u64; 3], d: u64, k: u64) -> Option<Result> {
    let round = c.env.round(f);
    // Before GFX9 minima and maxima leave denormals alone (LLVM's `supportsMinMaxDenormModes`).
    let stem = name.strip_prefix("v_")?;
    let keeps = !c.level.is_gfx9() && ["min", "max", "med"].iter().any(|m| stem.starts_with(m));
    if keeps {
        let [a, b, e] = s;
        let pick = |m: bool, x, y| min_max(f, c.env.ieee, m, x, y);
        let bits = match &stem[..stem.len() - 4] {
            "min" => pick(false, a, b),
            "max" => pick(true, a, b),
            "min3" => pick(false, pick(false, a, b), e),
            "max3" => pick(true, pick(true, a, b), e),
            "med3" => med3(f, c.env.ieee, s),
            "min_legacy" => legacy_min_max(f, false, a, b),
            "max_legacy" => legacy_min_max(f, true, a, b),
            _ => return None,
        };
        return Some(Result { raw: bits.into(), flush: false, keep: true });
    }
    let flushed = s.map(|x| c.env.input(f, x));
    let [a, b, e] = flushed;
    let d_in = c.env.input(f, d);
    let ieee = c.env.ieee;
    let min = |a, b| min_max(f, ieee, false, a, b);
    let max = |a, b| min_max(f, ieee, true, a, b);
    let minus = |x: u64| x ^ f.sign();
    // Unfused, and without denormals.
    let mad = |x: u64, y: u64, z: u64, legacy: bool| {
        let [x, y, z] = [x, y, z].map(|v| f.flush(v));
        let mut product = f.mul(x, y, round);
        if legacy && (f.is_zero(x) || f.is_zero(y)) {
            product = 0.into();
        }
        // The product is a result of the format, FP16_OVFL included.
        let product = f.flush(saturate(&c.env, f, product));
        Result { raw: f.add(product, z, round), flush: true, keep: false }
    };
    let stem = stem.strip_suffix("_f16").or(stem.strip_suffix("_f32")).or(stem.strip_suffix("_f64"))?;
    Some(match stem {
        "add" => f.add(a, b, round).into(),
        // Which NaN of two, and with which sign, nothing says: the minuend's first, the subtrahend's negated.
        "sub" => f.add(a, minus(b), round).into(),
        "subrev" => f.add(b, minus(a), round).into(),
        "mul" => f.mul(a, b, round).into(),
        "mul_legacy" if f.is_zero(a) || f.is_zero(b) => 0.into(),
        "mul_legacy" => f.mul(a, b, round).into(),
        "mac" => mad(s[0], s[1], d, false),
        "mac_legacy" => mad(s[0], s[1], d, true),
        "madmk" => mad(s[0], k, s[1], false),
        "madak" => mad(s[0], s[1], k, false),
        "mad" => mad(s[0], s[1], s[2], false),
        // The 16-bit one is "legacy" in what it does to the other half.
        "mad_legacy" => mad(s[0], s[1], s[2], f == Fmt::F32),
        "fmac" => f.fma(a, b, d_in, round).into(),
        "fma" | "fma_legacy" => f.fma(a, b, e, round).into(),
        "min" => min(a, b).into(),
        "max" => max(a, b).into(),
        "min3" => min(min(a, b), e).into(),
        "max3" => max(max(a, b), e).into(),
        "med3" => med3(f, ieee, flushed).into(),
        "floor" => f.round_integral(a, Round::TowardNegative).into(),
        "ceil" => f.round_integral(a, Round::TowardPositive).into(),
        "trunc" => f.round_integral(a, Round::TowardZero).into(),
        "rndne" => f.round_integral(a, NEAREST).into(),
        "fract" => fract(c, f, a),
        "frexp_mant" => {
            if f.is_nan(a) {
                f.quiet(a).into()
            } else if f.is_inf(a) || f.is_zero(a) {
                a.into()
            } else {
                f.scale(a, -frexp(f, a), NEAREST).into()
            }
        }
        "ldexp" => {
            let n = if f == Fmt::F16 { s[1] as i16 as i32 } else { s[1] as i32 };
            f.scale(a, n, round).into()
        }
        "div_fixup" | "div_fixup_legacy" => div_fixup(c, f, flushed).into(),
        "div_fmas" => {
            // Operands keep their denormals; the factor's sign follows the addend's exponent, as what V_DIV_SCALE
            // did is undone.
            let [x, y, z] = s;
            let scale = if f == Fmt::F32 { 64 } else { 128 };
            let scale = match c.vcc {
                false => 0,
                true if f.exponent(z) > f.bias() => scale,
                true => -scale,
            };
            f.fma_scaled(x, y, z, scale, round).into()
        }
        "cubeid" | "cubesc" | "cubetc" | "cubema" => cube(name, f, round, flushed)?.into(),
        // GFX6 and GFX7; the rule is in AMD's later manuals.
        "mullit" => {
            let lowest = f.sign() | f.largest();
            let bad_s1 = f.is_nan(b) || b == lowest || b == f.sign() | f.inf();
            let bad_s2 = f.is_nan(e) || !f.less(0, e);
            if bad_s1 || bad_s2 {
                lowest.into()
            } else if f.is_zero(a) || f.is_zero(b) {
                0.into()
            } else {
                f.mul(a, b, round).into()
            }
        }
        _ => return None,
    })
}

/// C's frexp exponent of a finite number that is not zero.
pub fn frexp(f: Fmt, a: u64) -> i32 {
    let top = f.scale(f.abs(a), 0, NEAREST).bits;
    if f.is_denormal(top) {
        // The fraction's leading bit counts.
        let lead = 63 - top.leading_zeros() as i32;
        lead - f.fraction() as i32 - f.bias() + 2
    } else {
        f.exponent(top) - f.bias() + 1
    }
}
