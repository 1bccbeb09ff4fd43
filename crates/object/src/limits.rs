//! How many registers and how much LDS there are, how they are handed out, and how many waves fit.

use wavemill_isa::target::{Level, Processor};

/// SGPRs that a kernel must ask for on processors with the SGPR initialisation bug.
pub const SGPRS_FOR_INIT_BUG: u32 = 96;
/// SGPRs that a trap handler takes from each wave.
pub const TRAP_SGPRS: u32 = 16;
/// Lanes of a wavefront.
pub const WAVE_SIZE: u32 = 64;
/// SIMD units of a compute unit.
pub const SIMDS_PER_CU: u32 = 4;
/// User SGPRs that a kernel can ask for.
pub const MAX_USER_SGPRS: u32 = 16;
/// Largest work-group, in work-items.
pub const MAX_WORKGROUP_SIZE: u32 = 1024;
/// Work-groups of more than one wave that a compute unit has barriers for.
pub const BARRIERS_PER_CU: u32 = 16;

/// The register files, LDS and wave slots of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The compute_pgm_rsrc1 field counts VGPRs in units of this.
    pub vgpr_encoding_granule: u32,
    /// VGPRs are handed out in units of this.
    pub vgpr_alloc_granule: u32,
    /// VGPRs of a SIMD per lane.
    pub total_vgprs: u32,
    /// Most VGPRs that one wave can have, AccVGPRs included where the file is shared.
    pub addressable_vgprs: u32,
    /// The compute_pgm_rsrc1 field counts SGPRs in units of this.
    pub sgpr_encoding_granule: u32,
    /// SGPRs are handed out in units of this.
    pub sgpr_alloc_granule: u32,
    /// SGPRs of a SIMD.
    pub total_sgprs: u32,
    /// Most SGPRs that one wave can name, without VCC and its like.
    pub addressable_sgprs: u32,
    /// LDS bytes of a compute unit.
    pub lds_bytes: u32,
    /// LDS is handed out in units of this many bytes.
    pub lds_granule: u32,
    /// Most waves of a SIMD.
    pub waves_per_simd: u32,
}

/// What limits the number of waves on a SIMD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limiter {
    /// Nothing: every wave slot is used.
    WaveSlots,
    /// Vector registers.
    Vgprs,
    /// Scalar registers.
    Sgprs,
    /// Local memory.
    Lds,
    /// The size of the work-group.
    WorkGroup,
}

impl Limiter {
    /// A word for reports.
    pub const fn name(self) -> &'static str {
        match self {
            Limiter::WaveSlots => "wave slots",
            Limiter::Vgprs => "VGPRs",
            Limiter::Sgprs => "SGPRs",
            Limiter::Lds => "LDS",
            Limiter::WorkGroup => "work-group size",
        }
    }
}

impl Limits {
    /// The limits of a processor.
    pub fn of(cpu: &Processor) -> Limits {
        let gfx90a = cpu.level == Level::Gfx90a;
        let generation = cpu.level.generation();
        let vgpr_granule = if gfx90a { 8 } else { 4 };
        let vgprs = if gfx90a { 512 } else { 256 };
        Limits {
            vgpr_encoding_granule: vgpr_granule,
            vgpr_alloc_granule: vgpr_granule,
            total_vgprs: vgprs,
            addressable_vgprs: vgprs,
            // GFX9's field counts sixteens in the guide's table, but every assembler writes eights, and the
            // hardware rounds up when it allocates.
            sgpr_encoding_granule: 8,
            sgpr_alloc_granule: if generation >= 8 { 16 } else { 8 },
            total_sgprs: if generation >= 8 { 800 } else { 512 },
            addressable_sgprs: match (cpu.sgpr_init_bug, generation >= 8) {
                (true, _) => SGPRS_FOR_INIT_BUG,
                (false, true) => 102,
                (false, false) => 104,
            },
            lds_bytes: if generation >= 7 { 65536 } else { 32768 },
            lds_granule: if generation >= 7 { 512 } else { 256 },
            waves_per_simd: if gfx90a { 8 } else { 10 },
        }
    }

