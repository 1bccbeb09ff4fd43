//! Words of bit fields whose values may be known only at the end of the source.
//!
//! Expressions are built exactly as LLVM builds them, since listings print them as they are.

use crate::expr::{BinOp, Expr, UnOp};
use crate::parser::Parser;

fn constant(value: u64) -> Expr {
    Expr::Const(value as i64)
}

/// `word` with the bits of `mask` replaced by `value << shift`.
pub(super) fn set(word: Expr, value: Expr, shift: u8, mask: u64) -> Expr {
    let kept = Expr::binary(BinOp::And, word, Expr::unary(UnOp::Not, constant(mask)));
    Expr::binary(BinOp::Or, kept, Expr::binary(BinOp::Shl, value, constant(u64::from(shift))))
}

/// The bits of `mask` in `word`, shifted down.
pub(super) fn get(word: &Expr, shift: u8, mask: u64) -> Expr {
    let bits = Expr::binary(BinOp::And, word.clone(), constant(mask));
    Expr::binary(BinOp::Shr, bits, constant(u64::from(shift)))
}

/// As [`set`], with the value masked first: how `amd_kernel_code_t` does it in its 32-bit words.
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
