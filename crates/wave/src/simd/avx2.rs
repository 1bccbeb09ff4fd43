//! Sixteen lanes in two ymm registers, of 64 bits in four. Every function here runs inside the interpreter's AVX2
//! instance, which is only entered after the host was found to have AVX2, FMA and F16C.

use super::Bits;
use super::lanes::{
    Host, HostLong, Lanes, Wide, arrays, compare_registers, expand_long, expand_word, groups, on_registers,
    rounding_registers,
};
use std::arch::x86_64::*;
use wavemill_sem::soft::Round;

/// Sixteen 32-bit lanes.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Ymm2(__m256i, __m256i);

/// The lanes that `sem`'s meanings work on.
pub(crate) type Y16 = Lanes<Ymm2>;

/// Sixteen 64-bit lanes.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Ymm4(__m256i, __m256i, __m256i, __m256i);

/// Items for hosts with what this back end needs.
macro_rules! avx2 {
    ($($item:item)*) => {
        $(
            #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
            $item
        )*
    };
}
pub(crate) use avx2;

const DOWN: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
const ZERO: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

/// Functions of registers, as [`on_registers`] wants them.
macro_rules! functions {
    ($(#[$doc:meta])* $module:ident: int { $($int:ident($($ia:ident),*) $fi:ident;)* }
     float { $($float:ident($($fa:ident),*) $ff:ident $(::<$imm:ident>)?;)* } compare { $($cmp:ident $how:ident;)* } $cmp_f:ident
     $to:ident $from:ident $movemask:ident { $($item:item)* }) => {
        $(#[$doc])*
        mod $module {
            use super::*;
            $(
                #[inline]
                #[target_feature(enable = "avx2,fma,f16c")]
                pub fn $int($($ia: __m256i),*) -> __m256i {
                    $fi($($ia),*)
                }
            )*
            $(
                #[inline]
                #[target_feature(enable = "avx2,fma,f16c")]
                pub fn $float($($fa: __m256i),*) -> __m256i {
                    $from($ff $(::<$imm>)? ($($to($fa)),*))
                }
            )*
            $(
                #[inline]
                #[target_feature(enable = "avx2,fma,f16c")]
                pub fn $cmp(a: __m256i, b: __m256i) -> u16 {
                    $movemask($cmp_f::<$how>($to(a), $to(b))) as u16
                }
            )*
            /// The lanes that are all ones.
            #[inline]
            #[target_feature(enable = "avx2,fma,f16c")]
            fn flags(a: __m256i) -> u16 {
                $movemask($to(a)) as u16
            }
            $(
                #[inline]
                #[target_feature(enable = "avx2,fma,f16c")]
                $item
            )*
        }
    };
}
functions! {
    /// On eight lanes of 32 bits.
    words: int {
        add(a, b) _mm256_add_epi32; sub(a, b) _mm256_sub_epi32; mul(a, b) _mm256_mullo_epi32;
        and(a, b) _mm256_and_si256; or(a, b) _mm256_or_si256; xor(a, b) _mm256_xor_si256;
        min_u(a, b) _mm256_min_epu32; max_u(a, b) _mm256_max_epu32;
        min_i(a, b) _mm256_min_epi32; max_i(a, b) _mm256_max_epi32; dot_i16(a, b) _mm256_madd_epi16;
    }
    float {
        fadd(a, b) _mm256_add_ps; fsub(a, b) _mm256_sub_ps; fmul(a, b) _mm256_mul_ps; fdiv(a, b) _mm256_div_ps;
        fsqrt(a) _mm256_sqrt_ps; ffma(a, b, c) _mm256_fmadd_ps;
        ftrunc(a) _mm256_round_ps::<ZERO>; ffloor(a) _mm256_round_ps::<DOWN>; frint(a) _mm256_round_ps::<NEAREST>;
    }
    compare { flt _CMP_LT_OQ; feq _CMP_EQ_OQ; funord _CMP_UNORD_Q; } _mm256_cmp_ps
    _mm256_castsi256_ps _mm256_castps_si256 _mm256_movemask_ps {
        /// What a table has at these places; zero behind its end.
        pub fn lookup(a: __m256i, table: &'static [u32]) -> __m256i {
            let len = _mm256_set1_epi32(table.len() as i32);
            let inside = _mm256_xor_si256(_mm256_cmpeq_epi32(_mm256_max_epu32(a, len), a), _mm256_set1_epi32(-1));
            // SAFETY: lanes beyond the table do not read it.
            unsafe {
                _mm256_mask_i32gather_epi32::<4>(_mm256_setzero_si256(), table.as_ptr().cast(), a, inside)
            }
        }
        /// All ones in the lanes of a mask of eight.
        pub fn spread(mask: u16) -> __m256i {
            let bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(mask as i32), bit), bit)
        }
        pub fn eq(a: __m256i, b: __m256i) -> u16 { flags(_mm256_cmpeq_epi32(a, b)) }
        pub fn lt_i(a: __m256i, b: __m256i) -> u16 { flags(_mm256_cmpgt_epi32(b, a)) }
        pub fn lt_u(a: __m256i, b: __m256i) -> u16 {
            let flip = _mm256_set1_epi32(i32::MIN);
            lt_i(_mm256_xor_si256(a, flip), _mm256_xor_si256(b, flip))
        }
        pub fn shl(a: __m256i, b: __m256i) -> __m256i { _mm256_sllv_epi32(a, _mm256_and_si256(b, _mm256_set1_epi32(31))) }
        pub fn shr(a: __m256i, b: __m256i) -> __m256i { _mm256_srlv_epi32(a, _mm256_and_si256(b, _mm256_set1_epi32(31))) }
        pub fn sar(a: __m256i, b: __m256i) -> __m256i { _mm256_srav_epi32(a, _mm256_and_si256(b, _mm256_set1_epi32(31))) }
        pub fn mul_hi_u(a: __m256i, b: __m256i) -> __m256i {
            let even = _mm256_srli_epi64::<32>(_mm256_mul_epu32(a, b));
            let odd = _mm256_mul_epu32(_mm256_srli_epi64::<32>(a), _mm256_srli_epi64::<32>(b));
            _mm256_blend_epi32::<0xaa>(even, odd)
        }
        pub fn mul_hi_i(a: __m256i, b: __m256i) -> __m256i {
            let even = _mm256_srli_epi64::<32>(_mm256_mul_epi32(a, b));
            let odd = _mm256_mul_epi32(_mm256_srli_epi64::<32>(a), _mm256_srli_epi64::<32>(b));
            _mm256_blend_epi32::<0xaa>(even, odd)
        }
        pub fn count_ones(a: __m256i) -> __m256i {
            // Bits of each half byte from a table, then the sum of four bytes.
            let table = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
            let low = _mm256_set1_epi8(15);
            let halves = _mm256_add_epi8(
                _mm256_shuffle_epi8(table, _mm256_and_si256(a, low)),
                _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16::<4>(a), low)),
            );
            _mm256_madd_epi16(_mm256_maddubs_epi16(halves, _mm256_set1_epi8(1)), _mm256_set1_epi16(1))
        }
        pub fn leading_zeros(a: __m256i) -> __m256i {
            // All bits below the highest, then those that are left.
            let a = _mm256_or_si256(a, _mm256_srli_epi32::<1>(a));
            let a = _mm256_or_si256(a, _mm256_srli_epi32::<2>(a));
            let a = _mm256_or_si256(a, _mm256_srli_epi32::<4>(a));
            let a = _mm256_or_si256(a, _mm256_srli_epi32::<8>(a));
            let a = _mm256_or_si256(a, _mm256_srli_epi32::<16>(a));
            _mm256_sub_epi32(_mm256_set1_epi32(32), count_ones(a))
        }
        pub fn permute_bytes(a: __m256i, b: __m256i, s: __m256i) -> __m256i {
            // Bytes are chosen from the lane's own four of the sixteen that an instruction sees.
            let lane = _mm256_broadcastsi128_si256(_mm_setr_epi32(0, 0x0404_0404, 0x0808_0808, 0x0c0c_0c0c));
            let at = _mm256_or_si256(_mm256_and_si256(s, _mm256_set1_epi8(3)), lane);
            // Bit 2 of a selector moves to its top.
            let upper = _mm256_slli_epi16::<5>(s);
            _mm256_blendv_epi8(_mm256_shuffle_epi8(b, at), _mm256_shuffle_epi8(a, at), upper)
        }
        pub fn sext_even_bytes(a: __m256i) -> __m256i { _mm256_srai_epi16::<8>(_mm256_slli_epi16::<8>(a)) }
        pub fn sad_u8(a: __m256i, b: __m256i) -> __m256i {
            // The instruction sums eight bytes: the other four are zero.
            let zero = _mm256_setzero_si256();
            let even = _mm256_sad_epu8(_mm256_blend_epi32::<0xaa>(a, zero), _mm256_blend_epi32::<0xaa>(b, zero));
            let odd = _mm256_sad_epu8(_mm256_srli_epi64::<32>(a), _mm256_srli_epi64::<32>(b));
            _mm256_or_si256(even, _mm256_slli_epi64::<32>(odd))
        }
        pub fn flush(a: __m256i, t: __m256i, e: __m256i) -> __m256i {
            let tiny = _mm256_cmpeq_epi32(_mm256_and_si256(t, e), _mm256_setzero_si256());
            _mm256_andnot_si256(_mm256_andnot_si256(_mm256_set1_epi32(i32::MIN), tiny), a)
        }
        pub fn fmin(a: __m256i, b: __m256i) -> __m256i {
            // The instruction gives its second operand where both are the same: of zeros with different signs both are had.
            let (a, b) = (_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
            _mm256_castps_si256(_mm256_or_ps(_mm256_min_ps(a, b), _mm256_min_ps(b, a)))
        }
        pub fn fmax(a: __m256i, b: __m256i) -> __m256i {
            let (a, b) = (_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
            _mm256_castps_si256(_mm256_and_ps(_mm256_max_ps(a, b), _mm256_max_ps(b, a)))
        }
        pub fn i2f(a: __m256i) -> __m256i { _mm256_castps_si256(_mm256_cvtepi32_ps(a)) }
        pub fn u2f(a: __m256i) -> __m256i {
            // Both halves are exact; the upper one times 2¹⁶ is, too. One rounding.
            let high = _mm256_cvtepi32_ps(_mm256_srli_epi32::<16>(a));
            let low = _mm256_cvtepi32_ps(_mm256_and_si256(a, _mm256_set1_epi32(0xffff)));
            _mm256_castps_si256(_mm256_fmadd_ps(high, _mm256_set1_ps(65536.0), low))
        }
        pub fn f2i(a: __m256i) -> __m256i {
            let a = _mm256_castsi256_ps(a);
            // Too small gives the least number as it is; NaN gives zero.
            let large = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_GE_OQ>(a, _mm256_set1_ps(2_147_483_648.0)));
            let ordered = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_ORD_Q>(a, a));
            let r = _mm256_and_si256(_mm256_cvttps_epi32(a), ordered);
            _mm256_blendv_epi8(r, _mm256_set1_epi32(i32::MAX), large)
        }
        pub fn f2u(a: __m256i) -> __m256i {
            let limit = _mm256_set1_ps(2_147_483_648.0);
            // Negative numbers and NaN give zero.
            let a = _mm256_max_ps(_mm256_castsi256_ps(a), _mm256_setzero_ps());
            let upper = _mm256_cmp_ps::<_CMP_GE_OQ>(a, limit);
            let high = _mm256_cvttps_epi32(_mm256_sub_ps(a, limit));
            let high = _mm256_xor_si256(high, _mm256_set1_epi32(i32::MIN));
            let r = _mm256_blendv_epi8(_mm256_cvttps_epi32(a), high, _mm256_castps_si256(upper));
            let beyond = _mm256_cmp_ps::<_CMP_GE_OQ>(a, _mm256_set1_ps(4_294_967_296.0));
            _mm256_or_si256(r, _mm256_castps_si256(beyond))
        }
        pub fn h2f(a: __m256i) -> __m256i {
            let low = _mm256_and_si256(a, _mm256_set1_epi32(0xffff));
            let packed = _mm256_permute4x64_epi64::<0b1000>(_mm256_packus_epi32(low, low));
            _mm256_castps_si256(_mm256_cvtph_ps(_mm256_castsi256_si128(packed)))
        }
        pub fn h2f_high(a: __m256i) -> __m256i { h2f(_mm256_srli_epi32::<16>(a)) }
        pub fn f2h(a: __m256i) -> __m256i {
            _mm256_cvtepu16_epi32(_mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_castsi256_ps(a)))
        }
        pub fn f2h_pair(a: __m256i, b: __m256i) -> __m256i {
            _mm256_or_si256(f2h(a), _mm256_slli_epi32::<16>(f2h(b)))
        }
        pub fn f2h_round(a: __m256i, round: Round) -> __m256i {
            let a = _mm256_castsi256_ps(a);
            _mm256_cvtepu16_epi32(match round {
                Round::Nearest => _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(a),
                Round::Up => _mm256_cvtps_ph::<_MM_FROUND_TO_POS_INF>(a),
                Round::Down => _mm256_cvtps_ph::<_MM_FROUND_TO_NEG_INF>(a),
                Round::Zero => _mm256_cvtps_ph::<_MM_FROUND_TO_ZERO>(a),
            })
        }
        /// Lanes 0 to 3, and 4 to 7.
        pub fn split(a: __m256i) -> [__m128i; 2] {
            [_mm256_castsi256_si128(a), _mm256_extracti128_si256::<1>(a)]
        }
        pub fn joined(low: __m128i, high: __m128i) -> __m256i { _mm256_set_m128i(high, low) }
        pub fn zext(a: __m128i) -> __m256i { _mm256_cvtepu32_epi64(a) }
        pub fn sext(a: __m128i) -> __m256i { _mm256_cvtepi32_epi64(a) }
        pub fn f2d(a: __m128i) -> __m256i { _mm256_castpd_si256(_mm256_cvtps_pd(_mm_castsi128_ps(a))) }
        pub fn i2d(a: __m128i) -> __m256i { _mm256_castpd_si256(_mm256_cvtepi32_pd(a)) }
        pub fn u2d(a: __m128i) -> __m256i {
            // The number in the fraction of 2⁵², minus 2⁵².
            let magic = _mm256_set1_pd(4_503_599_627_370_496.0);
            let n = _mm256_or_si256(_mm256_cvtepu32_epi64(a), _mm256_castpd_si256(magic));
            _mm256_castpd_si256(_mm256_sub_pd(_mm256_castsi256_pd(n), magic))
        }
    }
}
functions! {
    /// On four lanes of 64 bits.
    longs: int {
        add(a, b) _mm256_add_epi64; sub(a, b) _mm256_sub_epi64;
        and(a, b) _mm256_and_si256; or(a, b) _mm256_or_si256; xor(a, b) _mm256_xor_si256;
        mul_u(a, b) _mm256_mul_epu32; mul_i(a, b) _mm256_mul_epi32;
    }
    float {
        fadd(a, b) _mm256_add_pd; fsub(a, b) _mm256_sub_pd; fmul(a, b) _mm256_mul_pd; fdiv(a, b) _mm256_div_pd;
        fsqrt(a) _mm256_sqrt_pd; ffma(a, b, c) _mm256_fmadd_pd;
        ftrunc(a) _mm256_round_pd::<ZERO>; ffloor(a) _mm256_round_pd::<DOWN>; frint(a) _mm256_round_pd::<NEAREST>;
    }
    compare { flt _CMP_LT_OQ; feq _CMP_EQ_OQ; funord _CMP_UNORD_Q; } _mm256_cmp_pd
    _mm256_castsi256_pd _mm256_castpd_si256 _mm256_movemask_pd {
        /// All ones in the lanes of a mask of four.
        pub fn spread(mask: u16) -> __m256i {
            let bit = _mm256_setr_epi64x(1, 2, 4, 8);
            _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(mask as i64), bit), bit)
        }
        pub fn eq(a: __m256i, b: __m256i) -> u16 { flags(_mm256_cmpeq_epi64(a, b)) }
        pub fn lt_i(a: __m256i, b: __m256i) -> u16 { flags(_mm256_cmpgt_epi64(b, a)) }
        pub fn lt_u(a: __m256i, b: __m256i) -> u16 {
            let flip = _mm256_set1_epi64x(i64::MIN);
            lt_i(_mm256_xor_si256(a, flip), _mm256_xor_si256(b, flip))
        }
        pub fn shl(a: __m256i, b: __m256i) -> __m256i { _mm256_sllv_epi64(a, b) }
        pub fn shr(a: __m256i, b: __m256i) -> __m256i { _mm256_srlv_epi64(a, b) }
        pub fn sar(a: __m256i, b: __m256i) -> __m256i {
            // Ones come in from above where the sign is set.
            let sign = _mm256_cmpgt_epi64(_mm256_setzero_si256(), a);
            _mm256_xor_si256(_mm256_srlv_epi64(_mm256_xor_si256(a, sign), b), sign)
        }
        pub fn flush(a: __m256i, t: __m256i, e: __m256i) -> __m256i {
            let tiny = _mm256_cmpeq_epi64(_mm256_and_si256(t, e), _mm256_setzero_si256());
            _mm256_andnot_si256(_mm256_andnot_si256(_mm256_set1_epi64x(i64::MIN), tiny), a)
        }
        pub fn fmin(a: __m256i, b: __m256i) -> __m256i {
            // The instruction gives its second operand where both are the same: of zeros with different signs both are had.
            let (a, b) = (_mm256_castsi256_pd(a), _mm256_castsi256_pd(b));
            _mm256_castpd_si256(_mm256_or_pd(_mm256_min_pd(a, b), _mm256_min_pd(b, a)))
        }
        pub fn fmax(a: __m256i, b: __m256i) -> __m256i {
            let (a, b) = (_mm256_castsi256_pd(a), _mm256_castsi256_pd(b));
            _mm256_castpd_si256(_mm256_and_pd(_mm256_max_pd(a, b), _mm256_max_pd(b, a)))
        }
        pub fn d2f(a: __m256i) -> __m128i { _mm_castps_si128(_mm256_cvtpd_ps(_mm256_castsi256_pd(a))) }
        pub fn d2i(a: __m256i) -> __m128i {
            let a = _mm256_castsi256_pd(a);
            // NaN gives zero; a number that is too large the largest, which is exact.
            let ordered = _mm256_and_pd(a, _mm256_cmp_pd::<_CMP_ORD_Q>(a, a));
            _mm256_cvttpd_epi32(_mm256_min_pd(ordered, _mm256_set1_pd(2_147_483_647.0)))
        }
        pub fn d2u(a: __m256i) -> __m128i {
            // Negative numbers and NaN give zero; the sum with 2⁵² has the number in its lowest bits.
            let a = _mm256_max_pd(_mm256_castsi256_pd(a), _mm256_setzero_pd());
            let a = _mm256_round_pd::<ZERO>(_mm256_min_pd(a, _mm256_set1_pd(4_294_967_295.0)));
            let n = _mm256_castpd_si256(_mm256_add_pd(a, _mm256_set1_pd(4_503_599_627_370_496.0)));
            lo(n)
        }
        /// Lower halves.
        pub fn lo(a: __m256i) -> __m128i {
            _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(a, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6)))
        }
        /// Upper halves.
        pub fn hi(a: __m256i) -> __m128i {
            _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(a, _mm256_setr_epi32(1, 3, 5, 7, 1, 3, 5, 7)))
        }
    }
}

