//! Buffer instructions, untyped and typed.

use super::Draft;
use super::constant::{self, Reading};
use super::memory::{DataFile, address, coherence, system_coherence};
use super::misfit::{Fit, Misfit, Why};
use super::modifier::{Mod, Set};
use super::operand::{Kind, Line, Op};
use super::register::File;
use super::salu::register;
use crate::names;
use wavemill_isa::encoding::bits;
use wavemill_isa::{Enc, Form, Inst, Level, Role, Row, flag};

/// Modifiers of buffer instructions.
pub(super) fn modifiers(row: &Row) -> Set {
    if row.operands.is_empty() {
        return Set::default();
    }
    let typed = row.enc == Enc::Mtbuf;
    Set::of(&[Mod::Offen, Mod::Idxen, Mod::Addr64, Mod::Offset, Mod::Glc, Mod::Slc, Mod::Scc])
        .with(Mod::Lds, row.has(flag::LDS | flag::LDS_ONLY))
        .with(Mod::Tfe, row.has(flag::TFE))
        .with(Mod::Format, typed)
}

/// MUBUF and MTBUF.
pub(super) fn encode(line: &Line) -> Fit<Draft> {
    let (row, mods) = (line.row, &line.mods);
    let mut draft = Draft::new(Inst::new(row, Form::Base, line.level));
    let mut file = DataFile::default();
    let typed = row.enc == Enc::Mtbuf;
    coherence(line)?;
    let lds = mods.on(Mod::Lds);
    if row.has(flag::LDS_ONLY) && !lds {
        return Misfit::inst("this instruction works on LDS: write lds");
    }
    // TFE adds a status register; as with LLVM the word alone counts, not whether it says no.
    let tfe = mods.seen.has(Mod::Tfe);
    if tfe {
        let load = row.operand(Role::Vdata).is_some_and(|d| d.access != wavemill_isa::Access::Read);
        if line.level == Level::Gfx90a {
            return Misfit::modifier(Mod::Tfe, "gfx90a has no tfe");
        }
        if !load {
            return Misfit::modifier(Mod::Tfe, "a store has no fault status: tfe means nothing here");
        }
        if lds {
            return Misfit::modifier(Mod::Tfe, "a load to LDS has no tfe");
        }
    }
    let mut i = 0;
    for operand in row.operands {
        if operand.role == Role::Vdata && lds {
            continue;
        }
        let Some(op) = line.ops().get(i) else { return Misfit::op(i, Why::Few) };
        let value = match operand.role {
            Role::Vdata => {
                let dwords = row.dwords(operand, &line.target);
                file.register(line, i, op, dwords + u8::from(tfe))?
            }
            Role::Vaddr => vector_address(line, i, op)?,
            Role::Srsrc => register(i, op, 4)? / 4,
            _ => scalar_offset(line, i, op)?,
        };
        draft.inst.set(operand.role, value);
        i += 1;
    }
    if line.ops().len() > i {
        return Misfit::op(i, Why::Many);
    }
    if !(0..=0xfff).contains(&mods.offset) {
        return Misfit::modifier(Mod::Offset, "expected an unsigned offset of 12 bits");
    }
    if mods.on(Mod::Glc) && row.has(flag::NORET) && line.level < Level::Gfx90a {
        return Misfit::modifier(Mod::Glc, "this atomic returns a result on gfx90a only");
    }
    let vi = line.level.is_vi_plus();
    let mut flag_bit = |m: Mod, field| {
        if mods.on(m) {
            draft.inst.put(field, 1);
        }
    };
    flag_bit(Mod::Offen, bits::BUF_OFFEN);
    flag_bit(Mod::Idxen, bits::BUF_IDXEN);
    flag_bit(Mod::Glc, bits::BUF_GLC);
    flag_bit(Mod::Slc, if vi && !typed { bits::MUBUF_SLC } else { bits::BUF_SLC });
    flag_bit(Mod::Lds, bits::MUBUF_LDS);
    flag_bit(Mod::Addr64, bits::BUF_ADDR64);
    if mods.on(Mod::Scc) {
        system_coherence(&mut draft, if typed { bits::MTBUF_SCC } else { bits::MUBUF_SCC });
    }
    draft.inst.put(bits::BUF_OFFSET, mods.offset as u32);
    if tfe {
        draft.inst.put(bits::BUF_TFE, 1);
    }
    if file.acc() {
        draft.inst.put(bits::BUF_ACC, 1);
    }
    if typed {
        let format = mods.value(Mod::Format, names::DEFAULT_FORMAT);
        draft.inst.put(bits::MTBUF_DFMT, format & 15);
        draft.inst.put(bits::MTBUF_NFMT, format >> 4);
    }
    Ok(draft)
}

/// `off`, or as many registers as the addressing mode takes.
fn vector_address(line: &Line, i: usize, op: &Op) -> Fit<u32> {
    let mods = &line.mods;
    let (offen, idxen, addr64) = (mods.on(Mod::Offen), mods.on(Mod::Idxen), mods.on(Mod::Addr64));
    if addr64 && line.level.is_vi_plus() {
        return Misfit::modifier(Mod::Addr64, "addr64 is an addressing mode of GFX6 and GFX7");
    }
    if addr64 && (offen || idxen) {
        return Misfit::modifier(Mod::Addr64, "addr64 goes with neither offen nor idxen");
    }
    let dwords = if addr64 || offen && idxen { 2 } else { 1 };
    match (op.kind, offen || idxen || addr64) {
        (Kind::Off, false) => Ok(0),
        (Kind::Off, true) => Misfit::op(i, Why::Vgpr(dwords)),
        (_, true) => address(line, i, op, dwords),
        (Kind::Reg(reg), false) if reg.file == File::V => {
            Misfit::op(i, Why::Text("an address register needs offen, idxen or addr64; write off for none"))
        }
        _ => Misfit::op(i, Why::Text("expected off or an address register")),
    }
}

/// A scalar register or an inline constant.
fn scalar_offset(line: &Line, i: usize, op: &Op) -> Fit<u32> {
    match op.kind {
        Kind::Reg(reg) if reg.is_value() && !op.modified() => Ok(reg.code.into()),
        Kind::Number(number) if !op.modified() => {
            match constant::inline_only(Reading::B32, number, line.level.is_vi_plus()) {
                Some(code) => Ok(code),
                None => Misfit::op(i, Why::Inline),
            }
        }
        Kind::Expr => Misfit::op(i, Why::Inline),
        _ => register(i, op, 1),
    }
}
