//! Where a wave's registers are, for code that engines emit. The offsets count from the start of a [`Wave`], and do not change
//! from one version to the next without a word in the changelog.
//!
//! Scalar registers stand in the order of their operand codes, a dword each: code 106 is VCC_LO, 124 M0, 126 EXEC_LO (crate
//! `isa`'s `regs`). Vector registers are elsewhere: [`Wave::register_file`] gives the address of v0, which holds as long as the
//! wave's shape; register n is [`VGPR_BYTES`] × n bytes on, aligned to 64, lane l of it four times l bytes on. Accumulators
//! follow the other registers, and behind them all stand [`SPARE_VGPRS`] that instructions write when their destination does
//! not exist.

use crate::state::{Vgpr, Wave};
use std::mem::offset_of;

/// Offset of the PC, eight bytes.
pub const PC: usize = offset_of!(Wave, pc);
/// Offset of the 128 scalar registers, four bytes each.
pub const SGPRS: usize = offset_of!(Wave, sgprs);
/// Offset of MODE, four bytes.
pub const MODE: usize = offset_of!(Wave, mode);
/// Offset of STATUS, four bytes.
pub const STATUS: usize = offset_of!(Wave, status);
/// Offset of TRAPSTS, four bytes.
pub const TRAPSTS: usize = offset_of!(Wave, trapsts);
/// Offset of the scalar condition code, one byte: 0 or 1, and nothing else may be written there.
pub const SCC: usize = offset_of!(Wave, scc);
/// Offset of the [`Counters`](crate::Counters), eight bytes each in the order of their fields.
pub const COUNTERS: usize = offset_of!(Wave, counters);
/// Offset of the address of the instruction that accesses memory, or did so last, eight bytes: code that accesses memory by
/// itself writes it there before it does.
pub const ACCESSING: usize = offset_of!(Wave, accessing);
/// Offset of one byte: 1 when memory was written since S_WAITCNT waited, else 0.
pub const STORED: usize = offset_of!(Wave, stored);
/// Offset of a bit for each vector register that may hold something else than zeros, eight bytes; the last bit is for all
/// registers from there on. Code that writes a register sets its bit, unless the engine has begun with [`Wave::begin_run`].
pub const TOUCHED: usize = offset_of!(Wave, touched);
/// Offset of the bytes of private memory that each lane has, four bytes; 0 when nobody knows.
pub const SCRATCH_BYTES: usize = offset_of!(Wave, scratch_bytes);
/// Bytes of a vector register.
pub const VGPR_BYTES: usize = size_of::<Vgpr>();
/// Registers behind the file.
pub const SPARE_VGPRS: usize = wavemill_sem::state::SPARE;

impl Wave {
    /// Address of v0's lane 0.
    pub fn register_file(&mut self) -> *mut u32 {
        self.vgprs.as_mut_ptr().cast()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Shape;
    use wavemill_isa::target::{Target, processor};

    #[test]
    fn offsets_stay() {
        assert_eq!((PC, SGPRS, MODE, STATUS, TRAPSTS, SCC), (0, 8, 520, 524, 528, 532));
        assert_eq!((VGPR_BYTES, SPARE_VGPRS), (256, 32));
    }

    /// The wave's own methods find registers where the offsets say.
    #[test]
    fn registers_are_where_the_offsets_say() {
        let target = Target::new(processor("gfx90a").expect("a processor"));
        let mut wave = Wave::new(&target, Shape { vgprs: 8, agprs: 4 });
        let base = (&raw const wave).addr();
        assert_eq!((&raw const wave.pc).addr() - base, PC);
        assert_eq!((&raw const wave.mode).addr() - base, MODE);
        assert_eq!((&raw const wave.scc).addr() - base, SCC);
        let file = wave.register_file().addr();
        let lane = wave.vgpr(9).map(|lanes| (&raw const lanes[5]).addr());
        assert_eq!(lane, Some(file + 9 * VGPR_BYTES + 5 * 4));
        assert_eq!(file % 64, 0);
    }
}
