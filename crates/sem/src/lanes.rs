//! The values instructions work on: lanes of 32 bits ([`Word`]), of 64 bits ([`Long`]), and a bit per lane ([`Mask`]).
//!
//! Meanings are written once over these traits. The interpreter instantiates them with 16 lanes of data; a JIT can
//! instantiate them with values of its IR. Every operation has a provided version that goes lane by lane through
//! `map*`; a back end overrides those its host has instructions for. The provided versions define what the operation
//! means, so every back end gives the same bits. A back end without `map*` (an IR) must override everything a meaning
//! uses, or have the interpreter do that instruction.

use crate::soft;
use std::ops::{Add, BitAnd, BitOr, BitXor, Mul, Not, Sub};

/// One bit per lane.
pub trait Mask:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
{
    /// All lanes.
    fn ones() -> Self;
    /// No lane.
    fn zeros() -> Self;
    /// False only if no lane is set: lets meanings skip rare work. `true` is always right.
    fn maybe_any(self) -> bool;
}

/// Lanes of 32 bits. Operators wrap.
pub trait Word:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
{
    /// A bit per lane.
    type Mask: Mask;
    /// The same lanes, 64 bits each.
    type Long: Long<Word = Self, Mask = Self::Mask>;

    /// The same number in every lane.
    fn splat(n: u32) -> Self;
    /// Lane by lane.
    fn map1(self, f: impl Fn(u32) -> u32) -> Self;
    /// Lane by lane.
    fn map2(self, b: Self, f: impl Fn(u32, u32) -> u32) -> Self;
    /// Lane by lane.
    fn map3(self, b: Self, c: Self, f: impl Fn(u32, u32, u32) -> u32) -> Self;
    /// Lane by lane into a mask.
    fn test2(self, b: Self, f: impl Fn(u32, u32) -> bool) -> Self::Mask;
    /// Lane by lane into 64 bits.
    fn widen1(self, f: impl Fn(u32) -> u64) -> Self::Long;
    /// `t` where the mask is set, `f` elsewhere.
    fn select(mask: Self::Mask, t: Self, f: Self) -> Self;

    /// Equal.
    fn eq(self, b: Self) -> Self::Mask;
    /// Less, unsigned.
    fn lt_u(self, b: Self) -> Self::Mask;
    /// Less, signed.
    fn lt_i(self, b: Self) -> Self::Mask;
    /// Shift left by `b` modulo 32.
    fn shl(self, b: Self) -> Self;
    /// Logical shift right by `b` modulo 32.
    fn shr(self, b: Self) -> Self;
    /// Arithmetic shift right by `b` modulo 32.
    fn sar(self, b: Self) -> Self;

    /// Upper half of the unsigned product.
    #[inline(always)]
    fn mul_hi_u(self, b: Self) -> Self {
        self.map2(b, |a, b| ((a as u64 * b as u64) >> 32) as u32)
    }
    /// Upper half of the signed product.
    #[inline(always)]
    fn mul_hi_i(self, b: Self) -> Self {
        self.map2(b, |a, b| ((a as i32 as i64 * b as i32 as i64) >> 32) as u32)
    }
    /// Lesser, unsigned.
    #[inline(always)]
    fn min_u(self, b: Self) -> Self {
        Self::select(self.lt_u(b), self, b)
    }
    /// Greater, unsigned.
    #[inline(always)]
    fn max_u(self, b: Self) -> Self {
        Self::select(self.lt_u(b), b, self)
    }
    /// Lesser, signed.
    #[inline(always)]
    fn min_i(self, b: Self) -> Self {
        Self::select(self.lt_i(b), self, b)
    }
    /// Greater, signed.
    #[inline(always)]
    fn max_i(self, b: Self) -> Self {
        Self::select(self.lt_i(b), b, self)
    }
    /// Zero-extended.
    #[inline(always)]
    fn zext(self) -> Self::Long {
        self.widen1(|a| a as u64)
    }
    /// Sign-extended.
    #[inline(always)]
    fn sext(self) -> Self::Long {
        self.widen1(|a| a as i32 as i64 as u64)
    }
    /// Unsigned product of 64 bits.
    #[inline(always)]
    fn mul_wide_u(self, b: Self) -> Self::Long {
        Self::Long::join(self * b, self.mul_hi_u(b))
    }
    /// Signed product of 64 bits.
    #[inline(always)]
    fn mul_wide_i(self, b: Self) -> Self::Long {
        Self::Long::join(self * b, self.mul_hi_i(b))
    }

