//! Scalar memory, data share, and the flat family.

use super::Draft;
use super::constant::Number;
use super::misfit::{Fit, Misfit, Why};
use super::modifier::{Mod, Set};
use super::operand::{Kind, Line, Op};
use super::register::File;
use super::salu::register;
use wavemill_isa::encoding::bits;
use wavemill_isa::{Enc, Field, Form, Inst, Level, Operand, Role, Row, flag, regs};

/// Vector data of one instruction lies in the VGPRs or, on gfx90a, in the AccVGPRs: all of it in one file.
#[derive(Default)]
pub(super) struct DataFile(Option<File>);

impl DataFile {
    /// The index of a data register.
    pub fn register(&mut self, line: &Line, i: usize, op: &Op, dwords: u8) -> Fit<u32> {
        let wanted = if line.level == Level::Gfx90a { Why::VgprOrAgpr(dwords) } else { Why::Vgpr(dwords) };
        let Some(reg) = op.reg() else { return Misfit::op(i, wanted) };
        if reg.file == File::S || reg.dwords != dwords {
            return Misfit::op(i, wanted);
        }
        if reg.file == File::A && line.level != Level::Gfx90a {
            return Misfit::op(i, Why::Text("AccVGPRs are loaded and stored on gfx90a only"));
        }
        if self.0.is_some_and(|file| file != reg.file) {
            return Misfit::op(i, Why::Text("data and result must be all VGPRs or all AccVGPRs"));
        }
        self.0 = Some(reg.file);
        line.vector(i, reg)
    }

    /// True when the data is in AccVGPRs.
    pub fn acc(&self) -> bool {
        self.0 == Some(File::A)
    }
}

/// A VGPR address.
pub(super) fn address(line: &Line, i: usize, op: &Op, dwords: u8) -> Fit<u32> {
    match op.reg() {
        Some(reg) if reg.file == File::V && reg.dwords == dwords => line.vector(i, reg),
        _ => Misfit::op(i, Why::Vgpr(dwords)),
    }
}

/// Checks that the operands are as many as the row has; `missing` of them may be left out.
fn count(line: &Line, operands: usize) -> Fit<()> {
    if line.ops().len() > operands { Misfit::op(operands, Why::Many) } else { Ok(()) }
}

/// The cache bits an encoding has, as flags: glc, slc, and gfx90a's scc.
pub(super) fn coherence(line: &Line) -> Fit<()> {
    if line.mods.seen.has(Mod::Scc) && line.level != Level::Gfx90a {
        return Misfit::modifier(Mod::Scc, "scc is a cache bit of gfx90a only");
    }
    Ok(())
}

/// Sets gfx90a's scc, unless the instruction has no such bit: LLVM drops it there silently.
pub(super) fn system_coherence(draft: &mut Draft, field: Field) {
    if draft.inst.row.has(flag::NOSCC) {
        draft.warning = Some("scc is lost: this atomic is never system coherent");
        draft.lost = " scc";
    } else {
        draft.inst.put(field, 1);
    }
}

const NO_NV: &str = "scalar memory has nv on GFX9, the flat family on GFX9 without gfx90a";

/// Modifiers of scalar memory instructions.
pub(super) fn scalar_modifiers(row: &Row) -> Set {
    Set::default()
        .with(Mod::Glc, row.has(flag::GLC))
        .with(Mod::Slc, row.has(flag::GLC))
        .with(Mod::Scc, row.has(flag::GLC))
        .with(Mod::Nv, row.enc == Enc::Smem)
        .with(Mod::Offset, row.operand(Role::Soffset).is_some())
}

