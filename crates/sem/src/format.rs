//! Texel formats: what the bits of an element of a buffer or an image stand for.
//!
//! Data format and number format (manual 9.1.2, DFMT and NFMT; the image formats of GFX6 to GFX9 beyond them) become a
//! [`Format`], which turns the bytes of an element into four components and back. Names read from the highest bit down:
//! in 2_10_10_10 the first component has the lowest ten bits and the fourth the highest two. What becomes of a component's
//! bits is [`crate::component`]'s.

use crate::blocks::Block;
use crate::component::Component;
pub use crate::component::Number;
use crate::lanes::{Word, w};
use crate::scalar::S32;
use crate::soft::{self, F32, Round};
use wavemill_isa::Level;

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

#[inline]
fn widths(dfmt: u32) -> Option<[u8; 4]> {
    WIDTHS.get((dfmt as usize).checked_sub(1)?).copied()
}

/// Whether numbers of these widths can be floats.
const fn are_floats(bits: [u8; 4]) -> bool {
    let (mut ten, mut eleven, mut i) = (false, false, 0);
    while i < 4 {
        match bits[i] {
            0 | 16 | 32 => {}
            10 => ten = true,
            11 => eleven = true,
            _ => return false,
        }
        i += 1;
    }
    // Ten bits are a float beside elevens only.
    !ten || eleven
}

