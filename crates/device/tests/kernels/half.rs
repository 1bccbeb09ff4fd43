//! f16 on the host.

/// Rounds to the nearest f16, ties to even.
pub fn to_half(value: f64) -> u16 {
    let sign = u16::from(value.is_sign_negative()) << 15;
    let a = value.abs();
    if a.is_nan() {
        return sign | 0x7e00;
    }
    if a >= 65520.0 {
        return sign | 0x7c00;
    }
    // The spacing of f16 numbers around `a`; below 2^-14 it no longer shrinks.
    let exponent = if a == 0.0 { -14 } else { (a.to_bits() >> 52) as i32 - 1023 };
    let exponent = exponent.max(-14);
    let steps = (a / 2f64.powi(exponent - 10)).round_ties_even();
    sign | (((exponent + 14) as u16) << 10).wrapping_add(steps as u16)
}

/// The value of an f16.
pub fn of_half(half: u16) -> f64 {
    let (exponent, fraction) = (i32::from((half >> 10) & 31), f64::from(half & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        e => (1024.0 + fraction) * 2f64.powi(e - 25),
    };
    if half >> 15 == 1 { -magnitude } else { magnitude }
}
