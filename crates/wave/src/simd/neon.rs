//! Sixteen lanes in four NEON registers; of 64 bits in arrays, which the compiler vectorises. Every AArch64 host has NEON, so
//! there is nothing to detect.

use super::Bits;
use super::lanes::{Host, Lanes, arrays, expand_word, on_registers};
use super::portable::{Array64, Arrays};
use std::arch::aarch64::*;
use wavemill_sem::soft::Round;

/// Sixteen 32-bit lanes.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Neon4(uint32x4_t, uint32x4_t, uint32x4_t, uint32x4_t);

/// The lanes that `sem`'s meanings work on.
pub(crate) type N16 = Lanes<Neon4>;

/// On four lanes.
mod words {
    use super::*;

    /// Functions on registers of four lanes, as [`on_registers`] wants them.
    macro_rules! four {
    ($($(#[$doc:meta])* fn $name:ident($($a:ident),*) $body:expr)*) => {
        $($(#[$doc])*
        #[inline]
        #[target_feature(enable = "neon")]
        pub fn $name($($a: uint32x4_t),*) -> uint32x4_t {
            $body
        })*
    };
}
    four! {
        fn add(a, b) vaddq_u32(a, b)
        fn sub(a, b) vsubq_u32(a, b)
        fn mul(a, b) vmulq_u32(a, b)
        fn and(a, b) vandq_u32(a, b)
        fn or(a, b) vorrq_u32(a, b)
        fn xor(a, b) veorq_u32(a, b)
        fn min_u(a, b) vminq_u32(a, b)
        fn max_u(a, b) vmaxq_u32(a, b)
        fn eq(a, b) vceqq_u32(a, b)
        fn lt_u(a, b) vcltq_u32(a, b)
        fn shl(a, b) vshlq_u32(a, vreinterpretq_s32_u32(vandq_u32(b, vdupq_n_u32(31))))
        fn shr(a, b) vshlq_u32(a, vnegq_s32(vreinterpretq_s32_u32(vandq_u32(b, vdupq_n_u32(31)))))
        fn sar(a, b) {
            let down = vnegq_s32(vreinterpretq_s32_u32(vandq_u32(b, vdupq_n_u32(31))));
            vreinterpretq_u32_s32(vshlq_s32(vreinterpretq_s32_u32(a), down))
        }
        fn count_ones(a) vpaddlq_u16(vpaddlq_u8(vcntq_u8(vreinterpretq_u8_u32(a))))
        fn leading_zeros(a) vclzq_u32(a)
        fn sad_u8(a, b) vpaddlq_u16(vpaddlq_u8(vabdq_u8(vreinterpretq_u8_u32(a), vreinterpretq_u8_u32(b))))
        fn sext_even_bytes(a) {
            let a = vreinterpretq_s16_u32(a);
            vreinterpretq_u32_s16(vshrq_n_s16::<8>(vshlq_n_s16::<8>(a)))
        }
        fn dot_i16(a, b) {
            let (a, b) = (vreinterpretq_s16_u32(a), vreinterpretq_s16_u32(b));
            let low = vmull_s16(vget_low_s16(a), vget_low_s16(b));
            vreinterpretq_u32_s32(vpaddq_s32(low, vmull_high_s16(a, b)))
        }
        /// Bytes of both registers, by the lane's own place.
        fn permute_bytes(a, b, s) {
            let s = vreinterpretq_u8_u32(s);
            let lane = vandq_u8(vcombine_u8(vcreate_u8(0x0706_0504_0302_0100), vcreate_u8(0x0f0e_0d0c_0b0a_0908)), vdupq_n_u8(12));
            let at = vorrq_u8(vandq_u8(s, vdupq_n_u8(3)), lane);
            // From 16 on, indices mean the second register.
            let at = vorrq_u8(at, vshlq_n_u8::<2>(vandq_u8(s, vdupq_n_u8(4))));
            let both = uint8x16x2_t(vreinterpretq_u8_u32(b), vreinterpretq_u8_u32(a));
            vreinterpretq_u32_u8(vqtbl2q_u8(both, at))
        }
        fn fsub(a, b) vreinterpretq_u32_f32(vsubq_f32(vreinterpretq_f32_u32(a), vreinterpretq_f32_u32(b)))
        fn fdiv(a, b) vreinterpretq_u32_f32(vdivq_f32(vreinterpretq_f32_u32(a), vreinterpretq_f32_u32(b)))
        fn fsqrt(a) vreinterpretq_u32_f32(vsqrtq_f32(vreinterpretq_f32_u32(a)))
        fn lt_i(a, b) vcltq_s32(vreinterpretq_s32_u32(a), vreinterpretq_s32_u32(b))
        fn min_i(a, b) vreinterpretq_u32_s32(vminq_s32(vreinterpretq_s32_u32(a), vreinterpretq_s32_u32(b)))
        fn max_i(a, b) vreinterpretq_u32_s32(vmaxq_s32(vreinterpretq_s32_u32(a), vreinterpretq_s32_u32(b)))
        fn fadd(a, b) vreinterpretq_u32_f32(vaddq_f32(vreinterpretq_f32_u32(a), vreinterpretq_f32_u32(b)))
        fn fmul(a, b) vreinterpretq_u32_f32(vmulq_f32(vreinterpretq_f32_u32(a), vreinterpretq_f32_u32(b)))
        fn ffma(a, b, c) vreinterpretq_u32_f32(vfmaq_f32(
            vreinterpretq_f32_u32(c),
            vreinterpretq_f32_u32(a),
            vreinterpretq_f32_u32(b),
        ))
        fn fmin(a, b) vreinterpretq_u32_f32(vminq_f32(vreinterpretq_f32_u32(a), vreinterpretq_f32_u32(b)))
        fn fmax(a, b) vreinterpretq_u32_f32(vmaxq_f32(vreinterpretq_f32_u32(a), vreinterpretq_f32_u32(b)))
        fn flush(a, t, e) {
            let tiny = vceqzq_u32(vandq_u32(t, e));
            vbicq_u32(a, vbicq_u32(tiny, vdupq_n_u32(1 << 31)))
        }
        fn flt(a, b) vcltq_f32(vreinterpretq_f32_u32(a), vreinterpretq_f32_u32(b))
        fn feq(a, b) vceqq_f32(vreinterpretq_f32_u32(a), vreinterpretq_f32_u32(b))
        fn ftrunc(a) vreinterpretq_u32_f32(vrndq_f32(vreinterpretq_f32_u32(a)))
        fn ffloor(a) vreinterpretq_u32_f32(vrndmq_f32(vreinterpretq_f32_u32(a)))
        fn frint(a) vreinterpretq_u32_f32(vrndnq_f32(vreinterpretq_f32_u32(a)))
        fn i2f(a) vreinterpretq_u32_f32(vcvtq_f32_s32(vreinterpretq_s32_u32(a)))
        fn u2f(a) vreinterpretq_u32_f32(vcvtq_f32_u32(a))
        /// Saturates; NaN gives zero.
        fn f2i(a) vreinterpretq_u32_s32(vcvtq_s32_f32(vreinterpretq_f32_u32(a)))
        /// Saturates; NaN gives zero.
        fn f2u(a) vcvtq_u32_f32(vreinterpretq_f32_u32(a))
        fn mul_hi_u(a, b) {
            let low = vmull_u32(vget_low_u32(a), vget_low_u32(b));
            vuzp2q_u32(vreinterpretq_u32_u64(low), vreinterpretq_u32_u64(vmull_high_u32(a, b)))
        }
        fn mul_hi_i(a, b) {
            let (a, b) = (vreinterpretq_s32_u32(a), vreinterpretq_s32_u32(b));
            let low = vmull_s32(vget_low_s32(a), vget_low_s32(b));
            vuzp2q_u32(vreinterpretq_u32_s64(low), vreinterpretq_u32_s64(vmull_high_s32(a, b)))
        }
    }
}

/// One bit in each of four lanes.
const BITS: [u32; 4] = [1, 2, 4, 8];

/// A bit for each lane that is all ones.
#[inline(always)]
fn gather(m: Neon4) -> Bits {
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
fn spread(mask: Bits) -> Neon4 {
    #[allow(unused_unsafe)]
    // SAFETY: every AArch64 host has NEON; the constant has four numbers.
    unsafe {
        let (all, bits) = (vdupq_n_u32(mask.0 as u32), vld1q_u32(BITS.as_ptr()));
        Neon4(
            vtstq_u32(all, bits),
            vtstq_u32(all, vshlq_n_u32::<4>(bits)),
            vtstq_u32(all, vshlq_n_u32::<8>(bits)),
            vtstq_u32(all, vshlq_n_u32::<12>(bits)),
        )
    }
}

/// Comparisons, each a function that gives all ones in the lanes.
macro_rules! compare {
    ($($name:ident;)*) => {
        $(
            #[inline(always)]
            fn $name(self, b: Self) -> Bits {
                #[allow(unused_unsafe)]
                // SAFETY: every AArch64 host has NEON.
                gather(unsafe {
                    let (a, f) = (self, words::$name);
                    Neon4(f(a.0, b.0), f(a.1, b.1), f(a.2, b.2), f(a.3, b.3))
                })
            }
        )*
    };
}

impl Host for Neon4 {
    type Long = Array64<Neon4>;
    arrays!([u32; 16]);
    #[inline(always)]
    unsafe fn load(p: *const u32) -> Self {
        // SAFETY: the caller's promise.
        unsafe { p.cast::<Neon4>().read() }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut u32) {
        // SAFETY: the caller's promise.
        unsafe { p.cast::<Neon4>().write(self) }
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
        #[allow(unused_unsafe)]
        // SAFETY: every AArch64 host has NEON.
        let v = unsafe { vdupq_n_u32(n) };
        Neon4(v, v, v, v)
    }
    #[inline(always)]
    fn select(mask: Bits, t: Self, f: Self) -> Self {
        let m = spread(mask);
        #[allow(unused_unsafe)]
        // SAFETY: every AArch64 host has NEON.
        unsafe {
            Neon4(
                vbslq_u32(m.0, t.0, f.0),
                vbslq_u32(m.1, t.1, f.1),
                vbslq_u32(m.2, t.2, f.2),
                vbslq_u32(m.3, t.3, f.3),
            )
        }
    }
    on_registers!(words Neon4(0, 1, 2, 3): add(b); sub(b); mul(b); and(b); or(b); xor(b); shl(b); shr(b); sar(b);
        min_u(b); max_u(b); min_i(b); max_i(b); mul_hi_u(b); mul_hi_i(b);
        count_ones(); leading_zeros(); permute_bytes(b, s); sext_even_bytes(); sad_u8(b); dot_i16(b);
        flush(t, e); fmin(b); fmax(b); fadd(b); fsub(b); fmul(b); fdiv(b); fsqrt(); ffma(b, c);
        ftrunc(); ffloor(); frint(); i2f(); u2f(); f2i(); f2u(););
    compare!(eq; lt_u; lt_i; flt; feq;);
    expand_word!(fadd_round(b) fadd32_round; fmul_round(b) fmul32_round; ffma_round(b, c) ffma32_round;);
    #[inline(always)]
    fn funord(self, b: Self) -> Bits {
        !(self.feq(self) & b.feq(b))
    }
    #[inline(always)]
    fn ffma_odd(self, b: Self, c: Self) -> Self {
        wavemill_sem::expand::single::fma_odd(Lanes(self), Lanes(b), Lanes(c)).0
    }
}

impl Arrays for Neon4 {
    #[inline(always)]
    fn fma64(a: u64, b: u64, c: u64) -> u64 {
        f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c)).to_bits()
    }
}
