//! What statements do to the output: labels, data, alignment; as text or into the object.

use super::{Parser, Res};
use crate::expr::Expr;
use crate::fixup::{Fixup, FixupKind};
use crate::ids::{Position, SymId};
use crate::number::{write_int, write_leb128};
use crate::source::{Diag, Span};
use crate::symbol::Home;

impl Parser<'_> {
    /// Defines a label here.
    pub fn emit_label(&mut self, id: SymId, span: Span) -> Res {
        let Some((section, _)) = self.current_section() else {
            return Err(Diag::error(span, "expected section directive before assembly directive"));
        };
        self.redefine_if_possible(id);
        let symbol = &self.symbols[id];
        if symbol.is_variable() || symbol.common.is_some() || self.symbols.home(id) != Home::Nowhere {
            let message = format!("symbol '{}' is already defined", symbol.name);
            self.error(span, message);
        } else {
            let place = match &mut self.out.object {
                Some(object) => object.place(),
                None => Position { section, fragment: 0, offset: 0 },
            };
            self.symbols[id].place = Some(place);
        }
        if self.out.is_text() {
            self.symbols.print_name(id, &mut self.out.buf);
            self.out.buf.push(b':');
            self.out.eol();
        }
        Ok(())
    }

    /// Bytes of output so far, roughly: for limits.
    pub(super) fn output_size(&self) -> usize {
        match &self.out.object {
            Some(object) => object.bytes_emitted(),
            None => self.out.buf.len(),
        }
    }

    /// Emits plain bytes, which LLVM prints as a string unless there is only one.
    pub fn emit_bytes(&mut self, data: &[u8]) {
        if let Some(object) = &mut self.out.object {
            object.bytes(data);
            return;
        }
        match data {
            [] => {}
            [byte] => {
                self.out.raw(b"\t.byte\t");
                write_int(i64::from(*byte), &mut self.out.buf);
                self.out.eol();
            }
            [text @ .., 0] => {
                self.out.raw(b"\t.asciz\t");
                self.out.quoted(text);
                self.out.eol();
            }
            text => {
                self.out.raw(b"\t.ascii\t");
                self.out.quoted(text);
                self.out.eol();
            }
        }
    }

    /// Emits a number of `size` bytes.
    pub fn emit_int(&mut self, value: i64, size: u8) {
        if let Some(object) = &mut self.out.object {
            object.bytes(&value.to_le_bytes()[..size.min(8) as usize]);
            return;
        }
        self.out.raw(data_directive(size));
        write_int(value, &mut self.out.buf);
        self.out.eol();
    }

    /// Emits an expression's value of `size` bytes (1, 2, 4 or 8), now or when it is known.
    pub fn emit_value(&mut self, value: &Expr, size: u8, span: Span) -> Res {
        if let Expr::Const(value) = value {
            self.emit_int(*value, size);
            return Ok(());
        }
        if self.out.is_text() {
            self.out.raw(data_directive(size));
            value.print(&self.symbols, &mut self.out.buf);
            self.out.eol();
            return Ok(());
        }
        if let Some(known) = self.eval(value) {
            let bits = u32::from(size) * 8;
            if bits < 64 && (known as u64) >> bits != 0 && known >> (bits - 1) != -1 {
                return Err(Diag::error(span, format!("value evaluated as {known} is out of range.")));
            }
            self.emit_int(known, size);
            return Ok(());
        }
        if let Some(object) = &mut self.out.object {
            object.fixup(FixupKind::data(size), value.clone(), span);
        }
        Ok(())
    }

    /// Emits an instruction into the object.
    pub(crate) fn emit_instruction(&mut self, bits: u64, len: u8, fixup: Option<Fixup>) {
        // Problems that only show at the end are the instruction's.
        let span = self.statement;
        if let Some(object) = &mut self.out.object {
            object.instruction(bits, len, fixup.map(|fixup| Fixup { span, ..fixup }));
        }
    }

    /// Emits `count` bytes of a value.
    pub fn emit_space(&mut self, count: Expr, value: i64, span: Span) -> Res {
        if self.out.is_text() {
            let scope = crate::eval::Scope { layout: None, ..self.scope() };
            if count.absolute(scope) == Some(0) {
                return Ok(());
            }
            self.out.raw(b"\t.zero\t");
            count.print(&self.symbols, &mut self.out.buf);
            if value != 0 {
                self.out.buf.push(b',');
                write_int(i64::from(value as i32), &mut self.out.buf);
            }
            self.out.eol();
            return Ok(());
        }
        if self.eval(&count).is_some_and(|n| n < 0) {
            return Err(Diag::error(span, "invalid number of bytes"));
        }
        self.object_fill(count, 1, value as u8 as u64, span)
    }

    /// Emits `count` values of `size` bytes each.
    pub(super) fn emit_fill(&mut self, count: Expr, size: u8, value: i64, span: Span) -> Res {
        if self.out.is_text() {
            self.out.raw(b"\t.fill\t");
            count.print(&self.symbols, &mut self.out.buf);
            self.out.line(format_args!(", {size}, 0x{:x}", value as u32));
            return Ok(());
        }
        // Only the low four bytes are repeated; a size beyond that is filled up with zeros.
        self.object_fill(count, size, u64::from(value as u32), span)
    }

    fn object_fill(&mut self, count: Expr, size: u8, value: u64, span: Span) -> Res {
        let known = self.eval(&count);
        if known.is_some_and(|n| n < 0) {
            self.warning(span, "'.fill' directive with negative repeat count has no effect");
            return Ok(());
        }
        if size != 0
            && let Some(object) = &mut self.out.object
        {
            object.fill(known.map_or(count, Expr::Const), size, value, span);
        }
        Ok(())
    }

    /// Moves to an offset in the section.
    pub(super) fn emit_org(&mut self, offset: Expr, value: u8, span: Span) -> Res {
        if self.out.is_text() {
            self.out.raw(b".org ");
            offset.print(&self.symbols, &mut self.out.buf);
            self.out.line(format_args!(", {value}"));
        } else if let Some(object) = &mut self.out.object {
            object.org(offset, value, span);
        }
        Ok(())
    }

    /// Aligns. `value` is what to fill with, `None` in code: then it is up to the object writer.
    pub fn emit_align(&mut self, alignment: u64, value: Option<i64>, size: u8, max: u32) {
        if let Some(object) = &mut self.out.object {
            object.align(alignment, value, size, max);
            return;
        }
        let power = alignment.trailing_zeros();
        let name = match size {
            1 => "\t.p2align\t",
            2 => ".p2alignw ",
            _ => ".p2alignl ",
        };
        self.out.raw(format!("{name}{power}").as_bytes());
        if let Some(value) = value {
            let mask = u64::MAX >> (64 - u32::from(size) * 8);
            self.out.raw(format!(", 0x{:x}", value as u64 & mask).as_bytes());
        } else if max != 0 {
            self.out.raw(b", ");
        }
        if max != 0 {
            self.out.raw(format!(", {max}").as_bytes());
        }
        self.out.eol();
    }

    /// Emits a LEB128 number.
    pub(super) fn emit_leb128(&mut self, value: Expr, signed: bool, span: Span) -> Res {
        if let Some(known) = self.eval(&value) {
            let mut bytes = Vec::new();
            write_leb128(known, signed, &mut bytes);
            self.emit_bytes(&bytes);
            return Ok(());
        }
        if self.out.is_text() {
            self.out.raw(if signed { b"\t.sleb128 " } else { b"\t.uleb128 " });
            value.print(&self.symbols, &mut self.out.buf);
            self.out.eol();
        } else if let Some(object) = &mut self.out.object {
            object.leb128(value, signed, span);
        }
        Ok(())
    }

    /// `.reloc` into the object.
    pub(super) fn emit_reloc(
        &mut self,
        offset: Expr,
        at: Span,
        name: &str,
        name_at: Span,
        value: Option<Expr>,
    ) -> Res {
        let ty = crate::object::relocation_type(name)
            .ok_or_else(|| Diag::error(name_at, "unknown relocation name"))?;
        let place = offset.relocatable(self.scope());
        let symbol = match place.map(|v| (v.a, v.b, v.c)) {
            Some((None, None, c)) if c < 0 => return Err(Diag::error(at, ".reloc offset is negative")),
            Some((None, None, _)) => None,
            Some((Some((id, _)), None, _)) => Some((id, self.symbols[id].place)),
            _ => return Err(Diag::error(at, ".reloc offset is not absolute nor a label")),
        };
        let constant = place.map_or(0, |v| v.c);
        if let Some(object) = &mut self.out.object {
            object.reloc(ty, symbol, constant, value, at);
        }
        Ok(())
    }

    /// What LLVM writes after the last statement.
    pub(crate) fn finish_text(&mut self) {
        self.finish_frames();
    }

    /// Settles addresses, resolves what can be resolved and leaves the rest to the linker.
    pub(super) fn finish_object(&mut self) {
        self.finish_frames();
        if self.failed() {
            return;
        }
        let Some(mut object) = self.out.object.take() else { return };
        object.rela = self.options.os == crate::options::Os::AmdHsa;
        let problems = object.finish(&mut self.symbols, &self.sections, &self.target);
        self.out.object = Some(object);
        for problem in problems {
            self.report(problem);
        }
    }
}

fn data_directive(size: u8) -> &'static [u8] {
    match size {
        1 => b"\t.byte\t",
        2 => b"\t.short\t",
        4 => b"\t.long\t",
        _ => b"\t.quad\t",
    }
}
