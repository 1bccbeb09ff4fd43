//! What back ends share: a host type of sixteen lanes says what its instructions can do ([`Host`], [`HostLong`]); whatever
//! it does not say goes lane by lane, as `sem` defines the operation. [`Lanes`] and [`Wide`] make of it what `sem`'s
//! meanings work on.

use super::{Bits, L16, V16};
use std::ops::{Add, BitAnd, BitOr, BitXor, Mul, Not, Sub};
use wavemill_sem::lanes::{Long, Word};
use wavemill_sem::operations::{long, word};
use wavemill_sem::soft::Round;

/// A bit for each lane.
#[inline(always)]
pub(super) fn bits(f: impl Fn(usize) -> bool) -> Bits {
    let mut m = 0u16;
    for i in 0..16 {
        m |= (f(i) as u16) << i;
    }
    Bits(m)
}

macro_rules! of_word {
    (w) => {
        Self
    };
    (l) => {
        Self::Long
    };
    (m) => {
        Bits
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
        Bits
    };
}
/// A value whose lanes a function gives.
macro_rules! gather {
    ($types:ident m, $f:expr) => {
        bits($f)
    };
    ($types:ident $t:ident, $f:expr) => {
        <$types!($t)>::from_array(std::array::from_fn($f))
    };
}
/// Operations lane by lane.
macro_rules! by_lane {
    ($types:ident $on:ident $($(#[$doc:meta])* fn $name:ident($a:ident: $at:ident $(, $b:ident: $bt:ident)* $(; $i:ident: $it:ident)?) -> $r:ident = $def:expr;)*) => {
        $(
            #[inline(always)]
            fn $name(self, $($b: $types!($bt),)* $($i: $it)?) -> $types!($r) {
                let $a = self.to_array();
                $(let $b = $b.to_array();)*
                gather!($types $r, |lane: usize| $on::$name($a[lane], $($b[lane],)* $($i)?))
            }
        )*
    };
}
/// The same for the operators.
macro_rules! operators_by_lane {
    ($($name:ident $f:expr;)*) => {
        $(
            #[inline(always)]
            fn $name(self, b: Self) -> Self {
                let (a, b) = (self.to_array(), b.to_array());
                Self::from_array(std::array::from_fn(|i| $f(a[i], b[i])))
            }
        )*
    };
}
macro_rules! host {
    (word { $($word:tt)* } long { $($long:tt)* }) => {
        /// Sixteen lanes of 32 bits as a host has them.
        pub(crate) trait Host: Copy {
            /// The same lanes, 64 bits each.
            type Long: HostLong<Word = Self>;

            /// As an array.
            fn to_array(self) -> [u32; 16];
            /// From an array.
            fn from_array(a: [u32; 16]) -> Self;
            /// Reads sixteen dwords.
            ///
            /// # Safety
            /// `p` must be readable for 64 bytes and aligned to 64.
            unsafe fn load(p: *const u32) -> Self;
            /// Writes sixteen dwords.
            ///
            /// # Safety
            /// `p` must be writable for 64 bytes and aligned to 64.
            unsafe fn store(self, p: *mut u32);
            /// Writes the lanes of a mask.
            ///
            /// # Safety
            /// As for `store`.
            #[inline(always)]
            unsafe fn store_active(self, active: Bits, p: *mut u32) {
                // SAFETY: the caller's promise.
                unsafe { Self::select(active, self, Self::load(p)).store(p) }
            }
            /// See [`V16::load_groups`].
            ///
            /// # Safety
            /// As there.
            #[inline(always)]
            unsafe fn load_groups<const N: usize>(p: *const u8) -> [Self; N] {
                // SAFETY: the caller's promise.
                unsafe { groups::load(p).map(Self::from_array) }
            }
            /// See [`V16::store_groups`].
            ///
            /// # Safety
            /// As there.
            #[inline(always)]
            unsafe fn store_groups<const N: usize>(rows: [Self; N], p: *mut u8) {
                // SAFETY: the caller's promise.
                unsafe { groups::store(rows.map(Self::to_array), p) }
            }
            /// See [`V16::pick`].
            ///
            /// # Safety
            /// As there.
            #[inline(always)]
            unsafe fn pick(self, p: *const u32) -> Self {
                // SAFETY: the caller's promise.
                Self::from_array(self.to_array().map(|i| unsafe { p.add(i as usize & 63).read() }))
            }
            /// See [`V16::quads`].
            #[inline(always)]
            fn quads<const N: usize>(self) -> Self {
                let lanes = self.to_array();
                Self::from_array(std::array::from_fn(|i| lanes[i & !3 | N & 3]))
            }
            #[inline(always)]
            fn from_bytes(a: [u8; 16]) -> Self {
                Self::from_array(a.map(u32::from))
            }
            #[inline(always)]
            fn from_shorts(a: [u16; 16]) -> Self {
                Self::from_array(a.map(u32::from))
            }
            #[inline(always)]
            fn to_bytes(self) -> [u8; 16] {
                self.to_array().map(|x| x as u8)
            }
            #[inline(always)]
            fn to_shorts(self) -> [u16; 16] {
                self.to_array().map(|x| x as u16)
            }
            /// Calls a function that is compiled for this host, but not into its caller.
            fn apart<R>(f: impl FnOnce() -> R) -> R;
            /// The same for one that is rarely called.
            fn cold<R>(f: impl FnOnce() -> R) -> R;

            fn splat(n: u32) -> Self;
            fn select(mask: Bits, t: Self, f: Self) -> Self;
            #[inline(always)]
            fn lookup(self, table: &'static [u32]) -> Self {
                Self::from_array(self.to_array().map(|i| table.get(i as usize).copied().unwrap_or(0)))
            }
            operators_by_lane!(add u32::wrapping_add; sub u32::wrapping_sub; mul u32::wrapping_mul;
                and |a: u32, b: u32| a & b; or |a: u32, b: u32| a | b; xor |a: u32, b: u32| a ^ b;);
            by_lane!(of_word word $($word)*);
        }

        /// Sixteen lanes of 64 bits as a host has them.
        pub(crate) trait HostLong: Copy {
            /// The same lanes, 32 bits each.
            type Word: Host<Long = Self>;

            /// As an array.
            fn to_array(self) -> [u64; 16];
            /// From an array.
            fn from_array(a: [u64; 16]) -> Self;
            fn splat(n: u64) -> Self;
            fn select(mask: Bits, t: Self, f: Self) -> Self;
            operators_by_lane!(add u64::wrapping_add; sub u64::wrapping_sub;
                and |a: u64, b: u64| a & b; or |a: u64, b: u64| a | b; xor |a: u64, b: u64| a ^ b;);
            by_lane!(of_long long $($long)*);
        }
    };
}
wavemill_sem::for_each_operation!(host);

/// Groups of dwords in memory, with arrays.
pub(super) mod groups {
    /// # Safety
    /// See [`super::V16::load_groups`].
    #[inline(always)]
    pub unsafe fn load<const N: usize>(p: *const u8) -> [[u32; 16]; N] {
        let mut rows = [[0; 16]; N];
        // SAFETY: the caller's promise.
        unsafe {
            for lane in 0..16 {
                if N.is_multiple_of(2) {
                    for k in 0..N / 2 {
                        let pair = p.cast::<u64>().add(lane * N / 2 + k).read_unaligned();
                        (rows[2 * k][lane], rows[2 * k + 1][lane]) = (pair as u32, (pair >> 32) as u32);
                    }
                } else {
                    for (k, row) in rows.iter_mut().enumerate() {
                        row[lane] = p.cast::<u32>().add(lane * N + k).read_unaligned();
                    }
                }
            }
        }
        rows
    }

    /// # Safety
    /// See [`super::V16::store_groups`].
    #[inline(always)]
    pub unsafe fn store<const N: usize>(rows: [[u32; 16]; N], p: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe {
            for lane in 0..16 {
                if N.is_multiple_of(2) {
                    for k in 0..N / 2 {
                        let pair = rows[2 * k][lane] as u64 | (rows[2 * k + 1][lane] as u64) << 32;
                        p.cast::<u64>().add(lane * N / 2 + k).write_unaligned(pair);
                    }
                } else {
                    for (k, row) in rows.iter().enumerate() {
                        p.cast::<u32>().add(lane * N + k).write_unaligned(row[lane]);
                    }
                }
            }
        }
    }
}

/// Sixteen lanes of 32 bits for `sem`.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Lanes<H>(pub H);
/// Sixteen lanes of 64 bits for `sem`.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Wide<H>(pub H);

macro_rules! operators {
    ($ty:ident, $host:ident: $($trait:ident $method:ident $name:ident;)*) => {
        $(impl<H: $host> $trait for $ty<H> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, b: Self) -> Self {
                $ty(self.0.$name(b.0))
            }
        })*
        impl<H: $host> Not for $ty<H> {
            type Output = Self;
            #[inline(always)]
            fn not(self) -> Self {
                $ty(self.0.xor(H::splat(!0)))
            }
        }
    };
}
operators!(Lanes, Host: Add add add; Sub sub sub; Mul mul mul; BitAnd bitand and; BitOr bitor or; BitXor bitxor xor;);
operators!(Wide, HostLong: Add add add; Sub sub sub; BitAnd bitand and; BitOr bitor or; BitXor bitxor xor;);

