//! Texel formats: what the bits of an element of a buffer or an image stand for.
//!
//! Data format and number format (manual 9.1.2, DFMT and NFMT; the image formats of GFX6 to GFX9 beyond them) become a
//! [`Format`], which turns the bytes of an element into four components and back. Names read from the highest bit down:
//! in 2_10_10_10 the first component has the lowest ten bits and the fourth the highest two.
//!
//! Where manuals are silent: numbers become normalised or half-precision elements by rounding to nearest even, scaled
//! ones and the small floats by truncation; integers and scaled numbers saturate; NaN becomes zero in every format but
//! the floats. A component of 32 bits is never converted (manual 9.1.3).

use crate::blocks::Block;
use crate::soft::{self, F16, F32, Round};
use wavemill_isa::Level;

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
    /// 0 to 1, gamma-encoded in the first three components.
    Srgb,
}

impl Number {
    /// The number format of a buffer instruction or resource.
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
    pub const fn is_integer(self) -> bool {
        matches!(self, Number::Uint | Number::Sint)
    }
}

/// Components and their widths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// Bits of each component, lowest first; zero for those that are not there.
    Plain([u8; 4]),
    /// Three nine-bit fractions with one exponent (5_9_9_9).
    SharedExponent,
    /// Four by four texels, compressed.
    Block(Block),
    /// A 32-bit float (or integer) and eight bits of stencil in the next dword (X24_8_32).
    DepthStencil,
}

/// Widths of the data formats that buffers and images share, by number: 8, 16, 8_8, 32, 16_16, 10_11_11, 11_11_10,
/// 10_10_10_2, 2_10_10_10, 8_8_8_8, 32_32, 16_16_16_16, 32_32_32, 32_32_32_32.
const WIDTHS: [[u8; 4]; 14] = [
    [8, 0, 0, 0],
    [16, 0, 0, 0],
    [8, 8, 0, 0],
    [32, 0, 0, 0],
    [16, 16, 0, 0],
    [11, 11, 10, 0],
    [10, 11, 11, 0],
    [2, 10, 10, 10],
    [10, 10, 10, 2],
    [8, 8, 8, 8],
    [32, 32, 0, 0],
    [16, 16, 16, 16],
    [32, 32, 32, 0],
    [32, 32, 32, 32],
];

fn widths(dfmt: u32) -> Option<[u8; 4]> {
    WIDTHS.get((dfmt as usize).checked_sub(1)?).copied()
}

/// A texel format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    /// Widths.
    pub layout: Layout,
    /// Meaning.
    pub number: Number,
}

impl Format {
    /// The format of a buffer element. None for INVALID and for combinations that no number has, which act like it.
    pub fn of_buffer(dfmt: u32, nfmt: u32, level: Level) -> Option<Format> {
        Format::plain(widths(dfmt)?, Number::of_buffer(nfmt, level)?)
    }

    /// The format of an image's texels, if it is one of those that need no decompression.
    pub fn of_image(dfmt: u32, nfmt: u32, level: Level) -> Option<Format> {
        let number = Number::of_image(nfmt, level)?;
        let bits = match dfmt {
            16 => [5, 6, 5, 0],
            17 => [5, 5, 5, 1],
            18 => [1, 5, 5, 5],
            19 => [4, 4, 4, 4],
            20 => [24, 8, 0, 0],
            21 => [8, 24, 0, 0],
            22 => return Some(Format { layout: Layout::DepthStencil, number }),
            24..=28 if level == Level::Gfx900 => return Format::block(dfmt, number),
            35..=41 => return Format::block(dfmt, number),
            34 => return Some(Format { layout: Layout::SharedExponent, number: Number::Float }),
            57 => [4, 4, 0, 0],
            58 => [5, 5, 6, 0],
            _ => widths(dfmt)?,
        };
        Format::plain(bits, number)
    }

