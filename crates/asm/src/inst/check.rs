//! What the hardware cannot do although each operand by itself has an encoding.

use super::Draft;
use super::misfit::{Fit, Misfit, Why};
use super::operand::{Kind, Line, Op};
use super::register::{File, Reg};
use wavemill_isa::row::state;
use wavemill_isa::{Access, Enc, Form, Level, Role, flag, regs};

/// Rules for vector ALU instructions.
pub(super) fn valu(line: &Line, draft: &Draft) -> Fit<()> {
    // Most lines have neither a scalar register nor a literal, which both rules are about.
    let scalar = |op: &Op| matches!(op.kind, Kind::Reg(reg) if reg.file == File::S);
    if draft.has_literal() || line.ops().iter().any(scalar) {
        lds_direct(line, draft)?;
        if draft.inst.form != Form::Dpp {
            constant_bus(line, draft)?;
        }
    }
    if line.row.enc == Enc::Mfma {
        matrix_overlap(line)?;
    }
    // gfx908 has no path from the scalar registers to the AccVGPRs.
    if line.level == Level::Gfx908
        && line.row.operands.first().is_some_and(|d| d.class == wavemill_isa::Class::Agpr)
        && matches!(line.ops().get(1).map(|o| o.kind), Some(Kind::Reg(reg)) if reg.file == File::S)
    {
        return Misfit::op(1, Why::Text("expected a VGPR or an inline constant"));
    }
    Ok(())
}

/// The operands that are sources, with their place in the line.
fn sources(line: &Line) -> impl Iterator<Item = (usize, Role, &Op)> {
    let ops = line.ops();
    line.row.operands.iter().enumerate().filter_map(move |(i, o)| {
        let source = o.role.source_index().is_some() || o.role == Role::Vcc && o.access == Access::Read;
        if source { ops.get(i).map(|op| (i, o.role, op)) } else { None }
    })
}

/// One scalar value per instruction: an SGPR (any number of times), or a literal, or a register read implicitly
/// (manual 6.2.2).
fn constant_bus(line: &Line, draft: &Draft) -> Fit<()> {
    let row = line.row;
    let long = draft.inst.form == Form::Vop3;
    // VCC as carry or mask is implicit in the short forms.
    let implicit = if row.reads & state::VCC != 0
        || !long && row.operands.iter().any(|o| o.role == Role::Vcc && o.access == Access::Read)
    {
        Some(Reg { file: File::S, dwords: 2, code: regs::VCC as u16 })
    } else if row.reads & state::M0 != 0 && row.enc != Enc::Vintrp {
        Some(Reg { file: File::S, dwords: 1, code: regs::M0 as u16 })
    } else {
        None
    };
    let literal = draft.has_literal();
    if literal && implicit.is_some() {
        let constant = |op: &Op| matches!(op.kind, Kind::Number(_) | Kind::Expr);
        let at = line.ops().iter().position(constant).unwrap_or(0);
        return Misfit::op(at, BUS);
    }
    let mut used = implicit;
    for (i, role, op) in sources(line) {
        let Kind::Reg(reg) = op.kind else { continue };
        if reg.file != File::S || reg.is_lds_direct() || role == Role::Vcc && !long {
            continue;
        }
        // The lane select of V_WRITELANE may be M0 beside an SGPR.
        if row.has(flag::NOEXEC) && role == Role::Src1 && reg.is_m0() && row.operand(Role::Vdst).is_some() {
            continue;
        }
        if literal || used.is_some_and(|u| u != reg) {
            return Misfit::op(i, BUS);
        }
        used = Some(reg);
    }
    Ok(())
}

const BUS: Why = Why::Text("too many scalar values: an instruction reads one SGPR or one literal");

/// LDS_DIRECT is src0 only, of instructions whose sources are not swapped; on gfx90a the manual has it, LLVM does not.
fn lds_direct(line: &Line, draft: &Draft) -> Fit<()> {
    for (i, role, op) in sources(line) {
        let Kind::Reg(reg) = op.kind else { continue };
        if !reg.is_lds_direct() {
            continue;
        }
        let text = if line.level == Level::Gfx90a && !line.documented {
            "lds_direct is not available on gfx90a"
        } else if line.row.has(flag::REV) || draft.inst.form == Form::Sdwa {
            "lds_direct cannot be used with this instruction"
        } else if role != Role::Src0 {
            "lds_direct may be the first source only"
        } else {
            continue;
        };
        return Misfit::op(i, Why::Text(text));
    }
    Ok(())
}

/// Matrix C is D itself or lies apart from it; results of up to four registers are written at once.
fn matrix_overlap(line: &Line) -> Fit<()> {
    let (Some(Kind::Reg(d)), Some(Kind::Reg(c))) =
        (line.ops().first().map(|o| o.kind), line.ops().get(3).map(|o| o.kind))
    else {
        return Ok(());
    };
    let apart = d.code + u16::from(d.dwords) <= c.code || c.code + u16::from(c.dwords) <= d.code;
    if d.dwords <= 4 || d.file != c.file || d == c || apart {
        return Ok(());
    }
    Misfit::op(3, Why::Text("matrix C must be the destination itself or not overlap it"))
}
