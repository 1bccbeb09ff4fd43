//! From an encoding to the instruction that engines execute: operands, modifiers, addressing and meaning, resolved against
//! the registers a wave has.

use crate::address::{Addressing, BufferFields, ImageFields, ScalarFields, signed};
use crate::bus::Coherence;
use crate::compare::Compare;
use crate::confine;
use crate::control::Control;
use crate::inst::{Inst, Modifiers, Run, Select};
use crate::interp::Interpolation;
use crate::lanemove::{Dpp, LaneMove};
use crate::memory::{self, CacheControl};
use crate::modify::Merge;
use crate::operand::{Code, Src};
use crate::share::{Share, Sync};
use crate::smem::ScalarMemory;
use crate::state::Allocation;
use crate::{family, mfma, mimg, salu};
use wavemill_isa::encoding::bits;
use wavemill_isa::row::{Access, Class, state};
use wavemill_isa::{Enc, Form, Level, Op, Operand, Role, Row, Target, Ty, flag, regs};

impl Run {
    /// The meaning of a row.
    pub fn of(row: &Row) -> Run {
        let op = row.op;
        let known = |run: Option<Run>| run.unwrap_or(Run::Unsupported);
        match row.enc {
            Enc::Sop2 | Enc::Sop1 | Enc::Sopc | Enc::Sopk | Enc::Sopp => match op {
                Op::s_waitcnt => Run::Wait,
                Op::s_nop | Op::s_ttracedata | Op::s_wakeup => Run::Nop,
                _ if salu::salu(op, 0, 0, 0, false, 0).is_some() => Run::Salu,
                _ => known(Control::of(op).map(Run::Control)),
            },
            Enc::Smem | Enc::Smrd => known(ScalarMemory::of(op).map(Run::ScalarMemory)),
            Enc::Vopc => known(Compare::of(row).map(Run::Compare)),
            Enc::Mfma if mfma::shape(op).is_some() => Run::Mfma,
            Enc::Ds => known(Sync::of(op).map(Run::Sync).or_else(|| Share::of(op).map(Run::Share))),
            Enc::Mimg => known(mimg::action(row).map(Run::Image)),
            Enc::Exp => Run::Export,
            Enc::Mubuf | Enc::Mtbuf | Enc::Flat | Enc::Global | Enc::Scratch => known(
                (CacheControl::of(op).map(Run::Cache))
                    .or_else(|| memory::formatted(op).map(Run::Formatted))
                    .or_else(|| memory::access(op).map(Run::Memory)),
            ),
            Enc::Vop1 | Enc::Vop2 | Enc::Vop3 | Enc::Vop3p | Enc::Mfma | Enc::Vintrp => match op {
                Op::v_nop => Run::Nop,
                Op::v_clrexcp => Run::ClearExceptions,
                _ => known(
                    (Interpolation::of(op).map(Run::Interpolate))
                        .or_else(|| LaneMove::of(op).map(Run::LaneMove))
                        .or_else(|| family::family(op).map(Run::Valu)),
                ),
            },
        }
    }

    /// A vector instruction: VSKIP skips it.
    pub fn is_vector(&self) -> bool {
        match self {
            Run::Valu(_)
            | Run::Compare(_)
            | Run::Mfma
            | Run::LaneMove(_)
            | Run::ClearExceptions
            | Run::Interpolate(_)
            | Run::Share(_)
            | Run::Sync(_)
            | Run::Memory(_)
            | Run::Formatted(_)
            | Run::Image(_) => true,
            Run::Salu
            | Run::Control(_)
            | Run::Wait
            | Run::ScalarMemory(_)
            | Run::Cache(_)
            | Run::Export
            | Run::Nop
            | Run::Illegal(_)
            | Run::Unsupported
            | Run::Fetch => false,
        }
    }
}