avx2! {
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

/// Methods that make 64-bit lanes of 32-bit ones.
macro_rules! widening {
    ($($name:ident;)*) => {
        $(
            #[inline(always)]
            fn $name(self) -> Ymm4 {
                // SAFETY: only reached from the AVX2 instance.
                unsafe {
                    let ([a, b], [c, d]) = (words::split(self.0), words::split(self.1));
                    Ymm4(words::$name(a), words::$name(b), words::$name(c), words::$name(d))
                }
            }
        )*
    };
}
/// Methods that make 32-bit lanes of 64-bit ones.
macro_rules! narrowing {
    ($($name:ident;)*) => {
        $(
            #[inline(always)]
            fn $name(self) -> Ymm2 {
                // SAFETY: only reached from the AVX2 instance.
                unsafe {
                    Ymm2(
                        words::joined(longs::$name(self.0), longs::$name(self.1)),
                        words::joined(longs::$name(self.2), longs::$name(self.3)),
                    )
                }
            }
        )*
    };
}

avx2! {
    /// Eight groups of four dwords each: all first ones, and so on.
    #[inline]
    unsafe fn load_fours(p: *const u8) -> [__m256i; 4] {
        // SAFETY: the caller's promise: 128 bytes are there.
        unsafe {
            // Groups 0 and 4, 1 and 5 and so on: what follows stays within the halves of registers.
            let get = |n: usize| {
                let p = p.cast::<__m128i>();
                _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(_mm_loadu_si128(p.add(n))), _mm_loadu_si128(p.add(n + 4)))
            };
            let (a, b, c, d) = (get(0), get(1), get(2), get(3));
            let (first, third) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
            let (second, fourth) = (_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
            [
                _mm256_unpacklo_epi64(first, second),
                _mm256_unpackhi_epi64(first, second),
                _mm256_unpacklo_epi64(third, fourth),
                _mm256_unpackhi_epi64(third, fourth),
            ]
        }
    }
}

impl Host for Ymm2 {
    type Long = Ymm4;
    arrays!([u32; 16]);
    #[inline(always)]
    unsafe fn load(p: *const u32) -> Self {
        // SAFETY: the caller's promise; AVX2 as above.
        unsafe { Ymm2(_mm256_load_si256(p.cast()), _mm256_load_si256(p.add(8).cast())) }
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
    fn quads<const N: usize>(self) -> Self {
        // SAFETY: only reached from the AVX2 instance.
        unsafe {
            match N & 3 {
                0 => Ymm2(_mm256_shuffle_epi32::<0>(self.0), _mm256_shuffle_epi32::<0>(self.1)),
                1 => Ymm2(_mm256_shuffle_epi32::<0x55>(self.0), _mm256_shuffle_epi32::<0x55>(self.1)),
                2 => Ymm2(_mm256_shuffle_epi32::<0xaa>(self.0), _mm256_shuffle_epi32::<0xaa>(self.1)),
                _ => Ymm2(_mm256_shuffle_epi32::<0xff>(self.0), _mm256_shuffle_epi32::<0xff>(self.1)),
            }
        }
    }
    #[inline(always)]
    unsafe fn load_groups<const N: usize>(p: *const u8) -> [Self; N] {
        // SAFETY: the caller's promise; AVX2 as above.
        unsafe {
            if N != 4 {
                return groups::load(p).map(Self::from_array);
            }
            let (low, high) = (load_fours(p), load_fours(p.add(128)));
            let mut rows = [Ymm2(low[0], high[0]); N];
            for (row, (low, high)) in rows.iter_mut().zip(low.into_iter().zip(high)) {
                *row = Ymm2(low, high);
            }
            rows
        }
    }
    #[inline(always)]
    fn apart<R>(f: impl FnOnce() -> R) -> R {
        // SAFETY: only reached from the AVX2 instance.
        unsafe { apart(f) }
    }
    #[inline(always)]
    fn cold<R>(f: impl FnOnce() -> R) -> R {
        // SAFETY: only reached from the AVX2 instance.
        unsafe { cold(f) }
    }
    #[inline(always)]
    fn splat(n: u32) -> Self {
        // SAFETY: only reached from the AVX2 instance.
        let v = unsafe { _mm256_set1_epi32(n as i32) };
        Ymm2(v, v)
    }
    #[inline(always)]
    fn select(mask: Bits, t: Self, f: Self) -> Self {
        // SAFETY: only reached from the AVX2 instance.
        unsafe {
            Ymm2(
                _mm256_blendv_epi8(f.0, t.0, words::spread(mask.0 & 0xff)),
                _mm256_blendv_epi8(f.1, t.1, words::spread(mask.0 >> 8)),
            )
        }
    }
    #[inline(always)]
    fn lookup(self, table: &'static [u32]) -> Self {
        // SAFETY: only reached from the AVX2 instance.
        unsafe { Ymm2(words::lookup(self.0, table), words::lookup(self.1, table)) }
    }
    on_registers!(words Ymm2(0, 1): add(b); sub(b); mul(b); and(b); or(b); xor(b); shl(b); shr(b); sar(b);
        min_u(b); max_u(b); min_i(b); max_i(b); mul_hi_u(b); mul_hi_i(b);
        count_ones(); leading_zeros(); permute_bytes(b, s); sext_even_bytes(); sad_u8(b); dot_i16(b);
        flush(t, e); fmin(b); fmax(b); fadd(b); fsub(b); fmul(b); fdiv(b); fsqrt(); ffma(b, c);
        ftrunc(); ffloor(); frint(); i2f(); u2f(); f2i(); f2u(); h2f(); h2f_high(); f2h(); f2h_pair(b););
    compare_registers!(words (0: 0, 1: 8): eq; lt_u; lt_i; flt; feq; funord;);
    rounding_registers!(words Ymm2(0, 1): f2h_round(););
    expand_word!(fadd_round(b) fadd32_round; fmul_round(b) fmul32_round; ffma_round(b, c) ffma32_round;);
    widening!(zext; sext; f2d; i2d; u2d;);
    #[inline(always)]
    fn fhalf(self, round: Round) -> Self {
        self.f2h_round(round).h2f()
    }
    #[inline(always)]
    fn ffma_odd(self, b: Self, c: Self) -> Self {
        wavemill_sem::expand::single::fma_odd(Lanes(self), Lanes(b), Lanes(c)).0
    }
    #[inline(always)]
    fn join(self, b: Self) -> Ymm4 {
        let (low, high) = (self.zext(), b.zext());
        // SAFETY: only reached from the AVX2 instance.
        let high = unsafe {
            Ymm4(
                _mm256_slli_epi64::<32>(high.0),
                _mm256_slli_epi64::<32>(high.1),
                _mm256_slli_epi64::<32>(high.2),
                _mm256_slli_epi64::<32>(high.3),
            )
        };
        low.or(high)
    }
    #[inline(always)]
    fn mul_wide_u(self, b: Self) -> Ymm4 {
        self.zext().mul_u(b.zext())
    }
    #[inline(always)]
    fn mul_wide_i(self, b: Self) -> Ymm4 {
        self.sext().mul_i(b.sext())
    }
}

impl Ymm4 {
    on_registers!(longs Ymm4(0, 1, 2, 3): mul_u(b); mul_i(b););
    // By counts below 64.
    on_registers!(longs Ymm4(0, 1, 2, 3): shl(b); shr(b); sar(b););
}

/// Shifts by as many bits as a 32-bit lane says.
macro_rules! shifts {
    ($($name:ident;)*) => {
        $(
            #[inline(always)]
            fn $name(self, b: Ymm2) -> Self {
                Ymm4::$name(self, b.and(Ymm2::splat(63)).zext())
            }
        )*
    };
}

impl HostLong for Ymm4 {
    type Word = Ymm2;
    arrays!([u64; 16]);
    #[inline(always)]
    fn splat(n: u64) -> Self {
        // SAFETY: only reached from the AVX2 instance.
        let v = unsafe { _mm256_set1_epi64x(n as i64) };
        Ymm4(v, v, v, v)
    }
    #[inline(always)]
    fn select(mask: Bits, t: Self, f: Self) -> Self {
        // SAFETY: only reached from the AVX2 instance.
        unsafe {
            Ymm4(
                _mm256_blendv_epi8(f.0, t.0, longs::spread(mask.0 & 15)),
                _mm256_blendv_epi8(f.1, t.1, longs::spread(mask.0 >> 4 & 15)),
                _mm256_blendv_epi8(f.2, t.2, longs::spread(mask.0 >> 8 & 15)),
                _mm256_blendv_epi8(f.3, t.3, longs::spread(mask.0 >> 12)),
            )
        }
    }
    on_registers!(longs Ymm4(0, 1, 2, 3): add(b); sub(b); and(b); or(b); xor(b);
        flush(t, e); fmin(b); fmax(b); fadd(b); fsub(b); fmul(b); fdiv(b); fsqrt(); ffma(b, c);
        ftrunc(); ffloor(); frint(););
    compare_registers!(longs (0: 0, 1: 4, 2: 8, 3: 12): eq; lt_u; lt_i; flt; feq; funord;);
    shifts!(shl; shr; sar;);
    narrowing!(lo; hi; d2f; d2i; d2u;);
    expand_long!(fadd_round(b) fadd64_round; fmul_round(b) fmul64_round; ffma_round(b, c) ffma64_round;);
    #[inline(always)]
    fn ffma_odd(self, b: Self, c: Self) -> Self {
        wavemill_sem::expand::double::fma_odd(Wide(self), Wide(b), Wide(c)).0
    }
    #[inline(always)]
    fn d2f_round(self, round: Round) -> Ymm2 {
        wavemill_sem::expand::d2f_round(Wide(self), round).0
    }
}
