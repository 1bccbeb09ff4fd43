//! Vector ALU instructions in all their forms.

use super::operand::{dec, hex};
use super::{Invalid, Printed, Printer};
use crate::names;
use wavemill_isa::canonical::is_vop3b;
use wavemill_isa::encoding::{Field, bits};
use wavemill_isa::row::Operand;
use wavemill_isa::{Access, Class, Enc, Form, Inst, Level, Role, flag, regs};

/// Source modifiers of one operand.
#[derive(Clone, Copy, Default)]
struct Mods {
    neg: bool,
    abs: bool,
    sext: bool,
}

/// Where SDWA keeps a source's register.
fn sdwa_field(index: u8) -> Field {
    if index == 0 { Field::new(32, 8) } else { Field::new(9, 8) }
}

impl Printer {
    pub(super) fn valu(&self, inst: &Inst, symbol: Option<&[u8]>, out: &mut Vec<u8>) -> Printed {
        let mut sep: &[u8] = b" ";
        for op in inst.row.operands {
            out.extend_from_slice(sep);
            sep = b", ";
            self.valu_operand(inst, op, symbol, out)?;
        }
        match inst.form {
            Form::Sdwa => self.sdwa_modifiers(inst, out),
            Form::Dpp => self.dpp_modifiers(inst, out),
            Form::Vop3 => self.vop3_modifiers(inst, out),
            Form::Base => match inst.row.enc {
                Enc::Vop3 => self.vop3_modifiers(inst, out),
                Enc::Vop3p => self.vop3p_modifiers(inst, out),
                Enc::Mfma => self.mfma_modifiers(inst, out),
                _ => Ok(()),
            },
        }
    }

    fn valu_operand(&self, inst: &Inst, op: &Operand, symbol: Option<&[u8]>, out: &mut Vec<u8>) -> Printed {
        let value = inst.field_of(op).get(inst.bits);
        let dwords = op.ty.dwords();
        match op.role {
            Role::Vdst => {
                let acc = op.class == Class::Agpr || inst.row.enc == Enc::Mfma && self.mfma_acc(inst);
                self.vgpr(acc, value, dwords, out)
            }
            Role::Sdst if op.access == Access::Write => self.scalar_register(value, dwords, out),
            Role::Vcc => self.vcc(inst, op, value, out),
            Role::K => {
                match symbol {
                    Some(symbol) => out.extend_from_slice(symbol),
                    None => hex(value as u64, out),
                }
                Ok(())
            }
            Role::Attr => {
                let (attr, chan) = if inst.row.enc == Enc::Vintrp && inst.form == Form::Base {
                    (bits::VINTRP_ATTR, bits::VINTRP_CHAN)
                } else {
                    (bits::INTERP3_ATTR, bits::INTERP3_CHAN)
                };
                out.extend_from_slice(b"attr");
                dec(attr.get(inst.bits), out);
                out.push(b'.');
                out.push(b"xyzw"[chan.get(inst.bits) as usize]);
                Ok(())
            }
            Role::Slot => {
                match value {
                    0 => out.extend_from_slice(b"p10"),
                    1 => out.extend_from_slice(b"p20"),
                    2 => out.extend_from_slice(b"p0"),
                    n => {
                        out.extend_from_slice(b"invalid_param_");
                        dec(n, out);
                    }
                }
                Ok(())
            }
            _ => self.valu_source(inst, op, value, symbol, out),
        }
    }

    /// VCC in the short forms, an SGPR pair in the long one.
    fn vcc(&self, inst: &Inst, op: &Operand, value: u32, out: &mut Vec<u8>) -> Printed {
        match inst.form {
            // The read-only values are 32 bits wide but stand for masks too: SCC as a carry, say.
            Form::Vop3
                if matches!(value, 235..=239 | 251..=253)
                    && (op.access == Access::Read || inst.row.enc == Enc::Vopc) =>
            {
                self.scalar_register(value, 1, out)
            }
            Form::Vop3 if value >= 128 => Err(Invalid),
            Form::Vop3 => self.scalar_register(value, 2, out),
            Form::Sdwa
                if inst.row.enc == Enc::Vopc && self.level.is_gfx9() && bits::SDWA_SD.get(inst.bits) != 0 =>
            {
                self.scalar_register(bits::SDWA_SDST.get(inst.bits), 2, out)
            }
            _ => {
                out.extend_from_slice(b"vcc");
                Ok(())
            }
        }
    }

    fn mfma_acc(&self, inst: &Inst) -> bool {
        self.level == Level::Gfx908 || bits::MFMA_ACC_CD.get(inst.bits) != 0
    }

