//! The algorithms of the functions that the hardware only bounds, a lane at a time: what comes out is settled by these, bit by
//! bit, whatever way lanes take.

use wavemill_sem::half::HalfMode;
use wavemill_sem::mode::FloatMode;
use wavemill_sem::soft::{F16, F32, F64};

const NAN32: u32 = F32.default_nan() as u32;
const NAN64: u64 = F64.default_nan();

fn input(a: u32, m: FloatMode) -> u32 {
    if m.flush_in { F32.flush(a as u64) as u32 } else { a }
}
/// Denormals count as zero (manual 12.8: "denormals are flushed").
fn ftz(a: u32) -> f64 {
    f32::from_bits(F32.flush(a as u64) as u32) as f64
}
/// To f32, with denormal results flushed; a NaN operand wins.
fn out(a: u32, r: f64, flush: bool) -> u32 {
    if F32.is_nan(a as u64) {
        return a | 0x40_0000;
    }
    if r.is_nan() {
        return NAN32;
    }
    let bits = (r as f32).to_bits();
    if flush { F32.flush(bits as u64) as u32 } else { bits }
}

/// V_RCP_F32.
pub fn rcp_f32(a: u32) -> u32 {
    out(a, 1.0 / ftz(a), true)
}
/// V_RSQ_F32; rsq(-0) is -inf.
pub fn rsq_f32(a: u32) -> u32 {
    let x = ftz(a);
    out(a, if x == 0.0 { 1.0 / x } else { 1.0 / x.sqrt() }, true)
}
/// V_SQRT_F32.
pub fn sqrt_f32(a: u32) -> u32 {
    out(a, ftz(a).sqrt(), true)
}
/// 2ˣ for |x| ≤ ½.
fn exp2_poly(r: f64) -> f64 {
    // e^(r ln 2) as a Taylor sum; the ninth power of 0.35 over 9! is below 2⁻³⁰ of an f32 ulp.
    let t = r * std::f64::consts::LN_2;
    let mut s = 1.0;
    let mut n = 11.0;
    while n > 0.0 {
        s = 1.0 + s * t / n;
        n -= 1.0;
    }
    s
}
/// 2ˣ.
fn exp2(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x >= 1100.0 {
        return f64::INFINITY;
    }
    if x <= -1100.0 {
        return 0.0;
    }
    let n = x.round_ties_even();
    let p = exp2_poly(x - n);
    // Two steps, so that no factor leaves f64's range.
    let half = (n / 2.0).trunc();
    let pow = |e: f64| f64::from_bits(((e as i64 + 1023) as u64) << 52);
    p * pow(half) * pow(n - half)
}
/// V_EXP_F32.
pub fn exp_f32(a: u32) -> u32 {
    out(a, exp2(ftz(a)), true)
}
/// Base-2 logarithm of a positive, finite number that is normal in f64.
fn log2_finite(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut e = ((bits >> 52) & 0x7ff) as i64 - 1023;
    let mut m = f64::from_bits(bits & 0x000f_ffff_ffff_ffff | 0x3ff0_0000_0000_0000);
    if m > std::f64::consts::SQRT_2 {
        m *= 0.5;
        e += 1;
    }
    let s = (m - 1.0) / (m + 1.0);
    let q = s * s;
    let mut sum = 0.0;
    let mut n = 21.0;
    while n > 0.0 {
        sum = sum * q + 1.0 / n;
        n -= 2.0;
    }
    e as f64 + 2.0 * s * sum * std::f64::consts::LOG2_E
}
fn log2(x: f64) -> f64 {
    if x == 0.0 {
        f64::NEG_INFINITY
    } else if x < 0.0 || x.is_nan() {
        f64::NAN
    } else if x == f64::INFINITY {
        x
    } else {
        log2_finite(x)
    }
}
/// V_LOG_F32.
pub fn log_f32(a: u32) -> u32 {
    out(a, log2(ftz(a)), true)
}
/// sin 2πx for a finite x.
fn sin_turns(x: f64) -> f64 {
    // f32 operands are exact here: the reduction has no error.
    let mut r = x - x.round_ties_even();
    if r > 0.25 {
        r = 0.5 - r;
    } else if r < -0.25 {
        r = -0.5 - r;
    }
    let t = r * (2.0 * std::f64::consts::PI);
    let q = t * t;
    let mut s = 1.0;
    let mut n = 20.0;
    while n > 0.0 {
        s = 1.0 - q * s / (n * (n + 1.0));
        n -= 2.0;
    }
    t * s
}
/// V_SIN_F32: the operand counts turns. Denormals go as the mode says.
pub fn sin_f32(a: u32, m: FloatMode) -> u32 {
    let a = input(a, m);
    let x = f32::from_bits(a) as f64;
    let r = if x == 0.0 {
        x
    } else if x.is_finite() {
        sin_turns(x)
    } else {
        f64::NAN
    };
    out(a, r, m.flush_out)
}
/// V_COS_F32.
pub fn cos_f32(a: u32, m: FloatMode) -> u32 {
    let a = input(a, m);
    let x = f32::from_bits(a) as f64;
    let r = if x.is_finite() {
        let r = (x - x.round_ties_even()).abs();
        sin_turns(0.25 - r)
    } else {
        f64::NAN
    };
    out(a, r, m.flush_out)
}

