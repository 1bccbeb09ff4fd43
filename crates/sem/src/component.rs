//! One component of an element: what its bits stand for, both ways. Written over [`Word`], several at a time (they are
//! converted alike, so that what kind of number it is is asked once): an engine with vectors of lanes converts those of all
//! lanes, images one texel's.
//!
//! Where manuals are silent: numbers become normalised or half-precision components by rounding to nearest even, scaled ones
//! and the small floats by truncation; integers and scaled numbers saturate; NaN becomes zero in every format but the floats.
//! A component of 32 bits is never converted (manual 9.1.3).

use crate::lanes::{Long, Word, d, w};
use crate::soft::Round;
use wavemill_isa::Level;

/// A function of each value. Not a closure, which would be compiled for no host in particular.
macro_rules! each {
    ($values:ident, |$v:ident| $f:expr) => {{
        let mut all = $values;
        for one in &mut all {
            let $v = *one;
            *one = $f;
        }
        all
    }};
}

/// How a component's bits are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Number {
    /// 0 to 1.
    Unorm,
    /// −1 to 1; the lowest two numbers are both −1.
    Snorm,
    /// An unsigned integer as a float.
    Uscaled,
    /// A signed integer as a float.
    Sscaled,
    /// An unsigned integer.
    Uint,
    /// A signed integer.
    Sint,
    /// −1 to 1 in equal steps, without a zero (GFX6 and GFX7).
    SnormOgl,
    /// Floating point of 10 (unsigned), 11 (unsigned), 16 or 32 bits.
    Float,
    /// 0 to 1, gamma-encoded in the first three components. Only images have it: [`crate::format`] knows the curve.
    Srgb,
}

impl Number {
    /// The number format of a buffer instruction or resource.
    #[inline]
    pub fn of_buffer(nfmt: u32, level: Level) -> Option<Number> {
        Some(match nfmt {
            0 => Number::Unorm,
            1 => Number::Snorm,
            2 => Number::Uscaled,
            3 => Number::Sscaled,
            4 => Number::Uint,
            5 => Number::Sint,
            6 if !level.is_vi_plus() => Number::SnormOgl,
            7 => Number::Float,
            _ => return None,
        })
    }

    /// The number format of an image resource.
    pub fn of_image(nfmt: u32, level: Level) -> Option<Number> {
        match nfmt {
            0..=7 => Number::of_buffer(nfmt, level),
            9 => Some(Number::Srgb),
            _ => None,
        }
    }

    /// Whether registers hold integers rather than floats.
    #[inline]
    pub const fn is_integer(self) -> bool {
        matches!(self, Number::Uint | Number::Sint)
    }

    /// One, as registers hold it.
    pub const fn one(self) -> u32 {
        if self.is_integer() { 1 } else { 1f32.to_bits() }
    }

    /// The same without a sign.
    #[must_use]
    pub const fn unsigned(self) -> Number {
        match self {
            Number::Snorm => Number::Unorm,
            Number::Sscaled => Number::Uscaled,
            Number::Sint => Number::Uint,
            number => number,
        }
    }

    /// Components of registers as 16 bits: halves of floats, the low half of integers.
    #[inline(always)]
    pub fn to_d16<W: Word, const N: usize>(self, values: [W; N]) -> [W; N] {
        match self.is_integer() {
            true => each!(values, |v| v & w(0xffff)),
            false => each!(values, |v| v.f2h()),
        }
    }

    /// Components of 16 bits, whatever stands above them, as a register has them.
    #[inline(always)]
    pub fn from_d16<W: Word, const N: usize>(self, values: [W; N]) -> [W; N] {
        match self {
            Number::Uint => each!(values, |v| v & w(0xffff)),
            Number::Sint => each!(values, |v| v.shl(w(16)).sar(w(16))),
            _ => each!(values, |v| from_half(v & w(0xffff))),
        }
    }
}