/// Resolves an instruction for waves of an allocation.
pub fn resolve(inst: wavemill_isa::Inst, allocation: Allocation, target: &Target) -> Inst {
    let mut inst = inst;
    let results = confine::confine(&mut inst, allocation, target.level());
    let mut out = Resolver { inst, allocation, target: *target }.resolve();
    results.apply(&mut out, allocation);
    out
}

struct Resolver {
    inst: wavemill_isa::Inst,
    allocation: Allocation,
    target: Target,
}

impl Resolver {
    fn level(&self) -> Level {
        self.target.level()
    }

    fn resolve(&self) -> Inst {
        let row = self.inst.row;
        let mut out = Inst { form: self.inst.form, len: self.inst.len, ..Inst::blank(row, self.inst.bits) };
        out.run = Run::of(row);
        match row.enc {
            Enc::Sop2 | Enc::Sop1 | Enc::Sopc | Enc::Sopk | Enc::Sopp => self.scalar(&mut out),
            Enc::Ds | Enc::Mubuf | Enc::Mtbuf | Enc::Flat | Enc::Global | Enc::Scratch => {
                self.memory(&mut out)
            }
            Enc::Mimg => self.image(&mut out),
            Enc::Smem | Enc::Smrd => self.scalar_memory(&mut out),
            Enc::Exp => {}
            Enc::Vop1 | Enc::Vop2 | Enc::Vopc | Enc::Vintrp | Enc::Vop3 | Enc::Vop3p | Enc::Mfma => {
                self.vector(&mut out)
            }
        }
        out.coherence = self.coherence();
        out
    }

    /// The coherence bits of a memory instruction.
    fn coherence(&self) -> Coherence {
        let gfx90a = self.level() == Level::Gfx90a;
        let (glc, slc, scc) = match self.inst.row.enc {
            Enc::Mubuf if self.level().is_vi_plus() => {
                (bits::BUF_GLC, Some(bits::MUBUF_SLC), Some(bits::MUBUF_SCC))
            }
            Enc::Mubuf | Enc::Mtbuf => (bits::BUF_GLC, Some(bits::BUF_SLC), Some(bits::MTBUF_SCC)),
            Enc::Mimg => (bits::MIMG_GLC, Some(bits::MIMG_SLC), Some(bits::MIMG_SCC)),
            Enc::Flat | Enc::Global | Enc::Scratch => {
                (bits::FLAT_GLC, Some(bits::FLAT_SLC), Some(bits::FLAT_SCC))
            }
            Enc::Smem => (bits::SMEM_GLC, None, None),
            _ => return Coherence::default(),
        };
        let bit = |field: wavemill_isa::Field| field.get(self.inst.bits) != 0;
        Coherence { glc: bit(glc), slc: slc.is_some_and(bit), scc: gfx90a && scc.is_some_and(bit) }
    }

    /// The file's register for vN, or for out-of-range ones v0 (sources).
    fn vgpr(&self, n: u32, dwords: u8, acc: bool) -> u16 {
        let (base, count) =
            if acc { (self.allocation.vgprs, self.allocation.agprs) } else { (0, self.allocation.vgprs) };
        if n + dwords as u32 <= count as u32 { base + n as u16 } else { 0 }
    }

    /// The file's register for a destination; out-of-range ones go to the spare registers.
    fn vdst(&self, n: u32, dwords: u8, acc: bool) -> u16 {
        let (base, count) =
            if acc { (self.allocation.vgprs, self.allocation.agprs) } else { (0, self.allocation.vgprs) };
        if n + dwords as u32 <= count as u32 { base + n as u16 } else { self.allocation.spare() }
    }

    /// A source field that may name anything.
    fn source(&self, code: u32, ty: Ty, acc: bool) -> Src {
        let code = Code::of(code);
        match code {
            Code::Vgpr(n) => Src::Vgpr(self.vgpr(n as u32, ty.dwords(), acc)),
            Code::Sgpr(code) => Src::Sgpr(code),
            Code::Special(special) => Src::Special(special),
            Code::Integer(_) | Code::Float(_) | Code::Literal => {
                let literal = bits::LITERAL.get(self.inst.bits);
                code.constant(ty, self.inst.row.enc, literal).map_or(Src::None, Src::Const)
            }
        }
    }