/// A function of f64, denormals as the mode says; a NaN operand wins.
fn double(a: u64, m: FloatMode, f: impl Fn(f64) -> f64) -> u64 {
    let a = if m.flush_in { F64.flush(a) } else { a };
    let r = f(f64::from_bits(a));
    if F64.is_nan(a) {
        a | F64.quiet()
    } else if r.is_nan() {
        NAN64
    } else if m.flush_out {
        F64.flush(r.to_bits())
    } else {
        r.to_bits()
    }
}
/// V_RCP_F64.
pub fn rcp_f64(a: u64, m: FloatMode) -> u64 {
    double(a, m, |x| 1.0 / x)
}
/// V_RSQ_F64.
pub fn rsq_f64(a: u64, m: FloatMode) -> u64 {
    double(a, m, |x| if x == 0.0 { 1.0 / x } else { 1.0 / x.sqrt() })
}
/// V_SQRT_F64.
pub fn sqrt_f64(a: u64, m: FloatMode) -> u64 {
    double(a, m, f64::sqrt)
}

/// An f16 function by its f64 twin: 0.51 ULP, denormals and overflow as the mode says. An infinity is exact where the
/// operand is infinite or the function has a pole.
fn half(a: u32, m: HalfMode, f: impl Fn(f64) -> f64) -> u32 {
    let a = a as u64 & 0xffff;
    let h = if m.float.flush_in { F16.flush(a) } else { a } as u32;
    if F16.is_nan(h as u64) {
        return h | 0x200;
    }
    let r = f(f32::from_bits(wavemill_sem::soft::h2f(h)) as f64);
    if r.is_nan() {
        return F16.default_nan() as u32;
    }
    let bits = wavemill_sem::soft::convert(F64, F16, r.to_bits(), wavemill_sem::soft::Round::Nearest) as u32;
    if m.ovfl && bits & 0x7fff == 0x7c00 && r.is_finite() {
        return bits - 1;
    }
    if m.float.flush_out { F16.flush(bits as u64) as u32 } else { bits }
}
/// V_RCP_F16.
pub fn rcp_f16(a: u32, m: HalfMode) -> u32 {
    half(a, m, |x| 1.0 / x)
}
/// V_SQRT_F16.
pub fn sqrt_f16(a: u32, m: HalfMode) -> u32 {
    half(a, m, f64::sqrt)
}
/// V_RSQ_F16.
pub fn rsq_f16(a: u32, m: HalfMode) -> u32 {
    half(a, m, |x| if x == 0.0 { 1.0 / x } else { 1.0 / x.sqrt() })
}
/// V_EXP_F16.
pub fn exp_f16(a: u32, m: HalfMode) -> u32 {
    // A finite power too large for f64 is as finite as the others.
    half(a, m, |x| exp2(if x.is_finite() { x.min(1000.0) } else { x }))
}
/// V_LOG_F16.
pub fn log_f16(a: u32, m: HalfMode) -> u32 {
    half(a, m, log2)
}
/// V_SIN_F16.
pub fn sin_f16(a: u32, m: HalfMode) -> u32 {
    half(a, m, |x| {
        if x == 0.0 {
            x
        } else if x.is_finite() {
            sin_turns(x)
        } else {
            f64::NAN
        }
    })
}
/// V_COS_F16.
pub fn cos_f16(a: u32, m: HalfMode) -> u32 {
    half(a, m, |x| if x.is_finite() { sin_turns(0.25 - (x - x.round_ties_even()).abs()) } else { f64::NAN })
}
/// The clamp variants of GFX6 and GFX7: infinities become the largest numbers.
pub fn clamp_inf_f32(r: u32) -> u32 {
    if r & 0x7fff_ffff == 0x7f80_0000 { r - 1 } else { r }
}
/// The same in double precision.
pub fn clamp_inf_f64(r: u64) -> u64 {
    if r & !F64.sign() == F64.infinity() { r - 1 } else { r }
}
/// The legacy variants of GFX6 and GFX7: infinities become zeros.
pub fn legacy_inf_f32(r: u32) -> u32 {
    if r & 0x7fff_ffff == 0x7f80_0000 { r & 0x8000_0000 } else { r }
}
/// V_LOG_CLAMP_F32: the pole at zero becomes the lowest number; an infinite operand's logarithm stays.
pub fn clamp_pole_f32(r: u32) -> u32 {
    if r == 0xff80_0000 { r - 1 } else { r }
}