    fn valu_source(
        &self,
        inst: &Inst,
        op: &Operand,
        value: u32,
        symbol: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) -> Printed {
        let dwords = op.ty.dwords();
        let index = op.role.source_index().unwrap_or(0);
        let mods = self.source_mods(inst, op, index);
        let short_vgpr = inst.form != Form::Vop3 && inst.row.enc.has_forms() && op.role == Role::Src1
            || inst.row.enc == Enc::Vintrp && inst.form == Form::Base;
        // Constants negate with neg(), so that neg(1) is not read as -1.
        let constant = match inst.form {
            Form::Sdwa => {
                let value = sdwa_field(index).get(inst.bits);
                self.sdwa_scalar(inst, index) && matches!(value, 128..=208 | 240..=248)
            }
            Form::Dpp => false,
            _ => !short_vgpr && matches!(value, 128..=208 | 240..=248 | 255),
        };
        let neg_call = mods.neg && !mods.abs && constant;
        let open: &[u8] = match (mods.sext, mods.neg) {
            (true, _) => b"sext(",
            (_, true) if neg_call => b"neg(",
            (_, true) => b"-",
            _ => b"",
        };
        out.extend_from_slice(open);
        if mods.abs {
            out.push(b'|');
        }
        match inst.form {
            _ if inst.row.enc == Enc::Mfma => self.mfma_source(inst, op, index, value, out)?,
            Form::Sdwa => self.sdwa_source(inst, op, index, out)?,
            Form::Dpp => self.vgpr(false, value & 0xff, dwords, out)?,
            _ if short_vgpr && op.class != Class::Scalar => self.vgpr(false, value, dwords, out)?,
            _ if op.class == Class::Agpr && inst.is_vop3_layout() => self.acc_read(value, out)?,
            _ => self.source(inst, op, value, symbol, out)?,
        }
        if mods.abs {
            out.push(b'|');
        }
        if neg_call || mods.sext {
            out.push(b')');
        }
        Ok(())
    }

    fn acc_read(&self, value: u32, out: &mut Vec<u8>) -> Printed {
        if value < regs::VGPR {
            return Err(Invalid);
        }
        self.vgpr(true, value - regs::VGPR, 1, out)
    }

    fn mfma_source(&self, inst: &Inst, op: &Operand, index: u8, value: u32, out: &mut Vec<u8>) -> Printed {
        let dwords = op.ty.dwords();
        if index == 2 {
            return match value {
                256.. => self.vgpr(self.mfma_acc(inst), value - 256, dwords, out),
                125 | 128..=208 | 235..=248 | 251..=253 => self.source(inst, op, value, None, out),
                _ => Err(Invalid),
            };
        }
        if value < regs::VGPR {
            // Reserved, but LLVM shows these few.
            return match value {
                125 | 235..=239 | 251..=253 => self.source(inst, op, value, None, out),
                _ => Err(Invalid),
            };
        }
        let acc = bits::MFMA_ACC.get(inst.bits) >> index & 1 != 0;
        self.vgpr(acc, value - regs::VGPR, dwords, out)
    }

    fn sdwa_source(&self, inst: &Inst, op: &Operand, index: u8, out: &mut Vec<u8>) -> Printed {
        let value = sdwa_field(index).get(inst.bits);
        if !self.sdwa_scalar(inst, index) {
            return self.vgpr(false, value, op.ty.dwords(), out);
        }
        // GFX9 may read an SGPR or, so LLVM has it, an inline constant.
        match value {
            128..=208 | 240..=248 => self.source(inst, op, value, None, out),
            _ => self.scalar_register(value, op.ty.dwords(), out),
        }
    }

    /// Whether an SDWA source is scalar, as GFX9 allows.
    fn sdwa_scalar(&self, inst: &Inst, index: u8) -> bool {
        self.level.is_gfx9() && bits::SDWA_S.get(inst.bits >> (8 * index)) != 0
    }