/// SMRD and SMEM.
pub(super) fn scalar(line: &Line) -> Fit<Draft> {
    let (row, mods) = (line.row, &line.mods);
    let mut draft = Draft::new(Inst::new(row, Form::Base, line.level));
    for (i, operand) in row.operands.iter().enumerate() {
        let op = line.ops().get(i);
        if operand.role == Role::Soffset {
            scalar_offset(line, &mut draft, i, op)?;
            continue;
        }
        let Some(op) = op else { return Misfit::op(i, Why::Few) };
        let value = match operand.role {
            Role::Sdata => scalar_data(i, op, operand)?,
            Role::Sbase => register(i, op, operand.ty.dwords())? / 2,
            _ => match op.kind {
                Kind::Number(Number::Int(n @ -64..=127)) => n as u32 & 0x7f,
                _ => return Misfit::op(i, Why::Text("expected a number of 7 bits")),
            },
        };
        draft.inst.set(operand.role, value);
    }
    count(line, row.operands.len())?;
    for m in [Mod::Slc, Mod::Scc] {
        if mods.on(m) {
            return Misfit::modifier(m, "scalar memory has no cache bit but glc");
        }
    }
    if mods.on(Mod::Glc) {
        if row.enc == Enc::Smrd {
            return Misfit::modifier(Mod::Glc, "scalar memory has no cache bits before GFX8");
        }
        draft.inst.put(bits::SMEM_GLC, 1);
    }
    if mods.on(Mod::Nv) {
        if !line.level.is_gfx9() {
            return Misfit::modifier(Mod::Nv, NO_NV);
        }
        draft.inst.put(bits::SMEM_NV, 1);
    }
    Ok(draft)
}

/// Loads and stores do not reach M0 and EXEC.
fn scalar_data(i: usize, op: &Op, operand: &Operand) -> Fit<u32> {
    let dwords = operand.ty.dwords();
    let code = register(i, op, dwords)?;
    if op.reg().is_some_and(|r| r.is_exec() || r.is_m0()) {
        return Misfit::op(i, Why::Text("scalar memory does not reach m0 and exec"));
    }
    Ok(code)
}

fn scalar_offset(line: &Line, draft: &mut Draft, i: usize, op: Option<&Op>) -> Fit<()> {
    let mods = &line.mods;
    let extra = mods.seen.has(Mod::Offset);
    let offset = match op.map(|op| op.kind) {
        None => 0,
        Some(Kind::Reg(_)) => {
            let code = register(i, op.unwrap_or(&line.ops()[i]), 1)?;
            return offset_register(line, draft, code);
        }
        Some(Kind::Number(Number::Int(n))) => n,
        Some(_) => return Misfit::op(i, Why::Text("expected an offset: a scalar register or a number")),
    };
    if extra {
        return Misfit::modifier(Mod::Offset, "offset: goes with an offset register");
    }
    let buffer = line.row.operand(Role::Sbase).is_some_and(|o| o.ty.dwords() == 4);
    if line.row.enc == Enc::Smem {
        check_offset(line, offset, buffer).map_err(|why| Misfit { at: super::misfit::At::Op(i), why })?;
        draft.inst.put(bits::SMEM_IMM, 1);
        draft.inst.put(bits::SMEM_OFFSET21, offset as u32 & 0x1f_ffff);
        return Ok(());
    }
    match u32::try_from(offset) {
        Ok(n @ 0..=255) => {
            draft.inst.put(bits::SMRD_IMM, 1);
            draft.inst.put(bits::SMRD_OFFSET, n);
            Ok(())
        }
        // GFX7 has a literal for what does not fit.
        Ok(n) if line.level == Level::Gfx7 => {
            draft.inst.put(bits::SMRD_OFFSET, regs::LITERAL);
            draft.inst.put(bits::LITERAL, n);
            draft.inst.len = 8;
            Ok(())
        }
        _ if line.level == Level::Gfx7 => {
            Misfit::op(i, Why::Text("expected an offset of 32 bits, counted in dwords"))
        }
        _ => Misfit::op(i, Why::Text("expected an offset of 8 bits, counted in dwords")),
    }
}

fn check_offset(line: &Line, offset: i64, buffer: bool) -> Result<(), Why> {
    let negative = line.level.is_gfx9() && !buffer;
    match offset {
        0..=0xf_ffff => Ok(()),
        -0x10_0000..=0xf_ffff if negative => Ok(()),
        _ if negative => Err(Why::Text("expected a signed offset of 21 bits")),
        _ => Err(Why::Text("expected an unsigned offset of 20 bits")),
    }
}

