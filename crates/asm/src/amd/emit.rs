//! What AMD's directives put into sections. None of it reaches a listing, which has the directives themselves.

use crate::expr::Expr;
use crate::options::Os;
use crate::parser::Parser;
use crate::section::{Section, flags, types};
use crate::source::{Diag, Span};

/// Bytes, in the current section.
pub(super) fn bytes(p: &mut Parser<'_>, bytes: &[u8]) {
    if let Some(object) = &mut p.out.object {
        object.bytes(bytes);
    }
}

/// So many zeros, at most 64, in the current section.
pub(super) fn zeros(p: &mut Parser<'_>, count: usize) {
    bytes(p, &[0; 64][..count.min(64)]);
}

/// A value of `size` bytes, in the current section.
pub(super) fn value(p: &mut Parser<'_>, value: &Expr, size: u8, at: Span) -> Result<(), Diag> {
    match p.eval(value) {
        // What does not fit was refused where it was said, or is meant to be cut off.
        Some(known) => {
            bytes(p, &known.to_le_bytes()[..usize::from(size)]);
            Ok(())
        }
        None => p.emit_value(value, size, at),
    }
}

/// A note record, in the note section.
pub(super) fn note(p: &mut Parser<'_>, owner: &str, kind: u32, contents: &[u8]) {
    if p.out.is_text() {
        return;
    }
    // The loader of the HSA runtime looks for notes in memory.
    let flags = if p.options.os == Os::AmdHsa { flags::ALLOC } else { 0 };
    let section = p.section(Section::new(".note", types::NOTE, flags));
    p.push_section();
    p.switch_section(section, 0);
    let mut start = Vec::with_capacity(24);
    for word in [owner.len() as u32 + 1, contents.len() as u32, kind] {
        start.extend(word.to_le_bytes());
    }
    start.extend(owner.as_bytes());
    start.push(0);
    bytes(p, &start);
    p.emit_align(4, Some(0), 1, 0);
    bytes(p, contents);
    p.emit_align(4, Some(0), 1, 0);
    p.pop_section();
}