    fn source_mods(&self, inst: &Inst, op: &Operand, index: u8) -> Mods {
        let row = inst.row;
        let bit = |field: Field, i: u8| field.get(inst.bits) >> i & 1 != 0;
        match inst.form {
            Form::Sdwa => {
                let at = inst.bits >> (8 * index);
                if row.sext >> index & 1 == 0 && (op.ty.is_float() || row.neg >> index & 1 != 0) {
                    Mods { neg: bits::SDWA_NEG.get(at) != 0, abs: bits::SDWA_ABS.get(at) != 0, sext: false }
                } else {
                    Mods { sext: bits::SDWA_SEXT.get(at) != 0, ..Mods::default() }
                }
            }
            Form::Dpp => {
                if row.neg >> index & 1 != 0 {
                    let pair = bits::DPP_NEG_ABS.get(inst.bits) >> (2 * index);
                    Mods { neg: pair & 1 != 0, abs: pair & 2 != 0, sext: false }
                } else {
                    let sext = row.sext >> index & 1 != 0
                        && bits::DPP_NEG_ABS.get(inst.bits) >> (2 * index) & 1 != 0;
                    Mods { sext, ..Mods::default() }
                }
            }
            Form::Base if row.enc == Enc::Vop3p && row.has(flag::MIX) => {
                Mods { neg: bit(bits::VOP3_NEG, index), abs: bit(bits::VOP3P_NEG_HI, index), sext: false }
            }
            Form::Vop3 | Form::Base
                if row.enc != Enc::Vop3p && inst.is_vop3_layout() && row.enc != Enc::Mfma =>
            {
                // Interpolation's VGPR sits in the second source's place.
                let place = if row.enc == Enc::Vintrp { 1 } else { index };
                let abs_bits = !is_vop3b(inst);
                if row.neg >> index & 1 != 0 {
                    Mods {
                        neg: bit(bits::VOP3_NEG, place),
                        abs: abs_bits && bit(bits::VOP3_ABS, place),
                        sext: false,
                    }
                } else if row.sext >> index & 1 != 0 {
                    Mods { sext: bit(bits::VOP3_NEG, place), ..Mods::default() }
                } else {
                    Mods::default()
                }
            }
            _ => Mods::default(),
        }
    }

    fn omod(&self, value: u32, out: &mut Vec<u8>) {
        let text: &[u8] = match value {
            1 => b" mul:2",
            2 => b" mul:4",
            3 => b" div:2",
            _ => return,
        };
        out.extend_from_slice(text);
    }

    fn vop3_modifiers(&self, inst: &Inst, out: &mut Vec<u8>) -> Printed {
        let row = inst.row;
        if row.has(flag::HIGH) && bits::INTERP3_HIGH.get(inst.bits) != 0 {
            out.extend_from_slice(b" high");
        }
        if row.has(flag::OP_SEL) && self.level.is_gfx9() {
            let sources = row.operands.iter().filter(|o| o.role.source_index().is_some()).count() as u32;
            let op_sel = bits::VOP3_OP_SEL.get(inst.bits);
            let used = op_sel & ((1 << sources) - 1) | op_sel & 8;
            if used != 0 {
                out.extend_from_slice(b" op_sel:[");
                for i in 0..sources {
                    out.push(b'0' + (op_sel >> i & 1) as u8);
                    out.push(b',');
                }
                out.push(b'0' + (op_sel >> 3) as u8);
                out.push(b']');
            }
        }
        // Interpolation's long forms clamp and scale as the arithmetic ones do.
        let interp = row.enc == Enc::Vintrp;
        let clamp = if self.level.is_vi_plus() {
            (row.has(flag::CLAMP) || interp) && bits::VOP3_CLAMP.get(inst.bits) != 0
        } else {
            row.has(flag::CLAMP) && !is_vop3b(inst) && bits::VOP3_CLAMP_SI.get(inst.bits) != 0
        };
        if clamp {
            out.extend_from_slice(b" clamp");
        }
        if row.has(flag::OMOD) || interp {
            self.omod(bits::VOP3_OMOD.get(inst.bits), out);
        }
        Ok(())
    }

    fn vop3p_modifiers(&self, inst: &Inst, out: &mut Vec<u8>) -> Printed {
        let row = inst.row;
        if !row.has(flag::PACKED | flag::MIX) {
            return Ok(());
        }
        let sources = row.operands.iter().filter(|o| o.role.source_index().is_some()).count() as u32;
        let all = (1 << sources) - 1;
        let mut list = |name: &[u8], value: u32, default: u32| {
            if value & all == default & all {
                return;
            }
            out.extend_from_slice(name);
            for i in 0..sources {
                if i > 0 {
                    out.push(b',');
                }
                out.push(b'0' + (value >> i & 1) as u8);
            }
            out.push(b']');
        };
        let hi = bits::VOP3P_OP_SEL_HI.get(inst.bits) | bits::VOP3P_OP_SEL_HI2.get(inst.bits) << 2;
        list(b" op_sel:[", bits::VOP3P_OP_SEL.get(inst.bits), 0);
        list(b" op_sel_hi:[", hi, if row.has(flag::PACKED) { 7 } else { 0 });
        if row.has(flag::PACKED) {
            list(b" neg_lo:[", bits::VOP3_NEG.get(inst.bits), 0);
            list(b" neg_hi:[", bits::VOP3P_NEG_HI.get(inst.bits), 0);
        }
        if row.has(flag::CLAMP) && bits::VOP3_CLAMP.get(inst.bits) != 0 {
            out.extend_from_slice(b" clamp");
        }
        Ok(())
    }

