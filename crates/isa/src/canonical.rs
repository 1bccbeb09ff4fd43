//! The canonical encoding of an instruction: bits without a meaning zero (or at the assembler's default), scalar
//! tuples aligned, literals that an inline constant can say said by it. Two encodings with one canonical form are the
//! same instruction; assembling a disassembly gives the canonical form.

use crate::encoding::{Field, Inst, bits};
use crate::regs;
use crate::row::{Access, Class, Enc, Form, Role, flag};
use crate::target::{Level, Target};

/// Builds an encoding from the meaningful fields of another.
struct Copy<'a> {
    from: &'a Inst,
    to: Inst,
}

impl Copy<'_> {
    fn field(&mut self, field: Field) {
        self.to.put(field, field.get(self.from.bits));
    }

    fn field_if(&mut self, on: bool, field: Field) {
        if on {
            self.field(field);
        }
    }
}

impl Inst {
    /// The canonical encoding of the same instruction.
    #[must_use]
    pub fn canonical(&self, target: &Target) -> Inst {
        let level = target.level();
        let mut c = Copy { from: self, to: Inst::new(self.row, self.form, level) };
        c.to.len = self.len;
        match self.row.enc {
            Enc::Ds => c.ds(level),
            Enc::Mubuf | Enc::Mtbuf => c.buffer(level),
            Enc::Mimg => c.image(level),
            Enc::Flat | Enc::Global | Enc::Scratch => c.flat(level),
            Enc::Smem | Enc::Smrd => c.scalar_memory(level),
            Enc::Exp => c.export(),
            enc => {
                c.operands(level);
                if enc.is_valu() {
                    c.valu(level);
                } else {
                    c.constants(level);
                }
                c.shorten_literal(level);
            }
        }
        c.to
    }
}

