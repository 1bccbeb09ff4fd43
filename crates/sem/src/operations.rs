//! The operations that meanings are made of, one line each: what [`crate::lanes`] demands of every kind of lanes, what
//! [`crate::record`] writes down, and what an engine's back ends must do for all lanes at once.
//!
//! [`for_each_operation!`](crate::for_each_operation) hands the list to a macro. An operation has operands of 32 bits (`w`),
//! 64 bits (`l`), a result that may also be a truth (`m`), perhaps a round mode, and its definition for one lane. The
//! definitions are the law: whatever instructions a back end uses, it gives these bits. Which NaN an arithmetic operation
//! gives is not said; meanings settle it. [`word`] and [`long`] have the definitions as functions.

use crate::soft::{self, F32, F64, Round};

/// Hands every operation to a macro, after whatever stands in the braces: those on words, then those on longs.
#[macro_export]
macro_rules! for_each_operation {
    ($each:ident) => {
        $each! {
            word {
                /// Equal.
                fn eq(a: w, b: w) -> m = a == b;
                /// Less, unsigned.
                fn lt_u(a: w, b: w) -> m = a < b;
                /// Less, signed.
                fn lt_i(a: w, b: w) -> m = (a as i32) < b as i32;
                /// Shift left by `b` modulo 32.
                fn shl(a: w, b: w) -> w = a << (b & 31);
                /// Logical shift right by `b` modulo 32.
                fn shr(a: w, b: w) -> w = a >> (b & 31);
                /// Arithmetic shift right by `b` modulo 32.
                fn sar(a: w, b: w) -> w = (a as i32 >> (b & 31)) as u32;
                /// Lesser, unsigned.
                fn min_u(a: w, b: w) -> w = a.min(b);
                /// Greater, unsigned.
                fn max_u(a: w, b: w) -> w = a.max(b);
                /// Lesser, signed.
                fn min_i(a: w, b: w) -> w = (a as i32).min(b as i32) as u32;
                /// Greater, signed.
                fn max_i(a: w, b: w) -> w = (a as i32).max(b as i32) as u32;
                /// Upper half of the unsigned product.
                fn mul_hi_u(a: w, b: w) -> w = ((a as u64 * b as u64) >> 32) as u32;
                /// Upper half of the signed product.
                fn mul_hi_i(a: w, b: w) -> w = ((a as i32 as i64 * b as i32 as i64) >> 32) as u32;
                /// Unsigned product of 64 bits.
                fn mul_wide_u(a: w, b: w) -> l = a as u64 * b as u64;
                /// Signed product of 64 bits.
                fn mul_wide_i(a: w, b: w) -> l = (a as i32 as i64 * b as i32 as i64) as u64;
                /// Zero-extended.
                fn zext(a: w) -> l = a as u64;
                /// Sign-extended.
                fn sext(a: w) -> l = a as i32 as i64 as u64;
                /// 64 bits, with `b` as the upper half.
                fn join(a: w, b: w) -> l = a as u64 | (b as u64) << 32;
                /// How many bits are set.
                fn count_ones(a: w) -> w = a.count_ones();
                /// How many bits above the highest set one; 32 if none is.
                fn leading_zeros(a: w) -> w = a.leading_zeros();
                /// Four bytes of the eight of `a` (upper) and `b` (lower), by the low three bits of each byte of `s`.
                fn permute_bytes(a: w, b: w, s: w) -> w = $crate::operations::bytes(a, b, s);
                /// Bytes 0 and 2, each sign-extended to 16 bits.
                fn sext_even_bytes(a: w) -> w = a as i8 as u16 as u32 | ((a >> 16) as i8 as u32) << 16;
                /// The sum of the four bytes' absolute differences, unsigned.
                fn sad_u8(a: w, b: w) -> w = $crate::operations::differences(a, b);
                /// The sum of the products of both signed halves; it wraps.
                fn dot_i16(a: w, b: w) -> w = (a as i16 as i32 * b as i16 as i32)
                    .wrapping_add((a as i32 >> 16) * (b as i32 >> 16)) as u32;

                /// `a`, but a zero of its sign (bit 31) where `t` has none of the bits `e`: what becomes of denormals.
                fn flush(a: w, t: w, e: w) -> w = if t & e == 0 { a & 1 << 31 } else { a };
                /// The lesser of two f32, -0 being less than +0; of a NaN and a number, anything.
                fn fmin(a: w, b: w) -> w = $crate::operations::least32(a, b);
                /// The greater of two f32; of a NaN and a number, anything.
                fn fmax(a: w, b: w) -> w = $crate::operations::least32(a ^ 1 << 31, b ^ 1 << 31) ^ 1 << 31;
                /// f32 sum, to nearest.
                fn fadd(a: w, b: w) -> w = (f32::from_bits(a) + f32::from_bits(b)).to_bits();
                /// f32 difference, to nearest.
                fn fsub(a: w, b: w) -> w = (f32::from_bits(a) - f32::from_bits(b)).to_bits();
                /// f32 product, to nearest.
                fn fmul(a: w, b: w) -> w = (f32::from_bits(a) * f32::from_bits(b)).to_bits();
                /// f32 quotient, to nearest.
                fn fdiv(a: w, b: w) -> w = (f32::from_bits(a) / f32::from_bits(b)).to_bits();
                /// f32 square root, to nearest.
                fn fsqrt(a: w) -> w = f32::from_bits(a).sqrt().to_bits();
                /// f32 fused multiply-add, to nearest.
                fn ffma(a: w, b: w, c: w) -> w = $crate::soft::fma32_nearest(a, b, c);
                /// f32 sum in a round mode.
                fn fadd_round(a: w, b: w; round: Round) -> w = $crate::operations::add32(a, b, round);
                /// f32 product in a round mode.
                fn fmul_round(a: w, b: w; round: Round) -> w = $crate::operations::mul32(a, b, round);
                /// f32 fused multiply-add in a round mode.
                fn ffma_round(a: w, b: w, c: w; round: Round) -> w = $crate::operations::fma32(a, b, c, round);
                /// a · b + c rounded to odd, where a · b is an f32 and nothing leaves f32's normal range: a result that may be
                /// rounded once more, to fewer bits, as if it were exact.
                fn ffma_odd(a: w, b: w, c: w) -> w = $crate::operations::odd32(a, b, c);
                /// f32 less.
                fn flt(a: w, b: w) -> m = f32::from_bits(a) < f32::from_bits(b);
                /// f32 equal.
                fn feq(a: w, b: w) -> m = f32::from_bits(a) == f32::from_bits(b);
                /// Either is an f32 NaN.
                fn funord(a: w, b: w) -> m = f32::from_bits(a).is_nan() || f32::from_bits(b).is_nan();
                /// f32 to an integer of the same value, toward zero.
                fn ftrunc(a: w) -> w = f32::from_bits(a).trunc().to_bits();
                /// f32 down to an integer.
                fn ffloor(a: w) -> w = f32::from_bits(a).floor().to_bits();
                /// f32 to the nearest integer, ties to even.
                fn frint(a: w) -> w = f32::from_bits(a).round_ties_even().to_bits();
                /// Signed integer to f32, to nearest.
                fn i2f(a: w) -> w = (a as i32 as f32).to_bits();
                /// Unsigned integer to f32, to nearest.
                fn u2f(a: w) -> w = (a as f32).to_bits();
                /// f32 to a signed integer, toward zero, saturating; NaN gives 0.
                fn f2i(a: w) -> w = f32::from_bits(a) as i32 as u32;
                /// f32 to an unsigned integer, toward zero, saturating; NaN gives 0.
                fn f2u(a: w) -> w = f32::from_bits(a) as u32;
                /// The f16 in the low half as f32; a NaN keeps its payload, and may come back quiet.
                fn h2f(a: w) -> w = $crate::soft::h2f(a);
                /// The same of the upper half.
                fn h2f_high(a: w) -> w = $crate::soft::h2f(a >> 16);
                /// f32 to f16 in the low half, to nearest, denormals kept; a NaN keeps the top of its payload, quieted.
                fn f2h(a: w) -> w = $crate::soft::f2h_nearest(a);
                /// Two f32 to two f16, the second one in the upper half.
                fn f2h_pair(a: w, b: w) -> w = $crate::soft::f2h_nearest(a) | $crate::soft::f2h_nearest(b) << 16;
                /// f32 to f16 in a round mode.
                fn f2h_round(a: w; round: Round) -> w = $crate::soft::f2h(a, round);
                /// f32 rounded to f16 and widened again.
                fn fhalf(a: w; round: Round) -> w = $crate::soft::h2f($crate::soft::f2h(a, round));
                /// f32 to f64; a NaN keeps its payload, quieted.
                fn f2d(a: w) -> l = $crate::operations::f2d(a);
                /// Signed integer to f64.
                fn i2d(a: w) -> l = (a as i32 as f64).to_bits();
                /// Unsigned integer to f64.
                fn u2d(a: w) -> l = (a as f64).to_bits();
            }
            long {
                /// Lower half.
                fn lo(a: l) -> w = a as u32;
                /// Upper half.
                fn hi(a: l) -> w = (a >> 32) as u32;
                /// Equal.
                fn eq(a: l, b: l) -> m = a == b;
                /// Less, unsigned.
                fn lt_u(a: l, b: l) -> m = a < b;
                /// Less, signed.
                fn lt_i(a: l, b: l) -> m = (a as i64) < b as i64;
                /// Shift left by `b` modulo 64.
                fn shl(a: l, b: w) -> l = a << (b & 63);
                /// Logical shift right by `b` modulo 64.
                fn shr(a: l, b: w) -> l = a >> (b & 63);
                /// Arithmetic shift right by `b` modulo 64.
                fn sar(a: l, b: w) -> l = (a as i64 >> (b & 63)) as u64;

                /// As for words; the sign is bit 63.
                fn flush(a: l, t: l, e: l) -> l = if t & e == 0 { a & 1 << 63 } else { a };
                /// The lesser of two f64, -0 being less than +0; of a NaN and a number, anything.
                fn fmin(a: l, b: l) -> l = $crate::operations::least64(a, b);
                /// The greater of two f64; of a NaN and a number, anything.
                fn fmax(a: l, b: l) -> l = $crate::operations::least64(a ^ 1 << 63, b ^ 1 << 63) ^ 1 << 63;
                /// f64 sum, to nearest.
                fn fadd(a: l, b: l) -> l = (f64::from_bits(a) + f64::from_bits(b)).to_bits();
                /// f64 difference, to nearest.
                fn fsub(a: l, b: l) -> l = (f64::from_bits(a) - f64::from_bits(b)).to_bits();
                /// f64 product, to nearest.
                fn fmul(a: l, b: l) -> l = (f64::from_bits(a) * f64::from_bits(b)).to_bits();
                /// f64 quotient, to nearest.
                fn fdiv(a: l, b: l) -> l = (f64::from_bits(a) / f64::from_bits(b)).to_bits();
                /// f64 square root, to nearest.
                fn fsqrt(a: l) -> l = f64::from_bits(a).sqrt().to_bits();
                /// f64 fused multiply-add, to nearest.
                fn ffma(a: l, b: l, c: l) -> l = $crate::soft::fma64_nearest(a, b, c);
                /// f64 sum in a round mode.
                fn fadd_round(a: l, b: l; round: Round) -> l = $crate::soft::add($crate::soft::F64, a, b, round);
                /// f64 product in a round mode.
                fn fmul_round(a: l, b: l; round: Round) -> l = $crate::soft::mul($crate::soft::F64, a, b, round);
                /// f64 fused multiply-add in a round mode.
                fn ffma_round(a: l, b: l, c: l; round: Round) -> l = $crate::soft::fma($crate::soft::F64, a, b, c, round);
                /// a · b + c rounded to odd, where a · b is an f64 and nothing leaves f64's normal range.
                fn ffma_odd(a: l, b: l, c: l) -> l = $crate::operations::odd64(a, b, c);
                /// f64 less.
                fn flt(a: l, b: l) -> m = f64::from_bits(a) < f64::from_bits(b);
                /// f64 equal.
                fn feq(a: l, b: l) -> m = f64::from_bits(a) == f64::from_bits(b);
                /// Either is an f64 NaN.
                fn funord(a: l, b: l) -> m = f64::from_bits(a).is_nan() || f64::from_bits(b).is_nan();
                /// f64 to an integer of the same value, toward zero.
                fn ftrunc(a: l) -> l = f64::from_bits(a).trunc().to_bits();
                /// f64 down to an integer.
                fn ffloor(a: l) -> l = f64::from_bits(a).floor().to_bits();
                /// f64 to the nearest integer, ties to even.
                fn frint(a: l) -> l = f64::from_bits(a).round_ties_even().to_bits();
                /// f64 to f32, to nearest; a NaN keeps the top of its payload, quieted.
                fn d2f(a: l) -> w = $crate::operations::d2f(a);
                /// The same in a round mode.
                fn d2f_round(a: l; round: Round) -> w = $crate::soft::convert(
                    $crate::soft::F64, $crate::soft::F32, a, round) as u32;
                /// f64 to a signed integer of 32 bits, toward zero, saturating; NaN gives 0.
                fn d2i(a: l) -> w = f64::from_bits(a) as i32 as u32;
                /// f64 to an unsigned integer of 32 bits, toward zero, saturating; NaN gives 0.
                fn d2u(a: l) -> w = f64::from_bits(a) as u32;
            }
        }
    };
}