    fn mfma_modifiers(&self, inst: &Inst, out: &mut Vec<u8>) -> Printed {
        let modifiers: [(&[u8], Field); 3] =
            [(b" cbsz:", bits::MFMA_CBSZ), (b" abid:", bits::MFMA_ABID), (b" blgp:", bits::MFMA_BLGP)];
        for (name, field) in modifiers {
            let value = field.get(inst.bits);
            if value != 0 {
                out.extend_from_slice(name);
                dec(value, out);
            }
        }
        Ok(())
    }

    fn sdwa_modifiers(&self, inst: &Inst, out: &mut Vec<u8>) -> Printed {
        let row = inst.row;
        if row.operands.is_empty() {
            return Ok(());
        }
        let gfx9 = self.level.is_gfx9();
        let compare = row.enc == Enc::Vopc;
        if bits::SDWA_CLAMP.get(inst.bits) != 0 && !(compare && gfx9) {
            out.extend_from_slice(b" clamp");
        }
        if gfx9 && !compare && row.has(flag::OMOD) {
            self.omod(bits::SDWA_OMOD.get(inst.bits), out);
        }
        let sel = |name: &[u8], value: u32, out: &mut Vec<u8>| -> Printed {
            out.extend_from_slice(name);
            let text = names::SDWA_SELS.get(value as usize).ok_or(Invalid)?;
            out.extend_from_slice(text.as_bytes());
            Ok(())
        };
        if !compare {
            sel(b" dst_sel:", bits::SDWA_DST_SEL.get(inst.bits), out)?;
            out.extend_from_slice(b" dst_unused:");
            // 3 is reserved; LLVM prints it as 0.
            let unused = names::SDWA_UNUSED.get(bits::SDWA_DST_U.get(inst.bits) as usize);
            out.extend_from_slice(unused.unwrap_or(&names::SDWA_UNUSED[0]).as_bytes());
        }
        sel(b" src0_sel:", bits::SDWA_SEL.get(inst.bits), out)?;
        if row.operand(Role::Src1).is_some() {
            sel(b" src1_sel:", bits::SDWA_SEL.get(inst.bits >> 8), out)?;
        }
        Ok(())
    }

    fn dpp_modifiers(&self, inst: &Inst, out: &mut Vec<u8>) -> Printed {
        out.push(b' ');
        self.dpp_ctrl(inst, bits::DPP_CTRL.get(inst.bits), out)?;
        out.extend_from_slice(b" row_mask:");
        hex(bits::DPP_ROW.get(inst.bits) as u64, out);
        out.extend_from_slice(b" bank_mask:");
        hex(bits::DPP_BANK.get(inst.bits) as u64, out);
        if bits::DPP_BOUND.get(inst.bits) != 0 {
            out.extend_from_slice(b" bound_ctrl:1");
        }
        Ok(())
    }

    fn dpp_ctrl(&self, inst: &Inst, ctrl: u32, out: &mut Vec<u8>) -> Printed {
        let newbcast = ctrl & !15 == names::DPP_ROW_NEWBCAST && self.level == Level::Gfx90a;
        // The f64 pipeline knows only row_newbcast (manual 12.17.1). Reserved controls print LLVM's remarks.
        if inst.row.has(flag::DPP64) && !newbcast {
            out.extend_from_slice(b" /* DP ALU dpp only supports row_newbcast */");
            return Ok(());
        }
        if ctrl < 0x100 {
            out.extend_from_slice(b"quad_perm:[");
            for lane in 0..4 {
                if lane > 0 {
                    out.push(b',');
                }
                dec(ctrl >> (2 * lane) & 3, out);
            }
            out.push(b']');
            return Ok(());
        }
        let mut counted = |name: &str, n: u32| {
            out.extend_from_slice(name.as_bytes());
            out.push(b':');
            dec(n, out);
            Ok(())
        };
        match ctrl {
            names::DPP_ROW_BCAST15 => return counted("row_bcast", 15),
            names::DPP_ROW_BCAST31 => return counted("row_bcast", 31),
            _ if newbcast => return counted("row_newbcast", ctrl & 15),
            _ => {}
        }
        for d in names::DPP_CTRLS {
            match d.range {
                None if d.code == ctrl => {
                    out.extend_from_slice(d.name.as_bytes());
                    return Ok(());
                }
                Some((first, last)) if ctrl >= d.code + first && ctrl <= d.code + last => {
                    return counted(d.name, ctrl - d.code);
                }
                _ => {}
            }
        }
        let remark: &[u8] = match ctrl & !15 {
            0x150 => b" /* row_newbcast/row_share is not supported on ASICs earlier than GFX90A/GFX10 */",
            0x160 => b"/* row_xmask is not supported on ASICs earlier than GFX10 */",
            _ => b"/* Invalid dpp_ctrl value */",
        };
        out.extend_from_slice(remark);
        Ok(())
    }
}
