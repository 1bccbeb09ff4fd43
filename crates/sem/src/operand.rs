//! Operands: what the code in an 8- or 9-bit source field names (manual 13.1). The only place that takes these codes apart
//! for execution.

use wavemill_isa::{Enc, Kind, Ty, regs};

/// Where a source comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Src {
    /// Nothing.
    None,
    /// Register of the wave's file: v0 up, then the accumulators.
    Vgpr(u16),
    /// Scalar register by operand code, below 128.
    Sgpr(u8),
    /// A constant, extended to the operand's width.
    Const(u64),
    /// What is no register.
    Special(Special),
}

/// Operands that are no registers and no constants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Special {
    /// Address of LDS in the flat address space.
    SharedBase,
    /// Its last address.
    SharedLimit,
    /// Address of private memory in the flat address space.
    PrivateBase,
    /// Its last address.
    PrivateLimit,
    /// Number of a pixel wave that leaves in order.
    ExitingWaveId,
    /// VCC is zero.
    Vccz,
    /// EXEC is zero.
    Execz,
    /// Scalar condition code.
    Scc,
    /// A value from LDS, by M0.
    LdsDirect,
    /// Codes without a meaning; they read as zero.
    Reserved,
}

/// An operand code, taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    /// Scalar register.
    Sgpr(u8),
    /// Inline integer, -16 to 64.
    Integer(i8),
    /// Inline float: its place in [`regs::INLINE_FLOATS`].
    Float(u8),
    /// The dword behind the instruction.
    Literal,
    /// Vector register.
    Vgpr(u16),
    /// What is no register.
    Special(Special),
}

impl Code {
    /// What a source field's value names.
    pub const fn of(code: u32) -> Code {
        match code {
            0..=127 => Code::Sgpr(code as u8),
            128..=192 => Code::Integer((code - regs::INT_0) as i8),
            193..=208 => Code::Integer((regs::INT_M1 - 1).wrapping_sub(code) as i8),
            regs::FLOAT_0_5..=regs::INV_2PI => Code::Float((code - regs::FLOAT_0_5) as u8),
            regs::LITERAL => Code::Literal,
            regs::VGPR.. => Code::Vgpr((code - regs::VGPR) as u16),
            235 => Code::Special(Special::SharedBase),
            236 => Code::Special(Special::SharedLimit),
            237 => Code::Special(Special::PrivateBase),
            238 => Code::Special(Special::PrivateLimit),
            239 => Code::Special(Special::ExitingWaveId),
            251 => Code::Special(Special::Vccz),
            252 => Code::Special(Special::Execz),
            253 => Code::Special(Special::Scc),
            regs::LDS_DIRECT => Code::Special(Special::LdsDirect),
            // 249 and 250 announce SDWA and DPP, and are no operands.
            _ => Code::Special(Special::Reserved),
        }
    }

    /// The constant it is to an operand of a type, extended to 64 bits (manual 6.2.1.1); none if it is none. The matrix core
    /// has it in every register of an operand, those of 16 bits as f32.
    pub fn constant(self, ty: Ty, enc: Enc, literal: u32) -> Option<u64> {
        if enc == Enc::Mfma && ty.bits != 64 {
            let word = Ty { bits: 32, count: 1, ..ty };
            let n = self.constant(word, Enc::Vop3, literal)? as u32 as u64;
            return Some(n << 32 | n);
        }
        Some(match self {
            Code::Integer(n) => n as i64 as u64,
            Code::Float(i) => {
                let (half, single, double) = regs::INLINE_FLOATS[i as usize];
                match ty.bits {
                    64 => double,
                    16 => half as u64,
                    _ => single as u64 | (single as u64) << 32,
                }
            }
            Code::Literal => match (ty.kind, ty.bits) {
                (Kind::F, 64) => (literal as u64) << 32,
                (Kind::I, 64) => literal as i32 as i64 as u64,
                _ => literal as u64,
            },
            Code::Sgpr(_) | Code::Vgpr(_) | Code::Special(_) => return None,
        })
    }

    /// The operand, if it is a scalar one of 32 bits: a buffer's offset.
    pub fn scalar(self, enc: Enc, literal: u32) -> Src {
        let word = Ty { kind: Kind::U, bits: 32, count: 1 };
        match self {
            Code::Sgpr(code) => Src::Sgpr(code),
            Code::Special(special) => Src::Special(special),
            Code::Vgpr(_) => Src::None,
            // An inline float is an f32.
            _ => self.constant(word, enc, literal).map_or(Src::None, |n| Src::Const(n as u32 as u64)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The manual's table 13.1.
    #[test]
    fn codes() {
        assert_eq!((Code::of(0), Code::of(127)), (Code::Sgpr(0), Code::Sgpr(127)));
        assert_eq!((Code::of(128), Code::of(192)), (Code::Integer(0), Code::Integer(64)));
        assert_eq!((Code::of(193), Code::of(208)), (Code::Integer(-1), Code::Integer(-16)));
        assert_eq!((Code::of(240), Code::of(248)), (Code::Float(0), Code::Float(8)));
        assert_eq!(
            (Code::of(255), Code::of(256), Code::of(511)),
            (Code::Literal, Code::Vgpr(0), Code::Vgpr(255))
        );
        assert_eq!(Code::of(209), Code::Special(Special::Reserved));
        assert_eq!(Code::of(253), Code::Special(Special::Scc));
    }

    #[test]
    fn scalar_offsets() {
        let offset = |code| Code::of(code).scalar(Enc::Mubuf, 0);
        assert_eq!(offset(5), Src::Sgpr(5));
        assert_eq!(offset(130), Src::Const(2));
        assert_eq!(offset(193), Src::Const(0xffff_ffff));
        // 1.0
        assert_eq!(offset(242), Src::Const(0x3f80_0000));
        assert_eq!(offset(253), Src::Special(Special::Scc));
    }
}