    fn scalar(&self, out: &mut Inst) {
        for o in self.inst.row.operands {
            let code = self.inst.field_of(o).get(self.inst.bits);
            match o.role {
                Role::Sdst => {
                    if o.access != Access::Read {
                        out.sdst = code as u8;
                    }
                    // SOPK reads its register as the first source.
                    if o.access != Access::Write && self.inst.row.enc == Enc::Sopk {
                        out.src[0] = Src::Sgpr(code as u8);
                    }
                }
                Role::Ssrc0 => out.src[0] = self.source(code, o.ty, false),
                Role::Ssrc1 => out.src[1] = self.source(code, o.ty, false),
                Role::Simm16 => out.src[1] = Src::Const(code as u16 as i16 as i64 as u64),
                Role::Uimm16 => out.src[1] = Src::Const(code as u64),
                Role::K => out.src[1] = Src::Const(bits::LITERAL.get(self.inst.bits) as u64),
                _ => {}
            }
            if matches!(o.role, Role::Ssrc0 | Role::Sdst) && o.ty.bits == 64 {
                out.src_bits[if o.role == Role::Sdst { 2 } else { 0 }] = 64;
            }
            if o.role == Role::Ssrc1 && o.ty.bits == 64 {
                out.src_bits[1] = 64;
            }
        }
    }

    fn vector(&self, out: &mut Inst) {
        let (inst, row) = (&self.inst, self.inst.row);
        let word = inst.bits;
        let mfma = row.enc == Enc::Mfma;
        let (mut next, mut k_seen, mut missing) = (0, false, false);
        for o in row.operands {
            let code = inst.field_of(o).get(word);
            match o.role {
                Role::Vdst => {
                    let acc = o.class == Class::Agpr || mfma && self.cd_is_acc(word);
                    out.dst = self.vdst(code, o.ty.dwords(), acc);
                    out.dst_dwords = o.ty.dwords();
                    missing = out.dst == self.allocation.spare();
                    if o.access == Access::ReadWrite && row.op != Op::v_swap_b32 {
                        out.src[2] = Src::Vgpr(self.vgpr(code, o.ty.dwords(), acc));
                        out.src_bits[2] = o.ty.bits as u8;
                    }
                }
                Role::Sdst => out.sdst = code as u8,
                Role::Vcc if o.access == Access::Read => {
                    // The field has nine bits, but scalar registers are named by seven.
                    out.carry = if inst.form == Form::Vop3 { code as u8 & 127 } else { regs::VCC as u8 };
                }
                Role::Vcc => {
                    out.sdst = match inst.form {
                        // VOPC's field has eight bits, but scalar registers are named by seven.
                        Form::Vop3 => code as u8 & 127,
                        Form::Sdwa
                            if row.enc == Enc::Vopc
                                && self.level().is_gfx9()
                                && bits::SDWA_SD.get(word) != 0 =>
                        {
                            bits::SDWA_SDST.get(word) as u8
                        }
                        _ => regs::VCC as u8,
                    };
                }
                Role::K => {
                    out.src[next] = Src::Const(bits::LITERAL.get(word) as u64);
                    out.src_bits[next] = o.ty.bits as u8;
                    next += 1;
                    k_seen = true;
                }
                Role::Src0 | Role::Src1 | Role::Src2 => {
                    // MADMK's constant comes between its sources.
                    let slot = if k_seen { next } else { o.role.source_index().unwrap_or(0) as usize };
                    let acc = o.class == Class::Agpr || mfma && self.source_is_acc(word, slot);
                    out.src[slot] = self.vector_source(o, code, slot, acc);
                    out.src_bits[slot] = o.ty.bits as u8;
                    next = slot + 1;
                }
                _ => {}
            }
        }
        if row.writes & state::VCC != 0 && out.sdst == 255 {
            out.sdst = regs::VCC as u8;
        }
        // Of two destinations both are written or none (manual 3.6.1).
        if missing {
            out.sdst = 255;
        }
        if let (Op::v_swap_b32, Some(o)) = (row.op, row.operand(Role::Src0)) {
            let code = inst.field_of(o).get(word) & 0xff;
            if missing || code >= self.allocation.vgprs as u32 {
                out.src[0] = Src::None;
            }
        }
        self.modifiers(out);
    }