    fn block(dfmt: u32, number: Number) -> Option<Format> {
        use Number::{Float, Snorm, Srgb, Unorm};
        let (block, number) = match (dfmt, number) {
            // Of the processors that have ETC2 (gfx810, gfx900, gfx902, gfx909).
            (24, Unorm | Srgb) => (Block::EtcRgb, number),
            (25, Unorm | Srgb) => (Block::EtcRgba, number),
            (26, Unorm | Snorm) => (Block::EacR, number),
            (27, Unorm | Snorm) => (Block::EacRg, number),
            (28, Unorm | Srgb) => (Block::EtcRgba1, number),
            (35, Unorm | Srgb) => (Block::Bc1, number),
            (36, Unorm | Srgb) => (Block::Bc2, number),
            (37, Unorm | Srgb) => (Block::Bc3, number),
            (38, Unorm | Snorm) => (Block::Bc4, number),
            (39, Unorm | Snorm) => (Block::Bc5, number),
            // Its numbers are floats; the format says whether they have a sign.
            (40, Unorm) => (Block::Bc6h, Float),
            (40, Snorm) => (Block::Bc6hSigned, Float),
            (41, Unorm | Srgb) => (Block::Bc7, number),
            _ => return None,
        };
        Some(Format { layout: Layout::Block(block), number })
    }

    fn plain(bits: [u8; 4], number: Number) -> Option<Format> {
        let float = |b: &u8| matches!(b, 0 | 10 | 11 | 16 | 32);
        let small = |b: &u8| matches!(b, 0 | 1 | 4 | 5 | 6 | 8);
        let fits = match number {
            // Ten bits are a float beside elevens only.
            Number::Float => bits.iter().all(float) && (!bits.contains(&10) || bits.contains(&11)),
            Number::Srgb => bits.iter().all(small),
            _ => true,
        };
        fits.then_some(Format { layout: Layout::Plain(bits), number })
    }

    /// Bytes of an element.
    pub fn bytes(self) -> u8 {
        match self.layout {
            Layout::Plain(bits) => bits.iter().sum::<u8>() / 8,
            Layout::SharedExponent => 4,
            Layout::DepthStencil => 8,
            Layout::Block(b) => b.bytes(),
        }
    }

    /// Number of components.
    pub fn components(self) -> u8 {
        match self.layout {
            Layout::Plain(bits) => bits.iter().filter(|b| **b != 0).count() as u8,
            Layout::SharedExponent => 3,
            Layout::DepthStencil => 2,
            Layout::Block(b) => b.components(),
        }
    }

    /// Texels along the edge of an element: four where blocks are compressed together.
    pub fn edge(self) -> u32 {
        if matches!(self.layout, Layout::Block(_)) { 4 } else { 1 }
    }

    /// One in this format's registers: what a destination select of 1 gives.
    pub fn one(self) -> u32 {
        if self.number.is_integer() { 1 } else { 1f32.to_bits() }
    }

    /// The components of an element, missing ones zero. The element's bytes stand in dwords, lowest first.
    pub fn decode(self, texel: [u32; 4]) -> [u32; 4] {
        match self.layout {
            Layout::Plain(bits) => {
                let mut at = 0;
                std::array::from_fn(|i| {
                    let width = bits[i] as u32;
                    if width == 0 {
                        return 0;
                    }
                    let raw = field(texel, at, width);
                    at += width;
                    self.read(raw, width, i)
                })
            }
            Layout::SharedExponent => {
                let exponent = (texel[0] >> 27) as i32 - 15 - 9;
                let component = |i: u32| {
                    let significand = (texel[0] >> (9 * i) & 0x1ff) as u128;
                    let n = soft::Number { negative: false, exponent, significand };
                    soft::pack(F32, n, Round::Nearest) as u32
                };
                [component(0), component(1), component(2), 0]
            }
            Layout::DepthStencil => [texel[0], texel[1] & 0xff, 0, 0],
            Layout::Block(_) => self.decode_at(texel, 0, 0),
        }
    }

    /// The same where two bits of alpha, 2_10_10_10's fourth component, are an unsigned number in signed formats, too.
    pub fn decode_unsigned_alpha(self, texel: [u32; 4]) -> [u32; 4] {
        let mut components = self.decode(texel);
        if self.layout == Layout::Plain([10, 10, 10, 2]) {
            let number = match self.number {
                Number::Snorm => Number::Unorm,
                Number::Sscaled => Number::Uscaled,
                Number::Sint => Number::Uint,
                number => number,
            };
            components[3] = Format { number, ..self }.read(texel[0] >> 30, 2, 3);
        }
        components
    }

    /// The components of the texel at these coordinates, whose element is given.
    pub fn decode_at(self, element: [u32; 4], x: u32, y: u32) -> [u32; 4] {
        let Layout::Block(block) = self.layout else { return self.decode(element) };
        let mut texel = block.texel(element, x, y, self.number == Number::Snorm);
        if self.number == Number::Srgb {
            texel[..3].iter_mut().for_each(|c| *c = to_linear(*c));
        }
        // Fractions of small numbers: rounding to f64 first changes nothing.
        texel.map(|c| (c as f32).to_bits())
    }

