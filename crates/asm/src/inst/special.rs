//! Operands with a syntax of their own: counters, messages, hardware registers, index modes, interpolation
//! attributes, export targets and branch targets.

use super::operand::{Kind, Line, Signs};
use super::{operand, register};
use crate::expr::Expr;
use crate::lex::Tok;
use crate::names::{self, Name};
use crate::parser::Parser;
use crate::source::{Diag, Span};
use wavemill_isa::Role;
use wavemill_isa::info::WaitCounts;

/// Reads the operand in `role` if that has a syntax of its own.
pub(super) fn parse(p: &mut Parser<'_>, line: &mut Line, role: Role) -> Result<bool, Diag> {
    let start = p.lex.here();
    let value = match role {
        Role::Label => return label(p, line).map(|()| true),
        Role::Waitcnt => waitcnt(p)?,
        Role::Sendmsg => sendmsg(p)?,
        Role::Hwreg => hwreg(p)?,
        Role::GprIdx => gpr_idx(p)?,
        Role::Endpgm => u32::from(u16_value(p)?),
        Role::Attr => attr(p)?,
        Role::Slot => slot(p)?,
        Role::Tgt => target(p)?,
        _ => return Ok(false),
    };
    line.push_special(p, start, value)?;
    Ok(true)
}

/// A number that must fit 16 bits.
fn u16_value(p: &mut Parser<'_>) -> Result<u16, Diag> {
    let at = p.lex.here();
    let value = p.absolute()?;
    u16::try_from(value).map_err(|_| Diag::error(at, "expected a number of 16 bits"))
}

/// A label, or a signed number of dwords.
fn label(p: &mut Parser<'_>, line: &mut Line) -> Result<(), Diag> {
    let at = p.lex.here();
    if register::starts(p, p.lex.peek(), || p.lex.peek2().kind) {
        return Err(Diag::error(at, "expected a label or a number of dwords to jump over"));
    }
    operand::parse(p, line, Signs::No)?;
    match line.ops().last().map(|op| op.kind) {
        Some(Kind::Expr) if !matches!(line.expr, Some(Expr::Sym(..))) => {
            Err(Diag::error(at, "a branch target is a label or a number, not an expression of labels"))
        }
        Some(Kind::Expr) => Ok(()),
        Some(Kind::Number(super::constant::Number::Int(-0x8000..=0xffff))) => Ok(()),
        _ => Err(Diag::error(at, "a branch reaches 16 bits of dwords, -32768 to 32767")),
    }
}

/// `vmcnt(0) & lgkmcnt(1)`, or a number.
fn waitcnt(p: &mut Parser<'_>) -> Result<u32, Diag> {
    let level = p.target.level();
    if !(p.lex.kind() == Tok::Ident && p.lex.peek2().kind == Tok::LParen) {
        let at = p.lex.here();
        let value = p.absolute()?;
        return match value {
            -0x8000..=0xffff => Ok(value as u32 & 0xffff),
            _ => Err(Diag::error(at, "expected a number of 16 bits")),
        };
    }
    // Counters that are not named are not waited for.
    let most = WaitCounts::none(level);
    let mut waits = most;
    while !p.lex.at_eol() {
        let name_at = p.lex.here();
        let name = p.lex.ident();
        if name.is_empty() {
            return Err(p.token_error("expected a counter: vmcnt, expcnt or lgkmcnt"));
        }
        p.lex.bump();
        p.expect(Tok::LParen, "expected a left parenthesis")?;
        let at = p.lex.here();
        let value = p.absolute()?;
        let (counter, saturate) = name.strip_suffix("_sat").map_or((name, false), |c| (c, true));
        let (field, max) = match counter {
            "vmcnt" => (&mut waits.vm, most.vm),
            "lgkmcnt" => (&mut waits.lgkm, most.lgkm),
            "expcnt" => (&mut waits.exp, most.exp),
            _ => {
                return Err(Diag::error(
                    name_at,
                    format!("no counter '{name}': there are vmcnt, expcnt and lgkmcnt"),
                ));
            }
        };
        let fits = (0..=i64::from(max)).contains(&value);
        if !fits && !saturate {
            return Err(Diag::error(at, format!("{name} counts from 0 to {max}")));
        }
        *field = if fits { value as u8 } else { max };
        p.expect(Tok::RParen, "expected a closing parenthesis")?;
        if (p.lex.eat(Tok::Amp) || p.lex.eat(Tok::Comma)) && p.lex.at_eol() {
            return Err(p.token_error("expected a counter"));
        }
    }
    Ok(waits.encode(level))
}

