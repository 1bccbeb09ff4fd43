//! Processors: the names people give them, the instruction-set level each one has, and the features that
//! can be switched on or off for it.
//!
//! The names are those of the AMDGPU guide's processor table with their marketing alternatives, and the later
//! GFX9 members; a generic processor stands for several. Where the guide's old table and today's tools disagree (`bonaire` was once gfx700, now gfx704),
//! today's meaning is taken, since that is what assemblers put into the ELF header.

/// An instruction-set level: processors of one level accept the same instructions with the same opcodes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
#[repr(u8)]
pub enum Level {
    /// Southern Islands, gfx600 to gfx602.
    Gfx6,
    /// Sea Islands, gfx700 to gfx705.
    Gfx7,
    /// Volcanic Islands, gfx800 to gfx810.
    Gfx8,
    /// Vega: gfx900, gfx902, gfx909 and gfx90c.
    Gfx900,
    /// gfx904: Vega with the fused mix instructions.
    Gfx904,
    /// Vega 20.
    Gfx906,
    /// MI100.
    Gfx908,
    /// MI200.
    Gfx90a,
}

impl Level {
    /// All levels, oldest first.
    pub const ALL: [Level; 8] = [
        Level::Gfx6,
        Level::Gfx7,
        Level::Gfx8,
        Level::Gfx900,
        Level::Gfx904,
        Level::Gfx906,
        Level::Gfx908,
        Level::Gfx90a,
    ];

    /// The generation's number: 6, 7, 8 or 9.
    pub const fn generation(self) -> u8 {
        match self {
            Level::Gfx6 => 6,
            Level::Gfx7 => 7,
            Level::Gfx8 => 8,
            _ => 9,
        }
    }

    /// How `isa/*.isa` and messages spell the level.
    pub const fn name(self) -> &'static str {
        ["gfx6", "gfx7", "gfx8", "gfx900", "gfx904", "gfx906", "gfx908", "gfx90a"][self as usize]
    }

    /// The constant clock that S_MEMREALTIME counts, in MHz: 27 on gfx900 (hearsay: microsoft/mscclpp #237), 25 on gfx906,
    /// gfx908 and gfx90a (ROCm/rccl #1652), and here on those that nobody has written about.
    pub const fn real_time_mhz(self) -> u32 {
        if matches!(self, Level::Gfx900) { 27 } else { 25 }
    }

    /// Bits of HW_ID's shader engine: three on gfx908 and gfx90a (aqlprofile's register headers, HIP's __smid), two before.
    pub const fn se_id_bits(self) -> u32 {
        if self as u8 >= Level::Gfx908 as u8 { 3 } else { 2 }
    }

    /// True from GFX8 on: the opcode maps and field positions that Volcanic Islands introduced.
    pub const fn is_vi_plus(self) -> bool {
        self as u8 >= Level::Gfx8 as u8
    }

    /// True for every GFX9 level.
    pub const fn is_gfx9(self) -> bool {
        self as u8 >= Level::Gfx900 as u8
    }
}

/// One processor: what its name selects.
#[derive(Debug, PartialEq, Eq)]
pub struct Processor {
    /// Canonical name, `gfxNNN`.
    pub name: &'static str,
    /// Other names that select it.
    pub aliases: &'static [&'static str],
    /// Major, minor and stepping of the ISA version.
    pub version: (u8, u8, u8),
    /// Its instruction-set level.
    pub level: Level,
    /// `EF_AMDGPU_MACH` value in ELF `e_flags`.
    pub mach: u8,
    /// XNACK replay: `None` when the processor has none, else whether it is on by default.
    pub xnack: Option<bool>,
    /// SRAM ECC as a target feature.
    pub sramecc: bool,
    /// The SGPR initialisation bug of Tonga and Iceland: kernels must allocate 96 SGPRs.
    pub sgpr_init_bug: bool,
    /// For a generic processor, those that run its code; empty for all others.
    pub covers: &'static [&'static str],
}

impl Processor {
    /// Whether it stands for several processors: code for it has what all of them have.
    pub const fn is_generic(&self) -> bool {
        !self.covers.is_empty()
    }

    /// Whether it runs code for `code`.
    pub fn runs(&self, code: &Processor) -> bool {
        self == code || code.covers.contains(&self.name)
    }

    /// A processor that can be built: itself, or the first that a generic one covers.
    pub fn concrete(&'static self) -> &'static Processor {
        self.covers.first().and_then(|name| processor(name)).unwrap_or(self)
    }
}

const fn cpu(
    name: &'static str,
    aliases: &'static [&'static str],
    version: (u8, u8, u8),
    level: Level,
    mach: u8,
    xnack: Option<bool>,
    sramecc: bool,
) -> Processor {
    Processor {
        name,
        aliases,
        version,
        level,
        mach,
        xnack,
        sramecc,
        sgpr_init_bug: matches!(mach, 0x29 | 0x3c),
        covers: &[],
    }
}

/// What `gfx9-generic` covers (AMDGPU guide of LLVM 19, "Generic processors"): neither gfx908 nor gfx90a.
const GFX9: &[&str] = &["gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"];