    /// f32 sum, to nearest; what a NaN looks like is not said (the callers settle it).
    #[inline(always)]
    fn fadd(self, b: Self) -> Self {
        self.map2(b, |a, b| (f32::from_bits(a) + f32::from_bits(b)).to_bits())
    }
    /// f32 product, to nearest.
    #[inline(always)]
    fn fmul(self, b: Self) -> Self {
        self.map2(b, |a, b| (f32::from_bits(a) * f32::from_bits(b)).to_bits())
    }
    /// f32 fused multiply-add, to nearest.
    #[inline(always)]
    fn ffma(self, b: Self, c: Self) -> Self {
        self.map3(b, c, soft::fma32_nearest)
    }
    /// f32 less.
    #[inline(always)]
    fn flt(self, b: Self) -> Self::Mask {
        self.test2(b, |a, b| f32::from_bits(a) < f32::from_bits(b))
    }
    /// f32 equal.
    #[inline(always)]
    fn feq(self, b: Self) -> Self::Mask {
        self.test2(b, |a, b| f32::from_bits(a) == f32::from_bits(b))
    }
    /// Either is an f32 NaN.
    #[inline(always)]
    fn funord(self, b: Self) -> Self::Mask {
        self.test2(b, |a, b| f32::from_bits(a).is_nan() || f32::from_bits(b).is_nan())
    }
    /// f32 to an integer of the same value, toward zero. NaN comes back as some NaN.
    #[inline(always)]
    fn ftrunc(self) -> Self {
        self.map1(|a| f32::from_bits(a).trunc().to_bits())
    }
    /// f32 down to an integer.
    #[inline(always)]
    fn ffloor(self) -> Self {
        self.map1(|a| f32::from_bits(a).floor().to_bits())
    }
    /// f32 to the nearest integer, ties to even.
    #[inline(always)]
    fn frint(self) -> Self {
        self.map1(|a| f32::from_bits(a).round_ties_even().to_bits())
    }
    /// Signed integer to f32, to nearest.
    #[inline(always)]
    fn i2f(self) -> Self {
        self.map1(|a| (a as i32 as f32).to_bits())
    }
    /// Unsigned integer to f32, to nearest.
    #[inline(always)]
    fn u2f(self) -> Self {
        self.map1(|a| (a as f32).to_bits())
    }
    /// f32 to a signed integer, toward zero, saturating; NaN gives 0.
    #[inline(always)]
    fn f2i(self) -> Self {
        self.map1(|a| f32::from_bits(a) as i32 as u32)
    }
    /// f32 to an unsigned integer, toward zero, saturating; NaN gives 0.
    #[inline(always)]
    fn f2u(self) -> Self {
        self.map1(|a| f32::from_bits(a) as u32)
    }
    /// The f16 in the low half as f32; a NaN keeps its payload, and may come back quiet.
    #[inline(always)]
    fn h2f(self) -> Self {
        self.map1(soft::h2f)
    }
    /// f32 to f16 in the low half, to nearest, denormals kept; a NaN keeps the top of its payload, quieted.
    #[inline(always)]
    fn f2h(self) -> Self {
        self.map1(soft::f2h_nearest)
    }
    /// f32 to f64.
    #[inline(always)]
    fn f2d(self) -> Self::Long {
        self.widen1(|a| (f32::from_bits(a) as f64).to_bits())
    }
}