/// The type a definition uses for an operand's letter.
macro_rules! plain {
    (w) => {
        u32
    };
    (l) => {
        u64
    };
    (m) => {
        bool
    };
}

macro_rules! definitions {
    ($($on:ident { $($(#[$doc:meta])* fn $name:ident($($a:ident: $at:ident),* $(; $i:ident: $it:ident)?) -> $r:ident = $def:expr;)* })*) => {
        $(
            #[doc = concat!("Operations on lanes of a ", stringify!($on), ", for one of them.")]
            pub mod $on {
                use super::Round;
                $(
                    $(#[$doc])*
                    #[inline(always)]
                    pub fn $name($($a: plain!($at),)* $($i: $it)?) -> plain!($r) {
                        $def
                    }
                )*
            }
        )*
    };
}
for_each_operation!(definitions);

// Definitions that are more than an expression.

/// See `permute_bytes`.
pub fn bytes(a: u32, b: u32, s: u32) -> u32 {
    let source = (a as u64) << 32 | b as u64;
    (0..4).fold(0, |d, i| d | ((source >> (8 * (s >> (8 * i) & 7))) as u32 & 0xff) << (8 * i))
}
/// See `sad_u8`.
pub fn differences(a: u32, b: u32) -> u32 {
    a.to_le_bytes().iter().zip(b.to_le_bytes()).map(|(&x, y)| x.abs_diff(y) as u32).sum()
}
/// Numbers by the order of their bits: negative ones turned round.
macro_rules! least {
    ($name:ident, $bits:ty, $int:ty) => {
        /// See `fmin`.
        #[inline(always)]
        pub fn $name(a: $bits, b: $bits) -> $bits {
            let order = |n: $bits| (n ^ ((n as $int >> (<$bits>::BITS - 1)) as $bits >> 1)) as $int;
            if order(a) < order(b) { a } else { b }
        }
    };
}
least!(least32, u32, i32);
least!(least64, u64, i64);
/// See `f2d`.
#[inline(always)]
pub fn f2d(a: u32) -> u64 {
    if F32.is_nan(a as u64) {
        return soft::convert(F32, F64, a as u64, Round::Nearest);
    }
    (f32::from_bits(a) as f64).to_bits()
}
/// See `d2f`.
#[inline(always)]
pub fn d2f(a: u64) -> u32 {
    if F64.is_nan(a) {
        return soft::convert(F64, F32, a, Round::Nearest) as u32;
    }
    (f64::from_bits(a) as f32).to_bits()
}
/// See `fadd_round`.
pub fn add32(a: u32, b: u32, round: Round) -> u32 {
    soft::add(F32, a as u64, b as u64, round) as u32
}
/// See `fmul_round`.
pub fn mul32(a: u32, b: u32, round: Round) -> u32 {
    soft::mul(F32, a as u64, b as u64, round) as u32
}
/// See `ffma_round`.
pub fn fma32(a: u32, b: u32, c: u32, round: Round) -> u32 {
    soft::fma(F32, a as u64, b as u64, c as u64, round) as u32
}
/// Sum and error of two numbers (Knuth): the error is exact.
macro_rules! odd {
    ($name:ident, $bits:ty, $float:ty) => {
        /// See `ffma_odd`.
        #[inline(always)]
        pub fn $name(a: $bits, b: $bits, c: $bits) -> $bits {
            let (p, c) = (<$float>::from_bits(a) * <$float>::from_bits(b), <$float>::from_bits(c));
            let s = p + c;
            let t = s - p;
            let error = (p - (s - t)) + (c - t);
            let bits = s.to_bits();
            // A NaN is none: there is nothing to round.
            let inexact = error.abs() > 0.0;
            if !inexact || bits & 1 != 0 {
                return bits;
            }
            // The exact sum lies between s and its neighbour in the error's direction, which is odd.
            if (error > 0.0) == (s > 0.0) { bits + 1 } else { bits - 1 }
        }
    };
}
odd!(odd32, u32, f32);
odd!(odd64, u64, f64);
