//! S_GETREG and S_SETREG: what hardware registers show of the wave.

use super::Exec;
use wavemill_isa::Level;
use wavemill_sem::hwreg::{Hwreg, Select, status};

impl Exec<'_> {
    /// A hardware register's field. Reserved registers are zero.
    pub(super) fn get_hwreg(&self, imm: u16) -> u32 {
        let select = Select::new(imm);
        Hwreg::from_id(select.id, self.wave.level).map_or(0, |r| select.get(self.hwreg(r)))
    }

    /// Writes a field's writable bits.
    pub(super) fn set_hwreg(&mut self, imm: u16, value: u32) {
        let select = Select::new(imm);
        let Some(register) = Hwreg::from_id(select.id, self.wave.level) else { return };
        let writable = register.writable(self.wave.privileged());
        let new = select.set(self.hwreg(register), value, writable);
        match register {
            Hwreg::Mode => self.wave.mode = new,
            Hwreg::Trapsts => self.wave.trapsts = new,
            Hwreg::Status if writable != 0 => {
                self.wave.scc = new & status::SCC != 0;
                self.wave.status = new & !status::DERIVED;
            }
            _ => {}
        }
    }

    fn hwreg(&self, register: Hwreg) -> u32 {
        let wave = &self.wave;
        let flag = |is: bool, bit: u32| if is { bit } else { 0 };
        match register {
            Hwreg::Mode => wave.mode,
            Hwreg::Status => {
                wave.status & !status::DERIVED
                    | flag(wave.scc, status::SCC)
                    | flag(wave.exec() == 0, status::EXECZ)
                    | flag(wave.vcc() == 0, status::VCCZ)
                    | status::VALID
            }
            Hwreg::Trapsts => wave.trapsts,
            Hwreg::HwId => wave.hw_id,
            Hwreg::GprAlloc => {
                // Sizes are in granules, minus one; there is nothing to say about where registers lie.
                let granules = |n: u32, granule: u32| n.div_ceil(granule).saturating_sub(1);
                let sgprs = (granules((wave.sgpr_count as u32).min(112), 8) & 15) << 24;
                let (vgprs, agprs) = (wave.shape.vgprs as u32, wave.shape.agprs as u32);
                match wave.level {
                    // Not what the manual's table says, which has no room for 512 registers: AMD's driver finds the
                    // size in granules of eight in 11:6 and where accumulators begin in 17:12.
                    Level::Gfx90a => {
                        (granules(vgprs + agprs, 8) & 63) << 6 | (granules(vgprs, 4) & 63) << 12 | sgprs
                    }
                    _ => (granules(vgprs, 4) & 63) << 8 | sgprs,
                }
            }
            // In units of 64 dwords.
            Hwreg::LdsAlloc => wave.lds_bytes.div_ceil(256) << 12,
            // Memory operations are over when the next instruction runs.
            Hwreg::IbSts => 0,
            Hwreg::ShMemBases => {
                (self.group.private_base >> 48) as u32 | ((self.group.shared_base >> 48) as u32) << 16
            }
            Hwreg::TbaLo => wave.trap_handler() as u32,
            Hwreg::TbaHi => (wave.trap_handler() >> 32) as u32,
            Hwreg::TmaLo => wave.trap_memory() as u32,
            Hwreg::TmaHi => (wave.trap_memory() >> 32) as u32,
        }
    }
}
