//! Constants as sources: which value an operand of a type can encode inline, which as a literal dword, and how.
//!
//! The rules are LLVM's. A token with a fraction is a double that is rounded to the operand's type; an integer token
//! is the operand's bits. Sixteen-bit integer operands read inline floats as 32-bit ones.

use wavemill_isa::{Kind, Ty, regs};

/// A number as written.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Number {
    /// An integer, or an expression that came to one.
    Int(i64),
    /// The bits of a double.
    Float(u64),
}

/// How an operand reads constants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reading {
    I16,
    F16,
    I16x2,
    F16x2,
    B32,
    I64,
    F64,
}

/// An encoded constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Coded {
    /// A source code.
    Inline(u32),
    /// Source code 255 and this dword.
    Literal(u32),
}

impl Reading {
    /// The reading of a type.
    pub fn of(ty: Ty) -> Reading {
        match (ty.kind, ty.bits, ty.count) {
            (Kind::F, 16, 1) => Reading::F16,
            (_, 16, 1) => Reading::I16,
            (Kind::F | Kind::Bf, 16, _) => Reading::F16x2,
            (_, 16, _) => Reading::I16x2,
            (Kind::F, 64, _) => Reading::F64,
            (_, 64, _) => Reading::I64,
            _ => Reading::B32,
        }
    }

    /// True when the operand may be an expression to be resolved later.
    pub fn takes_expression(self) -> bool {
        self == Reading::B32
    }
}

/// Can the bits of a value be cut to `bits` without losing anything but sign copies?
fn truncates(value: i64, bits: u32) -> bool {
    let min = -(1i64 << (bits - 1));
    value >= min && value < 1i64 << bits
}

fn small(value: i64) -> Option<u32> {
    match value {
        0..=64 => Some(regs::INT_0 + value as u32),
        -16..=-1 => Some((regs::INT_M1 as i64 - 1 - value) as u32),
        _ => None,
    }
}

fn float_code(inv2pi: bool, hit: impl Fn(&(u16, u32, u64)) -> bool) -> Option<u32> {
    let i = regs::INLINE_FLOATS.iter().position(hit)? as u32;
    (i < 8 || inv2pi).then_some(regs::FLOAT_0_5 + i)
}

fn inline16(bits: u16, inv2pi: bool) -> Option<u32> {
    small(bits as i16 as i64).or_else(|| float_code(inv2pi, |f| f.0 == bits))
}

fn inline32(bits: u32, inv2pi: bool) -> Option<u32> {
    small(bits as i32 as i64).or_else(|| float_code(inv2pi, |f| f.1 == bits))
}

fn inline64(bits: u64, inv2pi: bool) -> Option<u32> {
    small(bits as i64).or_else(|| float_code(inv2pi, |f| f.2 == bits))
}

/// A double as f32, and whether it neither overflows nor loses digits to underflow.
fn to_f32(bits: u64) -> (u32, bool) {
    let x = f64::from_bits(bits);
    let r = x as f32;
    let overflow = r.is_infinite() && !x.is_infinite();
    let underflow = r.abs() < f32::MIN_POSITIVE && f64::from(r) != x;
    (r.to_bits(), !overflow && !underflow)
}

/// A double as f16, rounded to nearest even, and whether it neither overflows nor loses digits to underflow.
fn to_f16(bits: u64) -> (u16, bool) {
    let x = f64::from_bits(bits);
    let sign = (bits >> 48) as u16 & 0x8000;
    let a = x.abs();
    if a >= 65520.0 {
        return (sign | 0x7c00, a.is_infinite());
    }
    if a < 6.103_515_625e-5 {
        // Below the least normal number the spacing is 2^-24.
        let steps = a * 16_777_216.0;
        let rounded = steps.round_ties_even();
        return (sign | rounded as u16, rounded == steps || rounded as u16 >= 0x400);
    }
    let magnitude = bits & !(1 << 63);
    let half = (1u64 << 41) - 1 + (magnitude >> 42 & 1);
    let rounded = (magnitude + half) >> 42;
    // Rebias the exponent: 1023 to 15.
    (sign | (rounded - ((1023 - 15) << 10)) as u16, true)
}