/// A component's place in its element, and what it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Component {
    /// The bits below it.
    pub at: u8,
    /// Its bits: at most 24, or 32.
    pub width: u8,
    /// What they are.
    pub number: Number,
}

impl Component {
    /// The dword of the element that has it.
    pub const fn word(self) -> usize {
        self.at as usize / 32
    }

    /// The largest unsigned number.
    const fn top(self) -> u32 {
        !0 >> (32 - self.width)
    }

    /// Its bits in that dword, extended.
    #[inline(always)]
    fn field<W: Word, const N: usize>(self, words: [W; N], signed: bool) -> [W; N] {
        let (at, width) = (self.at as u32 % 32, self.width as u32);
        let (up, down) = (w::<W>(32 - width - at), w::<W>(32 - width));
        match signed {
            true => each!(words, |v| v.shl(up).sar(down)),
            false => each!(words, |v| v.shl(up).shr(down)),
        }
    }

    /// What registers hold, from dwords that have it.
    #[inline(always)]
    pub fn read<W: Word, const N: usize>(self, words: [W; N]) -> [W; N] {
        if self.width == 32 {
            return words;
        }
        let top = self.top();
        let signed = matches!(self.number, Number::Snorm | Number::SnormOgl | Number::Sscaled | Number::Sint);
        let raw = self.field(words, signed);
        match self.number {
            Number::Unorm | Number::Srgb => each!(raw, |v| quotient(v, top)),
            Number::Snorm => {
                // One bit has no positive number to divide by: it is a sign.
                let least = w::<W>((-1f32).to_bits());
                each!(raw, |v| quotient(v, (top >> 1).max(1)).fmax(least))
            }
            Number::SnormOgl => each!(raw, |v| quotient(v + v + w(1), top)),
            Number::Uscaled | Number::Sscaled => each!(raw, |v| v.i2f()),
            Number::Uint | Number::Sint => raw,
            // Small floats are halves without sign whose last fraction bits are zero.
            Number::Float => {
                let up = w::<W>(if self.width == 16 { 0 } else { 15 - self.width as u32 });
                each!(raw, |v| from_half(v.shl(up)))
            }
        }
    }

    /// Its bits at their place in the dword, all others zero, from what registers hold.
    #[inline(always)]
    pub fn write<W: Word, const N: usize>(self, values: [W; N]) -> [W; N] {
        if self.width == 32 {
            return values;
        }
        let top = self.top();
        let half = top >> 1;
        let raw = match self.number {
            Number::Unorm | Number::Srgb => each!(values, |v| nearest(unit(v).f2d().fmul(d(top as f64)))),
            Number::Snorm => each!(values, |v| nearest(both(v).f2d().fmul(d(half as f64)))),
            Number::SnormOgl => {
                let least = w::<W>(!half);
                each!(values, |v| {
                    let steps = both(v).f2d().fmul(d(top as f64)).fsub(d(1.0));
                    nearest(steps.fmul(d(0.5))).max_i(least)
                })
            }
            Number::Uscaled => each!(values, |v| v.f2u().min_u(w(top))),
            Number::Sscaled => each!(values, |v| v.f2i().max_i(w(!half)).min_i(w(half))),
            Number::Uint => each!(values, |v| v.min_u(w(top))),
            Number::Sint => each!(values, |v| v.max_i(w(!half)).min_i(w(half))),
            Number::Float if self.width == 16 => each!(values, |v| v.f2h()),
            Number::Float => {
                let down = w::<W>(15 - self.width as u32);
                each!(values, |v| to_unsigned_half(v).shr(down))
            }
        };
        let at = w::<W>(self.at as u32 % 32);
        each!(raw, |v| (v & w(top)).shl(at))
    }
}

/// The quotient of two integers of at most 24 bits as f32, to nearest. The reciprocal has 53 bits, and so the product is too
/// near to the quotient for the two to lie on either side of the middle of two f32.
#[inline(always)]
fn quotient<W: Word>(a: W, b: u32) -> W {
    a.i2d().fmul(d(1.0 / b as f64)).d2f()
}

