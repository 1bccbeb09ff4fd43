//! Counters of memory operations under way: which of them an instruction raises, and what S_WAITCNT waits for (manual
//! 4.4). Which instruction holds which counter is in the table.

use wavemill_isa::info::Waits;
use wavemill_isa::row::counter;
use wavemill_isa::{Level, Row};

/// A number for each counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// VM_CNT: vector memory.
    pub vm: u8,
    /// EXP_CNT: exports and GDS.
    pub exp: u8,
    /// LGKM_CNT: LDS, GDS, scalar memory and messages.
    pub lgkm: u8,
}

impl Counters {
    /// What S_WAITCNT's constant waits for: each counter at most this.
    pub const fn awaited(imm: u16, level: Level) -> Counters {
        let Waits { vm, lgkm, exp } = Waits::decode(imm as u32, level);
        Counters { vm, exp, lgkm }
    }

    /// By how much an instruction raises each counter when it is issued.
    pub const fn raised(row: &Row) -> Counters {
        const fn bit(counters: u16, bit: u16) -> u8 {
            (counters & bit != 0) as u8
        }
        let c = row.counters;
        Counters { vm: bit(c, counter::VM), exp: bit(c, counter::EXP), lgkm: bit(c, counter::LGKM) }
    }

    /// Whether there is nothing to count.
    pub const fn is_zero(self) -> bool {
        self.vm == 0 && self.exp == 0 && self.lgkm == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LLVM's encodings of `s_waitcnt vmcnt(0)`, of `vmcnt(63) expcnt(7) lgkmcnt(15)` on gfx900 and of `lgkmcnt(0)` on
    /// gfx803.
    #[test]
    fn constants() {
        let none = Counters { vm: 63, exp: 7, lgkm: 15 };
        assert_eq!(Counters::awaited(0x0f70, Level::Gfx900), Counters { vm: 0, ..none });
        assert_eq!(Counters::awaited(0xcf7f, Level::Gfx900), none);
        assert_eq!(Counters::awaited(0x007f, Level::Gfx8), Counters { vm: 15, exp: 7, lgkm: 0 });
    }
}
