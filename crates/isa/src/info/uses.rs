//! Which registers an instruction reads and writes: its operands, then the state its row names.

use super::reg::Reg;
use crate::encoding::{Inst, bits};
use crate::regs;
use crate::row::{Access, Class, Enc, Flow, Form, Kind, MemKind, Operand, Role, flag, state};
use crate::target::{Level, Target};

/// Which lanes of a vector register are touched.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Lanes {
    /// It is not a vector register.
    None,
    /// Those that EXEC enables; a write leaves the others alone.
    Exec,
    /// All of them, whatever EXEC says.
    All,
    /// One: V_READLANE, V_WRITELANE, V_READFIRSTLANE.
    One,
    /// Others than the lane's own, too: DPP, permutes.
    Other,
}

/// Whether a register's number is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Index {
    /// It is.
    Fixed,
    /// It is, unless VGPR indexing is on (S_SET_GPR_IDX_ON), which adds M0's index.
    Mode,
    /// M0 is added: the relative moves.
    M0,
    /// The branch stack's pointer in MODE says which four SGPRs (S_CBRANCH_FORK and S_CBRANCH_JOIN).
    Stack,
}

/// A use of neighbouring registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Use {
    /// The first.
    pub reg: Reg,
    /// How many are used for certain.
    pub dwords: u8,
    /// How many may be: the encoding does not say how many registers an image address has.
    pub most: u8,
    /// Read, written or both. A write that leaves bits of a register alone still is a write; see `bits` and `lanes`.
    pub access: Access,
    /// The bits of each register that are read or written.
    pub bits: u32,
    /// The lanes.
    pub lanes: Lanes,
    /// Whether its number is certain.
    pub index: Index,
    /// The operand it stands for; none for implicit uses.
    pub role: Option<Role>,
}

impl Use {
    /// Fills a list's unused places.
    pub(super) const NOTHING: Use = Use::implicit(Reg::Scc, 0, Access::Read);

    const fn implicit(reg: Reg, dwords: u8, access: Access) -> Use {
        let (lanes, index) = (Lanes::None, Index::Fixed);
        Use { reg, dwords, most: dwords, access, bits: !0, lanes, index, role: None }
    }

    /// It is read.
    pub const fn reads(&self) -> bool {
        !matches!(self.access, Access::Write)
    }

    /// It is written.
    pub const fn writes(&self) -> bool {
        !matches!(self.access, Access::Read)
    }

    /// Nothing of the registers' old values is left.
    pub const fn overwrites(&self) -> bool {
        self.writes()
            && self.bits == !0
            && matches!(self.lanes, Lanes::None | Lanes::All)
            && matches!(self.index, Index::Fixed)
    }

    /// The registers that are used for certain, one by one.
    pub fn regs(&self) -> impl Iterator<Item = Reg> + use<> {
        let reg = self.reg;
        (0..self.dwords).map(move |n| reg.offset(n))
    }

    /// All that may be used.
    pub fn possible(&self) -> impl Iterator<Item = Reg> + use<> {
        let reg = self.reg;
        (0..self.most).map(move |n| reg.offset(n))
    }
}

/// It addresses GDS, not LDS.
pub(super) fn is_gds(inst: &Inst, level: Level) -> bool {
    let field = if level.is_vi_plus() { bits::DS_GDS } else { bits::DS_GDS_SI };
    inst.row.has(flag::GDS_ONLY) || inst.row.has(flag::GDS) && field.get(inst.bits) != 0
}

/// What the encoding says about an instruction as a whole.
pub(super) struct Reader<'a> {
    pub inst: &'a Inst,
    pub target: &'a Target,
}

