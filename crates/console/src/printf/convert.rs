//! Numbers and text as one conversion specification wants them (C99 7.19.6.1).

use super::spec::Spec;

/// Pads to the width. `sign` and prefixes come before zeros.
fn pad(spec: &Spec, sign: &[u8], body: &[u8], zeros: bool, out: &mut Vec<u8>) {
    let missing = spec.width().saturating_sub(sign.len() + body.len());
    let fill = |out: &mut Vec<u8>, byte: u8| out.resize(out.len() + missing, byte);
    if !spec.left && !zeros {
        fill(out, b' ');
    }
    out.extend(sign);
    if !spec.left && zeros {
        fill(out, b'0');
    }
    out.extend(body);
    if spec.left {
        fill(out, b' ');
    }
}

/// `s`.
pub(super) fn string(spec: &Spec, text: &[u8], out: &mut Vec<u8>) {
    let len = text.len().min(spec.precision().unwrap_or(usize::MAX));
    pad(spec, b"", &text[..len], false, out);
}

/// `c`.
pub(super) fn character(spec: &Spec, byte: u8, out: &mut Vec<u8>) {
    pad(spec, b"", &[byte], false, out);
}

/// `p`, as glibc writes it: as if by `%#lx`, but null has a name.
pub(super) fn pointer(spec: &Spec, address: u64, out: &mut Vec<u8>) {
    if address == 0 {
        return pad(spec, b"", b"(nil)", false, out);
    }
    let mut body = format!("{address:x}").into_bytes();
    precise(&mut body, spec.precision());
    let sign: &[u8] = sign(spec, false);
    pad(spec, &[sign, b"0x"].concat(), &body, spec.zero && spec.precision().is_none(), out);
}

fn sign(spec: &Spec, negative: bool) -> &'static [u8] {
    match (negative, spec.plus, spec.space) {
        (true, ..) => b"-",
        (false, true, _) => b"+",
        (false, false, true) => b" ",
        _ => b"",
    }
}

/// Puts zeros in front of digits until there are as many as the precision says.
fn precise(digits: &mut Vec<u8>, precision: Option<usize>) {
    let missing = precision.unwrap_or(1).saturating_sub(digits.len());
    digits.splice(..0, std::iter::repeat_n(b'0', missing));
}

/// `d i u o x X`, of a number of `width` bits.
pub(super) fn integer(spec: &Spec, bits: u64, width: u32, out: &mut Vec<u8>) {
    let unused = 64 - width.clamp(1, 64);
    let unsigned = bits << unused >> unused;
    let signed = (bits << unused).cast_signed() >> unused;
    let (prefix, mut digits): (&[u8], String) = match spec.conversion {
        b'd' | b'i' => (sign(spec, signed < 0), signed.unsigned_abs().to_string()),
        b'o' => (b"", format!("{unsigned:o}")),
        b'x' => (if spec.alternate && unsigned != 0 { b"0x" } else { b"" }, format!("{unsigned:x}")),
        b'X' => (if spec.alternate && unsigned != 0 { b"0X" } else { b"" }, format!("{unsigned:X}")),
        _ => (b"", unsigned.to_string()),
    };
    // Nothing, with a precision of nothing.
    if unsigned == 0 {
        digits.clear();
    }
    let mut digits = digits.into_bytes();
    precise(&mut digits, spec.precision());
    if spec.conversion == b'o' && spec.alternate && digits.first() != Some(&b'0') {
        digits.insert(0, b'0');
    }
    pad(spec, prefix, &digits, spec.zero && spec.precision().is_none(), out);
}

/// `f F e E g G a A`.
pub(super) fn float(spec: &Spec, value: f64, out: &mut Vec<u8>) {
    let sign = sign(spec, value.is_sign_negative());
    let upper = spec.conversion.is_ascii_uppercase();
    let magnitude = value.abs();
    if !magnitude.is_finite() {
        let name: &[u8] = match (magnitude.is_nan(), upper) {
            (true, false) => b"nan",
            (true, true) => b"NAN",
            (false, false) => b"inf",
            (false, true) => b"INF",
        };
        return pad(spec, sign, name, false, out);
    }
    let precision = spec.precision();
    let mut body = match spec.conversion.to_ascii_lowercase() {
        b'f' => fixed(magnitude, precision.unwrap_or(6), spec.alternate),
        b'e' => exponential(magnitude, precision.unwrap_or(6), spec.alternate),
        b'g' => general(magnitude, precision.unwrap_or(6).max(1), spec.alternate),
        _ => hexadecimal(magnitude, precision, spec.alternate),
    };
    if upper {
        body.make_ascii_uppercase();
    }
    // A hexadecimal number's zeros come after its 0x.
    let at = if matches!(spec.conversion, b'a' | b'A') { 2 } else { 0 };
    let (prefix, digits) = body.as_bytes().split_at(at);
    pad(spec, &[sign, prefix].concat(), digits, spec.zero, out);
}

