//! Sixteen lanes in one zmm register. Every function here runs inside the interpreter's AVX-512 instance, which is only
//! entered after the host was found to have AVX-512 F, BW, DQ and VL.

use super::{Bits, L16, V16};
use std::arch::x86_64::*;
use std::mem::transmute;
use wavemill_sem::lanes::{Long, Word};

/// Sixteen 32-bit lanes.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Z16(__m512i);

/// Sixteen 64-bit lanes: 0 to 7, then 8 to 15.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct ZL16(__m512i, __m512i);

operators!(Z16(0): Add add _mm512_add_epi32; Sub sub _mm512_sub_epi32; Mul mul _mm512_mullo_epi32;
    BitAnd bitand _mm512_and_si512; BitOr bitor _mm512_or_si512; BitXor bitxor _mm512_xor_si512;);
operators!(ZL16(0, 1): Add add _mm512_add_epi64; Sub sub _mm512_sub_epi64;
    BitAnd bitand _mm512_and_si512; BitOr bitor _mm512_or_si512; BitXor bitxor _mm512_xor_si512;);

/// An intrinsic on one register.
macro_rules! z {
    ($f:ident($($a:expr),*)) => {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe { Z16($f($($a.0),*)) }
    };
}
/// A float intrinsic on one register.
macro_rules! zf {
    ($f:ident($($a:expr),*)) => {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe { Z16(_mm512_castps_si512($f($(_mm512_castsi512_ps($a.0)),*))) }
    };
}
/// A double intrinsic on both registers.
macro_rules! zd {
    ($f:ident($($a:expr),*)) => {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe {
            ZL16(
                _mm512_castpd_si512($f($(_mm512_castsi512_pd($a.0)),*)),
                _mm512_castpd_si512($f($(_mm512_castsi512_pd($a.1)),*)),
            )
        }
    };
}
macro_rules! long_cmp {
    ($f:ident($a:expr, $b:expr)) => {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe { Bits($f($a.0, $b.0) as u16 | ($f($a.1, $b.1) as u16) << 8) }
    };
}
macro_rules! double_cmp {
    ($imm:expr, $a:expr, $b:expr) => {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe {
            let low = _mm512_cmp_pd_mask::<$imm>(_mm512_castsi512_pd($a.0), _mm512_castsi512_pd($b.0));
            let high = _mm512_cmp_pd_mask::<$imm>(_mm512_castsi512_pd($a.1), _mm512_castsi512_pd($b.1));
            Bits(low as u16 | (high as u16) << 8)
        }
    };
}