    /// MFMA: whether C and D are accumulators.
    fn cd_is_acc(&self, word: u64) -> bool {
        self.level() != Level::Gfx90a || bits::MFMA_ACC_CD.get(word) != 0
    }

    fn source_is_acc(&self, word: u64, slot: usize) -> bool {
        if slot == 2 { self.cd_is_acc(word) } else { bits::MFMA_ACC.get(word) >> slot & 1 != 0 }
    }

    fn vector_source(&self, o: &Operand, code: u32, slot: usize, acc: bool) -> Src {
        let word = self.inst.bits;
        let vgpr = |n: u32| Src::Vgpr(self.vgpr(n, o.ty.dwords(), acc));
        match self.inst.form {
            Form::Sdwa => {
                let shift = 8 * slot as u8;
                let scalar = self.level().is_gfx9() && word >> (bits::SDWA_S.lo + shift) & 1 != 0;
                if scalar { self.source(code, o.ty, false) } else { vgpr(code & 0xff) }
            }
            Form::Dpp => vgpr(code & 0xff),
            // An eight-bit field names a VGPR, but for the lane number of GFX6's and GFX7's short V_READLANE.
            _ if self.inst.field_of(o).width == 8
                && !self.inst.is_vop3_layout()
                && o.class != Class::Scalar =>
            {
                vgpr(code)
            }
            // V_FMA_MIX constants are f32 unless op_sel_hi says the operand is f16.
            _ if self.inst.row.has(flag::MIX) => {
                let hi = bits::VOP3P_OP_SEL_HI.get(word) | bits::VOP3P_OP_SEL_HI2.get(word) << 2;
                let ty = Ty { bits: if hi >> slot & 1 != 0 { 16 } else { 32 }, ..o.ty };
                self.source(code, ty, acc)
            }
            _ => self.source(code, o.ty, acc),
        }
    }