/// The data formats of [`WIDTHS`] that can be floats, a bit for each.
const FLOATS: u32 = {
    let (mut all, mut i) = (0, 0);
    while i < WIDTHS.len() {
        all |= (are_floats(WIDTHS[i]) as u32) << i;
        i += 1;
    }
    all << 1
};

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
    #[inline(always)]
    pub fn of_buffer(dfmt: u32, nfmt: u32, level: Level) -> Option<Format> {
        let (bits, number) = (widths(dfmt)?, Number::of_buffer(nfmt, level)?);
        let fits = number != Number::Float || FLOATS >> dfmt & 1 != 0;
        fits.then_some(Format { layout: Layout::Plain(bits), number })
    }

    /// The components if all are dwords, which are never converted, else zero.
    #[inline(always)]
    pub fn whole(self) -> u8 {
        match self.layout {
            Layout::Plain([32, 0, 0, 0]) => 1,
            Layout::Plain([32, 32, 0, 0]) => 2,
            Layout::Plain([32, 32, 32, 0]) => 3,
            Layout::Plain([32, 32, 32, 32]) => 4,
            _ => 0,
        }
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

    #[inline]
    fn plain(bits: [u8; 4], number: Number) -> Option<Format> {
        let small = |b: &u8| matches!(b, 0 | 1 | 4 | 5 | 6 | 8);
        let fits = match number {
            Number::Float => are_floats(bits),
            Number::Srgb => bits.iter().all(small),
            _ => true,
        };
        fits.then_some(Format { layout: Layout::Plain(bits), number })
    }

    /// Bytes of an element.
    #[inline]
    pub const fn bytes(self) -> u8 {
        match self.layout {
            // The product's highest byte is the sum of all four.
            Layout::Plain(bits) => (u32::from_le_bytes(bits).wrapping_mul(0x0101_0101) >> 24) as u8 / 8,
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
    #[inline]
    pub fn one(self) -> u32 {
        self.number.one()
    }

    /// A component's place in an element and what it is, if there is one, and its bits are its own.
    #[inline(always)]
    pub fn component(self, i: usize) -> Option<Component> {
        let Layout::Plain(bits) = self.layout else { return None };
        let width = *bits.get(i).filter(|b| **b != 0)?;
        // Byte by byte the sums of those below.
        let below = u32::from_le_bytes(bits).wrapping_mul(0x0101_0100).to_le_bytes();
        Some(Component { at: below[i], width, number: self.number })
    }

    /// Whether elements are nothing but components whose bits [`Component`] knows.
    #[inline]
    pub fn is_plain(self) -> bool {
        matches!(self.layout, Layout::Plain(_)) && self.number != Number::Srgb
    }

    /// The format of what [`Format::decode`] makes of an element: four components as registers hold them.
    #[must_use]
    pub fn decoded(self) -> Format {
        Format { layout: Layout::Plain([32; 4]), ..self }
    }

    /// The components of a plain format's elements, missing ones zero, but for the fourth, which is one.
    #[inline(always)]
    pub fn components_of<W: Word>(self, words: [W; 4]) -> [W; 4] {
        let mut out = [w(0), w(0), w(0), w(self.one())];
        for (i, value) in out.iter_mut().enumerate() {
            if let Some(c) = self.component(i) {
                *value = c.read([words[c.word()]])[0];
            }
        }
        out
    }

    /// The components of an element, missing ones zero. The element's bytes stand in dwords, lowest first.
    pub fn decode(self, texel: [u32; 4]) -> [u32; 4] {
        match self.layout {
            Layout::Plain(_) => std::array::from_fn(|i| {
                let Some(c) = self.component(i) else { return 0 };
                let word = texel[c.word()];
                if self.is_curved(i) {
                    let raw = Component { number: Number::Uint, ..c }.read([S32(word)])[0].0;
                    return (to_linear(raw as f64 / ((1u32 << c.width) - 1) as f64) as f32).to_bits();
                }
                c.read([S32(word)])[0].0
            }),
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

    /// The same of an image, where a missing fourth component is one (manual 9.4.1).
    #[inline]
    pub fn texel_at(self, element: [u32; 4], x: u32, y: u32) -> [u32; 4] {
        if self.is_plain() {
            return self.components_of(element.map(S32)).map(|c| c.0);
        }
        let mut texel = self.decode_at(element, x, y);
        if self.components() < 4 {
            texel[3] = self.one();
        }
        texel
    }

    /// An element with these components.
    pub fn encode(self, values: [u32; 4]) -> [u32; 4] {
        let mut out = [0; 4];
        match self.layout {
            Layout::Plain(_) => {
                for (i, value) in values.into_iter().enumerate() {
                    let Some(c) = self.component(i) else { break };
                    // The fraction that the curve makes of it has 53 bits: it is rounded once.
                    let bits = match self.is_curved(i) {
                        true => curved(value, c.width) << (c.at % 32),
                        false => c.write([S32(value)])[0].0,
                    };
                    out[c.word()] |= bits;
                }
            }
            Layout::SharedExponent => out[0] = shared_exponent(values),
            Layout::DepthStencil => out = [values[0], values[1].min(0xff), 0, 0],
            // Compressed images are only read.
            Layout::Block(_) => {}
        }
        out
    }

    /// Whether a component is gamma-encoded. One of 32 bits never is: a sampler may ask for it.
    fn is_curved(self, component: usize) -> bool {
        self.number == Number::Srgb
            && component < 3
            && self.component(component).is_some_and(|c| c.width < 32)
    }

    /// A component of a register as 16 bits: halves of floats, the low half of integers.
    pub fn to_d16(self, value: u32) -> u32 {
        self.number.to_d16([S32(value)])[0].0
    }

    /// A component of 16 bits as a register has it.
    pub fn from_d16(self, value: u32) -> u32 {
        self.number.from_d16([S32(value)])[0].0
    }
}

/// Destination selects of a resource: 0, 1, or one of the components (manual 9.1.8).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Swizzle(pub [u8; 4]);

impl Swizzle {
    /// From bits 11:0 of a resource's fourth dword.
    #[inline]
    pub fn new(word: u32) -> Swizzle {
        Swizzle(std::array::from_fn(|i| (word >> (3 * i) & 7) as u8))
    }

    /// Whether the first so many values are the components of the same number.
    #[inline]
    pub fn keeps(self, count: usize) -> bool {
        let moved = u32::from_le_bytes(self.0) ^ 0x0706_0504;
        u64::from(moved) & ((1 << (8 * count)) - 1) == 0
    }

    /// What a load's value is: a constant, or a component. `one` is [`Format::one`]. Reserved selects read as zero.
    #[inline]
    pub fn value(self, n: usize, one: u32) -> Select {
        match self.0[n & 3] {
            1 => Select::Constant(one),
            s @ 4..=7 => Select::Component(s as usize - 4),
            _ => Select::Constant(0),
        }
    }

    /// What a load returns of a texel's components.
    pub fn load(self, texel: [u32; 4], one: u32) -> [u32; 4] {
        std::array::from_fn(|n| match self.value(n, one) {
            Select::Constant(c) => c,
            Select::Component(i) => texel[i],
        })
    }

    /// Which value of a store a component gets: that whose select names it, the first of several, or none, which is zero.
    #[inline]
    pub fn stored(self, component: usize) -> Option<usize> {
        self.0.iter().position(|s| *s as usize == component + 4)
    }

    /// The texel a store of these values makes.
    pub fn store(self, values: [u32; 4]) -> [u32; 4] {
        std::array::from_fn(|i| self.stored(i).map_or(0, |n| values[n]))
    }
}

/// What a destination select asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Select {
    /// Always this.
    Constant(u32),
    /// A component of the texel.
    Component(usize),
}

/// A linear number gamma-encoded in so many bits, to nearest even; NaN becomes zero.
fn curved(value: u32, width: u8) -> u32 {
    let x = f32::from_bits(value);
    let x = if x.is_nan() { 0.0 } else { x.clamp(0.0, 1.0) as f64 };
    (from_linear(x) * ((1u32 << width) - 1) as f64).round_ties_even() as u32
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
