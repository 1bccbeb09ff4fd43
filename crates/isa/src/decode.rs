//! From bits to rows.

use crate::encoding::{Inst, bits, vop3_opcode};
use crate::regs;
use crate::row::{Enc, Form, Role, flag};
use crate::target::Target;
use crate::{ROWS, Row};

/// Why a word is not an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DecodeError {
    /// No instruction has this opcode on the target.
    Unknown,
    /// The instruction's second dword is missing.
    Truncated,
}

/// First slot of each encoding's opcodes in a [`Decoder`]'s table.
const BASE: [u16; 22] = {
    let sizes: [u16; 22] = [
        128, 32, 256, 128, 128, 32, 256, 64, 256, 256, 4, 1024, 128, 128, 256, 128, 16, 128, 128, 128, 128, 1,
    ];
    let mut base = [0; 22];
    let mut i = 1;
    while i < 22 {
        base[i] = base[i - 1] + sizes[i - 1];
        i += 1;
    }
    base
};
const SLOTS: usize = BASE[21] as usize + 1;

/// Decodes instructions for one target. Making one costs a pass over the table; keep it.
pub struct Decoder {
    target: Target,
    /// 1 + row index, or 0; in the VOP3 range the top bit marks the VOP3 form of a shorter row.
    table: Box<[u16; SLOTS]>,
}

const VOP3_FORM: u16 = 0x8000;

impl Decoder {
    /// A decoder for a target.
    pub fn new(target: Target) -> Self {
        let level = target.level();
        let mut table = Box::new([0u16; SLOTS]);
        for (i, row) in ROWS.iter().enumerate() {
            let Some(op) = row.opcode_on(target.cpu) else { continue };
            let id = i as u16 + 1;
            table[BASE[row.enc as usize] as usize + op as usize] = id;
            if row.has_form(Form::Vop3, level) {
                let op = vop3_opcode(row.enc, op, level);
                table[BASE[Enc::Vop3 as usize] as usize + op as usize] = id | VOP3_FORM;
            }
        }
        Decoder { target, table }
    }

    /// The target.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Decodes the instruction at the start of `code`.
    #[inline]
    pub fn decode_bytes(&self, code: &[u8]) -> Result<Inst, DecodeError> {
        match code {
            [a, b, c, d, e, f, g, h, ..] => {
                self.decode(u32::from_le_bytes([*a, *b, *c, *d]), Some(u32::from_le_bytes([*e, *f, *g, *h])))
            }
            [a, b, c, d, ..] => self.decode(u32::from_le_bytes([*a, *b, *c, *d]), None),
            _ => Err(DecodeError::Truncated),
        }
    }

    #[inline]
    fn slot(&self, enc: Enc, op: u32) -> Option<(&'static Row, bool)> {
        let id = self.table[BASE[enc as usize] as usize + op as usize];
        let index = (id & !VOP3_FORM).checked_sub(1)?;
        Some((&ROWS[index as usize], id & VOP3_FORM != 0))
    }