/// A name of a table, or a number. `Err(at)` in the number's place when the name is there but not on this processor.
fn name_or_number(
    p: &mut Parser<'_>,
    table: &'static [Name],
    what: &str,
) -> Result<(i64, Option<&'static Name>), Diag> {
    let at = p.lex.here();
    let word = p.lex.ident();
    let named = |n: &&Name| n.name == word;
    // Generations may give one name different numbers.
    let entry = table.iter().filter(named).find(|n| n.on(&p.target)).or_else(|| table.iter().find(named));
    if let Some(name) = entry {
        p.lex.bump();
        if !name.on(&p.target) {
            return Err(Diag::error(at, format!("{word} is not available on {}", p.target.cpu.name)));
        }
        return Ok((name.id.into(), Some(name)));
    }
    let expr = p.expr()?;
    match p.eval(&expr) {
        Some(value) => Ok((value, None)),
        None => {
            let near =
                crate::suggest::closest(word, table.iter().filter(|n| n.on(&p.target)).map(|n| n.name));
            let hint = near.map_or(String::new(), |n| format!(": did you mean {n}?"));
            Err(Diag::error(at, format!("expected {what} or a number{hint}")))
        }
    }
}

/// `sendmsg(MSG_GS, GS_OP_EMIT, 0)`, or a number.
fn sendmsg(p: &mut Parser<'_>) -> Result<u32, Diag> {
    if !p.lex.at_call(b"sendmsg") {
        return u16_value(p).map(u32::from);
    }
    p.lex.bump();
    p.lex.bump();
    let id_at = p.lex.here();
    let (id, id_name) = name_or_number(p, names::MESSAGES, "a message")?;
    let gs = id == i64::from(names::MSG_GS) || id == i64::from(names::MSG_GS_DONE);
    let system = id == i64::from(names::MSG_SYSMSG);
    let (mut op, mut stream) = (None, None);
    let mut op_at = id_at;
    let mut stream_at = id_at;
    if p.lex.eat(Tok::Comma) {
        op_at = p.lex.here();
        let table = if gs {
            names::GS_OPS
        } else if system {
            names::SYSTEM_OPS
        } else {
            &[]
        };
        op = Some(name_or_number(p, table, "an operation")?.0);
        if p.lex.eat(Tok::Comma) {
            stream_at = p.lex.here();
            stream = Some(p.absolute()?);
        }
    }
    p.expect(Tok::RParen, "expected a closing parenthesis")?;
    // A message given by number may be anything that fits its field.
    let strict = id_name.is_some();
    if !(0..=15).contains(&id) {
        return Err(Diag::error(id_at, "a message id is a number from 0 to 15"));
    }
    if strict && (gs || system) != op.is_some() {
        return Err(match op {
            Some(_) => Diag::error(op_at, "this message has no operation"),
            None => Diag::error(id_at, "this message needs an operation"),
        });
    }
    let code = op.unwrap_or(0);
    let known = if !strict {
        (0..=7).contains(&code)
    } else if gs {
        (0..=3).contains(&code) && !(id == i64::from(names::MSG_GS) && code == 0)
    } else if system {
        u32::try_from(code).is_ok_and(|code| names::name_of(names::SYSTEM_OPS, code, &p.target).is_some())
    } else {
        true
    };
    if !known {
        return Err(Diag::error(op_at, "this message has no such operation"));
    }
    if strict && stream.is_some() && !(gs && code != 0) {
        return Err(Diag::error(stream_at, "this operation has no stream"));
    }
    let stream = stream.unwrap_or(0);
    if !(0..=3).contains(&stream) {
        return Err(Diag::error(stream_at, "a stream is a number from 0 to 3"));
    }
    Ok((id | code << 4 | stream << 8) as u32)
}

/// `hwreg(HW_REG_MODE, 0, 4)`, `{id: 1, offset: 0, size: 4}`, or a number.
fn hwreg(p: &mut Parser<'_>) -> Result<u32, Diag> {
    let start = p.lex.here();
    let (mut id, mut offset, mut size) = ((0, start), (0, start), (32, start));
    if p.lex.at_call(b"hwreg") {
        p.lex.bump();
        p.lex.bump();
        id = (0, p.lex.here());
        id.0 = name_or_number(p, names::HWREGS, "a hardware register")?.0;
        if !p.lex.eat(Tok::RParen) {
            p.expect(Tok::Comma, "expected a comma or a closing parenthesis")?;
            offset.1 = p.lex.here();
            offset.0 = p.absolute()?;
            p.expect(Tok::Comma, "expected a comma")?;
            size.1 = p.lex.here();
            size.0 = p.absolute()?;
            p.expect(Tok::RParen, "expected a closing parenthesis")?;
        }
    } else if p.lex.eat(Tok::LCurly) {
        fields(p, [("id", &mut id), ("offset", &mut offset), ("size", &mut size)])?;
    } else {
        return u16_value(p).map(u32::from);
    }
    if !(0..=63).contains(&id.0) {
        return Err(Diag::error(id.1, "a hardware register is a number from 0 to 63"));
    }
    if !(0..=31).contains(&offset.0) {
        return Err(Diag::error(offset.1, "a bit offset is a number from 0 to 31"));
    }
    if !(1..=32).contains(&size.0) {
        return Err(Diag::error(size.1, "a bitfield has 1 to 32 bits"));
    }
    Ok((id.0 | offset.0 << 6 | (size.0 - 1) << 11) as u32)
}

