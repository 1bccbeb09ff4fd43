//! Floating-point numbers from text, rounded once from their exact value.

/// Reads a decimal or hexadecimal floating-point number exactly, rounding to nearest even.
pub fn parse_real(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    match bytes {
        [b'0', b'x' | b'X', rest @ ..] => parse_hex_real(rest),
        // Rust's parser rounds correctly but must not see its own spellings of infinity and NaN.
        _ if bytes.iter().all(|b| matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-')) => {
            // An exponent without digits counts as zero.
            let digits = text.trim_end_matches(['+', '-']).trim_end_matches(['e', 'E']);
            digits.parse().ok()
        }
        _ => None,
    }
}

/// Reads a hexadecimal floating-point number as a single, rounded once from its exact value.
pub fn parse_hex_single(text: &str) -> Option<f32> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    hex_float_bits(digits.as_bytes(), 24, 127).map(|bits| f32::from_bits(bits as u32))
}

fn parse_hex_real(digits: &[u8]) -> Option<f64> {
    hex_float_bits(digits, 53, 1023).map(f64::from_bits)
}

/// The bits of a binary float with this many significant bits and this largest exponent, for `1.8p3` and the like.
fn hex_float_bits(digits: &[u8], precision: u32, max_exponent: i64) -> Option<u64> {
    let min_exponent = 1 - max_exponent;
    let mut mantissa: u128 = 0;
    let mut sticky = false;
    let mut exponent: i64 = 0;
    let mut after_point = false;
    let mut at = 0;
    loop {
        let byte = *digits.get(at)?;
        at += 1;
        match byte {
            b'.' => after_point = true,
            b'p' | b'P' => break,
            _ => {
                let digit = (byte as char).to_digit(16)?;
                if mantissa >> 120 == 0 {
                    mantissa = mantissa << 4 | u128::from(digit);
                    exponent -= if after_point { 4 } else { 0 };
                } else {
                    sticky |= digit != 0;
                    exponent += if after_point { 0 } else { 4 };
                }
            }
        }
    }
    let (negative, rest) = match &digits[at..] {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let mut scale: i64 = 0;
    for &byte in rest {
        scale = (scale * 10 + i64::from((byte as char).to_digit(10)?)).min(1 << 40);
    }
    exponent += if negative { -scale } else { scale };
    if mantissa == 0 {
        return Some(0);
    }
    // Normalise to 128 bits, cut to the precision (less for denormals), round to nearest even.
    let shift = mantissa.leading_zeros();
    let mantissa = mantissa << shift;
    let exponent = exponent - i64::from(shift) + 127;
    let infinity = ((2 * max_exponent + 1) as u64) << (precision - 1);
    if exponent > max_exponent {
        return Some(infinity);
    }
    let normal = exponent >= min_exponent;
    let keep = i64::from(precision) - if normal { 0 } else { min_exponent - exponent };
    if keep < 0 {
        return Some(0);
    }
    let cut = 128 - keep as u32;
    let (kept, lost, half) = match cut {
        128 => (0, mantissa, 1u128 << 127),
        _ => ((mantissa >> cut) as u64, mantissa & ((1 << cut) - 1), 1u128 << (cut - 1)),
    };
    let up = lost > half || (lost == half && (sticky || kept & 1 == 1));
    let rounded = kept + u64::from(up);
    // The implicit bit carries into the exponent field by plain addition.
    let base = if normal { ((exponent - min_exponent) as u64) << (precision - 1) } else { 0 };
    Some(base + rounded)
}