macro_rules! wrapped {
    (m $value:expr) => {
        $value
    };
    (w $value:expr) => {
        Lanes($value)
    };
    (l $value:expr) => {
        Wide($value)
    };
}
macro_rules! lanes_of_word {
    (w) => { Self };
    (l) => { Wide<H::Long> };
    (m) => { Bits };
}
macro_rules! lanes_of_long {
    (w) => { Lanes<H::Word> };
    (l) => { Self };
    (m) => { Bits };
}
macro_rules! forward {
    ($types:ident $($(#[$doc:meta])* fn $name:ident($a:ident: $at:ident $(, $b:ident: $bt:ident)* $(; $i:ident: $it:ident)?) -> $r:ident = $def:expr;)*) => {
        $(
            #[inline(always)]
            fn $name(self, $($b: $types!($bt),)* $($i: $it)?) -> $types!($r) {
                wrapped!($r self.0.$name($($b.0,)* $($i)?))
            }
        )*
    };
}
/// A branch around what is rarely needed.
macro_rules! rarely {
    ($cold:expr) => {
        #[inline(always)]
        fn rarely(mask: Bits, common: Self, rare: impl FnOnce() -> Self) -> Self {
            if mask.0 == 0 {
                return common;
            }
            // A closure of its own, made here: what the rare one holds goes to memory on this side of the branch only.
            // The select takes the result into a register, apart from the common one.
            let out = $cold(move || rare());
            Self::select(mask, out, common)
        }
    };
}
macro_rules! lanes {
    (word { $($word:tt)* } long { $($long:tt)* }) => {
        impl<H: Host> Word for Lanes<H> {
            type Mask = Bits;
            type Long = Wide<H::Long>;
            #[inline(always)]
            fn splat(n: u32) -> Self {
                Lanes(H::splat(n))
            }
            #[inline(always)]
            fn select(mask: Bits, t: Self, f: Self) -> Self {
                Lanes(H::select(mask, t.0, f.0))
            }
            #[inline(always)]
            fn lookup(self, table: &'static [u32]) -> Self {
                Lanes(self.0.lookup(table))
            }
            rarely!(H::cold);
            #[inline(always)]
            fn apart(long: impl FnOnce() -> Self) -> Self {
                H::apart(long)
            }
            forward!(lanes_of_word $($word)*);
        }
        impl<H: HostLong> Long for Wide<H> {
            type Word = Lanes<H::Word>;
            type Mask = Bits;
            #[inline(always)]
            fn splat(n: u64) -> Self {
                Wide(H::splat(n))
            }
            #[inline(always)]
            fn select(mask: Bits, t: Self, f: Self) -> Self {
                Wide(H::select(mask, t.0, f.0))
            }
            rarely!(<H::Word as Host>::cold);
            #[inline(always)]
            fn apart(long: impl FnOnce() -> Self) -> Self {
                <H::Word as Host>::apart(long)
            }
            forward!(lanes_of_long $($long)*);
        }
    };
}
wavemill_sem::for_each_operation!(lanes);

impl<H: Host> V16 for Lanes<H> {
    #[inline(always)]
    unsafe fn load(p: *const u32) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Lanes(H::load(p)) }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut u32) {
        // SAFETY: the caller's promise.
        unsafe { self.0.store(p) }
    }
    #[inline(always)]
    unsafe fn store_active(self, active: Bits, p: *mut u32) {
        // SAFETY: the caller's promise.
        unsafe { self.0.store_active(active, p) }
    }
    #[inline(always)]
    unsafe fn load_groups<const N: usize>(p: *const u8) -> [Self; N] {
        // SAFETY: the caller's promise.
        unsafe { H::load_groups(p).map(Lanes) }
    }
    #[inline(always)]
    unsafe fn store_groups<const N: usize>(rows: [Self; N], p: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { H::store_groups(rows.map(|row| row.0), p) }
    }
    #[inline(always)]
    unsafe fn pick(self, p: *const u32) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Lanes(self.0.pick(p)) }
    }
    #[inline(always)]
    fn quads<const N: usize>(self) -> Self {
        Lanes(self.0.quads::<N>())
    }
    #[inline(always)]
    fn from_bytes(a: [u8; 16]) -> Self {
        Lanes(H::from_bytes(a))
    }
    #[inline(always)]
    fn from_shorts(a: [u16; 16]) -> Self {
        Lanes(H::from_shorts(a))
    }
    #[inline(always)]
    fn to_bytes(self) -> [u8; 16] {
        self.0.to_bytes()
    }
    #[inline(always)]
    fn to_shorts(self) -> [u16; 16] {
        self.0.to_shorts()
    }
    #[inline(always)]
    fn to_array(self) -> [u32; 16] {
        self.0.to_array()
    }
    #[inline(always)]
    fn from_array(a: [u32; 16]) -> Self {
        Lanes(H::from_array(a))
    }
}
impl<H: HostLong> L16<Lanes<H::Word>> for Wide<H> {}