impl Copy<'_> {
    fn operands(&mut self, level: Level) {
        for op in self.from.row.operands {
            let field = self.from.field_of(op);
            let mut value = field.get(self.from.bits);
            // A scalar tuple starts at a multiple of its size, up to four.
            let alu = self.from.row.enc as u8 <= Enc::Sopp as u8 || self.from.row.enc.is_valu();
            let scalar = alu && !matches!(op.role, Role::Vdst | Role::Label | Role::K) && value < 128;
            if scalar
                && op.ty.dwords() > 1
                && !matches!(op.class, Class::Vgpr | Class::Agpr)
                && !self.is_vgpr_field(op.role)
            {
                value = align_scalar(value, op.ty.dwords(), level);
            }
            self.to.put(field, value);
        }
    }

    /// Fields that hold a VGPR number without the 256 that marks one elsewhere.
    fn is_vgpr_field(&self, role: Role) -> bool {
        let from = self.from;
        match role {
            Role::Src0 => matches!(from.form, Form::Sdwa | Form::Dpp) || from.row.enc == Enc::Vintrp,
            Role::Src1 => !from.is_vop3_layout(),
            _ => false,
        }
    }

    fn export(&mut self) {
        let en = bits::EXP_EN.get(self.from.bits);
        let compr = bits::EXP_COMPR.get(self.from.bits) != 0;
        self.field(self.from.field(Role::Tgt));
        for (i, role) in [Role::Vsrc0, Role::Vsrc1, Role::Vsrc2, Role::Vsrc3].into_iter().enumerate() {
            // A compressed register holds two components.
            let components = if compr { if i < 2 { 3 << (2 * i) } else { 0 } } else { 1 << i };
            self.field_if(en & components != 0, self.from.field(role));
        }
        for field in [bits::EXP_EN, bits::EXP_COMPR, bits::EXP_DONE, bits::EXP_VM] {
            self.field(field);
        }
    }

    /// Constants with bits that no part of them uses.
    fn constants(&mut self, level: Level) {
        for op in self.from.row.operands {
            let value = self.from.get(op.role);
            let mask = match op.role {
                Role::Waitcnt if level.is_gfx9() => 0xcf7f,
                Role::Waitcnt => 0x0f7f,
                _ => continue,
            };
            self.to.set(op.role, value & mask);
        }
    }

    fn valu(&mut self, level: Level) {
        let from = self.from;
        let row = from.row;
        match from.form {
            Form::Dpp => {
                for field in [bits::DPP_CTRL, bits::DPP_BOUND, bits::DPP_BANK, bits::DPP_ROW] {
                    self.field(field);
                }
                for i in 0..2 {
                    let pair = Field::new(bits::DPP_NEG_ABS.lo + 2 * i, 2);
                    self.field_if(row.neg >> i & 1 != 0, pair);
                    self.field_if(row.sext >> i & 1 != 0, Field::new(pair.lo, 1));
                }
            }
            Form::Sdwa => self.sdwa(level),
            _ if row.enc == Enc::Vop3p => self.packed(),
            _ if row.enc == Enc::Mfma => {
                for field in [bits::MFMA_CBSZ, bits::MFMA_ABID, bits::MFMA_BLGP, bits::MFMA_ACC] {
                    self.field(field);
                }
                self.field_if(level == Level::Gfx90a, bits::MFMA_ACC_CD);
            }
            _ if from.is_vop3_layout() => self.vop3(level),
            _ if row.enc == Enc::Vintrp => {
                self.field(bits::VINTRP_ATTR);
                self.field(bits::VINTRP_CHAN);
            }
            _ => {}
        }
    }

    fn vop3(&mut self, level: Level) {
        let row = self.from.row;
        let vop3b = is_vop3b(self.from);
        for i in 0..3 {
            let place = if row.enc == Enc::Vintrp { 1 } else { i };
            self.field_if(row.neg >> i & 1 != 0, Field::new(bits::VOP3_NEG.lo + place, 1));
            self.field_if(row.neg >> i & 1 != 0 && !vop3b, Field::new(bits::VOP3_ABS.lo + place, 1));
            self.field_if(row.sext >> i & 1 != 0, Field::new(bits::VOP3_NEG.lo + place, 1));
        }
        // Interpolation's long forms clamp and scale as the arithmetic ones do.
        let interp = row.enc == Enc::Vintrp;
        self.field_if(row.has(flag::OMOD) || interp, bits::VOP3_OMOD);
        let clamp = row.has(flag::CLAMP) || interp;
        if level.is_vi_plus() {
            self.field_if(clamp, bits::VOP3_CLAMP);
        } else {
            self.field_if(clamp && !vop3b, bits::VOP3_CLAMP_SI);
        }
        if row.has(flag::OP_SEL) && level.is_gfx9() {
            for i in 0..3 {
                let has = row.operands.iter().any(|o| o.role.source_index() == Some(i));
                self.field_if(has, Field::new(bits::VOP3_OP_SEL.lo + i, 1));
            }
            self.field(Field::new(bits::VOP3_OP_SEL.lo + 3, 1));
        }
        if interp || row.operand(Role::Attr).is_some() {
            self.field(bits::INTERP3_ATTR);
            self.field(bits::INTERP3_CHAN);
            self.field_if(row.has(flag::HIGH), bits::INTERP3_HIGH);
        }
    }

    fn packed(&mut self) {
        let row = self.from.row;
        // op_sel_hi is on by default, also for sources that are not there.
        let default_hi = !row.has(flag::MIX);
        if default_hi {
            self.to.put(bits::VOP3P_OP_SEL_HI, 3);
            self.to.put(bits::VOP3P_OP_SEL_HI2, 1);
        }
        if !row.has(flag::PACKED | flag::MIX) {
            return;
        }
        for i in 0..3u8 {
            if !row.operands.iter().any(|o| o.role.source_index() == Some(i)) {
                continue;
            }
            let hi =
                if i == 2 { bits::VOP3P_OP_SEL_HI2 } else { Field::new(bits::VOP3P_OP_SEL_HI.lo + i, 1) };
            self.field(hi);
            for field in [bits::VOP3P_OP_SEL, bits::VOP3P_NEG_HI, bits::VOP3_NEG] {
                self.field(Field::new(field.lo + i, 1));
            }
        }
        self.field_if(row.has(flag::CLAMP), bits::VOP3_CLAMP);
    }

    fn sdwa(&mut self, level: Level) {
        let row = self.from.row;
        if row.operands.is_empty() {
            return;
        }
        let compare = row.enc == Enc::Vopc;
        let gfx9 = level.is_gfx9();
        if compare && gfx9 {
            // VCC is said by not saying a register.
            let code = align_scalar(bits::SDWA_SDST.get(self.from.bits), 2, level);
            if bits::SDWA_SD.get(self.from.bits) != 0 && code != regs::VCC {
                self.to.put(bits::SDWA_SD, 1);
                self.to.put(bits::SDWA_SDST, code);
            }
        } else {
            self.field(bits::SDWA_CLAMP);
        }
        if !compare {
            self.field(bits::SDWA_DST_SEL);
            // 3 is reserved and read as 0.
            self.field_if(bits::SDWA_DST_U.get(self.from.bits) < 3, bits::SDWA_DST_U);
            self.field_if(gfx9 && row.has(flag::OMOD), bits::SDWA_OMOD);
        }
        for op in row.operands {
            let Some(i) = op.role.source_index() else { continue };
            let at = |f: Field| Field::new(f.lo + 8 * i, f.width);
            self.field(at(bits::SDWA_SEL));
            self.field_if(gfx9, at(bits::SDWA_S));
            if row.sext >> i & 1 == 0 && (op.ty.is_float() || row.neg >> i & 1 != 0) {
                self.field(at(bits::SDWA_NEG));
                self.field(at(bits::SDWA_ABS));
            } else {
                self.field(at(bits::SDWA_SEXT));
            }
        }
    }

    /// A literal that an inline constant can say becomes that constant.
    fn shorten_literal(&mut self, level: Level) {
        let from = self.from;
        if from.form != Form::Base || from.is_vop3_layout() {
            return;
        }
        if from.len != 8 {
            self.spell_float();
            return;
        }
        let literal = bits::LITERAL.get(from.bits);
        self.to.put(bits::LITERAL, literal);
        if from.row.operand(Role::K).is_some() {
            return;
        }
        let mut left = false;
        for op in from.row.operands {
            if op.role == Role::Src0 && op.ty.bits == 16 && op.ty.count == 1 {
                self.to.put(bits::LITERAL, literal & 0xffff);
            }
            let field = from.field_of(op);
            let is_literal = matches!(op.role, Role::Src0 | Role::Ssrc0 | Role::Ssrc1)
                && field.get(from.bits) == regs::LITERAL;
            if is_literal {
                // A 16-bit operand does not see the upper half.
                let seen = if op.ty.bits == 16 && op.ty.count == 1 { literal & 0xffff } else { literal };
                let code = regs::inline_code(op.ty, literal, level)
                    .or_else(|| regs::inline_code(op.ty, seen, level));
                match code {
                    Some(code) => self.to.put(field, code),
                    None => left = true,
                }
            }
        }
        if !left {
            self.to.put(bits::LITERAL, 0);
            self.to.len = 4;
        }
    }

    /// A float in a 16-bit integer operand is written, and so assembled, as the bits it stands for.
    fn spell_float(&mut self) {
        let Some(op) = self.from.row.operand(Role::Src0) else { return };
        let code = self.from.get(Role::Src0);
        let int16 = op.ty.bits == 16 && op.ty.count == 1 && !op.ty.is_float();
        if int16 && (regs::FLOAT_0_5..=regs::INV_2PI).contains(&code) {
            let half = regs::INLINE_FLOATS[(code - regs::FLOAT_0_5) as usize].0;
            self.to.set(Role::Src0, regs::LITERAL);
            self.to.put(bits::LITERAL, half.into());
            self.to.len = 8;
        }
    }

    fn scalar_memory(&mut self, level: Level) {
        let from = self.from;
        let row = from.row;
        for op in row.operands {
            let field = from.field_of(op);
            match op.role {
                Role::Sdata => self.field(field),
                Role::Simm7 => self.field(field),
                Role::Sbase if op.ty.dwords() > 2 => self.to.put(field, field.get(from.bits) & !1),
                Role::Sbase => self.field(field),
                _ if row.enc == Enc::Smrd => {
                    self.field(bits::SMRD_IMM);
                    self.field(bits::SMRD_OFFSET);
                    self.field_if(from.len == 8, bits::LITERAL);
                }
                _ => self.smem_offset(level),
            }
            if op.role == Role::Sdata && op.ty.dwords() > 1 {
                self.to.put(field, align_scalar(field.get(from.bits), op.ty.dwords(), level));
            }
        }
        if row.enc == Enc::Smem {
            self.field_if(row.has(flag::GLC), bits::SMEM_GLC);
        }
    }

    fn smem_offset(&mut self, level: Level) {
        let bits_ = self.from.bits;
        let imm = bits::SMEM_IMM.get(bits_) != 0;
        let soe = level.is_gfx9() && bits::SMEM_SOE.get(bits_) != 0;
        self.field(bits::SMEM_IMM);
        self.field_if(level.is_gfx9(), bits::SMEM_SOE);
        if !level.is_gfx9() {
            if imm {
                self.field(bits::SMEM_OFFSET20);
            } else {
                self.field(Field::new(32, 7));
            }
            return;
        }
        if imm {
            self.field(bits::SMEM_OFFSET21);
            self.field_if(soe, bits::SMEM_SOFFSET);
            return;
        }
        // A register alone has two places; the assembler takes the one GFX8 has.
        let register = if soe { bits::SMEM_SOFFSET } else { Field::new(32, 7) };
        self.to.put(bits::SMEM_SOE, 0);
        self.to.put(Field::new(32, 7), register.get(bits_));
    }

    fn ds(&mut self, level: Level) {
        let row = self.from.row;
        self.operands(level);
        if row.has(flag::OFFSET | flag::OFFSET2 | flag::SWIZZLE) {
            self.field(bits::DS_OFFSET);
        }
        let pattern = bits::DS_OFFSET.get(self.from.bits);
        if row.has(flag::SWIZZLE) && pattern & 0x8000 == 0 {
            // Each bit of a lane's number is kept, inverted, cleared or set: several masks say the same.
            let (and, or, xor) = (pattern & 31, pattern >> 5 & 31, pattern >> 10 & 31);
            let (zeros, ones) = (or ^ xor, (and | or) ^ xor);
            self.to.put(bits::DS_OFFSET, (zeros ^ ones) | (zeros & ones) << 5 | (zeros & !ones) << 10);
        }
        let gds = if level.is_vi_plus() { bits::DS_GDS } else { bits::DS_GDS_SI };
        if row.has(flag::GDS_ONLY) {
            self.to.put(gds, 1);
        } else {
            self.field_if(row.has(flag::GDS) && level != Level::Gfx90a, gds);
        }
        let data = row.operands.iter().any(|o| o.role != Role::Addr);
        self.field_if(level == Level::Gfx90a && data, bits::DS_ACC);
    }

    fn buffer(&mut self, level: Level) {
        let from = self.from;
        let row = from.row;
        if row.operands.is_empty() {
            return;
        }
        let vi = level.is_vi_plus();
        let gfx90a = level == Level::Gfx90a;
        let mtbuf = row.enc == Enc::Mtbuf;
        let on = |f: Field| f.get(from.bits) != 0;
        let lds = !mtbuf && (row.has(flag::LDS_ONLY) || on(bits::MUBUF_LDS));
        let address = on(bits::BUF_OFFEN) || on(bits::BUF_IDXEN) || !vi && on(bits::BUF_ADDR64);
        for op in row.operands {
            let drop = op.role == Role::Vdata && lds || op.role == Role::Vaddr && !address;
            self.field_if(!drop, from.field_of(op));
        }
        self.field(bits::BUF_OFFSET);
        self.field(bits::BUF_GLC);
        self.field(bits::BUF_OFFEN);
        self.field(bits::BUF_IDXEN);
        self.field_if(!vi, bits::BUF_ADDR64);
        if mtbuf {
            self.field(bits::MTBUF_DFMT);
            self.field(bits::MTBUF_NFMT);
            self.field(bits::BUF_SLC);
            self.field_if(gfx90a, bits::MTBUF_SCC);
        } else {
            self.to.put(bits::MUBUF_LDS, lds as u32);
            self.field(if vi { bits::MUBUF_SLC } else { bits::BUF_SLC });
            self.field_if(gfx90a && !row.has(flag::NOSCC), bits::MUBUF_SCC);
        }
        if gfx90a {
            self.field_if(!lds, bits::BUF_ACC);
        } else {
            self.field_if((mtbuf || row.has(flag::TFE)) && !lds, bits::BUF_TFE);
        }
    }

    fn image(&mut self, level: Level) {
        let row = self.from.row;
        self.operands(level);
        let fields = [
            bits::MIMG_DMASK,
            bits::MIMG_UNORM,
            bits::MIMG_GLC,
            bits::MIMG_DA,
            bits::MIMG_R128,
            bits::MIMG_TFE, // ACC on gfx90a
            bits::MIMG_LWE,
            bits::MIMG_SLC,
        ];
        for field in fields {
            self.field(field);
        }
        self.field_if(level == Level::Gfx90a, bits::MIMG_SCC);
        self.field_if(level.is_vi_plus() && row.has(flag::D16), bits::MIMG_D16);
    }

    fn flat(&mut self, level: Level) {
        let from = self.from;
        let row = from.row;
        let gfx9 = level.is_gfx9();
        let lds = row.has(flag::LDS_ONLY) || gfx9 && row.has(flag::LDS) && bits::FLAT_LDS.get(from.bits) != 0;
        let glc = bits::FLAT_GLC.get(from.bits) != 0;
        for op in row.operands {
            let field = from.field_of(op);
            let value = field.get(from.bits);
            match op.role {
                Role::Vdst if row.has(flag::ATOMIC) && !glc || lds => {}
                Role::Vaddr if row.enc == Enc::Scratch && from.get(Role::Saddr) != 0x7f => {}
                Role::Saddr => self.to.put(field, align_scalar(value, op.ty.dwords(), level)),
                _ => self.to.put(field, value),
            }
        }
        // GFX9's FLAT proper has no scalar base: the field reads off.
        if gfx9 && row.enc == Enc::Flat {
            self.to.put(Field::new(48, 7), 0);
        }
        if level.is_vi_plus() {
            self.field(bits::FLAT_OFFSET13);
        }
        if lds {
            self.to.put(bits::FLAT_LDS, 1);
        }
        self.field(bits::FLAT_GLC);
        self.field(bits::FLAT_SLC);
        if level == Level::Gfx90a {
            self.field(bits::FLAT_SCC);
            self.field_if(!lds, bits::FLAT_ACC);
        }
    }
}

/// The first register of a scalar tuple: a multiple of its size, up to four, counted from the file's start.
fn align_scalar(code: u32, dwords: u8, level: Level) -> u32 {
    let align = match dwords {
        0 | 1 => !0,
        2 => !1,
        _ => !3,
    };
    let ttmp = if level.is_gfx9() { 108 } else { 112 };
    match code {
        0..=103 => code & align,
        _ if (ttmp..124).contains(&code) => ttmp + ((code - ttmp) & align),
        _ => code,
    }
}

/// True when the VOP3 layout has a scalar destination where others have the absolute-value bits.
pub fn is_vop3b(inst: &Inst) -> bool {
    let row = inst.row;
    row.operands.iter().any(|o| {
        o.access == Access::Write
            && (o.role == Role::Vcc && row.enc != Enc::Vopc || o.role == Role::Sdst && o.ty.dwords() == 2)
    })
}
