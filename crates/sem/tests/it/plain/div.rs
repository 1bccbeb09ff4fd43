//! The division helpers and V_TRIG_PREOP, a lane at a time, on floats as integers.

use wavemill_sem::mode::FloatMode;
use wavemill_sem::soft::{self, F32, F64, Format, Round};

/// The exponent field.
const fn exponent(format: Format, bits: u64) -> i32 {
    ((bits & !format.sign()) >> format.fraction) as i32
}

/// V_DIV_SCALE (manual 12.11): the operand `s0`, scaled where the division of `n` by `d` needs it, and whether
/// V_DIV_FMAS must scale back. Where both 1/d and n/d are denormal the manual scales the denominator up, which
/// overflows; scaling it down is what makes the quotient right.
fn scale(format: Format, s0: u64, d: u64, n: u64, tiny_quotient: bool) -> (u64, bool) {
    let (apart, by, tiny) = if format.fraction == 23 { (96, 64, 23) } else { (768, 128, 53) };
    let magnitude = |x: u64| x & !format.sign();
    let ldexp = |by: i32| soft::ldexp(format, s0, by, Round::Nearest);
    let (ed, en) = (exponent(format, d), exponent(format, n));
    // 1/d is denormal when d exceeds two to the bias minus one.
    let top = (format.infinity() >> format.fraction) as i32 - 2;
    let tiny_reciprocal = ed >= top && magnitude(d) != (top as u64) << format.fraction && ed <= top + 1;
    if magnitude(n) == 0 || magnitude(d) == 0 {
        (format.default_nan(), false)
    } else if en - ed >= apart {
        (if s0 == d { ldexp(by) } else { s0 }, true)
    } else if format.is_denormal(d) {
        (ldexp(by), false)
    } else if tiny_reciprocal && tiny_quotient {
        (if s0 == d { ldexp(-by) } else { s0 }, true)
    } else if tiny_reciprocal {
        (ldexp(-by), false)
    } else if tiny_quotient {
        (if s0 == n { ldexp(by) } else { s0 }, true)
    } else if en <= tiny {
        (ldexp(by), false)
    } else {
        (s0, false)
    }
}

pub fn scale32(s0: u32, d: u32, n: u32) -> (u32, bool) {
    let (x, y) = (f32::from_bits(n) as f64, f32::from_bits(d) as f64);
    let tiny = y.is_finite() && (x / y).abs() < f32::MIN_POSITIVE as f64;
    let (r, vcc) = scale(F32, s0 as u64, d as u64, n as u64, tiny);
    (r as u32, vcc)
}
pub fn scale64(s0: u64, d: u64, n: u64) -> (u64, bool) {
    let [x, y] = [n, d].map(|v| v & !F64.sign());
    // The quotient itself counts, not what it would be rounded to: n < least · d, where least is the least normal number.
    let least = F64.sign() | f64::MIN_POSITIVE.to_bits();
    let tiny = x <= F64.infinity()
        && y < F64.infinity()
        && soft::fma(F64, least, y, x, Round::Nearest) & F64.sign() != 0;
    scale(F64, s0, d, n, tiny)
}

/// V_DIV_FMAS: the fused product and sum, times 2^±n where VCC is set: up when the quotient estimate `c` is above one,
/// down when it is below. (The manual's 2³² and 2⁶⁴ cannot undo what V_DIV_SCALE did.) One rounding.
fn fmas(format: Format, a: u64, b: u64, c: u64, m: FloatMode) -> u64 {
    let by = if format.fraction == 23 { 64 } else { 128 };
    let one = (format.infinity() >> format.fraction) as i32 / 2;
    let by = if exponent(format, c) > one { by } else { -by };
    // Scaling b and c by a power of two scales the exact sum; do it on the exponents, before the one rounding.
    let r = soft::fma_scaled(format, a, b, c, by, m.round);
    if m.flush_out { format.flush(r) } else { r }
}
/// V_DIV_FMAS_F32 where VCC is set.
pub fn fmas_f32(a: u32, b: u32, c: u32, m: FloatMode) -> u32 {
    fmas(F32, a as u64, b as u64, c as u64, m) as u32
}
/// V_DIV_FMAS_F64 where VCC is set.
pub fn fmas_f64(a: u64, b: u64, c: u64, m: FloatMode) -> u64 {
    fmas(F64, a, b, c, m)
}

/// V_DIV_FIXUP (manual 12.11).
fn fixup(format: Format, q: u64, d: u64, n: u64, m: FloatMode) -> u64 {
    let f = |x: u64| if m.flush_in { format.flush(x) } else { x };
    let (q, d, n) = (f(q), f(d), f(n));
    let sign = (d ^ n) & format.sign();
    let (ad, an) = (d & !format.sign(), n & !format.sign());
    let inf = format.infinity();
    let limit = if format.fraction == 23 { -150 } else { -1075 };
    if format.is_nan(n) {
        n | format.quiet()
    } else if format.is_nan(d) {
        d | format.quiet()
    } else if ad == 0 && an == 0 || ad == inf && an == inf {
        format.default_nan()
    } else if ad == 0 || an == inf {
        sign | inf
    } else if ad == inf || an == 0 {
        sign
    } else if exponent(format, n) - exponent(format, d) < limit {
        // "underflow": the quotient is below half the least denormal.
        let up = match m.round {
            Round::Up => sign == 0,
            Round::Down => sign != 0,
            _ => false,
        };
        sign | (up && !m.flush_out) as u64
    } else if exponent(format, q) == (inf >> format.fraction) as i32 {
        // "overflow": the quotient left the range on its way (the manual asks S1 here, which cannot be infinite any more).
        let finite = match m.round {
            Round::Nearest => false,
            Round::Up => sign != 0,
            Round::Down => sign == 0,
            Round::Zero => true,
        };
        sign | if finite { format.max() } else { inf }
    } else {
        let r = sign | q & !format.sign();
        if m.flush_out { format.flush(r) } else { r }
    }
}
/// V_DIV_FIXUP_F32.
pub fn fixup_f32(q: u32, d: u32, n: u32, m: FloatMode) -> u32 {
    fixup(F32, q as u64, d as u64, n as u64, m) as u32
}
/// V_DIV_FIXUP_F64.
pub fn fixup_f64(q: u64, d: u64, n: u64, m: FloatMode) -> u64 {
    fixup(F64, q, d, n, m)
}

/// The first 1,216 bits of 2/π after the binary point, in 64-bit pieces, most significant first.
const TWO_OVER_PI: [u64; 19] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_6bab,
];

/// V_TRIG_PREOP_F64: a 53-bit segment of 2/π, aligned for the reduction of `a` (manual 12.11).
pub fn trig_preop(a: u64, segment: u32) -> u64 {
    if F64.is_nan(a) {
        return a | F64.quiet();
    }
    let e = exponent(F64, a);
    let mut shift = (segment & 31) as i32 * 53;
    if e > 1077 {
        shift += e - 1077;
    }
    // Near the table's end the hardware gives zero (LLVM's constant folding).
    if shift >= 1120 {
        return 0;
    }
    // Bits [shift, shift + 53) below the point, most significant first; beyond the table they are zero.
    let mut bits = 0u64;
    for i in 0..53 {
        let at = (shift + i) as usize;
        let bit = TWO_OVER_PI.get(at / 64).map_or(0, |w| w >> (63 - at % 64) & 1);
        bits = bits << 1 | bit;
    }
    let mut scale = -53 - shift;
    if e >= 1968 {
        scale += 128;
    }
    soft::ldexp(F64, soft::from_int(F64, false, bits, Round::Zero), scale, Round::Zero)
}
