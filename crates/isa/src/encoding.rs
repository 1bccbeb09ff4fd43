//! Where the fields of each encoding lie (manual chapter 13), and the instruction as bits.
//!
//! Every GFX6–GFX9 instruction fits in 64 bits, literal constants and SDWA/DPP dwords included, so an
//! instruction *is* its bits plus the row they were encoded for.

use crate::row::{Access, Enc, Form, Operand, Role, Row, flag};
use crate::target::Level;

/// A run of bits in the 64-bit instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// Lowest bit.
    pub lo: u8,
    /// Number of bits.
    pub width: u8,
}

impl Field {
    /// A field of `width` bits from bit `lo` up.
    pub const fn new(lo: u8, width: u8) -> Self {
        Field { lo, width }
    }

    /// The field's value in `bits`.
    #[inline]
    pub const fn get(self, bits: u64) -> u32 {
        ((bits >> self.lo) & ((1 << self.width) - 1)) as u32
    }

    /// `bits` with the field set.
    #[inline]
    #[must_use]
    pub const fn set(self, bits: u64, value: u32) -> u64 {
        let mask = ((1u64 << self.width) - 1) << self.lo;
        bits & !mask | (value as u64) << self.lo & mask
    }
}

/// Fields that modifiers live in, by encoding.
pub mod bits {
    use super::Field;
    const fn f(lo: u8, width: u8) -> Field {
        Field::new(lo, width)
    }
    /// SOPP and SOPK constant.
    pub const SIMM16: Field = f(0, 16);
    /// Literal constant after a 32-bit encoding.
    pub const LITERAL: Field = f(32, 32);

    /// SMRD: offset.
    pub const SMRD_OFFSET: Field = f(0, 8);
    /// SMRD: the offset is a constant.
    pub const SMRD_IMM: Field = f(8, 1);
    /// SMEM: globally coherent.
    pub const SMEM_GLC: Field = f(16, 1);
    /// SMEM: the offset field is a constant.
    pub const SMEM_IMM: Field = f(17, 1);
    /// SMEM on GFX9: use the SOFFSET register.
    pub const SMEM_SOE: Field = f(14, 1);
    /// SMEM on GFX9: non-volatile.
    pub const SMEM_NV: Field = f(15, 1);
    /// SMEM on GFX8: 20-bit unsigned offset.
    pub const SMEM_OFFSET20: Field = f(32, 20);
    /// SMEM on GFX9: 21-bit signed offset.
    pub const SMEM_OFFSET21: Field = f(32, 21);
    /// SMEM on GFX9: the offset register.
    pub const SMEM_SOFFSET: Field = f(57, 7);

    /// VOP3: absolute value, a bit per source.
    pub const VOP3_ABS: Field = f(8, 3);
    /// VOP3: clamp, GFX6 and GFX7.
    pub const VOP3_CLAMP_SI: Field = f(11, 1);
    /// VOP3 and VOP3P: clamp, GFX8 and later.
    pub const VOP3_CLAMP: Field = f(15, 1);
    /// VOP3 and VOP3P: op_sel (bit 3 of it picks the half of the destination in VOP3).
    pub const VOP3_OP_SEL: Field = f(11, 4);
    /// VOP3: output modifier.
    pub const VOP3_OMOD: Field = f(59, 2);
    /// VOP3 and VOP3P: negate (VOP3P: the low half), a bit per source.
    pub const VOP3_NEG: Field = f(61, 3);
    /// VOP3P: negate the high half.
    pub const VOP3P_NEG_HI: Field = f(8, 3);
    /// VOP3P: op_sel.
    pub const VOP3P_OP_SEL: Field = f(11, 3);
    /// VOP3P: op_sel_hi of source 2.
    pub const VOP3P_OP_SEL_HI2: Field = f(14, 1);
    /// VOP3P: op_sel_hi of sources 0 and 1.
    pub const VOP3P_OP_SEL_HI: Field = f(59, 2);
    /// MFMA: broadcast size.
    pub const MFMA_CBSZ: Field = f(8, 3);
    /// MFMA: broadcast block.
    pub const MFMA_ABID: Field = f(11, 4);
    /// MFMA on gfx90a: C and D are AccVGPRs.
    pub const MFMA_ACC_CD: Field = f(15, 1);
    /// MFMA: A and B are AccVGPRs, a bit each.
    pub const MFMA_ACC: Field = f(59, 2);
    /// MFMA: B lane-group pattern.
    pub const MFMA_BLGP: Field = f(61, 3);
    /// VOP3 interpolation: attribute.
    pub const INTERP3_ATTR: Field = f(32, 6);
    /// VOP3 interpolation: channel.
    pub const INTERP3_CHAN: Field = f(38, 2);
    /// VOP3 interpolation: high half.
    pub const INTERP3_HIGH: Field = f(40, 1);
    /// VINTRP: channel.
    pub const VINTRP_CHAN: Field = f(8, 2);
    /// VINTRP: attribute.
    pub const VINTRP_ATTR: Field = f(10, 6);

