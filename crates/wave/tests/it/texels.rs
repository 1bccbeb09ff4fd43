//! An oracle for texel formats, from the names of the formats and exact fractions: no table and no float arithmetic.

use rustc_apfloat::ieee::{Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

/// The manual's names of data formats (9.1.2), by number.
pub const DATA_FORMATS: [&str; 15] = [
    "invalid",
    "8",
    "16",
    "8_8",
    "32",
    "16_16",
    "10_11_11",
    "11_11_10",
    "10_10_10_2",
    "2_10_10_10",
    "8_8_8_8",
    "32_32",
    "16_16_16_16",
    "32_32_32",
    "32_32_32_32",
];

/// Widths of components, lowest bits first.
pub fn widths(name: &str) -> Vec<u32> {
    name.split('_').rev().map(|n| n.parse().expect("a width")).collect()
}

/// Number formats by number: 0 unorm, 1 snorm, 2 uscaled, 3 sscaled, 4 uint, 5 sint, 6 snorm_ogl, 7 float, 9 srgb.
pub fn is_integer(nfmt: u32) -> bool {
    matches!(nfmt, 4 | 5)
}

/// Whether the hardware has a number format for these widths.
pub fn exists(name: &str, nfmt: u32) -> bool {
    let w = widths(name);
    match nfmt {
        7 => w.iter().all(|w| matches!(w, 16 | 32)) || matches!(name, "10_11_11" | "11_11_10"),
        9 => w.iter().all(|w| *w <= 8),
        _ => true,
    }
}

/// n / d rounded to an f32, to nearest even.
pub fn ratio(n: i128, d: i128) -> u32 {
    let sign = if (n < 0) != (d < 0) { 1u32 << 31 } else { 0 };
    let (n, d) = (n.unsigned_abs(), d.unsigned_abs());
    if n == 0 {
        return 0;
    }
    // Scale until the quotient has 24 bits: n / d = q * 2^e.
    let mut e = 0i32;
    let (mut n, mut d) = (n, d);
    while n / d >= 1 << 24 {
        d <<= 1;
        e += 1;
    }
    while n / d < 1 << 23 && e > -149 {
        n <<= 1;
        e -= 1;
    }
    let (mut q, r) = (n / d, n % d);
    if 2 * r > d || 2 * r == d && q & 1 == 1 {
        q += 1;
    }
    if q == 1 << 24 {
        q >>= 1;
        e += 1;
    }
    let biased = if q < 1 << 23 { 0 } else { (e + 150) as u32 };
    sign | biased << 23 | q as u32 & 0x7f_ffff
}

/// An f32 in exact form: sign, significand, exponent.
fn parts(x: u32) -> (bool, i128, i32) {
    let e = (x >> 23 & 0xff) as i32;
    let f = (x & 0x7f_ffff) as i128;
    if e == 0 { (x >> 31 != 0, f, -149) } else { (x >> 31 != 0, f | 1 << 23, e - 150) }
}

fn half_to_single(h: u32) -> u32 {
    let mut loses = false;
    let f: Single = Half::from_bits(h as u128).convert(&mut loses).value;
    f.to_bits() as u32
}

/// f32 to f16, to nearest even.
pub fn single_to_half(x: u32) -> u32 {
    let mut loses = false;
    let single = Single::from_bits(x as u128);
    let h: Half = single.convert_r(Round::NearestTiesToEven, &mut loses).value;
    h.to_bits() as u32
}

/// What a register gets of a component.
pub fn load(raw: u32, width: u32, nfmt: u32) -> u32 {
    if width == 32 {
        return raw;
    }
    let top = (1i128 << width) - 1;
    let n = raw as i128;
    let signed = if n >> (width - 1) != 0 { n - top - 1 } else { n };
    match nfmt {
        0 => ratio(n, top),
        1 => ratio(signed.max(-(top >> 1).max(1)), (top >> 1).max(1)),
        2 => ratio(n, 1),
        3 => ratio(signed, 1),
        4 => raw,
        5 => signed as u32,
        6 => ratio(2 * signed + 1, top),
        _ if width == 16 => half_to_single(raw),
        _ => {
            let fraction = width - 5;
            let (e, f) = (raw >> fraction, n & ((1 << fraction) - 1));
            match (e, f) {
                (31, 0) => 0x7f80_0000,
                (31, _) => 0x7fc0_0000,
                (0, f) => ratio(f, 1 << (14 + fraction)),
                (e, f) => {
                    let significand = (1 << fraction) + f;
                    ratio(significand << e, 1 << (15 + fraction))
                }
            }
        }
    }
}

/// x * scale as an integer, to nearest even or toward zero, limited to low..=high. NaN is zero.
fn scaled(x: u32, scale: i128, low: i128, high: i128, nearest: bool) -> i128 {
    if x & 0x7fff_ffff > 0x7f80_0000 {
        return 0;
    }
    let (negative, m, e) = parts(x);
    let magnitude = if e >= 24 {
        1 << 60
    } else if e >= 0 {
        (m << e) * scale
    } else if e < -80 {
        0
    } else {
        let d = 1i128 << -e;
        let (q, r) = (m * scale / d, m * scale % d);
        if nearest && (2 * r > d || 2 * r == d && q & 1 == 1) { q + 1 } else { q }
    };
    (if negative { -magnitude } else { magnitude }).clamp(low, high)
}

/// What memory gets of a register.
pub fn store(x: u32, width: u32, nfmt: u32) -> u32 {
    if width == 32 {
        return x;
    }
    let top = (1i128 << width) - 1;
    let half = top >> 1;
    let nan = x & 0x7fff_ffff > 0x7f80_0000;
    let raw = match nfmt {
        0 => scaled(x, top, 0, top, true),
        1 => scaled(x, half, -half, half, true),
        2 => scaled(x, 1, 0, top, false),
        3 => scaled(x, 1, -half - 1, half, false),
        4 => (x as i128).min(top),
        5 => (x as i32 as i128).clamp(-half - 1, half),
        7 if width == 16 => single_to_half(x) as i128,
        7 => {
            // Toward zero from 23 bits of fraction; the half has ten, of which the small floats keep the first.
            let infinity = 0x1f << (width - 5);
            match x {
                _ if nan => top,
                x if x >> 31 != 0 => 0,
                0x7f80_0000 => infinity,
                x => {
                    let (_, m, e) = parts(x);
                    let fraction = width as i32 - 5;
                    // The number in units of the smallest denormal, 2^(-14 - fraction).
                    let shift = e + 14 + fraction;
                    let mut units = if shift >= 40 {
                        1i128 << 80
                    } else if shift >= 0 {
                        m << shift
                    } else {
                        m >> (-shift).min(100)
                    };
                    let mut exponent = 0;
                    while units >= 2 << fraction {
                        units >>= 1;
                        exponent += 1;
                    }
                    let bits = if units >> fraction != 0 {
                        (exponent + 1) << fraction | units & ((1 << fraction) - 1)
                    } else {
                        units
                    };
                    bits.min(infinity - 1)
                }
            }
        }
        _ => panic!("not stored"),
    };
    (raw & top) as u32
}

/// The components of an element.
pub fn decode(bytes: &[u8], name: &str, nfmt: u32) -> [u32; 4] {
    let mut all = [0u8; 16];
    all[..bytes.len()].copy_from_slice(bytes);
    let all = u128::from_le_bytes(all);
    let mut out = [0; 4];
    let mut at = 0;
    for (i, w) in widths(name).into_iter().enumerate() {
        let raw = (all >> at) as u32 & (((1u64 << w) - 1) as u32);
        out[i] = load(raw, w, nfmt);
        at += w;
    }
    out
}

/// An element with these components.
pub fn encode(values: [u32; 4], name: &str, nfmt: u32) -> Vec<u8> {
    let (mut all, mut at) = (0u128, 0);
    for (i, w) in widths(name).into_iter().enumerate() {
        all |= (store(values[i], w, nfmt) as u128) << at;
        at += w;
    }
    all.to_le_bytes()[..at as usize / 8].to_vec()
}