impl Word for Z16 {
    type Mask = Bits;
    type Long = ZL16;
    #[inline(always)]
    fn splat(n: u32) -> Self {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe { Z16(_mm512_set1_epi32(n as i32)) }
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
    fn widen1(self, f: impl Fn(u32) -> u64) -> ZL16 {
        let a = self.to_array();
        ZL16::from_array(std::array::from_fn(|i| f(a[i])))
    }
    #[inline(always)]
    fn select(mask: Bits, t: Self, f: Self) -> Self {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe { Z16(_mm512_mask_blend_epi32(mask.0, f.0, t.0)) }
    }
    #[inline(always)]
    fn eq(self, b: Self) -> Bits {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe { Bits(_mm512_cmpeq_epi32_mask(self.0, b.0)) }
    }
    #[inline(always)]
    fn lt_u(self, b: Self) -> Bits {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe { Bits(_mm512_cmplt_epu32_mask(self.0, b.0)) }
    }
    #[inline(always)]
    fn lt_i(self, b: Self) -> Bits {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe { Bits(_mm512_cmplt_epi32_mask(self.0, b.0)) }
    }
    #[inline(always)]
    fn shl(self, b: Self) -> Self {
        let b = b & Self::splat(31);
        z!(_mm512_sllv_epi32(self, b))
    }
    #[inline(always)]
    fn shr(self, b: Self) -> Self {
        let b = b & Self::splat(31);
        z!(_mm512_srlv_epi32(self, b))
    }
    #[inline(always)]
    fn sar(self, b: Self) -> Self {
        let b = b & Self::splat(31);
        z!(_mm512_srav_epi32(self, b))
    }
    #[inline(always)]
    fn mul_hi_u(self, b: Self) -> Self {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe {
            let even = _mm512_srli_epi64::<32>(_mm512_mul_epu32(self.0, b.0));
            let odd = _mm512_mul_epu32(_mm512_srli_epi64::<32>(self.0), _mm512_srli_epi64::<32>(b.0));
            Z16(_mm512_mask_blend_epi32(0xaaaa, even, odd))
        }
    }
    #[inline(always)]
    fn mul_hi_i(self, b: Self) -> Self {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe {
            let even = _mm512_srli_epi64::<32>(_mm512_mul_epi32(self.0, b.0));
            let odd = _mm512_mul_epi32(_mm512_srli_epi64::<32>(self.0), _mm512_srli_epi64::<32>(b.0));
            Z16(_mm512_mask_blend_epi32(0xaaaa, even, odd))
        }
    }
    #[inline(always)]
    fn min_u(self, b: Self) -> Self {
        z!(_mm512_min_epu32(self, b))
    }
    #[inline(always)]
    fn max_u(self, b: Self) -> Self {
        z!(_mm512_max_epu32(self, b))
    }
    #[inline(always)]
    fn min_i(self, b: Self) -> Self {
        z!(_mm512_min_epi32(self, b))
    }
    #[inline(always)]
    fn max_i(self, b: Self) -> Self {
        z!(_mm512_max_epi32(self, b))
    }
    #[inline(always)]
    fn zext(self) -> ZL16 {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe {
            ZL16(
                _mm512_cvtepu32_epi64(_mm512_castsi512_si256(self.0)),
                _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64::<1>(self.0)),
            )
        }
    }
    #[inline(always)]
    fn sext(self) -> ZL16 {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe {
            ZL16(
                _mm512_cvtepi32_epi64(_mm512_castsi512_si256(self.0)),
                _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64::<1>(self.0)),
            )
        }
    }
    #[inline(always)]
    fn mul_wide_u(self, b: Self) -> ZL16 {
        let (a, b) = (self.zext(), b.zext());
        // SAFETY: only reached from the AVX-512 instance.
        unsafe { ZL16(_mm512_mul_epu32(a.0, b.0), _mm512_mul_epu32(a.1, b.1)) }
    }
    #[inline(always)]
    fn mul_wide_i(self, b: Self) -> ZL16 {
        let (a, b) = (self.sext(), b.sext());
        // SAFETY: only reached from the AVX-512 instance.
        unsafe { ZL16(_mm512_mul_epi32(a.0, b.0), _mm512_mul_epi32(a.1, b.1)) }
    }
    #[inline(always)]
    fn fadd(self, b: Self) -> Self {
        zf!(_mm512_add_ps(self, b))
    }
    #[inline(always)]
    fn fmul(self, b: Self) -> Self {
        zf!(_mm512_mul_ps(self, b))
    }
    #[inline(always)]
    fn ffma(self, b: Self, c: Self) -> Self {
        zf!(_mm512_fmadd_ps(self, b, c))
    }
    #[inline(always)]
    fn flt(self, b: Self) -> Bits {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe {
            Bits(_mm512_cmp_ps_mask::<_CMP_LT_OQ>(_mm512_castsi512_ps(self.0), _mm512_castsi512_ps(b.0)))
        }
    }
    #[inline(always)]
    fn feq(self, b: Self) -> Bits {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe {
            Bits(_mm512_cmp_ps_mask::<_CMP_EQ_OQ>(_mm512_castsi512_ps(self.0), _mm512_castsi512_ps(b.0)))
        }
    }
    #[inline(always)]
    fn funord(self, b: Self) -> Bits {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe {
            Bits(_mm512_cmp_ps_mask::<_CMP_UNORD_Q>(_mm512_castsi512_ps(self.0), _mm512_castsi512_ps(b.0)))
        }
    }
    #[inline(always)]
    fn ftrunc(self) -> Self {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe {
            Z16(_mm512_castps_si512(_mm512_roundscale_ps::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>(
                _mm512_castsi512_ps(self.0),
            )))
        }
    }
    #[inline(always)]
    fn ffloor(self) -> Self {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe {
            Z16(_mm512_castps_si512(_mm512_roundscale_ps::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>(
                _mm512_castsi512_ps(self.0),
            )))
        }
    }
    #[inline(always)]
    fn frint(self) -> Self {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe {
            Z16(_mm512_castps_si512(
                _mm512_roundscale_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(
                    _mm512_castsi512_ps(self.0),
                ),
            ))
        }
    }
    #[inline(always)]
    fn i2f(self) -> Self {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe { Z16(_mm512_castps_si512(_mm512_cvtepi32_ps(self.0))) }
    }
    #[inline(always)]
    fn f2i(self) -> Self {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe {
            let a = _mm512_castsi512_ps(self.0);
            // Too small gives the least number as it is; NaN gives zero.
            let large = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(a, _mm512_set1_ps(2_147_483_648.0));
            let r = _mm512_maskz_cvttps_epi32(_mm512_cmp_ps_mask::<_CMP_ORD_Q>(a, a), a);
            Z16(_mm512_mask_mov_epi32(r, large, _mm512_set1_epi32(i32::MAX)))
        }
    }
    #[inline(always)]
    fn f2u(self) -> Self {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe {
            let a = _mm512_castsi512_ps(self.0);
            // Too large gives all ones as it is; negative numbers and NaN give zero.
            Z16(_mm512_maskz_cvttps_epu32(_mm512_cmp_ps_mask::<_CMP_GE_OQ>(a, _mm512_setzero_ps()), a))
        }
    }
    #[inline(always)]
    fn h2f(self) -> Self {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe { Z16(_mm512_castps_si512(_mm512_cvtph_ps(_mm512_cvtepi32_epi16(self.0)))) }
    }
    #[inline(always)]
    fn f2h(self) -> Self {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe {
            let h = _mm512_cvtps_ph::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(
                _mm512_castsi512_ps(self.0),
            );
            Z16(_mm512_cvtepu16_epi32(h))
        }
    }
    #[inline(always)]
    fn u2f(self) -> Self {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe { Z16(_mm512_castps_si512(_mm512_cvtepu32_ps(self.0))) }
    }
}

