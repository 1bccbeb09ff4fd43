//! What float atomics make of numbers: the manual's rules for denormals (table 43), NaNs and order (9.5.2, 9.5.3), on bits.

use rustc_apfloat::ieee::{Double, Half, Single};
use rustc_apfloat::{Float, Round};
use wavemill_testing::Random;

/// A float atomic, as its name tells it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FloatOp {
    what: What,
    fields: Fields,
    /// Two halves of a dword.
    packed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    Add,
    Min,
    Max,
    /// Stores if the number is equal; LDS has what is compared with first, memory second.
    Swap {
        expected_first: bool,
    },
}

/// A format by its fields' sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Fields {
    exponent: u32,
    fraction: u32,
}

const F16: Fields = Fields { exponent: 5, fraction: 10 };
const F32: Fields = Fields { exponent: 8, fraction: 23 };
const F64: Fields = Fields { exponent: 11, fraction: 52 };

impl Fields {
    fn sign(self) -> u64 {
        1 << (self.exponent + self.fraction)
    }

    fn infinity(self) -> u64 {
        self.sign() - (1 << self.fraction)
    }

    fn quiet(self) -> u64 {
        1 << (self.fraction - 1)
    }

    fn is_nan(self, x: u64) -> bool {
        x & !self.sign() > self.infinity()
    }

    fn flushed(self, x: u64, flush: bool) -> u64 {
        if flush && x & self.infinity() == 0 { x & self.sign() } else { x }
    }

    /// From the smallest to the largest, -0 before +0.
    fn rank(self, x: u64) -> i128 {
        let magnitude = i128::from(x & !self.sign());
        if x & self.sign() != 0 { -1 - magnitude } else { magnitude }
    }

    fn sum(self, a: u64, b: u64) -> u64 {
        fn add<F: Float>(a: u64, b: u64) -> u64 {
            let sum = F::from_bits(a.into()).add_r(F::from_bits(b.into()), Round::NearestTiesToEven);
            sum.value.to_bits() as u64
        }
        match self.exponent {
            5 => add::<Half>(a, b),
            8 => add::<Single>(a, b),
            _ => add::<Double>(a, b),
        }
    }
}

impl FloatOp {
    /// `add_f32`, `pk_add_f16`, `fmin_x2` … of vector memory, with its bytes.
    pub(crate) fn in_memory(name: &str) -> Option<(FloatOp, usize)> {
        let swap = What::Swap { expected_first: false };
        let (what, fields, packed) = match name {
            "add_f32" => (What::Add, F32, false),
            "pk_add_f16" => (What::Add, F16, true),
            "add_f64" => (What::Add, F64, false),
            "min_f64" | "fmin_x2" => (What::Min, F64, false),
            "max_f64" | "fmax_x2" => (What::Max, F64, false),
            "fmin" => (What::Min, F32, false),
            "fmax" => (What::Max, F32, false),
            "fcmpswap" => (swap, F32, false),
            "fcmpswap_x2" => (swap, F64, false),
            _ => return None,
        };
        Some((FloatOp { what, fields, packed }, if fields == F64 { 8 } else { 4 }))
    }

    /// `add`, `min`, `max`, `cmpst` of LDS with a type's name.
    pub(crate) fn in_lds(name: &str, ty: &str) -> Option<(FloatOp, usize)> {
        let fields = match ty {
            "f32" => F32,
            "f64" => F64,
            _ => return None,
        };
        let what = match name {
            "add" => What::Add,
            "min" => What::Min,
            "max" => What::Max,
            "cmpst" => What::Swap { expected_first: true },
            _ => return None,
        };
        Some((FloatOp { what, fields, packed: false }, if fields == F64 { 8 } else { 4 }))
    }

    pub(crate) fn takes_two(self) -> bool {
        matches!(self.what, What::Swap { .. })
    }

    /// Whether denormals are lost on the way in and out: memory has ways of its own, LDS looks at MODE, but sums of doubles
    /// never are.
    fn flushes(self, lds: bool, mode: u32) -> [bool; 2] {
        match (self.what, lds) {
            (What::Add, _) if self.fields == F64 => [false; 2],
            (What::Add, false) => [self.fields == F32; 2],
            (_, false) => [false; 2],
            (_, true) => {
                let bits = mode >> if self.fields == F32 { 4 } else { 6 };
                [bits & 1 == 0, bits & 2 == 0]
            }
        }
    }

    /// The new number.
    pub(crate) fn changed(self, old: u64, first: u64, second: u64, lds: bool, mode: u32) -> u64 {
        if self.packed {
            let half = |at: u32| self.one(old >> at & 0xffff, first >> at & 0xffff, 0, [false; 2]) << at;
            return half(0) | half(16);
        }
        self.one(old, first, second, self.flushes(lds, mode))
    }

    fn one(self, old: u64, first: u64, second: u64, flush: [bool; 2]) -> u64 {
        let f = self.fields;
        let signals = |x: u64| f.is_nan(x) && x & f.quiet() == 0;
        let [a, b] = [old, first].map(|x| f.flushed(x, flush[0]));
        match self.what {
            What::Add if f.is_nan(a) => a | f.quiet(),
            What::Add if f.is_nan(b) => b | f.quiet(),
            What::Add if a & !f.sign() == f.infinity() && b == a ^ f.sign() => {
                f.sign() | f.infinity() | f.quiet()
            }
            What::Add => f.flushed(f.sum(a, b), flush[1]),
            What::Swap { expected_first } => {
                let (new, expected) = if expected_first { (second, first) } else { (first, second) };
                let [new, expected] = [new, expected].map(|x| f.flushed(x, flush[0]));
                let zeros = (a | expected) & !f.sign() == 0;
                if !f.is_nan(a) && !f.is_nan(expected) && (a == expected || zeros) { new } else { old }
            }
            _ if signals(a) => a | f.quiet(),
            _ if signals(b) => b | f.quiet(),
            // A quiet NaN is the last choice; what is chosen comes out as it was.
            _ if f.is_nan(a) => first,
            _ if f.is_nan(b) => old,
            What::Min if f.rank(b) < f.rank(a) => first,
            What::Max if f.rank(b) > f.rank(a) => first,
            _ => old,
        }
    }

    /// A number of any kind, for memory or a register; `like` is chosen now and then, so that numbers are equal or cancel.
    pub(crate) fn number(self, r: &mut Random, like: u64) -> u64 {
        let half = |r: &mut Random, like: u64| {
            let f = self.fields;
            let any = r.next() >> 3 & (f.sign() - 1);
            let fraction = any & ((1 << f.fraction) - 1);
            let magnitude = match r.below(10) {
                0 => 0,
                1 => fraction,
                2 => 1 << f.fraction | fraction & 3,
                3 => f.infinity(),
                4 => f.infinity() | fraction | 1,
                5 => f.infinity() - 1,
                6 | 7 => like & !f.sign(),
                _ => any,
            };
            magnitude | if r.one_in(2) { f.sign() } else { 0 }
        };
        match self.packed {
            true => half(r, like & 0xffff) | half(r, like >> 16 & 0xffff) << 16,
            false => half(r, like),
        }
    }
}