/// `name: value, …}` in any order.
fn fields(p: &mut Parser<'_>, fields: [(&str, &mut (i64, Span)); 3]) -> Result<(), Diag> {
    let mut seen = [false; 3];
    let mut first = true;
    while !p.lex.eat(Tok::RCurly) {
        if !first {
            p.expect(Tok::Comma, "expected a comma or a closing brace")?;
        }
        first = false;
        let at = p.lex.here();
        let name = p.lex.ident();
        let Some(i) = fields.iter().position(|f| f.0 == name) else {
            return Err(Diag::error(at, "expected a field: id, offset or size"));
        };
        p.lex.bump();
        p.expect(Tok::Colon, "expected a colon")?;
        if std::mem::replace(&mut seen[i], true) {
            return Err(Diag::error(at, format!("{name} is given twice")));
        }
        let at = p.lex.here();
        *fields[i].1 = (p.absolute()?, at);
    }
    Ok(())
}

/// `gpr_idx(SRC0,DST)`, or a number of four bits.
fn gpr_idx(p: &mut Parser<'_>) -> Result<u32, Diag> {
    if !p.lex.at_call(b"gpr_idx") {
        let at = p.lex.here();
        let value = p.absolute()?;
        return match value {
            0..=15 => Ok(value as u32),
            _ => Err(Diag::error(at, "an index mode is a number from 0 to 15")),
        };
    }
    p.lex.bump();
    p.lex.bump();
    if p.lex.eat(Tok::RParen) {
        return Ok(0);
    }
    let mut modes = 0;
    loop {
        let at = p.lex.here();
        let bit = match p.lex.ident() {
            "SRC0" => 1,
            "SRC1" => 2,
            "SRC2" => 4,
            "DST" => 8,
            _ => return Err(Diag::error(at, "expected an index mode: SRC0, SRC1, SRC2 or DST")),
        };
        p.lex.bump();
        if modes & bit != 0 {
            return Err(Diag::error(at, "the index mode is given twice"));
        }
        modes |= bit;
        if p.lex.eat(Tok::RParen) {
            return Ok(modes);
        }
        p.expect(Tok::Comma, "expected a comma or a closing parenthesis")?;
    }
}

/// `attr3.y` as 3 * 4 + 1.
fn attr(p: &mut Parser<'_>) -> Result<u32, Diag> {
    let word = p.lex.ident();
    let parts = word.strip_prefix("attr").and_then(|rest| rest.split_once('.'));
    let Some((number, channel)) = parts else {
        return Err(p.token_error("expected an attribute such as attr0.x"));
    };
    let channel = match channel {
        "x" => 0,
        "y" => 1,
        "z" => 2,
        "w" => 3,
        _ => return Err(p.token_error("an attribute's channel is x, y, z or w")),
    };
    let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    match number.parse::<u32>() {
        Ok(n) if n <= 32 && digits => {
            p.lex.bump();
            Ok(n * 4 + channel)
        }
        _ => Err(p.token_error("an attribute is a number from 0 to 32")),
    }
}

fn slot(p: &mut Parser<'_>) -> Result<u32, Diag> {
    let slot = match p.lex.ident() {
        "p10" => 0,
        "p20" => 1,
        "p0" => 2,
        _ => return Err(p.token_error("expected an interpolation slot: p10, p20 or p0")),
    };
    p.lex.bump();
    Ok(slot)
}

/// `mrt0`, `mrtz`, `null`, `pos0`, `param0`.
fn target(p: &mut Parser<'_>) -> Result<u32, Diag> {
    let word = p.lex.ident();
    let numbered = |prefix: &str, base: u32, count: u32| {
        let digits = word.strip_prefix(prefix)?;
        let plain = digits.len() == 1 || !digits.starts_with('0');
        let n: u32 = digits.parse().ok().filter(|_| plain && digits.bytes().all(|b| b.is_ascii_digit()))?;
        (n < count).then_some(base + n)
    };
    let id = match word {
        "mrtz" => Some(8),
        "null" => Some(9),
        _ => numbered("mrt", 0, 8).or_else(|| numbered("pos", 12, 4)).or_else(|| numbered("param", 32, 32)),
    };
    match id {
        Some(id) => {
            p.lex.bump();
            Ok(id)
        }
        None => Err(p.token_error(
            "expected an export target: mrt0 to mrt7, mrtz, null, pos0 to pos3, param0 to param31",
        )),
    }
}
