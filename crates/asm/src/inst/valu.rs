//! Vector ALU instructions: the choice among their encodings and what each of them takes.

use super::constant::{self, Coded, Reading, Sign};
use super::misfit::{At, Fit, Misfit, Why};
use super::modifier::{Mod, Set};
use super::operand::{Kind, Line, Op};
use super::register::{File, Reg};
use super::{Draft, check};
use wavemill_isa::canonical::is_vop3b;
use wavemill_isa::encoding::bits;
use wavemill_isa::{Access, Class, Enc, Form, Inst, Level, Operand, Role, Row, flag, regs};

/// The modifiers a form of a row takes.
fn form_modifiers(row: &Row, form: Form, level: Level) -> Set {
    let none = Set::default();
    match form {
        Form::Base => match row.enc {
            Enc::Vop3 => vop3_modifiers(row, level),
            Enc::Vop3p if row.has(flag::PACKED) => {
                Set::of(&[Mod::OpSel, Mod::OpSelHi, Mod::NegLo, Mod::NegHi])
                    .with(Mod::Clamp, row.has(flag::CLAMP))
            }
            Enc::Vop3p if row.has(flag::MIX) => Set::of(&[Mod::OpSel, Mod::OpSelHi, Mod::Clamp]),
            Enc::Mfma => Set::of(&[Mod::Cbsz, Mod::Abid, Mod::Blgp]),
            _ => none,
        },
        Form::Vop3 => vop3_modifiers(row, level),
        Form::Sdwa if row.operands.is_empty() => none,
        Form::Sdwa => {
            let compare = row.enc == Enc::Vopc;
            none.with(Mod::Clamp, !(compare && level.is_gfx9()))
                .with(Mod::Omod, level.is_gfx9() && !compare && row.has(flag::OMOD))
                .with(Mod::DstSel, !compare)
                .with(Mod::DstUnused, !compare)
                .with(Mod::Src0Sel, true)
                .with(Mod::Src1Sel, row.operand(Role::Src1).is_some())
        }
        Form::Dpp => Set::of(&[Mod::DppCtrl, Mod::RowMask, Mod::BankMask, Mod::BoundCtrl]),
    }
}

fn vop3_modifiers(row: &Row, level: Level) -> Set {
    // Integers clamp from GFX8 on.
    let float = row.operand(Role::Vdst).is_some_and(|d| d.ty.is_float());
    Set::default()
        .with(Mod::Clamp, row.has(flag::CLAMP) && (level.is_vi_plus() || float))
        .with(Mod::Omod, row.has(flag::OMOD))
        .with(Mod::OpSel, row.has(flag::OP_SEL) && level.is_gfx9())
        .with(Mod::High, row.has(flag::HIGH))
}

const FORMS: [Form; 4] = [Form::Base, Form::Vop3, Form::Sdwa, Form::Dpp];

/// Every modifier some form of the row takes.
pub(super) fn modifiers(row: &Row, level: Level) -> Set {
    FORMS
        .into_iter()
        .filter(|f| row.has_form(*f, level))
        .fold(Set::default(), |set, f| set.and(form_modifiers(row, f, level)))
}

/// Encodes the line in the first form that fits, or the forced one.
pub(super) fn encode(line: &Line, forced: Option<Form>) -> Fit<Draft> {
    let row = line.row;
    let mut first = None;
    for &form in forced.as_ref().map_or(&FORMS[..], std::slice::from_ref) {
        if !row.has_form(form, line.level) {
            continue;
        }
        match form_of(line, form) {
            Ok(draft) => {
                check::valu(line, &draft)?;
                return Ok(draft);
            }
            Err(misfit) => first = Some(better(line, first, misfit, form)),
        }
    }
    Err(first.map_or(Misfit { at: At::Inst, why: Why::Text("no encoding fits") }, |(m, _)| m))
}

/// Which of two reasons helps more: that of the form the modifiers ask for, else that of the roomier one.
fn better(line: &Line, old: Option<(Misfit, Form)>, new: Misfit, form: Form) -> (Misfit, Form) {
    let Some((misfit, kept)) = old else { return (new, form) };
    let seen = line.mods.seen;
    let wanted = if seen.has(Mod::DppCtrl) || seen.has(Mod::RowMask) || seen.has(Mod::BankMask) {
        Form::Dpp
    } else if seen.has(Mod::DstSel)
        || seen.has(Mod::Src0Sel)
        || seen.has(Mod::Src1Sel)
        || seen.has(Mod::DstUnused)
    {
        Form::Sdwa
    } else {
        Form::Vop3
    };
    if form == wanted { (new, form) } else { (misfit, kept) }
}

