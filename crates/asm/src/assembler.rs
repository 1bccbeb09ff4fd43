//! One statement after the other: what each one is, and who reads it.

use crate::expr::Expr;
use crate::lex::{Tok, Token};
use crate::options::Options;
use crate::parser::{Assignment, Finished, Parser, Res};
use crate::source::{Diag, SourceMap};
use crate::{amd, inst};

/// Reads a file to its end.
pub(crate) fn run(options: &Options, map: &SourceMap, name: &str, text: Vec<u8>) -> Finished {
    let mut p = Parser::new(options, map, name, text);
    p.file();
    p.finish()
}

impl<'a> Parser<'a> {
    /// The whole file.
    fn file(&mut self) {
        for (name, value) in &self.options.defsym {
            let value = Expr::Const(*value);
            let id = self.symbols.get_or_insert(name);
            self.write_assignment(b".set ", id, &value);
            self.symbols.set_value(id, value);
        }
        self.init_sections();
        amd::begin(self);
        loop {
            if self.lex.kind() == Tok::Eof {
                if self.leave_include() {
                    continue;
                }
                break;
            }
            if let Err(diag) = self.statement() {
                self.report(diag);
                if self.too_many_errors() {
                    break;
                }
                if !self.lex.at_statement_start() {
                    self.lex.skip_statement();
                }
            }
            if self.beyond_limits() {
                break;
            }
        }
        amd::finish(self);
        if !self.conditions.balanced() {
            let span = self.lex.here();
            self.error(span, "unmatched .ifs or .elses");
        }
        self.check_file_numbers();
        for (span, id) in std::mem::take(&mut self.directional_uses) {
            if self.symbols[id].is_undefined() {
                self.error(span, "directional label undefined");
            }
        }
        if !self.failed() && self.out.is_text() {
            self.finish_text();
        }
    }

    #[inline]
    fn statement(&mut self) -> Res {
        let first = self.lex.peek();
        match first.kind {
            Tok::Ident => {
                self.lex.bump();
                self.named_statement(first, None)
            }
            Tok::Eol => {
                // A blank line stays one; a line with nothing but a comment goes.
                let starts = self.lex.source().get(first.start as usize);
                if self.out.is_text() && (first.start == first.end || matches!(starts, Some(b'\n' | b'\r'))) {
                    self.out.eol();
                }
                self.lex.bump();
                Ok(())
            }
            Tok::HashDirective => {
                self.line_marker(first);
                Ok(())
            }
            _ => self.odd_statement(first),
        }
    }

    /// A statement that does not start with an identifier.
    fn odd_statement(&mut self, first: Token) -> Res {
        self.statement = self.lex.span(first);
        let name = match first.kind {
            Tok::Int => {
                self.lex.bump();
                let value = self.lex.int_value(first);
                if self.conditions.skipping() {
                    self.lex.skip_statement();
                    return Ok(());
                }
                if self.lex.kind() == Tok::Colon && i64::try_from(value).is_ok() {
                    return self.label(None, value);
                }
                self.lex.bump();
                return Err(Diag::error(self.statement, "unexpected token at start of statement"));
            }
            Tok::Dot => {
                self.lex.bump();
                Some(".")
            }
            Tok::LCurly | Tok::RCurly => {
                self.lex.bump();
                Some(self.lex.text(first))
            }
            _ => self.identifier(),
        };
        if let Some(name) = name {
            return self.named_statement(first, Some(name));
        }
        if self.conditions.skipping() {
            self.lex.skip_statement();
            return Ok(());
        }
        if first.kind == Tok::Error {
            let (span, message) = (self.lex.error_span(), self.lex.error_message());
            self.error(span, message);
        }
        self.lex.bump();
        Err(Diag::error(self.statement, "unexpected token at start of statement"))
    }

    /// The name is the first token, unless that is not the whole of it.
    #[inline]
    fn named_statement(&mut self, first: Token, whole: Option<&'a str>) -> Res {
        self.statement = self.lex.span(first);
        // Instructions, most statements, do not need it as text.
        let name = |p: &Self| whole.unwrap_or_else(|| p.lex.text(first));
        let bytes = whole.map_or(self.lex.bytes(first), str::as_bytes);
        let dotted = bytes.first() == Some(&b'.');
        if dotted && let Some(result) = self.conditional(name(self)) {
            return result;
        }
        if self.conditions.skipping() {
            self.lex.skip_statement();
            return Ok(());
        }
        match self.lex.kind() {
            Tok::Colon => return self.label(Some(name(self)), 0),
            Tok::Equal => {
                self.lex.bump();
                return self.assignment(name(self), Assignment::Equal);
            }
            _ => {}
        }
        if !self.macros.is_empty() && self.macros.enabled && self.macros.is_defined(name(self)) {
            return self.expand_macro(name(self), self.lex.span(first));
        }
        if dotted && bytes != b"." {
            let name = name(self);
            if let Some(result) = amd::directive(self, name, first) {
                return result;
            }
            return self.directive(name);
        }
        self.instruction(first)
    }

    #[inline]
    fn instruction(&mut self, mnemonic: Token) -> Res {
        let encoded = inst::parse(self, mnemonic)?;
        if !self.lex.at_eol() {
            return Err(self.token_error("unexpected token after the instruction"));
        }
        self.lex.eat(Tok::Eol);
        if self.out.is_text() {
            let mut buf = std::mem::take(&mut self.out.buf);
            let start = buf.len();
            buf.push(b'\t');
            inst::print(&encoded, self, &mut buf);
            self.out.buf = buf;
            if self.options.show_encoding {
                if encoded.fixup.is_none() && !self.out.has_comments() {
                    self.out.eol_with_encoding(start, encoded.bits, encoded.len);
                    return Ok(());
                }
                self.out.encoding_comment(encoded.bits, encoded.len, encoded.fixup.as_ref(), &self.symbols);
            }
            self.out.eol();
        } else {
            if self.options.debug_lines {
                self.note_line();
            }
            self.emit_instruction(encoded.bits, encoded.len, encoded.fixup);
        }
        Ok(())
    }
}