impl Reader<'_> {
    fn set(&self, field: crate::Field) -> bool {
        field.get(self.inst.bits) != 0
    }

    fn level(&self) -> Level {
        self.target.level()
    }

    /// It addresses GDS, not LDS.
    pub fn is_gds(&self) -> bool {
        is_gds(self.inst, self.level())
    }

    /// Its data goes to or comes from LDS, not VGPRs.
    pub fn moves_lds(&self) -> bool {
        let row = self.inst.row;
        row.has(flag::LDS_ONLY)
            || row.has(flag::LDS)
                && match row.enc {
                    Enc::Mubuf => self.set(bits::MUBUF_LDS),
                    _ => self.level().is_gfx9() && self.set(bits::FLAT_LDS),
                }
    }

    /// An atomic that returns the old value.
    pub fn returns(&self) -> bool {
        let row = self.inst.row;
        let glc = match row.enc {
            Enc::Smem => bits::SMEM_GLC,
            Enc::Mubuf | Enc::Mtbuf => bits::BUF_GLC,
            Enc::Mimg => bits::MIMG_GLC,
            Enc::Flat | Enc::Global | Enc::Scratch => bits::FLAT_GLC,
            _ => return row.operand(Role::Vdst).is_some(),
        };
        self.set(glc)
    }

    /// The data of a memory instruction is in accumulators.
    fn data_in_accumulators(&self) -> bool {
        self.level() == Level::Gfx90a
            && match self.inst.row.enc {
                Enc::Ds => self.set(bits::DS_ACC),
                Enc::Mubuf | Enc::Mtbuf => self.set(bits::BUF_ACC),
                Enc::Mimg => self.set(bits::MIMG_ACC),
                Enc::Flat | Enc::Global | Enc::Scratch => self.set(bits::FLAT_ACC),
                _ => false,
            }
    }

    /// A status register follows the data of a load.
    fn has_status(&self) -> bool {
        let row = self.inst.row;
        let tfe = match row.enc {
            Enc::Mubuf | Enc::Mtbuf => bits::BUF_TFE,
            Enc::Mimg => bits::MIMG_TFE,
            Enc::Flat => bits::FLAT_TFE,
            _ => return false,
        };
        let lwe = row.enc == Enc::Mimg && self.set(bits::MIMG_LWE);
        self.level() != Level::Gfx90a
            && !self.level().is_gfx9() | (row.enc != Enc::Flat)
            && (self.set(tfe) || lwe)
    }

    /// Registers that the data of a memory instruction takes, without a status.
    fn data_dwords(&self, operand: &Operand) -> u8 {
        let row = self.inst.row;
        if row.enc != Enc::Mimg {
            return row.dwords(operand, self.target);
        }
        let dmask = bits::MIMG_DMASK.get(self.inst.bits).count_ones().max(1) as u8;
        let count = if row.has(flag::GATHER4) { 4 } else { dmask };
        let d16 = row.has(flag::D16) && self.level().is_vi_plus() && self.set(bits::MIMG_D16);
        if d16 && self.target.packs_d16() { count.div_ceil(2) } else { count }
    }

    /// C and D of a matrix instruction (slot 2), A or B (0, 1) are accumulators.
    fn matrix_accumulates(&self, slot: u8) -> bool {
        match slot {
            2 => self.level() != Level::Gfx90a || self.set(bits::MFMA_ACC_CD),
            n => bits::MFMA_ACC.get(self.inst.bits) >> n & 1 != 0,
        }
    }

    /// The use an operand stands for; none for constants and what is switched off.
    pub fn operand(&self, o: &Operand) -> Option<Use> {
        let inst = self.inst;
        let row = inst.row;
        if o.role == Role::Hwreg {
            return Some(self.hardware_register());
        }
        if o.ty.kind == Kind::Imm || o.role == Role::K {
            return None;
        }
        let code = inst.field_of(o).get(inst.bits);
        let dwords = o.ty.dwords();
        let found = match o.role {
            Role::Vdst if inst.row.enc.is_valu() => self.vector_result(o, code),
            Role::Vdst => {
                self.data(o, code, row.mem.map(|m| m.kind) != Some(MemKind::Atomic) || self.returns())?
            }
            Role::Vdata => self.data(o, code, true)?,
            Role::Data0 | Role::Data1 => self.data(o, code, true)?,
            Role::Addr => vector(Reg::Vgpr(code as u8), 1),
            Role::Vaddr => self.vector_address(o, code)?,
            Role::Vsrc0 | Role::Vsrc1 | Role::Vsrc2 | Role::Vsrc3 => self.export_source(o.role, code)?,
            Role::Src0 | Role::Src1 | Role::Src2 => self.vector_source(o, code)?,
            Role::Vcc => scalar(self.mask_code(o, code), 2)?,
            Role::Sdst | Role::Ssrc0 | Role::Ssrc1 => scalar(code, dwords)?,
            Role::Sdata => scalar(code, dwords)?,
            Role::Sbase => scalar(code * 2, dwords)?,
            Role::Srsrc => {
                // R128 is GFX9's A16: only before does it halve the descriptor.
                let half = row.enc == Enc::Mimg && !self.level().is_gfx9() && self.set(bits::MIMG_R128);
                scalar(code * 4, if half { 4 } else { dwords })?
            }
            Role::Ssamp => scalar(code * 4, dwords)?,
            Role::Saddr if code != 0x7f => scalar(code, dwords)?,
            Role::Soffset => scalar(self.scalar_offset(code)?, 1)?,
            _ => return None,
        };
        // What the table calls read and written, an atomic writes only if it is to return.
        let mut access = o.access;
        if matches!(o.role, Role::Vdata | Role::Sdata)
            && row.mem.is_some_and(|m| m.kind == MemKind::Atomic)
            && !self.returns()
        {
            access = Access::Read;
        }
        let index = self.index(o, &found);
        Some(Use { access, index, role: Some(o.role), ..found })
    }

    /// Whether indexing may move a register.
    fn index(&self, o: &Operand, found: &Use) -> Index {
        let row = self.inst.row;
        let relative = match o.access {
            Access::Read => state::M0_SRC,
            _ => state::M0_DST,
        };
        let general = !matches!(found.reg, Reg::Scalar(n) if n as u32 >= regs::sgpr_count(self.target));
        if row.reads & relative != 0 && general {
            return Index::M0;
        }
        let indexable = self.level().is_vi_plus()
            && row.enc.is_valu()
            && !matches!(row.enc, Enc::Mfma | Enc::Vintrp)
            && matches!(found.reg, Reg::Vgpr(_));
        if indexable { Index::Mode } else { Index::Fixed }
    }

    fn hardware_register(&self) -> Use {
        let field = self.inst.get(Role::Hwreg);
        let (id, offset, size) = (field & 63, field >> 6 & 31, (field >> 11 & 31) + 1);
        let bits = ((((1u64 << size) - 1) << offset) & 0xffff_ffff) as u32;
        let read = self.inst.row.operand(Role::Sdst).is_some_and(|o| o.access == Access::Write);
        let access = if read { Access::Read } else { Access::Write };
        Use { bits, role: Some(Role::Hwreg), ..Use::implicit(Reg::Hw(id as u8), 1, access) }
    }

    /// A vector ALU instruction's VGPRs or accumulators.
    fn vector_result(&self, o: &Operand, code: u32) -> Use {
        let inst = self.inst;
        let acc = o.class == Class::Agpr || inst.row.enc == Enc::Mfma && self.matrix_accumulates(2);
        let reg = if acc { Reg::Agpr(code as u8) } else { Reg::Vgpr(code as u8) };
        let mut out = vector(reg, o.ty.dwords());
        out.bits = self.result_bits(o);
        if inst.row.enc == Enc::Mfma {
            out.lanes = Lanes::All;
        } else if inst.row.has(flag::NOEXEC) {
            out.lanes = Lanes::One;
        }
        out
    }

    /// The bits of a vector result that are written; the others stay.
    fn result_bits(&self, o: &Operand) -> u32 {
        let (inst, gfx9) = (self.inst, self.level().is_gfx9());
        if inst.form == Form::Sdwa {
            // DST_UNUSED 2 preserves what DST_SEL does not select.
            return match (bits::SDWA_DST_U.get(inst.bits), bits::SDWA_DST_SEL.get(inst.bits)) {
                (2, n @ 0..=3) => 0xff << (8 * n),
                (2, 4) => 0xffff,
                (2, 5) => 0xffff_0000,
                _ => !0,
            };
        }
        match o.class {
            Class::Low if gfx9 => return 0xffff,
            Class::High => return 0xffff_0000,
            _ => {}
        }
        // The destination's bit of OP_SEL picks a half.
        if inst.is_vop3_layout() && gfx9 && inst.row.has(flag::OP_SEL) && o.ty.bits == 16 && o.ty.count == 1 {
            let high = bits::VOP3_OP_SEL.get(inst.bits) & 8 != 0;
            return if high { 0xffff_0000 } else { 0xffff };
        }
        !0
    }

    fn vector_source(&self, o: &Operand, code: u32) -> Option<Use> {
        let inst = self.inst;
        let row = inst.row;
        let slot = o.role.source_index().unwrap_or(0);
        let acc = o.class == Class::Agpr || row.enc == Enc::Mfma && self.matrix_accumulates(slot);
        let register = |n: u32| {
            let reg = if acc { Reg::Agpr(n as u8) } else { Reg::Vgpr(n as u8) };
            let mut out = vector(reg, o.ty.dwords());
            if row.enc == Enc::Mfma {
                out.lanes = Lanes::All;
            } else if row.operand(Role::Vdst).is_none() && row.operand(Role::Sdst).is_some() {
                out.lanes = Lanes::One;
            } else if inst.form == Form::Dpp && slot == 0 {
                out.lanes = Lanes::Other;
            }
            out
        };
        match inst.form {
            Form::Sdwa if self.level().is_gfx9() && inst.bits >> (bits::SDWA_S.lo + 8 * slot) & 1 != 0 => {
                self.source(code, o.ty.dwords())
            }
            Form::Sdwa | Form::Dpp => Some(register(code & 0xff)),
            // An eight-bit field names a VGPR, but for the lane number of GFX6's and GFX7's short V_READLANE.
            _ if inst.field_of(o).width == 8 && !inst.is_vop3_layout() && o.class != Class::Scalar => {
                Some(register(code))
            }
            _ if code >= regs::VGPR => Some(register(code - regs::VGPR)),
            _ => self.source(code, o.ty.dwords()),
        }
    }

    /// A scalar source by its operand code: a register, a register that shows another, or nothing.
    fn source(&self, code: u32, dwords: u8) -> Option<Use> {
        let read = |reg, n| Some(Use::implicit(reg, n, Access::Read));
        match code {
            0..128 => scalar(code, dwords),
            235..=238 if self.level().is_gfx9() => read(Reg::SH_MEM_BASES, 1),
            251 => read(Reg::VCC, 2),
            252 => read(Reg::EXEC, 2),
            253 => read(Reg::Scc, 1),
            // LDS_DIRECT: M0 has the address.
            regs::LDS_DIRECT => read(Reg::M0, 1),
            _ => None,
        }
    }

    /// The lane mask in VCC's role.
    fn mask_code(&self, o: &Operand, code: u32) -> u32 {
        let inst = self.inst;
        match inst.form {
            Form::Vop3 => code,
            Form::Sdwa
                if inst.row.enc == Enc::Vopc
                    && o.access == Access::Write
                    && self.level().is_gfx9()
                    && self.set(bits::SDWA_SD) =>
            {
                bits::SDWA_SDST.get(inst.bits)
            }
            _ => regs::VCC,
        }
    }

    /// Data of a memory instruction in vector registers; `present` is false for a result that is not asked for.
    fn data(&self, o: &Operand, code: u32, present: bool) -> Option<Use> {
        if !present || self.moves_lds() && matches!(o.role, Role::Vdst | Role::Vdata) {
            return None;
        }
        let reg = if self.data_in_accumulators() { Reg::Agpr(code as u8) } else { Reg::Vgpr(code as u8) };
        let status = self.has_status() && matches!(o.role, Role::Vdst | Role::Vdata);
        let mut out = vector(reg, self.data_dwords(o) + status as u8);
        // Registers with ECC are written whole: the other half becomes zero.
        let whole = o.access == Access::Write && self.target.sramecc_enabled();
        out.bits = match o.class {
            Class::Low if !whole => 0xffff,
            Class::High if !whole => 0xffff_0000,
            _ => !0,
        };
        // The permutes move registers between lanes and touch no memory.
        let row = self.inst.row;
        if row.enc == Enc::Ds && row.mem.is_none() && o.access == Access::Read {
            out.lanes = Lanes::Other;
        }
        Some(out)
    }

    fn vector_address(&self, o: &Operand, code: u32) -> Option<Use> {
        let row = self.inst.row;
        let has_base = row.operand(Role::Saddr).is_some() && self.inst.get(Role::Saddr) != 0x7f;
        let (dwords, most) = match row.enc {
            Enc::Mimg => (row.addr.trailing_zeros() as u8 + 1, 16 - row.addr.leading_zeros() as u8),
            Enc::Mubuf | Enc::Mtbuf => {
                let long = !self.level().is_vi_plus() && self.set(bits::BUF_ADDR64);
                let n =
                    if long { 2 } else { self.set(bits::BUF_OFFEN) as u8 + self.set(bits::BUF_IDXEN) as u8 };
                (n, n)
            }
            Enc::Scratch if has_base => return None,
            Enc::Global if has_base => (1, 1),
            _ => (o.ty.dwords(), o.ty.dwords()),
        };
        (most > 0).then(|| Use { most, ..vector(Reg::Vgpr(code as u8), dwords) })
    }

    /// The operand code of a scalar offset; none if it is a constant of the encoding.
    fn scalar_offset(&self, code: u32) -> Option<u32> {
        let word = self.inst.bits;
        match self.inst.row.enc {
            Enc::Smrd => (!self.set(bits::SMRD_IMM)).then(|| bits::SMRD_OFFSET.get(word)),
            Enc::Smem if self.level().is_gfx9() && self.set(bits::SMEM_SOE) => {
                Some(bits::SMEM_SOFFSET.get(word))
            }
            Enc::Smem => (!self.set(bits::SMEM_IMM)).then(|| bits::SMEM_OFFSET20.get(word) & 127),
            _ => Some(code),
        }
    }

    fn export_source(&self, role: Role, code: u32) -> Option<Use> {
        let n = role as u8 - Role::Vsrc0 as u8;
        let enabled = bits::EXP_EN.get(self.inst.bits);
        // Compressed exports have two components in a register.
        let mask = if self.set(bits::EXP_COMPR) { [3, 12, 0, 0][n as usize] } else { 1 << n };
        (enabled & mask != 0).then(|| vector(Reg::Vgpr(code as u8), 1))
    }

    /// The state that the row names, as this instance uses it.
    pub fn implicit(&self, mut each: impl FnMut(Use)) {
        let row = self.inst.row;
        let flat_scratch = if self.level().is_vi_plus() { 102 } else { 104 };
        let ttmp = regs::ttmp_range(self.target).0 as u8;
        let mut reads = row.reads;
        if reads & state::LDS_LIMIT != 0 && (self.is_gds() || !self.level().is_gfx9()) || self.moves_lds() {
            reads |= state::M0;
        }
        // GFX6 has no FLAT_SCRATCH; nothing that reads it exists there.
        for (bit, reg, dwords) in [
            (state::SCC, Reg::Scc, 1),
            (state::VCC, Reg::VCC, 2),
            (state::EXEC, Reg::EXEC, 2),
            (state::M0, Reg::M0, 1),
            (state::MODE, Reg::MODE, 1),
            (state::FLAT_SCRATCH, Reg::Scalar(flat_scratch), 2),
            (state::STATUS, Reg::STATUS, 1),
            (state::TTMP, Reg::Scalar(ttmp), 2),
        ] {
            let access = match (reads & bit != 0, row.writes & bit != 0) {
                (false, false) => continue,
                (true, false) => Access::Read,
                (false, true) => Access::Write,
                (true, true) => Access::ReadWrite,
            };
            each(Use::implicit(reg, dwords, access));
        }
        if matches!(row.flow, Flow::Fork | Flow::Join) {
            let access = if row.flow == Flow::Fork { Access::Write } else { Access::Read };
            let most = regs::sgpr_count(self.target) as u8;
            each(Use { most, index: Index::Stack, ..Use::implicit(Reg::Scalar(0), 0, access) });
        }
    }
}

const fn vector(reg: Reg, dwords: u8) -> Use {
    Use { lanes: Lanes::Exec, ..Use::implicit(reg, dwords, Access::Read) }
}

/// A scalar register by its operand code; none for constants.
fn scalar(code: u32, dwords: u8) -> Option<Use> {
    (code < 128).then(|| Use::implicit(Reg::Scalar(code as u8), dwords, Access::Read))
}