    /// SDWA: destination selection.
    pub const SDWA_DST_SEL: Field = f(40, 3);
    /// SDWA: what becomes of the unselected destination bits.
    pub const SDWA_DST_U: Field = f(43, 2);
    /// SDWA: clamp.
    pub const SDWA_CLAMP: Field = f(45, 1);
    /// SDWA on GFX9: output modifier.
    pub const SDWA_OMOD: Field = f(46, 2);
    /// SDWA on VOPC, GFX9: the scalar destination.
    pub const SDWA_SDST: Field = f(40, 7);
    /// SDWA on VOPC, GFX9: use the scalar destination instead of VCC.
    pub const SDWA_SD: Field = f(47, 1);
    /// SDWA: source selections; source 1's lies 8 bits further up, like the rest of its fields.
    pub const SDWA_SEL: Field = f(48, 3);
    /// SDWA: sign-extend.
    pub const SDWA_SEXT: Field = f(51, 1);
    /// SDWA: negate.
    pub const SDWA_NEG: Field = f(52, 1);
    /// SDWA: absolute value.
    pub const SDWA_ABS: Field = f(53, 1);
    /// SDWA on GFX9: the source is an SGPR.
    pub const SDWA_S: Field = f(55, 1);
    /// DPP: control.
    pub const DPP_CTRL: Field = f(40, 9);
    /// DPP: bound control.
    pub const DPP_BOUND: Field = f(51, 1);
    /// DPP: negate source 0; absolute follows, then source 1's pair.
    pub const DPP_NEG_ABS: Field = f(52, 4);
    /// DPP: bank mask.
    pub const DPP_BANK: Field = f(56, 4);
    /// DPP: row mask.
    pub const DPP_ROW: Field = f(60, 4);

    /// DS: the 16-bit offset, or offset0 below offset1.
    pub const DS_OFFSET: Field = f(0, 16);
    /// DS: offset0.
    pub const DS_OFFSET0: Field = f(0, 8);
    /// DS: offset1.
    pub const DS_OFFSET1: Field = f(8, 8);
    /// DS: global data share, GFX6 and GFX7.
    pub const DS_GDS_SI: Field = f(17, 1);
    /// DS: global data share, GFX8 and later.
    pub const DS_GDS: Field = f(16, 1);
    /// DS on gfx90a: data in AccVGPRs.
    pub const DS_ACC: Field = f(25, 1);

