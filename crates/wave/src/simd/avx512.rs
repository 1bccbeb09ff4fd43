//! Sixteen lanes in one zmm register. Every function here runs inside the interpreter's AVX-512 instance, which is only
//! entered after the host was found to have AVX-512 F, BW, CD, DQ and VL.

use super::Bits;
use super::lanes::{Host, HostLong, Lanes, arrays, compare_registers, on_registers, rounding_registers};
use std::arch::x86_64::*;
use wavemill_sem::soft::Round;

/// Sixteen 32-bit lanes.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Zmm(__m512i);

/// The lanes that `sem`'s meanings work on.
pub(crate) type Z16 = Lanes<Zmm>;

/// Sixteen 64-bit lanes: 0 to 7, then 8 to 15.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Zmm2(__m512i, __m512i);

/// Items for hosts with what this back end needs.
macro_rules! avx512 {
    ($($item:item)*) => {
        $(
            #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
            $item
        )*
    };
}
pub(crate) use avx512;

const UP: i32 = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
const DOWN: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
const ZERO: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
/// What VRANGEPS does: the lesser or the greater, with its own sign.
const LESSER: i32 = 4;
const GREATER: i32 = 5;

/// An intrinsic with a round mode that only the host program knows.
macro_rules! rounding {
    ($round:expr, $f:ident($($a:expr),*)) => {
        match $round {
            Round::Nearest => $f::<NEAREST>($($a),*),
            Round::Up => $f::<UP>($($a),*),
            Round::Down => $f::<DOWN>($($a),*),
            Round::Zero => $f::<ZERO>($($a),*),
        }
    };
}

