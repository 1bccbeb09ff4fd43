//! Sixteen lanes in arrays. [`Wide`] also serves AVX2 for 64-bit lanes: compiled with AVX2 on, its loops vectorise.

use super::{Bits, L16, V16};
use std::marker::PhantomData;
use std::ops::{Add, BitAnd, BitOr, BitXor, Mul, Not, Sub};
use wavemill_sem::lanes::{Long, Word};
use wavemill_sem::soft;

/// Sixteen 32-bit lanes.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct P16(pub [u32; 16]);

/// Sixteen 64-bit lanes beside any 32-bit ones.
#[derive(Clone, Copy)]
pub(crate) struct Wide<W>(pub [u64; 16], PhantomData<W>);

#[inline(always)]
fn bits(f: impl Fn(usize) -> bool) -> Bits {
    let mut m = 0u16;
    for i in 0..16 {
        m |= (f(i) as u16) << i;
    }
    Bits(m)
}

macro_rules! array_op {
    ($trait:ident, $method:ident, $narrow:expr, $wide:expr) => {
        impl $trait for P16 {
            type Output = P16;
            #[inline(always)]
            fn $method(self, b: P16) -> P16 {
                P16(std::array::from_fn(|i| $narrow(self.0[i], b.0[i])))
            }
        }
        impl<W> $trait for Wide<W> {
            type Output = Wide<W>;
            #[inline(always)]
            fn $method(self, b: Wide<W>) -> Wide<W> {
                wide(std::array::from_fn(|i| $wide(self.0[i], b.0[i])))
            }
        }
    };
}
array_op!(Add, add, u32::wrapping_add, u64::wrapping_add);
array_op!(Sub, sub, u32::wrapping_sub, u64::wrapping_sub);
array_op!(BitAnd, bitand, |a: u32, b: u32| a & b, |a: u64, b: u64| a & b);
array_op!(BitOr, bitor, |a: u32, b: u32| a | b, |a: u64, b: u64| a | b);
array_op!(BitXor, bitxor, |a: u32, b: u32| a ^ b, |a: u64, b: u64| a ^ b);
impl Mul for P16 {
    type Output = P16;
    #[inline(always)]
    fn mul(self, b: P16) -> P16 {
        P16(std::array::from_fn(|i| self.0[i].wrapping_mul(b.0[i])))
    }
}
impl Not for P16 {
    type Output = P16;
    #[inline(always)]
    fn not(self) -> P16 {
        P16(std::array::from_fn(|i| !self.0[i]))
    }
}
impl<W> Not for Wide<W> {
    type Output = Wide<W>;
    #[inline(always)]
    fn not(self) -> Wide<W> {
        wide(std::array::from_fn(|i| !self.0[i]))
    }
}

#[inline(always)]
pub(crate) fn wide<W>(a: [u64; 16]) -> Wide<W> {
    Wide(a, PhantomData)
}

impl Word for P16 {
    type Mask = Bits;
    type Long = Wide<P16>;
    #[inline(always)]
    fn splat(n: u32) -> Self {
        P16([n; 16])
    }
    #[inline(always)]
    fn map1(self, f: impl Fn(u32) -> u32) -> Self {
        P16(std::array::from_fn(|i| f(self.0[i])))
    }
    #[inline(always)]
    fn map2(self, b: Self, f: impl Fn(u32, u32) -> u32) -> Self {
        P16(std::array::from_fn(|i| f(self.0[i], b.0[i])))
    }
    #[inline(always)]
    fn map3(self, b: Self, c: Self, f: impl Fn(u32, u32, u32) -> u32) -> Self {
        P16(std::array::from_fn(|i| f(self.0[i], b.0[i], c.0[i])))
    }
    #[inline(always)]
    fn test2(self, b: Self, f: impl Fn(u32, u32) -> bool) -> Bits {
        bits(|i| f(self.0[i], b.0[i]))
    }
    #[inline(always)]
    fn widen1(self, f: impl Fn(u32) -> u64) -> Wide<P16> {
        wide(std::array::from_fn(|i| f(self.0[i])))
    }
    #[inline(always)]
    fn select(mask: Bits, t: Self, f: Self) -> Self {
        P16(std::array::from_fn(|i| if mask.0 >> i & 1 != 0 { t.0[i] } else { f.0[i] }))
    }
    #[inline(always)]
    fn eq(self, b: Self) -> Bits {
        bits(|i| self.0[i] == b.0[i])
    }
    #[inline(always)]
    fn lt_u(self, b: Self) -> Bits {
        bits(|i| self.0[i] < b.0[i])
    }
    #[inline(always)]
    fn lt_i(self, b: Self) -> Bits {
        bits(|i| (self.0[i] as i32) < b.0[i] as i32)
    }
    #[inline(always)]
    fn shl(self, b: Self) -> Self {
        self.map2(b, |a, b| a << (b & 31))
    }
    #[inline(always)]
    fn shr(self, b: Self) -> Self {
        self.map2(b, |a, b| a >> (b & 31))
    }
    #[inline(always)]
    fn sar(self, b: Self) -> Self {
        self.map2(b, |a, b| (a as i32 >> (b & 31)) as u32)
    }
    #[inline(always)]
    fn min_u(self, b: Self) -> Self {
        self.map2(b, u32::min)
    }
    #[inline(always)]
    fn max_u(self, b: Self) -> Self {
        self.map2(b, u32::max)
    }
    #[inline(always)]
    fn min_i(self, b: Self) -> Self {
        self.map2(b, |a, b| (a as i32).min(b as i32) as u32)
    }
    #[inline(always)]
    fn max_i(self, b: Self) -> Self {
        self.map2(b, |a, b| (a as i32).max(b as i32) as u32)
    }
}

