//! Directives of the format `amdcl2`: the container, its sections and its kernels. What they say about a kernel is
//! `config`'s.

use super::config::Config;
use super::expr::SectionId;
use super::text::Cursor;
use super::{Assembler, Res, Section, What, wrong};
use crate::suggest;
use wavemill_isa::{Target, target};
use wavemill_object::catalyst::Width;
use wavemill_object::catalyst::device::{Device, FIRST_HINTS, FIRST_INNER};
use wavemill_object::elf::{SHF_ALLOC, SHF_EXECINSTR, SHF_WRITE, SHT_NOBITS, SHT_NOTE, SHT_PROGBITS};

/// A kernel as far as it has been read.
#[derive(Clone, Debug, Default)]
pub(super) struct Kernel {
    pub name: String,
    /// SGPRs and VGPRs that its code names.
    pub used: [u32; 2],
    pub config: Option<Config>,
    /// Where its label is, with `.hsalayout`.
    pub start: Option<usize>,
}

/// What the source says about the whole container.
#[derive(Clone, Debug)]
pub(super) struct Program {
    /// The format has been chosen.
    pub chosen: bool,
    pub width: Width,
    pub device: Option<&'static Device>,
    pub driver: Option<u32>,
    pub minor: Option<u32>,
    pub stepping: Option<u32>,
    pub options: String,
    pub acl_version: String,
    pub kernels: Vec<Kernel>,
    pub kernel: Option<usize>,
    /// Sections that follow belong to the inner file.
    inner: bool,
    pub hsa_layout: bool,
    /// Kernels that code belongs to, with `.kcode`; saved ones below.
    coding: Vec<Vec<usize>>,
    /// Second dwords of sampler descriptors.
    pub samplers: Vec<u32>,
    pub sampler_places: Vec<(u64, u32)>,
    pub policy: u32,
    /// The kernel's configuration is being read.
    pub configuring: bool,
}

impl Default for Program {
    fn default() -> Program {
        Program {
            chosen: false,
            width: Width::W32,
            device: None,
            driver: None,
            minor: None,
            stepping: None,
            options: String::new(),
            acl_version: String::new(),
            kernels: Vec::new(),
            kernel: None,
            inner: false,
            hsa_layout: false,
            coding: Vec::new(),
            samplers: Vec::new(),
            sampler_places: Vec::new(),
            policy: 200,
            configuring: false,
        }
    }
}

impl Program {
    /// The kernels that code with `.hsalayout` belongs to.
    pub fn coding(&self) -> Vec<usize> {
        self.coding.last().cloned().unwrap_or_default()
    }

    /// The driver: as said, else the first one that knows the device and has inner files with hints.
    pub fn driver(&self) -> u32 {
        self.driver.unwrap_or_else(|| self.device.map_or(0, Device::first_driver).max(FIRST_HINTS))
    }

    pub fn is_old(&self) -> bool {
        self.driver() < FIRST_INNER
    }
}

/// The first device of an architecture.
fn architecture(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "gcn1.1" | "gfx7" | "ci" => "Spectre",
        "gcn1.2" | "gfx8" | "vi" => "Iceland",
        "gcn1.4" | "gfx9" | "vega" => "GFX900",
        "gcn1.4.1" | "gfx906" | "vega20" => "GFX906",
        _ => return None,
    })
}

