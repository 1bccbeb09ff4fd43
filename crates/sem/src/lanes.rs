//! The values instructions work on: lanes of 32 bits ([`Word`]), of 64 bits ([`Long`]), and a bit per lane ([`Mask`]).
//!
//! Meanings are written once over these traits, with nothing but their operations ([`crate::operations`] lists and
//! defines them). The interpreter instantiates them with 16 lanes of data, [`crate::scalar`] with one, a JIT with values
//! of its IR ([`crate::record`]). What depends on the wave's mode or on modifiers is an ordinary branch of the host; what
//! depends on data is a `select`, or [`Word::rarely`] where a lane hardly ever needs it.

use crate::soft::Round;
use std::ops::{Add, BitAnd, BitOr, BitXor, Mul, Not, Sub};

/// One bit per lane.
pub trait Mask:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
{
    /// All lanes.
    fn ones() -> Self;
    /// No lane.
    fn zeros() -> Self;
}

/// An operation of the list as a method. The first operand is `self`.
macro_rules! methods {
    ($types:ident $($(#[$doc:meta])* fn $name:ident($a:ident: $at:ident $(, $b:ident: $bt:ident)* $(; $i:ident: $it:ident)?) -> $r:ident = $def:expr;)*) => {
        $(
            $(#[$doc])*
            fn $name(self, $($b: $types!($bt),)* $($i: $it)?) -> $types!($r);
        )*
    };
}
macro_rules! of_word {
    (w) => {
        Self
    };
    (l) => {
        Self::Long
    };
    (m) => {
        Self::Mask
    };
}
macro_rules! of_long {
    (w) => {
        Self::Word
    };
    (l) => {
        Self
    };
    (m) => {
        Self::Mask
    };
}

macro_rules! traits {
    (word { $($word:tt)* } long { $($long:tt)* }) => {
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
            /// `t` where the mask is set, `f` elsewhere.
            fn select(mask: Self::Mask, t: Self, f: Self) -> Self;
            /// The number at this place of a table; zero behind its end.
            fn lookup(self, table: &'static [u32]) -> Self;
            /// `rare()` where the mask is set, `common` elsewhere, when a set bit is rare: an engine may branch on whether
            /// there is one, and should keep what `rare` does out of the way. Closures take what they use by value (`move`),
            /// so that nothing of it goes through memory when they do not run.
            #[inline(always)]
            fn rarely(mask: Self::Mask, common: Self, rare: impl FnOnce() -> Self) -> Self {
                Self::select(mask, rare(), common)
            }
            /// What a long function gives. An engine may keep its code apart from the caller's.
            #[inline(always)]
            fn apart(long: impl FnOnce() -> Self) -> Self {
                long()
            }
            methods!(of_word $($word)*);
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
            /// `t` where the mask is set, `f` elsewhere.
            fn select(mask: Self::Mask, t: Self, f: Self) -> Self;
            /// As [`Word::rarely`].
            #[inline(always)]
            fn rarely(mask: Self::Mask, common: Self, rare: impl FnOnce() -> Self) -> Self {
                Self::select(mask, rare(), common)
            }
            /// As [`Word::apart`].
            #[inline(always)]
            fn apart(long: impl FnOnce() -> Self) -> Self {
                long()
            }
            /// From low and high halves.
            #[inline(always)]
            fn join(lo: Self::Word, hi: Self::Word) -> Self {
                lo.join(hi)
            }
            methods!(of_long $($long)*);
        }
    };
}
crate::for_each_operation!(traits);

/// A number as lanes, to make meanings read well: `w(31)`.
#[inline(always)]
pub fn w<W: Word>(n: u32) -> W {
    W::splat(n)
}
/// An f64 as lanes.
#[inline(always)]
pub fn d<L: Long>(n: f64) -> L {
    L::splat(n.to_bits())
}
