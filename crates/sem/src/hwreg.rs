//! Hardware registers: their numbers, their fields, and what S_GETREG and S_SETREG may do with them (manual 3.4, 3.5,
//! 3.10 and 5.8).

use wavemill_isa::Level;

/// A register that S_GETREG_B32 names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hwreg {
    /// MODE: rounding, denormals, exceptions that trap, indexing, the branch stack's pointer.
    Mode,
    /// STATUS: conditions, privilege, halt.
    Status,
    /// TRAPSTS: exceptions that have occurred.
    Trapsts,
    /// HW_ID: where the wave runs.
    HwId,
    /// GPR_ALLOC: register counts.
    GprAlloc,
    /// LDS_ALLOC: LDS size.
    LdsAlloc,
    /// IB_STS: memory operations under way.
    IbSts,
    /// SH_MEM_BASES: apertures of the flat address space (GFX9).
    ShMemBases,
    /// The lower half of the trap handler's address (GFX9; before, TBA is an operand).
    TbaLo,
    /// Its upper half.
    TbaHi,
    /// The lower half of the trap handler's memory address (GFX9; before, TMA is an operand).
    TmaLo,
    /// Its upper half.
    TmaHi,
}

impl Hwreg {
    /// By number. Reserved numbers, and those the generation does not have, are none.
    pub const fn from_id(id: u32, level: Level) -> Option<Hwreg> {
        Some(match id {
            1 => Hwreg::Mode,
            2 => Hwreg::Status,
            3 => Hwreg::Trapsts,
            4 => Hwreg::HwId,
            5 => Hwreg::GprAlloc,
            6 => Hwreg::LdsAlloc,
            7 => Hwreg::IbSts,
            15 if level.is_gfx9() => Hwreg::ShMemBases,
            16 if level.is_gfx9() => Hwreg::TbaLo,
            17 if level.is_gfx9() => Hwreg::TbaHi,
            18 if level.is_gfx9() => Hwreg::TmaLo,
            19 if level.is_gfx9() => Hwreg::TmaHi,
            _ => return None,
        })
    }

    /// The bits that S_SETREG changes. The trap handler, being privileged, may also write STATUS: that is how it gives
    /// back the condition code, halts the wave or lets it go on.
    pub const fn writable(self, privileged: bool) -> u32 {
        match self {
            Hwreg::Mode => !0,
            Hwreg::Trapsts => {
                trapsts::EXCP | trapsts::SAVECTX | trapsts::ILLEGAL | trapsts::WATCHES | trapsts::CYCLE
            }
            Hwreg::Status if privileged => {
                status::SCC
                    | status::SPI_PRIO
                    | status::USER_PRIO
                    | status::HALT
                    | status::PERF_EN
                    | status::DEBUG_USER
                    | status::DEBUG_SYS
            }
            _ => 0,
        }
    }
}

/// The operand of S_GETREG and S_SETREG, {size - 1, offset, number}, taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Select {
    /// Register number.
    pub id: u32,
    /// Lowest bit.
    pub offset: u32,
    /// Bits, 1 to 32. What reaches beyond bit 31 does not exist.
    pub size: u32,
}

impl Select {
    /// From the instruction's constant.
    pub const fn new(imm: u16) -> Select {
        Select { id: imm as u32 & 63, offset: imm as u32 >> 6 & 31, size: (imm as u32 >> 11) + 1 }
    }

    /// The selected bits in place.
    pub const fn mask(self) -> u32 {
        (((1u64 << self.size) - 1) << self.offset) as u32
    }

    /// The field's value in a register's.
    pub const fn get(self, register: u32) -> u32 {
        (register & self.mask()) >> self.offset
    }

    /// A register after a write of `value` to the field, of whose bits only `writable` ones change.
    pub const fn set(self, register: u32, value: u32, writable: u32) -> u32 {
        let mask = self.mask() & writable;
        register & !mask | value << self.offset & mask
    }
}

/// Bits of STATUS (manual 3.4).
#[allow(missing_docs)] // the manual's names
pub mod status {
    pub const SCC: u32 = 1;
    pub const SPI_PRIO: u32 = 3 << 1;
    pub const USER_PRIO: u32 = 3 << 3;
    pub const PRIV: u32 = 1 << 5;
    pub const TRAP_EN: u32 = 1 << 6;
    pub const EXECZ: u32 = 1 << 9;
    pub const VCCZ: u32 = 1 << 10;
    pub const IN_TG: u32 = 1 << 11;
    pub const IN_BARRIER: u32 = 1 << 12;
    pub const HALT: u32 = 1 << 13;
    pub const TRAP: u32 = 1 << 14;
    pub const VALID: u32 = 1 << 16;
    pub const PERF_EN: u32 = 1 << 19;
    pub const DEBUG_USER: u32 = 1 << 20;
    pub const DEBUG_SYS: u32 = 1 << 21;
    /// Accesses to pages that come later are replayed (XNACK).
    pub const ALLOW_REPLAY: u32 = 1 << 22;
    /// Bits that follow from other state and are put in when the register is read.
    pub const DERIVED: u32 = SCC | EXECZ | VCCZ | VALID;
}