    /// MUBUF, MTBUF: offset.
    pub const BUF_OFFSET: Field = f(0, 12);
    /// MUBUF, MTBUF: the address has an offset.
    pub const BUF_OFFEN: Field = f(12, 1);
    /// MUBUF, MTBUF: the address has an index.
    pub const BUF_IDXEN: Field = f(13, 1);
    /// MUBUF, MTBUF: globally coherent.
    pub const BUF_GLC: Field = f(14, 1);
    /// MUBUF, MTBUF on GFX6 and GFX7: 64-bit address in VGPRs.
    pub const BUF_ADDR64: Field = f(15, 1);
    /// MUBUF on gfx90a: system coherent.
    pub const MUBUF_SCC: Field = f(15, 1);
    /// MUBUF: to LDS.
    pub const MUBUF_LDS: Field = f(16, 1);
    /// MUBUF on GFX8 and later: system level coherent.
    pub const MUBUF_SLC: Field = f(17, 1);
    /// MTBUF, and MUBUF on GFX6 and GFX7: system level coherent.
    pub const BUF_SLC: Field = f(54, 1);
    /// MUBUF, MTBUF: texture fail enable (below gfx90a).
    pub const BUF_TFE: Field = f(55, 1);
    /// MUBUF, MTBUF on gfx90a: data in AccVGPRs.
    pub const BUF_ACC: Field = f(55, 1);
    /// MTBUF on gfx90a: system coherent.
    pub const MTBUF_SCC: Field = f(53, 1);
    /// MTBUF: data format.
    pub const MTBUF_DFMT: Field = f(19, 4);
    /// MTBUF: number format.
    pub const MTBUF_NFMT: Field = f(23, 3);

    /// MIMG: system coherent (gfx90a).
    pub const MIMG_SCC: Field = f(7, 1);
    /// MIMG: components.
    pub const MIMG_DMASK: Field = f(8, 4);
    /// MIMG: unnormalised coordinates.
    pub const MIMG_UNORM: Field = f(12, 1);
    /// MIMG: globally coherent.
    pub const MIMG_GLC: Field = f(13, 1);
    /// MIMG: declare array.
    pub const MIMG_DA: Field = f(14, 1);
    /// MIMG: 128-bit resource (GFX9: 16-bit addresses).
    pub const MIMG_R128: Field = f(15, 1);
    /// MIMG: texture fail enable (below gfx90a).
    pub const MIMG_TFE: Field = f(16, 1);
    /// MIMG on gfx90a: data in AccVGPRs.
    pub const MIMG_ACC: Field = f(16, 1);
    /// MIMG: LOD warning enable.
    pub const MIMG_LWE: Field = f(17, 1);
    /// MIMG: system level coherent.
    pub const MIMG_SLC: Field = f(25, 1);
    /// MIMG: 16-bit data.
    pub const MIMG_D16: Field = f(63, 1);

    /// FLAT family on GFX9: 12-bit offset and its sign.
    pub const FLAT_OFFSET13: Field = f(0, 13);
    /// FLAT itself on GFX9: 12-bit unsigned offset.
    pub const FLAT_OFFSET12: Field = f(0, 12);
    /// GLOBAL, SCRATCH: to LDS.
    pub const FLAT_LDS: Field = f(13, 1);
    /// FLAT family: 0 flat, 1 scratch, 2 global.
    pub const FLAT_SEG: Field = f(14, 2);
    /// FLAT family: globally coherent.
    pub const FLAT_GLC: Field = f(16, 1);
    /// FLAT family: system level coherent.
    pub const FLAT_SLC: Field = f(17, 1);
    /// FLAT family on gfx90a: system coherent.
    pub const FLAT_SCC: Field = f(25, 1);
    /// FLAT on GFX7 and GFX8: texture fail enable.
    pub const FLAT_TFE: Field = f(55, 1);
    /// FLAT family on GFX9 before gfx90a: non-volatile.
    pub const FLAT_NV: Field = f(55, 1);
    /// FLAT family on gfx90a: data in AccVGPRs.
    pub const FLAT_ACC: Field = f(55, 1);

    /// EXP: which components.
    pub const EXP_EN: Field = f(0, 4);
    /// EXP: compressed.
    pub const EXP_COMPR: Field = f(10, 1);
    /// EXP: the last.
    pub const EXP_DONE: Field = f(11, 1);
    /// EXP: valid mask.
    pub const EXP_VM: Field = f(12, 1);
}

