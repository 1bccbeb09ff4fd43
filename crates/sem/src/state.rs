//! A wave's registers, as an engine gives them to the meanings that read and write them.

use crate::hwreg::{mode, status};
use crate::mode::Mode;
use crate::operand::Src;
use crate::trap::Cause;
use wavemill_isa::info::WaitCounts;
use wavemill_isa::{Level, regs};

/// The registers a wave has, and may write.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Allocation {
    /// Vector registers v0 up, accumulators not counted (on gfx90a: those below the accumulators).
    pub vgprs: u16,
    /// Accumulation registers a0 up: their own file on gfx908, the upper part of the one file on gfx90a.
    pub agprs: u16,
    /// Scalar registers, VCC and the like included. More than there can be means all of them.
    pub sgprs: u8,
    /// The wave is in its trap handler, whose registers it may write.
    pub privileged: bool,
}

impl Allocation {
    /// SGPRs that can be named sN: at most 104 before GFX8, 102 since.
    pub fn named_sgprs(&self, level: Level) -> u8 {
        self.sgprs.min(named_sgprs(level))
    }

    /// The register behind the file that catches writes to registers a wave does not have (manual 6.2.3). Engines have
    /// [`SPARE`] of them.
    pub fn spare(&self) -> u16 {
        self.vgprs + self.agprs
    }
}

/// SGPRs that can be named sN.
pub const fn named_sgprs(level: Level) -> u8 {
    if level.is_vi_plus() { 102 } else { 104 }
}

/// Registers behind the file that catch writes to registers a wave does not have.
pub const SPARE: usize = 32;

/// Where LDS and private memory appear in the flat address space: addresses with the same upper half.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Apertures {
    /// First address of LDS.
    pub shared: u64,
    /// First address of private memory.
    pub private: u64,
}

/// Where a wave's registers and LDS begin in those of its SIMD and compute unit: registers, and bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Bases {
    /// First vector register.
    pub vgprs: u32,
    /// First scalar register.
    pub sgprs: u32,
    /// First byte of LDS.
    pub lds: u32,
}

/// The registers of a wave, and what the hardware knows about it.
pub trait State {
    /// The instruction-set level.
    fn level(&self) -> Level;
    /// Registers the wave has.
    fn allocation(&self) -> Allocation;
    /// A scalar register by operand code; codes above 127 read as 0.
    fn sgpr(&self, code: u32) -> u32;
    /// Sets a scalar register; codes above 127 are ignored.
    fn set_sgpr(&mut self, code: u32, value: u32);
    /// A lane of a vector register, by its place in the file.
    fn vgpr(&self, register: u16, lane: u32) -> u32;
    /// Sets a lane of a vector register.
    fn set_vgpr(&mut self, register: u16, lane: u32, value: u32);
    /// All lanes of a vector register.
    fn row(&self, register: u16) -> [u32; 64] {
        std::array::from_fn(|lane| self.vgpr(register, lane as u32))
    }
    /// Sets the lanes of a vector register that a mask has.
    fn set_row(&mut self, register: u16, mask: u64, values: &[u32; 64]) {
        lanes(mask).for_each(|lane| self.set_vgpr(register, lane, values[lane as usize]));
    }
    /// Address of the next instruction: while one runs, that behind it.
    fn pc(&self) -> u64;
    /// Jumps.
    fn set_pc(&mut self, pc: u64);
    /// Scalar condition code.
    fn scc(&self) -> bool;
    /// Sets the scalar condition code.
    fn set_scc(&mut self, scc: bool);
    /// MODE.
    fn mode(&self) -> u32;
    /// Sets MODE.
    fn set_mode(&mut self, mode: u32);
    /// STATUS, without what follows from other state.
    fn status(&self) -> u32;
    /// Sets STATUS.
    fn set_status(&mut self, status: u32);
    /// TRAPSTS.
    fn trapsts(&self) -> u32;
    /// Sets TRAPSTS.
    fn set_trapsts(&mut self, trapsts: u32);
    /// HW_ID.
    fn hw_id(&self) -> u32;
    /// Memory operations that have been issued and are not over, as IB_STS counts them.
    fn under_way(&self) -> WaitCounts {
        WaitCounts::default()
    }
    /// Bytes of LDS, as LDS_ALLOC shows them.
    fn lds_allocated(&self) -> u32;
    /// Bytes of a lane's private memory that lie together: a dword, but for kernels before GFX9 that say otherwise.
    fn scratch_element(&self) -> u32 {
        4
    }
    /// Where its registers and LDS begin in those of its SIMD and compute unit.
    fn bases(&self) -> Bases;
    /// Address of the trap handler; zero: traps are left to the machine.
    fn trap_handler(&self) -> u64;
    /// Address of the trap handler's memory.
    fn trap_memory(&self) -> u64;
    /// Enters the trap handler.
    fn enter_trap(&mut self, cause: Cause);
    /// What must happen before the next instruction because of STATUS and TRAPSTS: enters the trap handler if it must,
    /// and says whether the wave is halted.
    fn service_requests(&mut self) -> bool;
    /// Counts a performance level up or down.
    fn count_level(&mut self, level: usize, up: bool);
    /// What S_MEMTIME reads.
    fn time(&self) -> u64;
    /// What S_MEMREALTIME reads: a clock of 25 MHz.
    fn real_time(&self) -> u64;
    /// Where LDS and private memory appear in the flat address space.
    fn apertures(&self) -> Apertures;
    /// Where the dispatch's scratch lies: what FLAT_SCRATCH counts from before GFX9.
    fn dispatch_scratch(&self) -> u64;
    /// Bytes of private memory each lane has; zero: not known, and not checked.
    fn scratch_bytes(&self) -> u32;

