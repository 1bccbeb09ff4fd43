//! Conversions, and what looks at exponents, a lane at a time, on floats as integers.

use wavemill_sem::mode::{FloatMode, Mode};
use wavemill_sem::soft::{self, F16, F32, F64, Format, Round};

/// V_LDEXP: a · 2ⁿ.
pub fn ldexp(f: Format, a: u64, n: i32, m: FloatMode) -> u64 {
    let a = if m.flush_in { f.flush(a) } else { a };
    let r = soft::ldexp(f, a, n, m.round);
    if m.flush_out { f.flush(r) } else { r }
}
/// V_FREXP_EXP: the exponent that brings the number into ½..1; 0 for zero, infinity and NaN.
pub fn frexp_exp(f: Format, a: u64, m: FloatMode) -> u32 {
    let a = if m.flush_in { f.flush(a) } else { a };
    let magnitude = a & !f.sign();
    if magnitude == 0 || magnitude >= f.infinity() {
        return 0;
    }
    let n = soft::unpack(f, a);
    (n.exponent + 128 - n.significand.leading_zeros() as i32) as u32
}
/// V_FREXP_MANT: the number brought into ½..1.
pub fn frexp_mant(f: Format, a: u64, m: FloatMode) -> u64 {
    let a = if m.flush_in { f.flush(a) } else { a };
    let magnitude = a & !f.sign();
    if f.is_nan(a) {
        return a | f.quiet();
    }
    if magnitude == 0 || magnitude == f.infinity() {
        return a;
    }
    let n = soft::unpack(f, a);
    let e = n.exponent + 128 - n.significand.leading_zeros() as i32;
    soft::ldexp(f, a, -e, Round::Nearest)
}
/// V_CMP_CLASS: whether the number is of one of the classes in `set` (manual 12.9, V_CMP_CLASS_F32).
pub fn class(f: Format, a: u64, set: u32) -> bool {
    let magnitude = a & !f.sign();
    let negative = a & f.sign() != 0;
    let bit = if f.is_snan(a) {
        0
    } else if f.is_nan(a) {
        1
    } else {
        let rank = if magnitude == f.infinity() {
            0
        } else if magnitude == 0 {
            3
        } else if f.is_denormal(a) {
            2
        } else {
            1
        };
        // Negative: -inf 2, -normal 3, -denormal 4, -0 5; positive: +0 6 up to +inf 9.
        if negative { 2 + rank } else { 9 - rank }
    };
    set >> bit & 1 != 0
}
/// V_CVT_RPI_I32_F32: floor(a + ½), computed exactly.
pub fn rpi(a: u32) -> u32 {
    floor(a, 0.5)
}
/// V_CVT_FLR_I32_F32: floor(a).
pub fn flr(a: u32) -> u32 {
    floor(a, 0.0)
}
/// Unlike V_CVT_I32_F32 these saturate a NaN by its sign (CLRX's notes on GCN; measured on gfx1201).
fn floor(a: u32, plus: f64) -> u32 {
    let x = f32::from_bits(a) as f64;
    if x.is_nan() {
        return if a >> 31 != 0 { 0x8000_0000 } else { 0x7fff_ffff };
    }
    (x + plus).floor() as i32 as u32
}
/// V_CVT_OFF_F32_I4: a signed 4-bit number of sixteenths.
pub fn off_i4(a: u32) -> u32 {
    ((((a << 28) as i32 >> 28) as f32) / 16.0).to_bits()
}
/// V_CVT_F32_F64: rounds by the f32 mode, flushes inputs by f64's and results by f32's.
pub fn f32_f64(a: u64, m: &Mode) -> u32 {
    let a = if m.f64.flush_in { F64.flush(a) } else { a };
    let r = soft::convert(F64, F32, a, m.f32.round);
    (if m.f32.flush_out { F32.flush(r) } else { r }) as u32
}
/// V_CVT_F64_F32.
pub fn f64_f32(a: u32, m: &Mode) -> u64 {
    let a = if m.f32.flush_in { F32.flush(a as u64) } else { a as u64 };
    soft::convert(F32, F64, a, Round::Nearest)
}
/// V_CVT_I32_F64: toward zero, saturating, NaN to 0.
pub fn i32_f64(a: u64) -> u32 {
    f64::from_bits(a) as i32 as u32
}
/// V_CVT_U32_F64.
pub fn u32_f64(a: u64) -> u32 {
    f64::from_bits(a) as u32
}
/// V_CVT_F64_I32.
pub fn f64_i32(a: u32) -> u64 {
    (a as i32 as f64).to_bits()
}
/// V_CVT_F64_U32.
pub fn f64_u32(a: u32) -> u64 {
    (a as f64).to_bits()
}
/// V_CVT_F16_U16 and V_CVT_F16_I16.
pub fn f16_int(a: u32, signed: bool, m: &Mode) -> u32 {
    let n = if signed { a as u16 as i16 as i32 } else { (a & 0xffff) as i32 };
    let r = soft::from_int(F16, n < 0, n.unsigned_abs() as u64, m.f64.round) as u32;
    if m.fp16_ovfl && r & 0x7fff == 0x7c00 { r - 1 } else { r }
}
/// V_CVT_U16_F16: toward zero, saturating, NaN to 0.
pub fn u16_f16(a: u32) -> u32 {
    f32::from_bits(soft::h2f(a & 0xffff)) as u16 as u32
}
/// V_CVT_I16_F16.
pub fn i16_f16(a: u32) -> u32 {
    f32::from_bits(soft::h2f(a & 0xffff)) as i16 as u16 as u32
}
fn round_to_int(x: f64, round: Round) -> f64 {
    match round {
        Round::Nearest => x.round_ties_even(),
        Round::Up => x.ceil(),
        Round::Down => x.floor(),
        Round::Zero => x.trunc(),
    }
}
/// f32 in -1..1 to a signed 16-bit fraction.
pub fn snorm16(a: u32, round: Round) -> u32 {
    let x = f32::from_bits(a);
    if x.is_nan() {
        return 0;
    }
    round_to_int(x.clamp(-1.0, 1.0) as f64 * 32767.0, round) as i32 as u32 & 0xffff
}
/// f32 in 0..1 to an unsigned 16-bit fraction.
pub fn unorm16(a: u32, round: Round) -> u32 {
    let x = f32::from_bits(a);
    if x.is_nan() {
        return 0;
    }
    round_to_int(x.clamp(0.0, 1.0) as f64 * 65535.0, round) as u32
}
/// f32 to an 8-bit unsigned integer by the mode, saturating, NaN to 0 (V_CVT_PK_U8_F32).
pub fn u8_f32(a: u32, m: FloatMode) -> u32 {
    let a = if m.flush_in { F32.flush(a as u64) as u32 } else { a };
    round_to_int(f32::from_bits(a) as f64, m.round) as u8 as u32
}
/// V_CVT_PK_U8_F32: into byte `b` of `c`.
pub fn pk_u8(a: u32, b: u32, c: u32, m: FloatMode) -> u32 {
    let at = (b & 3) * 8;
    c & !(0xff << at) | u8_f32(a, m) << at
}
