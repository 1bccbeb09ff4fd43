//! Conversions, classes, exponents and V_TRIG_PREOP: instructions whose operands and result differ in kind.

use crate::float::{Fmt, Raw};
use crate::fp::{Fp, Result, frexp};
use rustc_apfloat::Round;
use std::sync::OnceLock;

/// A result.
pub enum Out {
    /// An integer or bits: no output modifiers.
    Bits(u128),
    /// A number that output modifiers apply to.
    Number(Fmt, Result),
    /// Two halves, each a number, the low one first.
    Halves(Result, Result),
}

const NEAREST: Round = Round::NearestTiesToEven;

fn bits(v: i128, width: u32) -> Out {
    Out::Bits(v as u128 & ((1 << width) - 1))
}

/// flt32_to_uint8 by the current rounding (GFX6's manual), saturating.
fn to_u8(c: &Fp, a: u64) -> u128 {
    Fmt::F32.to_int(c.env.input(Fmt::F32, a), 8, false, c.env.round(Fmt::F32)) as u128
}

/// A normalized number as a 16-bit integer.
fn normalized(f: Fmt, a: u64, signed: bool, round: Round) -> i128 {
    if f.is_nan(a) {
        return 0;
    }
    let x = f.to_f64(a).clamp(if signed { -1.0 } else { 0.0 }, 1.0);
    // Exact: 53 bits hold 24 and 16.
    let scaled = x * if signed { 32767.0 } else { 65535.0 };
    Fmt::F64.to_int(scaled.to_bits(), 32, true, round)
}

/// A conversion's result, or nothing for other instructions.
pub fn op(name: &str, c: &Fp, s: [u128; 3], d: u128) -> Option<Out> {
    use Fmt::{F16, F32, F64};
    let [a, b, _] = s.map(|v| v as u64);
    let number = |f: Fmt, r: Raw| Out::Number(f, r.into());
    let round = |f: Fmt| c.env.round(f);
    let input = |f: Fmt, v: u64| c.env.input(f, v);
    let zero = Round::TowardZero;
    let convert = |from: Fmt, to: Fmt| number(to, from.convert(to, input(from, a), round(to)));
    Some(match name {
        "v_cvt_i32_f64" => bits(F64.to_int(a, 32, true, zero), 32),
        "v_cvt_u32_f64" => bits(F64.to_int(a, 32, false, zero), 32),
        "v_cvt_i32_f32" => bits(F32.to_int(a, 32, true, zero), 32),
        "v_cvt_u32_f32" => bits(F32.to_int(a, 32, false, zero), 32),
        "v_cvt_i16_f16" => bits(F16.to_int(a, 16, true, zero), 16),
        "v_cvt_u16_f16" => bits(F16.to_int(a, 16, false, zero), 16),
        // These two and the f32 V_CVT_PKNORM do not look at MODE (LLVM's `ReadsModeReg`).
        // A NaN saturates by its sign (CLRX's notes, for GCN; measured on gfx1201).
        "v_cvt_flr_i32_f32" | "v_cvt_rpi_i32_f32" if F32.is_nan(a) => {
            bits(if F32.negative(a) { i32::MIN as i128 } else { i32::MAX as i128 }, 32)
        }
        "v_cvt_flr_i32_f32" => bits(F32.to_int(a, 32, true, Round::TowardNegative), 32),
        "v_cvt_rpi_i32_f32" => {
            // floor(S0 + 0.5), the sum being exact: f64 holds it unless it is far from every integer boundary.
            let x = F32.to_f64(a);
            bits(F64.to_int((x + 0.5).to_bits(), 32, true, Round::TowardNegative), 32)
        }
        "v_cvt_f64_i32" => number(F64, F64.from_int(a as i32 as i128, NEAREST)),
        "v_cvt_f64_u32" => number(F64, F64.from_int(a as u32 as i128, NEAREST)),
        "v_cvt_f32_i32" => number(F32, F32.from_int(a as i32 as i128, round(F32))),
        "v_cvt_f32_u32" => number(F32, F32.from_int(a as u32 as i128, round(F32))),
        "v_cvt_f16_i16" => number(F16, F16.from_int(a as i16 as i128, round(F16))),
        "v_cvt_f16_u16" => number(F16, F16.from_int(a as u16 as i128, round(F16))),
        "v_cvt_f32_ubyte0" => number(F32, F32.from_int((a & 0xff) as i128, NEAREST)),
        "v_cvt_f32_ubyte1" => number(F32, F32.from_int((a >> 8 & 0xff) as i128, NEAREST)),
        "v_cvt_f32_ubyte2" => number(F32, F32.from_int((a >> 16 & 0xff) as i128, NEAREST)),
        "v_cvt_f32_ubyte3" => number(F32, F32.from_int((a >> 24 & 0xff) as i128, NEAREST)),
        "v_cvt_off_f32_i4" => {
            let n = ((a as i32) << 28 >> 28) as i128;
            number(F32, F32.scale(F32.from_int(n, NEAREST).bits, -4, NEAREST))
        }
        // To f16 by the f16/f64 rounding, like every result of that format.
        "v_cvt_f16_f32" => convert(F32, F16),
        "v_cvt_f32_f16" => convert(F16, F32),
        "v_cvt_f32_f64" => convert(F64, F32),
        "v_cvt_f64_f32" => convert(F32, F64),
        "v_cvt_norm_i16_f16" => bits(normalized(F16, input(F16, a), true, round(F16)), 16),
        "v_cvt_norm_u16_f16" => bits(normalized(F16, input(F16, a), false, round(F16)), 16),
        "v_cvt_pknorm_i16_f32" | "v_cvt_pknorm_u16_f32" | "v_cvt_pknorm_i16_f16" | "v_cvt_pknorm_u16_f16" => {
            let f = if name.ends_with("f16") { F16 } else { F32 };
            let input = |v| if f == F16 { input(f, v) } else { v };
            let half = |v: u64| normalized(f, input(v), name.contains("_i16_"), NEAREST) as u128 & 0xffff;
            Out::Bits(half(b) << 16 | half(a))
        }
        "v_cvt_pkrtz_f16_f32" => {
            let half = |v: u64| F32.convert(F16, input(F32, v), zero).into();
            Out::Halves(half(a), half(b))
        }
        // LLVM uses it only for halves known to be canonical: it quiets and flushes like arithmetic.
        "v_pack_b32_f16" => {
            let half = |v: u64| {
                let v = input(F16, v);
                if F16.is_nan(v) { F16.quiet(v) } else { v }.into()
            };
            Out::Halves(half(a), half(b))
        }
        "v_cvt_pk_u8_f32" => {
            let at = 8 * (s[1] & 3);
            Out::Bits(s[2] & !(0xff << at) | to_u8(c, a) << at)
        }
        "v_cvt_pkaccum_u8_f32" => {
            let at = 8 * (s[1] & 3);
            Out::Bits(d & !(0xff << at) | to_u8(c, a) << at)
        }
        "v_frexp_exp_i32_f64" | "v_frexp_exp_i32_f32" | "v_frexp_exp_i16_f16" => {
            let f = match &name[name.len() - 3..] {
                "f64" => F64,
                "f32" => F32,
                _ => F16,
            };
            let a = input(f, a);
            let special = f.is_nan(a) || f.is_inf(a) || f.is_zero(a);
            bits(if special { 0 } else { frexp(f, a) as i128 }, if f == F16 { 16 } else { 32 })
        }
        "v_trig_preop_f64" => number(F64, trig_preop(a, b as u32 & 31).into()),
        _ => return None,
    })
}