/// Tries one form.
fn form_of(line: &Line, form: Form) -> Fit<Draft> {
    let row = line.row;
    if let Some(m) = line.mods.seen.outside(|| form_modifiers(row, form, line.level)) {
        return Err(Misfit { at: At::Mod(m), why: Why::Modifier(form) });
    }
    if form == Form::Dpp && !line.mods.seen.has(Mod::DppCtrl) {
        return Misfit::inst("the DPP form needs a control such as quad_perm:[0,1,2,3]");
    }
    let mut draft = Draft::new(Inst::new(row, form, line.level));
    let ops = line.ops();
    for (i, (operand, op)) in row.operands.iter().zip(ops).enumerate() {
        let value = match operand.role {
            Role::Vdst => dest(line, i, op, operand)?,
            // VDST's eight bits reach the read-only values, and LLVM lets them be written.
            Role::Sdst
                if op.reg().is_some_and(|r| r.is_value() && r.code >= 239) && operand.ty.dwords() == 1 =>
            {
                op.reg().map_or(0, |r| r.code.into())
            }
            Role::Sdst => scalar(i, op, operand.ty.dwords())?,
            Role::Vcc => vcc(&mut draft, i, op, operand, line.level)?,
            Role::K => {
                let Kind::Number(number) = op.kind else { return Misfit::op(i, Why::Inline) };
                match constant::mandatory(Reading::of(operand.ty), number) {
                    Some(k) if !op.modified() => {
                        draft.inst.len = 8;
                        draft.k = Some(k);
                        k
                    }
                    _ => return Misfit::op(i, Why::Inline),
                }
            }
            Role::Attr => {
                attribute(&mut draft, op);
                continue;
            }
            Role::Slot => special(op),
            _ => source(line, &mut draft, i, op, operand)?,
        };
        let field = draft.inst.field_of(operand);
        draft.inst.put(field, value);
    }
    if ops.len() != row.operands.len() {
        let few = ops.len() < row.operands.len();
        return Misfit::op(ops.len().min(row.operands.len()), if few { Why::Few } else { Why::Many });
    }
    if let Some(literal) = draft.literal {
        // MADMK and MADAK have room for one constant, which both operands may share.
        if draft.k.is_some_and(|k| k != literal) {
            return Misfit::inst("an instruction has room for one literal constant only");
        }
        draft.inst.len = 8;
        draft.inst.put(bits::LITERAL, literal);
    }
    apply_modifiers(line, &mut draft)?;
    Ok(draft)
}

fn special(op: &Op) -> u32 {
    match op.kind {
        Kind::Special(value) => value,
        _ => 0,
    }
}

fn attribute(draft: &mut Draft, op: &Op) {
    let value = special(op);
    let short = draft.inst.row.enc == Enc::Vintrp && draft.inst.form == Form::Base;
    let (attr, chan) =
        if short { (bits::VINTRP_ATTR, bits::VINTRP_CHAN) } else { (bits::INTERP3_ATTR, bits::INTERP3_CHAN) };
    draft.inst.put(attr, value >> 2);
    draft.inst.put(chan, value & 3);
}

/// A vector destination.
fn dest(line: &Line, i: usize, op: &Op, operand: &Operand) -> Fit<u32> {
    let dwords = operand.ty.dwords();
    let Some(reg) = op.reg() else { return Misfit::op(i, Why::Vgpr(dwords)) };
    match reg.file {
        _ if reg.dwords != dwords || reg.file == File::S => wrong_vgpr(line, i, operand),
        File::A if operand.class == Class::Agpr || line.row.enc == Enc::Mfma => line.vector(i, reg),
        File::V
            if operand.class != Class::Agpr && !(line.row.enc == Enc::Mfma && line.level < Level::Gfx90a) =>
        {
            line.vector(i, reg)
        }
        _ => wrong_vgpr(line, i, operand),
    }
}

