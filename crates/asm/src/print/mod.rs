//! Instructions to text, in LLVM's form.
//!
//! [`Printer::inst`] walks the operands of the instruction's row in assembly order, then the modifiers its encoding
//! has. It says no to encodings that name nothing (a reserved source code, a register past the end), so a
//! disassembler is a [`wavemill_isa::Decoder`] followed by a printer.

mod memory;
mod operand;
mod special;
mod valu;

use wavemill_isa::encoding::bits;
use wavemill_isa::{Enc, Form, Inst, Level, Role, Target, flag};

/// The bits of an instruction name something that does not exist.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Invalid;

type Printed = Result<(), Invalid>;

/// Prints instructions for one target.
#[derive(Clone, Copy, Debug)]
pub struct Printer {
    target: Target,
    level: Level,
    /// What is printed comes from source text, not from bits alone.
    from_source: bool,
    /// Registers of an image address where the source said how many; the encoding does not.
    image_address: u8,
}

impl Printer {
    /// A printer for a target.
    pub fn new(target: Target) -> Self {
        Printer { target, level: target.level(), from_source: false, image_address: 0 }
    }

    /// The same printer for an instruction that was just assembled. An image instruction's address was written with
    /// `image_address` registers.
    #[must_use]
    pub fn from_source(self, image_address: u8) -> Self {
        Printer { from_source: true, image_address, ..self }
    }

    /// Appends the instruction's text. `symbol` is printed in place of the literal or branch constant, for operands
    /// that are expressions yet to be resolved. On an error what was appended is to be thrown away.
    pub fn inst(&self, inst: &Inst, symbol: Option<&[u8]>, out: &mut Vec<u8>) -> Printed {
        out.extend_from_slice(inst.row.padded_name());
        out.truncate(out.len() - 32 + inst.row.name.len());
        self.unnamed(inst, symbol, out)
    }

    /// [`Printer::inst`] under another name, for aliases that are echoed.
    pub fn named(&self, inst: &Inst, name: &str, symbol: Option<&[u8]>, out: &mut Vec<u8>) -> Printed {
        out.extend_from_slice(name.as_bytes());
        self.unnamed(inst, symbol, out)
    }

    /// What follows the mnemonic.
    fn unnamed(&self, inst: &Inst, symbol: Option<&[u8]>, out: &mut Vec<u8>) -> Printed {
        self.suffix(inst, out);
        match inst.row.enc {
            Enc::Sop2 | Enc::Sopk | Enc::Sop1 | Enc::Sopc | Enc::Sopp => self.salu(inst, symbol, out),
            Enc::Smrd | Enc::Smem => self.smem(inst, symbol, out),
            Enc::Ds => self.ds(inst, out),
            Enc::Mubuf | Enc::Mtbuf => self.buffer(inst, out),
            Enc::Mimg => self.image(inst, out),
            Enc::Flat | Enc::Global | Enc::Scratch => self.flat(inst, out),
            Enc::Exp => self.export(inst, out),
            _ => self.valu(inst, symbol, out),
        }
    }

    fn suffix(&self, inst: &Inst, out: &mut Vec<u8>) {
        let row = inst.row;
        let text: &[u8] = match (inst.form, row.enc) {
            // Without operands nothing tells the forms apart in LLVM's text either.
            _ if row.operands.is_empty() => return,
            (Form::Vop3, _) => b"_e64",
            // GFX8's compares into VCC print no suffix.
            (Form::Sdwa, Enc::Vopc) if self.level == Level::Gfx8 => return,
            (Form::Sdwa, _) => b"_sdwa",
            (Form::Dpp, _) => b"_dpp",
            (Form::Base, Enc::Vop1 | Enc::Vop2 | Enc::Vopc) if !row.has(flag::NO64) || row.has(flag::E32) => {
                b"_e32"
            }
            (Form::Base, Enc::Vintrp) if self.level.is_vi_plus() => b"_e32",
            _ => return,
        };
        out.extend_from_slice(text);
    }