    fn modifiers(&self, out: &mut Inst) {
        let (inst, row) = (&self.inst, self.inst.row);
        let word = inst.bits;
        let m = &mut out.modifiers;
        match inst.form {
            Form::Sdwa => {
                let select = |slot: u8| {
                    let f = |field: wavemill_isa::Field| (word >> (field.lo + 8 * slot)) as u8;
                    Select { sel: f(bits::SDWA_SEL) & 7, sext: f(bits::SDWA_SEXT) & 1 != 0 }
                };
                m.sdwa = Some([select(0), select(1)]);
                for slot in 0..2 {
                    m.neg |= ((word >> (bits::SDWA_NEG.lo + 8 * slot) & 1) as u8) << slot;
                    m.abs |= ((word >> (bits::SDWA_ABS.lo + 8 * slot) & 1) as u8) << slot;
                }
                if row.enc != Enc::Vopc || !self.level().is_gfx9() {
                    out.clamp = bits::SDWA_CLAMP.get(word) != 0;
                }
                if row.enc != Enc::Vopc {
                    out.omod = if self.level().is_gfx9() { bits::SDWA_OMOD.get(word) as u8 } else { 0 };
                    out.merge =
                        Merge::sdwa(bits::SDWA_DST_SEL.get(word) as u8, bits::SDWA_DST_U.get(word) as u8);
                }
            }
            Form::Dpp => {
                let mask = bits::DPP_ROW.get(word) << 4 | bits::DPP_BANK.get(word);
                m.dpp = Some(Dpp {
                    control: bits::DPP_CTRL.get(word) as u16,
                    mask: mask as u8,
                    bound: bits::DPP_BOUND.get(word) != 0,
                });
                let na = bits::DPP_NEG_ABS.get(word) as u8;
                m.neg = (na & 1 | na >> 1 & 2) & row.neg;
                m.abs = (na >> 1 & 1 | na >> 2 & 2) & row.neg;
            }
            _ if row.enc == Enc::Mfma => return,
            _ if row.enc == Enc::Vop3p => {
                m.op_sel = bits::VOP3P_OP_SEL.get(word) as u8;
                m.op_sel_hi = (bits::VOP3P_OP_SEL_HI.get(word) | bits::VOP3P_OP_SEL_HI2.get(word) << 2) as u8;
                m.neg = bits::VOP3_NEG.get(word) as u8;
                m.neg_hi = bits::VOP3P_NEG_HI.get(word) as u8;
                out.clamp = bits::VOP3_CLAMP.get(word) != 0;
                if matches!(row.op, Op::v_accvgpr_read_b32 | Op::v_accvgpr_write_b32) {
                    *m = Modifiers { op_sel_hi: 7, ..Modifiers::default() };
                }
            }
            _ if inst.is_vop3_layout() => {
                // VOP3B has the scalar destination where ABS, OP_SEL and (below GFX8) CLAMP are.
                let b = row.operands.iter().any(|o| {
                    matches!(o.role, Role::Vcc | Role::Sdst)
                        && o.access != Access::Read
                        && row.enc != Enc::Vopc
                        && row.operand(Role::Vdst).is_some()
                });
                m.neg = bits::VOP3_NEG.get(word) as u8 & row.neg;
                out.omod = bits::VOP3_OMOD.get(word) as u8;
                if self.level().is_vi_plus() {
                    out.clamp = bits::VOP3_CLAMP.get(word) != 0;
                } else {
                    out.clamp = !b && bits::VOP3_CLAMP_SI.get(word) != 0;
                }
                if !b {
                    m.abs = bits::VOP3_ABS.get(word) as u8 & row.neg;
                    if row.has(flag::OP_SEL) && self.level().is_gfx9() {
                        m.op_sel = bits::VOP3_OP_SEL.get(word) as u8;
                    }
                }
            }
            _ => {}
        }
        self.merge(out);
        let m = &out.modifiers;
        let (op_sel_hi, used) = match row.has(flag::PACKED | flag::MIX) {
            true => (m.op_sel_hi, row.operands.iter().filter_map(|o| o.role.source_index()).count()),
            false => (7, 0),
        };
        let mask = (1u8 << used) - 1;
        out.plain = m.neg | m.abs | m.neg_hi | m.op_sel & 7 == 0
            && op_sel_hi & mask == mask
            && m.sdwa.is_none()
            && m.dpp.is_none()
            && !row.has(flag::MIX);
    }

    /// What becomes of the other half of a 16-bit result's register.
    fn merge(&self, out: &mut Inst) {
        let row = self.inst.row;
        let Some(d) = row.operand(Role::Vdst) else { return };
        if d.ty.bits != 16 || d.ty.count != 1 || self.inst.form == Form::Sdwa {
            return;
        }
        let high = out.modifiers.op_sel & 8 != 0;
        out.merge = match d.class {
            Class::High => Some(Merge::HIGH),
            // GFX8 zeroes the upper half, as it does for all (LLVM's `zeroesHigh16BitsOfDest`).
            Class::Low if self.level().is_gfx9() => Some(Merge::LOW),
            _ if row.has(flag::OP_SEL) && self.level().is_gfx9() => {
                Some(if high { Merge::HIGH } else { Merge::LOW })
            }
            _ => None,
        };
    }

