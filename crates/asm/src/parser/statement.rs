//! The simple statements: labels, assignments, line markers.

use super::{Parser, Res};
use crate::expr::Expr;
use crate::lex::{Tok, Token};
use crate::source::{Diag, LineMarker, Origin, Span};
use crate::symbol::Home;

/// How a symbol is set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Assignment {
    /// `a = b`
    Equal,
    /// `.set a, b`
    Set,
    /// `.equiv a, b`
    Equiv,
    /// `.lto_set_conditional a, b`
    LtoConditional,
}

impl Parser<'_> {
    /// The cursor is on the colon; `None` means the numeric label `number`.
    pub(crate) fn label(&mut self, name: Option<&str>, number: u64) -> Res {
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
    pub(crate) fn assignment(&mut self, name: &str, how: Assignment) -> Res {
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

    pub(crate) fn write_assignment(&mut self, directive: &[u8], id: crate::ids::SymId, value: &Expr) {
        if self.out.is_text() {
            self.out.buf.extend_from_slice(directive);
            self.symbols.print_name(id, &mut self.out.buf);
            self.out.buf.extend_from_slice(b", ");
            value.print(&self.symbols, &mut self.out.buf);
            self.out.eol();
        }
    }

    /// `# 12 "file.c"`: from here on messages count lines from there.
    pub(crate) fn line_marker(&mut self, token: Token) {
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
