//! Sixteen lanes in arrays: every operation as `sem` defines it. [`Array64`] also serves NEON for 64-bit lanes: the
//! compiler vectorises its loops there.

use super::Bits;
use super::lanes::{Host, HostLong, Lanes, Wide, expand_word};
use std::marker::PhantomData;
use wavemill_sem::soft::Round;

/// Sixteen 32-bit lanes.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Array32([u32; 16]);

/// The lanes that `sem`'s meanings work on.
pub(crate) type P16 = Lanes<Array32>;

/// Sixteen 64-bit lanes beside any 32-bit ones.
#[derive(Clone, Copy)]
pub(crate) struct Array64<W>([u64; 16], PhantomData<W>);

/// Hosts whose 64-bit lanes are arrays.
pub(crate) trait Arrays: Host<Long = Array64<Self>> {
    /// f64 fused multiply-add of one lane, to nearest.
    fn fma64(a: u64, b: u64, c: u64) -> u64;
}

impl Arrays for Array32 {
    #[inline(always)]
    fn fma64(a: u64, b: u64, c: u64) -> u64 {
        // The C library's, which is exact: `sem`'s takes many times as long.
        f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c)).to_bits()
    }
}

impl Host for Array32 {
    type Long = Array64<Array32>;
    #[inline(always)]
    fn to_array(self) -> [u32; 16] {
        self.0
    }
    #[inline(always)]
    fn from_array(a: [u32; 16]) -> Self {
        Array32(a)
    }
    #[inline(always)]
    unsafe fn load(p: *const u32) -> Self {
        // SAFETY: the caller's promise.
        unsafe { p.cast::<Array32>().read() }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut u32) {
        // SAFETY: the caller's promise.
        unsafe { p.cast::<Array32>().write(self) }
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
    #[inline(never)]
    fn apart<R>(f: impl FnOnce() -> R) -> R {
        f()
    }
    #[cold]
    #[inline(never)]
    fn cold<R>(f: impl FnOnce() -> R) -> R {
        f()
    }
    #[inline(always)]
    fn splat(n: u32) -> Self {
        Array32([n; 16])
    }
    #[inline(always)]
    fn select(mask: Bits, t: Self, f: Self) -> Self {
        Array32(std::array::from_fn(|i| if mask.0 >> i & 1 != 0 { t.0[i] } else { f.0[i] }))
    }
    expand_word!(fadd_round(b) fadd32_round; fmul_round(b) fmul32_round; ffma_round(b, c) ffma32_round;);
}

impl<W: Arrays> HostLong for Array64<W> {
    type Word = W;
    #[inline(always)]
    fn to_array(self) -> [u64; 16] {
        self.0
    }
    #[inline(always)]
    fn from_array(a: [u64; 16]) -> Self {
        Array64(a, PhantomData)
    }
    #[inline(always)]
    fn splat(n: u64) -> Self {
        Array64([n; 16], PhantomData)
    }
    #[inline(always)]
    fn select(mask: Bits, t: Self, f: Self) -> Self {
        Self::from_array(std::array::from_fn(|i| if mask.0 >> i & 1 != 0 { t.0[i] } else { f.0[i] }))
    }
    #[inline(always)]
    fn ffma(self, b: Self, c: Self) -> Self {
        Self::from_array(std::array::from_fn(|i| W::fma64(self.0[i], b.0[i], c.0[i])))
    }
    #[inline(always)]
    fn d2f_round(self, round: Round) -> W {
        wavemill_sem::expand::d2f_round(Wide(self), round).0
    }
}
