//! Operands as written, before an encoding gives them meaning.

use super::constant::Number;
use super::modifier::{Mod, Mods};
use super::register::{self, File, Reg};
use crate::expr::Expr;
use crate::lex::Tok;
use crate::parser::Parser;
use crate::source::{Diag, Span};
use wavemill_isa::{Level, Row, Target, regs};

/// What an operand is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Kind {
    /// A register or a run of them.
    Reg(Reg),
    /// A number.
    Number(Number),
    /// An expression that has no value yet: [`Line::expr`].
    Expr,
    /// `off`.
    Off,
    /// An operand with a syntax of its own, read by `special`.
    Special(u32),
}

/// An operand with its source modifiers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Op {
    pub kind: Kind,
    pub neg: bool,
    pub abs: bool,
    pub sext: bool,
    start: u32,
    end: u32,
}

impl Op {
    const NONE: Op = Op { kind: Kind::Off, neg: false, abs: false, sext: false, start: 0, end: 0 };

    /// True with `-`, `|…|`, `neg()`, `abs()` or `sext()`.
    pub fn modified(&self) -> bool {
        self.neg || self.abs || self.sext
    }

    /// The register, when it is one without modifiers.
    pub fn reg(&self) -> Option<Reg> {
        match self.kind {
            Kind::Reg(reg) if !self.modified() => Some(reg),
            _ => None,
        }
    }

    /// The register, with or without modifiers, when it is in the file and of this width.
    pub fn in_file(&self, file: File, dwords: u8) -> Option<u32> {
        match self.kind {
            Kind::Reg(reg) if reg.file == file && reg.dwords == dwords => Some(reg.code.into()),
            _ => None,
        }
    }
}

/// No instruction of these generations has more operands than this.
const MAX_OPERANDS: usize = 8;

/// An instruction as written.
pub(super) struct Line {
    pub row: &'static Row,
    pub level: Level,
    pub target: Target,
    /// What LLVM leaves out of the documents is taken (`Options::documented`).
    pub documented: bool,
    /// The mnemonic's place.
    pub span: Span,
    pub mods: Mods,
    ops: [Op; MAX_OPERANDS],
    len: usize,
    /// The expression, if an operand is one.
    pub expr: Option<Expr>,
    /// How many operands are expressions.
    pub exprs: u8,
}

impl Line {
    pub fn new(row: &'static Row, target: Target, documented: bool, span: Span) -> Line {
        Line {
            row,
            level: target.level(),
            target,
            documented,
            span,
            mods: Mods::new(),
            ops: [Op::NONE; MAX_OPERANDS],
            len: 0,
            expr: None,
            exprs: 0,
        }
    }

    /// The operands.
    pub fn ops(&self) -> &[Op] {
        &self.ops[..self.len]
    }

    /// Where an operand is; the mnemonic's place when it is missing.
    pub fn op_span(&self, i: usize) -> Span {
        self.ops().get(i).map_or(self.span, |op| Span { start: op.start, end: op.end, ..self.span })
    }

    /// Where a modifier is; the mnemonic's place when it was not written.
    pub fn mod_span(&self, m: Mod) -> Span {
        if self.mods.seen.has(m) {
            let start = self.mods.start(m);
            Span { start, end: start, ..self.span }
        } else {
            self.span
        }
    }

    pub fn push(&mut self, op: Op) -> Result<(), Diag> {
        if self.len == MAX_OPERANDS {
            let span = Span { start: op.start, end: op.end, ..self.span };
            return Err(Diag::error(span, "too many operands"));
        }
        self.ops[self.len] = op;
        self.len += 1;
        Ok(())
    }

    /// Puts VCC between the operands.
    pub fn insert_vcc(&mut self, at: usize) {
        if at > self.len || self.len == MAX_OPERANDS {
            return;
        }
        let start = self.op_span(at).start;
        let vcc = Reg { file: File::S, dwords: 2, code: regs::VCC as u16 };
        self.ops.copy_within(at..self.len, at + 1);
        self.ops[at] = Op { kind: Kind::Reg(vcc), start, end: start, ..Op::NONE };
        self.len += 1;
    }

    /// Adds an operand that was read by `special` from `start` on.
    pub fn push_special(&mut self, p: &Parser<'_>, start: Span, value: u32) -> Result<(), Diag> {
        self.push(Op { kind: Kind::Special(value), start: start.start, end: p.lex.here().start, ..Op::NONE })
    }

    fn set_expr(&mut self, expr: Expr) {
        self.exprs += 1;
        self.expr = Some(expr);
    }
}

/// Which source modifiers an operand's syntax has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Signs {
    /// None: `-` belongs to a number.
    No,
    /// All of them.
    Yes,
}

fn open(p: &mut Parser<'_>, name: &[u8]) -> bool {
    let hit = p.lex.at_call(name);
    if hit {
        p.lex.bump();
        p.lex.bump();
    }
    hit
}

fn close(p: &mut Parser<'_>, opened: bool) -> Result<(), Diag> {
    if opened {
        p.expect(Tok::RParen, "expected a closing parenthesis")?;
    }
    Ok(())
}

/// Does a `-` at the cursor negate a register rather than belong to a number?
fn negates(p: &Parser<'_>) -> bool {
    let mut ahead = p.lex;
    ahead.bump();
    let token = ahead.peek();
    token.kind == Tok::Pipe || ahead.at_call(b"abs") || register::starts(p, token, || ahead.peek2().kind)
}