    /// An element with these components.
    pub fn encode(self, values: [u32; 4]) -> [u32; 4] {
        let mut out = [0; 4];
        match self.layout {
            Layout::Plain(bits) => {
                let mut at = 0;
                for (i, width) in bits.into_iter().map(u32::from).enumerate().filter(|b| b.1 != 0) {
                    let raw = self.write(values[i], width, i);
                    put(&mut out, at, width, raw);
                    at += width;
                }
            }
            Layout::SharedExponent => out[0] = shared_exponent(values),
            Layout::DepthStencil => out = [values[0], values[1].min(0xff), 0, 0],
            // Compressed images are only read.
            Layout::Block(_) => {}
        }
        out
    }

    fn read(self, raw: u32, width: u32, component: usize) -> u32 {
        if width == 32 {
            return raw;
        }
        let signed = ((raw << (32 - width)) as i32) >> (32 - width);
        let top = (1u32 << width) - 1;
        let float = match self.number {
            // Both numbers have at most 24 bits, so that one division rounds once.
            Number::Unorm => raw as f32 / top as f32,
            Number::Srgb if component == 3 => raw as f32 / top as f32,
            Number::Srgb => to_linear(raw as f64 / top as f64) as f32,
            // One bit has no positive number to divide by: it is a sign.
            Number::Snorm => (signed as f32 / (top >> 1).max(1) as f32).max(-1.0),
            Number::SnormOgl => (2 * signed + 1) as f32 / top as f32,
            Number::Uscaled => raw as f32,
            Number::Sscaled => signed as f32,
            Number::Uint => return raw,
            Number::Sint => return signed as u32,
            Number::Float if width == 16 => return from_half(raw),
            Number::Float => return small_float(raw, width),
        };
        float.to_bits()
    }

    fn write(self, value: u32, width: u32, component: usize) -> u32 {
        if width == 32 {
            return value;
        }
        let top = (1u32 << width) - 1;
        let half = top >> 1;
        let x = f32::from_bits(value);
        // 24 bits times at most 24 bits are exact in f64. `as` makes zero of NaN and saturates.
        let nearest = |x: f64| x.round_ties_even() as i64;
        let unit = |x: f32| if x.is_nan() { 0.0 } else { x.clamp(0.0, 1.0) as f64 };
        let both = |x: f32| if x.is_nan() { 0.0 } else { x.clamp(-1.0, 1.0) as f64 };
        let raw = match self.number {
            Number::Unorm => nearest(unit(x) * top as f64),
            Number::Srgb if component == 3 => nearest(unit(x) * top as f64),
            Number::Srgb => nearest(from_linear(unit(x)) * top as f64),
            Number::Snorm => nearest(both(x) * half as f64),
            Number::SnormOgl => nearest((both(x) * top as f64 - 1.0) / 2.0).max(-(half as i64) - 1),
            Number::Uscaled => (x as i64).clamp(0, top as i64),
            Number::Sscaled => (x as i64).clamp(-(half as i64) - 1, half as i64),
            Number::Uint => value.min(top) as i64,
            Number::Sint => (value as i32 as i64).clamp(-(half as i64) - 1, half as i64),
            Number::Float if width == 16 => soft::f2h_nearest(value) as i64,
            Number::Float => to_small_float(value, width) as i64,
        };
        raw as u32 & top
    }

    /// A component of a register as 16 bits: halves of floats, the low half of integers.
    pub fn to_d16(self, value: u32) -> u32 {
        if self.number.is_integer() { value & 0xffff } else { soft::f2h_nearest(value) }
    }

    /// A component of 16 bits as a register has it.
    pub fn from_d16(self, value: u32) -> u32 {
        match self.number {
            Number::Uint => value & 0xffff,
            Number::Sint => value as u16 as i16 as i32 as u32,
            _ => from_half(value & 0xffff),
        }
    }
}

/// Destination selects of a resource: 0, 1, or one of the components (manual 9.1.8).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Swizzle(pub [u8; 4]);

impl Swizzle {
    /// From bits 11:0 of a resource's fourth dword.
    pub fn new(word: u32) -> Swizzle {
        Swizzle(std::array::from_fn(|i| (word >> (3 * i) & 7) as u8))
    }

