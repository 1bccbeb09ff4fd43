//! Image instructions, and export.

use super::Draft;
use super::memory::{DataFile, coherence};
use super::misfit::{Fit, Misfit, Why};
use super::modifier::{Mod, Set};
use super::operand::{Kind, Line, Op};
use super::register::File;
use super::salu::register;
use wavemill_isa::encoding::bits;
use wavemill_isa::{Form, Inst, Level, Role, Row, flag};

/// Modifiers of image instructions.
pub(super) fn modifiers(row: &Row) -> Set {
    Set::of(&[
        Mod::Dmask,
        Mod::Unorm,
        Mod::Glc,
        Mod::Slc,
        Mod::Scc,
        Mod::R128,
        Mod::A16,
        Mod::Tfe,
        Mod::Lwe,
        Mod::Da,
    ])
    .with(Mod::D16, row.has(flag::D16))
}

/// MIMG.
pub(super) fn encode(line: &Line) -> Fit<Draft> {
    let (row, mods) = (line.row, &line.mods);
    let mut draft = Draft::new(Inst::new(row, Form::Base, line.level));
    let mut file = DataFile::default();
    coherence(line)?;
    available(line)?;
    for (i, operand) in row.operands.iter().enumerate() {
        let Some(op) = line.ops().get(i) else { return Misfit::op(i, Why::Few) };
        let value = match operand.role {
            Role::Vdata => data(line, &mut file, i, op)?,
            Role::Vaddr => {
                let Some(reg) = op.reg().filter(|r| r.file == File::V) else {
                    return Misfit::op(i, Why::Text("expected VGPRs for the address"));
                };
                if row.addr >> (reg.dwords - 1) & 1 == 0 {
                    return Misfit::op(
                        i,
                        Why::Text("the instruction takes no address of this many registers"),
                    );
                }
                draft.vaddr = reg.dwords;
                line.vector(i, reg)?
            }
            Role::Srsrc => register(i, op, 8)? / 4,
            _ => register(i, op, 4)? / 4,
        };
        draft.inst.set(operand.role, value);
    }
    if line.ops().len() > row.operands.len() {
        return Misfit::op(row.operands.len(), Why::Many);
    }
    draft.inst.put(bits::MIMG_DMASK, mods.value(Mod::Dmask, 0));
    for (m, field) in [
        (Mod::Unorm, bits::MIMG_UNORM),
        (Mod::Glc, bits::MIMG_GLC),
        (Mod::Slc, bits::MIMG_SLC),
        (Mod::Scc, bits::MIMG_SCC),
        (Mod::R128, bits::MIMG_R128),
        (Mod::A16, bits::MIMG_R128),
        (Mod::Tfe, bits::MIMG_TFE),
        (Mod::Lwe, bits::MIMG_LWE),
        (Mod::Da, bits::MIMG_DA),
        (Mod::D16, bits::MIMG_D16),
    ] {
        if mods.on(m) {
            draft.inst.put(field, 1);
        }
    }
    if file.acc() {
        draft.inst.put(bits::MIMG_ACC, 1);
    }
    Ok(draft)
}

/// Modifiers that not every generation has.
fn available(line: &Line) -> Fit<()> {
    let mods = &line.mods;
    if mods.seen.has(Mod::R128) && line.level.is_gfx9() {
        return Misfit::modifier(Mod::R128, "r128 is not available on GFX9");
    }
    if mods.seen.has(Mod::A16) && !line.level.is_gfx9() {
        return Misfit::modifier(Mod::A16, "a16 is available on GFX9 only");
    }
    if mods.on(Mod::D16) && !line.level.is_vi_plus() {
        return Misfit::modifier(Mod::D16, "d16 is available from GFX8 on");
    }
    if mods.seen.has(Mod::Tfe) && line.level == Level::Gfx90a {
        return Misfit::modifier(Mod::Tfe, "gfx90a has no tfe");
    }
    Ok(())
}

/// The data registers: as many as dmask has bits, four for a gather.
fn data(line: &Line, file: &mut DataFile, i: usize, op: &Op) -> Fit<u32> {
    let (row, mods) = (line.row, &line.mods);
    let dmask = mods.value(Mod::Dmask, 0);
    if row.has(flag::GATHER4) && dmask.count_ones() != 1 {
        return Misfit::modifier(Mod::Dmask, "a gather's dmask has one bit set");
    }
    if row.has(flag::ATOMIC) && !matches!(dmask, 1 | 3 | 15) {
        return Misfit::modifier(Mod::Dmask, "an atomic's dmask is 0x1, 0x3 or 0xf");
    }
    let mut dwords = if row.has(flag::GATHER4) { 4 } else { dmask.count_ones().max(1) };
    if mods.on(Mod::D16) && line.target.packs_d16() {
        dwords = dwords.div_ceil(2);
    }
    dwords += u32::from(mods.on(Mod::Tfe));
    // A compare-and-swap carries two values of the width dmask says.
    if row.has(flag::ATOMIC) && !mods.on(Mod::Tfe) {
        let widths: &[u32] = if row.has(flag::CMPSWAP) { &[3, 15] } else { &[1, 3] };
        if !widths.contains(&dmask) {
            return Misfit::modifier(Mod::Dmask, "this dmask has no meaning for the atomic");
        }
    }
    match op.reg() {
        Some(reg) if reg.file != File::S && u32::from(reg.dwords) != dwords => {
            Misfit::op(i, Why::Text("the number of data registers does not match dmask, d16 and tfe"))
        }
        _ => file.register(line, i, op, dwords as u8),
    }
}

/// Modifiers of export.
pub(super) fn export_modifiers() -> Set {
    Set::of(&[Mod::Done, Mod::Compr, Mod::Vm])
}

/// EXP.
pub(super) fn export(line: &Line) -> Fit<Draft> {
    let (row, mods) = (line.row, &line.mods);
    let mut draft = Draft::new(Inst::new(row, Form::Base, line.level));
    let mut sources = [None; 4];
    for (i, operand) in row.operands.iter().enumerate() {
        let Some(op) = line.ops().get(i) else { return Misfit::op(i, Why::Few) };
        match (operand.role, op.kind) {
            (Role::Tgt, Kind::Special(target)) => draft.inst.set(Role::Tgt, target),
            (_, Kind::Off) if i > 0 => {}
            (_, Kind::Reg(reg)) if i > 0 && reg.file == File::V && reg.dwords == 1 && !op.modified() => {
                sources[i - 1] = Some(u32::from(reg.code));
            }
            _ => return Misfit::op(i, Why::Text("expected a VGPR or off")),
        }
    }
    if line.ops().len() > row.operands.len() {
        return Misfit::op(row.operands.len(), Why::Many);
    }
    // Compressed: two components to a register, written as v0, v0, v1, v1.
    let compr = mods.seen.has(Mod::Compr);
    if compr {
        sources = [sources[0], sources[2], None, None];
    }
    let mut enable = 0;
    let roles = [Role::Vsrc0, Role::Vsrc1, Role::Vsrc2, Role::Vsrc3];
    for (n, (source, role)) in sources.into_iter().zip(roles).enumerate() {
        if let Some(code) = source {
            enable |= if compr { 3 << (2 * n) } else { 1 << n };
            draft.inst.set(role, code);
        }
    }
    draft.inst.put(bits::EXP_EN, enable);
    for (m, field) in [(Mod::Compr, bits::EXP_COMPR), (Mod::Done, bits::EXP_DONE), (Mod::Vm, bits::EXP_VM)] {
        if mods.on(m) {
            draft.inst.put(field, 1);
        }
    }
    Ok(draft)
}