impl Assembler<'_> {
    /// The GPU, which must have been said by now.
    pub(super) fn device(&self, at: usize) -> Res<&'static Device> {
        match self.program.device {
            Some(device) => Ok(device),
            None => wrong(at, "the GPU must be said before: .gpu Fiji, or .arch gfx8"),
        }
    }

    /// What instructions are for.
    pub(super) fn target(&self, at: usize) -> Res<Target> {
        let device = self.device(at)?;
        match target::processor(device.processor) {
            Some(cpu) => {
                let mut target = Target::new(cpu);
                if device.xnack {
                    target.xnack = Some(true);
                }
                Ok(target)
            }
            None => wrong(at, format!("no processor {}", device.processor)),
        }
    }

    /// Opens a section, new or known.
    fn open(&mut self, what: What, align: u64) -> SectionId {
        self.offset = None;
        let known = self.sections.iter().position(|s| s.what == what);
        let id = known.unwrap_or_else(|| {
            self.sections.push(Section { what, bytes: Vec::new(), align });
            self.sections.len() - 1
        });
        self.sections[id].align = self.sections[id].align.max(align);
        self.current = Some(id);
        id
    }

    /// The current kernel.
    fn in_kernel(&self, at: usize) -> Res<usize> {
        self.program.kernel.map_or_else(|| wrong(at, "this must be in a kernel: .kernel NAME"), Ok)
    }

    /// What a label may mean besides: where a kernel starts.
    pub(super) fn before_label(&mut self, name: &str) -> Res {
        if self.program.hsa_layout
            && let Some(section) = self.current.filter(|s| self.sections[*s].what == What::Code(None))
            && let Some(kernel) = self.program.kernels.iter().position(|k| k.name == name)
        {
            self.program.kernels[kernel].start = Some(self.sections[section].bytes.len());
        }
        Ok(())
    }

    /// Only drivers with inner files have these.
    fn new_layout(&self, at: usize, what: &str) -> Res {
        match self.program.is_old() {
            false => Ok(()),
            true => wrong(at, format!("containers of drivers before 1912.05 have no {what}")),
        }
    }

    /// Does what a directive of the format says.
    pub(super) fn format_directive(&mut self, name: &str, c: &mut Cursor<'_>, at: usize) -> Res {
        if self.config_directive(name, c, at)? {
            return Ok(());
        }
        match name {
            ".amdcl2" => {
                self.program.chosen = true;
            }
            ".format" => {
                let format = self.name(c)?;
                if !format.eq_ignore_ascii_case("amdcl2") {
                    return wrong(at, format!("format {format}: amdcl2 is the one that is made here"));
                }
                self.program.chosen = true;
            }
            ".gpu" | ".arch" => return self.choose_gpu(name, c, at),
            ".32bit" | ".64bit" => {
                if !self.program.kernels.is_empty() {
                    return wrong(at, "the size of pointers must be said before the first kernel");
                }
                self.program.width = if name == ".32bit" { Width::W32 } else { Width::W64 };
            }
            ".driver_version" => {
                if !self.program.kernels.is_empty() {
                    return wrong(at, "the driver must be said before the first kernel");
                }
                self.program.driver = Some(self.number_in(c, 0, 9_999_999)? as u32);
            }
            ".arch_minor" => self.program.minor = Some(self.number_in(c, 0, i64::from(u32::MAX))? as u32),
            ".arch_stepping" => {
                self.program.stepping = Some(self.number_in(c, 0, i64::from(u32::MAX))? as u32)
            }
            ".acl_version" => {
                self.program.acl_version = String::from_utf8_lossy(&self.string(c)?).into_owned()
            }
            ".compile_options" => {
                self.program.options = String::from_utf8_lossy(&self.string(c)?).into_owned()
            }
            ".policy" => self.program.policy = self.number_in(c, 0, i64::from(u32::MAX))? as u32,
            ".get_driver_version"
            | ".get_64bit"
            | ".get_version"
            | ".get_policy"
            | ".get_format"
            | ".get_arch"
            | ".get_gpu" => return self.query(name, c, at),
            ".kernel" => return self.kernel(c, at),
            ".text" => {
                let what = match (self.program.hsa_layout, self.program.kernel) {
                    (true, _) => What::Code(None),
                    (false, Some(kernel)) => What::Code(Some(kernel)),
                    (false, None) => return wrong(at, "code must be in a kernel: .kernel NAME"),
                };
                self.program.configuring = false;
                self.open(what, 256);
            }
            ".inner" => {
                self.new_layout(at, "inner file")?;
                self.program.inner = true;
            }
            ".main" => {
                self.program.inner = false;
                self.program.kernel = None;
                self.current = None;
            }
            ".globaldata" | ".rodata" => {
                self.new_layout(at, "global data")?;
                self.open(What::Constants, 8);
            }
            ".rwdata" | ".data" => {
                self.new_layout(at, "global data")?;
                self.open(What::Data, 8);
            }
            ".bssdata" | ".bss" => {
                self.new_layout(at, "global data")?;
                let align = self.section_align(c)?;
                self.open(What::Bss, align);
            }
            ".section" => return self.section(c, at),
            ".sampler" | ".samplerinit" | ".samplerreloc" => return self.samplers(name, c, at),
            ".hsalayout" => {
                self.new_layout(at, "inner file")?;
                if !self.program.kernels.is_empty() {
                    return wrong(at, "this must come before the first kernel");
                }
                self.program.hsa_layout = true;
            }
            ".kcode" | ".kcodeend" => return self.kernel_code(name, c, at),
            ".setup" | ".metadata" | ".control_directive" | ".stub" | ".isametadata" => {
                let kernel = self.in_kernel(at)?;
                if matches!(name, ".stub" | ".isametadata") && !self.program.is_old() {
                    return wrong(at, "only containers of drivers before 1912.05 have this");
                }
                self.program.configuring &= name == ".control_directive";
                let what = match name {
                    ".setup" => What::Setup(kernel),
                    ".metadata" => What::Metadata(kernel),
                    ".control_directive" => What::ControlDirective(kernel),
                    ".stub" => What::Stub(kernel),
                    _ => What::IsaMetadata(kernel),
                };
                self.open(what, 1);
            }
            _ => {
                let known = DIRECTIVES.iter().copied();
                let hint = suggest::closest(name, known).map(|n| format!("; did you mean {n}?"));
                return wrong(at, format!("there is no directive {name}{}", hint.unwrap_or_default()));
            }
        }
        self.end(c)
    }

    fn choose_gpu(&mut self, name: &str, c: &mut Cursor<'_>, at: usize) -> Res {
        if !self.program.kernels.is_empty() {
            return wrong(at, "the GPU must be said before the first kernel");
        }
        let start = c.at;
        let said = String::from_utf8_lossy(c.take_field()).into_owned();
        let device = match name {
            ".arch" => architecture(&said).and_then(Device::named),
            _ => Device::named(&said),
        };
        let Some(device) = device else {
            let hint = suggest::closest(&said, Device::names()).map(|n| format!("; did you mean {n}?"));
            return wrong(
                start,
                format!("Catalyst made no OpenCL 2.0 binaries for {said}{}", hint.unwrap_or_default()),
            );
        };
        self.program.device = Some(device);
        self.end(c)
    }

    fn query(&mut self, name: &str, c: &mut Cursor<'_>, at: usize) -> Res {
        let symbol = self.name(c)?.to_owned();
        let value = match name {
            ".get_driver_version" => i64::from(self.program.driver()),
            ".get_64bit" => i64::from(self.program.width == Width::W64),
            // The version of CLRX whose rules are followed.
            ".get_version" => 200,
            ".get_policy" => i64::from(self.program.policy),
            // Formats and architectures are numbered in CLRX's order.
            ".get_format" => 5,
            ".get_arch" => match self.target(at)?.level().generation() {
                6 => 0,
                7 => 1,
                8 => 2,
                _ if self.target(at)?.level() >= wavemill_isa::Level::Gfx906 => 4,
                _ => 3,
            },
            _ => return wrong(at, "the numbers of GPUs are CLRX's own; .ifgpu NAME asks for one"),
        };
        let value = super::Expr::Known(super::Value::Number(value));
        self.scopes.define(&symbol, value, true).or_else(|message| wrong(at, message))?;
        self.end(c)
    }

    fn kernel(&mut self, c: &mut Cursor<'_>, at: usize) -> Res {
        self.device(at)?;
        let name = self.name(c)?.to_owned();
        self.end(c)?;
        let known = self.program.kernels.iter().position(|k| k.name == name);
        let kernel = known.unwrap_or_else(|| {
            self.program.kernels.push(Kernel { name, ..Kernel::default() });
            self.program.kernels.len() - 1
        });
        self.program.kernel = Some(kernel);
        self.program.configuring = false;
        self.program.inner = false;
        if self.program.hsa_layout {
            self.current = None;
        } else {
            self.open(What::Code(Some(kernel)), 256);
        }
        Ok(())
    }

    /// `[align=N]`.
    fn section_align(&mut self, c: &mut Cursor<'_>) -> Res<u64> {
        c.eat(",");
        let at = c.at;
        if !c.word().eq_ignore_ascii_case("align") {
            return Ok(1);
        }
        c.take_word();
        if !c.eat("=") {
            return wrong(c.at, "an equals sign is wanted");
        }
        let n = self.number_in(c, 1, 1 << 24)?;
        if n.count_ones() == 1 { Ok(n as u64) } else { wrong(at, format!("{n} is no power of two")) }
    }

    /// `.section NAME[, "flags"[, @type]] [align=N]`.
    fn section(&mut self, c: &mut Cursor<'_>, at: usize) -> Res {
        let name = if c.peek() == b'"' {
            String::from_utf8_lossy(&self.string(c)?).into_owned()
        } else {
            self.name(c)?.to_owned()
        };
        let (mut flags, mut ty) = (0, SHT_PROGBITS);
        let mut comma = c.eat(",");
        if comma && c.peek() == b'"' {
            let start = c.at;
            for letter in self.string(c)? {
                flags |= match letter {
                    b'a' => SHF_ALLOC,
                    b'w' => SHF_WRITE,
                    b'x' => SHF_EXECINSTR,
                    _ => return wrong(start, "flags are a, w and x"),
                };
            }
            comma = c.eat(",");
        }
        if comma && c.eat("@") {
            let start = c.at;
            ty = match c.take_word() {
                "progbits" => SHT_PROGBITS,
                "nobits" => SHT_NOBITS,
                "note" => SHT_NOTE,
                other => return wrong(start, format!("there is no section type {other}")),
            };
        }
        let align = self.section_align(c)?;
        self.end(c)?;
        if matches!(name.as_str(), ".strtab" | ".shstrtab" | ".symtab" | ".comment" | ".note") {
            return wrong(at, format!("{name} is made, it cannot be written"));
        }
        let inner = self.program.inner;
        self.open(What::Extra(name, ty, flags, inner), align);
        Ok(())
    }

    fn samplers(&mut self, name: &str, c: &mut Cursor<'_>, at: usize) -> Res {
        self.new_layout(at, "samplers")?;
        match name {
            ".samplerinit" => {
                if !self.program.samplers.is_empty() {
                    return wrong(at, "samplers have been given with .sampler");
                }
                self.open(What::SamplerInit, 8);
            }
            ".samplerreloc" => {
                let place = self.number_in(c, 0, 1 << 30)? as u64;
                self.comma(c)?;
                let id = self.number_in(c, 0, 1 << 20)? as u32;
                self.program.sampler_places.push((place, id));
            }
            _ => {
                if self.sections.iter().any(|s| s.what == What::SamplerInit) {
                    return wrong(at, "samplers have been given with .samplerinit");
                }
                while !c.at_end() {
                    let value = self.number(c)? as u32;
                    self.program.samplers.push(value);
                    if !c.eat(",") {
                        break;
                    }
                }
            }
        }
        self.end(c)
    }

    /// `.kcode K1, …`, `.kcode +`, `.kcode -K`, `.kcodeend`: which kernels' registers the code counts for.
    fn kernel_code(&mut self, name: &str, c: &mut Cursor<'_>, at: usize) -> Res {
        if !self.program.hsa_layout {
            return wrong(at, "this is for .hsalayout only");
        }
        if name == ".kcodeend" {
            self.end(c)?;
            return match self.program.coding.pop() {
                Some(_) => Ok(()),
                None => wrong(at, "there is no .kcode for this"),
            };
        }
        let mut chosen = self.program.coding();
        while !c.at_end() {
            let start = c.at;
            let remove = c.eat("-");
            if !remove && c.eat("+") && (c.at_end() || c.peek() == b',') {
                chosen = (0..self.program.kernels.len()).collect();
                c.eat(",");
                continue;
            }
            let name = self.name(c)?;
            let Some(kernel) = self.program.kernels.iter().position(|k| k.name == name) else {
                return wrong(start, format!("there is no kernel {name}"));
            };
            match remove {
                true => chosen.retain(|k| *k != kernel),
                false if chosen.contains(&kernel) => {}
                false => chosen.push(kernel),
            }
            if !c.eat(",") {
                break;
            }
        }
        self.program.coding.push(chosen);
        self.end(c)
    }
}

/// Every directive of the format, for hints.
const DIRECTIVES: [&str; 48] = [
    ".amdcl2",
    ".format",
    ".gpu",
    ".arch",
    ".32bit",
    ".64bit",
    ".driver_version",
    ".arch_minor",
    ".arch_stepping",
    ".acl_version",
    ".compile_options",
    ".policy",
    ".kernel",
    ".text",
    ".inner",
    ".main",
    ".globaldata",
    ".rodata",
    ".rwdata",
    ".data",
    ".bssdata",
    ".bss",
    ".section",
    ".sampler",
    ".samplerinit",
    ".samplerreloc",
    ".hsalayout",
    ".kcode",
    ".kcodeend",
    ".setup",
    ".metadata",
    ".control_directive",
    ".stub",
    ".isametadata",
    ".config",
    ".hsaconfig",
    ".arg",
    ".setupargs",
    ".useargs",
    ".usesetup",
    ".useenqueue",
    ".usegeneric",
    ".dims",
    ".cws",
    ".sgprsnum",
    ".vgprsnum",
    ".localsize",
    ".scratchbuffer",
];
