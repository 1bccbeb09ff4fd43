//! Sixteen lanes in four NEON registers. Every AArch64 host has NEON, so there is nothing to detect.

use super::portable::{Wide, wide};
use super::{Bits, V16};
use std::arch::aarch64::*;
use std::mem::transmute;
use wavemill_sem::lanes::Word;

/// Sixteen 32-bit lanes.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct N16(uint32x4_t, uint32x4_t, uint32x4_t, uint32x4_t);

operators!(N16(0, 1, 2, 3): Add add vaddq_u32; Sub sub vsubq_u32; Mul mul vmulq_u32;
    BitAnd bitand vandq_u32; BitOr bitor vorrq_u32; BitXor bitxor veorq_u32;);

/// Applies a function to each register.
macro_rules! each {
    ($f:ident($($a:expr),*)) => {
        #[allow(unused_unsafe)]
        // SAFETY: every AArch64 host has NEON.
        unsafe {
            N16($f($($a.0),*), $f($($a.1),*), $f($($a.2),*), $f($($a.3),*))
        }
    };
}

/// A function on registers of four lanes.
macro_rules! four {
    ($($(#[$doc:meta])* fn $name:ident($($a:ident),*) $body:expr)*) => {
        $($(#[$doc])*
        #[inline]
        #[target_feature(enable = "neon")]
        fn $name($($a: uint32x4_t),*) -> uint32x4_t {
            $body
        })*
    };
}
four! {
    /// Left by so many bits below 32.
    fn shl4(a, b) vshlq_u32(a, vreinterpretq_s32_u32(b))
    /// Right, as an unsigned number.
    fn shr4(a, b) vshlq_u32(a, vnegq_s32(vreinterpretq_s32_u32(b)))
    /// Right, as a signed number.
    fn sar4(a, b) vreinterpretq_u32_s32(vshlq_s32(vreinterpretq_s32_u32(a), vnegq_s32(vreinterpretq_s32_u32(b))))
    fn lt_i4(a, b) vcltq_s32(vreinterpretq_s32_u32(a), vreinterpretq_s32_u32(b))
    fn min_i4(a, b) vreinterpretq_u32_s32(vminq_s32(vreinterpretq_s32_u32(a), vreinterpretq_s32_u32(b)))
    fn max_i4(a, b) vreinterpretq_u32_s32(vmaxq_s32(vreinterpretq_s32_u32(a), vreinterpretq_s32_u32(b)))
    fn fadd4(a, b) vreinterpretq_u32_f32(vaddq_f32(vreinterpretq_f32_u32(a), vreinterpretq_f32_u32(b)))
    fn fmul4(a, b) vreinterpretq_u32_f32(vmulq_f32(vreinterpretq_f32_u32(a), vreinterpretq_f32_u32(b)))
    fn ffma4(a, b, c) vreinterpretq_u32_f32(vfmaq_f32(
        vreinterpretq_f32_u32(c),
        vreinterpretq_f32_u32(a),
        vreinterpretq_f32_u32(b),
    ))
    fn flt4(a, b) vcltq_f32(vreinterpretq_f32_u32(a), vreinterpretq_f32_u32(b))
    fn feq4(a, b) vceqq_f32(vreinterpretq_f32_u32(a), vreinterpretq_f32_u32(b))
    /// Neither is a NaN.
    fn ord4(a, b) vandq_u32(feq4(a, a), feq4(b, b))
    fn trunc4(a) vreinterpretq_u32_f32(vrndq_f32(vreinterpretq_f32_u32(a)))
    fn floor4(a) vreinterpretq_u32_f32(vrndmq_f32(vreinterpretq_f32_u32(a)))
    fn rint4(a) vreinterpretq_u32_f32(vrndnq_f32(vreinterpretq_f32_u32(a)))
    fn i2f4(a) vreinterpretq_u32_f32(vcvtq_f32_s32(vreinterpretq_s32_u32(a)))
    fn u2f4(a) vreinterpretq_u32_f32(vcvtq_f32_u32(a))
    /// Saturates; NaN gives zero.
    fn f2i4(a) vreinterpretq_u32_s32(vcvtq_s32_f32(vreinterpretq_f32_u32(a)))
    /// Saturates; NaN gives zero.
    fn f2u4(a) vcvtq_u32_f32(vreinterpretq_f32_u32(a))
    fn mul_hi_u4(a, b) {
        let low = vmull_u32(vget_low_u32(a), vget_low_u32(b));
        vuzp2q_u32(vreinterpretq_u32_u64(low), vreinterpretq_u32_u64(vmull_high_u32(a, b)))
    }
    fn mul_hi_i4(a, b) {
        let (a, b) = (vreinterpretq_s32_u32(a), vreinterpretq_s32_u32(b));
        let low = vmull_s32(vget_low_s32(a), vget_low_s32(b));
        vuzp2q_u32(vreinterpretq_u32_s64(low), vreinterpretq_u32_s64(vmull_high_s32(a, b)))
    }
}

/// One bit in each of four lanes.
const BITS: [u32; 4] = [1, 2, 4, 8];

/// A bit for each lane that is all ones.
#[inline(always)]
fn gather(m: N16) -> Bits {
    #[allow(unused_unsafe)]
    // SAFETY: every AArch64 host has NEON; the constant has four numbers.
    unsafe {
        let bits = vld1q_u32(BITS.as_ptr());
        let part = vandq_u32(m.0, bits);
        let part = vorrq_u32(part, vshlq_n_u32::<4>(vandq_u32(m.1, bits)));
        let part = vorrq_u32(part, vshlq_n_u32::<8>(vandq_u32(m.2, bits)));
        Bits(vaddvq_u32(vorrq_u32(part, vshlq_n_u32::<12>(vandq_u32(m.3, bits)))) as u16)
    }
}

/// All ones in the lanes of a mask.
#[inline(always)]
fn spread(mask: Bits) -> N16 {
    #[allow(unused_unsafe)]
    // SAFETY: every AArch64 host has NEON; the constant has four numbers.
    unsafe {
        let (all, bits) = (vdupq_n_u32(mask.0 as u32), vld1q_u32(BITS.as_ptr()));
        N16(
            vtstq_u32(all, bits),
            vtstq_u32(all, vshlq_n_u32::<4>(bits)),
            vtstq_u32(all, vshlq_n_u32::<8>(bits)),
            vtstq_u32(all, vshlq_n_u32::<12>(bits)),
        )
    }
}

impl Word for N16 {
    type Mask = Bits;
    type Long = Wide<N16>;
    #[inline(always)]
    fn splat(n: u32) -> Self {
        #[allow(unused_unsafe)]
        // SAFETY: every AArch64 host has NEON.
        let v = unsafe { vdupq_n_u32(n) };
        N16(v, v, v, v)
    }
    #[inline(always)]
    fn map1(self, f: impl Fn(u32) -> u32) -> Self {
        let a = self.to_array();
        Self::from_array(std::array::from_fn(|i| f(a[i])))
    }
    #[inline(always)]
    fn map2(self, b: Self, f: impl Fn(u32, u32) -> u32) -> Self {
        let (a, b) = (self.to_array(), b.to_array());
        Self::from_array(std::array::from_fn(|i| f(a[i], b[i])))
    }
    #[inline(always)]
    fn map3(self, b: Self, c: Self, f: impl Fn(u32, u32, u32) -> u32) -> Self {
        let (a, b, c) = (self.to_array(), b.to_array(), c.to_array());
        Self::from_array(std::array::from_fn(|i| f(a[i], b[i], c[i])))
    }
    #[inline(always)]
    fn test2(self, b: Self, f: impl Fn(u32, u32) -> bool) -> Bits {
        let (a, b) = (self.to_array(), b.to_array());
        let mut m = 0;
        for i in 0..16 {
            m |= (f(a[i], b[i]) as u16) << i;
        }
        Bits(m)
    }
    #[inline(always)]
    fn widen1(self, f: impl Fn(u32) -> u64) -> Wide<N16> {
        let a = self.to_array();
        wide(std::array::from_fn(|i| f(a[i])))
    }
    #[inline(always)]
    fn select(mask: Bits, t: Self, f: Self) -> Self {
        let m = spread(mask);
        each!(vbslq_u32(m, t, f))
    }
    #[inline(always)]
    fn eq(self, b: Self) -> Bits {
        gather(each!(vceqq_u32(self, b)))
    }
    #[inline(always)]
    fn lt_u(self, b: Self) -> Bits {
        gather(each!(vcltq_u32(self, b)))
    }
    #[inline(always)]
    fn lt_i(self, b: Self) -> Bits {
        gather(each!(lt_i4(self, b)))
    }
    #[inline(always)]
    fn shl(self, b: Self) -> Self {
        let b = b & Self::splat(31);
        each!(shl4(self, b))
    }
    #[inline(always)]
    fn shr(self, b: Self) -> Self {
        let b = b & Self::splat(31);
        each!(shr4(self, b))
    }
    #[inline(always)]
    fn sar(self, b: Self) -> Self {
        let b = b & Self::splat(31);
        each!(sar4(self, b))
    }
    #[inline(always)]
    fn mul_hi_u(self, b: Self) -> Self {
        each!(mul_hi_u4(self, b))
    }
    #[inline(always)]
    fn mul_hi_i(self, b: Self) -> Self {
        each!(mul_hi_i4(self, b))
    }
    #[inline(always)]
    fn min_u(self, b: Self) -> Self {
        each!(vminq_u32(self, b))
    }
    #[inline(always)]
    fn max_u(self, b: Self) -> Self {
        each!(vmaxq_u32(self, b))
    }
    #[inline(always)]
    fn min_i(self, b: Self) -> Self {
        each!(min_i4(self, b))
    }
    #[inline(always)]
    fn max_i(self, b: Self) -> Self {
        each!(max_i4(self, b))
    }
    #[inline(always)]
    fn fadd(self, b: Self) -> Self {
        each!(fadd4(self, b))
    }
    #[inline(always)]
    fn fmul(self, b: Self) -> Self {
        each!(fmul4(self, b))
    }
    #[inline(always)]
    fn ffma(self, b: Self, c: Self) -> Self {
        each!(ffma4(self, b, c))
    }
    #[inline(always)]
    fn flt(self, b: Self) -> Bits {
        gather(each!(flt4(self, b)))
    }
    #[inline(always)]
    fn feq(self, b: Self) -> Bits {
        gather(each!(feq4(self, b)))
    }
    #[inline(always)]
    fn funord(self, b: Self) -> Bits {
        !gather(each!(ord4(self, b)))
    }
    #[inline(always)]
    fn ftrunc(self) -> Self {
        each!(trunc4(self))
    }
    #[inline(always)]
    fn ffloor(self) -> Self {
        each!(floor4(self))
    }
    #[inline(always)]
    fn frint(self) -> Self {
        each!(rint4(self))
    }
    #[inline(always)]
    fn i2f(self) -> Self {
        each!(i2f4(self))
    }
    #[inline(always)]
    fn u2f(self) -> Self {
        each!(u2f4(self))
    }
    #[inline(always)]
    fn f2i(self) -> Self {
        each!(f2i4(self))
    }
    #[inline(always)]
    fn f2u(self) -> Self {
        each!(f2u4(self))
    }
}

impl V16 for N16 {
    #[inline(always)]
    unsafe fn load(p: *const u32) -> Self {
        // SAFETY: the caller's promise.
        unsafe { p.cast::<N16>().read() }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut u32) {
        // SAFETY: the caller's promise.
        unsafe { p.cast::<N16>().write(self) }
    }
    #[inline(always)]
    fn to_array(self) -> [u32; 16] {
        // SAFETY: both are 64 bytes of plain data.
        unsafe { transmute(self) }
    }
    #[inline(always)]
    fn from_array(a: [u32; 16]) -> Self {
        // SAFETY: both are 64 bytes of plain data.
        unsafe { transmute(a) }
    }
    #[inline(always)]
    fn fma64(a: u64, b: u64, c: u64) -> u64 {
        f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c)).to_bits()
    }
}