/// Every processor Wavemill knows.
pub static PROCESSORS: &[Processor] = &[
    cpu("gfx600", &["tahiti"], (6, 0, 0), Level::Gfx6, 0x20, None, false),
    cpu("gfx601", &["pitcairn", "verde"], (6, 0, 1), Level::Gfx6, 0x21, None, false),
    cpu("gfx602", &["hainan", "oland"], (6, 0, 2), Level::Gfx6, 0x3a, None, false),
    cpu("gfx700", &["kaveri"], (7, 0, 0), Level::Gfx7, 0x22, None, false),
    cpu("gfx701", &["hawaii"], (7, 0, 1), Level::Gfx7, 0x23, None, false),
    cpu("gfx702", &[], (7, 0, 2), Level::Gfx7, 0x24, None, false),
    cpu("gfx703", &["kabini", "mullins"], (7, 0, 3), Level::Gfx7, 0x25, None, false),
    cpu("gfx704", &["bonaire"], (7, 0, 4), Level::Gfx7, 0x26, None, false),
    cpu("gfx705", &[], (7, 0, 5), Level::Gfx7, 0x3b, None, false),
    cpu("gfx801", &["carrizo"], (8, 0, 1), Level::Gfx8, 0x28, Some(true), false),
    cpu("gfx802", &["iceland", "tonga", "gfx800"], (8, 0, 2), Level::Gfx8, 0x29, None, false),
    cpu("gfx803", &["fiji", "polaris10", "polaris11", "gfx804"], (8, 0, 3), Level::Gfx8, 0x2a, None, false),
    cpu("gfx805", &["tongapro"], (8, 0, 5), Level::Gfx8, 0x3c, None, false),
    cpu("gfx810", &["stoney"], (8, 1, 0), Level::Gfx8, 0x2b, Some(true), false),
    cpu("gfx900", &["gfx901"], (9, 0, 0), Level::Gfx900, 0x2c, Some(false), false),
    cpu("gfx902", &["gfx903"], (9, 0, 2), Level::Gfx900, 0x2d, Some(true), false),
    cpu("gfx904", &[], (9, 0, 4), Level::Gfx904, 0x2e, Some(false), false),
    cpu("gfx906", &[], (9, 0, 6), Level::Gfx906, 0x2f, Some(false), true),
    cpu("gfx908", &[], (9, 0, 8), Level::Gfx908, 0x30, Some(false), true),
    cpu("gfx909", &[], (9, 0, 9), Level::Gfx900, 0x31, Some(true), false),
    cpu("gfx90a", &[], (9, 0, 10), Level::Gfx90a, 0x3f, Some(false), true),
    cpu("gfx90c", &[], (9, 0, 12), Level::Gfx900, 0x32, Some(true), false),
    Processor {
        covers: GFX9,
        ..cpu("gfx9-generic", &[], (9, 0, 0), Level::Gfx900, 0x51, Some(false), false)
    },
];

/// Names for processors with XNACK switched on, from the time when that was no feature (the AMDGPU guide's gfx901 and
/// gfx903; code object v2), and what they are called today.
pub const XNACK_NAMES: [(&str, &str); 4] =
    [("gfx901", "gfx900"), ("gfx903", "gfx902"), ("gfx905", "gfx904"), ("gfx907", "gfx906")];

/// Every name a processor can be called by.
pub fn processor_names() -> impl Iterator<Item = &'static str> {
    PROCESSORS.iter().flat_map(|p| std::iter::once(p.name).chain(p.aliases.iter().copied()))
}

/// Looks a processor up by its name or one of its alternatives.
pub fn processor(name: &str) -> Option<&'static Processor> {
    PROCESSORS.iter().find(|p| p.name == name || p.aliases.contains(&name))
}

/// A processor with its feature switches: what code is assembled or disassembled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The processor.
    pub cpu: &'static Processor,
    /// `xnack+` (`Some(true)`), `xnack-`, or not said.
    pub xnack: Option<bool>,
    /// `sramecc+`, `sramecc-`, or not said.
    pub sramecc: Option<bool>,
    /// Work-groups may be split over the compute units of a pair (gfx90a's `tgsplit`).
    pub tgsplit: bool,
}

impl Target {
    /// A processor with nothing said about its features.
    pub fn new(cpu: &'static Processor) -> Self {
        Target { cpu, xnack: None, sramecc: None, tgsplit: false }
    }

    /// The processor of a name, with XNACK on where the name says so.
    pub fn named(name: &str) -> Option<Self> {
        let on = XNACK_NAMES.iter().any(|n| n.0 == name);
        Some(Target { xnack: on.then_some(true), ..Target::new(processor(name)?) })
    }

    /// The instruction-set level.
    pub const fn level(&self) -> Level {
        self.cpu.level
    }

    /// The target as runtimes and code objects name it: `amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-`.
    pub fn isa_name(&self) -> String {
        let feature = |name: &str, on: Option<bool>| match on {
            Some(on) => format!(":{name}{}", if on { '+' } else { '-' }),
            None => String::new(),
        };
        let (sramecc, xnack) = (feature("sramecc", self.sramecc), feature("xnack", self.xnack));
        format!("amdgcn-amd-amdhsa--{}{sramecc}{xnack}", self.cpu.name)
    }

    /// Whether 16-bit image and buffer components are packed two to a register.
    pub fn packs_d16(&self) -> bool {
        self.level().is_gfx9() || self.cpu.version == (8, 1, 0)
    }

    /// Whether loads of formatted buffers take the two bits of alpha in 2_10_10_10 for an unsigned number whatever the format: before
    /// GFX9, but for Stoney (Mesa's drivers mend it after the load, `ac_gpu_info.h`).
    pub fn unsigned_alpha(&self) -> bool {
        !self.packs_d16()
    }

    /// Whether memories and registers have ECC: as asked, or where the processor has it at all.
    pub fn sramecc_enabled(&self) -> bool {
        self.cpu.sramecc && self.sramecc != Some(false)
    }

    /// Whether instructions may be replayed after a translation fault: as asked, or the processor's default.
    pub fn xnack_enabled(&self) -> bool {
        self.xnack.unwrap_or(self.cpu.xnack == Some(true))
    }
}
