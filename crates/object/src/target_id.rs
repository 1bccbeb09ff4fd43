//! Target ids: the triple, processor and feature settings that code was made for, as strings and as `e_flags`.
//!
//! Every code object version spells them differently:
//!
//! | version | example |
//! |---|---|
//! | v2 | `amdgcn-amd-amdhsa--gfx901` (an odd stepping says XNACK) |
//! | v3 | `amdgcn-amd-amdhsa--gfx90a+xnack+sram-ecc` |
//! | v4 to v6 | `amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-` |

use crate::elf;
use std::fmt;
use wavemill_isa::target::{self, Processor, Target};

/// The operating system of a triple, which chooses the runtime's conventions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Os {
    /// None of the others.
    #[default]
    Unknown,
    /// `amdhsa`: ROCm.
    Hsa,
    /// `amdpal`: AMD's graphics drivers.
    Pal,
    /// `mesa3d`.
    Mesa3d,
}

impl Os {
    /// The system named by a triple's third part.
    pub fn from_name(name: &str) -> Os {
        match name {
            n if n.starts_with("amdhsa") => Os::Hsa,
            n if n.starts_with("amdpal") => Os::Pal,
            n if n.starts_with("mesa3d") => Os::Mesa3d,
            _ => Os::Unknown,
        }
    }

    /// How target ids and triples spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Os::Unknown => "unknown",
            Os::Hsa => "amdhsa",
            Os::Pal => "amdpal",
            Os::Mesa3d => "mesa3d",
        }
    }

    /// `EI_OSABI` of its code objects.
    pub const fn elf_os_abi(self) -> u8 {
        match self {
            Os::Unknown => elf::ELFOSABI_NONE,
            Os::Hsa => elf::ELFOSABI_AMDGPU_HSA,
            Os::Pal => elf::ELFOSABI_AMDGPU_PAL,
            Os::Mesa3d => elf::ELFOSABI_AMDGPU_MESA3D,
        }
    }

    /// The system of an `EI_OSABI` value.
    pub const fn from_elf_os_abi(abi: u8) -> Os {
        match abi {
            elf::ELFOSABI_AMDGPU_HSA => Os::Hsa,
            elf::ELFOSABI_AMDGPU_PAL => Os::Pal,
            elf::ELFOSABI_AMDGPU_MESA3D => Os::Mesa3d,
            _ => Os::Unknown,
        }
    }
}

/// How code stands to a feature that the runtime may have on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Setting {
    /// The processor has no such feature.
    #[default]
    Unsupported,
    /// The code runs either way.
    Any,
    /// The feature must be off.
    Off,
    /// The feature must be on.
    On,
}

impl Setting {
    fn from_request(supported: bool, request: Option<bool>) -> Setting {
        match (supported, request) {
            (false, _) => Setting::Unsupported,
            (true, None) => Setting::Any,
            (true, Some(false)) => Setting::Off,
            (true, Some(true)) => Setting::On,
        }
    }

    /// True when the code must cope with the feature being on.
    pub const fn is_on_or_any(self) -> bool {
        matches!(self, Setting::On | Setting::Any)
    }

    /// What was asked for: `None` when any will do or there is no such feature.
    pub const fn request(self) -> Option<bool> {
        match self {
            Setting::On => Some(true),
            Setting::Off => Some(false),
            _ => None,
        }
    }

    /// The two bits of `e_flags` v4, unshifted.
    const fn bits(self) -> u32 {
        self as u32
    }

    fn from_bits(bits: u32) -> Setting {
        [Setting::Unsupported, Setting::Any, Setting::Off, Setting::On][(bits & 3) as usize]
    }
}

/// A target id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetId {
    /// First part of the triple, `amdgcn`.
    pub arch: String,
    /// Second part, `amd`.
    pub vendor: String,
    /// Third part, `amdhsa`.
    pub os_name: String,
    /// Fourth part, mostly empty.
    pub environment: String,
    /// Processor, `gfx90a`. Not necessarily one Wavemill has an instruction table for.
    pub processor: String,
    /// XNACK replay.
    pub xnack: Setting,
    /// SRAM ECC.
    pub sramecc: Setting,
}

impl TargetId {
    /// The target id of a triple (`amdgcn-amd-amdhsa`, possibly shorter) and what code is assembled for.
    ///
    /// Missing parts print as `unknown` for vendor and system and as nothing for the environment.
    pub fn new(triple: &str, target: &Target) -> TargetId {
        let mut parts = triple.splitn(4, '-');
        let mut part = |default: &str| {
            let p = parts.next().unwrap_or("");
            if p.is_empty() { default.to_string() } else { p.to_string() }
        };
        let (arch, vendor, os_name) = (part("amdgcn"), part("unknown"), part("unknown"));
        TargetId {
            arch,
            vendor,
            os_name,
            environment: part(""),
            processor: target.cpu.name.to_string(),
            xnack: Setting::from_request(target.cpu.xnack.is_some(), target.xnack),
            sramecc: Setting::from_request(target.cpu.sramecc, target.sramecc),
        }
    }