/// Operations of a type made of registers, each a function of the module `$by` on every register.
#[allow(unused_macros)] // the portable back end has none
macro_rules! on_registers {
    ($by:ident $ty:ident $fields:tt: $($name:ident($($b:ident),*);)*) => {
        $(
            #[inline(always)]
            fn $name(self, $($b: Self),*) -> Self {
                #[allow(unused_unsafe)] // NEON is always there
                // SAFETY: only reached from the back end's own instance.
                unsafe { on_registers!(@each $by $ty $fields $name self $(, $b)*) }
            }
        )*
    };
    (@each $by:ident $ty:ident ($($n:tt),*) $f:ident $a:ident) => { $ty($($by::$f($a.$n)),*) };
    (@each $by:ident $ty:ident ($($n:tt),*) $f:ident $a:ident, $b:ident) => { $ty($($by::$f($a.$n, $b.$n)),*) };
    (@each $by:ident $ty:ident ($($n:tt),*) $f:ident $a:ident, $b:ident, $c:ident) => {
        $ty($($by::$f($a.$n, $b.$n, $c.$n)),*)
    };
}
/// The same with a round mode.
#[allow(unused_macros)]
macro_rules! rounding_registers {
    ($by:ident $ty:ident $fields:tt: $($name:ident($($b:ident),*);)*) => {
        $(
            #[inline(always)]
            fn $name(self, $($b: Self,)* round: Round) -> Self {
                // SAFETY: only reached from the back end's own instance.
                unsafe { rounding_registers!(@each $by $ty $fields $name round self $(, $b)*) }
            }
        )*
    };
    (@each $by:ident $ty:ident ($($n:tt),*) $f:ident $r:ident $a:ident) => { $ty($($by::$f($a.$n, $r)),*) };
    (@each $by:ident $ty:ident ($($n:tt),*) $f:ident $r:ident $a:ident, $b:ident) => {
        $ty($($by::$f($a.$n, $b.$n, $r)),*)
    };
    (@each $by:ident $ty:ident ($($n:tt),*) $f:ident $r:ident $a:ident, $b:ident, $c:ident) => {
        $ty($($by::$f($a.$n, $b.$n, $c.$n, $r)),*)
    };
}
/// Comparisons likewise: a function gives the bits of a register's lanes.
#[allow(unused_macros)]
macro_rules! compare_registers {
    ($by:ident $fields:tt: $($name:ident;)*) => {
        $(
            #[inline(always)]
            fn $name(self, b: Self) -> Bits {
                // SAFETY: only reached from the back end's own instance.
                unsafe { compare_registers!(@each $by $fields $name self b) }
            }
        )*
    };
    (@each $by:ident ($($n:tt: $at:tt),*) $f:ident $a:ident $b:ident) => {
        Bits($(($by::$f($a.$n, $b.$n) as u16) << $at)|*)
    };
}
/// To and from arrays of the same size and alignment.
#[allow(unused_macros)]
macro_rules! arrays {
    ($array:ty) => {
        #[inline(always)]
        fn to_array(self) -> $array {
            // SAFETY: both are plain data of one size.
            unsafe { std::mem::transmute(self) }
        }
        #[inline(always)]
        fn from_array(a: $array) -> Self {
            // SAFETY: both are plain data of one size.
            unsafe { std::mem::transmute(a) }
        }
    };
}
/// Round modes that a host has no instructions for, by `sem`'s expansions.
macro_rules! expand_word {
    ($($name:ident($($b:ident),*) $f:ident;)*) => {
        $(
            #[inline(always)]
            fn $name(self, $($b: Self,)* round: Round) -> Self {
                wavemill_sem::expand::$f(Lanes(self), $(Lanes($b),)* round).0
            }
        )*
    };
}
/// The same for longs.
#[allow(unused_macros)]
macro_rules! expand_long {
    ($($name:ident($($b:ident),*) $f:ident;)*) => {
        $(
            #[inline(always)]
            fn $name(self, $($b: Self,)* round: Round) -> Self {
                wavemill_sem::expand::$f(Wide(self), $(Wide($b),)* round).0
            }
        )*
    };
}
#[allow(unused_imports)]
pub(super) use {arrays, compare_registers, expand_long, expand_word, on_registers, rounding_registers};