/// The prefix bits and the opcode field of an encoding at a level.
pub const fn opcode_field(enc: Enc, level: Level) -> (u64, Field) {
    let vi = level.is_vi_plus();
    let (prefix, field) = match enc {
        Enc::Sop2 => (0b10 << 30, Field::new(23, 7)),
        Enc::Sopk => (0b1011 << 28, Field::new(23, 5)),
        Enc::Sop1 => (0b1_0111_1101 << 23, Field::new(8, 8)),
        Enc::Sopc => (0b1_0111_1110 << 23, Field::new(16, 7)),
        Enc::Sopp => (0b1_0111_1111 << 23, Field::new(16, 7)),
        Enc::Smrd => (0b11000 << 27, Field::new(22, 5)),
        Enc::Smem => (0b110000 << 26, Field::new(18, 8)),
        Enc::Vop2 => (0, Field::new(25, 6)),
        Enc::Vop1 => (0b011_1111 << 25, Field::new(9, 8)),
        Enc::Vopc => (0b011_1110 << 25, Field::new(17, 8)),
        Enc::Vintrp => (if vi { 0b110101 << 26 } else { 0b110010 << 26 }, Field::new(16, 2)),
        Enc::Vop3 => (0b110100 << 26, if vi { Field::new(16, 10) } else { Field::new(17, 9) }),
        Enc::Vop3p | Enc::Mfma => (0b1_1010_0111 << 23, Field::new(16, 7)),
        Enc::Ds => (0b110110 << 26, if vi { Field::new(17, 8) } else { Field::new(18, 8) }),
        Enc::Mubuf => (0b111000 << 26, Field::new(18, 7)),
        Enc::Mtbuf => (0b111010 << 26, if vi { Field::new(15, 4) } else { Field::new(16, 3) }),
        Enc::Mimg => (0b111100 << 26, Field::new(18, 7)),
        Enc::Flat => (0b110111 << 26, Field::new(18, 7)),
        Enc::Scratch => (0b110111 << 26 | 1 << 14, Field::new(18, 7)),
        Enc::Global => (0b110111 << 26 | 2 << 14, Field::new(18, 7)),
        Enc::Exp => (if vi { 0b110001 << 26 } else { 0b111110 << 26 }, Field::new(0, 0)),
    };
    (prefix, field)
}

/// The VOP3 opcode of a VOP1, VOP2, VOPC or VINTRP row.
pub const fn vop3_opcode(enc: Enc, opcode: u16, level: Level) -> u16 {
    match enc {
        Enc::Vop2 => opcode + 0x100,
        Enc::Vop1 if level.is_vi_plus() => opcode + 0x140,
        Enc::Vop1 => opcode + 0x180,
        Enc::Vintrp => opcode + 0x270,
        _ => opcode,
    }
}