/// Is the value one of the operand's inline constants?
fn is_inline(reading: Reading, number: Number, inv2pi: bool) -> bool {
    match (number, reading) {
        (Number::Float(bits), Reading::I64 | Reading::F64) => inline64(bits, inv2pi).is_some(),
        (Number::Float(bits), Reading::F16 | Reading::F16x2) => {
            let (half, exact) = to_f16(bits);
            exact && inline16(half, inv2pi).is_some()
        }
        (Number::Float(bits), _) => {
            let (single, exact) = to_f32(bits);
            exact && inline32(single, inv2pi).is_some()
        }
        (Number::Int(n), Reading::I64 | Reading::F64) => inline64(n as u64, inv2pi).is_some(),
        (Number::Int(n), Reading::B32) => truncates(n, 32) && inline32(n as u32, inv2pi).is_some(),
        (Number::Int(n), Reading::I16 | Reading::I16x2) => {
            truncates(n, 16) && small(n as i16 as i64).is_some()
        }
        (Number::Int(n), Reading::F16 | Reading::F16x2) => {
            truncates(n, 16) && inline16(n as u16, inv2pi).is_some()
        }
    }
}

/// Could the value be the operand's literal dword?
fn is_literal(reading: Reading, number: Number, modified: bool) -> bool {
    match (number, reading) {
        // An integer's sign bit is not where the double's would be.
        (Number::Int(_), Reading::F64) if modified => false,
        (Number::Int(n), Reading::I16 | Reading::F16) => truncates(n, 16),
        (Number::Int(n), _) => truncates(n, 32),
        (Number::Float(_), Reading::F64) => true,
        (Number::Float(_), Reading::I64) => false,
        (Number::Float(bits), Reading::F16 | Reading::F16x2) => to_f16(bits).1,
        (Number::Float(bits), _) => to_f32(bits).1,
    }
}

/// The encoding of a value that [`is_inline`] or [`is_literal`].
fn code(reading: Reading, number: Number, inv2pi: bool) -> Coded {
    let short = |inline: Option<u32>, literal: u32| inline.map_or(Coded::Literal(literal), Coded::Inline);
    match (number, reading) {
        (Number::Float(bits), Reading::F64 | Reading::I64) => {
            // A literal is the upper half.
            let bits = if inline64(bits, inv2pi).is_some() { bits } else { bits & !0xffff_ffff };
            short(inline64(bits, inv2pi), (bits >> 32) as u32)
        }
        (Number::Float(bits), Reading::F16 | Reading::F16x2) => {
            let half = to_f16(bits).0;
            short(inline16(half, inv2pi), half.into())
        }
        (Number::Float(bits), _) => {
            let single = to_f32(bits).0;
            short(inline32(single, inv2pi), single)
        }
        (Number::Int(n), Reading::B32) => short(inline32(n as u32, inv2pi), n as u32),
        (Number::Int(n), Reading::I64) => short(inline64(n as u64, inv2pi), n as u32),
        (Number::Int(n), Reading::F64) => {
            let high = if inline64(n as u64, inv2pi).is_some() { n as u64 } else { (n as u64) << 32 };
            short(inline64(high, inv2pi), n as u32)
        }
        (Number::Int(n), Reading::I16) => short(inline32(n as u32, inv2pi), n as u32 & 0xffff),
        (Number::Int(n), Reading::F16) => short(inline16(n as u16, inv2pi), n as u32 & 0xffff),
        (Number::Int(n), Reading::I16x2) => short(inline32(n as u32, inv2pi), n as u32),
        (Number::Int(n), Reading::F16x2) => {
            let bits = n as u32;
            let inline = small(bits as i32 as i64).or_else(|| float_code(inv2pi, |f| u32::from(f.0) == bits));
            short(inline, bits)
        }
    }
}

/// Source modifiers a constant takes before it is encoded, in the encodings without modifier bits.
#[derive(Clone, Copy, Default)]
pub(super) struct Sign {
    pub neg: bool,
    pub abs: bool,
}