/// No double has more decimals that are not zero.
const DECIMALS: usize = 1100;

/// `123.456`.
fn fixed(value: f64, precision: usize, point: bool) -> String {
    let mut text = format!("{value:.*}", precision.min(DECIMALS));
    text.extend(std::iter::repeat_n('0', precision.saturating_sub(DECIMALS)));
    if precision == 0 && point {
        text.push('.');
    }
    text
}

/// The digits of a number with one in front of the point and `precision` behind it, and its exponent.
fn scientific(value: f64, precision: usize) -> (String, i32) {
    let text = format!("{value:.*e}", precision.min(DECIMALS));
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mut digits = digits.to_owned();
    digits.extend(std::iter::repeat_n('0', precision.saturating_sub(DECIMALS)));
    (digits, exponent.parse().unwrap_or(0))
}

fn exponent(e: i32) -> String {
    format!("e{}{:02}", if e < 0 { '-' } else { '+' }, e.unsigned_abs())
}

/// `1.234e+05`.
fn exponential(value: f64, precision: usize, point: bool) -> String {
    let (mut digits, e) = scientific(value, precision);
    if precision == 0 && point {
        digits.push('.');
    }
    digits + &exponent(e)
}

/// Whichever is shorter, with `precision` digits in all.
fn general(value: f64, precision: usize, alternate: bool) -> String {
    let (mut digits, e) = scientific(value, precision - 1);
    let small = e >= -4 && i64::from(e) < precision as i64;
    if small {
        digits = fixed(value, (precision as i64 - 1 - i64::from(e)) as usize, alternate);
    } else if precision == 1 && alternate {
        digits.push('.');
    }
    if !alternate && digits.contains('.') {
        let kept = digits.trim_end_matches('0').trim_end_matches('.').len();
        digits.truncate(kept);
    }
    if small { digits } else { digits + &exponent(e) }
}

/// `0x1.8p+3`; subnormal numbers have a 0 in front of the point, as glibc writes them.
fn hexadecimal(value: f64, precision: Option<usize>, point: bool) -> String {
    const FRACTION: u32 = 52;
    /// Hexadecimal digits of a fraction.
    const DIGITS: usize = 13;
    let bits = value.to_bits();
    let biased = (bits >> FRACTION) as i32;
    let mut digits = bits & ((1 << FRACTION) - 1) | u64::from(biased > 0) << FRACTION;
    let e = match (value == 0.0, biased) {
        (true, _) => 0,
        (false, 0) => -1022,
        (false, biased) => biased - 1023,
    };
    let shown = precision.map_or(DIGITS, |p| p.min(DIGITS));
    // To nearest, ties to even; a carry may go into the digit in front of the point.
    let dropped = 4 * (DIGITS - shown) as u32;
    if dropped > 0 {
        let (rest, half) = (digits & ((1 << dropped) - 1), 1 << (dropped - 1));
        digits >>= dropped;
        digits += u64::from(rest > half || rest == half && digits & 1 != 0);
        digits <<= dropped;
    }
    let mut fraction = format!("{:013x}", digits & ((1 << FRACTION) - 1));
    match precision {
        None => fraction.truncate(fraction.trim_end_matches('0').len()),
        Some(p) if p <= DIGITS => fraction.truncate(p),
        Some(p) => fraction.extend(std::iter::repeat_n('0', p - DIGITS)),
    }
    let dot = if fraction.is_empty() && !point { "" } else { "." };
    format!("0x{}{dot}{fraction}p{}{}", digits >> FRACTION, if e < 0 { '-' } else { '+' }, e.unsigned_abs())
}