    /// Decodes an instruction from its first dword and, if there is one, the dword after it.
    pub fn decode(&self, w0: u32, w1: Option<u32>) -> Result<Inst, DecodeError> {
        let unknown = DecodeError::Unknown;
        let vi = self.target.level().is_vi_plus();
        let short = |enc, op| self.slot(enc, op).map(|(row, _)| row).ok_or(unknown);
        let long = |row, form| match w1 {
            Some(w1) => Ok(Inst { row, form, len: 8, bits: w0 as u64 | (w1 as u64) << 32 }),
            None => Err(DecodeError::Truncated),
        };
        let four = |row| Ok(Inst { row, form: Form::Base, len: 4, bits: w0 as u64 });
        if w0 >> 31 == 0 {
            let row = match w0 >> 25 {
                0x3f => short(Enc::Vop1, w0 >> 9 & 0xff)?,
                0x3e => short(Enc::Vopc, w0 >> 17 & 0xff)?,
                op => short(Enc::Vop2, op)?,
            };
            let level = self.target.level();
            return match w0 & 0x1ff {
                regs::SDWA if vi && row.has_form(Form::Sdwa, level) => long(row, Form::Sdwa),
                regs::DPP if vi && row.has_form(Form::Dpp, level) => long(row, Form::Dpp),
                regs::SDWA | regs::DPP if !row.operands.is_empty() => Err(unknown),
                _ if row.operand(Role::K).is_some() => long(row, Form::Base),
                regs::LITERAL if !row.operands.is_empty() => long(row, Form::Base),
                _ => four(row),
            };
        }
        if w0 >> 30 == 2 {
            let row = match w0 >> 23 {
                0x17d => short(Enc::Sop1, w0 >> 8 & 0xff)?,
                0x17e => short(Enc::Sopc, w0 >> 16 & 0x7f)?,
                0x17f => return four(short(Enc::Sopp, w0 >> 16 & 0x7f)?),
                x if x >> 5 == 0xb => {
                    let row = short(Enc::Sopk, w0 >> 23 & 0x1f)?;
                    return if row.operand(Role::K).is_some() { long(row, Form::Base) } else { four(row) };
                }
                _ => short(Enc::Sop2, w0 >> 23 & 0x7f)?,
            };
            let literal = w0 & 0xff == regs::LITERAL && row.operand(Role::Ssrc0).is_some()
                || w0 >> 8 & 0xff == regs::LITERAL && row.operand(Role::Ssrc1).is_some();
            return if literal { long(row, Form::Base) } else { four(row) };
        }
        let row = match (w0 >> 26, vi) {
            (0x30 | 0x31, false) => {
                let row = short(Enc::Smrd, w0 >> 22 & 0x1f)?;
                // GFX7: offset 255 that is not a constant announces a literal.
                let literal = self.target.level().generation() == 7
                    && row.operand(Role::Soffset).is_some()
                    && w0 & 0x1ff == regs::LITERAL;
                return if literal { long(row, Form::Base) } else { four(row) };
            }
            (0x30, true) => short(Enc::Smem, w0 >> 18 & 0xff)?,
            (0x32, false) | (0x35, true) => return four(short(Enc::Vintrp, w0 >> 16 & 3)?),
            (0x34, _) => {
                if w0 >> 23 == 0x1a7 && vi {
                    let op = w0 >> 16 & 0x7f;
                    short(Enc::Vop3p, op).or_else(|_| short(Enc::Mfma, op))?
                } else {
                    let op = if vi { w0 >> 16 & 0x3ff } else { w0 >> 17 & 0x1ff };
                    let (row, form) = self.slot(Enc::Vop3, op).ok_or(unknown)?;
                    return long(row, if form { Form::Vop3 } else { Form::Base });
                }
            }
            (0x36, _) => short(Enc::Ds, w0 >> if vi { 17 } else { 18 } & 0xff)?,
            (0x37, _) => {
                let enc = match bits::FLAT_SEG.get(w0 as u64) {
                    _ if !self.target.level().is_gfx9() => Enc::Flat,
                    0 => Enc::Flat,
                    1 => Enc::Scratch,
                    2 => Enc::Global,
                    _ => return Err(unknown),
                };
                let row = short(enc, w0 >> 18 & 0x7f)?;
                if bits::FLAT_LDS.get(w0 as u64) != 0
                    && self.target.level().is_gfx9()
                    && !row.has(flag::LDS | flag::LDS_ONLY)
                {
                    return Err(unknown);
                }
                row
            }
            (0x38, _) => short(Enc::Mubuf, w0 >> 18 & 0x7f)?,
            (0x3a, true) => short(Enc::Mtbuf, w0 >> 15 & 0xf)?,
            (0x3a, false) => short(Enc::Mtbuf, w0 >> 16 & 7)?,
            (0x3c, _) => short(Enc::Mimg, w0 >> 18 & 0x7f)?,
            (0x3e, false) | (0x31, true) => short(Enc::Exp, 0)?,
            _ => return Err(unknown),
        };
        long(row, Form::Base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::PROCESSORS;

    #[test]
    fn every_row_decodes_from_its_own_bits() {
        for cpu in PROCESSORS {
            let decoder = Decoder::new(Target::new(cpu));
            for row in &ROWS {
                for form in [Form::Base, Form::Vop3, Form::Sdwa, Form::Dpp] {
                    if row.opcode_on(cpu).is_some() && row.has_form(form, cpu.level) {
                        let inst = Inst::new(row, form, cpu.level);
                        let back = decoder.decode_bytes(&inst.bits.to_le_bytes()).unwrap();
                        assert!(std::ptr::eq(back.row, row), "{} {form:?} on {}", row.name, cpu.name);
                        assert_eq!(back.form, form, "{} on {}", row.name, cpu.name);
                    }
                }
            }
        }
    }
}