/// Reads an operand: a register, a number or an expression, with source modifiers if it may have any.
pub(super) fn parse(p: &mut Parser<'_>, line: &mut Line, signs: Signs) -> Result<(), Diag> {
    let first = p.lex.peek();
    let mut op = Op { start: first.start, ..Op::NONE };
    // Nearly every operand is a plain register or a plain number.
    if let Some(reg) = register::parse(p)? {
        op.kind = Kind::Reg(reg);
    } else if first.kind == Tok::Int {
        value(p, line, &mut op, false, false)?;
    } else if signs == Signs::Yes {
        signed(p, line, &mut op)?;
    } else {
        // What would be a source modifier elsewhere is not to be read as an expression.
        let call = [&b"neg"[..], b"abs", b"sext"].iter().any(|name| p.lex.at_call(name));
        if call || first.kind == Tok::Minus && negates(p) {
            return Err(p.token_error("this operand takes no source modifiers"));
        }
        value(p, line, &mut op, false, false)?;
    }
    op.end = p.lex.peek().start;
    line.push(op)
}

fn signed(p: &mut Parser<'_>, line: &mut Line, op: &mut Op) -> Result<(), Diag> {
    if p.lex.kind() == Tok::Minus {
        if p.lex.peek2().kind == Tok::Minus && line.row.neg != 0 {
            return Err(p.token_error("write neg(…) instead of two signs"));
        }
        if negates(p) {
            p.lex.bump();
            op.neg = true;
        }
    }
    if line.row.neg != 0
        && matches!(p.lex.word(), b"neg" | b"abs" | b"lit")
        && p.lex.peek2().kind != Tok::LParen
    {
        return Err(p.token_error("expected a left parenthesis after the source modifier"));
    }
    let sext = open(p, b"sext");
    let neg = open(p, b"neg");
    if op.neg && (neg || sext) {
        return Err(p.token_error("expected a register or a number"));
    }
    let abs = open(p, b"abs");
    let lit = open(p, b"lit");
    let bar = p.lex.kind() == Tok::Pipe;
    if bar {
        if abs {
            return Err(p.token_error("expected a register or a number"));
        }
        p.lex.bump();
    }
    op.neg |= neg;
    op.abs = abs || bar;
    op.sext = sext;
    let again = [&b"neg"[..], b"abs", b"sext"].iter().any(|name| p.lex.at_call(name));
    if again || p.lex.kind() == Tok::Pipe {
        return Err(p.token_error("expected a register or a number"));
    }
    value(p, line, op, bar, lit)?;
    if bar {
        p.expect(Tok::Pipe, "expected a vertical bar")?;
    }
    for opened in [lit, abs, neg, sext] {
        close(p, opened)?;
    }
    if op.kind == Kind::Expr && (op.modified() || lit) {
        let span = Span { start: op.start, end: op.start, ..line.span };
        return Err(Diag::error(
            span,
            "the argument of neg(), abs(), sext() or lit() must have a value by now",
        ));
    }
    if lit && matches!(op.kind, Kind::Reg(_)) {
        let span = Span { start: op.start, end: op.start, ..line.span };
        return Err(Diag::error(span, "lit() takes a number"));
    }
    Ok(())
}

/// A register, a number or an expression. `bar` says that `|` ends it, `in_lit` that `lit(` is behind the cursor.
fn value(p: &mut Parser<'_>, line: &mut Line, op: &mut Op, bar: bool, in_lit: bool) -> Result<(), Diag> {
    if let Some(reg) = register::parse(p)? {
        op.kind = Kind::Reg(reg);
        return Ok(());
    }
    let token = p.lex.peek();
    if token.kind == Tok::Ident && p.lex.peek2().kind == Tok::Colon {
        let name = p.lex.text(token);
        return Err(Diag::error(
            p.lex.span(token),
            format!("'{name}' is not a modifier of this instruction"),
        ));
    }
    if !in_lit && open(p, b"lit") {
        value(p, line, op, bar, true)?;
        close(p, true)?;
        return match op.kind {
            Kind::Number(_) => Ok(()),
            _ => Err(Diag::error(p.lex.span(token), "lit() takes a number that has a value by now")),
        };
    }
    let negative = token.kind == Tok::Minus && p.lex.peek2().kind == Tok::Real;
    if negative {
        p.lex.bump();
    }
    if p.lex.kind() == Tok::Real {
        let token = p.lex.bump();
        let value = p.lex.real_value(token);
        let value = value.ok_or_else(|| Diag::error(p.lex.span(token), "invalid floating point literal"))?;
        let value = if negative { -value } else { value };
        op.kind = Kind::Number(Number::Float(value.to_bits()));
        return Ok(());
    }
    let expr = if bar { p.primary_expr()? } else { p.expr()? };
    let constant = match expr {
        Expr::Const(value) => Some(value),
        _ if bar => p.eval(&expr),
        _ => None,
    };
    op.kind = match constant {
        Some(value) => Kind::Number(Number::Int(value)),
        None => {
            line.set_expr(expr);
            Kind::Expr
        }
    };
    Ok(())
}

/// Reads `off` if it is there.
pub(super) fn off(p: &mut Parser<'_>, line: &mut Line) -> Result<bool, Diag> {
    if p.lex.word() != b"off" {
        return Ok(false);
    }
    let token = p.lex.bump();
    line.push(Op { kind: Kind::Off, start: token.start, end: token.end, ..Op::NONE })?;
    Ok(true)
}