/// Bits of TRAPSTS (manual 3.10.1).
#[allow(missing_docs)] // the manual's names
pub mod trapsts {
    pub const INVALID: u32 = 1;
    pub const INPUT_DENORMAL: u32 = 1 << 1;
    pub const DIVIDE_BY_ZERO: u32 = 1 << 2;
    pub const OVERFLOW: u32 = 1 << 3;
    pub const UNDERFLOW: u32 = 1 << 4;
    pub const INEXACT: u32 = 1 << 5;
    pub const INT_DIVIDE_BY_ZERO: u32 = 1 << 6;
    pub const ADDRESS_WATCH: u32 = 1 << 7;
    pub const MEMORY_VIOLATION: u32 = 1 << 8;
    /// Those that the vector ALU raises.
    pub const FLOAT: u32 = 0x7f;
    /// All of the above.
    pub const EXCP: u32 = 0x1ff;
    pub const SAVECTX: u32 = 1 << 10;
    pub const ILLEGAL: u32 = 1 << 11;
    /// Which of address watches 1 to 3 was hit.
    pub const WATCHES: u32 = 7 << 12;
    /// When in an instruction the first exception that traps occurred.
    pub const CYCLE: u32 = 0x3f << 16;
    /// The lowest bit of that field: the phase, sixteen lanes each.
    pub const CYCLE_SHIFT: u32 = 16;
}

/// Bits of MODE (manual 3.5).
#[allow(missing_docs)] // the manual's names
pub mod mode {
    /// Round mode of f32, two bits.
    pub const ROUND32_SHIFT: u32 = 0;
    /// Round mode of f64 and f16, two bits.
    pub const ROUND64_SHIFT: u32 = 2;
    /// Denormal mode of f32, two bits.
    pub const DENORM32_SHIFT: u32 = 4;
    /// Denormal mode of f64 and f16, two bits.
    pub const DENORM64_SHIFT: u32 = 6;
    pub const DX10_CLAMP: u32 = 1 << 8;
    pub const IEEE: u32 = 1 << 9;
    /// A texture access had its level of detail clamped; it stays set.
    pub const LOD_CLAMPED: u32 = 1 << 10;
    /// A trap after every instruction.
    pub const DEBUG: u32 = 1 << 11;
    /// Where the enables of [`super::trapsts::EXCP`]'s exceptions are.
    pub const EXCP_EN_SHIFT: u32 = 12;
    pub const EXCP_EN: u32 = super::trapsts::EXCP << EXCP_EN_SHIFT;
    pub const FP16_OVFL: u32 = 1 << 23;
    pub const GPR_IDX_EN: u32 = 1 << 27;
    pub const VSKIP: u32 = 1 << 28;
    /// The fork stack's pointer, three bits.
    pub const CSP_SHIFT: u32 = 29;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields() {
        // hwreg(HW_REG_MODE, 4, 4) = 1 | 4 << 6 | 3 << 11.
        let s = Select::new(1 | 4 << 6 | 3 << 11);
        assert_eq!((s.id, s.offset, s.size), (1, 4, 4));
        assert_eq!((s.get(0x3a5), s.set(0xffff, 3, !0)), (0xa, 0xff3f));
        assert_eq!(s.set(0, 0xf, 0x20), 0x20);
        let all = Select::new(2 | 31 << 11);
        assert_eq!((all.get(0x8000_0001), all.mask()), (0x8000_0001, !0));
        let beyond = Select::new(2 | 28 << 6 | 31 << 11);
        assert_eq!((beyond.get(0xf000_0000), beyond.mask()), (0xf, 0xf000_0000));
    }

    #[test]
    fn generations() {
        for id in 8..64 {
            assert_eq!(Hwreg::from_id(id, Level::Gfx8), None, "{id} is reserved before GFX9");
        }
        assert_eq!(Hwreg::from_id(15, Level::Gfx900), Some(Hwreg::ShMemBases));
        assert_eq!(Hwreg::from_id(16, Level::Gfx90a), Some(Hwreg::TbaLo));
        assert_eq!(Hwreg::Status.writable(false), 0);
    }
}