/// Lanes of 64 bits. Operators wrap.
pub trait Long:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
{
    /// The same lanes, 32 bits each.
    type Word: Word<Long = Self, Mask = Self::Mask>;
    /// A bit per lane.
    type Mask: Mask;

    /// The same number in every lane.
    fn splat(n: u64) -> Self;
    /// From low and high halves.
    fn join(lo: Self::Word, hi: Self::Word) -> Self;
    /// Low halves.
    fn lo(self) -> Self::Word;
    /// High halves.
    fn hi(self) -> Self::Word;
    /// Lane by lane.
    fn map1(self, f: impl Fn(u64) -> u64) -> Self;
    /// Lane by lane.
    fn map2(self, b: Self, f: impl Fn(u64, u64) -> u64) -> Self;
    /// Lane by lane.
    fn map3(self, b: Self, c: Self, f: impl Fn(u64, u64, u64) -> u64) -> Self;
    /// Lane by lane with a word.
    fn map_w(self, b: Self::Word, f: impl Fn(u64, u32) -> u64) -> Self;
    /// Lane by lane to a word.
    fn narrow1(self, f: impl Fn(u64) -> u32) -> Self::Word;
    /// Lane by lane into a mask.
    fn test2(self, b: Self, f: impl Fn(u64, u64) -> bool) -> Self::Mask;
    /// `t` where the mask is set, `f` elsewhere.
    fn select(mask: Self::Mask, t: Self, f: Self) -> Self;

    /// Shift left by `b` modulo 64.
    #[inline(always)]
    fn shl(self, b: Self::Word) -> Self {
        self.map_w(b, |a, b| a << (b & 63))
    }
    /// Logical shift right by `b` modulo 64.
    #[inline(always)]
    fn shr(self, b: Self::Word) -> Self {
        self.map_w(b, |a, b| a >> (b & 63))
    }
    /// Arithmetic shift right by `b` modulo 64.
    #[inline(always)]
    fn sar(self, b: Self::Word) -> Self {
        self.map_w(b, |a, b| ((a as i64) >> (b & 63)) as u64)
    }
    /// Equal.
    #[inline(always)]
    fn eq(self, b: Self) -> Self::Mask {
        self.test2(b, |a, b| a == b)
    }
    /// Less, unsigned.
    #[inline(always)]
    fn lt_u(self, b: Self) -> Self::Mask {
        self.test2(b, |a, b| a < b)
    }
    /// Less, signed.
    #[inline(always)]
    fn lt_i(self, b: Self) -> Self::Mask {
        self.test2(b, |a, b| (a as i64) < b as i64)
    }
    /// f64 sum, to nearest; what a NaN looks like is not said.
    #[inline(always)]
    fn fadd(self, b: Self) -> Self {
        self.map2(b, |a, b| (f64::from_bits(a) + f64::from_bits(b)).to_bits())
    }
    /// f64 product, to nearest.
    #[inline(always)]
    fn fmul(self, b: Self) -> Self {
        self.map2(b, |a, b| (f64::from_bits(a) * f64::from_bits(b)).to_bits())
    }
    /// f64 fused multiply-add, to nearest.
    #[inline(always)]
    fn ffma(self, b: Self, c: Self) -> Self {
        self.map3(b, c, soft::fma64_nearest)
    }
    /// f64 less.
    #[inline(always)]
    fn flt(self, b: Self) -> Self::Mask {
        self.test2(b, |a, b| f64::from_bits(a) < f64::from_bits(b))
    }
    /// f64 equal.
    #[inline(always)]
    fn feq(self, b: Self) -> Self::Mask {
        self.test2(b, |a, b| f64::from_bits(a) == f64::from_bits(b))
    }
    /// Either is an f64 NaN.
    #[inline(always)]
    fn funord(self, b: Self) -> Self::Mask {
        self.test2(b, |a, b| f64::from_bits(a).is_nan() || f64::from_bits(b).is_nan())
    }
}

/// A number as lanes, to make meanings read well: `w(31)`.
#[inline(always)]
pub fn w<W: Word>(n: u32) -> W {
    W::splat(n)
}
