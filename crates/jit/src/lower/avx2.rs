//! What AVX2 does otherwise. Halves of longs have lanes 0, 1, 4, 5 and 2, 3, 6, 7: so instructions that work on each sixteen
//! bytes put words together and take them apart.

use super::{Lowerer, Pair, blank, one};
use crate::allocate::{Class, Home, Inst, Kind, NONE, V};
use crate::opcodes::*;
use crate::x86::{Ins, ins};
use wavemill_sem::record::operation::{long, word};
use wavemill_sem::record::{Node, Value};

/// The upper word of 2^52 as a float: the lower word of such numbers counts ones.
const TWO_52: u32 = 0x4330_0000;

impl Lowerer<'_> {
    pub(super) fn with_imm(&mut self, ins: Ins, imm: u8, a: V, b: V) -> V {
        let inst = Inst { ins, imm: Some(imm), src: [a, b, NONE, NONE], ..blank(Kind::Binary) };
        self.made(Class::Vector, inst)
    }

    pub(super) fn blend(&mut self, ins: Ins, mask: V, t: V, f: V) -> V {
        self.made(Class::Vector, Inst { ins, src: [f, t, mask, NONE], ..blank(Kind::Blend) })
    }

    /// Longs of lower and upper words.
    pub(super) fn unpack(&mut self, a: V, b: V) -> Pair {
        [self.binary(PUNPCKLDQ, a, b), self.binary(PUNPCKHDQ, a, b)]
    }

    /// The lower words of longs.
    pub(super) fn even(&mut self, [low, high]: Pair) -> V {
        self.with_imm(SHUFPS, 0x88, low, high)
    }

    /// The upper words of longs.
    fn odd(&mut self, [low, high]: Pair) -> V {
        self.with_imm(SHUFPS, 0xdd, low, high)
    }

    /// From words to the halves of longs, one behind the other, and back.
    fn swap_middle(&mut self, a: V) -> V {
        self.integer(PERMQ, a, SWAP_MIDDLE)
    }

    /// Words of the four that each of two conversions of longs has made, whose lanes were in order or not.
    fn gathered(&mut self, halves: Pair, in_order: bool) -> V {
        let both = self.insert(halves);
        if in_order { both } else { self.swap_middle(both) }
    }

    /// A value with its sign bits changed, so that unsigned numbers compare as signed ones do.
    fn biased(&mut self, a: V, long: bool) -> V {
        match (self.code.home(a), long) {
            (Home::Splat32(n), false) => self.splat(n ^ 1 << 31),
            (Home::Splat64(n), true) => self.splat64(n ^ 1 << 63),
            (_, false) => {
                let sign = self.splat(1 << 31);
                self.binary(PXORD, a, sign)
            }
            (_, true) => {
                let sign = self.splat64(1 << 63);
                self.binary(PXORQ, a, sign)
            }
        }
    }

    /// All bits of the lanes for which a compare holds.
    pub(super) fn compare_to_vector(&mut self, ins: Ins, a: V, b: V, how: u8, under: V) -> V {
        let long = ins == PCMPQ || ins == PCMPUQ;
        let m = if ins == CMPPS || ins == CMPPD {
            self.with_imm(ins, how, a, b)
        } else if how == INT_EQ {
            self.binary(if long { PCMPEQQ } else { PCMPEQD }, a, b)
        } else {
            let (a, b) = match ins == PCMPUD || ins == PCMPUQ {
                true => (self.biased(a, long), self.biased(b, long)),
                false => (a, b),
            };
            self.binary(if long { PCMPGTQ } else { PCMPGTD }, b, a)
        };
        self.in_lanes(m, under)
    }

    /// The lanes of which one unsigned number is not below another, if a mask is the opposite and nobody has made it.
    pub(super) fn not_below(&mut self, below: Value) -> Option<V> {
        let at = below.0 as usize;
        let Node::Word(word::lt_u, [a, b, _], _) = self.strip.program.nodes[at] else { return None };
        if !self.narrow_host() || self.values[at][0] != NONE || !self.deferred(at) {
            return None;
        }
        let (a, b) = (self.get(a)[0], self.get(b)[0]);
        let (kept, how, limit) = match self.code.home(a) {
            Home::None => (a, PMAXUD, b),
            _ => (b, PMINUD, a),
        };
        let chosen = self.binary(how, kept, limit);
        Some(self.binary(PCMPEQD, chosen, kept))
    }

    fn in_lanes(&mut self, m: V, under: V) -> V {
        match under == NONE || self.code.home(under) == Home::Ones {
            true => m,
            false => self.either(PANDD, m, under),
        }
    }

    /// Operations on words that AVX-512 has other instructions for; none for the rest, and for AVX-512.
    pub(super) fn avx2_word(&mut self, op: word, [a, b, c]: [V; 3], in_order: bool) -> Option<Pair> {
        if !self.narrow_host() {
            return None;
        }
        Some(match op {
            word::mul_wide_u | word::mul_wide_i => {
                let multiply = if op == word::mul_wide_u { PMULUDQ } else { PMULDQ };
                let (a, b) = (self.unpack(a, a), self.unpack(b, b));
                self.each(true, |l, i| l.binary(multiply, a[i], b[i]))
            }
            word::sext => {
                let sign = self.shift(SHIFTD, ARITHMETIC, a, 31);
                self.unpack(a, sign)
            }
            word::leading_zeros => {
                // All bits below the highest, then those that are left.
                let all = [1, 2, 4, 8, 16].into_iter().fold(a, |a, by| {
                    let less = self.shift(SHIFTD, RIGHT, a, by);
                    self.binary(PORD, a, less)
                });
                let (most, ones) = (self.splat(32), self.count_ones(all));
                one(self.binary(PSUBD, most, ones))
            }
            word::permute_bytes => {
                let (low, own) = (self.splat(0x0303_0303), self.vector(&OWN_BYTES));
                let at = self.binary(PANDD, c, low);
                let at = self.binary(PORD, at, own);
                // Bit 2 of a selector moves to its top.
                let upper = self.shift(SHIFTW, LEFT, c, 5);
                let (a, b) = (self.binary(PSHUFB, a, at), self.binary(PSHUFB, b, at));
                one(self.blend(PBLENDVB, upper, a, b))
            }
            word::flush => one(self.flush_by_vector((PCMPEQD, PANDD), a, b, c)),
            word::fmin => one(self.lesser(a, b)),
            word::fmax => one(self.greater(a, b)),
            word::u2f => {
                // Both halves are exact, and so is all but their sum.
                let (low, scale) = (self.splat(0xffff), self.splat(65536f32.to_bits()));
                let upper = self.shift(SHIFTD, RIGHT, a, 16);
                let lower = self.binary(PANDD, a, low);
                let (upper, lower) = (self.unary(CVTDQ2PS, upper), self.unary(CVTDQ2PS, lower));
                one(self.fma(FMAPS, upper, scale, lower, None))
            }
            word::f2i => {
                let limit = self.splat(2_147_483_648f32.to_bits());
                let large = self.compare(CMPPS, a, limit, NOT_BELOW, NONE);
                let number = self.compare(CMPPS, a, a, ORDERED, NONE);
                let r = self.unary(CVTTPS2DQ, a);
                let r = self.binary(PANDD, r, number);
                let most = self.splat(i32::MAX as u32);
                one(self.select(BLENDD, large, most, r))
            }
            word::f2u => {
                // The second operand is what comes of NaNs.
                let zero = self.splat(0);
                let a = self.binary(MAXPS, a, zero);
                let (half, whole) =
                    (self.splat(2_147_483_648f32.to_bits()), self.splat(4_294_967_296f32.to_bits()));
                let large = self.compare(CMPPS, a, half, NOT_BELOW, NONE);
                let outside = self.compare(CMPPS, a, whole, NOT_BELOW, NONE);
                let less = self.binary(PANDD, large, half);
                let rest = self.binary(SUBPS, a, less);
                let rest = self.unary(CVTTPS2DQ, rest);
                let top = self.shift(SHIFTD, LEFT, large, 31);
                let r = self.binary(PXORD, rest, top);
                one(self.binary(PORD, r, outside))
            }
            word::h2f | word::h2f_high => {
                let a = if op == word::h2f { a } else { self.shift(SHIFTD, RIGHT, a, 16) };
                let order = self.vector(&LOWER_HALVES);
                let halves = self.binary(PSHUFB, a, order);
                let halves = self.swap_middle(halves);
                one(self.unary(CVTPH2PS, halves))
            }
            word::f2h_pair => {
                let (low, high) = (self.half(a, 0), self.half(b, 0));
                let high = self.shift(SHIFTD, LEFT, high, 16);
                one(self.binary(PORD, low, high))
            }
            word::f2d => {
                let convert = registers(1, 0, 0, 0x5a);
                let a = if in_order { a } else { self.swap_middle(a) };
                let upper = self.narrow(EXTRACT128, a, Some(1));
                [self.unary(convert, a), self.unary(convert, upper)]
            }
            word::u2d => self.counted(a, 0),
            word::i2d => {
                let a = self.biased(a, false);
                self.counted(a, 1 << 31)
            }
            _ => return None,
        })
    }

    /// What a table has at a place in it: all eights are looked into, and the place's upper bits choose.
    pub(super) fn lookup_by_eights(&mut self, at: V, table: &'static [[u32; 16]]) -> V {
        let [eights, sixteens] = self.upper_bits(at);
        let mut found = Vec::with_capacity(4);
        for part in table {
            let halves = [Home::Vector(part), Home::SecondEight(part)];
            let mut found_in = [NONE; 2];
            for ((found, eight), home) in found_in.iter_mut().zip(part.chunks(8)).zip(halves) {
                let eight = if eight.iter().all(|&n| n == 0) { Home::Splat32(0) } else { home };
                let eight = self.leaf(Class::Vector, eight);
                *found = if self.is_zero(eight) { eight } else { self.binary(PERMD, at, eight) };
            }
            let [low, high] = found_in;
            found.push(self.choose(eights, high, low));
        }
        let mut upper = sixteens;
        let mut bit = 4;
        while found.len() > 1 {
            if bit > 4 {
                upper = self.shift(SHIFTD, LEFT, at, 31 - bit);
            }
            let chosen = found.chunks(2).map(|pair| match *pair {
                [low, high] => self.choose(upper, high, low),
                _ => pair[0],
            });
            found = chosen.collect();
            bit += 1;
        }
        found[0]
    }

    /// One of two by a sign, or both if they are zeros.
    fn choose(&mut self, sign: V, t: V, f: V) -> V {
        match self.is_zero(t) && self.is_zero(f) {
            true => f,
            false => self.blend(BLENDVPS, sign, t, f),
        }
    }

    fn is_zero(&self, v: V) -> bool {
        self.code.home(v) == Home::Splat32(0)
    }

    /// Bits 3 and 4 of places in tables as signs, which is what blends look at.
    fn upper_bits(&mut self, at: V) -> Pair {
        if let Some(&(_, bits)) = self.halves.iter().find(|(v, _)| *v == at) {
            return bits;
        }
        let bits = [28, 27].map(|by| self.shift(SHIFTD, LEFT, at, by));
        self.halves.push((at, bits));
        bits
    }

    /// Nothing but the sign in the lanes whose `t` has none of some bits.
    fn flush_by_vector(&mut self, (equal, and): (Ins, Ins), a: V, t: V, bits: V) -> V {
        let (zero, sign) = match and == PANDQ {
            true => (self.splat64(0), self.splat64(1 << 63)),
            false => (self.splat(0), self.splat(1 << 31)),
        };
        let field = self.either(and, t, bits);
        let tiny = self.binary(equal, field, zero);
        let lost = self.binary(PANDN, sign, tiny);
        self.binary(PANDN, lost, a)
    }

    /// f32 of the f16 in a half of a vector.
    pub(super) fn widen_half(&mut self, a: V, half: u8) -> V {
        let src = [a, NONE, NONE, NONE];
        self.made(Class::Vector, Inst { ins: CVTPH2PS, src, ..blank(Kind::Widen(half)) })
    }

    /// The lesser or greater of two floats: the instruction gives its second operand where both are the same, so that both zeros
    /// are had, if that is what they are.
    pub(super) fn both_ways(&mut self, ins: Ins, together: Ins, a: V, b: V) -> V {
        let (first, second) = (self.binary(ins, a, b), self.binary(ins, b, a));
        self.binary(together, first, second)
    }

    /// The sum of an exact product and a number, rounded to odd by the exact error of the one to nearest (Knuth): a round mode of its own
    /// for two instructions takes ten times as long as all of this.
    pub(super) fn fma_odd_by_error(&mut self, long: bool, a: V, b: V, c: V) -> V {
        let [multiply, add, subtract, compare, xor, and, or, plus] = match long {
            true => [MULPD, ADDPD, SUBPD, CMPPD, PXORQ, PANDQ, PORQ, PADDQ],
            false => [MULPS, ADDPS, SUBPS, CMPPS, PXORD, PANDD, PORD, PADDD],
        };
        let one = if long { Home::Splat64(1f64.to_bits()) } else { Home::Splat32(1f32.to_bits()) };
        let product = if self.code.home(b) == one { a } else { self.either(multiply, a, b) };
        let sum = self.either(add, product, c);
        let second = self.binary(subtract, sum, product);
        let first = self.binary(subtract, sum, second);
        let (lost, lost_too) = (self.binary(subtract, product, first), self.binary(subtract, c, second));
        let error = self.binary(add, lost, lost_too);
        let zero = if long { self.splat64(0) } else { self.splat(0) };
        // Of infinities and NaNs the error is a NaN: there is nothing to round.
        let inexact = self.with_imm(compare, NOT_EQUAL, error, zero);
        // One less where the exact sum is nearer to zero; then the lowest bit: what was odd is as it was.
        let differ = self.binary(xor, error, sum);
        let nearer = match long {
            true => self.binary(PCMPGTQ, zero, differ),
            false => self.shift(SHIFTD, ARITHMETIC, differ, 31),
        };
        let less = self.binary(and, nearer, inexact);
        let r = self.binary(plus, sum, less);
        let (shift, by) = if long { (SHIFTQ, 63) } else { (SHIFTD, 31) };
        let lowest = self.shift(shift, RIGHT, inexact, by);
        self.binary(or, r, lowest)
    }

    /// Unsigned words, less a number, as doubles.
    fn counted(&mut self, a: V, less: u32) -> Pair {
        let upper = self.splat(TWO_52);
        let a = self.unpack(a, upper);
        let less = self.splat64((TWO_52 as u64) << 32 | less as u64);
        self.each(true, |l, i| l.binary(SUBPD, a[i], less))
    }

    /// The same of longs.
    pub(super) fn avx2_long(
        &mut self,
        op: long,
        [a, b, c]: [Pair; 3],
        by: Option<u64>,
        (rounded, in_order): (Option<u8>, bool),
    ) -> Option<Pair> {
        if !self.narrow_host() {
            return None;
        }
        Some(match op {
            long::flush => self.each(true, |l, i| l.flush_by_vector((PCMPEQQ, PANDQ), a[i], b[i], c[i])),
            long::fmin => self.each(true, |l, i| l.both_ways(MINPD, PORQ, a[i], b[i])),
            long::fmax => self.each(true, |l, i| l.both_ways(MAXPD, PANDQ, a[i], b[i])),
            long::lo => one(self.even(a)),
            long::hi => one(self.odd(a)),
            long::sar => {
                // What is negative is turned round, shifted, and turned back.
                let zero = self.splat64(0);
                let sign = self.each(true, |l, i| l.binary(PCMPGTQ, zero, a[i]));
                let a = self.each(true, |l, i| l.binary(PXORQ, a[i], sign[i]));
                let r = self.long_shift(PSRLVQ, (SHIFTQ, RIGHT), a, b[0], by);
                self.each(true, |l, i| l.binary(PXORQ, r[i], sign[i]))
            }
            long::d2f | long::d2f_round => {
                let round = rounded.filter(|_| op == long::d2f_round);
                let halves = a.map(|a| {
                    let src = [a, NONE, NONE, NONE];
                    self.made(
                        Class::Vector,
                        Inst { ins: ins(1, 1, 1, 0x5a), round, src, ..blank(Kind::Unary) },
                    )
                });
                one(self.gathered(halves, in_order))
            }
            long::d2i => {
                let most = self.splat64(2_147_483_647f64.to_bits());
                let halves = a.map(|a| {
                    let number = self.compare(CMPPD, a, a, ORDERED, NONE);
                    let a = self.binary(MINPD, a, most);
                    let a = self.binary(PANDQ, a, number);
                    self.unary(ins(1, 1, 1, 0xe6), a)
                });
                one(self.gathered(halves, in_order))
            }
            long::d2u => {
                // The second operand is what comes of NaNs; whole numbers are the lower words of what 2^52 is added to.
                let (zero, most) = (self.splat64(0), self.splat64(4_294_967_295f64.to_bits()));
                let count = self.splat64((TWO_52 as u64) << 32);
                let halves = a.map(|a| {
                    let a = self.binary(MAXPD, a, zero);
                    let a = self.binary(MINPD, a, most);
                    let a = self.integer(ins(3, 1, 1, 0x09), a, 11);
                    self.binary(ADDPD, a, count)
                });
                one(self.even(halves))
            }
            _ => return None,
        })
    }
}
