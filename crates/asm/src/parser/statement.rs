//! One statement after the other: what each one is, and the simple ones themselves.

use super::{Parser, Res};
use crate::expr::Expr;
use crate::lex::{Tok, Token};
use crate::source::{Diag, LineMarker, Origin, Span};
use crate::symbol::Home;
use crate::{amd, inst};

/// How a symbol is set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Assignment {
    /// `a = b`
    Equal,
    /// `.set a, b`
    Set,
    /// `.equiv a, b`
    Equiv,
    /// `.lto_set_conditional a, b`
    LtoConditional,
}

impl<'a> Parser<'a> {
    /// The whole file.
    pub(super) fn file(&mut self) {
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
            self.emit_instruction(encoded.bits, encoded.len, encoded.fixup);
        }
        Ok(())
    }

    /// The cursor is on the colon; `None` means the numeric label `number`.
    fn label(&mut self, name: Option<&str>, number: u64) -> Res {
        let at = self.statement;
        self.lex.bump();
        let id = match name {
            Some(".") => return Err(Diag::error(at, "invalid use of pseudo-symbol '.' as a label")),
            Some(name) => self.symbols.get_or_insert(name),
            None => self.symbols.define_directional(number),
        };
        // A label ends a statement as far as `#` comments are concerned, which the lexer cannot know.
        if self.lex.kind() == Tok::Hash {
            self.lex.skip_to_eol();
        }
        self.lex.eat(Tok::Eol);
        if name.is_some_and(|name| self.discarded.contains(&name)) {
            return Ok(());
        }
        self.emit_label(id, at)
    }

    /// `name = …`, `.set name, …`: the cursor is on the expression.
    pub(super) fn assignment(&mut self, name: &str, how: Assignment) -> Res {
        let at = self.lex.here();
        let value = match self.expr() {
            Ok(value) => value,
            Err(diag) => {
                if self.lex.kind() != Tok::Error {
                    self.report(diag);
                }
                return Err(self.token_error("missing expression"));
            }
        };
        self.eol()?;
        let redefine = matches!(how, Assignment::Set | Assignment::Equal);
        if name == "." {
            return self.emit_org(value, 0, at);
        }
        let id = match self.symbols.lookup(name) {
            Some(id) => {
                let symbol = &self.symbols[id];
                let home = self.symbols.home(id);
                let undefined = home == Home::Nowhere && symbol.common.is_none();
                let message = if value.mentions(id, &self.symbols) {
                    "Recursive use of"
                } else if !symbol.used && (if symbol.is_variable() { redefine } else { undefined }) {
                    ""
                } else if !undefined && (!symbol.is_variable() || !redefine) {
                    "redefinition of"
                } else if !symbol.is_variable() {
                    "invalid assignment to"
                } else if !matches!(symbol.value, Some(Expr::Const(_))) {
                    "invalid reassignment of non-absolute variable"
                } else {
                    ""
                };
                if !message.is_empty() {
                    return Err(Diag::error(at, format!("{message} '{name}'")));
                }
                id
            }
            None => self.symbols.get_or_insert(name),
        };
        self.symbols[id].redefinable = redefine;
        if self.discarded.contains(&name) {
            return Ok(());
        }
        if how == Assignment::LtoConditional {
            if !matches!(value, Expr::Sym(..)) {
                return Err(Diag::error(at, "expected identifier"));
            }
            self.write_assignment(b".lto_set_conditional ", id, &value);
            return Ok(());
        }
        self.write_assignment(b".set ", id, &value);
        if how != Assignment::Equal && self.out.is_text() {
            self.out.buf.extend_from_slice(b"\t.no_dead_strip\t");
            self.symbols.print_name(id, &mut self.out.buf);
            self.out.eol();
        }
        self.symbols.set_value(id, value);
        self.symbols[id].value_span = Some(at);
        Ok(())
    }

    fn write_assignment(&mut self, directive: &[u8], id: crate::symbol::SymId, value: &Expr) {
        if self.out.is_text() {
            self.out.buf.extend_from_slice(directive);
            self.symbols.print_name(id, &mut self.out.buf);
            self.out.buf.extend_from_slice(b", ");
            value.print(&self.symbols, &mut self.out.buf);
            self.out.eol();
        }
    }

    /// `# 12 "file.c"`: from here on messages count lines from there.
    fn line_marker(&mut self, token: Token) {
        let bytes = self.lex.bytes(token);
        let text = String::from_utf8_lossy(bytes);
        let mut words = text[1..].trim_start().splitn(2, |c: char| !c.is_ascii_alphanumeric());
        let line = words.next().and_then(|n| n.parse().ok()).unwrap_or(0);
        let file = words.next().and_then(|rest| rest.split('"').nth(1)).unwrap_or("");
        let at = self.lex.span(token);
        // Inside macros the expansion's own lines are what the reader can find.
        if !matches!(self.sources.get(at.buffer).origin, Origin::Expansion(_)) {
            self.markers.push(LineMarker { at, line, file: file.to_owned() });
        }
        self.lex.bump();
    }

    /// Where the statement being read starts.
    pub fn statement_span(&self) -> Span {
        self.statement
    }
}
