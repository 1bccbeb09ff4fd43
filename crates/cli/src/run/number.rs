//! Types of numbers, and numbers as text and as bytes.

use wavemill_sem::soft::{self, Round};

/// A number's type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Number {
    /// Signed, of so many bytes.
    Int(usize),
    /// Unsigned, of so many bytes.
    Uint(usize),
    /// Floating point, of so many bytes.
    Float(usize),
}

/// Names of number types.
pub const NUMBERS: [(&str, Number); 11] = [
    ("i8", Number::Int(1)),
    ("u8", Number::Uint(1)),
    ("i16", Number::Int(2)),
    ("u16", Number::Uint(2)),
    ("i32", Number::Int(4)),
    ("u32", Number::Uint(4)),
    ("i64", Number::Int(8)),
    ("u64", Number::Uint(8)),
    ("f16", Number::Float(2)),
    ("f32", Number::Float(4)),
    ("f64", Number::Float(8)),
];

impl Number {
    /// The type of a name.
    pub fn named(name: &str) -> Option<Number> {
        NUMBERS.iter().find(|(n, _)| *n == name).map(|(_, t)| *t)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        NUMBERS.iter().find(|(_, t)| *t == self).map_or("?", |(n, _)| n)
    }

    /// True for floating point.
    pub fn is_float(self) -> bool {
        matches!(self, Number::Float(_))
    }

    /// The bytes of a number, rounded to what the type has.
    pub fn encode(self, value: f64) -> Vec<u8> {
        match self {
            Number::Float(2) => half_from_f64(value).to_le_bytes().to_vec(),
            Number::Float(4) => (value as f32).to_le_bytes().to_vec(),
            Number::Float(_) => value.to_le_bytes().to_vec(),
            Number::Int(n) => (value as i64).to_le_bytes()[..n].to_vec(),
            Number::Uint(n) => (value as u64).to_le_bytes()[..n].to_vec(),
        }
    }

    /// Its size in bytes.
    pub fn size(self) -> usize {
        match self {
            Number::Int(n) | Number::Uint(n) | Number::Float(n) => n,
        }
    }

    /// The bytes of a number written as text: decimal, `0x…`, or for floats `1.5e3`, `inf`, `nan`.
    pub fn bytes(self, text: &str) -> Result<Vec<u8>, String> {
        let wrong = || format!("`{text}` is not a number");
        let size = self.size();
        if let Number::Float(_) = self {
            let value: f64 = text.parse().map_err(|_| wrong())?;
            return Ok(self.encode(value));
        }
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let hex = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
        let magnitude = match hex {
            Some(h) => u64::from_str_radix(h, 16),
            None => digits.parse::<u64>(),
        };
        let magnitude = i128::from(magnitude.map_err(|_| wrong())?);
        let value = if negative { -magnitude } else { magnitude };
        let bits = 8 * size as u32;
        // Bit patterns in hexadecimal are as welcome in signed types.
        let (low, high) = match self {
            Number::Int(_) if hex.is_none() => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
            Number::Int(_) => (-(1i128 << (bits - 1)), (1i128 << bits) - 1),
            _ => (0, (1i128 << bits) - 1),
        };
        if !(low..=high).contains(&value) {
            return Err(format!("{text} is not within {low} to {high}"));
        }
        Ok(value.to_le_bytes()[..size].to_vec())
    }

    /// An element as text.
    pub fn text(self, bytes: &[u8]) -> String {
        let mut wide = [0u8; 8];
        wide[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]);
        let bits = u64::from_le_bytes(wide);
        match self {
            Number::Uint(_) => bits.to_string(),
            Number::Int(n) => {
                let shift = 64 - 8 * n as u32;
                (((bits << shift) as i64) >> shift).to_string()
            }
            // An f32's own digits, not those of the f64 that it is, too.
            Number::Float(4) => (self.value(bytes) as f32).to_string(),
            Number::Float(_) => self.value(bytes).to_string(),
        }
    }

    /// An element as a number, for pictures.
    pub fn value(self, bytes: &[u8]) -> f64 {
        match self {
            Number::Float(2) => f64_from_half(u16::from_le_bytes(bytes.try_into().unwrap_or_default())),
            Number::Float(4) => f32::from_le_bytes(bytes.try_into().unwrap_or_default()).into(),
            Number::Float(_) => f64::from_le_bytes(bytes.try_into().unwrap_or_default()),
            _ => self.text(bytes).parse().unwrap_or(0.0),
        }
    }
}

/// Rounds to the nearest f16, ties to even.
fn half_from_f64(value: f64) -> u16 {
    soft::convert(soft::F64, soft::F16, value.to_bits(), Round::Nearest) as u16
}

fn f64_from_half(half: u16) -> f64 {
    f64::from_bits(soft::convert(soft::F16, soft::F64, half.into(), Round::Nearest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_rounded_to_even() {
        for (text, want) in
            [("1", 0x3c00), ("-2.5", 0xc100), ("65504", 0x7bff), ("65520", 0x7c00), ("6e-8", 1)]
        {
            assert_eq!(Number::Float(2).bytes(text), Ok(u16::to_le_bytes(want).to_vec()), "{text}");
        }
        for half in [0u16, 1, 0x3ff, 0x400, 0x3c00, 0x7bff, 0x7c00, 0xfc00, 0x8001] {
            assert_eq!(half_from_f64(f64_from_half(half)), half);
        }
    }
}
