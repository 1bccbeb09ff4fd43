//! Single and double precision arithmetic: the same text for both, over [`Word`] and [`Long`].
//!
//! Results that IEEE 754 fixes come from the lanes' own operations, whatever the round mode. Which NaN comes out is settled
//! here, because hosts differ: the first NaN operand, quieted, or the default NaN.

use crate::lanes::{Long, Mask, Word, w};
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
        self.pick(1, lt) | self.pick(2, eq) | self.pick(4, gt) | self.pick(8, unordered)
    }
    #[inline(always)]
    fn pick<M: Mask>(self, bit: u8, m: M) -> M {
        if self.0 & bit != 0 { m } else { M::zeros() }
    }
}

macro_rules! float {
    ($(#[$doc:meta])* $name:ident, $trait:ident, $bits:ty, $format:expr, $int:ty, $raise:expr, $lower:expr,
     |$f:ident| $field:expr, |$r:ident, $n:ident| $raised:expr) => {
        $(#[$doc])*
        pub mod $name {
            use super::*;

            const F: soft::Format = $format;
            const SIGN: $bits = F.sign() as $bits;
            const INF: $bits = F.infinity() as $bits;
            /// Integers beside these lanes.
            type Int<V> = $int;

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
                a.flush(a, V::splat(INF))
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
            pub(crate) fn settle<V: $trait>(r: V, a: V, b: V, c: V) -> V {
                V::rarely(is_nan(r), r, move || nan_of(a, b, c))
            }
            /// The NaN that comes of these operands.
            #[inline(always)]
            fn nan_of<V: $trait>(a: V, b: V, c: V) -> V {
                let ours = V::splat(F.default_nan() as $bits);
                let ours = V::select(is_nan(c), quiet(c), ours);
                let ours = V::select(is_nan(b), quiet(b), ours);
                V::select(is_nan(a), quiet(a), ours)
            }

            /// a + b.
            #[inline(always)]
            pub fn add<V: $trait>(a: V, b: V, m: FloatMode) -> V {
                let (a, b) = (input(a, m), input(b, m));
                let r = match m.round {
                    Round::Nearest => a.fadd(b),
                    round => V::apart(move || a.fadd_round(b, round)),
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
                    round => V::apart(move || a.fmul_round(b, round)),
                };
                output(settle(r, a, b, b), m)
            }
            /// a · b + c, rounded once.
            #[inline(always)]
            pub fn fma<V: $trait>(a: V, b: V, c: V, m: FloatMode) -> V {
                let (a, b, c) = (input(a, m), input(b, m), input(c, m));
                let r = match m.round {
                    Round::Nearest => a.ffma(b, c),
                    round => V::apart(move || a.ffma_round(b, c, round)),
                };
                output(settle(r, a, b, c), m)
            }
            /// a · b + c, rounded after each step, without denormals.
            #[inline(always)]
            pub fn mad<V: $trait>(a: V, b: V, c: V, m: FloatMode) -> V {
                let (a, b) = (flush(a), flush(b));
                accumulate(a, b, product(a, b, m.round), c, m)
            }
            /// The same with the product of [`mul_legacy`].
            #[inline(always)]
            pub fn mad_legacy<V: $trait>(a: V, b: V, c: V, m: FloatMode) -> V {
                let (a, b, zero) = (flush(a), flush(b), V::splat(0));
                let p = V::select(a.feq(zero) | b.feq(zero), zero, product(a, b, m.round));
                accumulate(a, b, p, c, m)
            }
            #[inline(always)]
            fn product<V: $trait>(a: V, b: V, round: Round) -> V {
                match round {
                    Round::Nearest => a.fmul(b),
                    round => V::apart(move || a.fmul_round(b, round)),
                }
            }
            /// The sum of a product, of which NaN comes out what it would of both steps, and a number. Without denormals.
            #[inline(always)]
            fn accumulate<V: $trait>(a: V, b: V, p: V, c: V, m: FloatMode) -> V {
                let (q, c) = (flush(p), flush(c));
                let r = match m.round {
                    Round::Nearest => q.fadd(c),
                    round => V::apart(move || q.fadd_round(c, round)),
                };
                // The product's NaN is the sum's, too: one look is enough.
                flush(V::rarely(is_nan(r), r, move || {
                    let p = V::select(is_nan(p), nan_of(a, b, b), p);
                    nan_of(p, c, c)
                }))
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
                output(min_max_nan(a.fmin(b), a, b, ieee), m)
            }
            /// V_MAX (manual 12.7).
            #[inline(always)]
            pub fn max<V: $trait>(a: V, b: V, m: FloatMode, ieee: bool) -> V {
                let (a, b) = (input(a, m), input(b, m));
                output(min_max_nan(a.fmax(b), a, b, ieee), m)
            }
            /// A number beats a NaN; with IEEE a signalling NaN beats all.
            #[inline(always)]
            fn min_max_nan<V: $trait>(r: V, a: V, b: V, ieee: bool) -> V {
                V::rarely(a.funord(b), r, move || {
                    let r = V::select(is_nan(b), a, r);
                    let r = V::select(is_nan(a), b, r);
                    if !ieee {
                        return r;
                    }
                    let r = V::select(is_snan(b), quiet(b), r);
                    V::select(is_snan(a), quiet(a), r)
                })
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
                let (less, more) = (a.fmin(b), a.fmax(b));
                let r = less.fmax(more.fmin(c));
                // Zeros of either sign are the same where they are greatest.
                let zero = more.fmax(c).feq(V::splat(0));
                let nan = a.funord(b) | is_nan(c);
                let r = V::rarely(zero | nan, r, move || {
                    let top = max3(a, b, c, k, ieee);
                    let r = V::select(
                        top.feq(a),
                        max(b, c, k, ieee),
                        V::select(top.feq(b), max(a, c, k, ieee), max(a, b, k, ieee)),
                    );
                    V::select(nan, min3(a, b, c, k, ieee), r)
                });
                output(r, m)
            }

            /// Comparison by predicate.
            #[inline(always)]
            pub fn compare<V: $trait>(a: V, b: V, p: Predicate, m: FloatMode) -> V::Mask {
                let (a, b) = (input(a, m), input(b, m));
                // The second eight are the opposites of the first, the other way round.
                let (p, flip) = if p.0 < 8 { (p.0, Mask::zeros()) } else { (15 - p.0, Mask::ones()) };
                let r = match p {
                    0 => Mask::zeros(),
                    1 => a.flt(b),
                    2 => a.feq(b),
                    3 => a.flt(b) | a.feq(b),
                    4 => b.flt(a),
                    5 => a.flt(b) | b.flt(a),
                    6 => b.flt(a) | a.feq(b),
                    _ => !a.funord(b),
                };
                r ^ flip
            }

            /// CLAMP: to 0..1, NaN to 0 with DX10_CLAMP (manual 3.5).
            #[inline(always)]
            pub fn clamp<V: $trait>(a: V, dx10: bool) -> V {
                let (zero, one) = (V::splat(0), V::splat((((1u64 << (F.exponent - 1)) - 1) << F.fraction) as $bits));
                let r = V::select(zero.flt(a), a, zero);
                let r = V::select(one.flt(r), one, r);
                if dx10 { r } else { V::select(is_nan(a), a, r) }
            }
            /// OMOD (manual 6.2.2): times 2, 4 or ½; flushes denormals, and -0 becomes +0. Overflow goes by the rounding.
            #[inline(always)]
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

            /// Two to a power in the normal range.
            #[inline(always)]
            fn power<V: $trait>(n: Int<V>) -> V {
                $raise(n + w(F.bias() as u32)).shl(w(F.fraction))
            }
            /// The number with its exponent taken out, 1 ≤ |r| < 2, and the exponent, of a finite number but zero.
            #[inline(always)]
            fn split<V: $trait>(a: V) -> (V, Int<V>) {
                // A denormal is made normal first, which is exact.
                let denormal = (a & V::splat(INF)).eq(V::splat(0));
                let up = V::splat(((F.bias() as $bits) + F.fraction as $bits) << F.fraction);
                let a = V::select(denormal, a.fmul(up), a);
                let field = $lower((a & V::splat(INF)).shr(w(F.fraction)));
                let by = Int::<V>::select(denormal, w(F.bias() as u32 + F.fraction), w(F.bias() as u32));
                ((a & V::splat(!INF)) | V::splat(F.one() as $bits), field - by)
            }
            /// The exponent's field.
            #[inline(always)]
            pub(crate) fn field<V: $trait>($f: V) -> Int<V> {
                $field
            }
            /// A number with a larger field, if it has one then.
            #[inline(always)]
            fn raised<V: $trait>($r: V, $n: Int<V>) -> V {
                $raised
            }
            /// Whether an exponent's field is that of numbers that are neither zero nor denormal nor infinite.
            #[inline(always)]
            fn is_normal<V: $trait>(field: Int<V>) -> V::Mask {
                (field - w(1)).lt_u(w((INF >> F.fraction) as u32 - 1))
            }
            /// Zero, infinity or NaN.
            #[inline(always)]
            fn has_no_exponent<V: $trait>(a: V) -> V::Mask {
                (a & V::splat(!SIGN)).eq(V::splat(0)) | (a & V::splat(INF)).eq(V::splat(INF))
            }
            /// a · 2ⁿ rounded once. NaNs come back quiet.
            #[inline(always)]
            pub fn scale<V: $trait>(a: V, n: Int<V>, round: Round) -> V {
                // Beyond this, whatever the number, the result over- or underflows.
                const ENOUGH: i32 = 3 * F.bias();
                // Half of the way is exact, the other half one multiplication: it rounds.
                const STEP: i32 = F.bias() * 3 / 4;
                let (significand, exponent) = split(a);
                let n = n.max_i(w(-ENOUGH as u32)).min_i(w(ENOUGH as u32));
                // As small as that everything is rounded away, as large as that it overflows.
                let limit = (F.bias() + F.fraction as i32 + 3) as u32;
                let e = (exponent + n).max_i(w(limit.wrapping_neg())).min_i(w(limit));
                let small = e.lt_i(w(0));
                let first = Int::<V>::select(small, e + w(STEP as u32), e - w(STEP as u32));
                let last = V::select(small, power(w(-STEP as u32)), power(w(STEP as u32)));
                // The significand's field is that of one: adding powers' fields multiplies.
                let near = significand + (power::<V>(first) - V::splat(F.one() as $bits));
                let r = match round {
                    Round::Nearest => near.fmul(last),
                    round => near.fmul_round(last, round),
                };
                V::select(has_no_exponent(a), V::select(is_nan(a), quiet(a), a), r)
            }
            /// V_LDEXP: a · 2ⁿ.
            #[inline(always)]
            pub fn ldexp<V: $trait>(a: V, n: Int<V>, m: FloatMode) -> V {
                let a = input(a, m);
                let e = field(a);
                // From a normal number to another it is one sum.
                let quick = is_normal::<V>(e) & is_normal::<V>(e + n);
                V::rarely(!quick, raised(a, n), move || output(scale(a, n, m.round), m))
            }
            /// V_FREXP_EXP: the exponent that brings the number into ½..1; 0 for zero, infinity and NaN.
            #[inline(always)]
            pub fn frexp_exp<V: $trait>(a: V, m: FloatMode) -> Int<V> {
                let a = input(a, m);
                let e = field(a);
                Int::<V>::rarely(!is_normal::<V>(e), e - w(F.bias() as u32 - 1), move || {
                    Int::<V>::select(has_no_exponent(a), w(0), split(a).1 + w(1))
                })
            }
            /// V_FREXP_MANT: the number brought into ½..1.
            #[inline(always)]
            pub fn frexp_mant<V: $trait>(a: V, m: FloatMode) -> V {
                let a = input(a, m);
                let half = V::splat(F.one() as $bits - (1 << F.fraction));
                V::rarely(!is_normal::<V>(field(a)), (a & V::splat(!INF)) | half, move || {
                    let r = split(a).0 - V::splat(1 << F.fraction);
                    V::select(has_no_exponent(a), V::select(is_nan(a), quiet(a), a), r)
                })
            }
            /// V_CMP_CLASS: whether the number is of one of the classes in `set` (manual 12.9, V_CMP_CLASS_F32).
            #[inline(always)]
            pub fn class<V: $trait>(a: V, set: Int<V>) -> V::Mask {
                let magnitude = a & V::splat(!SIGN);
                let nan = V::splat(INF).lt_u(magnitude);
                let denormal = magnitude.lt_u(V::splat(1 << F.fraction));
                // Negative: -inf 2, -normal 3, -denormal 4, -0 5; positive: +0 6 up to +inf 9.
                let rank = Int::<V>::select(denormal, w(2), w(1));
                let rank = Int::<V>::select(magnitude.eq(V::splat(0)), w(3), rank);
                let rank = Int::<V>::select(magnitude.eq(V::splat(INF)), w(0), rank);
                let negative = a.lt_i(V::splat(0));
                let bit = Int::<V>::select(negative, w::<Int<V>>(2) + rank, w::<Int<V>>(9) - rank);
                let quiet = (a & V::splat(F.quiet() as $bits)).eq(V::splat(0));
                let bit = Int::<V>::select(nan, Int::<V>::select(quiet, w(0), w(1)), bit);
                !(set.shr(bit) & w(1)).eq(w(0))
            }
        }
    };
}

float!(
    /// Single precision.
    single, Word, u32, soft::F32, V, std::convert::identity, std::convert::identity,
    |a| a.shr(w(23)) & w(0xff), |a, n| a + n.shl(w(23))
);
float!(
    /// Double precision.
    double, Long, u64, soft::F64, <V as Long>::Word, Word::zext, Long::lo,
    |a| a.hi().shr(w(20)) & w(0x7ff), |a, n| V::join(a.lo(), a.hi() + n.shl(w(20)))
);

/// f32 helpers without a double-precision twin.
impl Mode {
    /// The mode of V_MAD_F32, V_MAC_F32, V_MADMK_F32 and V_MADAK_F32, which never handle denormals.
    #[inline(always)]
    pub fn mad32(&self) -> FloatMode {
        self.f32.flushing()
    }
}