    fn salu(&self, inst: &Inst, symbol: Option<&[u8]>, out: &mut Vec<u8>) -> Printed {
        let mut sep: &[u8] = b" ";
        for op in inst.row.operands {
            let value = inst.get(op.role);
            if op.role == Role::Endpgm && value == 0 {
                break;
            }
            out.extend_from_slice(sep);
            sep = b", ";
            match op.role {
                Role::Sdst => self.scalar_register(value, op.ty.dwords(), out)?,
                Role::Ssrc0 | Role::Ssrc1 => self.source(inst, op, value, symbol, out)?,
                _ if symbol.is_some() => out.extend_from_slice(symbol.unwrap_or_default()),
                Role::Simm16 | Role::Uimm16 => operand::hex(value as u64, out),
                Role::Imm16 => operand::small_or_hex(value, out),
                Role::Label | Role::Endpgm => operand::dec(value, out),
                Role::K => operand::hex(value as u64, out),
                Role::Waitcnt => self.waitcnt(value, out),
                Role::Sendmsg => self.sendmsg(value, out),
                Role::Hwreg => self.hwreg(value, out),
                Role::GprIdx => self.gpr_idx(value, out),
                _ => return Err(Invalid),
            }
        }
        Ok(())
    }

    fn smem(&self, inst: &Inst, symbol: Option<&[u8]>, out: &mut Vec<u8>) -> Printed {
        let mut sep: &[u8] = b" ";
        let row = inst.row;
        for op in row.operands {
            out.extend_from_slice(sep);
            sep = b", ";
            match op.role {
                Role::Sdata => self.scalar_register(inst.get(op.role), op.ty.dwords(), out)?,
                Role::Sbase => self.scalar_register(inst.get(op.role) * 2, op.ty.dwords(), out)?,
                Role::Simm7 => operand::small_or_hex(inst.get(op.role), out),
                _ if row.enc == Enc::Smrd => self.smrd_offset(inst, symbol, out)?,
                _ => self.smem_offset(inst, out)?,
            }
        }
        if row.enc == Enc::Smem && row.has(flag::GLC) && bits::SMEM_GLC.get(inst.bits) != 0 {
            out.extend_from_slice(b" glc");
        }
        Ok(())
    }

    fn smrd_offset(&self, inst: &Inst, symbol: Option<&[u8]>, out: &mut Vec<u8>) -> Printed {
        let offset = bits::SMRD_OFFSET.get(inst.bits);
        if let Some(symbol) = symbol {
            out.extend_from_slice(symbol);
        } else if bits::SMRD_IMM.get(inst.bits) != 0 {
            operand::hex(offset as u64, out);
        } else if inst.len == 8 {
            operand::hex(bits::LITERAL.get(inst.bits) as u64, out);
        } else {
            self.scalar_register(offset, 1, out)?;
        }
        Ok(())
    }

    fn smem_offset(&self, inst: &Inst, out: &mut Vec<u8>) -> Printed {
        let imm = bits::SMEM_IMM.get(inst.bits) != 0;
        if !self.level.is_gfx9() {
            let offset = bits::SMEM_OFFSET20.get(inst.bits);
            return if imm {
                operand::hex(offset as u64, out);
                Ok(())
            } else {
                self.scalar_register(offset & 0x7f, 1, out)
            };
        }
        // GFX9 (seed 001): IMM and SOFFSET_EN choose among constant, register, and both.
        let raw = bits::SMEM_OFFSET21.get(inst.bits);
        let offset = ((raw << 11) as i32 >> 11) as i64;
        match (imm, bits::SMEM_SOE.get(inst.bits) != 0) {
            (false, false) => self.scalar_register(raw & 0x7f, 1, out),
            (true, false) => {
                operand::signed_hex(offset, out);
                Ok(())
            }
            (true, true) => {
                self.scalar_register(bits::SMEM_SOFFSET.get(inst.bits), 1, out)?;
                out.extend_from_slice(b" offset:");
                operand::signed_hex(offset, out);
                Ok(())
            }
            (false, true) => self.scalar_register(bits::SMEM_SOFFSET.get(inst.bits), 1, out),
        }
    }
}
