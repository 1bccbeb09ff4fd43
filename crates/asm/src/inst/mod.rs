//! Instructions: from text to an encoding.
//!
//! [`parse`] finds the mnemonic's row, reads operands (`operand`, `register`, `special`) and modifiers (`modifier`)
//! as the row's operands direct, and hands the line to the encoder of its family (`valu`, `salu`, `memory`, `buffer`,
//! `image`). What fits no encoding comes back as a `misfit`; `advice` is what fits and does not work. Printing is `crate::print`'s.

mod advice;
mod buffer;
mod check;
mod constant;
mod image;
mod memory;
mod misfit;
mod mnemonic;
mod modifier;
mod operand;
mod register;
mod salu;
mod special;
mod swizzle;
mod valu;

use crate::expr::{BinOp, Expr, Op as ExprOp, Variant};
use crate::fixup::{Fixup, FixupKind};
use crate::lex::{Tok, Token};
use crate::number::write_int;
use crate::options::Options;
use crate::parser::Parser;
use crate::print::Printer;
use crate::source::{Diag, SourceMap};
use misfit::{Fit, Misfit, Why};
use modifier::Set;
use operand::{Line, Signs};
use register::Reg;
use wavemill_isa::{Access, Enc, Form, Inst, Level, Role, Row};

/// An assembled instruction.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// The instruction.
    pub inst: Inst,
    /// What is not known yet.
    pub fixup: Option<Fixup>,
    /// The mnemonic it was written with where that is echoed, else the row's.
    pub name: &'static str,
    /// How many address registers an image instruction was written with; the encoding does not say.
    pub vaddr: u8,
    /// A constant that was written with a sign the encoding does not keep.
    pub negative: Option<i16>,
    /// A modifier that was written but has no place in the encoding.
    pub lost: &'static str,
}

impl std::ops::Deref for Encoded {
    type Target = Inst;
    fn deref(&self) -> &Inst {
        &self.inst
    }
}

/// An instruction on its way to an [`Encoded`].
struct Draft {
    inst: Inst,
    /// The literal dword of a source.
    literal: Option<u32>,
    /// The mandatory literal.
    k: Option<u32>,
    /// The operand that is an expression in the literal's place.
    expr: Option<usize>,
    /// The expression is a branch target.
    branch: bool,
    /// What was lost although it assembles.
    warning: Option<&'static str>,
    vaddr: u8,
    negative: Option<i16>,
    lost: &'static str,
}

impl Draft {
    fn new(inst: Inst) -> Draft {
        Draft {
            inst,
            literal: None,
            k: None,
            expr: None,
            branch: false,
            warning: None,
            vaddr: 0,
            negative: None,
            lost: "",
        }
    }

    /// True when a literal follows the instruction.
    fn has_literal(&self) -> bool {
        self.literal.is_some() || self.k.is_some() || self.expr.is_some()
    }

    /// The literal is an expression: operand `i`.
    fn symbolic(&mut self, i: usize) {
        self.expr = Some(i);
        self.inst.len = 8;
    }
}

impl Line {
    /// The index of a vector register, which must be even for tuples on gfx90a.
    fn vector(&self, i: usize, reg: Reg) -> Fit<u32> {
        self.even(i, reg.code.into(), reg.dwords)?;
        Ok(reg.code.into())
    }

    fn even(&self, i: usize, code: u32, dwords: u8) -> Fit<()> {
        if dwords > 1 && !code.is_multiple_of(2) && self.level == Level::Gfx90a {
            return Misfit::op(i, Why::Even);
        }
        Ok(())
    }
}

/// One instruction by itself; the error's place is in the text.
pub(crate) fn alone(options: &Options, text: &str) -> Result<Encoded, Diag> {
    let map = SourceMap::default();
    let mut p = Parser::new(options, &map, "", text.as_bytes().to_vec());
    let mnemonic = p.lex.bump();
    let encoded = parse(&mut p, mnemonic)?;
    match p.lex.at_eol() {
        true => Ok(encoded),
        false => Err(p.token_error("unexpected token after the instruction")),
    }
}

