//! Sixteen lanes in two ymm registers. Every function here runs inside the interpreter's AVX2 instance, which is only
//! entered after the host was found to have AVX2 and FMA.

use super::portable::{Wide, wide};
use super::{Bits, V16};
use std::arch::x86_64::*;
use std::mem::transmute;
use wavemill_sem::lanes::Word;

/// Sixteen 32-bit lanes.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Y16(__m256i, __m256i);

/// Applies an intrinsic to both halves.
macro_rules! both {
    ($f:ident($($a:expr),*)) => {
        // SAFETY: only reached from the AVX2 instance (see above).
        unsafe { Y16($f($($a.0),*), $f($($a.1),*)) }
    };
}
operators!(Y16(0, 1): Add add _mm256_add_epi32; Sub sub _mm256_sub_epi32; Mul mul _mm256_mullo_epi32;
    BitAnd bitand _mm256_and_si256; BitOr bitor _mm256_or_si256; BitXor bitxor _mm256_xor_si256;);

/// All ones in the lanes of a mask of eight.
#[inline]
#[target_feature(enable = "avx2")]
fn spread(mask: u16) -> __m256i {
    let bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(mask as i32), bit), bit)
}

/// f16 in the low halves to f32.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn widen(a: __m256i) -> __m256i {
    let low = _mm256_and_si256(a, _mm256_set1_epi32(0xffff));
    let packed = _mm256_permute4x64_epi64::<0b1000>(_mm256_packus_epi32(low, low));
    _mm256_castps_si256(_mm256_cvtph_ps(_mm256_castsi256_si128(packed)))
}

/// f32 to f16 in the low halves, to nearest.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn narrow(a: __m256i) -> __m256i {
    _mm256_cvtepu16_epi32(_mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_castsi256_ps(a)))
}

/// Sign bits of both halves.
#[inline(always)]
fn movemask(a: Y16) -> Bits {
    // SAFETY: only reached from the AVX2 instance.
    unsafe {
        let lo = _mm256_movemask_ps(_mm256_castsi256_ps(a.0)) as u16;
        let hi = _mm256_movemask_ps(_mm256_castsi256_ps(a.1)) as u16;
        Bits(lo | hi << 8)
    }
}

/// Applies a float intrinsic to both halves. (A macro, because a closure would be a function without the features.)
macro_rules! float {
    ($f:ident $(::<$imm:tt>)? ($($a:expr),*)) => {
        // SAFETY: only reached from the AVX2 instance.
        unsafe {
            Y16(
                _mm256_castps_si256($f $(::<$imm>)? ($(_mm256_castsi256_ps($a.0)),*)),
                _mm256_castps_si256($f $(::<$imm>)? ($(_mm256_castsi256_ps($a.1)),*)),
            )
        }
    };
}