    /// A processor of HSA with nothing said about its features.
    pub fn hsa(processor: &str) -> TargetId {
        let cpu = target::processor(processor);
        TargetId {
            arch: "amdgcn".into(),
            vendor: "amd".into(),
            os_name: "amdhsa".into(),
            environment: String::new(),
            processor: processor.into(),
            xnack: Setting::from_request(cpu.is_some_and(|c| c.xnack.is_some()), None),
            sramecc: Setting::from_request(cpu.is_some_and(|c| c.sramecc), None),
        }
    }

    /// The operating system.
    pub fn os(&self) -> Os {
        Os::from_name(&self.os_name)
    }

    /// The processor's entry, when Wavemill knows it.
    pub fn cpu(&self) -> Option<&'static Processor> {
        target::processor(&self.processor)
    }

    /// What to assemble or disassemble for, when Wavemill knows the processor.
    pub fn target(&self) -> Option<Target> {
        let cpu = self.cpu()?;
        Some(Target { xnack: self.xnack.request(), sramecc: self.sramecc.request(), ..Target::new(cpu) })
    }

    /// The string that code objects of `version` use; v4's for any version from 4 on.
    pub fn spelling(&self, version: u8) -> String {
        let base = format!("{}-{}-{}-{}-", self.arch, self.vendor, self.os_name, self.environment);
        match version {
            ..=2 => base + self.v2_processor(),
            3 => {
                let xnack = if self.xnack.is_on_or_any() { "+xnack" } else { "" };
                let sramecc = if self.sramecc.is_on_or_any() { "+sram-ecc" } else { "" };
                base + &self.processor + xnack + sramecc
            }
            _ => format!("{self}"),
        }
    }

    /// The processor's name in code object v2, where XNACK has processors of its own.
    fn v2_processor(&self) -> &str {
        let twin = target::XNACK_NAMES.iter().find(|n| n.1 == self.processor);
        twin.filter(|_| self.xnack.is_on_or_any()).map_or(&self.processor, |n| n.0)
    }

    /// ISA version (major, minor, stepping) as v2's `.hsa_code_object_isa` gives it.
    pub fn v2_isa_version(&self) -> Option<(u8, u8, u8)> {
        let cpu = self.cpu()?;
        let (major, minor, stepping) = cpu.version;
        let moved = self.v2_processor() != self.processor;
        Some((major, minor, stepping + u8::from(moved)))
    }

    /// The target of an ISA version in a note or directive of code objects v1 and v2, which have no word for features:
    /// GFX9 with XNACK has steppings of its own, the others are as their processors are.
    pub fn from_isa_version(major: u32, minor: u32, stepping: u32) -> Option<TargetId> {
        let mut id = TargetId::parse(&format!("amdgcn-amd-amdhsa--gfx{major}{minor}{stepping:x}")).ok()?.0;
        if id.xnack == Setting::Any {
            let twin = target::XNACK_NAMES.iter().any(|n| n.1 == id.processor);
            let on = !twin && id.cpu().is_some_and(|c| c.xnack == Some(true));
            id.xnack = if on { Setting::On } else { Setting::Off };
        }
        Some(id)
    }

    /// `e_flags` of a code object of `version` (2 to 6).
    pub fn e_flags(&self, version: u8) -> u32 {
        let mach = self.cpu().map_or_else(
            || elf::FOREIGN_MACHINES.iter().find(|m| m.1 == self.processor).map_or(0, |m| m.0),
            |p| p.mach,
        );
        let mut flags = u32::from(mach);
        // Only HSA has the four-valued settings; PAL, Mesa3D and unknown systems stay with v3's bits.
        if version >= 4 && self.os() == Os::Hsa {
            flags |= self.xnack.bits() << 8 | self.sramecc.bits() << 10;
            if version >= 6 && self.cpu().is_some_and(|c| c.is_generic()) {
                flags |= elf::GENERIC_VERSION << elf::GENERIC_VERSION_SHIFT;
            }
        } else {
            if self.xnack.is_on_or_any() {
                flags |= elf::EF_AMDGPU_FEATURE_XNACK_V3;
            }
            if self.sramecc.is_on_or_any() {
                flags |= elf::EF_AMDGPU_FEATURE_SRAMECC_V3;
            }
        }
        flags
    }

    /// The target id that an ELF header states: `EI_OSABI`, `EI_ABIVERSION` and `e_flags`.
    /// `None` when the processor's number is unknown (code object v1 leaves it 0).
    pub fn from_e_flags(os_abi: u8, abi_version: u8, flags: u32) -> Option<TargetId> {
        let processor = elf::machine_name((flags & elf::EF_AMDGPU_MACH) as u8)?;
        let os = Os::from_elf_os_abi(os_abi);
        let (xnack, sramecc) = if os == Os::Hsa && abi_version >= 2 {
            (Setting::from_bits(flags >> 8), Setting::from_bits(flags >> 10))
        } else {
            let cpu = target::processor(processor);
            let setting = |supported: bool, bit: u32| match (supported, flags & bit != 0) {
                (_, true) => Setting::On,
                (true, false) => Setting::Off,
                (false, false) => Setting::Unsupported,
            };
            (
                setting(cpu.is_some_and(|c| c.xnack.is_some()), elf::EF_AMDGPU_FEATURE_XNACK_V3),
                setting(cpu.is_some_and(|c| c.sramecc), elf::EF_AMDGPU_FEATURE_SRAMECC_V3),
            )
        };
        let vendor = if os == Os::Mesa3d { "mesa" } else { "amd" };
        Some(TargetId {
            arch: "amdgcn".into(),
            vendor: vendor.into(),
            os_name: os.name().into(),
            environment: String::new(),
            processor: processor.into(),
            xnack,
            sramecc,
        })
    }

    /// Reads a target id of any version, and says which style it has: 3 for v3's `+xnack`, 4 for v4's `:xnack+`,
    /// `None` for one without features, which all versions share.
    ///
    /// ```
    /// use wavemill_object::target_id::{Setting, TargetId};
    /// let (id, style) = TargetId::parse("amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-").unwrap();
    /// assert_eq!((id.sramecc, id.xnack, style), (Setting::On, Setting::Off, Some(4)));
    /// ```
    pub fn parse(text: &str) -> Result<(TargetId, Option<u8>), String> {
        let mut parts = text.splitn(5, '-');
        let mut next = |what: &str| parts.next().ok_or_else(|| format!("target id '{text}' has no {what}"));
        let (arch, vendor) = (next("architecture")?, next("vendor")?);
        let (os_name, environment, rest) = (next("system")?, next("environment")?, next("processor")?);
        let (name, features, style) = match rest.find([':', '+']) {
            None => (rest, "", None),
            Some(at) if rest.as_bytes()[at] == b':' => (&rest[..at], &rest[at + 1..], Some(4)),
            Some(at) => (&rest[..at], &rest[at + 1..], Some(3)),
        };
        // Code object v2's processors with XNACK, and any alternative name.
        let renamed = target::XNACK_NAMES.iter().find(|r| r.0 == name);
        let cpu = target::processor(renamed.map_or(name, |r| r.1));
        let processor = renamed.map_or_else(|| cpu.map_or(name, |c| c.name), |r| r.1);
        if processor.is_empty() {
            return Err(format!("target id '{text}' has no processor"));
        }
        let unsaid = if style == Some(3) { Some(false) } else { None };
        let mut id = TargetId {
            arch: arch.into(),
            vendor: vendor.into(),
            os_name: os_name.into(),
            environment: environment.into(),
            processor: processor.into(),
            xnack: Setting::from_request(cpu.is_some_and(|c| c.xnack.is_some()), unsaid),
            sramecc: Setting::from_request(cpu.is_some_and(|c| c.sramecc), unsaid),
        };
        if renamed.is_some() {
            id.xnack = Setting::On;
        }
        let separator = if style == Some(3) { '+' } else { ':' };
        for feature in features.split(separator).filter(|_| style.is_some()) {
            let (name, on) = match (style, feature.strip_suffix('+'), feature.strip_suffix('-')) {
                (Some(3), _, _) => (feature, true),
                (_, Some(name), _) => (name, true),
                (_, _, Some(name)) => (name, false),
                _ => {
                    return Err(format!(
                        "feature '{feature}' in target id '{text}' ends in neither '+' nor '-'"
                    ));
                }
            };
            let setting = if on { Setting::On } else { Setting::Off };
            match name {
                "xnack" => id.xnack = setting,
                "sramecc" | "sram-ecc" => id.sramecc = setting,
                _ => return Err(format!("unknown feature '{name}' in target id '{text}'")),
            }
        }
        Ok((id, style))
    }
}

/// The spelling of code object v4 and later.
impl fmt::Display for TargetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}-{}-{}", self.arch, self.vendor, self.os_name, self.environment, self.processor)?;
        if self.os() == Os::Hsa {
            for (name, setting) in [("sramecc", self.sramecc), ("xnack", self.xnack)] {
                match setting.request() {
                    Some(true) => write!(f, ":{name}+")?,
                    Some(false) => write!(f, ":{name}-")?,
                    None => {}
                }
            }
        }
        Ok(())
    }
}

/// `EI_ABIVERSION` of a code object: the version less two for HSA, 0 elsewhere.
pub const fn abi_version(os: Os, version: u8) -> u8 {
    match os {
        Os::Hsa => version.saturating_sub(2),
        _ => 0,
    }
}