    /// `count` VGPRs as compute_pgm_rsrc1 has them: granules less one.
    pub fn vgpr_blocks(&self, count: u32) -> u32 {
        count.max(1).div_ceil(self.vgpr_encoding_granule) - 1
    }

    /// `count` SGPRs, extra ones included, as compute_pgm_rsrc1 has them: granules less one.
    pub fn sgpr_blocks(&self, count: u32) -> u32 {
        count.max(1).div_ceil(self.sgpr_encoding_granule) - 1
    }

    /// Waves per SIMD that `vgprs` registers allow.
    pub fn waves_by_vgprs(&self, vgprs: u32) -> u32 {
        if vgprs < self.vgpr_alloc_granule {
            return self.waves_per_simd;
        }
        let rounded = vgprs.next_multiple_of(self.vgpr_alloc_granule);
        (self.total_vgprs / rounded).clamp(1, self.waves_per_simd)
    }

    /// Waves per SIMD that `sgprs` registers, extra ones included, allow.
    pub fn waves_by_sgprs(&self, sgprs: u32) -> u32 {
        let rounded = sgprs.max(1).next_multiple_of(self.sgpr_alloc_granule);
        (self.total_sgprs / rounded).clamp(1, self.waves_per_simd)
    }

    /// Waves per SIMD that a work-group of `work_items` needing `lds` bytes allows.
    pub fn waves_by_lds(&self, lds: u32, work_items: u32) -> u32 {
        let waves = work_items.max(1).div_ceil(WAVE_SIZE);
        if lds == 0 {
            return self.waves_per_simd;
        }
        let groups = self.lds_bytes / lds.next_multiple_of(self.lds_granule).min(self.lds_bytes);
        (groups * waves).div_ceil(SIMDS_PER_CU).clamp(1, self.waves_per_simd)
    }

    /// Waves per SIMD that whole work-groups of `work_items` allow.
    pub fn waves_by_work_group(&self, work_items: u32) -> u32 {
        let waves = work_items.max(1).div_ceil(WAVE_SIZE);
        let slots = self.waves_per_simd * SIMDS_PER_CU;
        let groups = if waves == 1 { slots } else { (slots / waves).min(BARRIERS_PER_CU) };
        (groups * waves).div_ceil(SIMDS_PER_CU).clamp(1, self.waves_per_simd)
    }

    /// How many waves of a kernel fit on a SIMD, and what keeps it from being more.
    pub fn occupancy(&self, vgprs: u32, sgprs: u32, lds: u32, work_items: u32) -> (u32, Limiter) {
        let bounds = [
            (self.waves_per_simd, Limiter::WaveSlots),
            (self.waves_by_vgprs(vgprs), Limiter::Vgprs),
            (self.waves_by_sgprs(sgprs), Limiter::Sgprs),
            (self.waves_by_lds(lds, work_items), Limiter::Lds),
            (self.waves_by_work_group(work_items), Limiter::WorkGroup),
        ];
        // The first of equal bounds names the limiter.
        bounds.into_iter().reduce(|least, b| if b.0 < least.0 { b } else { least }).unwrap_or(bounds[0])
    }
}

/// SGPRs at the top of a wave's allocation for VCC, FLAT_SCRATCH and XNACK_MASK. Each is there only when the ones
/// above it are, so the highest wanted decides.
pub fn extra_sgprs(generation: u8, vcc: bool, flat_scratch: bool, xnack: bool) -> u32 {
    let base = if vcc { 2 } else { 0 };
    match generation {
        ..=7 if flat_scratch => 4,
        8.. if flat_scratch => 6,
        8.. if xnack => 4,
        _ => base,
    }
}

/// VGPRs of a wave in all: on gfx90a the AccVGPRs follow the others at a multiple of four, elsewhere both files
/// are as large as the larger need.
pub fn total_vgprs(level: Level, vgprs: u32, agprs: u32) -> u32 {
    if level == Level::Gfx90a && agprs > 0 { vgprs.next_multiple_of(4) + agprs } else { vgprs.max(agprs) }
}