/// The same value, but the compiler does not know: it would make a masked store of a blend and a store.
#[inline]
#[target_feature(enable = "avx512f")]
fn opaque(mut v: __m512i) -> __m512i {
    // SAFETY: does nothing.
    unsafe { std::arch::asm!("/* {0} */", inout(zmm_reg) v, options(pure, nomem, nostack, preserves_flags)) };
    v
}

impl V16 for Z16 {
    #[inline(always)]
    unsafe fn load(p: *const u32) -> Self {
        // SAFETY: the caller's promise; AVX-512 as above.
        unsafe { Z16(_mm512_load_si512(p.cast())) }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut u32) {
        // SAFETY: the caller's promise; AVX-512 as above.
        unsafe { _mm512_store_si512(p.cast(), self.0) }
    }
    #[inline(always)]
    unsafe fn store_active(self, active: Bits, p: *mut u32) {
        // SAFETY: the caller's promise; AVX-512 as above.
        unsafe { Z16(opaque(Self::select(active, self, Self::load(p)).0)).store(p) }
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

impl ZL16 {
    #[inline(always)]
    fn to_array(self) -> [u64; 16] {
        // SAFETY: both are 128 bytes of plain data.
        unsafe { transmute(self) }
    }
    #[inline(always)]
    fn from_array(a: [u64; 16]) -> Self {
        // SAFETY: both are 128 bytes of plain data.
        unsafe { transmute(a) }
    }
}

impl Long for ZL16 {
    type Word = Z16;
    type Mask = Bits;
    #[inline(always)]
    fn splat(n: u64) -> Self {
        // SAFETY: only reached from the AVX-512 instance.
        let v = unsafe { _mm512_set1_epi64(n as i64) };
        ZL16(v, v)
    }
    #[inline(always)]
    fn join(lo: Z16, hi: Z16) -> Self {
        let (lo, hi) = (lo.zext(), hi.zext());
        // SAFETY: only reached from the AVX-512 instance.
        let hi = unsafe { ZL16(_mm512_slli_epi64::<32>(hi.0), _mm512_slli_epi64::<32>(hi.1)) };
        lo | hi
    }
    #[inline(always)]
    fn lo(self) -> Z16 {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe {
            let (a, b) = (_mm512_cvtepi64_epi32(self.0), _mm512_cvtepi64_epi32(self.1));
            Z16(_mm512_inserti64x4::<1>(_mm512_castsi256_si512(a), b))
        }
    }
    #[inline(always)]
    fn hi(self) -> Z16 {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe { ZL16(_mm512_srli_epi64::<32>(self.0), _mm512_srli_epi64::<32>(self.1)).lo() }
    }
    #[inline(always)]
    fn map1(self, f: impl Fn(u64) -> u64) -> Self {
        let a = self.to_array();
        Self::from_array(std::array::from_fn(|i| f(a[i])))
    }
    #[inline(always)]
    fn map2(self, b: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        let (a, b) = (self.to_array(), b.to_array());
        Self::from_array(std::array::from_fn(|i| f(a[i], b[i])))
    }
    #[inline(always)]
    fn map3(self, b: Self, c: Self, f: impl Fn(u64, u64, u64) -> u64) -> Self {
        let (a, b, c) = (self.to_array(), b.to_array(), c.to_array());
        Self::from_array(std::array::from_fn(|i| f(a[i], b[i], c[i])))
    }
    #[inline(always)]
    fn map_w(self, b: Z16, f: impl Fn(u64, u32) -> u64) -> Self {
        let (a, b) = (self.to_array(), b.to_array());
        Self::from_array(std::array::from_fn(|i| f(a[i], b[i])))
    }
    #[inline(always)]
    fn narrow1(self, f: impl Fn(u64) -> u32) -> Z16 {
        let a = self.to_array();
        Z16::from_array(std::array::from_fn(|i| f(a[i])))
    }
    #[inline(always)]
    fn test2(self, b: Self, f: impl Fn(u64, u64) -> bool) -> Bits {
        let (a, b) = (self.to_array(), b.to_array());
        let mut m = 0;
        for i in 0..16 {
            m |= (f(a[i], b[i]) as u16) << i;
        }
        Bits(m)
    }
    #[inline(always)]
    fn select(mask: Bits, t: Self, f: Self) -> Self {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe {
            ZL16(
                _mm512_mask_blend_epi64(mask.0 as u8, f.0, t.0),
                _mm512_mask_blend_epi64((mask.0 >> 8) as u8, f.1, t.1),
            )
        }
    }
    #[inline(always)]
    fn shl(self, b: Z16) -> Self {
        let b = (b & Z16::splat(63)).zext();
        // SAFETY: only reached from the AVX-512 instance.
        unsafe { ZL16(_mm512_sllv_epi64(self.0, b.0), _mm512_sllv_epi64(self.1, b.1)) }
    }
    #[inline(always)]
    fn shr(self, b: Z16) -> Self {
        let b = (b & Z16::splat(63)).zext();
        // SAFETY: only reached from the AVX-512 instance.
        unsafe { ZL16(_mm512_srlv_epi64(self.0, b.0), _mm512_srlv_epi64(self.1, b.1)) }
    }
    #[inline(always)]
    fn sar(self, b: Z16) -> Self {
        let b = (b & Z16::splat(63)).zext();
        // SAFETY: only reached from the AVX-512 instance.
        unsafe { ZL16(_mm512_srav_epi64(self.0, b.0), _mm512_srav_epi64(self.1, b.1)) }
    }
    #[inline(always)]
    fn eq(self, b: Self) -> Bits {
        long_cmp!(_mm512_cmpeq_epi64_mask(self, b))
    }
    #[inline(always)]
    fn lt_u(self, b: Self) -> Bits {
        long_cmp!(_mm512_cmplt_epu64_mask(self, b))
    }
    #[inline(always)]
    fn lt_i(self, b: Self) -> Bits {
        long_cmp!(_mm512_cmplt_epi64_mask(self, b))
    }
    #[inline(always)]
    fn fadd(self, b: Self) -> Self {
        zd!(_mm512_add_pd(self, b))
    }
    #[inline(always)]
    fn fmul(self, b: Self) -> Self {
        zd!(_mm512_mul_pd(self, b))
    }
    #[inline(always)]
    fn ffma(self, b: Self, c: Self) -> Self {
        zd!(_mm512_fmadd_pd(self, b, c))
    }
    #[inline(always)]
    fn flt(self, b: Self) -> Bits {
        double_cmp!(_CMP_LT_OQ, self, b)
    }
    #[inline(always)]
    fn feq(self, b: Self) -> Bits {
        double_cmp!(_CMP_EQ_OQ, self, b)
    }
    #[inline(always)]
    fn funord(self, b: Self) -> Bits {
        double_cmp!(_CMP_UNORD_Q, self, b)
    }
}

impl L16<Z16> for ZL16 {}
