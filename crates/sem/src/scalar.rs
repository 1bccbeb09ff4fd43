//! One lane at a time: the plainest instance of [`Word`], each operation by its definition. Scalar instructions run on it,
//! tests compare with it, and it answers which meanings exist.

use crate::lanes::{Long, Mask, Word};
use crate::operations::{long, word};
use crate::soft::Round;
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

macro_rules! operators {
    ($ty:ident, $($trait:ident $method:ident $f:expr;)*) => {
        $(impl $trait for $ty {
            type Output = $ty;
            #[inline(always)]
            fn $method(self, b: $ty) -> $ty {
                $ty($f(self.0, b.0))
            }
        })*
        impl Not for $ty {
            type Output = $ty;
            #[inline(always)]
            fn not(self) -> $ty {
                $ty(!self.0)
            }
        }
    };
}
operators!(S32, Add add u32::wrapping_add; Sub sub u32::wrapping_sub; Mul mul u32::wrapping_mul;
    BitAnd bitand |a, b| a & b; BitOr bitor |a, b| a | b; BitXor bitxor |a, b| a ^ b;);
operators!(S64, Add add u64::wrapping_add; Sub sub u64::wrapping_sub;
    BitAnd bitand |a, b| a & b; BitOr bitor |a, b| a | b; BitXor bitxor |a, b| a ^ b;);
operators!(SMask, BitAnd bitand |a, b| a & b; BitOr bitor |a, b| a | b; BitXor bitxor |a, b| a ^ b;);

impl Mask for SMask {
    #[inline(always)]
    fn ones() -> Self {
        SMask(true)
    }
    #[inline(always)]
    fn zeros() -> Self {
        SMask(false)
    }
}

macro_rules! lane {
    (w) => {
        S32
    };
    (l) => {
        S64
    };
    (m) => {
        SMask
    };
}
macro_rules! methods {
    ($on:ident $($(#[$doc:meta])* fn $name:ident($a:ident: $at:ident $(, $b:ident: $bt:ident)* $(; $i:ident: $it:ident)?) -> $r:ident = $def:expr;)*) => {
        $(
            #[inline(always)]
            fn $name(self, $($b: lane!($bt),)* $($i: $it)?) -> lane!($r) {
                lane!($r)($on::$name(self.0, $($b.0,)* $($i)?))
            }
        )*
    };
}
macro_rules! lanes {
    (word { $($word:tt)* } long { $($long:tt)* }) => {
        impl Word for S32 {
            type Mask = SMask;
            type Long = S64;
            #[inline(always)]
            fn splat(n: u32) -> Self {
                S32(n)
            }
            #[inline(always)]
            fn select(mask: SMask, t: Self, f: Self) -> Self {
                if mask.0 { t } else { f }
            }
            #[inline(always)]
            fn lookup(self, table: &'static [u32]) -> Self {
                S32(table.get(self.0 as usize).copied().unwrap_or(0))
            }
            #[inline(always)]
            fn rarely(mask: SMask, common: Self, rare: impl FnOnce() -> Self) -> Self {
                if mask.0 { rare() } else { common }
            }
            methods!(word $($word)*);
        }
        impl Long for S64 {
            type Word = S32;
            type Mask = SMask;
            #[inline(always)]
            fn splat(n: u64) -> Self {
                S64(n)
            }
            #[inline(always)]
            fn select(mask: SMask, t: Self, f: Self) -> Self {
                if mask.0 { t } else { f }
            }
            #[inline(always)]
            fn rarely(mask: SMask, common: Self, rare: impl FnOnce() -> Self) -> Self {
                if mask.0 { rare() } else { common }
            }
            methods!(long $($long)*);
        }
    };
}
crate::for_each_operation!(lanes);