fn wrong_vgpr(line: &Line, i: usize, operand: &Operand) -> Fit<u32> {
    let dwords = operand.ty.dwords();
    let agpr = operand.class == Class::Agpr || line.row.enc == Enc::Mfma && line.level < Level::Gfx90a;
    Misfit::op(
        i,
        match (agpr, line.row.enc) {
            (true, _) => Why::Agpr(dwords),
            (_, Enc::Mfma) => Why::VgprOrAgpr(dwords),
            _ => Why::Vgpr(dwords),
        },
    )
}

/// A scalar register that is written or holds a mask.
fn scalar(i: usize, op: &Op, dwords: u8) -> Fit<u32> {
    match op.reg() {
        Some(reg)
            if reg.file == File::S && reg.dwords == dwords && !reg.is_value() && !reg.is_lds_direct() =>
        {
            Ok(reg.code.into())
        }
        _ => Misfit::op(i, Why::Scalar(dwords)),
    }
}

/// VCC in the short forms, a pair of scalar registers in the long one.
fn vcc(draft: &mut Draft, i: usize, op: &Op, operand: &Operand, level: Level) -> Fit<u32> {
    let is_vcc = op.reg().is_some_and(Reg::is_vcc);
    match draft.inst.form {
        // A carry-in may be one of the values, SCC say. LLVM takes them for a compare's result as well, since VDST's
        // eight bits reach them.
        Form::Vop3 if operand.access == Access::Read || draft.inst.row.enc == Enc::Vopc => match op.reg() {
            Some(reg) if reg.is_value() => Ok(reg.code.into()),
            _ => scalar(i, op, 2),
        },
        Form::Vop3 => scalar(i, op, 2),
        Form::Sdwa if draft.inst.row.enc == Enc::Vopc && level.is_gfx9() && !is_vcc => {
            let code = scalar(i, op, 2)?;
            draft.inst.put(bits::SDWA_SD, 1);
            draft.inst.put(bits::SDWA_SDST, code);
            Ok(0)
        }
        _ if is_vcc => Ok(0),
        _ => Misfit::op(i, Why::Vcc),
    }
}

/// A source in whatever form the draft has.
fn source(line: &Line, draft: &mut Draft, i: usize, op: &Op, operand: &Operand) -> Fit<u32> {
    let index = operand.role.source_index().unwrap_or(0);
    match draft.inst.form {
        Form::Sdwa => return sdwa_source(line, draft, i, op, operand, index),
        Form::Dpp => {
            let Some(code) = op.in_file(File::V, operand.ty.dwords()) else {
                return Misfit::op(i, Why::Vgpr(operand.ty.dwords()));
            };
            // Sign extension sits in the place of neg.
            let sext = line.row.sext >> index & 1 != 0;
            let fp = line.row.neg >> index & 1 != 0;
            if op.sext && !sext || (op.neg || op.abs) && !fp {
                return Misfit::op(i, Why::Signs);
            }
            line.even(i, code, operand.ty.dwords())?;
            let pair = u64::from(op.neg || op.sext) | u64::from(op.abs) << 1;
            draft.inst.bits |= pair << (bits::DPP_NEG_ABS.lo + 2 * index);
            return Ok(code);
        }
        _ if line.row.enc == Enc::Mfma => return mfma_source(line, draft, i, op, operand, index),
        _ => {}
    }
    let long = draft.inst.is_vop3_layout();
    if op.modified() && !source_signs(line, draft, op, index, long) {
        return Misfit::op(i, Why::Signs);
    }
    let dwords = operand.ty.dwords();
    // VSRC1 of the 32-bit encodings has no bit to say anything but VGPR.
    let vgpr_only =
        operand.class == Class::Vgpr || !long && operand.role == Role::Src1 && operand.class != Class::Scalar;
    match op.kind {
        Kind::Reg(reg) => {
            if !register_fits(reg, operand, dwords, vgpr_only && operand.class != Class::Vgpr, line) {
                return Misfit::op(i, source_reason(operand, dwords, vgpr_only));
            }
            if reg.file == File::S {
                return Ok(reg.code.into());
            }
            let short = !long && (operand.role == Role::Src1 || line.row.enc == Enc::Vintrp);
            let base = if short { 0 } else { regs::VGPR };
            Ok(base + line.vector(i, reg)?)
        }
        _ if vgpr_only || operand.class == Class::Agpr || operand.class == Class::Reg => {
            Misfit::op(i, source_reason(operand, dwords, vgpr_only))
        }
        Kind::Number(number) => {
            let reading = Reading::of(operand.ty);
            let inv2pi = line.level.is_vi_plus();
            if long || matches!(operand.class, Class::Scalar | Class::NoLit) {
                return match constant::inline_only(reading, number, inv2pi) {
                    Some(code) => Ok(code),
                    None => Misfit::op(i, Why::Inline),
                };
            }
            let sign = Sign { neg: op.neg, abs: op.abs };
            match constant::with_literal(reading, number, sign, inv2pi) {
                Some(Coded::Inline(code)) => Ok(code),
                Some(Coded::Literal(literal)) => {
                    draft.literal = Some(literal);
                    if constant::loses_digits(reading, number, inv2pi) {
                        draft.warning =
                            Some("the literal holds the upper half of a double: its low 32 bits are lost");
                    }
                    Ok(regs::LITERAL)
                }
                None => Misfit::op(i, Why::Inline),
            }
        }
        Kind::Expr
            if !long
                && matches!(operand.class, Class::Any | Class::Ssrc)
                && draft.k.is_none()
                && line.row.operand(Role::K).is_none()
                && Reading::of(operand.ty).takes_expression() =>
        {
            draft.symbolic(i);
            Ok(regs::LITERAL)
        }
        _ => Misfit::op(i, Why::Inline),
    }
}