    /// Image instructions: how many registers the data has, the mask says; the address has as many as the image wants.
    fn image(&self, out: &mut Inst) {
        let (inst, word) = (&self.inst, self.inst.bits);
        let gfx90a = self.level() == Level::Gfx90a;
        let acc = gfx90a && bits::MIMG_ACC.get(word) != 0;
        let data = mimg::data_registers(&self.inst, self.level(), self.target.packs_d16());
        out.status = !gfx90a && bits::MIMG_TFE.get(word) != 0 || bits::MIMG_LWE.get(word) != 0;
        out.dst_dwords = data + out.status as u8;
        let code = inst.get(Role::Vdata);
        out.dst = self.vdst(code, out.dst_dwords, acc);
        out.src[1] = Src::Vgpr(self.vgpr(code, data, acc));
        out.src[0] = Src::Vgpr(self.vgpr(inst.get(Role::Vaddr), 1, false));
        let r128 = bits::MIMG_R128.get(word) != 0;
        let gfx9 = self.level().is_gfx9();
        out.addressing = Addressing::Image(ImageFields {
            resource: (inst.get(Role::Srsrc) * 4) as u8,
            // A 128-bit resource before GFX9, where the bit makes addresses short instead.
            dwords: if r128 && !gfx9 { 4 } else { 8 },
            sampler: inst.row.operand(Role::Ssamp).map(|_| (inst.get(Role::Ssamp) * 4) as u8),
            array: bits::MIMG_DA.get(word) != 0,
            unnormalized: bits::MIMG_UNORM.get(word) != 0,
            short: gfx9 && r128,
        });
    }

    /// Scalar memory: where the parts of the address are (manual 8.2.1.1; GFX6 and GFX7 count dwords).
    fn scalar_memory(&self, out: &mut Inst) {
        let (inst, word) = (&self.inst, self.inst.bits);
        let sbase = inst.row.operand(Role::Sbase);
        let mut fields = ScalarFields {
            data: inst.get(Role::Sdata) as u8,
            base: sbase.map(|_| (inst.get(Role::Sbase) * 2) as u8),
            buffer: sbase.is_some_and(|o| o.ty.bits == 128),
            constant: 0,
            register: None,
            scale: 1,
        };
        if inst.row.enc == Enc::Smrd {
            let field = bits::SMRD_OFFSET.get(word);
            match (bits::SMRD_IMM.get(word) != 0, field) {
                (true, n) => fields.constant = n as i64 * 4,
                (false, regs::LITERAL) => fields.constant = (word >> 32) as i64 * 4,
                (false, code) => fields.register = Some(code as u8),
            }
        } else if !self.level().is_gfx9() {
            let field = bits::SMEM_OFFSET20.get(word);
            match bits::SMEM_IMM.get(word) != 0 {
                true => fields.constant = field as i64,
                false => fields.register = Some((field & 0x7f) as u8),
            }
        } else {
            let field = bits::SMEM_OFFSET21.get(word);
            let (imm, soe) = (bits::SMEM_IMM.get(word) != 0, bits::SMEM_SOE.get(word) != 0);
            fields.constant = if imm { signed(field, 21) as i64 } else { 0 };
            fields.register = match (imm, soe) {
                (_, true) => Some(bits::SMEM_SOFFSET.get(word) as u8),
                (false, false) => Some((field & 0x7f) as u8),
                (true, false) => None,
            };
            if ScalarMemory::is_scratch(inst.row.op) {
                fields.scale = 64;
            }
        }
        out.addressing = Addressing::Scalar(fields);
    }