fn offset_register(line: &Line, draft: &mut Draft, code: u32) -> Fit<()> {
    if line.row.enc == Enc::Smrd {
        if line.mods.seen.has(Mod::Offset) {
            return Misfit::modifier(Mod::Offset, "an offset beside the offset register came with GFX9");
        }
        draft.inst.put(bits::SMRD_OFFSET, code);
        return Ok(());
    }
    if !line.mods.seen.has(Mod::Offset) {
        draft.inst.put(bits::SMEM_OFFSET20, code);
        return Ok(());
    }
    if !line.level.is_gfx9() {
        return Misfit::modifier(Mod::Offset, "an offset beside the offset register came with GFX9");
    }
    let buffer = line.row.operand(Role::Sbase).is_some_and(|o| o.ty.dwords() == 4);
    check_offset(line, line.mods.offset, buffer)
        .map_err(|why| Misfit { at: super::misfit::At::Mod(Mod::Offset), why })?;
    draft.inst.put(bits::SMEM_IMM, 1);
    draft.inst.put(bits::SMEM_SOE, 1);
    draft.inst.put(bits::SMEM_OFFSET21, line.mods.offset as u32 & 0x1f_ffff);
    draft.inst.put(bits::SMEM_SOFFSET, code);
    Ok(())
}

/// Modifiers of data share instructions.
pub(super) fn data_share_modifiers(row: &Row) -> Set {
    Set::default()
        .with(Mod::Offset, row.has(flag::OFFSET | flag::SWIZZLE))
        .with(Mod::Offset0, row.has(flag::OFFSET2))
        .with(Mod::Offset1, row.has(flag::OFFSET2))
        .with(Mod::Gds, row.has(flag::GDS | flag::GDS_ONLY))
}

/// DS.
pub(super) fn data_share(line: &Line) -> Fit<Draft> {
    let (row, mods) = (line.row, &line.mods);
    let mut draft = Draft::new(Inst::new(row, Form::Base, line.level));
    let mut file = DataFile::default();
    for (i, operand) in row.operands.iter().enumerate() {
        let Some(op) = line.ops().get(i) else { return Misfit::op(i, Why::Few) };
        let value = match operand.role {
            Role::Addr => address(line, i, op, operand.ty.dwords())?,
            _ => file.register(line, i, op, operand.ty.dwords())?,
        };
        // gfx90a's global wave sync takes even registers.
        let sync = row.has(flag::GDS_ONLY) && row.operand(Role::Vdst).is_none();
        if sync && value % 2 != 0 && line.level == Level::Gfx90a {
            return Misfit::op(i, Why::Text("global wave sync takes even registers on gfx90a"));
        }
        draft.inst.set(operand.role, value);
    }
    count(line, row.operands.len())?;
    if row.has(flag::OFFSET2) {
        for (m, value, field) in
            [(Mod::Offset0, mods.offset, bits::DS_OFFSET0), (Mod::Offset1, mods.offset1, bits::DS_OFFSET1)]
        {
            if !(0..=255).contains(&value) {
                return Misfit::modifier(m, "expected an unsigned offset of 8 bits");
            }
            draft.inst.put(field, value as u32);
        }
    } else {
        if mods.swizzled && !row.has(flag::SWIZZLE) {
            return Misfit::modifier(Mod::Offset, "only ds_swizzle_b32 has a swizzle for an offset");
        }
        if !(0..=0xffff).contains(&mods.offset) {
            return Misfit::modifier(Mod::Offset, "expected an unsigned offset of 16 bits");
        }
        draft.inst.put(bits::DS_OFFSET, mods.offset as u32);
    }
    if mods.on(Mod::Gds) && !row.has(flag::GDS_ONLY) && line.level == Level::Gfx90a {
        return Misfit::modifier(Mod::Gds, "gfx90a has no global data share but for wave sync");
    }
    if row.has(flag::GDS_ONLY) && !mods.on(Mod::Gds) {
        return Misfit::inst("this instruction works on the global data share: write gds");
    }
    if mods.on(Mod::Gds) {
        draft.inst.put(if line.level.is_vi_plus() { bits::DS_GDS } else { bits::DS_GDS_SI }, 1);
    }
    if file.acc() {
        draft.inst.put(bits::DS_ACC, 1);
    }
    Ok(draft)
}

/// Modifiers of the flat family.
pub(super) fn flat_modifiers(row: &Row) -> Set {
    Set::of(&[Mod::Offset, Mod::InstOffset, Mod::Glc, Mod::Slc, Mod::Scc, Mod::Nv])
        .with(Mod::Lds, row.has(flag::LDS | flag::LDS_ONLY))
}

