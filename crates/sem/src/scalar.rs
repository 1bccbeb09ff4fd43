//! One lane at a time: the plainest instance of [`Word`], for tests and for asking which meanings exist.

use crate::lanes::{Long, Mask, Word};
use std::ops::{Add, BitAnd, BitOr, BitXor, Mul, Not, Sub};

/// One 32-bit lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct S32(pub u32);
/// One 64-bit lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct S64(pub u64);
/// One lane's bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SMask(pub bool);

macro_rules! ops {
    ($ty:ident, $($trait:ident $method:ident $f:expr;)*) => {
        $(impl $trait for $ty {
            type Output = $ty;
            fn $method(self, b: $ty) -> $ty {
                $ty($f(self.0, b.0))
            }
        })*
    };
}
ops!(S32, Add add u32::wrapping_add; Sub sub u32::wrapping_sub; Mul mul u32::wrapping_mul;
    BitAnd bitand |a, b| a & b; BitOr bitor |a, b| a | b; BitXor bitxor |a, b| a ^ b;);
ops!(S64, Add add u64::wrapping_add; Sub sub u64::wrapping_sub;
    BitAnd bitand |a, b| a & b; BitOr bitor |a, b| a | b; BitXor bitxor |a, b| a ^ b;);
ops!(SMask, BitAnd bitand |a, b| a & b; BitOr bitor |a, b| a | b; BitXor bitxor |a, b| a ^ b;);
impl Not for S32 {
    type Output = S32;
    fn not(self) -> S32 {
        S32(!self.0)
    }
}
impl Not for S64 {
    type Output = S64;
    fn not(self) -> S64 {
        S64(!self.0)
    }
}
impl Not for SMask {
    type Output = SMask;
    fn not(self) -> SMask {
        SMask(!self.0)
    }
}
impl Mask for SMask {
    fn ones() -> Self {
        SMask(true)
    }
    fn zeros() -> Self {
        SMask(false)
    }
    fn maybe_any(self) -> bool {
        self.0
    }
}
impl Word for S32 {
    type Mask = SMask;
    type Long = S64;
    fn splat(n: u32) -> Self {
        S32(n)
    }
    fn map1(self, f: impl Fn(u32) -> u32) -> Self {
        S32(f(self.0))
    }
    fn map2(self, b: Self, f: impl Fn(u32, u32) -> u32) -> Self {
        S32(f(self.0, b.0))
    }
    fn map3(self, b: Self, c: Self, f: impl Fn(u32, u32, u32) -> u32) -> Self {
        S32(f(self.0, b.0, c.0))
    }
    fn test2(self, b: Self, f: impl Fn(u32, u32) -> bool) -> SMask {
        SMask(f(self.0, b.0))
    }
    fn widen1(self, f: impl Fn(u32) -> u64) -> S64 {
        S64(f(self.0))
    }
    fn select(mask: SMask, t: Self, f: Self) -> Self {
        if mask.0 { t } else { f }
    }
    fn eq(self, b: Self) -> SMask {
        SMask(self.0 == b.0)
    }
    fn lt_u(self, b: Self) -> SMask {
        SMask(self.0 < b.0)
    }
    fn lt_i(self, b: Self) -> SMask {
        SMask((self.0 as i32) < b.0 as i32)
    }
    fn shl(self, b: Self) -> Self {
        S32(self.0 << (b.0 & 31))
    }
    fn shr(self, b: Self) -> Self {
        S32(self.0 >> (b.0 & 31))
    }
    fn sar(self, b: Self) -> Self {
        S32((self.0 as i32 >> (b.0 & 31)) as u32)
    }
}
impl Long for S64 {
    type Word = S32;
    type Mask = SMask;
    fn splat(n: u64) -> Self {
        S64(n)
    }
    fn join(lo: S32, hi: S32) -> Self {
        S64(lo.0 as u64 | (hi.0 as u64) << 32)
    }
    fn lo(self) -> S32 {
        S32(self.0 as u32)
    }
    fn hi(self) -> S32 {
        S32((self.0 >> 32) as u32)
    }
    fn map1(self, f: impl Fn(u64) -> u64) -> Self {
        S64(f(self.0))
    }
    fn map2(self, b: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        S64(f(self.0, b.0))
    }
    fn map3(self, b: Self, c: Self, f: impl Fn(u64, u64, u64) -> u64) -> Self {
        S64(f(self.0, b.0, c.0))
    }
    fn map_w(self, b: S32, f: impl Fn(u64, u32) -> u64) -> Self {
        S64(f(self.0, b.0))
    }
    fn narrow1(self, f: impl Fn(u64) -> u32) -> S32 {
        S32(f(self.0))
    }
    fn test2(self, b: Self, f: impl Fn(u64, u64) -> bool) -> SMask {
        SMask(f(self.0, b.0))
    }
    fn select(mask: SMask, t: Self, f: Self) -> Self {
        if mask.0 { t } else { f }
    }
}