/// Reads an instruction: the cursor is after the mnemonic and is left at the end of the statement.
pub fn parse(p: &mut Parser<'_>, mnemonic: Token) -> Result<Encoded, Diag> {
    let span = p.lex.span(mnemonic);
    let found = mnemonic::find(p, mnemonic)?;
    let mut line = Line::new(found.row, p.target, p.options.documented, span);
    operands(p, &mut line)?;
    let mut form = found.form;
    // The short forms have no choice but VCC, so it may be left out where it is the only one.
    if let Some(at) = implied_vcc(&line)
        && matches!(form, None | Some(Form::Base))
    {
        line.insert_vcc(at);
        form = Some(Form::Base);
    }
    let draft = match line.row.enc {
        enc if salu::is_salu(enc) => salu::encode(&line),
        Enc::Smrd | Enc::Smem => memory::scalar(&line),
        Enc::Ds => memory::data_share(&line),
        Enc::Flat | Enc::Global | Enc::Scratch => memory::flat(&line),
        Enc::Mubuf | Enc::Mtbuf => buffer::encode(&line),
        Enc::Mimg => image::encode(&line),
        Enc::Exp => image::export(&line),
        _ => valu::encode(&line, form),
    };
    match draft {
        Ok(draft) => Ok(finish(p, &mut line, &draft, found.name)),
        Err(misfit) => Err(misfit.diag(&line)),
    }
}

/// Where VCC goes when it is the one operand that was not written.
fn implied_vcc(line: &Line) -> Option<usize> {
    let operands = line.row.operands;
    if !line.row.enc.has_forms() || line.ops().len() + 1 != operands.len() {
        return None;
    }
    let mut vccs = operands.iter().enumerate().filter(|(_, o)| o.role == Role::Vcc).map(|(i, _)| i);
    let at = vccs.next()?;
    // The carry-out of GFX6 to GFX8 must be written: there the same names without it mean other instructions.
    let carry_out = line.row.enc == Enc::Vop2 && operands[at].access != Access::Read;
    if vccs.next().is_some() || carry_out && !line.level.is_gfx9() { None } else { Some(at) }
}

/// The modifiers the row's encodings take.
fn modifiers(row: &Row, level: Level) -> Set {
    match row.enc {
        enc if salu::is_salu(enc) => Set::default(),
        Enc::Smrd | Enc::Smem => memory::scalar_modifiers(row),
        Enc::Ds => memory::data_share_modifiers(row),
        Enc::Flat | Enc::Global | Enc::Scratch => memory::flat_modifiers(row),
        Enc::Mubuf | Enc::Mtbuf => buffer::modifiers(row),
        Enc::Mimg => image::modifiers(row),
        Enc::Exp => image::export_modifiers(),
        _ => valu::modifiers(row, level),
    }
}

/// Reads operands and modifiers up to the end of the statement. Commas are optional, as in LLVM.
fn operands(p: &mut Parser<'_>, line: &mut Line) -> Result<(), Diag> {
    let (row, level) = (line.row, line.level);
    let signs = if row.enc.is_valu() { Signs::Yes } else { Signs::No };
    let takes_off =
        matches!(row.enc, Enc::Flat | Enc::Global | Enc::Scratch | Enc::Mubuf | Enc::Mtbuf | Enc::Exp);
    let mut after_comma = false;
    while !p.lex.at_eol() {
        let token = p.lex.peek();
        let role = row.operands.get(line.ops().len()).map(|o| o.role);
        // What looks like v0 or s0, as most operands do, is no modifier.
        let word = token.kind == Tok::Ident && !matches!(p.lex.bytes(token), [b'v' | b's', b'0'..=b'9', ..]);
        let done = word && {
            let misplaced = match p.lex.bytes(token) {
                // In the place of an offset, SCC is the register.
                b"scc" => role == Some(Role::Soffset) && after_comma,
                // Where the data or the address is due, a16 is a register.
                b"a16" => matches!(role, Some(Role::Vdata | Role::Vaddr)),
                // `format:` follows the scalar offset, its old spelling `dfmt:` and `nfmt:` comes before it.
                b"format" => role.is_some(),
                b"dfmt" | b"nfmt" => role.is_none(),
                _ => false,
            };
            !misplaced && line.mods.parse(p, || modifiers(row, level))? || takes_off && operand::off(p, line)?
        };
        let done = done
            || match role {
                Some(role) => special::parse(p, line, role)?,
                None => {
                    surplus(p, row, level)?;
                    false
                }
            };
        if !done {
            operand::parse(p, line, signs)?;
        }
        after_comma = p.lex.eat(Tok::Comma);
    }
    Ok(())
}