impl Word for Y16 {
    type Mask = Bits;
    type Long = Wide<Y16>;
    #[inline(always)]
    fn splat(n: u32) -> Self {
        // SAFETY: only reached from the AVX2 instance.
        let v = unsafe { _mm256_set1_epi32(n as i32) };
        Y16(v, v)
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
    fn widen1(self, f: impl Fn(u32) -> u64) -> Wide<Y16> {
        let a = self.to_array();
        wide(std::array::from_fn(|i| f(a[i])))
    }
    #[inline(always)]
    fn select(mask: Bits, t: Self, f: Self) -> Self {
        // SAFETY: only reached from the AVX2 instance.
        unsafe {
            Y16(
                _mm256_blendv_epi8(f.0, t.0, spread(mask.0 & 0xff)),
                _mm256_blendv_epi8(f.1, t.1, spread(mask.0 >> 8)),
            )
        }
    }
    #[inline(always)]
    fn eq(self, b: Self) -> Bits {
        movemask(both!(_mm256_cmpeq_epi32(self, b)))
    }
    #[inline(always)]
    fn lt_u(self, b: Self) -> Bits {
        let flip = Self::splat(0x8000_0000);
        (self ^ flip).lt_i(b ^ flip)
    }
    #[inline(always)]
    fn lt_i(self, b: Self) -> Bits {
        movemask(both!(_mm256_cmpgt_epi32(b, self)))
    }
    #[inline(always)]
    fn shl(self, b: Self) -> Self {
        let b = b & Self::splat(31);
        both!(_mm256_sllv_epi32(self, b))
    }
    #[inline(always)]
    fn shr(self, b: Self) -> Self {
        let b = b & Self::splat(31);
        both!(_mm256_srlv_epi32(self, b))
    }
    #[inline(always)]
    fn sar(self, b: Self) -> Self {
        let b = b & Self::splat(31);
        both!(_mm256_srav_epi32(self, b))
    }
    #[inline(always)]
    fn min_u(self, b: Self) -> Self {
        both!(_mm256_min_epu32(self, b))
    }
    #[inline(always)]
    fn max_u(self, b: Self) -> Self {
        both!(_mm256_max_epu32(self, b))
    }
    #[inline(always)]
    fn min_i(self, b: Self) -> Self {
        both!(_mm256_min_epi32(self, b))
    }
    #[inline(always)]
    fn max_i(self, b: Self) -> Self {
        both!(_mm256_max_epi32(self, b))
    }
    #[inline(always)]
    fn fadd(self, b: Self) -> Self {
        float!(_mm256_add_ps(self, b))
    }
    #[inline(always)]
    fn fmul(self, b: Self) -> Self {
        float!(_mm256_mul_ps(self, b))
    }
    #[inline(always)]
    fn ffma(self, b: Self, c: Self) -> Self {
        float!(_mm256_fmadd_ps(self, b, c))
    }
    #[inline(always)]
    fn flt(self, b: Self) -> Bits {
        movemask(float!(_mm256_cmp_ps::<_CMP_LT_OQ>(self, b)))
    }
    #[inline(always)]
    fn feq(self, b: Self) -> Bits {
        movemask(float!(_mm256_cmp_ps::<_CMP_EQ_OQ>(self, b)))
    }
    #[inline(always)]
    fn funord(self, b: Self) -> Bits {
        movemask(float!(_mm256_cmp_ps::<_CMP_UNORD_Q>(self, b)))
    }
    #[inline(always)]
    fn ftrunc(self) -> Self {
        float!(_mm256_round_ps::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>(self))
    }
    #[inline(always)]
    fn ffloor(self) -> Self {
        float!(_mm256_round_ps::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>(self))
    }
    #[inline(always)]
    fn frint(self) -> Self {
        float!(_mm256_round_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(self))
    }
    #[inline(always)]
    fn h2f(self) -> Self {
        // SAFETY: only reached from the AVX2 instance, which has F16C.
        unsafe { Y16(widen(self.0), widen(self.1)) }
    }
    #[inline(always)]
    fn f2h(self) -> Self {
        // SAFETY: only reached from the AVX2 instance, which has F16C.
        unsafe { Y16(narrow(self.0), narrow(self.1)) }
    }
    #[inline(always)]
    fn i2f(self) -> Self {
        // SAFETY: only reached from the AVX2 instance.
        unsafe {
            Y16(
                _mm256_castps_si256(_mm256_cvtepi32_ps(self.0)),
                _mm256_castps_si256(_mm256_cvtepi32_ps(self.1)),
            )
        }
    }
}

impl V16 for Y16 {
    #[inline(always)]
    unsafe fn load(p: *const u32) -> Self {
        // SAFETY: the caller's promise; AVX2 as above.
        unsafe { Y16(_mm256_load_si256(p.cast()), _mm256_load_si256(p.add(8).cast())) }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut u32) {
        // SAFETY: the caller's promise; AVX2 as above.
        unsafe {
            _mm256_store_si256(p.cast(), self.0);
            _mm256_store_si256(p.add(8).cast(), self.1);
        }
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
        // With FMA enabled this is one instruction.
        f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c)).to_bits()
    }
}