fn source_reason(operand: &Operand, dwords: u8, vgpr_only: bool) -> Why {
    match operand.class {
        Class::Agpr => Why::Agpr(dwords),
        _ if vgpr_only => Why::Vgpr(dwords),
        Class::Scalar | Class::Ssrc | Class::Reg => Why::Scalar(dwords),
        _ => Why::Source(dwords),
    }
}

/// May the register be this source?
fn register_fits(reg: Reg, operand: &Operand, dwords: u8, vsrc1: bool, line: &Line) -> bool {
    match reg.file {
        File::A => operand.class == Class::Agpr && reg.dwords == dwords,
        File::V => {
            reg.dwords == dwords
                && !matches!(operand.class, Class::Scalar | Class::Ssrc | Class::Reg | Class::Agpr)
        }
        File::S if vsrc1 || operand.class == Class::Agpr => false,
        // LDS_DIRECT goes where a VGPR of one dword may be read into an SGPR or computed with.
        File::S if reg.is_lds_direct() => {
            dwords == 1
                && match operand.class {
                    Class::Vgpr => line.row.operand(Role::Sdst).is_some(),
                    Class::Scalar => false,
                    _ => true, // V_WRITELANE's too, before GFX8
                }
        }
        File::S if operand.class == Class::Vgpr => false,
        File::S => reg.dwords == dwords || reg.is_value(),
    }
}

/// Puts neg, abs and sext where the encoding has them; false when it has no place for them.
fn source_signs(line: &Line, draft: &mut Draft, op: &Op, index: u8, long: bool) -> bool {
    let row = line.row;
    let fp = row.neg >> index & 1 != 0;
    if !long {
        // Only a constant can carry its sign along.
        return fp && !op.sext && matches!(op.kind, Kind::Number(_));
    }
    let bit = |field: wavemill_isa::Field, at: u8| 1u64 << (field.lo + at);
    if row.enc == Enc::Vop3p {
        if !row.has(flag::MIX) || op.sext {
            return false;
        }
        if op.neg {
            draft.inst.bits |= bit(bits::VOP3_NEG, index);
        }
        if op.abs {
            draft.inst.bits |= bit(bits::VOP3P_NEG_HI, index);
        }
        return true;
    }
    // Interpolation's VGPR sits in the second source's place.
    let place = if row.enc == Enc::Vintrp { 1 } else { index };
    if op.sext {
        if row.sext >> index & 1 == 0 {
            return false;
        }
        draft.inst.bits |= bit(bits::VOP3_NEG, place);
        return true;
    }
    if !fp || op.abs && is_vop3b(&draft.inst) {
        return false;
    }
    if op.neg {
        draft.inst.bits |= bit(bits::VOP3_NEG, place);
    }
    if op.abs {
        draft.inst.bits |= bit(bits::VOP3_ABS, place);
    }
    true
}

