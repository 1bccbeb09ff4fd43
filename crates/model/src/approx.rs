//! The instructions for which the manual promises an error bound instead of bits: what they may give.

use crate::float::{Fmt, Raw};
use crate::fp::Fp;

/// A result or the bounds of one.
pub enum Approx {
    /// The manual names the result.
    Exact(Raw),
    /// Anything between two [`Fmt::key`]s.
    Span(i128, i128),
}

/// Results within a number of units in the last place of a value.
fn near(f: Fmt, value: f64, ulps: f64) -> Approx {
    let key = f.key(Fmt::F64.convert(f, value.to_bits(), rustc_apfloat::Round::NearestTiesToEven).bits);
    if f == Fmt::F64 {
        return Approx::Span(key - ulps as i128, key + ulps as i128);
    }
    let exponent = (value.abs().log2().floor() as i32).max(1 - f.bias());
    let tolerance = ulps * 2f64.powi(exponent - f.fraction() as i32);
    within(f, value, key, tolerance)
}

/// Results within a distance of a value whose nearest neighbour's key is known. The sign is the value's.
fn within(f: Fmt, value: f64, key: i128, tolerance: f64) -> Approx {
    let number = |k: i128| {
        let b = f.from_key(k);
        // Infinity stands for the number that would be next.
        if f.is_inf(b) {
            2f64.powi(f.bias() + 1).copysign(if k < 0 { -1.0 } else { 1.0 })
        } else {
            f.to_f64(b)
        }
    };
    let same_sign = |k: i128| value == 0.0 || (k < 0) == (value < 0.0);
    let fits =
        |k: i128| same_sign(k) && f.abs(f.from_key(k)) <= f.inf() && (number(k) - value).abs() <= tolerance;
    let (mut lo, mut hi) = (key, key);
    while fits(lo - 1) {
        lo -= 1;
    }
    while fits(hi + 1) {
        hi += 1;
    }
    Approx::Span(lo, hi)
}

/// An approximate instruction's bounds, or nothing for other instructions.
pub fn op(name: &str, f: Fmt, c: &Fp, a: u64) -> Option<Approx> {
    let stem = name.strip_prefix("v_")?;
    let stem = stem.strip_suffix("_f16").or(stem.strip_suffix("_f32")).or(stem.strip_suffix("_f64"))?;
    let trig = matches!(stem, "sin" | "cos");
    let known = matches!(
        stem,
        "exp"
            | "log"
            | "rcp"
            | "rsq"
            | "sqrt"
            | "rcp_iflag"
            | "exp_legacy"
            | "log_legacy"
            | "log_clamp"
            | "rcp_clamp"
            | "rsq_clamp"
            | "rcp_legacy"
            | "rsq_legacy"
    );
    if !trig && !known {
        return None;
    }
    // The f32 ones know no denormals, except for the sine and cosine.
    let a = if f == Fmt::F32 && !trig { f.flush(a) } else { c.env.input(f, a) };
    let x = f.to_f64(a);
    let ulps = match f {
        Fmt::F16 => 0.51,
        Fmt::F32 => 1.0,
        Fmt::F64 => 2f64.powi(29),
    };
    let exact = |b: u64| Some(Approx::Exact(b.into()));
    let sign = a & f.sign();
    // What the clamped and legacy forms make of an infinite result.
    let infinite = |sign: u64| match stem {
        "rcp_clamp" | "rsq_clamp" => sign | f.largest(),
        "rcp_legacy" | "rsq_legacy" => sign,
        "log_clamp" if sign != 0 => sign | f.largest(),
        _ => sign | f.inf(),
    };
    if f.is_nan(a) {
        return exact(f.quiet(a));
    }
    let kind = stem.split('_').next()?;
    let bounded = match kind {
        "exp" if f.is_inf(a) => return exact(if sign != 0 { 0 } else { a }),
        "exp" if f.is_zero(a) => return exact(f.one()),
        "exp" => overflowing(f, x.exp2(), ulps),
        "log" if f.is_zero(a) => return exact(infinite(f.sign())),
        "log" if sign != 0 => return exact(f.default_nan()),
        "log" if f.is_inf(a) => return exact(infinite(0)),
        "log" if a == f.one() => return exact(0),
        "log" => near(f, x.log2(), ulps),
        "rcp" if f.is_zero(a) => return exact(infinite(sign)),
        "rcp" if f.is_inf(a) => return exact(sign),
        "rcp" => overflowing(f, 1.0 / x, ulps),
        "rsq" if f.is_zero(a) => return exact(infinite(sign)),
        "rsq" | "sqrt" if f.is_zero(a) => return exact(sign),
        "rsq" | "sqrt" if sign != 0 => return exact(f.default_nan()),
        "rsq" if f.is_inf(a) => return exact(0),
        "sqrt" if f.is_inf(a) => return exact(a),
        "rsq" => near(f, 1.0 / x.sqrt(), ulps),
        "sqrt" => near(f, x.sqrt(), ulps),
        _ if f.is_inf(a) => return exact(f.default_nan()),
        _ if f.is_zero(a) => return exact(if kind == "sin" { a } else { f.one() }),
        _ => {
            // The manual gives no bound for these two; eight bits less than the format has around 1 would be a
            // scandal. Whole turns vanish exactly.
            let turn = x - x.floor();
            let angle = turn * std::f64::consts::TAU;
            let value = if kind == "sin" { angle.sin() } else { angle.cos() };
            let tolerance = 2f64.powi(if f == Fmt::F16 { -10 } else { -20 });
            let key = |v: f64| {
                f.key(Fmt::F64.convert(f, v.to_bits(), rustc_apfloat::Round::NearestTiesToEven).bits)
            };
            Approx::Span(key((value - tolerance).max(-1.0)), key((value + tolerance).min(1.0)))
        }
    };
    Some(match bounded {
        Approx::Exact(raw) if f.is_inf(raw.bits) && infinite(0) != f.inf() => {
            Approx::Exact(infinite(raw.bits & f.sign()).into())
        }
        other => other,
    })
}

/// A value that may be too large for the format.
fn overflowing(f: Fmt, value: f64, ulps: f64) -> Approx {
    let limit = 2f64.powi(f.bias()) * 2.0;
    if f != Fmt::F64 && value.abs() >= limit {
        let sign = if value < 0.0 { f.sign() } else { 0 };
        return Approx::Exact(Raw { bits: sign | f.inf(), overflow: true });
    }
    if value == 0.0 || value.is_infinite() {
        let bits = Fmt::F64.convert(f, value.to_bits(), rustc_apfloat::Round::NearestTiesToEven).bits;
        return Approx::Exact(bits.into());
    }
    near(f, value, ulps)
}
