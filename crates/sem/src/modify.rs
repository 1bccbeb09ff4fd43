//! What modifiers do to a vector instruction's sources and results (manual 6.2, 13.3): ABS and NEG, SDWA's and OP_SEL's
//! selections, VOP3P's halves, the widened operands of V_FMA_MIX, partial results. Which of these an encoding asks
//! for, [`crate::inst::Inst::change`] says; what they mean is said here.

use crate::half;
use crate::lanes::{Word, w};
use crate::mode::Mode;

/// A change to a source before the instruction sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Change {
    /// None.
    #[default]
    None,
    /// AND, then XOR of a dword: ABS and NEG.
    Sign {
        /// Bits that stay.
        and: u32,
        /// Bits that change.
        xor: u32,
    },
    /// The same on the upper dword of 64 bits.
    SignHigh {
        /// Bits that stay.
        and: u32,
        /// Bits that change.
        xor: u32,
    },
    /// A field, shifted down, then AND and XOR: SDWA, and OP_SEL of 16-bit operands.
    Field {
        /// First left by so many bits,
        left: u8,
        /// then right by so many.
        right: u8,
        /// The second shift is arithmetic.
        signed: bool,
        /// Bits that stay.
        and: u32,
        /// Bits that change.
        xor: u32,
    },
    /// VOP3P on two 16-bit halves: which half each comes from, then XOR.
    Halves {
        /// The low half comes from the high one.
        low: bool,
        /// The high half comes from the high one.
        high: bool,
        /// Bits that change.
        xor: u32,
    },
    /// VOP3P on two dwords.
    Dwords {
        /// The low dword comes from the high one.
        low: bool,
        /// The high dword comes from the high one.
        high: bool,
        /// Bits that change in each.
        xor: [u32; 2],
    },
    /// V_FMA_MIX: the f16 in a half as f32, its denormals by the f16 mode, then AND and XOR.
    Widen {
        /// The upper half.
        high: bool,
        /// Denormals count as zeros whatever the mode says: gfx900's V_MAD_MIX.
        flush: bool,
        /// Bits that stay.
        and: u32,
        /// Bits that change.
        xor: u32,
    },
}

impl Change {
    /// ABS, then NEG, of the bit `sign`.
    pub fn sign(sign: u32, abs: bool, neg: bool) -> Change {
        match Self::masks(sign, abs, neg) {
            (u32::MAX, 0) => Change::None,
            (and, xor) => Change::Sign { and, xor },
        }
    }

    /// AND and XOR masks for ABS, then NEG.
    pub fn masks(sign: u32, abs: bool, neg: bool) -> (u32, u32) {
        (if abs { !sign } else { !0 }, if neg { sign } else { 0 })
    }

    /// SDWA's selection of a byte (0 to 3), a word (4, 5) or all, zero- or sign-extended, with masks to follow.
    pub fn select(sel: u8, signed: bool, (and, xor): (u32, u32)) -> Change {
        let (left, right) = match sel {
            n @ 0..=3 => (24 - 8 * n, 24),
            4 => (16, 16),
            5 => (0, 16),
            _ => (0, 0),
        };
        match (right, and, xor) {
            (0, u32::MAX, 0) => Change::None,
            (0, ..) => Change::Sign { and, xor },
            _ => Change::Field { left, right, signed, and, xor },
        }
    }

    /// Applies the change to a source's low and high dwords (the high one is only looked at where there is one).
    #[inline(always)]
    pub fn apply<W: Word>(&self, lo: W, hi: W, mode: &Mode) -> (W, W) {
        match *self {
            Change::None => (lo, hi),
            Change::Sign { and, xor } => ((lo & w(and)) ^ w(xor), hi),
            Change::SignHigh { and, xor } => (lo, (hi & w(and)) ^ w(xor)),
            Change::Field { left, right, signed, and, xor } => {
                let top = lo.shl(w(left as u32));
                let field = if signed { top.sar(w(right as u32)) } else { top.shr(w(right as u32)) };
                ((field & w(and)) ^ w(xor), hi)
            }
            Change::Halves { low, high, xor } => {
                ((half_of(lo, low) | half_of(lo, high).shl(w(16))) ^ w(xor), hi)
            }
            Change::Dwords { low, high, xor } => {
                let (first, second) = (if low { hi } else { lo }, if high { hi } else { lo });
                (first ^ w(xor[0]), second ^ w(xor[1]))
            }
            Change::Widen { high, flush, and, xor } => {
                let mode = if flush { mode.half().flushing() } else { mode.half() };
                ((half::input(half_of(lo, high), mode).h2f() & w(and)) ^ w(xor), hi)
            }
        }
    }
}

/// A half, zero-extended.
#[inline(always)]
fn half_of<W: Word>(a: W, high: bool) -> W {
    if high { a.shr(w(16)) } else { a & w(0xffff) }
}

/// What becomes of the bits around a partial result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rest {
    /// Zeros (SDWA's UNUSED_PAD).
    Zero,
    /// The result's sign above, zeros below (UNUSED_SEXT).
    Sign,
    /// They stay (UNUSED_PRESERVE, and 16-bit results).
    Keep,
}

/// A result that is part of its register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Merge {
    /// First bit.
    pub at: u8,
    /// How many: 8 or 16.
    pub bits: u8,
    /// The others.
    pub rest: Rest,
}

impl Merge {
    /// The low half, the high half stays.
    pub const LOW: Merge = Merge { at: 0, bits: 16, rest: Rest::Keep };
    /// The high half, the low half stays.
    pub const HIGH: Merge = Merge { at: 16, bits: 16, rest: Rest::Keep };

    /// From SDWA's DST_SEL and DST_UNUSED; none for a whole dword.
    pub fn sdwa(sel: u8, unused: u8) -> Option<Merge> {
        let (at, bits) = match sel {
            n @ 0..=3 => (8 * n, 8),
            4 => (0, 16),
            5 => (16, 16),
            _ => return None,
        };
        let rest = match unused {
            1 => Rest::Sign,
            2 => Rest::Keep,
            _ => Rest::Zero,
        };
        Some(Merge { at, bits, rest })
    }

    /// The register after result `r` went into it.
    #[inline(always)]
    pub fn apply<W: Word>(&self, r: W, old: W) -> W {
        let (at, bits) = (self.at as u32, self.bits as u32);
        let field = (1u32 << bits) - 1;
        let placed = (r & w(field)).shl(w(at));
        match self.rest {
            Rest::Zero => placed,
            Rest::Sign => {
                let above = !(((1u64 << (at + bits)) - 1) as u32);
                placed | (r.shl(w(32 - bits)).sar(w(31)) & w(above))
            }
            Rest::Keep => placed | (old & w(!(field << at))),
        }
    }
}