/// The bit that V_CMP_CLASS tests for a number.
pub fn class(f: Fmt, a: u64) -> u32 {
    let kind = if f.is_nan(a) {
        return !f.is_snan(a) as u32;
    } else if f.is_inf(a) {
        0
    } else if f.is_zero(a) {
        3
    } else if f.is_denormal(a) {
        2
    } else {
        1
    };
    // From -infinity (2) to -0 (5), then from +0 (6) to +infinity (9).
    if f.negative(a) { 2 + kind } else { 9 - kind }
}

/// Bits of 2/pi below the point: more than any segment reaches.
const TABLE: usize = 1201;

/// The binary digits of 2/pi, computed: pi by Machin's formula in fixed point, then a long division.
fn two_over_pi() -> &'static [bool] {
    static DIGITS: OnceLock<Vec<bool>> = OnceLock::new();
    DIGITS.get_or_init(|| {
        // Numbers are little-endian limbs with 32 · (N - 1) bits below the point.
        const N: usize = 44;
        type Big = [u32; N];
        fn divide(a: &Big, by: u32) -> Big {
            let mut out = [0; N];
            let mut rest = 0u64;
            for i in (0..N).rev() {
                let v = rest << 32 | a[i] as u64;
                out[i] = (v / by as u64) as u32;
                rest = v % by as u64;
            }
            out
        }
        fn add(a: &Big, b: &Big) -> Big {
            let mut out = [0; N];
            let mut carry = 0u64;
            for i in 0..N {
                let v = a[i] as u64 + b[i] as u64 + carry;
                out[i] = v as u32;
                carry = v >> 32;
            }
            out
        }
        fn sub(a: &Big, b: &Big) -> Big {
            let mut one = [0; N];
            one[0] = 1;
            add(&add(a, &b.map(|x| !x)), &one)
        }
        fn arctan_inverse(n: u32, times: u32) -> Big {
            let mut power = [0; N];
            power[N - 1] = times;
            power = divide(&power, n);
            let mut sum = power;
            let mut k = 1;
            while power.iter().any(|&x| x != 0) {
                power = divide(&divide(&power, n), n);
                let term = divide(&power, 2 * k + 1);
                sum = if k % 2 == 1 { sub(&sum, &term) } else { add(&sum, &term) };
                k += 1;
            }
            sum
        }
        let pi = sub(&arctan_inverse(5, 16), &arctan_inverse(239, 4));
        let mut rest = [0; N];
        rest[N - 1] = 2;
        let at_least = |a: &Big, b: &Big| a.iter().rev().ge(b.iter().rev());
        (0..TABLE)
            .map(|_| {
                rest = add(&rest, &rest);
                let digit = at_least(&rest, &pi);
                if digit {
                    rest = sub(&rest, &pi);
                }
                digit
            })
            .collect()
    })
}

fn trig_preop(a: u64, segment: u32) -> u64 {
    let f = Fmt::F64;
    if f.is_nan(a) {
        return f.quiet(a);
    }
    let exponent = f.exponent(a);
    let mut shift = segment as i32 * 53;
    if exponent > 1077 {
        shift += exponent - 1077;
    }
    let digits = two_over_pi();
    let digit = |i: usize| digits.get(i).copied().unwrap_or(false) as u64;
    let segment = (0..53).fold(0, |v, i| v << 1 | digit(shift as usize + i));
    // Near the table's end the hardware gives zero (LLVM's constant folding, which has 37 dwords of it).
    if shift / 32 + 2 >= 37 {
        return 0;
    }
    let mut scale = -53 - shift;
    if exponent >= 1968 {
        scale += 128;
    }
    f.scale(f.from_int(segment as i128, NEAREST).bits, scale, Round::TowardZero).bits
}