/// Where an operand in a role lies. Roles that are not plain register fields (labels, constants, fixed VCC)
/// have the field of their constant, or a field of width 0.
pub const fn operand_field(enc: Enc, form: Form, role: Role) -> Field {
    use Role::*;
    let none = Field::new(0, 0);
    match form {
        Form::Base => {}
        Form::Vop3 => {
            return match (enc, role) {
                (_, Vdst) => Field::new(0, 8),
                // Interpolation keeps the attribute where src0 would be.
                (Enc::Vintrp, Src0 | Slot) => Field::new(41, 9),
                (Enc::Vopc, Vcc) => Field::new(0, 8),
                // A carry-out; the carry-in is the third source (Inst::field_of).
                (_, Vcc | Sdst) => Field::new(8, 7),
                (_, Src0) => Field::new(32, 9),
                (_, Src1) => Field::new(41, 9),
                (_, Src2) => Field::new(50, 9),
                _ => none,
            };
        }
        Form::Sdwa | Form::Dpp => {
            if matches!(role, Src0) {
                return Field::new(32, 8);
            }
        }
    }
    match (enc, role) {
        (Enc::Sop2 | Enc::Sop1 | Enc::Sopk, Sdst) => Field::new(16, 7),
        (_, Ssrc0) => Field::new(0, 8),
        (_, Ssrc1) => Field::new(8, 8),
        (_, Simm16 | Uimm16 | Imm16 | Label | Waitcnt | Sendmsg | Hwreg | Endpgm) => bits::SIMM16,
        (Enc::Sopc, GprIdx) => Field::new(8, 8),
        (_, GprIdx) => bits::SIMM16,
        (_, K) => bits::LITERAL,
        (Enc::Smrd, Sdata) => Field::new(15, 7),
        (Enc::Smrd, Sbase) => Field::new(9, 6),
        (Enc::Smrd, Soffset) => bits::SMRD_OFFSET,
        (Enc::Smem, Sdata | Simm7) => Field::new(6, 7),
        (Enc::Smem, Sbase) => Field::new(0, 6),
        (Enc::Smem, Soffset) => bits::SMEM_OFFSET21,
        (Enc::Vop2, Vdst | Sdst) => Field::new(17, 8),
        (Enc::Vop1, Vdst | Sdst) => Field::new(17, 8),
        (Enc::Vop2 | Enc::Vop1 | Enc::Vopc, Src0) => Field::new(0, 9),
        (Enc::Vop2 | Enc::Vopc, Src1) => Field::new(9, 8),
        (Enc::Vintrp, Vdst) => Field::new(18, 8),
        (Enc::Vintrp, Src0 | Slot) => Field::new(0, 8),
        (Enc::Vintrp, Attr) => bits::VINTRP_ATTR,
        (Enc::Vop3, Sdst) => Field::new(8, 7),
        (Enc::Vop3 | Enc::Vop3p | Enc::Mfma, Vdst) => Field::new(0, 8),
        (Enc::Vop3 | Enc::Vop3p | Enc::Mfma, Src0) => Field::new(32, 9),
        (Enc::Vop3 | Enc::Vop3p | Enc::Mfma, Src1) => Field::new(41, 9),
        (Enc::Vop3 | Enc::Vop3p | Enc::Mfma, Src2) => Field::new(50, 9),
        (Enc::Ds, Addr) => Field::new(32, 8),
        (Enc::Ds, Data0) => Field::new(40, 8),
        (Enc::Ds, Data1) => Field::new(48, 8),
        (Enc::Ds, Vdst) => Field::new(56, 8),
        (Enc::Mubuf | Enc::Mtbuf | Enc::Mimg, Vaddr) => Field::new(32, 8),
        (Enc::Mubuf | Enc::Mtbuf | Enc::Mimg, Vdata) => Field::new(40, 8),
        (Enc::Mubuf | Enc::Mtbuf | Enc::Mimg, Srsrc) => Field::new(48, 5),
        (Enc::Mubuf | Enc::Mtbuf, Soffset) => Field::new(56, 8),
        (Enc::Mimg, Ssamp) => Field::new(53, 5),
        (Enc::Flat | Enc::Global | Enc::Scratch, Vaddr) => Field::new(32, 8),
        (Enc::Flat | Enc::Global | Enc::Scratch, Vdata) => Field::new(40, 8),
        (Enc::Flat | Enc::Global | Enc::Scratch, Saddr) => Field::new(48, 7),
        (Enc::Flat | Enc::Global | Enc::Scratch, Vdst) => Field::new(56, 8),
        (Enc::Exp, Tgt) => Field::new(4, 6),
        (Enc::Exp, Vsrc0) => Field::new(32, 8),
        (Enc::Exp, Vsrc1) => Field::new(40, 8),
        (Enc::Exp, Vsrc2) => Field::new(48, 8),
        (Enc::Exp, Vsrc3) => Field::new(56, 8),
        _ => none,
    }
}

