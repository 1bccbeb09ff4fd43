//! Conditional assembly: `.if` and its relatives.

use super::{Parser, Res};
use crate::lex::Tok;
use crate::source::Diag;
use crate::symbol::Home;

/// Which part of a conditional is being read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Part {
    #[default]
    None,
    If,
    ElseIf,
    Else,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Condition {
    part: Part,
    /// A branch of it was taken.
    met: bool,
    /// The current branch is skipped.
    ignore: bool,
}

/// The conditionals that are open.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conditions {
    current: Condition,
    outer: Vec<Condition>,
}

/// More open conditionals than this is a mistake; each costs memory.
const MAX_OPEN: usize = 100_000;

impl Conditions {
    /// Are statements being skipped?
    #[inline]
    pub fn skipping(&self) -> bool {
        self.current.ignore
    }

    /// Every `.if` has its `.endif`.
    pub fn balanced(&self) -> bool {
        self.current.part == Part::None
    }

    /// How many are open.
    pub fn depth(&self) -> usize {
        self.outer.len()
    }

    /// Closes all but `depth` of them, for `.exitm`.
    pub fn unwind(&mut self, depth: usize) {
        while self.outer.len() > depth {
            self.current = self.outer.pop().unwrap_or_default();
        }
    }

    fn open(&mut self) {
        self.outer.push(self.current);
        self.current.part = Part::If;
    }

    fn decide(&mut self, met: bool) {
        self.current.met = met;
        self.current.ignore = !met;
    }

    fn outer_ignored(&self) -> bool {
        self.outer.last().is_some_and(|c| c.ignore)
    }
}

impl Parser<'_> {
    /// Handles the statement if it is a conditional directive.
    pub(crate) fn conditional(&mut self, name: &str) -> Option<Res> {
        // All of them start with `.if`, `.el` or `.en`; most directives do not.
        let bytes = name.as_bytes();
        if bytes.len() < 3
            || !matches!((bytes[1] | 0x20, bytes[2] | 0x20), (b'i', b'f') | (b'e', b'l' | b'n'))
        {
            return None;
        }
        let lower = name.to_ascii_lowercase();
        Some(match lower.as_str() {
            ".if" | ".ifne" => self.compare(|v| v != 0),
            ".ifeq" => self.compare(|v| v == 0),
            ".ifge" => self.compare(|v| v >= 0),
            ".ifgt" => self.compare(|v| v > 0),
            ".ifle" => self.compare(|v| v <= 0),
            ".iflt" => self.compare(|v| v < 0),
            ".ifb" => self.if_blank(true),
            ".ifnb" => self.if_blank(false),
            ".ifc" => self.if_same(true),
            ".ifnc" => self.if_same(false),
            ".ifeqs" => self.if_same_strings(&lower, true),
            ".ifnes" => self.if_same_strings(&lower, false),
            ".ifdef" => self.if_defined(true),
            ".ifndef" | ".ifnotdef" => self.if_defined(false),
            ".elseif" => self.else_if(),
            ".else" => self.else_part(),
            ".endif" => self.end_if(),
            _ => return None,
        })
    }

    fn open_condition(&mut self) -> Res<bool> {
        if self.conditions.depth() >= MAX_OPEN {
            return Err(Diag::error(self.statement, "conditionals are nested too deeply"));
        }
        self.conditions.open();
        let skipping = self.conditions.skipping();
        if skipping {
            self.lex.skip_statement();
        }
        Ok(!skipping)
    }

    fn compare(&mut self, test: fn(i64) -> bool) -> Res {
        if self.open_condition()? {
            let value = self.absolute()?;
            self.eol()?;
            self.conditions.decide(test(value));
        }
        Ok(())
    }

    fn if_blank(&mut self, expected: bool) -> Res {
        if self.open_condition()? {
            let blank = self.text_to_eol().is_empty();
            self.eol()?;
            self.conditions.decide(expected == blank);
        }
        Ok(())
    }

    fn if_same(&mut self, expected: bool) -> Res {
        if self.open_condition()? {
            let first = self.text_until(|t| t == Tok::Comma).trim_ascii();
            self.comma()?;
            let second = self.text_to_eol().trim_ascii();
            self.eol()?;
            self.conditions.decide(expected == (first == second));
        }
        Ok(())
    }

    fn if_same_strings(&mut self, name: &str, expected: bool) -> Res {
        let string = |p: &mut Self| {
            if p.lex.kind() != Tok::Str {
                return Err(p.token_error(format!("expected string parameter for '{name}' directive")));
            }
            let token = p.lex.bump();
            Ok(p.lex.bytes(token))
        };
        let first = string(self)?;
        if !self.lex.eat(Tok::Comma) {
            let message = format!("expected comma after first string for '{name}' directive");
            return Err(self.token_error(message));
        }
        let second = string(self)?;
        if self.conditions.depth() >= MAX_OPEN {
            return Err(Diag::error(self.statement, "conditionals are nested too deeply"));
        }
        let skipping = self.conditions.skipping();
        self.conditions.open();
        self.conditions.decide(expected == (first == second));
        // In a part that is skipped the inner one is skipped too, whatever it says.
        self.conditions.current.ignore |= skipping;
        Ok(())
    }

    fn if_defined(&mut self, expected: bool) -> Res {
        if self.open_condition()? {
            let name = self.expect_identifier("expected identifier after '.ifdef'")?;
            self.eol()?;
            let defined = self.symbols.lookup(name).is_some_and(|id| {
                self.symbols.home(id) != Home::Nowhere || self.symbols[id].common.is_some()
            });
            self.conditions.decide(expected == defined);
        }
        Ok(())
    }

    fn else_if(&mut self) -> Res {
        if !matches!(self.conditions.current.part, Part::If | Part::ElseIf) {
            let message = "Encountered a .elseif that doesn't follow an .if or  an .elseif";
            return Err(Diag::error(self.statement, message));
        }
        self.conditions.current.part = Part::ElseIf;
        if self.conditions.outer_ignored() || self.conditions.current.met {
            self.conditions.current.ignore = true;
            self.lex.skip_statement();
        } else {
            let value = self.absolute()?;
            self.eol()?;
            self.conditions.decide(value != 0);
        }
        Ok(())
    }

    fn else_part(&mut self) -> Res {
        self.eol()?;
        if !matches!(self.conditions.current.part, Part::If | Part::ElseIf) {
            let message = "Encountered a .else that doesn't follow  an .if or an .elseif";
            return Err(Diag::error(self.statement, message));
        }
        self.conditions.current.part = Part::Else;
        let ignore = self.conditions.outer_ignored() || self.conditions.current.met;
        self.conditions.current.ignore = ignore;
        Ok(())
    }

    fn end_if(&mut self) -> Res {
        self.eol()?;
        match self.conditions.outer.pop() {
            Some(outer) if self.conditions.current.part != Part::None => {
                self.conditions.current = outer;
                Ok(())
            }
            _ => Err(Diag::error(self.statement, "Encountered a .endif that doesn't follow an .if or .else")),
        }
    }
}
