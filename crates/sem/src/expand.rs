//! Operations in terms of simpler ones, for back ends without an instruction: round modes other than to nearest by the
//! exact error of the rounded result, f64 products by integers of 128 bits. The results are those of
//! [`crate::operations`], bit by bit; what a NaN looks like is left to the callers.

use crate::lanes::{Long, Mask, Word, w};
use crate::soft::Round;

macro_rules! float {
    ($(#[$doc:meta])* $name:ident, $trait:ident, $bits:ty) => {
        $(#[$doc])*
        pub mod $name {
            use super::*;

            const SIGN: $bits = 1 << (<$bits>::BITS - 1);

            /// The lanes with the sign bit.
            #[inline(always)]
            fn negative<V: $trait>(a: V) -> V::Mask {
                a.lt_i(V::splat(0))
            }

            /// [`directed`](super::directed) by a number's own sign.
            #[inline(always)]
            pub fn directed<V: $trait>(r: V, below: V::Mask, above: V::Mask, round: Round) -> V {
                let (up, down) = super::directed(negative(r), below, above, round);
                let r = V::select(up, r + V::splat(1), r);
                V::select(down, r - V::splat(1), r)
            }

            /// Sum and its exact error (Knuth).
            #[inline(always)]
            pub fn two_sum<V: $trait>(a: V, b: V) -> (V, V) {
                let s = a.fadd(b);
                let t = s.fsub(a);
                (s, a.fsub(s.fsub(t)).fadd(b.fsub(t)))
            }

            /// The sign of an exact zero sum of two numbers in a round mode other than to nearest; other sums stay.
            #[inline(always)]
            pub fn zero_sum<V: $trait>(s: V, a: V, b: V, round: Round) -> V {
                match round {
                    Round::Down => V::select(s.feq(V::splat(0)), (a | b) & V::splat(SIGN), s),
                    _ => s,
                }
            }

            /// `ffma_odd`: the sum of an exact product and a number, rounded to odd.
            #[inline(always)]
            pub fn fma_odd<V: $trait>(a: V, b: V, c: V) -> V {
                let (s, error) = two_sum(a.fmul(b), c);
                // Of infinities and NaNs the error is a NaN: there is nothing to round.
                let inexact = V::splat(0).flt(error & V::splat(!SIGN));
                // One less where the exact sum is nearer to zero; then the lowest bit: what was odd is as it was.
                let nearer = (error ^ s).sar(w(<$bits>::BITS - 1));
                V::select(inexact, (s + nearer) | V::splat(1), s)
            }
        }
    };
}
float!(
    /// f32.
    single, Word, u32
);
float!(
    /// f64.
    double, Long, u64
);

/// The lanes whose result, rounded to nearest, moves to its neighbour of greater and of lesser magnitude (one more and one
/// less, as a number of bits) in a round mode: `below` and `above` have those whose exact result lies below or above the
/// rounded one.
#[inline(always)]
fn directed<M: Mask>(negative: M, below: M, above: M, round: Round) -> (M, M) {
    match round {
        Round::Nearest => (M::zeros(), M::zeros()),
        Round::Up => (above & !negative, above & negative),
        Round::Down => (below & negative, below & !negative),
        Round::Zero => (M::zeros(), (below & !negative) | (above & negative)),
    }
}

/// `f2h_round`.
#[inline(always)]
pub fn f2h_round<W: Word>(a: W, round: Round) -> W {
    let r = a.f2h();
    let back = r.h2f();
    let (up, down) = directed(a.lt_i(w(0)), a.flt(back), back.flt(a), round);
    let r = W::select(up, r + w(1), r);
    W::select(down, r - w(1), r)
}
/// `d2f_round`.
#[inline(always)]
pub fn d2f_round<L: Long>(a: L, round: Round) -> L::Word {
    let r = a.d2f();
    let back = r.f2d();
    single::directed(r, a.flt(back), back.flt(a), round)
}

/// f32 `fadd_round`, in f64.
#[inline(always)]
pub fn fadd32_round<W: Word>(a: W, b: W, round: Round) -> W {
    let one = W::Long::splat(1f64.to_bits());
    let r = a.f2d().ffma_odd(one, b.f2d()).d2f_round(round);
    single::zero_sum(r, a, b, round)
}
/// f32 `fmul_round`, in f64, where the product is exact.
#[inline(always)]
pub fn fmul32_round<W: Word>(a: W, b: W, round: Round) -> W {
    a.f2d().fmul(b.f2d()).d2f_round(round)
}
/// f32 `ffma_round`, in f64.
#[inline(always)]
pub fn ffma32_round<W: Word>(a: W, b: W, c: W, round: Round) -> W {
    let r = a.f2d().ffma_odd(b.f2d(), c.f2d());
    // Only an exact sum is zero in f64; of what is tiny in f32 the sign is right already.
    let r = match round {
        Round::Down => {
            let sign = ((a ^ b) | c) & w(1 << 31);
            W::Long::select(r.feq(W::Long::splat(0)), W::Long::join(w(0), sign), r)
        }
        _ => r,
    };
    r.d2f_round(round)
}

/// f64 `fadd_round`.
#[inline(always)]
pub fn fadd64_round<L: Long>(a: L, b: L, round: Round) -> L {
    let magnitude = L::splat(!0 >> 1);
    let swap = (a & magnitude).lt_u(b & magnitude);
    let (large, small) = (L::select(swap, b, a), L::select(swap, a, b));
    let s = a.fadd(b);
    // Dekker's error with the larger one first, which no intermediate overflow disturbs. When the sum itself
    // overflowed, the error is infinite and has the right sign; when an operand was infinite, it is a NaN.
    let error = small.fsub(s.fsub(large));
    let zero = L::splat(0);
    let r = double::directed(s, error.flt(zero), zero.flt(error), round);
    L::select(s.feq(zero), double::zero_sum(s, a, b, round), r)
}
/// f64 `fmul_round`.
#[inline(always)]
pub fn fmul64_round<L: Long>(a: L, b: L, round: Round) -> L {
    // A zero of the product's sign changes nothing.
    fma_scaled(a, b, (a ^ b) & L::splat(1 << 63), w(0), round)
}
/// f64 `ffma_round`.
#[inline(always)]
pub fn ffma64_round<L: Long>(a: L, b: L, c: L, round: Round) -> L {
    fma_scaled(a, b, c, w(0), round)
}

#[inline(always)]
fn leading_zeros<L: Long>(x: L) -> L::Word {
    let high = x.hi();
    L::Word::select(high.eq(w(0)), w::<L::Word>(32) + x.lo().leading_zeros(), high.leading_zeros())
}

/// 128 bits: upper and lower half.
#[derive(Clone, Copy)]
struct Pair<L>(L, L);

impl<L: Long> Pair<L> {
    /// The product of two numbers below 2⁵³.
    #[inline(always)]
    fn product(a: L, b: L) -> Pair<L> {
        let mask = L::splat(0xffff_ffff);
        let low = a.lo().mul_wide_u(b.lo());
        let middle = a.lo().mul_wide_u(b.hi()) + a.hi().mul_wide_u(b.lo()) + low.shr(w(32));
        let high = a.hi().mul_wide_u(b.hi()) + middle.shr(w(32));
        Pair(high, middle.shl(w(32)) | (low & mask))
    }
    #[inline(always)]
    fn leading_zeros(self) -> L::Word {
        let low = w::<L::Word>(64) + leading_zeros(self.1);
        L::Word::select(self.0.eq(L::splat(0)), low, leading_zeros(self.0))
    }
    /// Left by less than 128.
    #[inline(always)]
    fn shl(self, n: L::Word) -> Pair<L> {
        let far = w::<L::Word>(63).lt_u(n);
        let carried = self.1.shr(w(1)).shr(w::<L::Word>(63) - (n & w(63)));
        let near = Pair(self.0.shl(n) | carried, self.1.shl(n));
        Pair(L::select(far, self.1.shl(n), near.0), L::select(far, L::splat(0), near.1))
    }
    /// Right by less than 128.
    #[inline(always)]
    fn shr(self, n: L::Word) -> Pair<L> {
        let far = w::<L::Word>(63).lt_u(n);
        let carried = self.0.shl(w(1)).shl(w::<L::Word>(63) - (n & w(63)));
        let near = Pair(self.0.shr(n), self.1.shr(n) | carried);
        Pair(L::select(far, L::splat(0), near.0), L::select(far, self.0.shr(n), near.1))
    }
    #[inline(always)]
    fn add(self, b: Pair<L>) -> Pair<L> {
        let low = self.1 + b.1;
        let carry = L::select(low.lt_u(b.1), L::splat(1), L::splat(0));
        Pair(self.0 + b.0 + carry, low)
    }
    #[inline(always)]
    fn sub(self, b: Pair<L>) -> Pair<L> {
        let borrow = L::select(self.1.lt_u(b.1), L::splat(1), L::splat(0));
        Pair(self.0 - b.0 - borrow, self.1 - b.1)
    }
    #[inline(always)]
    fn eq(self, b: Pair<L>) -> L::Mask {
        self.0.eq(b.0) & self.1.eq(b.1)
    }
    #[inline(always)]
    fn lt(self, b: Pair<L>) -> L::Mask {
        self.0.lt_u(b.0) | (self.0.eq(b.0) & self.1.lt_u(b.1))
    }
    #[inline(always)]
    fn select(mask: L::Mask, t: Pair<L>, f: Pair<L>) -> Pair<L> {
        Pair(L::select(mask, t.0, f.0), L::select(mask, t.1, f.1))
    }
}

/// A finite f64 in any number of bits: the significand's lowest bit has the weight 2 to the exponent.
#[derive(Clone, Copy)]
struct Number<L: Long> {
    negative: L::Mask,
    exponent: L::Word,
    significand: Pair<L>,
}

/// The exponent of the lowest bit of denormals.
const LOW: u32 = (-1074i32) as u32;

impl<L: Long> Number<L> {
    /// With the significand's top bit moved to bit 124, which leaves room for a carry; zero is below all others.
    #[inline(always)]
    fn normal(self) -> Number<L> {
        let zero = self.significand.eq(Pair(L::splat(0), L::splat(0)));
        let shift = L::Word::select(zero, w(0), self.significand.leading_zeros() - w(3));
        Number {
            exponent: L::Word::select(zero, w(-100_000i32 as u32), self.exponent - shift),
            significand: self.significand.shl(shift),
            ..self
        }
    }
    #[inline(always)]
    fn select(mask: L::Mask, t: Number<L>, f: Number<L>) -> Number<L> {
        Number {
            negative: (mask & t.negative) | (!mask & f.negative),
            exponent: L::Word::select(mask, t.exponent, f.exponent),
            significand: Pair::select(mask, t.significand, f.significand),
        }
    }
}

/// Exponent of the lowest bit, and significand, of a finite f64.
#[inline(always)]
fn unpack<L: Long>(a: L) -> (L::Word, L) {
    let e = a.hi().shr(w(20)) & w(0x7ff);
    let denormal = e.eq(w(0));
    let fraction = a & L::splat((1 << 52) - 1);
    let significand = L::select(denormal, fraction, fraction | L::splat(1 << 52));
    (L::Word::select(denormal, w(LOW), e - w(1) + w(LOW)), significand)
}

/// (a · b + c) · 2ⁿ of f64, rounded once.
#[inline(always)]
pub fn fma_scaled<L: Long>(a: L, b: L, c: L, n: L::Word, round: Round) -> L {
    let zero = L::splat(0);
    let ((ea, fa), (eb, fb), (ec, fc)) = (unpack(a), unpack(b), unpack(c));
    let x =
        Number { negative: (a ^ b).lt_i(zero), exponent: ea + eb + n, significand: Pair::product(fa, fb) };
    let y = Number { negative: c.lt_i(zero), exponent: ec + n, significand: Pair(zero, fc) };
    let (x, y) = (x.normal(), y.normal());
    let swap = x.exponent.lt_i(y.exponent) | (x.exponent.eq(y.exponent) & x.significand.lt(y.significand));
    let (x, y) = (Number::select(swap, y, x), Number::select(swap, x, y));
    // The smaller one is moved; a lost bit sticks to the lowest.
    let shift = (x.exponent - y.exponent).min_u(w(126));
    let moved = y.significand.shr(shift);
    let lost = L::select(moved.shl(shift).eq(y.significand), zero, L::splat(1));
    let moved = Pair(moved.0, moved.1 | lost);
    let same = !(x.negative ^ y.negative);
    let sum = Pair::select(same, x.significand.add(moved), x.significand.sub(moved));
    let r = round_pair(x.negative, x.exponent, sum, round);
    // An exact zero is positive, except toward minus infinity or when both are negative zeros.
    let down = if round == Round::Down { L::Mask::ones() } else { L::Mask::zeros() };
    let minus = (same & x.negative) | (!same & down);
    let nothing = L::select(minus, L::splat(1 << 63), zero);
    let r = L::select(sum.eq(Pair(zero, zero)), nothing, r);
    // Infinities and NaNs are the same in every round mode.
    let exponents = L::splat(0x7ff << 52);
    let special =
        (a & exponents).eq(exponents) | (b & exponents).eq(exponents) | (c & exponents).eq(exponents);
    L::select(special, a.ffma(b, c), r)
}

/// Rounds a significand of 128 bits, not zero, whose lowest bit may stand for anything nonzero below.
#[inline(always)]
fn round_pair<L: Long>(negative: L::Mask, exponent: L::Word, significand: Pair<L>, round: Round) -> L {
    let (zero, one) = (L::splat(0), L::splat(1));
    let up = significand.leading_zeros();
    let (significand, exponent) = (significand.shl(up), exponent - up);
    // What the result's lowest bit weighs: 53 bits are kept, or those above the denormals' lowest.
    let unit = (exponent + w(127 - 52)).max_i(w(LOW));
    // Two bits less than the upper half has, and one that stands for all lost ones.
    let lost = !((significand.0 & L::splat(3)).eq(zero) & significand.1.eq(zero));
    let top = significand.0.shr(w(2)) | L::select(lost, one, zero);
    let shift = (unit - exponent - w(66)).min_u(w(63));
    let kept = top.shr(shift);
    let guard = !(top.shr(shift - w(1)) & one).eq(zero);
    let rest = !(top & (one.shl(shift - w(1)) - one)).eq(zero);
    let inexact = guard | rest;
    let add = match round {
        Round::Nearest => guard & (rest | !(kept & one).eq(zero)),
        Round::Up => inexact & !negative,
        Round::Down => inexact & negative,
        Round::Zero => L::Mask::zeros(),
    };
    let kept = kept + L::select(add, one, zero);
    // The leading bit of a normal number adds one to the exponent field.
    let field = (unit - w(LOW)).min_i(w(0x7ff));
    let magnitude = L::join(w(0), field.shl(w(20))) + kept;
    let infinity = L::splat(0x7ff << 52);
    let to_infinity = match round {
        Round::Nearest => L::Mask::ones(),
        Round::Up => !negative,
        Round::Down => negative,
        Round::Zero => L::Mask::zeros(),
    };
    let limit = L::select(to_infinity, infinity, infinity - one);
    let magnitude = L::select(magnitude.lt_u(infinity), magnitude, limit);
    L::select(negative, magnitude | L::splat(1 << 63), magnitude)
}
