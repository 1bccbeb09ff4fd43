//! `.amd_kernel_code_t … .end_amd_kernel_code_t`: the structure before a kernel's code in code object v2 and on
//! Mesa3D, key by key as `wavemill_object::kernel_code` lists them.

use super::{bits, emit};
use crate::expr::Expr;
use crate::lex::Tok;
use crate::parser::Parser;
use crate::source::{Diag, Span};
use wavemill_object::kernel_code::{self, Field, KernelCode, SIZE};

/// What a block has said: numbers in `bytes`, and the words that may hold expressions.
struct Block {
    bytes: KernelCode,
    /// First byte, size, value; in order.
    words: Vec<(usize, u8, Expr)>,
}

impl Block {
    /// The word that holds a symbolic field on its own or together with others like it.
    fn word(&mut self, field: &Field) -> Option<&mut Expr> {
        let at = field.word_byte();
        self.words.iter_mut().find(|w| w.0 == at).map(|w| &mut w.2)
    }
}

/// The byte of the properties, most of which must be numbers.
const PROPERTIES: usize = 56;

/// Reads a block; the cursor is after `.amd_kernel_code_t`, which stands at `at`.
pub(super) fn block(p: &mut Parser<'_>, at: Span) -> Result<(), Diag> {
    let mut block = Block { bytes: KernelCode::with_defaults(&p.target), words: Vec::new() };
    for field in kernel_code::FIELDS.iter().filter(|f| f.symbolic) {
        let byte = field.word_byte();
        if block.words.last().is_none_or(|w| w.0 != byte) && block.word(field).is_none() {
            block.words.push((byte, field.word / 8, Expr::Const(0)));
        }
    }
    block.words.sort_by_key(|w| w.0);
    while key(p, &mut block)? {}
    if p.out.is_text() {
        print(p, &mut block);
        Ok(())
    } else {
        write(p, block, at)
    }
}

/// Reads one `key = value`; false at the end of the block.
fn key(p: &mut Parser<'_>, block: &mut Block) -> Result<bool, Diag> {
    while p.lex.eat(Tok::Eol) {}
    if p.lex.kind() != Tok::Ident {
        return Err(p.token_error("expected value identifier or .end_amd_kernel_code_t"));
    }
    let token = p.lex.bump();
    let at = p.lex.span(token);
    let name = p.lex.text(token);
    if name == ".end_amd_kernel_code_t" {
        return Ok(false);
    }
    if name == kernel_code::FORGOTTEN && !p.options.documented {
        p.lex.skip_statement();
        return Ok(true);
    }
    let Some(field) = kernel_code::by_name(name) else {
        return Err(Diag::error(at, format!("unexpected amd_kernel_code_t field name {name}")));
    };
    p.expect(Tok::Equal, "expected '='")?;
    let value_at = p.lex.here();
    let value = p.expr()?;
    let number = p.eval(&value);
    check(field, number, at)?;
    if field.symbolic {
        if let Some(word) = block.word(field) {
            // Bits of the resource words pile up, a number of its own is replaced.
            let alone = field.width == field.word || field.word_byte() == PROPERTIES;
            let old = std::mem::replace(word, Expr::Const(0));
            *word = if alone { value } else { bits::merge(old, value, field.shift(), field.mask()) };
        }
    } else {
        let number = number.ok_or_else(|| Diag::error(value_at, "integer absolute expression expected"))?;
        block.bytes.set(field, number as u64);
    }
    if !p.lex.at_eol() {
        return Err(p.token_error("unexpected token after the value"));
    }
    Ok(true)
}

/// What GFX6 to GFX9 do not have.
fn check(field: &Field, number: Option<i64>, at: Span) -> Result<(), Diag> {
    let later = ["enable_wavefront_size32", "enable_wgp_mode", "enable_mem_ordered", "enable_fwd_progress"];
    if later.contains(&field.name) && number.is_some_and(|n| n & 1 != 0) {
        return Err(Diag::error(at, format!("{}=1 is only allowed on GFX10+", field.name)));
    }
    if field.name == "wavefront_size" && number == Some(5) {
        return Err(Diag::error(at, "wavefront_size=5 is only allowed on GFX10+"));
    }
    Ok(())
}

/// Writes the block to a listing: every key, said or not.
fn print(p: &mut Parser<'_>, block: &mut Block) {
    p.out.line(format_args!("\t.amd_kernel_code_t"));
    for field in kernel_code::FIELDS.iter().filter(|f| f.listed) {
        p.out.raw(b"\t\t");
        p.out.raw(field.name.as_bytes());
        p.out.raw(b" = ");
        match block.word(field).filter(|_| field.symbolic) {
            Some(word) => {
                let alone = field.width == field.word || field.word_byte() == PROPERTIES;
                let value =
                    if alone { word.clone() } else { bits::extract(word, field.shift(), field.mask()) };
                bits::print(p, &value, false);
            }
            None => {
                let number = block.bytes.listed_value(field);
                p.out.raw(number.to_string().as_bytes());
            }
        }
        p.out.eol();
    }
    p.out.line(format_args!("\t.end_amd_kernel_code_t"));
}

/// Writes the structure to the current section.
fn write(p: &mut Parser<'_>, block: Block, at: Span) -> Result<(), Diag> {
    let mut end = 0;
    for (byte, size, mut value) in block.words {
        emit::bytes(p, &block.bytes.0[end..byte]);
        end = byte + usize::from(size);
        if byte == PROPERTIES {
            let mut rest = [0; 4];
            rest.copy_from_slice(&block.bytes.0[byte..end]);
            let field = kernel_code::by_name("is_dynamic_callstack");
            let (shift, mask) = field.map_or((0, 0), |f| (f.shift(), f.mask()));
            let rest = Expr::Const(u32::from_le_bytes(rest).into());
            value = Expr::binary(crate::expr::BinOp::Or, rest, bits::place(value, shift, mask));
        }
        emit::value(p, &value, size, at)?;
    }
    emit::bytes(p, &block.bytes.0[end..SIZE]);
    Ok(())
}