    /// Two scalar registers as one number.
    #[inline]
    fn sgpr64(&self, code: u32) -> u64 {
        self.sgpr(code) as u64 | (self.sgpr(code + 1) as u64) << 32
    }
    /// Sets two scalar registers.
    #[inline]
    fn set_sgpr64(&mut self, code: u32, value: u64) {
        self.set_sgpr(code, value as u32);
        self.set_sgpr(code + 1, (value >> 32) as u32);
    }
    /// Sets consecutive scalar registers.
    #[inline]
    fn set_sgprs(&mut self, code: u32, values: &[u32]) {
        (code..).zip(values).for_each(|(code, value)| self.set_sgpr(code, *value));
    }
    /// Sets a scalar destination of 32 or 64 bits.
    #[inline]
    fn set_scalar(&mut self, code: u8, bits: u8, value: u64) {
        match bits {
            64 => self.set_sgpr64(code as u32, value),
            _ => self.set_sgpr(code as u32, value as u32),
        }
    }
    /// EXEC.
    #[inline]
    fn exec(&self) -> u64 {
        self.sgpr64(regs::EXEC)
    }
    /// Sets EXEC.
    #[inline]
    fn set_exec(&mut self, exec: u64) {
        self.set_sgpr64(regs::EXEC, exec);
    }
    /// VCC.
    #[inline]
    fn vcc(&self) -> u64 {
        self.sgpr64(regs::VCC)
    }
    /// M0.
    #[inline]
    fn m0(&self) -> u32 {
        self.sgpr(regs::M0)
    }
    /// MODE as float instructions see it.
    fn float_mode(&self) -> Mode {
        Mode::new(self.mode(), self.level())
    }
    /// VSKIP: vector instructions do nothing (manual 3.5).
    #[inline]
    fn skips_vector(&self) -> bool {
        self.mode() & mode::VSKIP != 0
    }
    /// The wave is in its trap handler.
    fn privileged(&self) -> bool {
        self.status() & status::PRIV != 0
    }
    /// FLAT_SCRATCH, which moved between GFX7 and GFX8.
    fn flat_scratch(&self) -> u64 {
        self.sgpr64(if self.level().is_vi_plus() { 102 } else { 104 })
    }

    /// A register of a vector operand in a lane; operands that are no VGPRs are zero.
    #[inline]
    fn lane(&self, src: Src, register: u16, lane: u32) -> u32 {
        match src {
            Src::Vgpr(r) => self.vgpr(r + register, lane),
            _ => 0,
        }
    }
    /// A vector operand in all lanes; operands that are no VGPRs are zero.
    #[inline]
    fn operand_row(&self, src: Src) -> [u32; 64] {
        match src {
            Src::Vgpr(r) => self.row(r),
            _ => [0; 64],
        }
    }
    /// Two registers of a vector operand in a lane.
    #[inline]
    fn lane64(&self, src: Src, register: u16, lane: u32) -> u64 {
        self.lane(src, register, lane) as u64 | (self.lane(src, register + 1, lane) as u64) << 32
    }
    /// A datum of 4 or 8 bytes in a lane.
    #[inline]
    fn datum(&self, src: Src, register: u16, lane: u32, bytes: u8) -> u64 {
        match bytes {
            4 => self.lane(src, register, lane) as u64,
            _ => self.lane64(src, register, lane),
        }
    }
    /// Sets a datum of 4 or 8 bytes in a lane.
    #[inline]
    fn set_datum(&mut self, register: u16, lane: u32, bytes: u8, value: u64) {
        self.set_vgpr(register, lane, value as u32);
        if bytes == 8 {
            self.set_vgpr(register + 1, lane, (value >> 32) as u32);
        }
    }
}

/// The lanes of a mask, lowest first.
#[inline]
pub fn lanes(mask: u64) -> impl Iterator<Item = u32> {
    (0..64).filter(move |l| mask >> l & 1 != 0)
}
