//! Single and double precision arithmetic: the same text for both, over [`Word`] and [`Long`].
//!
//! Results that IEEE 754 fixes come from the host in round-to-nearest; directed rounding comes from [`soft`]. Which NaN
//! comes out is settled here, because hosts differ: the first NaN operand, quieted, or the default NaN.

use crate::lanes::{Long, Mask, Word};
use crate::mode::{FloatMode, Mode};
use crate::soft::{self, Round};

/// Which outcomes of a comparison count: bits less, equal, greater, unordered. The low bits of VOPC opcodes are these
/// (manual 12.9: F LT EQ LE GT LG GE O U NGE NLG NGT NLE NEQ NLT TRU).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Predicate(pub u8);

impl Predicate {
    /// Combines the outcomes.
    #[inline(always)]
    pub fn of<M: Mask>(self, lt: M, eq: M, unordered: M) -> M {
        let gt = !(lt | eq | unordered);
        let pick = |bit: u8, m: M| if self.0 & bit != 0 { m } else { M::zeros() };
        pick(1, lt) | pick(2, eq) | pick(4, gt) | pick(8, unordered)
    }
}

macro_rules! float {
    ($(#[$doc:meta])* $name:ident, $trait:ident, $bits:ty, $format:expr) => {
        $(#[$doc])*
        pub mod $name {
            use super::*;

            const F: soft::Format = $format;
            const SIGN: $bits = F.sign() as $bits;
            const INF: $bits = F.infinity() as $bits;

            /// Absolute value.
            #[inline(always)]
            pub fn abs<V: $trait>(a: V) -> V {
                a & V::splat(!SIGN)
            }
            /// Sign changed.
            #[inline(always)]
            pub fn neg<V: $trait>(a: V) -> V {
                a ^ V::splat(SIGN)
            }
            /// NaN.
            #[inline(always)]
            pub fn is_nan<V: $trait>(a: V) -> V::Mask {
                a.funord(a)
            }
            /// Signalling NaN.
            #[inline(always)]
            pub fn is_snan<V: $trait>(a: V) -> V::Mask {
                is_nan(a) & (a & V::splat(F.quiet() as $bits)).eq(V::splat(0))
            }
            /// Quiet.
            #[inline(always)]
            pub fn quiet<V: $trait>(a: V) -> V {
                a | V::splat(F.quiet() as $bits)
            }
            /// Denormals become zeros of their sign.
            #[inline(always)]
            pub fn flush<V: $trait>(a: V) -> V {
                let tiny = (a & V::splat(INF)).eq(V::splat(0));
                V::select(tiny, a & V::splat(SIGN), a)
            }
            /// Inputs as the mode wants them.
            #[inline(always)]
            pub fn input<V: $trait>(a: V, m: FloatMode) -> V {
                if m.flush_in { flush(a) } else { a }
            }
            /// Results as the mode wants them.
            #[inline(always)]
            pub fn output<V: $trait>(a: V, m: FloatMode) -> V {
                if m.flush_out { flush(a) } else { a }
            }
            /// Replaces whatever NaN the host made of these operands by ours.
            #[inline(always)]
            fn settle<V: $trait>(r: V, a: V, b: V, c: V) -> V {
                let nan = is_nan(r);
                if !nan.maybe_any() {
                    return r;
                }
                // The select lets the common path keep its value in a register.
                let out = settle_nan(r, a, b, c);
                V::select(nan, out, r)
            }
            #[cold]
            #[inline(never)]
            fn settle_nan<V: $trait>(r: V, a: V, b: V, c: V) -> V {
                let nan = is_nan(r);
                let ours = V::splat(F.default_nan() as $bits);
                let ours = V::select(is_nan(c), quiet(c), ours);
                let ours = V::select(is_nan(b), quiet(b), ours);
                let ours = V::select(is_nan(a), quiet(a), ours);
                V::select(nan, ours, r)
            }

            // What is rare is kept out of line, so that the common case stays small; `keep` takes its result into a
            // register, apart from the common one.
            #[inline(always)]
            fn keep<V: $trait>(out: V, other: V) -> V {
                V::select(<V::Mask as Mask>::ones(), out, other)
            }
            #[cold]
            #[inline(never)]
            fn add_soft<V: $trait>(a: V, b: V, round: Round) -> V {
                a.map2(b, |a, b| soft::add(F, a as u64, b as u64, round) as $bits)
            }
            #[cold]
            #[inline(never)]
            fn mul_soft<V: $trait>(a: V, b: V, round: Round) -> V {
                a.map2(b, |a, b| soft::mul(F, a as u64, b as u64, round) as $bits)
            }
            #[cold]
            #[inline(never)]
            fn fma_soft<V: $trait>(a: V, b: V, c: V, round: Round) -> V {
                a.map3(b, c, |a, b, c| soft::fma(F, a as u64, b as u64, c as u64, round) as $bits)
            }

            /// a + b.
            #[inline(always)]
            pub fn add<V: $trait>(a: V, b: V, m: FloatMode) -> V {
                let (a, b) = (input(a, m), input(b, m));
                let r = match m.round {
                    Round::Nearest => a.fadd(b),
                    round => keep(add_soft(a, b, round), a),
                };
                output(settle(r, a, b, b), m)
            }
            /// a - b.
            #[inline(always)]
            pub fn sub<V: $trait>(a: V, b: V, m: FloatMode) -> V {
                add(a, neg(b), m)
            }
            /// b - a.
            #[inline(always)]
            pub fn subrev<V: $trait>(a: V, b: V, m: FloatMode) -> V {
                add(b, neg(a), m)
            }
            /// a · b.
            #[inline(always)]
            pub fn mul<V: $trait>(a: V, b: V, m: FloatMode) -> V {
                let (a, b) = (input(a, m), input(b, m));
                let r = match m.round {
                    Round::Nearest => a.fmul(b),
                    round => keep(mul_soft(a, b, round), a),
                };
                output(settle(r, a, b, b), m)
            }
            /// a · b + c, rounded once.
            #[inline(always)]
            pub fn fma<V: $trait>(a: V, b: V, c: V, m: FloatMode) -> V {
                let (a, b, c) = (input(a, m), input(b, m), input(c, m));
                let r = match m.round {
                    Round::Nearest => a.ffma(b, c),
                    round => keep(fma_soft(a, b, c, round), a),
                };
                output(settle(r, a, b, c), m)
            }
            /// a · b + c, rounded after each step.
            #[inline(always)]
            pub fn mad<V: $trait>(a: V, b: V, c: V, m: FloatMode) -> V {
                add(mul(a, b, m), c, m)
            }
            /// a · b, but +0 when either is a zero (the legacy multiplies).
            #[inline(always)]
            pub fn mul_legacy<V: $trait>(a: V, b: V, m: FloatMode) -> V {
                let zero = V::splat(0);
                let (x, y) = (input(a, m), input(b, m));
                V::select(x.feq(zero) | y.feq(zero), zero, mul(a, b, m))
            }

            /// V_MIN (manual 12.7).
            #[inline(always)]
            pub fn min<V: $trait>(a: V, b: V, m: FloatMode, ieee: bool) -> V {
                let (a, b) = (input(a, m), input(b, m));
                // Equal numbers differ at most in the zero's sign: -0 is the lesser.
                let r = V::select(a.flt(b), a, V::select(a.feq(b), a | b, b));
                output(min_max_nan(r, a, b, ieee), m)
            }
            /// V_MAX (manual 12.7).
            #[inline(always)]
            pub fn max<V: $trait>(a: V, b: V, m: FloatMode, ieee: bool) -> V {
                let (a, b) = (input(a, m), input(b, m));
                let r = V::select(b.flt(a), a, V::select(a.feq(b), a & b, b));
                output(min_max_nan(r, a, b, ieee), m)
            }
            /// A number beats a NaN; with IEEE a signalling NaN beats all.
            #[inline(always)]
            fn min_max_nan<V: $trait>(r: V, a: V, b: V, ieee: bool) -> V {
                let nan = a.funord(b);
                if !nan.maybe_any() {
                    return r;
                }
                let out = min_max_settle(r, a, b, ieee);
                V::select(nan, out, r)
            }
            #[cold]
            #[inline(never)]
            fn min_max_settle<V: $trait>(r: V, a: V, b: V, ieee: bool) -> V {
                let r = V::select(is_nan(b), a, r);
                let r = V::select(is_nan(a), b, r);
                if !ieee {
                    return r;
                }
                let r = V::select(is_snan(b), quiet(b), r);
                V::select(is_snan(a), quiet(a), r)
            }
            /// Least of three.
            #[inline(always)]
            pub fn min3<V: $trait>(a: V, b: V, c: V, m: FloatMode, ieee: bool) -> V {
                min(min(a, b, m, ieee), c, m, ieee)
            }
            /// Greatest of three.
            #[inline(always)]
            pub fn max3<V: $trait>(a: V, b: V, c: V, m: FloatMode, ieee: bool) -> V {
                max(max(a, b, m, ieee), c, m, ieee)
            }
            /// Median (manual 12.11, V_MED3): the least of the three if one is a NaN.
            #[inline(always)]
            pub fn med3<V: $trait>(a: V, b: V, c: V, m: FloatMode, ieee: bool) -> V {
                let (a, b, c) = (input(a, m), input(b, m), input(c, m));
                // A flushed maximum would not be found among the operands.
                let k = FloatMode { flush_in: false, flush_out: false, ..m };
                let top = max3(a, b, c, k, ieee);
                let r = V::select(
                    top.feq(a),
                    max(b, c, k, ieee),
                    V::select(top.feq(b), max(a, c, k, ieee), max(a, b, k, ieee)),
                );
                let nan = a.funord(b) | is_nan(c);
                if !nan.maybe_any() {
                    return output(r, m);
                }
                output(V::select(nan, min3(a, b, c, k, ieee), r), m)
            }

            /// Comparison by predicate.
            #[inline(always)]
            pub fn compare<V: $trait>(a: V, b: V, p: Predicate, m: FloatMode) -> V::Mask {
                let (a, b) = (input(a, m), input(b, m));
                p.of(a.flt(b), a.feq(b), a.funord(b))
            }

            /// CLAMP: to 0..1, NaN to 0 with DX10_CLAMP (manual 3.5).
            #[inline(never)]
            pub fn clamp<V: $trait>(a: V, dx10: bool) -> V {
                let (zero, one) = (V::splat(0), V::splat((((1u64 << (F.exponent - 1)) - 1) << F.fraction) as $bits));
                let r = V::select(zero.flt(a), a, zero);
                let r = V::select(one.flt(r), one, r);
                if dx10 { r } else { V::select(is_nan(a), a, r) }
            }
            /// OMOD (manual 6.2.2): times 2, 4 or ½; flushes denormals, and -0 becomes +0. Overflow goes by the rounding.
            #[inline(never)]
            pub fn omod<V: $trait>(a: V, omod: u8, m: FloatMode) -> V {
                let one = ((1u64 << (F.exponent - 1)) - 1) << F.fraction;
                let factor = match omod {
                    1 => one + (1 << F.fraction),
                    2 => one + (2 << F.fraction),
                    _ => one - (1 << F.fraction),
                };
                let r = mul(a, V::splat(factor as $bits), m.flushing());
                V::select(r.feq(V::splat(0)), V::splat(0), r)
            }
            /// Quiets NaNs and applies the mode to the result of a function of one operand.
            #[inline(always)]
            pub fn unary<V: $trait>(a: V, r: V, m: FloatMode) -> V {
                output(settle(r, a, a, a), m)
            }

            /// V_LDEXP: a · 2ⁿ.
            pub fn ldexp(a: $bits, n: u32, m: FloatMode) -> $bits {
                let a = if m.flush_in { F.flush(a as u64) } else { a as u64 };
                let r = soft::ldexp(F, a, n as i32, m.round);
                (if m.flush_out { F.flush(r) } else { r }) as $bits
            }
            /// V_FREXP_EXP: the exponent that brings the number into ½..1; 0 for zero, infinity and NaN.
            pub fn frexp_exp(a: $bits, m: FloatMode) -> u32 {
                let a = if m.flush_in { F.flush(a as u64) } else { a as u64 };
                let magnitude = a & !F.sign();
                if magnitude == 0 || magnitude >= F.infinity() {
                    return 0;
                }
                let n = soft::unpack(F, a);
                (n.exponent + 128 - n.significand.leading_zeros() as i32) as u32
            }
            /// V_FREXP_MANT: the number brought into ½..1.
            pub fn frexp_mant(a: $bits, m: FloatMode) -> $bits {
                let a = if m.flush_in { F.flush(a as u64) } else { a as u64 };
                let magnitude = a & !F.sign();
                if F.is_nan(a) {
                    return (a | F.quiet()) as $bits;
                }
                if magnitude == 0 || magnitude == F.infinity() {
                    return a as $bits;
                }
                let n = soft::unpack(F, a);
                let e = n.exponent + 128 - n.significand.leading_zeros() as i32;
                soft::ldexp(F, a, -e, Round::Nearest) as $bits
            }
            /// V_CMP_CLASS: whether the number is of one of the classes in `set` (manual 12.9, V_CMP_CLASS_F32).
            pub fn class(a: $bits, set: u32) -> bool {
                let a = a as u64;
                let magnitude = a & !F.sign();
                let negative = a & F.sign() != 0;
                let bit = if F.is_snan(a) {
                    0
                } else if F.is_nan(a) {
                    1
                } else {
                    let rank = if magnitude == F.infinity() {
                        0
                    } else if magnitude == 0 {
                        3
                    } else if F.is_denormal(a) {
                        2
                    } else {
                        1
                    };
                    // Negative: -inf 2, -normal 3, -denormal 4, -0 5; positive: +0 6 up to +inf 9.
                    if negative { 2 + rank } else { 9 - rank }
                };
                set >> bit & 1 != 0
            }
        }
    };
}

float!(
    /// Single precision.
    single, Word, u32, soft::F32
);
float!(
    /// Double precision.
    double, Long, u64, soft::F64
);

/// f32 helpers without a double-precision twin.
impl Mode {
    /// The mode of V_MAD_F32, V_MAC_F32, V_MADMK_F32 and V_MADAK_F32, which never handle denormals.
    #[inline(always)]
    pub fn mad32(&self) -> FloatMode {
        self.f32.flushing()
    }
}