/// An f64 below 2³¹ to the nearest integer, ties to even.
#[inline(always)]
fn nearest<L: Long>(x: L) -> L::Word {
    // The sum with 1.5 · 2⁵² has no bits for a fraction, and the integer in its lowest ones.
    x.fadd(d(6_755_399_441_055_744.0)).lo()
}

/// An f32 number brought into 0 to 1; NaN becomes zero.
#[inline(always)]
fn unit<W: Word>(v: W) -> W {
    W::select(w::<W>(0).flt(v), v.fmin(w(1f32.to_bits())), w(0))
}

/// An f32 number brought into −1 to 1; NaN becomes zero.
#[inline(always)]
fn both<W: Word>(v: W) -> W {
    let inside = v.fmin(w(1f32.to_bits())).fmax(w((-1f32).to_bits()));
    W::select(v.funord(v), w(0), inside)
}

/// A half as f32; NaNs become quiet ones.
#[inline(always)]
fn from_half<W: Word>(raw: W) -> W {
    let r = raw.h2f();
    W::select(r.funord(r), r | w(0x0040_0000), r)
}

/// An f32 as a half without sign, toward zero: negative numbers become zero, those too large the largest, NaN all ones.
#[inline(always)]
fn to_unsigned_half<W: Word>(v: W) -> W {
    let half = W::select(v.lt_i(w(0)), w(0), v.f2h_round(Round::Zero));
    W::select(v.funord(v), w(0x7fff), half)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::S32;

    fn read(number: Number, width: u8, raw: u32) -> f32 {
        f32::from_bits(Component { at: 0, width, number }.read([S32(raw)])[0].0)
    }

    /// Normalised numbers of all widths are quotients, rounded once.
    #[test]
    fn fractions() {
        for width in (1..=16).chain([24]) {
            let top = (1u32 << width) - 1;
            for raw in 0..=top {
                assert_eq!(read(Number::Unorm, width, raw), raw as f32 / top as f32, "{raw} of {width} bits");
                let signed = (raw << (32 - width)) as i32 >> (32 - width);
                let want = (signed as f32 / (top >> 1).max(1) as f32).max(-1.0);
                assert_eq!(
                    read(Number::Snorm, width, raw).to_bits(),
                    want.to_bits(),
                    "{signed} of {width} bits"
                );
                if width <= 16 {
                    let want = (2 * signed + 1) as f32 / top as f32;
                    assert_eq!(read(Number::SnormOgl, width, raw), want, "{signed} of {width} bits");
                }
            }
        }
    }

    /// What is written is the nearest number there is, the even one of two, and what was read is written again.
    #[test]
    fn rounding() {
        for width in [2, 4, 5, 6, 8, 10, 11, 16, 24] {
            let top = (1u32 << width) - 1;
            let write = |number, x: f32| Component { at: 0, width, number }.write([S32(x.to_bits())])[0].0;
            for raw in (0..=top).step_by(1 + top as usize / 4096) {
                assert_eq!(write(Number::Unorm, read(Number::Unorm, width, raw)), raw);
                let middle = (raw as f64 + 0.5) / top as f64;
                // Exact: 24 bits times 24 bits.
                for x in [middle as f32, (middle as f32).next_up(), (middle as f32).next_down()] {
                    let exact = x.min(1.0) as f64 * top as f64;
                    assert_eq!(
                        write(Number::Unorm, x),
                        exact.round_ties_even() as u32,
                        "{x} in {width} bits"
                    );
                    let exact = -x.min(1.0) as f64 * (top >> 1) as f64;
                    let want = exact.round_ties_even() as i32 as u32 & top;
                    assert_eq!(write(Number::Snorm, -x), want, "{} in {width} bits", -x);
                }
            }
            for number in [Number::Unorm, Number::Snorm, Number::Uscaled, Number::Sscaled] {
                assert_eq!(write(number, f32::NAN), 0);
                assert_eq!(write(number, -0.0), 0);
            }
        }
    }
}
