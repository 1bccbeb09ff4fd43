//! Matrix fused multiply-add: shapes, and where the elements of A, B, C and D lie. The manual gives the shapes; the
//! places are those of AMD's matrix instruction calculator.

use crate::fp::{double, single};
use crate::half;
use crate::lanes::{Long, Word};
use crate::mode::{FloatMode, Mode};
use crate::soft;
use wavemill_isa::Op;

/// The type of A's and B's elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Element {
    F32,
    F16,
    Bf16,
    I8,
    F64,
}

impl Element {
    /// Bits per element.
    pub const fn bits(self) -> u32 {
        match self {
            Element::F32 => 32,
            Element::F16 | Element::Bf16 => 16,
            Element::I8 => 8,
            Element::F64 => 64,
        }
    }
}

/// The shape of an MFMA instruction: `blocks` products of m×k by k×n matrices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Rows of A, C and D.
    pub m: u32,
    /// Columns of B, C and D.
    pub n: u32,
    /// Columns of A, rows of B.
    pub k: u32,
    /// Independent products.
    pub blocks: u32,
    /// Elements of A and B; C and D are f32, i32 (for i8) or f64.
    pub element: Element,
}

/// Where an element lies: register (from the operand's first), lane, and lowest bit in the register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Register.
    pub register: u32,
    /// Lane.
    pub lane: u32,
    /// Lowest bit.
    pub bit: u32,
}

impl Shape {
    const fn new(m: u32, k: u32, blocks: u32, element: Element) -> Shape {
        Shape { m, n: m, k, blocks, element }
    }

    /// Consecutive `k` that one lane holds.
    pub const fn per_lane(&self) -> u32 {
        self.m * self.k * self.blocks / 64
    }

    /// Where A's element (i, k) of a block lies; B's element (k, j) lies at the same place with j for i.
    pub const fn a(&self, i: u32, k: u32, block: u32) -> Place {
        let per = self.per_lane();
        let lane = i + self.m * block + self.m * self.blocks * (k / per);
        let bit = k % per * self.element.bits();
        Place { register: bit / 32, lane, bit: bit % 32 }
    }

    /// Where C's and D's element (i, j) of a block lies; for f64 the first of two registers.
    pub const fn d(&self, i: u32, j: u32, block: u32) -> Place {
        let (register, lane) = match (self.element, self.m) {
            (Element::F64, 16) => (2 * (i / 4), 16 * (i % 4) + j),
            (Element::F64, _) => (0, 16 * i + 4 * block + j),
            (_, 32) => (16 * block + 4 * (i / 8) + i % 4, 32 * (i / 4 % 2) + j),
            (_, 16) => (4 * block + i % 4, 16 * (i / 4) + j),
            _ => (i, 4 * block + j),
        };
        Place { register, lane, bit: 0 }
    }

    /// The block of A that a block multiplies: CBSZ makes groups of 2^CBSZ blocks share block ABID of the group.
    pub const fn a_block(&self, block: u32, cbsz: u32, abid: u32) -> u32 {
        let group = 1 << cbsz;
        if matches!(self.element, Element::F64) || group > self.blocks {
            return block;
        }
        block / group * group + abid % group
    }

    /// The lane B's element comes from: BLGP permutes lane groups.
    pub const fn b_lane(&self, lane: u32, blgp: u32) -> u32 {
        if matches!(self.element, Element::F64) {
            return lane;
        }
        match blgp {
            1 => lane % 32,
            2 => lane % 32 + 32,
            3 => (lane + 16) % 64,
            4..=7 => lane % 16 + 16 * (blgp - 4),
            _ => lane,
        }
    }

    /// The float mode of the products and sums (manual 7.1): f32 by MODE's denormals, 16-bit types flush, f64 keeps.
    pub fn mode(&self, mode: &Mode) -> FloatMode {
        match self.element {
            Element::F32 => FloatMode { round: soft::Round::Nearest, ..mode.f32 },
            Element::F64 => FloatMode::IEEE,
            _ => FloatMode::FLUSH,
        }
    }
}