fn sdwa_source(line: &Line, draft: &mut Draft, i: usize, op: &Op, operand: &Operand, index: u8) -> Fit<u32> {
    let dwords = operand.ty.dwords();
    let mut code = match op.kind {
        Kind::Reg(reg) if reg.file == File::V && reg.dwords == dwords => u32::from(reg.code),
        _ if !line.level.is_gfx9() => return Misfit::op(i, Why::Vgpr(dwords)),
        Kind::Reg(reg) if reg.file == File::S && reg.is_lds_direct() => {
            return Misfit::op(i, Why::Text("lds_direct cannot be used with SDWA"));
        }
        Kind::Reg(reg) if reg.file == File::S && (reg.dwords == dwords || reg.is_value()) => {
            u32::from(reg.code) | 0x100
        }
        Kind::Number(number) => match constant::inline_only(Reading::of(operand.ty), number, true) {
            Some(code) => code | 0x100,
            None => return Misfit::op(i, Why::Inline),
        },
        _ => return Misfit::op(i, Why::Source(dwords)),
    };
    let shift = 8 * index;
    if code & 0x100 != 0 {
        draft.inst.bits |= 1 << (bits::SDWA_S.lo + shift);
        code &= 0xff;
    }
    let (neg, sext) = (line.row.neg >> index & 1 != 0, line.row.sext >> index & 1 != 0);
    let fp = neg || operand.ty.is_float() && !sext;
    if if fp { op.sext } else { op.neg || op.abs } {
        return Misfit::op(i, Why::Signs);
    }
    let signs = u64::from(op.sext) << bits::SDWA_SEXT.lo
        | u64::from(op.neg) << bits::SDWA_NEG.lo
        | u64::from(op.abs) << bits::SDWA_ABS.lo;
    draft.inst.bits |= signs << shift;
    Ok(code)
}

fn mfma_source(line: &Line, draft: &mut Draft, i: usize, op: &Op, operand: &Operand, index: u8) -> Fit<u32> {
    let dwords = operand.ty.dwords();
    if op.modified() {
        return Misfit::op(i, Why::Signs);
    }
    match op.kind {
        Kind::Reg(reg) if reg.file != File::S && reg.dwords == dwords => {
            if index == 2 {
                // C lies in the file D lies in.
                let acc = line.ops().first().and_then(Op::reg).is_some_and(|d| d.file == File::A);
                if acc != (reg.file == File::A) {
                    return Misfit::op(i, if acc { Why::Agpr(dwords) } else { Why::Vgpr(dwords) });
                }
            } else if reg.file == File::A {
                draft.inst.bits |= 1 << (bits::MFMA_ACC.lo + index);
            }
            Ok(regs::VGPR + line.vector(i, reg)?)
        }
        // LLVM takes SCC and the like for constants.
        Kind::Reg(reg) if index == 2 && reg.is_value() => Ok(reg.code.into()),
        Kind::Number(number) if index == 2 => {
            if line.level < Level::Gfx90a {
                return Misfit::op(i, Why::Text("gfx908 takes no constants as matrix C"));
            }
            // The constant is read as one element.
            let element = wavemill_isa::Ty { count: 1, ..operand.ty };
            match constant::inline_only(Reading::of(element), number, true) {
                Some(code) => Ok(code),
                None => Misfit::op(i, Why::Inline),
            }
        }
        _ => Misfit::op(i, Why::VgprOrAgpr(dwords)),
    }
}