/// Functions of registers, as [`on_registers`] wants them.
macro_rules! functions {
    ($(#[$doc:meta])* $module:ident: int { $($int:ident($($ia:ident),*) $fi:ident;)* }
     float { $($float:ident($($fa:ident),*) $ff:ident $(::<$imm:ident>)?;)* } compare { $($cmp:ident $how:ident;)* } $cmp_f:ident
     $to:ident $from:ident $ty:ident { $($item:item)* }) => {
        $(#[$doc])*
        mod $module {
            use super::*;
            $(
                #[inline]
                #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
                pub fn $int($($ia: __m512i),*) -> __m512i {
                    $fi($($ia),*)
                }
            )*
            $(
                #[inline]
                #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
                pub fn $float($($fa: __m512i),*) -> __m512i {
                    $from($ff $(::<$imm>)? ($($to($fa)),*))
                }
            )*
            $(
                #[inline]
                #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
                pub fn $cmp(a: __m512i, b: __m512i) -> $ty {
                    $cmp_f::<$how>($to(a), $to(b))
                }
            )*
            $(
                #[inline]
                #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
                $item
            )*
        }
    };
}
functions! {
    /// On sixteen lanes of 32 bits.
    words: int {
        add(a, b) _mm512_add_epi32; sub(a, b) _mm512_sub_epi32; mul(a, b) _mm512_mullo_epi32;
        and(a, b) _mm512_and_si512; or(a, b) _mm512_or_si512; xor(a, b) _mm512_xor_si512;
        min_u(a, b) _mm512_min_epu32; max_u(a, b) _mm512_max_epu32;
        min_i(a, b) _mm512_min_epi32; max_i(a, b) _mm512_max_epi32;
        dot_i16(a, b) _mm512_madd_epi16; leading_zeros(a) _mm512_lzcnt_epi32;
    }
    float {
        fadd(a, b) _mm512_add_ps; fsub(a, b) _mm512_sub_ps; fmul(a, b) _mm512_mul_ps; fdiv(a, b) _mm512_div_ps;
        fsqrt(a) _mm512_sqrt_ps; ffma(a, b, c) _mm512_fmadd_ps;
        fmin(a, b) _mm512_range_ps::<LESSER>; fmax(a, b) _mm512_range_ps::<GREATER>;
        ftrunc(a) _mm512_roundscale_ps::<ZERO>; ffloor(a) _mm512_roundscale_ps::<DOWN>;
        frint(a) _mm512_roundscale_ps::<NEAREST>;
    }
    compare { flt _CMP_LT_OQ; feq _CMP_EQ_OQ; funord _CMP_UNORD_Q; } _mm512_cmp_ps_mask
    _mm512_castsi512_ps _mm512_castps_si512 __mmask16 {
        pub fn eq(a: __m512i, b: __m512i) -> __mmask16 { _mm512_cmpeq_epi32_mask(a, b) }
        pub fn lt_u(a: __m512i, b: __m512i) -> __mmask16 { _mm512_cmplt_epu32_mask(a, b) }
        pub fn lt_i(a: __m512i, b: __m512i) -> __mmask16 { _mm512_cmplt_epi32_mask(a, b) }
        pub fn shl(a: __m512i, b: __m512i) -> __m512i { _mm512_sllv_epi32(a, _mm512_and_si512(b, _mm512_set1_epi32(31))) }
        pub fn shr(a: __m512i, b: __m512i) -> __m512i { _mm512_srlv_epi32(a, _mm512_and_si512(b, _mm512_set1_epi32(31))) }
        pub fn sar(a: __m512i, b: __m512i) -> __m512i { _mm512_srav_epi32(a, _mm512_and_si512(b, _mm512_set1_epi32(31))) }
        pub fn mul_hi_u(a: __m512i, b: __m512i) -> __m512i {
            let even = _mm512_srli_epi64::<32>(_mm512_mul_epu32(a, b));
            let odd = _mm512_mul_epu32(_mm512_srli_epi64::<32>(a), _mm512_srli_epi64::<32>(b));
            _mm512_mask_blend_epi32(0xaaaa, even, odd)
        }
        pub fn mul_hi_i(a: __m512i, b: __m512i) -> __m512i {
            let even = _mm512_srli_epi64::<32>(_mm512_mul_epi32(a, b));
            let odd = _mm512_mul_epi32(_mm512_srli_epi64::<32>(a), _mm512_srli_epi64::<32>(b));
            _mm512_mask_blend_epi32(0xaaaa, even, odd)
        }
        pub fn count_ones(a: __m512i) -> __m512i {
            // Bits of each half byte from a table, then the sum of four bytes.
            let table = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
            let low = _mm512_set1_epi8(15);
            let halves = _mm512_add_epi8(
                _mm512_shuffle_epi8(table, _mm512_and_si512(a, low)),
                _mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi16::<4>(a), low)),
            );
            _mm512_madd_epi16(_mm512_maddubs_epi16(halves, _mm512_set1_epi8(1)), _mm512_set1_epi16(1))
        }
        pub fn permute_bytes(a: __m512i, b: __m512i, s: __m512i) -> __m512i {
            // Bytes are chosen from the lane's own four of the sixteen that an instruction sees.
            let lane = _mm512_broadcast_i32x4(_mm_setr_epi32(0, 0x0404_0404, 0x0808_0808, 0x0c0c_0c0c));
            let at = _mm512_or_si512(_mm512_and_si512(s, _mm512_set1_epi8(3)), lane);
            let upper = _mm512_test_epi8_mask(s, _mm512_set1_epi8(4));
            _mm512_mask_shuffle_epi8(_mm512_shuffle_epi8(b, at), upper, a, at)
        }
        pub fn sext_even_bytes(a: __m512i) -> __m512i { _mm512_srai_epi16::<8>(_mm512_slli_epi16::<8>(a)) }
        pub fn sad_u8(a: __m512i, b: __m512i) -> __m512i {
            // The instruction sums eight bytes: the other four are zero.
            let even = _mm512_sad_epu8(_mm512_maskz_mov_epi32(0x5555, a), _mm512_maskz_mov_epi32(0x5555, b));
            let odd = _mm512_sad_epu8(_mm512_srli_epi64::<32>(a), _mm512_srli_epi64::<32>(b));
            _mm512_or_si512(even, _mm512_slli_epi64::<32>(odd))
        }
        pub fn ffma_odd(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
            let (a, b, c) = (_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), _mm512_castsi512_ps(c));
            // Where these are two, one of them is odd. An exact zero is the positive one that comes of rounding up.
            let up = _mm512_castps_si512(_mm512_fmadd_round_ps::<UP>(a, b, c));
            let down = _mm512_castps_si512(_mm512_fmadd_round_ps::<DOWN>(a, b, c));
            _mm512_mask_mov_epi32(up, _mm512_test_epi32_mask(down, _mm512_set1_epi32(1)), down)
        }
        pub fn flush(a: __m512i, t: __m512i, e: __m512i) -> __m512i {
            _mm512_mask_and_epi32(a, _mm512_testn_epi32_mask(t, e), a, _mm512_set1_epi32(i32::MIN))
        }
        pub fn fhalf(a: __m512i, round: Round) -> __m512i {
            _mm512_castps_si512(_mm512_cvtph_ps(rounding!(round, _mm512_cvtps_ph(_mm512_castsi512_ps(a)))))
        }
        pub fn i2f(a: __m512i) -> __m512i { _mm512_castps_si512(_mm512_cvtepi32_ps(a)) }
        pub fn u2f(a: __m512i) -> __m512i { _mm512_castps_si512(_mm512_cvtepu32_ps(a)) }
        pub fn f2i(a: __m512i) -> __m512i {
            let a = _mm512_castsi512_ps(a);
            // Too small gives the least number as it is; NaN gives zero.
            let large = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(a, _mm512_set1_ps(2_147_483_648.0));
            let r = _mm512_maskz_cvttps_epi32(_mm512_cmp_ps_mask::<_CMP_ORD_Q>(a, a), a);
            _mm512_mask_mov_epi32(r, large, _mm512_set1_epi32(i32::MAX))
        }
        pub fn f2u(a: __m512i) -> __m512i {
            let a = _mm512_castsi512_ps(a);
            // Too large gives all ones as it is; negative numbers and NaN give zero.
            _mm512_maskz_cvttps_epu32(_mm512_cmp_ps_mask::<_CMP_GE_OQ>(a, _mm512_setzero_ps()), a)
        }
        pub fn h2f(a: __m512i) -> __m512i { _mm512_castps_si512(_mm512_cvtph_ps(_mm512_cvtepi32_epi16(a))) }
        pub fn h2f_high(a: __m512i) -> __m512i { h2f(_mm512_srli_epi32::<16>(a)) }
        pub fn f2h(a: __m512i) -> __m512i { _mm512_cvtepu16_epi32(_mm512_cvtps_ph::<NEAREST>(_mm512_castsi512_ps(a))) }
        pub fn f2h_pair(a: __m512i, b: __m512i) -> __m512i {
            _mm512_or_si512(f2h(a), _mm512_slli_epi32::<16>(f2h(b)))
        }
        pub fn f2h_round(a: __m512i, round: Round) -> __m512i {
            _mm512_cvtepu16_epi32(rounding!(round, _mm512_cvtps_ph(_mm512_castsi512_ps(a))))
        }
        pub fn fadd_round(a: __m512i, b: __m512i, round: Round) -> __m512i {
            let (a, b) = (_mm512_castsi512_ps(a), _mm512_castsi512_ps(b));
            _mm512_castps_si512(rounding!(round, _mm512_add_round_ps(a, b)))
        }
        pub fn fmul_round(a: __m512i, b: __m512i, round: Round) -> __m512i {
            let (a, b) = (_mm512_castsi512_ps(a), _mm512_castsi512_ps(b));
            _mm512_castps_si512(rounding!(round, _mm512_mul_round_ps(a, b)))
        }
        pub fn ffma_round(a: __m512i, b: __m512i, c: __m512i, round: Round) -> __m512i {
            let (a, b, c) = (_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), _mm512_castsi512_ps(c));
            _mm512_castps_si512(rounding!(round, _mm512_fmadd_round_ps(a, b, c)))
        }
        /// Lanes 0 to 7, and 8 to 15.
        pub fn split(a: __m512i) -> (__m256i, __m256i) {
            (_mm512_castsi512_si256(a), _mm512_extracti64x4_epi64::<1>(a))
        }
        pub fn joined(low: __m256i, high: __m256i) -> __m512i {
            _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
        }
        pub fn zext(a: __m512i) -> Zmm2 {
            let (low, high) = split(a);
            Zmm2(_mm512_cvtepu32_epi64(low), _mm512_cvtepu32_epi64(high))
        }
        pub fn sext(a: __m512i) -> Zmm2 {
            let (low, high) = split(a);
            Zmm2(_mm512_cvtepi32_epi64(low), _mm512_cvtepi32_epi64(high))
        }
        pub fn join(a: __m512i, b: __m512i) -> Zmm2 {
            let low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
            let high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
            Zmm2(_mm512_permutex2var_epi32(a, low, b), _mm512_permutex2var_epi32(a, high, b))
        }
        pub fn mul_wide_u(a: __m512i, b: __m512i) -> Zmm2 {
            let (a, b) = (zext(a), zext(b));
            Zmm2(_mm512_mul_epu32(a.0, b.0), _mm512_mul_epu32(a.1, b.1))
        }
        pub fn mul_wide_i(a: __m512i, b: __m512i) -> Zmm2 {
            let (a, b) = (sext(a), sext(b));
            Zmm2(_mm512_mul_epi32(a.0, b.0), _mm512_mul_epi32(a.1, b.1))
        }
        pub fn f2d(a: __m512i) -> Zmm2 {
            let (low, high) = split(a);
            let wide = |a| _mm512_castpd_si512(_mm512_cvtps_pd(_mm256_castsi256_ps(a)));
            Zmm2(wide(low), wide(high))
        }
        pub fn i2d(a: __m512i) -> Zmm2 {
            let (low, high) = split(a);
            Zmm2(_mm512_castpd_si512(_mm512_cvtepi32_pd(low)), _mm512_castpd_si512(_mm512_cvtepi32_pd(high)))
        }
        pub fn u2d(a: __m512i) -> Zmm2 {
            let (low, high) = split(a);
            Zmm2(_mm512_castpd_si512(_mm512_cvtepu32_pd(low)), _mm512_castpd_si512(_mm512_cvtepu32_pd(high)))
        }
        pub fn lookup(a: __m512i, table: &'static [u32]) -> __m512i {
            let inside = _mm512_cmplt_epu32_mask(a, _mm512_set1_epi32(table.len() as i32));
            if table.len() > 64 {
                // SAFETY: lanes beyond the table do not read it.
                return unsafe {
                    _mm512_mask_i32gather_epi32::<4>(_mm512_setzero_si512(), inside, a, table.as_ptr().cast())
                };
            }
            // In four registers: fetching lane by lane takes several times as long.
            let low = _mm512_permutex2var_epi32(part(table, 0), a, part(table, 1));
            let high = _mm512_permutex2var_epi32(part(table, 2), a, part(table, 3));
            let upper = _mm512_test_epi32_mask(a, _mm512_set1_epi32(32));
            _mm512_maskz_mov_epi32(inside, _mm512_mask_blend_epi32(upper, low, high))
        }
        pub fn part(table: &'static [u32], i: usize) -> __m512i {
            let left = table.len().saturating_sub(16 * i).min(16);
            // SAFETY: what is beyond the table's end is not read.
            unsafe { _mm512_maskz_loadu_epi32(((1u32 << left) - 1) as u16, table.as_ptr().wrapping_add(16 * i).cast()) }
        }
    }
}
functions! {
    /// On eight lanes of 64 bits.
    longs: int {
        add(a, b) _mm512_add_epi64; sub(a, b) _mm512_sub_epi64;
        and(a, b) _mm512_and_si512; or(a, b) _mm512_or_si512; xor(a, b) _mm512_xor_si512;
    }
    float {
        fadd(a, b) _mm512_add_pd; fsub(a, b) _mm512_sub_pd; fmul(a, b) _mm512_mul_pd; fdiv(a, b) _mm512_div_pd;
        fsqrt(a) _mm512_sqrt_pd; ffma(a, b, c) _mm512_fmadd_pd;
        fmin(a, b) _mm512_range_pd::<LESSER>; fmax(a, b) _mm512_range_pd::<GREATER>;
        ftrunc(a) _mm512_roundscale_pd::<ZERO>; ffloor(a) _mm512_roundscale_pd::<DOWN>;
        frint(a) _mm512_roundscale_pd::<NEAREST>;
    }
    compare { flt _CMP_LT_OQ; feq _CMP_EQ_OQ; funord _CMP_UNORD_Q; } _mm512_cmp_pd_mask
    _mm512_castsi512_pd _mm512_castpd_si512 __mmask8 {
        pub fn eq(a: __m512i, b: __m512i) -> __mmask8 { _mm512_cmpeq_epi64_mask(a, b) }
        pub fn lt_u(a: __m512i, b: __m512i) -> __mmask8 { _mm512_cmplt_epu64_mask(a, b) }
        pub fn lt_i(a: __m512i, b: __m512i) -> __mmask8 { _mm512_cmplt_epi64_mask(a, b) }
        pub fn ffma_odd(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
            let (a, b, c) = (_mm512_castsi512_pd(a), _mm512_castsi512_pd(b), _mm512_castsi512_pd(c));
            // As for f32.
            let up = _mm512_castpd_si512(_mm512_fmadd_round_pd::<UP>(a, b, c));
            let down = _mm512_castpd_si512(_mm512_fmadd_round_pd::<DOWN>(a, b, c));
            _mm512_mask_mov_epi64(up, _mm512_test_epi64_mask(down, _mm512_set1_epi64(1)), down)
        }
        pub fn flush(a: __m512i, t: __m512i, e: __m512i) -> __m512i {
            _mm512_mask_and_epi64(a, _mm512_testn_epi64_mask(t, e), a, _mm512_set1_epi64(i64::MIN))
        }
        pub fn fadd_round(a: __m512i, b: __m512i, round: Round) -> __m512i {
            let (a, b) = (_mm512_castsi512_pd(a), _mm512_castsi512_pd(b));
            _mm512_castpd_si512(rounding!(round, _mm512_add_round_pd(a, b)))
        }
        pub fn fmul_round(a: __m512i, b: __m512i, round: Round) -> __m512i {
            let (a, b) = (_mm512_castsi512_pd(a), _mm512_castsi512_pd(b));
            _mm512_castpd_si512(rounding!(round, _mm512_mul_round_pd(a, b)))
        }
        pub fn ffma_round(a: __m512i, b: __m512i, c: __m512i, round: Round) -> __m512i {
            let (a, b, c) = (_mm512_castsi512_pd(a), _mm512_castsi512_pd(b), _mm512_castsi512_pd(c));
            _mm512_castpd_si512(rounding!(round, _mm512_fmadd_round_pd(a, b, c)))
        }
        pub fn d2f(a: __m512i) -> __m256i { _mm256_castps_si256(_mm512_cvtpd_ps(_mm512_castsi512_pd(a))) }
        pub fn d2f_round(a: __m512i, round: Round) -> __m256i {
            _mm256_castps_si256(rounding!(round, _mm512_cvt_roundpd_ps(_mm512_castsi512_pd(a))))
        }
        pub fn d2i(a: __m512i) -> __m256i {
            let a = _mm512_castsi512_pd(a);
            // As for f32.
            let large = _mm512_cmp_pd_mask::<_CMP_GE_OQ>(a, _mm512_set1_pd(2_147_483_648.0));
            let r = _mm512_maskz_cvttpd_epi32(_mm512_cmp_pd_mask::<_CMP_ORD_Q>(a, a), a);
            _mm256_mask_mov_epi32(r, large, _mm256_set1_epi32(i32::MAX))
        }
        pub fn d2u(a: __m512i) -> __m256i {
            let a = _mm512_castsi512_pd(a);
            _mm512_maskz_cvttpd_epu32(_mm512_cmp_pd_mask::<_CMP_GE_OQ>(a, _mm512_setzero_pd()), a)
        }
        pub fn lo(a: __m512i, b: __m512i) -> __m512i {
            let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
            _mm512_permutex2var_epi32(a, even, b)
        }
        pub fn hi(a: __m512i, b: __m512i) -> __m512i {
            let odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
            _mm512_permutex2var_epi32(a, odd, b)
        }
    }
}

