//! Words of bit fields whose values may be known only at the end of the source.
//!
//! Expressions are built exactly as LLVM builds them, since listings print them as they are.

use crate::expr::{BinOp, Expr, UnOp};
use crate::parser::Parser;
use std::cell::OnceCell;

fn constant(value: u64) -> Expr {
    Expr::Const(value as i64)
}

/// A word that is filled field by field. As long as every field is a number so is the word, and no expression is
/// built; listings of the others want the whole history.
#[derive(Clone, Debug, Default)]
pub(super) struct Word {
    /// What the word starts as, then each value with its lowest bit and its mask.
    start: Option<Expr>,
    fields: Vec<(Expr, u8, u64)>,
    /// The word's value; `None` when it is not known yet.
    known: Option<u64>,
    built: OnceCell<Expr>,
}

impl Word {
    /// A word of zeros.
    pub fn zero() -> Word {
        Word { known: Some(0), ..Word::default() }
    }

    /// Replaces the whole word; `number` is the value's number, if it has one.
    pub fn replace(&mut self, value: Expr, number: Option<u64>) {
        *self = Word { start: Some(value), known: number, ..Word::default() };
    }

    /// Replaces the bits of `mask` by `value << shift`.
    pub fn set(&mut self, value: Expr, number: Option<u64>, shift: u8, mask: u64) {
        self.known = self.known.zip(number).map(|(word, n)| word & !mask | n << shift);
        self.fields.push((value, shift, mask));
        self.built = OnceCell::new();
    }

    /// The word as an expression: a number if it is one.
    pub fn value(&self) -> Expr {
        match self.known {
            Some(known) => constant(known),
            None => self.history().clone(),
        }
    }

    /// The bits of `mask`, shifted down.
    pub fn get(&self, shift: u8, mask: u64) -> Expr {
        match self.known {
            Some(known) => constant((known & mask) >> shift),
            None => {
                let bits = Expr::binary(BinOp::And, self.history().clone(), constant(mask));
                Expr::binary(BinOp::Shr, bits, constant(u64::from(shift)))
            }
        }
    }

    fn history(&self) -> &Expr {
        self.built.get_or_init(|| {
            let start = self.start.clone().unwrap_or(Expr::Const(0));
            self.fields.iter().fold(start, |word, (value, shift, mask)| {
                let kept = Expr::binary(BinOp::And, word, Expr::unary(UnOp::Not, constant(*mask)));
                let moved = Expr::binary(BinOp::Shl, value.clone(), constant(u64::from(*shift)));
                Expr::binary(BinOp::Or, kept, moved)
            })
        })
    }
}

/// `word` with the bits of `mask << shift` replaced, the value masked first: how `amd_kernel_code_t` does it in its
/// 32-bit words.
pub(super) fn merge(word: Expr, value: Expr, shift: u32, mask: u64) -> Expr {
    let others = u64::from(!((mask << shift) as u32));
    let kept = Expr::binary(BinOp::And, word, constant(others));
    Expr::binary(BinOp::Or, kept, place(value, shift, mask))
}

/// `(value & mask) << shift`.
pub(super) fn place(value: Expr, shift: u32, mask: u64) -> Expr {
    let masked = Expr::binary(BinOp::And, value, constant(mask));
    if shift == 0 { masked } else { Expr::binary(BinOp::Shl, masked, constant(u64::from(shift))) }
}

/// `(word >> shift) & mask`.
pub(super) fn extract(word: &Expr, shift: u32, mask: u64) -> Expr {
    let shifted = match shift {
        0 => word.clone(),
        _ => Expr::binary(BinOp::Shr, word.clone(), constant(u64::from(shift))),
    };
    Expr::binary(BinOp::And, shifted, constant(mask))
}

/// Writes a value to the listing: a number when it is one by now, else the expression.
/// `unsigned`: as a 64-bit number without sign.
pub(super) fn print(p: &mut Parser<'_>, value: &Expr, unsigned: bool) {
    match p.eval(value) {
        Some(number) if unsigned => p.out.buf.extend_from_slice((number as u64).to_string().as_bytes()),
        Some(number) => p.out.buf.extend_from_slice(number.to_string().as_bytes()),
        None => value.print(&p.symbols, &mut p.out.buf),
    }
}