fn apply_modifiers(line: &Line, draft: &mut Draft) -> Fit<()> {
    let mods = &line.mods;
    let row = line.row;
    let inst = &mut draft.inst;
    match inst.form {
        Form::Sdwa => {
            if row.operands.is_empty() {
                return Ok(());
            }
            const DWORD: u32 = 6;
            const PRESERVE: u32 = 2;
            inst.put(bits::SDWA_SEL, mods.value(Mod::Src0Sel, DWORD));
            if row.operand(Role::Src1).is_some() {
                inst.bits |= u64::from(mods.value(Mod::Src1Sel, DWORD)) << (bits::SDWA_SEL.lo + 8);
            }
            if row.enc != Enc::Vopc {
                let sel = mods.value(Mod::DstSel, DWORD);
                // An accumulator is a whole register.
                if sel != DWORD && row.operand(Role::Vdst).is_some_and(|d| d.access == Access::ReadWrite) {
                    return Misfit::modifier(
                        Mod::DstSel,
                        "this instruction writes the whole register: dst_sel:DWORD",
                    );
                }
                inst.put(bits::SDWA_DST_SEL, sel);
                inst.put(bits::SDWA_DST_U, mods.value(Mod::DstUnused, PRESERVE));
            }
            if mods.on(Mod::Clamp) {
                inst.put(bits::SDWA_CLAMP, 1);
            }
            if mods.seen.has(Mod::Omod) {
                inst.put(bits::SDWA_OMOD, mods.value(Mod::Omod, 0));
            }
        }
        Form::Dpp => {
            let ctrl = mods.value(Mod::DppCtrl, 0);
            // The f64 pipeline knows only row_newbcast.
            if row.has(flag::DPP64) && !row.has(flag::DPP) && ctrl & !15 != crate::names::DPP_ROW_NEWBCAST {
                return Misfit::modifier(Mod::DppCtrl, "64-bit DPP has row_newbcast only");
            }
            inst.put(bits::DPP_CTRL, ctrl);
            inst.put(bits::DPP_ROW, mods.value(Mod::RowMask, 15));
            inst.put(bits::DPP_BANK, mods.value(Mod::BankMask, 15));
            inst.put(bits::DPP_BOUND, mods.value(Mod::BoundCtrl, 0));
        }
        Form::Base if row.enc == Enc::Vop3p => vop3p_modifiers(line, draft),
        Form::Base if row.enc == Enc::Mfma => {
            inst.put(bits::MFMA_CBSZ, mods.value(Mod::Cbsz, 0));
            inst.put(bits::MFMA_ABID, mods.value(Mod::Abid, 0));
            inst.put(bits::MFMA_BLGP, mods.value(Mod::Blgp, 0));
            let acc = line.ops().first().and_then(Op::reg).is_some_and(|d| d.file == File::A);
            if line.level == Level::Gfx90a && acc {
                inst.put(bits::MFMA_ACC_CD, 1);
            }
        }
        _ if inst.is_vop3_layout() => {
            if mods.on(Mod::Clamp) {
                let field = if line.level.is_vi_plus() { bits::VOP3_CLAMP } else { bits::VOP3_CLAMP_SI };
                // VOP3B's scalar destination takes the place of GFX6's clamp too.
                if !line.level.is_vi_plus() && is_vop3b(inst) {
                    // LLVM drops it silently.
                    draft.warning =
                        Some("clamp is lost: GFX6 and GFX7 have no bit for it beside a scalar destination");
                    draft.lost = " clamp";
                } else {
                    inst.put(field, 1);
                }
            }
            if mods.seen.has(Mod::Omod) {
                inst.put(bits::VOP3_OMOD, mods.value(Mod::Omod, 0));
            }
            if mods.seen.has(Mod::OpSel) {
                // As written, the destination's bit follows the last source's; in the encoding it is bit 3.
                let sources = sources(row);
                let written = mods.value(Mod::OpSel, 0);
                let op_sel = written & ((1 << sources) - 1) | (written >> sources & 1) << 3;
                inst.put(bits::VOP3_OP_SEL, op_sel);
            }
            if mods.on(Mod::High) {
                inst.put(bits::INTERP3_HIGH, 1);
            }
        }
        _ => {}
    }
    Ok(())
}

fn sources(row: &Row) -> u32 {
    row.operands.iter().filter(|o| o.role.source_index().is_some()).count() as u32
}

fn vop3p_modifiers(line: &Line, draft: &mut Draft) {
    let (row, mods) = (line.row, &line.mods);
    let inst = &mut draft.inst;
    let used = (1 << sources(row)) - 1;
    // Bits of sources that do not exist are set.
    let hi = if row.has(flag::PACKED) {
        mods.value(Mod::OpSelHi, 7) & used | 7 & !used
    } else if row.has(flag::MIX) {
        mods.value(Mod::OpSelHi, 0) & used
    } else {
        7
    };
    inst.put(bits::VOP3P_OP_SEL_HI, hi & 3);
    inst.put(bits::VOP3P_OP_SEL_HI2, hi >> 2);
    inst.put(bits::VOP3P_OP_SEL, mods.value(Mod::OpSel, 0) & used);
    // Mixed-precision sources carry neg and abs here, put when the source was read.
    if row.has(flag::PACKED) {
        inst.put(bits::VOP3_NEG, mods.value(Mod::NegLo, 0) & used);
        inst.put(bits::VOP3P_NEG_HI, mods.value(Mod::NegHi, 0) & used);
    }
    if mods.on(Mod::Clamp) {
        inst.put(bits::VOP3_CLAMP, 1);
    }
}