/// A word after the last operand is probably a modifier.
fn surplus(p: &Parser<'_>, row: &Row, level: Level) -> Result<(), Diag> {
    let token = p.lex.peek();
    let name = p.lex.ident();
    if name.is_empty() || register::starts(p, token, || p.lex.peek2().kind) {
        return Ok(());
    }
    let near = modifier::closest(name, modifiers(row, level));
    let hint = near.map_or(String::new(), |near| format!(": did you mean '{near}'?"));
    Err(Diag::error(p.lex.span(token), format!("{} has no modifier '{name}'{hint}", row.name)))
}

fn finish(p: &mut Parser<'_>, line: &mut Line, draft: &Draft, name: &'static str) -> Encoded {
    let advice = if p.options.advice { advice::of(&draft.inst, &p.target) } else { None };
    if let Some(text) = draft.warning.or(advice) {
        p.warning(line.span, text);
    }
    let mut fixup = None;
    if (draft.branch || draft.expr.is_some())
        && let Some(expr) = line.expr.take()
    {
        let at =
            draft.expr.or_else(|| line.row.operands.iter().position(|o| o.role == Role::Label)).unwrap_or(0);
        let (offset, kind) = match (draft.branch, pc_relative(&expr)) {
            (true, _) => (0, FixupKind::SoppBr),
            (_, true) => (4, FixupKind::PcRel4),
            _ => (4, FixupKind::Data4),
        };
        fixup = Some(Fixup { offset, kind, expr, span: line.op_span(at) });
    }
    let Draft { inst, vaddr, negative, lost, .. } = *draft;
    Encoded { inst, fixup, name, vaddr, negative, lost }
}

/// Whether a literal expression is taken relative to its place: LLVM's rule, by the look of it.
fn pc_relative(expr: &Expr) -> bool {
    match expr {
        Expr::Const(_) => false,
        Expr::Sym(_, variant) => !matches!(*variant, Variant::ABS32_LO | Variant::ABS32_HI),
        Expr::Tree(tree) => match tree.op {
            ExprOp::Binary(BinOp::Sub) | ExprOp::Amd(_) => false,
            _ => tree.args.iter().any(pc_relative),
        },
    }
}

/// Writes an instruction's text, without the leading tab.
pub fn print(instruction: &Encoded, p: &Parser<'_>, out: &mut Vec<u8>) {
    let mut symbol = Vec::new();
    if let Some(fixup) = &instruction.fixup {
        fixup.expr.print(&p.symbols, &mut symbol);
    } else if let Some(number) = instruction.negative {
        write_int(number.into(), &mut symbol);
    }
    let start = out.len();
    let printer = Printer::new(p.target).from_source(instruction.vaddr);
    let symbol = (!symbol.is_empty()).then_some(symbol.as_slice());
    if printer.named(&instruction.inst, instruction.name, symbol, out).is_err() {
        // What can be assembled but names nothing known: the mnemonic alone.
        out.truncate(start);
        out.extend_from_slice(instruction.name.as_bytes());
    }
    out.extend_from_slice(instruction.lost.as_bytes());
}