impl V16 for P16 {
    #[inline(always)]
    unsafe fn load(p: *const u32) -> Self {
        // SAFETY: the caller's promise.
        unsafe { p.cast::<P16>().read() }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut u32) {
        // SAFETY: the caller's promise.
        unsafe { p.cast::<P16>().write(self) }
    }
    // Not inlined: it would be a large part of every instruction's code.
    #[inline(never)]
    unsafe fn store_active(self, active: Bits, p: *mut u32) {
        for (i, v) in self.0.into_iter().enumerate() {
            if active.0 >> i & 1 != 0 {
                // SAFETY: the caller's promise.
                unsafe { p.add(i).write(v) };
            }
        }
    }
    #[inline(always)]
    fn to_array(self) -> [u32; 16] {
        self.0
    }
    #[inline(always)]
    fn from_array(a: [u32; 16]) -> Self {
        P16(a)
    }
    #[inline(always)]
    fn fma64(a: u64, b: u64, c: u64) -> u64 {
        soft::fma64_nearest(a, b, c)
    }
}

impl<W: V16<Long = Wide<W>>> Long for Wide<W> {
    type Word = W;
    type Mask = Bits;
    #[inline(always)]
    fn splat(n: u64) -> Self {
        wide([n; 16])
    }
    #[inline(always)]
    fn join(lo: W, hi: W) -> Self {
        let (lo, hi) = (lo.to_array(), hi.to_array());
        wide(std::array::from_fn(|i| lo[i] as u64 | (hi[i] as u64) << 32))
    }
    #[inline(always)]
    fn lo(self) -> W {
        W::from_array(std::array::from_fn(|i| self.0[i] as u32))
    }
    #[inline(always)]
    fn hi(self) -> W {
        W::from_array(std::array::from_fn(|i| (self.0[i] >> 32) as u32))
    }
    #[inline(always)]
    fn map1(self, f: impl Fn(u64) -> u64) -> Self {
        wide(std::array::from_fn(|i| f(self.0[i])))
    }
    #[inline(always)]
    fn map2(self, b: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        wide(std::array::from_fn(|i| f(self.0[i], b.0[i])))
    }
    #[inline(always)]
    fn map3(self, b: Self, c: Self, f: impl Fn(u64, u64, u64) -> u64) -> Self {
        wide(std::array::from_fn(|i| f(self.0[i], b.0[i], c.0[i])))
    }
    #[inline(always)]
    fn map_w(self, b: W, f: impl Fn(u64, u32) -> u64) -> Self {
        let b = b.to_array();
        wide(std::array::from_fn(|i| f(self.0[i], b[i])))
    }
    #[inline(always)]
    fn narrow1(self, f: impl Fn(u64) -> u32) -> W {
        W::from_array(std::array::from_fn(|i| f(self.0[i])))
    }
    #[inline(always)]
    fn test2(self, b: Self, f: impl Fn(u64, u64) -> bool) -> Bits {
        bits(|i| f(self.0[i], b.0[i]))
    }
    #[inline(always)]
    fn select(mask: Bits, t: Self, f: Self) -> Self {
        wide(std::array::from_fn(|i| if mask.0 >> i & 1 != 0 { t.0[i] } else { f.0[i] }))
    }
    #[inline(always)]
    fn ffma(self, b: Self, c: Self) -> Self {
        wide(std::array::from_fn(|i| W::fma64(self.0[i], b.0[i], c.0[i])))
    }
}

impl<W: V16<Long = Wide<W>>> L16<W> for Wide<W> {}
