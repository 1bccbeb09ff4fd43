//! S_GETREG and S_SETREG: what hardware registers show of a wave (manual 3.4, 3.5, 3.10, 5.8).

use crate::hwreg::{Hwreg, Select, status};
use crate::state::State;
use wavemill_isa::Level;
use wavemill_isa::info::WaitCounts;

/// What a wave reads.
pub fn value(register: Hwreg, wave: &impl State) -> u32 {
    let flag = |is: bool, bit: u32| if is { bit } else { 0 };
    match register {
        Hwreg::Mode => wave.mode(),
        Hwreg::Status => {
            wave.status() & !status::DERIVED
                | flag(wave.scc(), status::SCC)
                | flag(wave.exec() == 0, status::EXECZ)
                | flag(wave.vcc() == 0, status::VCCZ)
                | status::VALID
        }
        Hwreg::Trapsts => wave.trapsts(),
        Hwreg::HwId => wave.hw_id(),
        Hwreg::GprAlloc => {
            // Bases and sizes are in granules, the latter minus one.
            let granules = |n: u32, granule: u32| n.div_ceil(granule).saturating_sub(1);
            let allocation = wave.allocation();
            let sgprs = (granules((allocation.sgprs as u32).min(112), 8) & 15) << 24;
            let (vgprs, agprs) = (allocation.vgprs as u32, allocation.agprs as u32);
            let bases = wave.bases();
            let first = (bases.sgprs / 8) & 63;
            match wave.level() {
                // Not what the manual's table says, which has no room for 512 registers: AMD's driver finds the
                // size in granules of eight in 11:6 and where accumulators begin in 17:12.
                Level::Gfx90a => {
                    (bases.vgprs / 8) & 63
                        | (granules(vgprs + agprs, 8) & 63) << 6
                        | (granules(vgprs, 4) & 63) << 12
                        | first << 18
                        | sgprs
                }
                _ => (bases.vgprs / 4) & 63 | (granules(vgprs, 4) & 63) << 8 | first << 16 | sgprs,
            }
        }
        // In units of 64 dwords.
        Hwreg::LdsAlloc => (wave.bases().lds / 256) & 0xff | wave.lds_allocated().div_ceil(256) << 12,
        // Table 17. Instructions of the VALU are over when the next one runs.
        Hwreg::IbSts => {
            let WaitCounts { vm, lgkm, exp } = wave.under_way();
            let (vm, lgkm, exp) = (u32::from(vm), u32::from(lgkm), u32::from(exp));
            vm & 15 | (exp & 7) << 4 | (lgkm & 15) << 8 | (vm >> 4 & 3) << 22
        }
        Hwreg::ShMemBases => {
            let apertures = wave.apertures();
            (apertures.private >> 48) as u32 | ((apertures.shared >> 48) as u32) << 16
        }
        Hwreg::TbaLo => wave.trap_handler() as u32,
        Hwreg::TbaHi => (wave.trap_handler() >> 32) as u32,
        Hwreg::TmaLo => wave.trap_memory() as u32,
        Hwreg::TmaHi => (wave.trap_memory() >> 32) as u32,
    }
}

/// Writes a field's writable bits.
pub fn set(register: Hwreg, select: Select, to: u32, wave: &mut impl State) {
    let writable = register.writable(wave.privileged());
    let new = select.set(value(register, wave), to, writable);
    match register {
        Hwreg::Mode => wave.set_mode(new),
        Hwreg::Trapsts => wave.set_trapsts(new),
        Hwreg::Status if writable != 0 => {
            wave.set_scc(new & status::SCC != 0);
            wave.set_status(new & !status::DERIVED);
        }
        _ => {}
    }
}