impl Sign {
    fn apply(self, reading: Reading, number: Number) -> Number {
        let flip = |bits: u64, sign: u64| {
            let bits = if self.abs { bits & !sign } else { bits };
            if self.neg { bits ^ sign } else { bits }
        };
        match number {
            Number::Float(bits) => Number::Float(flip(bits, 1 << 63)),
            Number::Int(n) => {
                let sign = match reading {
                    Reading::I16 | Reading::F16 | Reading::I16x2 | Reading::F16x2 => 1 << 15,
                    Reading::B32 => 1 << 31,
                    Reading::I64 | Reading::F64 => 1 << 63,
                };
                Number::Int(flip(n as u64, sign) as i64)
            }
        }
    }
}

/// Encodes a source of an encoding that may be followed by a literal. Modifiers are folded into the value.
pub(super) fn with_literal(reading: Reading, number: Number, sign: Sign, inv2pi: bool) -> Option<Coded> {
    let modified = sign.neg || sign.abs;
    if !(!modified && is_inline(reading, number, inv2pi) || is_literal(reading, number, modified)) {
        return None;
    }
    let number = if modified { sign.apply(reading, number) } else { number };
    Some(code(reading, number, inv2pi))
}

/// Encodes a source of an encoding that has inline constants only; `None` when it is not one.
pub(super) fn inline_only(reading: Reading, number: Number, inv2pi: bool) -> Option<u32> {
    // GFX6 and GFX7, which lack 1/(2 pi), have no 16-bit constants either.
    let halves = matches!(reading, Reading::F16 | Reading::F16x2);
    if halves && !inv2pi || !is_inline(reading, number, inv2pi) && !is_literal(reading, number, false) {
        return None;
    }
    match code(reading, number, inv2pi) {
        Coded::Inline(code) => Some(code),
        Coded::Literal(_) => None,
    }
}

/// The dword of a mandatory literal.
pub(super) fn mandatory(reading: Reading, number: Number) -> Option<u32> {
    if !is_literal(reading, number, false) {
        return None;
    }
    Some(match (number, reading) {
        (Number::Float(bits), Reading::F16) => to_f16(bits).0.into(),
        (Number::Float(bits), _) => to_f32(bits).0,
        (Number::Int(n), Reading::F16 | Reading::I16) => n as u32 & 0xffff,
        (Number::Int(n), _) => n as u32,
    })
}

/// Does a double operand's literal drop digits?
pub(super) fn loses_digits(reading: Reading, number: Number, inv2pi: bool) -> bool {
    matches!((reading, number), (Reading::F64, Number::Float(bits))
        if bits & 0xffff_ffff != 0 && inline64(bits, inv2pi).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_round_to_nearest_even() {
        let half = |x: f64| to_f16(x.to_bits());
        assert_eq!(half(1.0), (0x3c00, true));
        assert_eq!(half(-2.0), (0xc000, true));
        assert_eq!(half(0.159_154_94), (0x3118, true));
        assert_eq!(half(65504.0), (0x7bff, true));
        assert_eq!(half(65519.9), (0x7bff, true));
        assert_eq!(half(65520.0), (0x7c00, false));
        assert_eq!(half(6.0e-5), (0x3ef, false));
        assert_eq!(half(6.103_515_625e-5), (0x400, true));
        assert_eq!(half(2.0f64.powi(-24)), (1, true));
        assert_eq!(half(1.000_488_281_25), (0x3c00, true));
        assert_eq!(half(1.001_464_843_75), (0x3c02, true));
        assert_eq!(half(0.0), (0, true));
    }

    #[test]
    fn inline_constants_by_type() {
        let i = |r, n| inline_only(r, Number::Int(n), true);
        assert_eq!(i(Reading::B32, 64), Some(192));
        assert_eq!(i(Reading::B32, 65), None);
        assert_eq!(i(Reading::B32, -16), Some(208));
        assert_eq!(i(Reading::B32, 0x3f80_0000), Some(242));
        assert_eq!(i(Reading::F16, 0x3c00), Some(242));
        assert_eq!(i(Reading::F16, 0xffff), Some(193));
        assert_eq!(i(Reading::I16, 0xffff), None);
        assert_eq!(i(Reading::I16, -1), Some(193));
        assert_eq!(i(Reading::F64, 0x3ff0_0000), Some(242));
    }
}
