//! Registers as an analysis wants them: one name for each dword of state, whatever field of an encoding it came from.

use crate::regs;
use crate::target::Target;
use std::fmt;

/// A register of 32 bits (SCC: one bit).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Reg {
    /// A VGPR.
    Vgpr(u8),
    /// An accumulation VGPR.
    Agpr(u8),
    /// A scalar register by its operand code, below 128: SGPRs, FLAT_SCRATCH, XNACK_MASK, VCC, TBA, TMA, the trap
    /// handler's temporaries, M0, EXEC. Two codes never are one register, but for the last SGPRs of a wave, which are
    /// VCC by another name before GFX9.
    Scalar(u8),
    /// The scalar condition code.
    Scc,
    /// A hardware register by the number S_GETREG_B32 gives it.
    Hw(u8),
}

impl Reg {
    /// VCC_LO.
    pub const VCC: Reg = Reg::Scalar(regs::VCC as u8);
    /// EXEC_LO.
    pub const EXEC: Reg = Reg::Scalar(regs::EXEC as u8);
    /// M0.
    pub const M0: Reg = Reg::Scalar(regs::M0 as u8);
    /// MODE.
    pub const MODE: Reg = Reg::Hw(1);
    /// STATUS.
    pub const STATUS: Reg = Reg::Hw(2);
    /// TRAPSTS.
    pub const TRAPSTS: Reg = Reg::Hw(3);
    /// SH_MEM_BASES, which the aperture sources show (GFX9).
    pub const SH_MEM_BASES: Reg = Reg::Hw(15);

    /// How many there are: [`Reg::index`] is below.
    pub const COUNT: usize = 256 + 256 + 128 + 1 + 64;

    /// A number of its own, for tables and sets.
    pub const fn index(self) -> usize {
        match self {
            Reg::Vgpr(n) => n as usize,
            Reg::Agpr(n) => 256 + n as usize,
            Reg::Scalar(n) => 512 + (n & 127) as usize,
            Reg::Scc => 640,
            Reg::Hw(n) => 641 + (n & 63) as usize,
        }
    }

    /// The register with a number of [`Reg::index`].
    pub const fn from_index(index: usize) -> Option<Reg> {
        Some(match index {
            0..256 => Reg::Vgpr(index as u8),
            256..512 => Reg::Agpr((index - 256) as u8),
            512..640 => Reg::Scalar((index - 512) as u8),
            640 => Reg::Scc,
            641..705 => Reg::Hw((index - 641) as u8),
            _ => return None,
        })
    }

    /// The register `n` further on; they wrap within their file.
    pub const fn offset(self, n: u8) -> Reg {
        match self {
            Reg::Vgpr(r) => Reg::Vgpr(r.wrapping_add(n)),
            Reg::Agpr(r) => Reg::Agpr(r.wrapping_add(n)),
            Reg::Scalar(r) => Reg::Scalar(r.wrapping_add(n) & 127),
            other => other,
        }
    }

    /// True for VGPRs and accumulators.
    pub const fn is_vector(self) -> bool {
        matches!(self, Reg::Vgpr(_) | Reg::Agpr(_))
    }

    /// The text of `dwords` registers from this one, as assembly writes them: `v[2:3]`, `vcc`, `mode`.
    pub fn name(self, dwords: u8, target: &Target) -> Name<'_> {
        Name { reg: self, dwords, target }
    }
}

/// A run of registers, to be displayed.
#[derive(Clone, Copy, Debug)]
pub struct Name<'a> {
    reg: Reg,
    dwords: u8,
    target: &'a Target,
}

/// The first hardware registers' names, in lower case.
const HW: [&str; 8] = ["", "mode", "status", "trapsts", "hw_id", "gpr_alloc", "lds_alloc", "ib_sts"];

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let run = |f: &mut fmt::Formatter<'_>, file: &str, first: u32| match self.dwords {
            0 | 1 => write!(f, "{file}{first}"),
            n => write!(f, "{file}[{first}:{}]", first + n as u32 - 1),
        };
        match self.reg {
            Reg::Vgpr(n) => run(f, "v", n.into()),
            Reg::Agpr(n) => run(f, "a", n.into()),
            Reg::Scc => f.write_str("scc"),
            Reg::Hw(n) => match HW.get(n as usize).filter(|name| !name.is_empty()) {
                Some(name) => f.write_str(name),
                None if n == 15 => f.write_str("sh_mem_bases"),
                None => write!(f, "hwreg({n})"),
            },
            Reg::Scalar(code) => {
                let code = code as u32;
                let (ttmp, count) = regs::ttmp_range(self.target);
                if let Some(special) = regs::special_at(code, self.dwords, self.target) {
                    f.write_str(special.name)
                } else if code >= ttmp && code < ttmp + count {
                    run(f, "ttmp", code - ttmp)
                } else {
                    run(f, "s", code)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::processor;

    #[test]
    fn numbers_lead_back() {
        for index in 0..Reg::COUNT {
            assert_eq!(Reg::from_index(index).map(Reg::index), Some(index));
        }
        assert_eq!(Reg::from_index(Reg::COUNT), None);
    }

    #[test]
    fn names_are_the_assemblers() {
        let gfx9 = Target::new(processor("gfx900").unwrap());
        let gfx7 = Target::new(processor("gfx700").unwrap());
        for (reg, dwords, target, want) in [
            (Reg::Vgpr(2), 1, &gfx9, "v2"),
            (Reg::Vgpr(2), 4, &gfx9, "v[2:5]"),
            (Reg::Agpr(255), 1, &gfx9, "a255"),
            (Reg::VCC, 2, &gfx9, "vcc"),
            (Reg::VCC.offset(1), 1, &gfx9, "vcc_hi"),
            (Reg::Scalar(102), 2, &gfx9, "flat_scratch"),
            (Reg::Scalar(102), 2, &gfx7, "s[102:103]"),
            (Reg::Scalar(104), 2, &gfx7, "flat_scratch"),
            (Reg::Scalar(108), 2, &gfx9, "ttmp[0:1]"),
            (Reg::Scalar(112), 1, &gfx7, "ttmp0"),
            (Reg::MODE, 1, &gfx9, "mode"),
            (Reg::Hw(20), 1, &gfx9, "hwreg(20)"),
            (Reg::Scc, 1, &gfx9, "scc"),
        ] {
            assert_eq!(reg.name(dwords, target).to_string(), want);
        }
    }
}