avx512! {
    #[inline(never)]
    fn apart<R>(f: impl FnOnce() -> R) -> R {
        f()
    }
    #[cold]
    #[inline(never)]
    fn cold<R>(f: impl FnOnce() -> R) -> R {
        f()
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

/// The dwords k of groups of three, out of the first two registers of them, and then out of those and the third.
const fn of_three(k: usize) -> [[i32; 16]; 2] {
    let mut out = [[0; 16]; 2];
    let mut lane = 0;
    while lane < 16 {
        let at = 3 * lane + k;
        out[0][lane] = (at % 32) as i32;
        out[1][lane] = (if at < 32 { lane } else { at - 16 }) as i32;
        lane += 1;
    }
    out
}
/// Groups of three from sixteen dwords on, out of the first two of their rows, and then out of those and the third.
const fn to_three(first: usize) -> [[i32; 16]; 2] {
    let mut out = [[0; 16]; 2];
    let mut i = 0;
    while i < 16 {
        let (row, lane) = ((first + i) % 3, (first + i) / 3);
        out[0][i] = (if row == 1 { 16 + lane } else { lane }) as i32;
        out[1][i] = (if row == 2 { 16 + lane } else { i }) as i32;
        i += 1;
    }
    out
}
const OF_THREE: [[[i32; 16]; 2]; 3] = [of_three(0), of_three(1), of_three(2)];
const TO_THREE: [[[i32; 16]; 2]; 3] = [to_three(0), to_three(16), to_three(32)];
/// Every fourth dword of two registers, twice.
const FOURTHS: [[i32; 16]; 2] = [
    [0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29],
    [2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31],
];

avx512! {
    #[inline]
    unsafe fn load_groups<const N: usize>(p: *const u8) -> [Zmm; N] {
        // SAFETY: the caller's promise; tables have sixteen dwords.
        unsafe {
            let get = |n: usize| _mm512_loadu_si512(p.cast::<__m512i>().add(n));
            let index = |table: &[i32; 16]| _mm512_loadu_si512(table.as_ptr().cast());
            let mut out = [Zmm(_mm512_setzero_si512()); N];
            match N {
                2 => {
                    let (a, b) = (get(0), get(1));
                    (out[0], out[1]) = (Zmm(longs::lo(a, b)), Zmm(longs::hi(a, b)));
                }
                4 => {
                    let z = [get(0), get(1), get(2), get(3)];
                    for k in 0..2 {
                        let at = index(&FOURTHS[k]);
                        let low = _mm512_permutex2var_epi32(z[0], at, z[1]);
                        let high = _mm512_permutex2var_epi32(z[2], at, z[3]);
                        out[2 * k] = Zmm(words::joined(_mm512_castsi512_si256(low), _mm512_castsi512_si256(high)));
                        out[2 * k + 1] = Zmm(_mm512_shuffle_i64x2::<0xee>(low, high));
                    }
                }
                3 => {
                    let z = [get(0), get(1), get(2)];
                    for (out, [first, second]) in out.iter_mut().zip(&OF_THREE) {
                        let two = _mm512_permutex2var_epi32(z[0], index(first), z[1]);
                        *out = Zmm(_mm512_permutex2var_epi32(two, index(second), z[2]));
                    }
                }
                _ => out.iter_mut().enumerate().for_each(|(n, out)| *out = Zmm(get(n))),
            }
            out
        }
    }
    #[inline]
    unsafe fn store_groups<const N: usize>(rows: [Zmm; N], p: *mut u8) {
        // SAFETY: the caller's promise; tables have sixteen dwords.
        unsafe {
            let put = |n: usize, z: __m512i| _mm512_storeu_si512(p.cast::<__m512i>().add(n), z);
            let index = |table: &[i32; 16]| _mm512_loadu_si512(table.as_ptr().cast());
            match N {
                2 => {
                    let pairs = words::join(rows[0].0, rows[1].0);
                    put(0, pairs.0);
                    put(1, pairs.1);
                }
                4 => {
                    let (a, b) = (words::join(rows[0].0, rows[1].0), words::join(rows[2].0, rows[3].0));
                    let low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
                    let high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
                    put(0, _mm512_permutex2var_epi64(a.0, low, b.0));
                    put(1, _mm512_permutex2var_epi64(a.0, high, b.0));
                    put(2, _mm512_permutex2var_epi64(a.1, low, b.1));
                    put(3, _mm512_permutex2var_epi64(a.1, high, b.1));
                }
                3 => {
                    for (n, [first, second]) in TO_THREE.iter().enumerate() {
                        let two = _mm512_permutex2var_epi32(rows[0].0, index(first), rows[1].0);
                        put(n, _mm512_permutex2var_epi32(two, index(second), rows[2].0));
                    }
                }
                _ => rows.into_iter().enumerate().for_each(|(n, row)| put(n, row.0)),
            }
        }
    }
}

/// Methods that make 64-bit lanes of 32-bit ones.
macro_rules! widening {
    ($($name:ident($($b:ident),*);)*) => {
        $(
            #[inline(always)]
            fn $name(self, $($b: Self),*) -> Zmm2 {
                // SAFETY: only reached from the AVX-512 instance.
                unsafe { words::$name(self.0, $($b.0),*) }
            }
        )*
    };
}
/// Methods that make 32-bit lanes of 64-bit ones.
macro_rules! narrowing {
    ($($name:ident($($round:ident)?);)*) => {
        $(
            #[inline(always)]
            fn $name(self, $($round: Round)?) -> Zmm {
                // SAFETY: only reached from the AVX-512 instance.
                unsafe { Zmm(words::joined(longs::$name(self.0, $($round)?), longs::$name(self.1, $($round)?))) }
            }
        )*
    };
}

impl Host for Zmm {
    type Long = Zmm2;
    arrays!([u32; 16]);
    #[inline(always)]
    unsafe fn load(p: *const u32) -> Self {
        // SAFETY: the caller's promise; AVX-512 as above.
        unsafe { Zmm(_mm512_load_si512(p.cast())) }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut u32) {
        // SAFETY: the caller's promise; AVX-512 as above.
        unsafe { _mm512_store_si512(p.cast(), self.0) }
    }
    #[inline(always)]
    unsafe fn store_active(self, active: Bits, p: *mut u32) {
        // SAFETY: the caller's promise; AVX-512 as above.
        unsafe { Zmm(opaque(Self::select(active, self, Self::load(p)).0)).store(p) }
    }
    #[inline(always)]
    unsafe fn load_groups<const N: usize>(p: *const u8) -> [Self; N] {
        // SAFETY: the caller's promise; AVX-512 as above.
        unsafe { load_groups(p) }
    }
    #[inline(always)]
    unsafe fn store_groups<const N: usize>(rows: [Self; N], p: *mut u8) {
        // SAFETY: the caller's promise; AVX-512 as above.
        unsafe { store_groups(rows, p) }
    }
    #[inline(always)]
    unsafe fn pick(self, p: *const u32) -> Self {
        // SAFETY: the caller's promise; AVX-512 as above.
        unsafe {
            let p = p.cast::<__m512i>();
            let low = _mm512_permutex2var_epi32(p.read(), self.0, p.add(1).read());
            let high = _mm512_permutex2var_epi32(p.add(2).read(), self.0, p.add(3).read());
            let upper = _mm512_test_epi32_mask(self.0, _mm512_set1_epi32(32));
            Zmm(_mm512_mask_blend_epi32(upper, low, high))
        }
    }
    #[inline(always)]
    fn quads<const N: usize>(self) -> Self {
        // SAFETY: only reached from the AVX-512 instance.
        Zmm(unsafe {
            match N & 3 {
                0 => _mm512_shuffle_epi32::<0>(self.0),
                1 => _mm512_shuffle_epi32::<0x55>(self.0),
                2 => _mm512_shuffle_epi32::<0xaa>(self.0),
                _ => _mm512_shuffle_epi32::<0xff>(self.0),
            }
        })
    }
    #[inline(always)]
    fn from_bytes(a: [u8; 16]) -> Self {
        // SAFETY: only reached from the AVX-512 instance; plain data of one size.
        unsafe { Zmm(_mm512_cvtepu8_epi32(std::mem::transmute::<[u8; 16], __m128i>(a))) }
    }
    #[inline(always)]
    fn from_shorts(a: [u16; 16]) -> Self {
        // SAFETY: as above.
        unsafe { Zmm(_mm512_cvtepu16_epi32(std::mem::transmute::<[u16; 16], __m256i>(a))) }
    }
    #[inline(always)]
    fn to_bytes(self) -> [u8; 16] {
        // SAFETY: as above.
        unsafe { std::mem::transmute::<__m128i, [u8; 16]>(_mm512_cvtepi32_epi8(self.0)) }
    }
    #[inline(always)]
    fn to_shorts(self) -> [u16; 16] {
        // SAFETY: as above.
        unsafe { std::mem::transmute::<__m256i, [u16; 16]>(_mm512_cvtepi32_epi16(self.0)) }
    }
    #[inline(always)]
    fn apart<R>(f: impl FnOnce() -> R) -> R {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe { apart(f) }
    }
    #[inline(always)]
    fn cold<R>(f: impl FnOnce() -> R) -> R {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe { cold(f) }
    }
    #[inline(always)]
    fn splat(n: u32) -> Self {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe { Zmm(_mm512_set1_epi32(n as i32)) }
    }
    #[inline(always)]
    fn select(mask: Bits, t: Self, f: Self) -> Self {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe { Zmm(_mm512_mask_blend_epi32(mask.0, f.0, t.0)) }
    }
    #[inline(always)]
    fn lookup(self, table: &'static [u32]) -> Self {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe { Zmm(words::lookup(self.0, table)) }
    }
    on_registers!(words Zmm(0): add(b); sub(b); mul(b); and(b); or(b); xor(b); shl(b); shr(b); sar(b);
        min_u(b); max_u(b); min_i(b); max_i(b); mul_hi_u(b); mul_hi_i(b);
        count_ones(); leading_zeros(); permute_bytes(b, s); sext_even_bytes(); sad_u8(b); dot_i16(b);
        flush(t, e); fmin(b); fmax(b); fadd(b); fsub(b); fmul(b); fdiv(b); fsqrt(); ffma(b, c); ffma_odd(b, c);
        ftrunc(); ffloor(); frint(); i2f(); u2f(); f2i(); f2u(); h2f(); h2f_high(); f2h(); f2h_pair(b););
    compare_registers!(words (0: 0): eq; lt_u; lt_i; flt; feq; funord;);
    widening!(zext(); sext(); join(b); mul_wide_u(b); mul_wide_i(b); f2d(); i2d(); u2d(););
    rounding_registers!(words Zmm(0): f2h_round(); fhalf(); fadd_round(b); fmul_round(b); ffma_round(b, c););
}

/// Shifts by as many bits as a 32-bit lane says.
macro_rules! shifts {
    ($($name:ident $f:ident;)*) => {
        $(
            #[inline(always)]
            fn $name(self, b: Zmm) -> Self {
                let b = b.and(Zmm::splat(63)).zext();
                // SAFETY: only reached from the AVX-512 instance.
                unsafe { Zmm2($f(self.0, b.0), $f(self.1, b.1)) }
            }
        )*
    };
}

impl HostLong for Zmm2 {
    type Word = Zmm;
    arrays!([u64; 16]);
    #[inline(always)]
    fn splat(n: u64) -> Self {
        // SAFETY: only reached from the AVX-512 instance.
        let v = unsafe { _mm512_set1_epi64(n as i64) };
        Zmm2(v, v)
    }
    #[inline(always)]
    fn select(mask: Bits, t: Self, f: Self) -> Self {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe {
            Zmm2(
                _mm512_mask_blend_epi64(mask.0 as u8, f.0, t.0),
                _mm512_mask_blend_epi64((mask.0 >> 8) as u8, f.1, t.1),
            )
        }
    }
    on_registers!(longs Zmm2(0, 1): add(b); sub(b); and(b); or(b); xor(b);
        flush(t, e); fmin(b); fmax(b); fadd(b); fsub(b); fmul(b); fdiv(b); fsqrt(); ffma(b, c); ffma_odd(b, c);
        ftrunc(); ffloor(); frint(););
    compare_registers!(longs (0: 0, 1: 8): eq; lt_u; lt_i; flt; feq; funord;);
    shifts!(shl _mm512_sllv_epi64; shr _mm512_srlv_epi64; sar _mm512_srav_epi64;);
    narrowing!(d2f(); d2f_round(round); d2i(); d2u(););
    #[inline(always)]
    fn lo(self) -> Zmm {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe { Zmm(longs::lo(self.0, self.1)) }
    }
    #[inline(always)]
    fn hi(self) -> Zmm {
        // SAFETY: only reached from the AVX-512 instance.
        unsafe { Zmm(longs::hi(self.0, self.1)) }
    }
    rounding_registers!(longs Zmm2(0, 1): fadd_round(b); fmul_round(b); ffma_round(b, c););
}
