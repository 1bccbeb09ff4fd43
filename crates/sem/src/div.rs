//! The division helpers: V_DIV_SCALE, V_DIV_FMAS, V_DIV_FIXUP, and V_TRIG_PREOP.

use crate::expand;
use crate::fp::{double, single};
use crate::lanes::{Long, Word, d, w};
use crate::mode::FloatMode;
use crate::soft::{F32, F64, Format, Round};

/// Whether a number is one of those from `first` to before `end`.
#[inline(always)]
fn is_between<W: Word>(n: W, first: u32, end: u32) -> W::Mask {
    (n - w(first)).lt_u(w(end - first))
}

macro_rules! helpers {
    ($(#[$doc:meta])* $name:ident, $base:ident, $trait:ident, $bits:ty, $format:expr, $int:ty, $by:expr, $apart:expr, $tiny:expr, $below:expr) => {
        $(#[$doc])*
        mod $name {
            use super::*;

            const F: Format = $format;
            const SIGN: $bits = F.sign() as $bits;
            const INF: $bits = F.infinity() as $bits;
            /// The exponent field of infinities.
            const TOP: u32 = (F.infinity() >> F.fraction) as u32;
            /// What numbers are scaled by: two to this.
            pub const BY: i32 = $by;

            /// Two to a power.
            #[inline(always)]
            pub fn power<V: $trait>(n: i32) -> V {
                V::splat(((F.bias() + n) as $bits) << F.fraction)
            }

            /// V_DIV_SCALE (manual 12.11): the operand `s0`, scaled where the division of `n` by `d` needs it, and whether
            /// V_DIV_FMAS must scale back. Where both 1/d and n/d are denormal the manual scales the denominator up,
            /// which overflows; scaling it down is what makes the quotient right.
            #[inline(always)]
            pub fn scale<V: $trait>(s0: V, d: V, n: V) -> (V, V::Mask) {
                let (ed, en) = ($base::field(d), $base::field(n));
                // Both far from the ends of the range, and not too far from each other: as nearly all are.
                let least = 3 - F.bias();
                let near = (en - ed - w(least as u32)).lt_u(w(($apart - least) as u32));
                let rare = !(is_between::<$int>(ed, $tiny + 1, TOP - 2) & is_between::<$int>(en, $tiny + 1, TOP - 2) & near);
                let r = V::rarely(rare, s0, move || scale_any(s0, d, n).0);
                let flag = <$int>::rarely(rare, w(0), move || {
                    <$int>::select(scale_any(s0, d, n).1, w(1), w(0))
                });
                (r, !flag.eq(w(0)))
            }
            /// The same of any numbers.
            #[inline(always)]
            fn scale_any<V: $trait>(s0: V, d: V, n: V) -> (V, V::Mask) {
                let tiny_quotient = $below(n, d);
                let (ad, an, zero) = ($base::abs(d), $base::abs(n), V::splat(0));
                let (ed, en) = ($base::field(d), $base::field(n));
                let invalid = an.eq(zero) | ad.eq(zero);
                let apart = w::<$int>($apart as u32 - 1).lt_i(en - ed);
                let denormal = ed.eq(w(0));
                // 1/d is denormal when d exceeds two to the bias minus one.
                let large = V::splat(((TOP - 2) as $bits) << F.fraction);
                let tiny_reciprocal = large.lt_u(ad) & ad.lt_u(V::splat(INF));
                let (is_d, is_n) = (s0.eq(d), s0.eq(n));
                let small = en.lt_u(w($tiny + 1));
                let other = !(apart | denormal | tiny_reciprocal);
                let up = (apart & is_d)
                    | (!apart & denormal)
                    | (other & ((tiny_quotient & is_n) | (!tiny_quotient & small)));
                let down = !apart & !denormal & tiny_reciprocal & (!tiny_quotient | is_d);
                let scaled = s0.fmul(V::select(up, power(BY), power(-BY)));
                let scaled = V::select($base::is_nan(s0), $base::quiet(s0), scaled);
                let r = V::select(up | down, scaled, s0);
                let flag = !invalid & (apart | (!denormal & tiny_quotient));
                (V::select(invalid, V::splat(F.default_nan() as $bits), r), flag)
            }

            /// V_DIV_FIXUP (manual 12.11).
            #[inline(always)]
            pub fn fixup<V: $trait>(q: V, d: V, n: V, m: FloatMode) -> V {
                let (q, d, n) = ($base::input(q, m), $base::input(d, m), $base::input(n, m));
                let (eq, ed, en) = ($base::field(q), $base::field(d), $base::field(n));
                let low = (en - ed).lt_i(w((-F.bias() - F.fraction as i32) as u32));
                let normal = is_between::<$int>(ed, 1, TOP) & is_between::<$int>(en, 1, TOP);
                let rare = !normal | eq.eq(w(TOP)) | low;
                let r = $base::output(((d ^ n) & V::splat(SIGN)) | (q & V::splat(!SIGN)), m);
                V::rarely(rare, r, move || fixup_any(q, d, n, m))
            }
            /// The same of any numbers.
            #[inline(always)]
            fn fixup_any<V: $trait>(q: V, d: V, n: V, m: FloatMode) -> V {
                let sign = (d ^ n) & V::splat(SIGN);
                let (ad, an) = (d & V::splat(!SIGN), n & V::splat(!SIGN));
                let (inf, zero) = (V::splat(INF), V::splat(0));
                let plus = sign.eq(zero);
                let r = $base::output(sign | (q & V::splat(!SIGN)), m);
                // "overflow": the quotient left the range on its way (the manual asks S1 here, which cannot be infinite
                // any more).
                let limit = match m.round {
                    Round::Nearest => inf,
                    Round::Up => V::select(plus, inf, V::splat(F.max() as $bits)),
                    Round::Down => V::select(plus, V::splat(F.max() as $bits), inf),
                    Round::Zero => V::splat(F.max() as $bits),
                };
                let r = V::select((q & inf).eq(inf), sign | limit, r);
                // "underflow": the quotient is below half the least denormal.
                let least = V::splat(!m.flush_out as $bits);
                let nothing = match m.round {
                    Round::Up => V::select(plus, least, zero),
                    Round::Down => V::select(plus, zero, least),
                    _ => zero,
                };
                let low = ($base::field(n) - $base::field(d)).lt_i(w((-F.bias() - F.fraction as i32) as u32));
                let r = V::select(low, sign | nothing, r);
                let r = V::select(ad.eq(inf) | an.eq(zero), sign, r);
                let r = V::select(ad.eq(zero) | an.eq(inf), sign | inf, r);
                let invalid = (ad.eq(zero) & an.eq(zero)) | (ad.eq(inf) & an.eq(inf));
                let r = V::select(invalid, V::splat(F.default_nan() as $bits), r);
                let r = V::select($base::is_nan(d), $base::quiet(d), r);
                V::select($base::is_nan(n), $base::quiet(n), r)
            }

            /// The power of two by which V_DIV_FMAS scales: up when the quotient estimate `c` is above one, down when it is
            /// below. (The manual's 2³² and 2⁶⁴ cannot undo what V_DIV_SCALE did.)
            #[inline(always)]
            pub fn above_one<V: $trait>(c: V) -> V::Mask {
                w::<$int>(TOP / 2).lt_u($base::field(c))
            }
        }
    };
}
helpers!(
    /// f32.
    of_single, single, Word, u32, F32, V, 64, 96, 23, below_f32
);
helpers!(
    /// f64.
    of_double, double, Long, u64, F64, V::Word, 128, 768, 53, below_f64
);

/// |n| < least · |d|, where least is the least normal number; not for an infinite d.
#[inline(always)]
fn below_f32<W: Word>(n: W, d: W) -> W::Mask {
    let (x, y) = (single::abs(n), single::abs(d));
    // Exact in f64.
    let limit = y.f2d().fmul(crate::lanes::d(f32::MIN_POSITIVE as f64));
    x.f2d().flt(limit) & y.flt(w(F32.infinity() as u32))
}
/// The same in f64. The quotient itself counts, not what it would be rounded to: n - least · d < 0.
#[inline(always)]
fn below_f64<L: Long>(n: L, d: L) -> L::Mask {
    let (x, y) = (double::abs(n), double::abs(d));
    let inf = L::splat(F64.infinity());
    let below = crate::lanes::d::<L>(-f64::MIN_POSITIVE).ffma(y, x).lt_i(L::splat(0));
    below & !inf.lt_u(x) & y.lt_u(inf)
}
/// V_DIV_SCALE_F32.
#[inline(always)]
pub fn scale_f32<W: Word>(s0: W, d: W, n: W, m: FloatMode) -> (W, W::Mask) {
    let (s0, d, n) = (single::input(s0, m), single::input(d, m), single::input(n, m));
    let (r, flag) = of_single::scale(s0, d, n);
    (single::output(r, m), flag)
}
/// V_DIV_SCALE_F64.
#[inline(always)]
pub fn scale_f64<L: Long>(s0: L, d: L, n: L, m: FloatMode) -> (L, L::Mask) {
    let (s0, d, n) = (double::input(s0, m), double::input(d, m), double::input(n, m));
    let (r, flag) = of_double::scale(s0, d, n);
    (double::output(r, m), flag)
}

/// V_DIV_FMAS_F32: the fused product and sum, scaled where VCC (`v`) is set. One rounding.
#[inline(always)]
pub fn fmas_f32<W: Word>(a: W, b: W, c: W, v: W::Mask, m: FloatMode) -> W {
    W::rarely(v, single::fma(a, b, c, m), move || {
        // The sum is rounded to odd in f64, which scaling does not change.
        let sum = a.f2d().ffma_odd(b.f2d(), c.f2d());
        let by = of_single::BY;
        let factor = W::Long::select(of_single::above_one(c), of_double::power(by), of_double::power(-by));
        let r = sum.fmul(factor);
        let r = match m.round {
            Round::Nearest => r.d2f(),
            round => r.d2f_round(round),
        };
        let r = match m.round {
            // The sign of an exact zero.
            Round::Down => W::select(sum.feq(W::Long::splat(0)), ((a ^ b) | c) & w(1 << 31), r),
            _ => r,
        };
        single::output(single::settle(r, a, b, c), m)
    })
}
/// V_DIV_FMAS_F64.
#[inline(always)]
pub fn fmas_f64<L: Long>(a: L, b: L, c: L, v: L::Mask, m: FloatMode) -> L {
    L::rarely(v, double::fma(a, b, c, m), move || {
        // The exponents are scaled before the one rounding.
        let by = of_double::BY;
        let by = L::Word::select(of_double::above_one(c), w(by as u32), w(-by as u32));
        double::output(double::settle(expand::fma_scaled(a, b, c, by, m.round), a, b, c), m)
    })
}

/// V_DIV_FIXUP_F32.
#[inline(always)]
pub fn fixup_f32<W: Word>(q: W, d: W, n: W, m: FloatMode) -> W {
    of_single::fixup(q, d, n, m)
}
/// V_DIV_FIXUP_F64.
#[inline(always)]
pub fn fixup_f64<L: Long>(q: L, d: L, n: L, m: FloatMode) -> L {
    of_double::fixup(q, d, n, m)
}

/// The first 1,216 bits of 2/π after the binary point, most significant first; then zeros, so that six bits say which.
#[rustfmt::skip]
static TWO_OVER_PI: [u32; 64] = [
    0xa2f9_836e, 0x4e44_1529, 0xfc27_57d1, 0xf534_ddc0, 0xdb62_9599, 0x3c43_9041, 0xfe51_63ab, 0xdebb_c561,
    0xb724_6e3a, 0x424d_d2e0, 0x0649_2eea, 0x09d1_921c, 0xfe1d_eb1c, 0xb129_a73e, 0xe882_35f5, 0x2ebb_4484,
    0xe99c_7026, 0xb45f_7e41, 0x3991_d639, 0x8353_39f4, 0x9c84_5f8b, 0xbdf9_283b, 0x1ff8_97ff, 0xde05_980f,
    0xef2f_118b, 0x5a0a_6d1f, 0x6d36_7ecf, 0x27cb_09b7, 0x4f46_3f66, 0x9e5f_ea2d, 0x7527_bac7, 0xebe5_f17b,
    0x3d07_39f7, 0x8a52_92ea, 0x6bfb_5fb1, 0x1f8d_5d08, 0x5603_3046, 0xfc7b_6bab, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
];

/// V_TRIG_PREOP_F64: a 53-bit segment of 2/π, aligned for the reduction of `a` (manual 12.11).
#[inline(always)]
pub fn trig_preop<L: Long>(a: L, segment: L::Word) -> L {
    let e = double::field(a);
    let far = (e - w(1077)).max_i(w(0));
    let shift = (segment & w(31)) * w(53) + far;
    // Bits [shift, shift + 53) below the point: the top ones of three words of the table.
    let (at, within) = (shift.shr(w(5)), shift & w(31));
    let (first, second, third) = (two_over_pi(at), two_over_pi(at + w(1)), two_over_pi(at + w(2)));
    let (upper, lower) = (shifted(first, second, within), shifted(second, third, within).shr(w(11)));
    let scale = L::Word::select(e.lt_u(w(1968)), w(0), w(128)) - shift;
    // What is below the lowest denormal is cut off, so that all that follows is exact.
    let lost = w::<L::Word>(-1021i32 as u32) - scale;
    let (upper, lower) = (without(upper, lost - w(21)), without(lower, lost));
    // Near the table's end the hardware gives zero (LLVM's constant folding).
    let is_there = shift.lt_u(w(1120)) & w::<L::Word>(-1074i32 as u32).lt_i(scale);
    // As a fraction, less by a power that the one it is scaled by has more, which is no denormal then.
    let [upper_power, lower_power] = [32, 53].map(|n| f64::from_bits((1023 - n - NEARER) << 52));
    let fraction = upper.u2d().ffma(d(upper_power), lower.u2d().fmul(d(lower_power)));
    let factor = L::Word::select(is_there, (scale + w(NEARER as u32 + 1023)).shl(w(20)), w(0));
    let r = fraction.fmul(L::join(w(0), factor));
    L::rarely(a.funord(a), r, move || L::select(double::is_nan(a), double::quiet(a), r))
}
/// Scaled by at least 2⁻¹⁰⁷³, numbers are scaled by this power of two first.
const NEARER: u64 = 60;
/// A dword of the table.
#[inline(always)]
fn two_over_pi<W: Word>(at: W) -> W {
    (at & w(63)).lookup(&TWO_OVER_PI)
}
/// The upper half of two words moved left by less than a word.
#[inline(always)]
fn shifted<W: Word>(upper: W, lower: W, by: W) -> W {
    upper.shl(by) | lower.shr(w(1)).shr(w::<W>(31) - by)
}
/// Without the lowest bits: at least none, at most 31.
#[inline(always)]
fn without<W: Word>(bits: W, lost: W) -> W {
    bits & w::<W>(!0).shl(lost.max_i(w(0)).min_i(w(31)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::S64;

    /// Quotients next to the least normal number, which division would round to it.
    #[test]
    fn tiny_quotients_are_not_rounded() {
        let d = 1.0f64.next_up();
        let n = f64::MIN_POSITIVE;
        let flag = |n: f64, d: f64| {
            let [n, d] = [n, d].map(|x| S64(x.to_bits()));
            scale_f64(n, d, n, FloatMode::IEEE).1.0
        };
        assert!(flag(n, d), "least / (1 + ε) is below the least normal number");
        assert!(!flag(n, 1.0));
        assert!(!flag(n.next_up(), 1.0));
        assert!(flag(n.next_up(), 1.0f64.next_up().next_up()));
        // One unit below it, by half a unit: division rounds up to it.
        let (n, d) = (1.0f64.next_down(), 2f64.powi(1022));
        assert_eq!(n / d, f64::MIN_POSITIVE);
        assert!(flag(n, d));
        assert!(!flag(1.0, f64::INFINITY));
    }
}
