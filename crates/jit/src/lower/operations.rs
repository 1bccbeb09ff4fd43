//! Operations on words and longs as instructions.

use super::nodes::{is_word_compare_op, lower_half_of};
use super::{Lowerer, Pair, blank, one, rounding};
use crate::allocate::{Class, Home, Inst, Kind, NONE, V};
use crate::opcodes::*;
use crate::x86::{Ins, ins, whole};
use wavemill_sem::record::operation::{long, word};
use wavemill_sem::record::{Node, Operator, Type, Value};
use wavemill_sem::soft::Round;

impl Lowerer<'_> {
    pub(super) fn word(&mut self, op: word, operands: [Value; 3], round: Round, in_order: bool) -> Pair {
        if is_word_compare_op(op) {
            return one(self.word_compare(op, operands, NONE));
        }
        let by = self.constant(operands[1]);
        let count = op.operands().len();
        let first = match op {
            word::h2f => lower_half_of(&self.strip.program.nodes, operands[0]),
            _ => operands[0],
        };
        let a = self.get(first)[0];
        let b = if count > 1 { self.get(operands[1])[0] } else { NONE };
        let c = if count > 2 { self.get(operands[2])[0] } else { NONE };
        let rounded = Some(rounding(round));
        if let Some(done) = self.avx2_word(op, [a, b, c], in_order) {
            return done;
        }
        match op {
            word::eq | word::lt_u | word::lt_i | word::flt | word::feq | word::funord => [NONE; 2],
            word::shl => one(self.word_shift(PSLLVD, LEFT, a, b, by)),
            word::shr => one(self.word_shift(PSRLVD, RIGHT, a, b, by)),
            word::sar => one(self.word_shift(PSRAVD, ARITHMETIC, a, b, by)),
            word::min_u => one(self.either(PMINUD, a, b)),
            word::max_u => one(self.either(PMAXUD, a, b)),
            word::min_i => one(self.either(ins(2, 1, 0, 0x39), a, b)),
            word::max_i => one(self.either(ins(2, 1, 0, 0x3d), a, b)),
            word::mul_hi_u => one(self.multiply_high(PMULUDQ, a, b)),
            word::mul_hi_i => one(self.multiply_high(PMULDQ, a, b)),
            word::mul_wide_u => self.multiply_wide(PMOVZXDQ, PMULUDQ, a, b),
            word::mul_wide_i => self.multiply_wide(PMOVSXDQ, PMULDQ, a, b),
            word::zext => self.zero_extend(a),
            word::sext => self.widen(PMOVSXDQ, a),
            word::join => self.join(a, b),
            word::count_ones => one(self.count_ones(a)),
            word::leading_zeros => one(self.unary(ins(2, 1, 0, 0x44), a)),
            word::permute_bytes => {
                let (low, own) = (self.splat(0x0303_0303), self.vector(&OWN_BYTES));
                let at = self.binary(PANDD, c, low);
                let at = self.binary(PORD, at, own);
                let four = self.splat(0x0404_0404);
                let upper = self.made(
                    Class::Mask,
                    Inst { ins: TESTB, src: [c, four, NONE, NONE], ..blank(Kind::Compare) },
                );
                let (a, b) = (self.binary(PSHUFB, a, at), self.binary(PSHUFB, b, at));
                one(self.select(BLENDB, upper, a, b))
            }
            word::sext_even_bytes => {
                let up = self.shift(SHIFTW, LEFT, a, 8);
                one(self.shift(SHIFTW, ARITHMETIC, up, 8))
            }
            word::sad_u8 => {
                // The instruction sums eight bytes: four of them are zero.
                let sad = whole(1, 1, 0, 0xf6);
                let low = self.splat64(0xffff_ffff);
                let (x, y) = (self.binary(PANDQ, a, low), self.binary(PANDQ, b, low));
                let even = self.binary(sad, x, y);
                let (x, y) = (self.shift(SHIFTQ, RIGHT, a, 32), self.shift(SHIFTQ, RIGHT, b, 32));
                let odd = self.binary(sad, x, y);
                let odd = self.shift(SHIFTQ, LEFT, odd, 32);
                one(self.binary(PORQ, even, odd))
            }
            word::dot_i16 => one(self.binary(whole(1, 1, 0, 0xf5), a, b)),
            word::flush => one(self.flush((TESTND, PANDD), 1 << 31, a, b, c)),
            word::fmin => one(self.lesser(a, b)),
            word::fmax => one(self.greater(a, b)),
            word::fadd => one(self.either(ADDPS, a, b)),
            word::fsub => one(self.binary(ins(1, 0, 0, 0x5c), a, b)),
            word::fmul => one(self.either(MULPS, a, b)),
            word::fdiv => one(self.binary(ins(1, 0, 0, 0x5e), a, b)),
            word::fsqrt => one(self.unary(ins(1, 0, 0, 0x51), a)),
            word::ffma => one(self.fma(FMAPS, a, b, c, None)),
            word::fadd_round => one(self.rounded(ADDPS, a, b, rounded)),
            word::fmul_round => one(self.rounded(MULPS, a, b, rounded)),
            word::ffma_round => one(self.fma(FMAPS, a, b, c, rounded)),
            word::ffma_odd => {
                let one_bit = self.splat(1);
                one(self.fma_odd((FMAPS, TESTD, BLENDD), one_bit, a, b, c))
            }
            word::ftrunc => one(self.integer(ins(3, 1, 0, 0x08), a, 11)),
            word::ffloor => one(self.integer(ins(3, 1, 0, 0x08), a, 9)),
            word::frint => one(self.integer(ins(3, 1, 0, 0x08), a, 8)),
            word::i2f => one(self.unary(ins(1, 0, 0, 0x5b), a)),
            word::u2f => one(self.unary(ins(1, 3, 0, 0x7a), a)),
            word::f2i => {
                // Too small gives the least number as it is; NaN gives zero.
                let limit = self.splat(2_147_483_648f32.to_bits());
                let large = self.compare(CMPPS, a, limit, NOT_BELOW, NONE);
                let number = self.compare(CMPPS, a, a, ORDERED, NONE);
                let r = self.zeroing(ins(1, 2, 0, 0x5b), a, number);
                let most = self.splat(i32::MAX as u32);
                one(self.select(BLENDD, large, most, r))
            }
            word::f2u => {
                // Too large gives all ones as it is; negative numbers and NaN give zero.
                let zero = self.splat(0);
                let inside = self.compare(CMPPS, a, zero, NOT_BELOW, NONE);
                one(self.zeroing(ins(1, 0, 0, 0x78), a, inside))
            }
            word::h2f => {
                let known = self.halves.iter().find(|(v, _)| *v == a).map(|&(_, [low, _])| low);
                let halves = known.unwrap_or_else(|| self.narrow(registers(2, 2, 0, 0x33), a, None));
                one(self.unary(CVTPH2PS, halves))
            }
            word::h2f_high => {
                let upper = self.words_apart(a)[1];
                one(self.unary(CVTPH2PS, upper))
            }
            word::f2h => one(self.half(a, 0)),
            word::f2h_pair => {
                let halves = [a, b].map(|a| self.narrow(CVTPS2PH, a, Some(0)));
                let (both, order) = (self.insert(halves), self.vector(&BY_TURNS));
                one(self.binary(PERMW, order, both))
            }
            word::f2h_round => one(self.half(a, rounding(round))),
            word::fhalf => {
                let halves = self.narrow(CVTPS2PH, a, Some(rounding(round)));
                one(self.unary(CVTPH2PS, halves))
            }
            word::f2d => self.widen(registers(1, 0, 0, 0x5a), a),
            word::i2d => self.widen(registers(1, 2, 0, 0xe6), a),
            word::u2d => self.widen(registers(1, 2, 0, 0x7a), a),
        }
    }

    pub(super) fn long(&mut self, op: long, operands: [Value; 3], round: Round) -> Pair {
        let by = self.constant(operands[1]);
        let count = op.operands().len();
        let order = self.order_for(op, &operands[..count]);
        let a = self.get_ordered(operands[0], order);
        let b = if count > 1 { self.get_ordered(operands[1], order) } else { [NONE; 2] };
        let c = if count > 2 { self.get_ordered(operands[2], order) } else { [NONE; 2] };
        let rounded = Some(rounding(round));
        if let Some(done) = self.avx2_long(op, [a, b, c], by, (rounded, order)) {
            return done;
        }
        let two = |l: &mut Self, ins: Ins| [l.either(ins, a[0], b[0]), l.either(ins, a[1], b[1])];
        match op {
            long::lo => one(self.permute2(a[0], &EVEN, a[1])),
            long::hi => one(self.permute2(a[0], &ODD, a[1])),
            long::eq => self.long_compare(PCMPQ, a, b, INT_EQ),
            long::lt_u => self.long_compare(PCMPUQ, a, b, INT_LESS),
            long::lt_i => self.long_compare(PCMPQ, a, b, INT_LESS),
            long::shl => self.long_shift(PSLLVQ, (SHIFTQ, LEFT), a, b[0], by),
            long::shr => self.long_shift(PSRLVQ, (SHIFTQ, RIGHT), a, b[0], by),
            long::sar => self.long_shift(PSRAVQ, (SHIFTQ_ARITHMETIC, ARITHMETIC), a, b[0], by),
            long::flush => {
                let sign = 1 << 63;
                self.each(true, |l, i| l.flush((TESTNQ, PANDQ), sign, a[i], b[i], c[i]))
            }
            long::fmin => self.each(true, |l, i| l.range(RANGEPD, a[i], b[i], LESSER)),
            long::fmax => self.each(true, |l, i| l.range(RANGEPD, a[i], b[i], GREATER)),
            long::fadd => two(self, ADDPD),
            long::fsub => self.each(true, |l, i| l.binary(ins(1, 1, 1, 0x5c), a[i], b[i])),
            long::fmul => two(self, MULPD),
            long::fdiv => self.each(true, |l, i| l.binary(ins(1, 1, 1, 0x5e), a[i], b[i])),
            long::fsqrt => self.each(true, |l, i| l.unary(ins(1, 1, 1, 0x51), a[i])),
            long::ffma => self.each(true, |l, i| l.fma(FMAPD, a[i], b[i], c[i], None)),
            long::fadd_round => self.each(true, |l, i| l.rounded(ADDPD, a[i], b[i], rounded)),
            long::fmul_round => self.each(true, |l, i| l.rounded(MULPD, a[i], b[i], rounded)),
            long::ffma_round => self.each(true, |l, i| l.fma(FMAPD, a[i], b[i], c[i], rounded)),
            long::ffma_odd => {
                let one_bit = self.splat64(1);
                self.each(true, |l, i| l.fma_odd((FMAPD, TESTQ, BLENDQ), one_bit, a[i], b[i], c[i]))
            }
            long::flt => self.long_compare(CMPPD, a, b, LESS),
            long::feq => self.long_compare(CMPPD, a, b, EQ),
            long::funord => self.long_compare(CMPPD, a, b, UNORDERED),
            long::ftrunc => self.each(true, |l, i| l.integer(ins(3, 1, 1, 0x09), a[i], 11)),
            long::ffloor => self.each(true, |l, i| l.integer(ins(3, 1, 1, 0x09), a[i], 9)),
            long::frint => self.each(true, |l, i| l.integer(ins(3, 1, 1, 0x09), a[i], 8)),
            long::d2f => {
                let halves = a.map(|a| self.unary(ins(1, 1, 1, 0x5a), a));
                one(self.insert(halves))
            }
            long::d2f_round => {
                let halves = a.map(|a| {
                    let src = [a, NONE, NONE, NONE];
                    self.made(
                        Class::Vector,
                        Inst { ins: ins(1, 1, 1, 0x5a), round: rounded, src, ..blank(Kind::Unary) },
                    )
                });
                one(self.insert(halves))
            }
            long::d2i => {
                let limit = self.splat64(2_147_483_648f64.to_bits());
                let large = self.long_compare_with(CMPPD, a, [limit; 2], NOT_BELOW);
                let halves = a.map(|a| {
                    let number = self.compare(CMPPD, a, a, ORDERED, NONE);
                    self.zeroing(ins(1, 1, 1, 0xe6), a, number)
                });
                let r = self.insert(halves);
                let most = self.splat(i32::MAX as u32);
                one(self.select(BLENDD, large, most, r))
            }
            long::d2u => {
                let zero = self.splat64(0);
                let halves = a.map(|a| {
                    let inside = self.compare(CMPPD, a, zero, NOT_BELOW, NONE);
                    self.zeroing(ins(1, 0, 1, 0x78), a, inside)
                });
                one(self.insert(halves))
            }
        }
    }

    /// What a table has at a place; zero beyond it.
    pub(super) fn lookup(&mut self, place: Value, table: &'static [u32]) -> V {
        let at = self.get(place)[0];
        let in_registers = !table.is_empty() && table.len().is_multiple_of(16) && table.len() <= 64;
        let within = |v: Value| self.constant(v).is_some_and(|n| n < table.len() as u64);
        let always_inside = match self.strip.program.nodes[place.0 as usize] {
            Node::Operator(Operator::And, _, operands) => operands.into_iter().any(within),
            _ => false,
        };
        let inside = if always_inside && in_registers {
            NONE
        } else {
            let len = self.splat(table.len() as u32);
            self.compare(PCMPUD, at, len, INT_LESS, NONE)
        };
        let found = match table.as_chunks::<16>() {
            // In registers: fetching lane by lane takes several times as long.
            (parts, []) if in_registers && self.narrow_host() => self.lookup_by_eights(at, parts),
            (parts, []) if in_registers => {
                let mut halves = [NONE; 2];
                for (half, parts) in halves.iter_mut().zip(parts.chunks(2)) {
                    let first = self.vector(&parts[0]);
                    *half = match parts.get(1) {
                        None => self.binary(PERMD, at, first),
                        Some(second) => {
                            let src = [first, at, self.vector(second), NONE];
                            self.made(Class::Vector, Inst { ins: PERMT2D, src, ..blank(Kind::Tied) })
                        }
                    };
                }
                match halves {
                    [all, NONE] => all,
                    [low, high] => {
                        let bit = self.splat(32);
                        let upper = self.test(TESTD, at, bit);
                        self.select(BLENDD, upper, high, low)
                    }
                }
            }
            _ => {
                let inst = Inst { src: [at, NONE, NONE, inside], ..blank(Kind::Gather(table)) };
                return self.made(Class::Vector, inst);
            }
        };
        if inside == NONE {
            return found;
        }
        let zero = self.splat(0);
        self.select(BLENDD, inside, found, zero)
    }

    /// What other lanes of the vector have.
    pub(super) fn neighbour(&mut self, ty: Type, a: V, control: u16) -> V {
        if ty == Type::Mask && !self.narrow_host() {
            let wide = self.unary(registers(2, 2, 0, 0x38), a);
            let moved = self.neighbour(Type::Word, wide, control);
            let src = [moved, NONE, NONE, NONE];
            return self.made(Class::Mask, Inst { ins: registers(2, 2, 0, 0x39), src, ..blank(Kind::Unary) });
        }
        match (control, ROW_SOURCES.get(control as usize)) {
            // Four lanes, as instructions have them.
            (0..=0xff, _) => self.integer(ins(1, 1, 0, 0x70), a, control as u8),
            (_, Some(from)) => {
                let from = self.vector(from);
                self.binary(PERMD, from, a)
            }
            // There are none.
            _ => a,
        }
    }

    pub(super) fn count_ones(&mut self, a: V) -> V {
        let (table, low) = (self.vector(&BIT_COUNTS), self.splat(0x0f0f_0f0f));
        let first = self.binary(PANDD, a, low);
        let second = self.shift(SHIFTW, RIGHT, a, 4);
        let second = self.binary(PANDD, second, low);
        let (first, second) = (self.binary(PSHUFB, table, first), self.binary(PSHUFB, table, second));
        let bytes = self.binary(whole(1, 1, 0, 0xfc), first, second);
        let ones = self.splat(0x0101_0101);
        let halves = self.binary(whole(2, 1, 0, 0x04), bytes, ones);
        let ones = self.splat(0x0001_0001);
        self.binary(whole(1, 1, 0, 0xf5), halves, ones)
    }

    fn word_shift(&mut self, variable: Ins, how: u8, a: V, b: V, by: Option<u64>) -> V {
        match by {
            Some(n) => self.shift(SHIFTD, how, a, n as u8 & 31),
            None => {
                let most = self.splat(31);
                let b = self.binary(PANDD, b, most);
                self.binary(variable, a, b)
            }
        }
    }

    pub(super) fn long_shift(
        &mut self,
        variable: Ins,
        (ins, how): (Ins, u8),
        a: Pair,
        b: V,
        by: Option<u64>,
    ) -> Pair {
        if let Some(n) = by {
            return self.each(true, |l, i| l.shift(ins, how, a[i], n as u8 & 63));
        }
        let most = self.splat(63);
        let b = self.binary(PANDD, b, most);
        let b = self.zero_extend(b);
        self.each(true, |l, i| l.binary(variable, a[i], b[i]))
    }

    fn multiply_high(&mut self, multiply: Ins, a: V, b: V) -> V {
        let even = self.binary(multiply, a, b);
        let even = self.shift(SHIFTQ, RIGHT, even, 32);
        let (a, b) = (self.shift(SHIFTQ, RIGHT, a, 32), self.shift(SHIFTQ, RIGHT, b, 32));
        let odd = self.binary(multiply, a, b);
        let high = self.splat64(0xffff_ffff_0000_0000);
        let odd = self.binary(PANDQ, odd, high);
        self.binary(PORQ, even, odd)
    }

    fn multiply_wide(&mut self, widen: Ins, multiply: Ins, a: V, b: V) -> Pair {
        let (a, b) = (self.widen(widen, a), self.widen(widen, b));
        self.each(true, |l, i| l.binary(multiply, a[i], b[i]))
    }

    pub(super) fn zero_extend(&mut self, a: V) -> Pair {
        if self.narrow_host() {
            let zero = self.splat(0);
            return self.unpack(a, zero);
        }
        self.widen(PMOVZXDQ, a)
    }

    /// Eight lanes each from the halves of a vector.
    fn widen(&mut self, ins: Ins, a: V) -> Pair {
        let low = self.unary(ins, a);
        let upper = self.narrow(EXTRACT, a, Some(1));
        [low, self.unary(ins, upper)]
    }

    /// The lower and the upper halves of words, sixteen each.
    fn words_apart(&mut self, a: V) -> Pair {
        if let Some(&(_, halves)) = self.halves.iter().find(|(v, _)| *v == a) {
            return halves;
        }
        let order = self.vector(&APART);
        let low = self.binary(PERMW, order, a);
        let halves = [low, self.narrow(EXTRACT, low, Some(1))];
        self.halves.push((a, halves));
        halves
    }

    /// All lanes from two halves.
    pub(super) fn insert(&mut self, [low, high]: Pair) -> V {
        self.with_imm(if self.narrow_host() { INSERT128 } else { INSERT }, 1, low, high)
    }

    fn join(&mut self, a: V, b: V) -> Pair {
        if let (Home::Sgpr(low), Home::Sgpr(high)) = (self.code.home(a), self.code.home(b))
            && low + 1 == high
        {
            let v = self.leaf(Class::Vector, Home::SgprPair(low));
            return [v, v];
        }
        if self.narrow_host() {
            return self.unpack(a, b);
        }
        [self.permute2(a, &JOIN_LOW, b), self.permute2(a, &JOIN_HIGH, b)]
    }

    fn long_compare(&mut self, ins: Ins, a: Pair, b: Pair, how: u8) -> Pair {
        one(self.long_compare_with(ins, a, b, how))
    }

    fn long_compare_with(&mut self, ins: Ins, a: Pair, b: Pair, how: u8) -> V {
        let low = self.compare(ins, a[0], b[0], how, NONE);
        let high = self.compare(ins, a[1], b[1], how, NONE);
        if self.narrow_host() {
            return self.even([low, high]);
        }
        self.mask2(MaskOperation::Unpack, high, low)
    }

    fn rounded(&mut self, ins: Ins, a: V, b: V, round: Option<u8>) -> V {
        self.made(Class::Vector, Inst { ins, round, src: [a, b, NONE, NONE], ..blank(Kind::Binary) })
    }

    /// To odd: where rounding up and down gives two numbers, one of them is. An exact zero is the one that comes of rounding up.
    pub(super) fn fma_odd(&mut self, (fma, test, blend): (Ins, Ins, Ins), one_bit: V, a: V, b: V, c: V) -> V {
        if self.narrow_host() {
            return self.fma_odd_by_error(blend == BLENDQ, a, b, c);
        }
        let up = self.fma(fma, a, b, c, Some(rounding(Round::Up)));
        let down = self.fma(fma, a, b, c, Some(rounding(Round::Down)));
        let odd = self.test(test, down, one_bit);
        self.select(blend, odd, down, up)
    }

    /// The lanes of which an instruction finds that bits are set, or that none is.
    fn test(&mut self, ins: Ins, a: V, b: V) -> V {
        self.made(Class::Mask, Inst { ins, src: [a, b, NONE, NONE], ..blank(Kind::Compare) })
    }

    /// Nothing but the sign in the lanes whose `t` has none of some bits.
    fn flush(&mut self, (test, and): (Ins, Ins), sign: u64, a: V, t: V, bits: V) -> V {
        let sign = if and == PANDQ { self.splat64(sign) } else { self.splat(sign as u32) };
        let tiny = self.test(test, t, bits);
        self.made(Class::Vector, Inst { ins: and, src: [a, a, sign, tiny], ..blank(Kind::Tied) })
    }

    /// The lesser of two f32, zeros by their signs.
    pub(super) fn lesser(&mut self, a: V, b: V) -> V {
        match self.narrow_host() {
            true => self.both_ways(MINPS, PORD, a, b),
            false => self.range(RANGEPS, a, b, LESSER),
        }
    }

    /// The greater.
    pub(super) fn greater(&mut self, a: V, b: V) -> V {
        match self.narrow_host() {
            true => self.both_ways(MAXPS, PANDD, a, b),
            false => self.range(RANGEPS, a, b, GREATER),
        }
    }

    pub(super) fn range(&mut self, ins: Ins, a: V, b: V, how: u8) -> V {
        // What is in memory had better be the second.
        let (a, b) = if self.code.home(a) == Home::None { (a, b) } else { (b, a) };
        self.made(Class::Vector, Inst { ins, imm: Some(how), src: [a, b, NONE, NONE], ..blank(Kind::Binary) })
    }

    pub(super) fn integer(&mut self, ins: Ins, a: V, how: u8) -> V {
        self.made(
            Class::Vector,
            Inst { ins, imm: Some(how), src: [a, NONE, NONE, NONE], ..blank(Kind::Unary) },
        )
    }

    fn zeroing(&mut self, ins: Ins, a: V, mask: V) -> V {
        self.made(Class::Vector, Inst { ins, zero: true, src: [a, NONE, NONE, mask], ..blank(Kind::Unary) })
    }

    pub(super) fn half(&mut self, a: V, round: u8) -> V {
        let halves = self.narrow(CVTPS2PH, a, Some(round));
        self.unary(registers(2, 1, 0, 0x33), halves)
    }
}