/// FLAT, GLOBAL and SCRATCH.
pub(super) fn flat(line: &Line) -> Fit<Draft> {
    let (row, mods) = (line.row, &line.mods);
    let mut draft = Draft::new(Inst::new(row, Form::Base, line.level));
    let mut file = DataFile::default();
    coherence(line)?;
    let lds = mods.on(Mod::Lds);
    let full = row.operands.len();
    let returns = row.has(flag::ATOMIC) && line.ops().len() >= full;
    // An atomic without a result, and a load to LDS, have no vdst.
    let no_vdst = row.has(flag::ATOMIC) && !returns || lds;
    let mut i = 0;
    for operand in row.operands {
        if operand.role == Role::Vdst && no_vdst {
            continue;
        }
        let Some(op) = line.ops().get(i) else { return Misfit::op(i, Why::Few) };
        let value = match operand.role {
            Role::Vaddr => flat_address(line, i, op, operand)?,
            Role::Saddr => scalar_base(i, op, operand)?,
            _ => file.register(line, i, op, operand.ty.dwords())?,
        };
        draft.inst.set(operand.role, value);
        i += 1;
    }
    count(line, i)?;
    if row.has(flag::ATOMIC) && returns != mods.on(Mod::Glc) {
        return if returns {
            Misfit::inst("an atomic with a result must use glc")
        } else {
            Misfit::modifier(Mod::Glc, "an atomic without a result must not use glc")
        };
    }
    if returns && row.has(flag::NORET) && line.level < Level::Gfx90a {
        return Misfit::inst("this atomic returns a result on gfx90a only");
    }
    flat_offset(line, &mut draft)?;
    draft.inst.put(bits::FLAT_GLC, mods.on(Mod::Glc).into());
    draft.inst.put(bits::FLAT_SLC, mods.on(Mod::Slc).into());
    if mods.on(Mod::Scc) {
        system_coherence(&mut draft, bits::FLAT_SCC);
    }
    if lds {
        draft.inst.put(bits::FLAT_LDS, 1);
    }
    if file.acc() {
        draft.inst.put(bits::FLAT_ACC, 1);
    }
    if mods.on(Mod::Nv) {
        // gfx90a's manual lists the bit, but in its place is the one that says that data is in accumulators.
        if !line.level.is_gfx9() || line.level == Level::Gfx90a {
            return Misfit::modifier(Mod::Nv, NO_NV);
        }
        draft.inst.put(bits::FLAT_NV, 1);
    }
    Ok(draft)
}

fn flat_offset(line: &Line, draft: &mut Draft) -> Fit<()> {
    let offset = line.mods.offset;
    if !line.level.is_gfx9() {
        if offset != 0 {
            return Misfit::modifier(Mod::Offset, "flat instructions have an offset from GFX9 on");
        }
        return Ok(());
    }
    if line.row.enc == Enc::Flat {
        if !(0..=0xfff).contains(&offset) {
            return Misfit::modifier(Mod::Offset, "expected an unsigned offset of 12 bits");
        }
        draft.inst.put(bits::FLAT_OFFSET12, offset as u32);
        return Ok(());
    }
    if !(-0x1000..=0xfff).contains(&offset) {
        return Misfit::modifier(Mod::Offset, "expected a signed offset of 13 bits");
    }
    draft.inst.put(bits::FLAT_OFFSET13, offset as u32 & 0x1fff);
    Ok(())
}

/// Whether the line switches its scalar base off.
fn base_off(line: &Line) -> bool {
    line.ops().last().is_some_and(|op| op.kind == Kind::Off)
}

fn flat_address(line: &Line, i: usize, op: &Op, operand: &Operand) -> Fit<u32> {
    match line.row.enc {
        // A global address is 64 bits of VGPRs, or 32 bits of offset from a scalar base.
        Enc::Global if !base_off(line) => address(line, i, op, 1),
        // A scratch address is a VGPR or a scalar, not both.
        Enc::Scratch if !base_off(line) => {
            if op.kind == Kind::Off {
                Ok(0)
            } else {
                Misfit::op(i, Why::Text("expected off beside a scalar address"))
            }
        }
        _ => address(line, i, op, operand.ty.dwords()),
    }
}

fn scalar_base(i: usize, op: &Op, operand: &Operand) -> Fit<u32> {
    const OFF: u32 = 0x7f;
    if op.kind == Kind::Off {
        return Ok(OFF);
    }
    let code = register(i, op, operand.ty.dwords())?;
    // EXEC_HI's code is the one that says off.
    if code == OFF {
        return Misfit::op(i, Why::Text("exec_hi cannot be an address"));
    }
    Ok(code)
}
