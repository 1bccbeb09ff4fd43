//! Scalar ALU and program control instructions.

use super::Draft;
use super::constant::{self, Coded, Number, Reading, Sign};
use super::misfit::{Fit, Misfit, Why};
use super::operand::{Kind, Line, Op};
use super::register::File;
use wavemill_isa::encoding::bits;
use wavemill_isa::{Class, Enc, Form, Inst, Operand, Role, regs};

/// Encodes a line of a scalar encoding.
pub(super) fn encode(line: &Line) -> Fit<Draft> {
    let row = line.row;
    let mut draft = Draft::new(Inst::new(row, Form::Base, line.level));
    for (i, operand) in row.operands.iter().enumerate() {
        let Some(op) = line.ops().get(i) else {
            if operand.role == Role::Endpgm {
                break;
            }
            return Misfit::op(i, Why::Few);
        };
        let value = match operand.role {
            Role::Sdst => register(i, op, operand.ty.dwords())?,
            Role::Ssrc0 | Role::Ssrc1 => source(line, &mut draft, i, op, operand)?,
            Role::Simm16 | Role::Uimm16 => constant16(i, op, operand.role)?,
            Role::Imm16 => {
                let value = constant16(i, op, operand.role)?;
                if let Kind::Number(Number::Int(n @ -16..=-1)) = op.kind {
                    draft.negative = Some(n as i16);
                }
                value
            }
            Role::K => match op.kind {
                Kind::Number(Number::Int(n)) if !op.modified() => {
                    draft.inst.len = 8;
                    n as u32
                }
                _ => return Misfit::op(i, Why::Text("expected a number")),
            },
            Role::Label => match op.kind {
                Kind::Expr => {
                    draft.branch = true;
                    0
                }
                Kind::Number(Number::Int(n)) => {
                    draft.negative = i16::try_from(n).ok().filter(|n| *n < 0);
                    n as u32 & 0xffff
                }
                _ => return Misfit::op(i, Why::Text("expected a label or a number")),
            },
            _ => match op.kind {
                Kind::Special(value) => value,
                _ => return Misfit::op(i, Why::Many),
            },
        };
        draft.inst.set(operand.role, value);
    }
    if line.ops().len() > row.operands.len() {
        return Misfit::op(row.operands.len(), Why::Many);
    }
    if let Some(literal) = draft.literal {
        draft.inst.len = 8;
        draft.inst.put(bits::LITERAL, literal);
    }
    Ok(draft)
}

/// A scalar register that is written, or read where only registers can be.
pub(super) fn register(i: usize, op: &Op, dwords: u8) -> Fit<u32> {
    match op.reg() {
        Some(reg)
            if reg.file == File::S && reg.dwords == dwords && !reg.is_value() && !reg.is_lds_direct() =>
        {
            Ok(reg.code.into())
        }
        _ => Misfit::op(i, Why::Scalar(dwords)),
    }
}

fn constant16(i: usize, op: &Op, role: Role) -> Fit<u32> {
    let Kind::Number(Number::Int(n)) = op.kind else {
        return Misfit::op(i, Why::Text("expected a number of 16 bits"));
    };
    let min = if role == Role::Uimm16 { 0 } else { -0x8000 };
    if n < min || n > 0xffff || op.modified() {
        return Misfit::op(i, Why::Text("expected a number of 16 bits"));
    }
    Ok(n as u32 & 0xffff)
}

fn source(line: &Line, draft: &mut Draft, i: usize, op: &Op, operand: &Operand) -> Fit<u32> {
    let dwords = operand.ty.dwords();
    if op.modified() {
        return Misfit::op(i, Why::Signs);
    }
    match op.kind {
        Kind::Reg(reg) if reg.file == File::S && !reg.is_lds_direct() => {
            // The 32-bit values count as registers, the apertures as 64-bit ones.
            let fits = match reg.is_value() {
                false => reg.dwords == dwords,
                true => operand.class != Class::Reg || (reg.code < 239) == (dwords == 2),
            };
            if fits { Ok(reg.code.into()) } else { Misfit::op(i, Why::Scalar(dwords)) }
        }
        Kind::Number(number) if operand.class != Class::Reg => {
            let reading = if dwords == 2 { Reading::I64 } else { Reading::B32 };
            let inv2pi = line.level.is_vi_plus();
            match constant::with_literal(reading, number, Sign::default(), inv2pi) {
                Some(Coded::Inline(code)) => Ok(code),
                Some(Coded::Literal(literal)) if operand.class == Class::Any => {
                    // Two operands may share one literal.
                    if draft.literal.is_some_and(|l| l != literal) || draft.expr.is_some() {
                        return Misfit::op(i, ONE_LITERAL);
                    }
                    draft.literal = Some(literal);
                    Ok(regs::LITERAL)
                }
                _ => Misfit::op(i, Why::Inline),
            }
        }
        Kind::Expr if operand.class == Class::Any && dwords == 1 => {
            if draft.literal.is_some() || draft.expr.is_some() {
                return Misfit::op(i, ONE_LITERAL);
            }
            draft.symbolic(i);
            Ok(regs::LITERAL)
        }
        Kind::Expr | Kind::Number(_) => Misfit::op(i, Why::Inline),
        _ => Misfit::op(i, Why::Scalar(dwords)),
    }
}

const ONE_LITERAL: Why = Why::Text("an instruction has room for one literal constant only");

/// True for the encodings [`encode`] is for.
pub(super) fn is_salu(enc: Enc) -> bool {
    matches!(enc, Enc::Sop1 | Enc::Sop2 | Enc::Sopk | Enc::Sopc | Enc::Sopp)
}