    /// Where the parts of a vector memory instruction's address are.
    fn addressing(&self) -> Addressing {
        let (inst, word) = (&self.inst, self.inst.bits);
        let saddr = || Some(inst.get(Role::Saddr)).filter(|&code| code != 0x7f).map(|code| code as u8);
        match inst.row.enc {
            Enc::Flat => {
                let offset = if self.level().is_gfx9() { bits::FLAT_OFFSET12.get(word) } else { 0 };
                Addressing::Flat { offset }
            }
            Enc::Global => {
                Addressing::Global { offset: signed(bits::FLAT_OFFSET13.get(word), 13), base: saddr() }
            }
            Enc::Scratch => {
                Addressing::Scratch { offset: signed(bits::FLAT_OFFSET13.get(word), 13), base: saddr() }
            }
            Enc::Ds => {
                let gds = if self.level().is_vi_plus() { bits::DS_GDS } else { bits::DS_GDS_SI };
                let gds = gds.get(word) != 0 || inst.row.has(flag::GDS_ONLY);
                Addressing::Share { offset: bits::DS_OFFSET.get(word) as u16, gds }
            }
            _ => Addressing::Buffer(BufferFields {
                resource: (inst.get(Role::Srsrc) * 4) as u8,
                scalar: Code::of(inst.get(Role::Soffset)).scalar(inst.row.enc, 0),
                offset: bits::BUF_OFFSET.get(word) as u16,
                offen: bits::BUF_OFFEN.get(word) != 0,
                idxen: bits::BUF_IDXEN.get(word) != 0,
                addr64: !self.level().is_vi_plus() && bits::BUF_ADDR64.get(word) != 0,
            }),
        }
    }

    fn memory(&self, out: &mut Inst) {
        let (inst, row) = (&self.inst, self.inst.row);
        let word = inst.bits;
        out.addressing = self.addressing();
        out.unsigned_alpha = self.target.unsigned_alpha();
        out.sramecc = self.target.sramecc_enabled();
        if out.sramecc {
            out.run = match out.run {
                Run::Memory(access) => Run::Memory(access.with_ecc()),
                Run::Share(Share::Access(access)) => Run::Share(Share::Access(access.with_ecc())),
                run => run,
            };
        }
        let acc = self.level() == Level::Gfx90a
            && match row.enc {
                Enc::Ds => bits::DS_ACC.get(word) != 0,
                Enc::Mubuf | Enc::Mtbuf => bits::BUF_ACC.get(word) != 0,
                _ => bits::FLAT_ACC.get(word) != 0,
            };
        // Where gfx90a says that data is in accumulators, others ask for a status behind the data.
        out.status = self.level() != Level::Gfx90a
            && matches!(row.enc, Enc::Mubuf | Enc::Mtbuf)
            && row.operand(Role::Vdata).is_some()
            && bits::BUF_TFE.get(word) != 0;
        for o in row.operands {
            let code = inst.field_of(o).get(word);
            let dwords = row.dwords(o, &self.target);
            match o.role {
                // Sources: address, data, second data. Destination: where loads and returned values go.
                Role::Addr | Role::Vaddr => out.src[0] = Src::Vgpr(self.vgpr(code, 1, false)),
                Role::Data0 => out.src[1] = Src::Vgpr(self.vgpr(code, dwords, acc)),
                Role::Data1 => out.src[2] = Src::Vgpr(self.vgpr(code, dwords, acc)),
                Role::Vdata => {
                    out.src[1] = Src::Vgpr(self.vgpr(code, dwords, acc));
                    // Flat and global atomics return elsewhere than where their data is.
                    if row.operand(Role::Vdst).is_none() {
                        out.dst_dwords = dwords + out.status as u8;
                        out.dst = self.vdst(code, out.dst_dwords, acc);
                    }
                }
                Role::Vdst => out.dst = self.vdst(code, dwords, acc),
                _ => {}
            }
        }
        // A 64-bit address needs two registers, an offset beside an SGPR base one; which, the instance says.
        if row.operand(Role::Vaddr).is_some() {
            let wide = match out.addressing {
                Addressing::Flat { .. } => true,
                Addressing::Global { base, .. } => base.is_none(),
                Addressing::Buffer(b) => b.offen && b.idxen || b.addr64,
                _ => false,
            };
            out.src[0] = Src::Vgpr(self.vgpr(inst.get(Role::Vaddr), 1 + wide as u8, false));
        }
    }
}