/// An element of up to 32 bits, the lowest of the word, as wide as the sums: f32, or i32 for i8.
#[inline(always)]
pub fn widen<W: Word>(element: Element, bits: W) -> W {
    match element {
        Element::F16 => half::flush(bits & W::splat(0xffff)).h2f(),
        Element::Bf16 => bits.shl(W::splat(16)),
        Element::I8 => bits.shl(W::splat(24)).sar(W::splat(24)),
        _ => bits,
    }
}

/// One step of a sum of f32 products: k ascending, one rounding each.
#[inline(always)]
pub fn step_f32<W: Word>(a: W, b: W, sum: W, m: FloatMode) -> W {
    single::fma(a, b, sum, m)
}
/// One step of a sum of integer products.
#[inline(always)]
pub fn step_i32<W: Word>(a: W, b: W, sum: W) -> W {
    a * b + sum
}
/// One step of a sum of f64 products.
#[inline(always)]
pub fn step_f64<D: Long>(a: D, b: D, sum: D) -> D {
    double::fma(a, b, sum, FloatMode::IEEE)
}

/// The shape of an instruction.
pub const fn shape(op: Op) -> Option<Shape> {
    use Element::*;
    Some(match op {
        Op::v_mfma_f32_32x32x1f32 => Shape::new(32, 1, 2, F32),
        Op::v_mfma_f32_16x16x1f32 => Shape::new(16, 1, 4, F32),
        Op::v_mfma_f32_4x4x1f32 => Shape::new(4, 1, 16, F32),
        Op::v_mfma_f32_32x32x2f32 => Shape::new(32, 2, 1, F32),
        Op::v_mfma_f32_16x16x4f32 => Shape::new(16, 4, 1, F32),
        Op::v_mfma_f32_32x32x4f16 => Shape::new(32, 4, 2, F16),
        Op::v_mfma_f32_16x16x4f16 => Shape::new(16, 4, 4, F16),
        Op::v_mfma_f32_4x4x4f16 => Shape::new(4, 4, 16, F16),
        Op::v_mfma_f32_32x32x8f16 => Shape::new(32, 8, 1, F16),
        Op::v_mfma_f32_16x16x16f16 => Shape::new(16, 16, 1, F16),
        Op::v_mfma_i32_32x32x4i8 => Shape::new(32, 4, 2, I8),
        Op::v_mfma_i32_16x16x4i8 => Shape::new(16, 4, 4, I8),
        Op::v_mfma_i32_4x4x4i8 => Shape::new(4, 4, 16, I8),
        Op::v_mfma_i32_32x32x8i8 => Shape::new(32, 8, 1, I8),
        Op::v_mfma_i32_16x16x16i8 => Shape::new(16, 16, 1, I8),
        Op::v_mfma_f32_32x32x4bf16_1k => Shape::new(32, 4, 2, Bf16),
        Op::v_mfma_f32_16x16x4bf16_1k => Shape::new(16, 4, 4, Bf16),
        Op::v_mfma_f32_4x4x4bf16_1k => Shape::new(4, 4, 16, Bf16),
        Op::v_mfma_f32_32x32x8bf16_1k => Shape::new(32, 8, 1, Bf16),
        Op::v_mfma_f32_16x16x16bf16_1k => Shape::new(16, 16, 1, Bf16),
        Op::v_mfma_f32_32x32x2bf16 => Shape::new(32, 2, 2, Bf16),
        Op::v_mfma_f32_16x16x2bf16 => Shape::new(16, 2, 4, Bf16),
        Op::v_mfma_f32_4x4x2bf16 => Shape::new(4, 2, 16, Bf16),
        Op::v_mfma_f32_32x32x4bf16 => Shape::new(32, 4, 1, Bf16),
        Op::v_mfma_f32_16x16x8bf16 => Shape::new(16, 8, 1, Bf16),
        Op::v_mfma_f64_16x16x4f64 => Shape::new(16, 4, 1, F64),
        Op::v_mfma_f64_4x4x4f64 => Shape::new(4, 4, 4, F64),
        _ => return None,
    })
}
