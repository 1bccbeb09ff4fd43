//! What an image instruction's address registers say (manual 9.4). Written over [`Word`], for one lane or many.

use crate::address::ImageFields;
use crate::image::Kind;
use crate::lanes::{Word, w};
use crate::mimg::Address;
use crate::sampler::Request;

/// Address registers. Not a function, which would be compiled for no host in particular.
pub trait Registers<W> {
    /// A register by its distance from the first.
    fn register(&self, n: u16) -> W;
}

/// Reads address registers one component after the other.
struct Cursor<'a, R> {
    registers: &'a R,
    /// Next dword, and whether its upper half is next.
    at: u16,
    high: bool,
    short: bool,
}

impl<R> Cursor<'_, R> {
    /// A whole dword.
    #[inline(always)]
    fn dword<W: Word>(&mut self) -> W
    where
        R: Registers<W>,
    {
        self.align();
        self.at += 1;
        self.registers.register(self.at - 1)
    }

    /// A component: 16 bits of a dword if addresses are short.
    #[inline(always)]
    fn component<W: Word>(&mut self) -> W
    where
        R: Registers<W>,
    {
        if !self.short {
            return self.dword();
        }
        let word = self.registers.register(self.at);
        let value = if self.high { word.shr(w(16)) } else { word & w(0xffff) };
        self.at += self.high as u16;
        self.high = !self.high;
        value
    }

    #[inline(always)]
    fn float<W: Word>(&mut self) -> W
    where
        R: Registers<W>,
    {
        let bits: W = self.component();
        if self.short { bits.h2f() } else { bits }
    }

    /// Skips the rest of a dword.
    #[inline(always)]
    fn align(&mut self) {
        self.at += self.high as u16;
        self.high = false;
    }
}

/// How address registers are read: what is the same for all lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Coordinates {
    kind: Kind,
    array: bool,
    short: bool,
    unnormalized: bool,
}

/// A texel that an instruction without sampler names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place<W> {
    /// The level; zero where the address has none.
    pub level: W,
    /// Its column, row and layer.
    pub at: [W; 3],
    /// Its slice; zero in images that have none.
    pub slice: W,
}

impl Coordinates {
    /// Those of an instruction on an image.
    pub const fn new(fields: &ImageFields, kind: Kind) -> Coordinates {
        let ImageFields { array, short, unnormalized, .. } = *fields;
        Coordinates { kind, array, short, unnormalized }
    }

    #[inline(always)]
    fn cursor<R>(self, registers: &R) -> Cursor<'_, R> {
        Cursor { registers, at: 0, high: false, short: self.short }
    }

    /// The first component alone.
    #[inline(always)]
    pub fn first<W: Word>(self, registers: &impl Registers<W>) -> W {
        self.cursor(registers).component()
    }

    /// The texel that an instruction without sampler names, by level or not.
    #[inline(always)]
    pub fn place<W: Word>(self, level: bool, registers: &impl Registers<W>) -> Place<W> {
        let mut c = self.cursor(registers);
        let mut at = [w(0); 3];
        for i in &mut at[..self.kind.dimensions()] {
            *i = c.component();
        }
        // Indices of images without slices are ignored.
        let slice = if self.array && self.kind != Kind::D3 { c.component() } else { w(0) };
        let level = if level { c.component() } else { w(0) };
        Place { level, at, slice: if self.kind.is_layered() { slice } else { w(0) } }
    }

    /// What the parts of a sample's address say. Without gradients of its own they are zero.
    #[inline(always)]
    pub fn request<W: Word>(self, a: Address, registers: &impl Registers<W>) -> Request<W> {
        let n = self.kind.dimensions();
        let mut c = self.cursor(registers);
        let mut r = Request::new(self.unnormalized);
        if a.offset {
            let word: W = c.dword();
            for (at, offset) in [26, 18, 10].into_iter().zip(&mut r.offset) {
                *offset = word.shl(w(at)).sar(w(26));
            }
        }
        if a.bias {
            r.bias = c.float();
            c.align();
        }
        if a.reference {
            r.reference = Some(c.dword());
        }
        if a.gradient {
            for g in &mut r.gradient {
                for x in &mut g[..n] {
                    *x = c.float();
                }
                c.align();
            }
        }
        for x in &mut r.at[..n] {
            *x = c.float();
        }
        if self.array && self.kind != Kind::D3 {
            let slice = c.float();
            r.slice = if self.kind.is_layered() { slice } else { w(0) };
        }
        if a.zero {
            r.lod = Some(w(0));
        } else if a.level {
            r.lod = Some(c.float());
        }
        if a.clamp {
            r.clamp = Some(c.float());
        }
        r
    }
}