/// [`operand_field`] as a table.
static FIELDS: [[[Field; Role::ALL.len()]; 4]; Enc::ALL.len()] = {
    let forms = [Form::Base, Form::Vop3, Form::Sdwa, Form::Dpp];
    let mut table = [[[Field::new(0, 0); Role::ALL.len()]; 4]; Enc::ALL.len()];
    let mut e = 0;
    while e < Enc::ALL.len() {
        let mut f = 0;
        while f < 4 {
            let mut r = 0;
            while r < Role::ALL.len() {
                table[e][f][r] = operand_field(Enc::ALL[e], forms[f], Role::ALL[r]);
                r += 1;
            }
            f += 1;
        }
        e += 1;
    }
    table
};

/// An instruction: a row, the form it is encoded in, and its bits.
#[derive(Clone, Copy, Debug)]
pub struct Inst {
    /// The table row.
    pub row: &'static Row,
    /// Which of the row's encodings.
    pub form: Form,
    /// Length in bytes, 4 or 8.
    pub len: u8,
    /// The encoding, first dword lowest.
    pub bits: u64,
}

impl Inst {
    /// The field of an operand.
    #[inline]
    pub fn field(&self, role: Role) -> Field {
        // Global wave sync keeps its datum where others have the address.
        if role == Role::Data0 && self.row.has(flag::GDS_ONLY) {
            return Field::new(32, 8);
        }
        FIELDS[self.row.enc as usize][self.form as usize][role as usize]
    }

    /// The field of one of the row's operands, where role and encoding alone do not say: VCC is a carry-out in one
    /// place and a carry-in in another.
    #[inline]
    pub fn field_of(&self, operand: &Operand) -> Field {
        if operand.role == Role::Vcc && operand.access == Access::Read && self.form == Form::Vop3 {
            return Field::new(50, 9);
        }
        // V_READLANE's SGPR is in VDST's place; only a mask beside a VDST has a field of its own.
        if operand.role == Role::Sdst && operand.ty.dwords() == 1 && matches!(self.row.enc, Enc::Vop3) {
            return Field::new(0, 8);
        }
        self.field(operand.role)
    }

    /// An operand's field value.
    #[inline]
    pub fn get(&self, role: Role) -> u32 {
        self.field(role).get(self.bits)
    }

    /// Sets an operand's field.
    #[inline]
    pub fn set(&mut self, role: Role, value: u32) {
        self.bits = self.field(role).set(self.bits, value);
    }

    /// Sets a modifier field.
    #[inline]
    pub fn put(&mut self, field: Field, value: u32) {
        self.bits = field.set(self.bits, value);
    }

    /// True for the three encodings with VOP3's layout.
    pub fn is_vop3_layout(&self) -> bool {
        self.form == Form::Vop3 || matches!(self.row.enc, Enc::Vop3 | Enc::Vop3p | Enc::Mfma)
    }

    /// An instruction of `row` with prefix and opcode set and all else zero.
    pub fn new(row: &'static Row, form: Form, level: Level) -> Inst {
        let op = row.opcode[level as usize];
        let (prefix, field, op) = if form == Form::Vop3 {
            let (p, f) = opcode_field(Enc::Vop3, level);
            (p, f, vop3_opcode(row.enc, op, level))
        } else {
            let (p, f) = opcode_field(row.enc, level);
            (p, f, op)
        };
        let long = form != Form::Base
            || matches!(row.enc, Enc::Smem | Enc::Vop3 | Enc::Vop3p | Enc::Mfma)
            || row.enc as u8 >= Enc::Ds as u8;
        let mut bits = prefix | (op as u64) << field.lo;
        // SDWA and DPP announce themselves in the short encoding's src0 field.
        match form {
            Form::Sdwa => bits |= 249,
            Form::Dpp => bits |= 250,
            _ => {}
        }
        Inst { row, form, len: if long { 8 } else { 4 }, bits }
    }
}