    /// What a load returns of a texel's components; `one` is [`Format::one`]. Reserved selects read as zero.
    pub fn load(self, texel: [u32; 4], one: u32) -> [u32; 4] {
        self.0.map(|s| match s {
            1 => one,
            4..=7 => texel[s as usize - 4],
            _ => 0,
        })
    }

    /// The texel a store of these components makes: a component gets the value whose select names it, the first of
    /// several, and zero if none does.
    pub fn store(self, values: [u32; 4]) -> [u32; 4] {
        std::array::from_fn(|i| self.0.iter().position(|s| *s as usize == i + 4).map_or(0, |n| values[n]))
    }
}

fn field(texel: [u32; 4], at: u32, width: u32) -> u32 {
    let word = texel[at as usize / 32] >> (at % 32);
    if width == 32 { word } else { word & ((1 << width) - 1) }
}

fn put(texel: &mut [u32; 4], at: u32, width: u32, value: u32) {
    let mask = if width == 32 { !0 } else { (1u32 << width) - 1 };
    texel[at as usize / 32] |= (value & mask) << (at % 32);
}

/// A half as f32; NaNs become quiet ones.
fn from_half(raw: u32) -> u32 {
    soft::convert(F16, F32, raw as u64, Round::Nearest) as u32
}

/// An unsigned float with five bits of exponent as f32.
fn small_float(raw: u32, width: u32) -> u32 {
    // It is a half without sign whose last fraction bits are zero.
    from_half(raw << (15 - width))
}

/// An f32 as an unsigned float, toward zero: negative numbers become zero, those too large the largest.
fn to_small_float(value: u32, width: u32) -> u32 {
    let drop = 15 - width;
    if F32.is_nan(value as u64) {
        return 0x7fff >> drop;
    }
    if value >> 31 != 0 {
        return 0;
    }
    if value as u64 == F32.infinity() {
        return (F16.infinity() >> drop) as u32;
    }
    let half = soft::pack(F16, soft::unpack(F32, value as u64), Round::Zero) as u32;
    half >> drop
}

/// Three numbers with a common exponent: that of the largest, nine bits each, to nearest (EXT_texture_shared_exponent).
fn shared_exponent(values: [u32; 4]) -> u32 {
    const MAX: f64 = 511.0 / 512.0 * 65536.0;
    let clamp = |v: u32| {
        let x = f32::from_bits(v) as f64;
        if x.is_nan() { 0.0 } else { x.clamp(0.0, MAX) }
    };
    let [r, g, b] = [clamp(values[0]), clamp(values[1]), clamp(values[2])];
    let largest = r.max(g).max(b);
    // The exponent of the largest, from the bits of a double; below 2⁻¹⁵ there is only one.
    let power = ((largest.to_bits() >> 52) as i32 - 1023).max(-16) + 1;
    let scale = |power: i32| f64::from_bits(((1023 + power - 9) as u64) << 52);
    let round = |x: f64, power: i32| (x / scale(power) + 0.5).floor() as u32;
    let power = if round(largest, power) == 512 { power + 1 } else { power };
    let exponent = (power + 15) as u32;
    round(r, power) | round(g, power) << 9 | round(b, power) << 18 | exponent << 27
}

/// The sRGB transfer function: encoded to linear, both 0 to 1.
pub fn to_linear(x: f64) -> f64 {
    if x <= 0.04045 {
        x / 12.92
    } else {
        let y = (x + 0.055) / 1.055;
        let y2 = y * y;
        // y^2.4 = y² · (y²)^(1/5)
        y2 * root(y2, 5)
    }
}

/// The inverse of [`to_linear`].
pub fn from_linear(x: f64) -> f64 {
    if x <= 0.0031308 {
        x * 12.92
    } else {
        // x^(1/2.4) = (x^5)^(1/12)
        1.055 * root(x * x * x * x * x, 12) - 0.055
    }
}

/// The nth root of a number between 0 and 1, by Newton's method: the same bits on every host.
fn root(x: f64, n: i32) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let mut y = 1.0f64;
    for _ in 0..200 {
        let mut power = 1.0;
        for _ in 1..n {
            power *= y;
        }
        let next = y + (x / power - y) / n as f64;
        if next >= y {
            break;
        }
        y = next;
    }
    y
}
