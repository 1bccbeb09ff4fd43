//! The container that a source makes.

use super::config::Around;
use super::expr::SectionId;
use super::{Assembler, Fixup, What};
use crate::source::Diag;
use wavemill_object::catalyst::write::{
    Binary, Extra, ISA_METADATA, Kernel, LoadedSection, Relocation, Target, default_acl_version, stub,
};
use wavemill_object::kernel_code::{self, KernelCode};

/// What a place that a relocation fills holds before.
const FILLER: [u8; 4] = [0x55; 4];

impl Assembler<'_> {
    /// Asks for the address of a place in a fixup's bytes.
    pub(super) fn address(
        &mut self,
        fixup: &Fixup,
        to: SectionId,
        offset: i64,
        ty: u32,
    ) -> Result<(), String> {
        let target = match self.sections[to].what {
            What::Constants => LoadedSection::Constants,
            What::Data => LoadedSection::Data,
            What::Bss => LoadedSection::Bss,
            _ => return Err("only global data has an address that code can ask for".into()),
        };
        let place = match self.sections[fixup.section].what {
            What::Code(_) => LoadedSection::Text,
            What::Constants => LoadedSection::Constants,
            _ => return Err("addresses can be in code and in read-only data only".into()),
        };
        let bytes = &mut self.sections[fixup.section].bytes[fixup.offset..];
        bytes[..4].copy_from_slice(&FILLER);
        if ty == 3 {
            bytes[4..8].copy_from_slice(&FILLER);
        }
        let relocation = Relocation {
            place,
            offset: fixup.offset as u64,
            ty,
            target: Target::Section(target),
            addend: offset,
        };
        self.relocations.push((fixup.section, relocation));
        Ok(())
    }

    fn bytes_of(&self, what: &What) -> Option<&[u8]> {
        self.sections.iter().find(|s| s.what == *what).map(|s| s.bytes.as_slice())
    }

    fn complain(&mut self, message: String) {
        self.diagnostics.push(Diag::global(message));
    }

    /// Puts the container together; what is missing or wrong is in the diagnostics.
    pub(super) fn build(&mut self) -> Option<Vec<u8>> {
        self.resolve();
        if !self.program.chosen {
            self.complain("the source chooses no format: .amdcl2".into());
            return None;
        }
        let Ok(device) = self.device(0) else {
            self.complain("the source names no GPU: .gpu NAME".into());
            return None;
        };
        let driver = self.program.driver();
        let Some(code) = device.code(driver) else {
            self.complain(format!(
                "driver {}.{:02} does not know {}",
                driver / 100,
                driver % 100,
                device.name
            ));
            return None;
        };
        let level = self.target(0).ok()?.level();
        let old = self.program.is_old();
        let around = Around { width: self.program.width, driver, level, policy: self.program.policy };
        let mut isa = device.isa(driver);
        isa[1] = self.program.minor.unwrap_or(isa[1]);
        isa[2] = self.program.stepping.unwrap_or(isa[2]);
        let mut binary = Binary {
            width: self.program.width,
            driver,
            code,
            isa,
            options: self.program.options.clone(),
            acl_version: match self.program.acl_version.as_str() {
                "" => default_acl_version(driver).into(),
                said => said.into(),
            },
            kernels: Vec::new(),
            text: Vec::new(),
            data: self.bytes_of(&What::Data).unwrap_or(&[]).to_vec(),
            bss: self
                .sections
                .iter()
                .find(|s| s.what == What::Bss)
                .map_or((0, 1), |s| (s.bytes.len() as u64, s.align)),
            constants: self.bytes_of(&What::Constants).unwrap_or(&[]).to_vec(),
            samplers: self.sampler_descriptors(),
            relocations: Vec::new(),
            inner: Vec::new(),
            outer: Vec::new(),
        };
        // Where each code section starts in the text.
        let mut starts: Vec<(SectionId, u64)> = Vec::new();
        let common = self.sections.iter().position(|s| s.what == What::Code(None));
        if self.program.hsa_layout {
            binary.text = common.map_or(Vec::new(), |s| self.sections[s].bytes.clone());
            starts.extend(common.map(|s| (s, 0)));
        }
        for i in 0..self.program.kernels.len() {
            let setup = self.setup(i, around)?;
            let metadata = self.metadata(i, around)?;
            let kernel = self.program.kernels[i].clone();
            let section = self.sections.iter().position(|s| s.what == What::Code(Some(i)));
            let code = section.map_or(&[][..], |s| self.sections[s].bytes.as_slice());
            let (start, size);
            if self.program.hsa_layout {
                let Some(at) = kernel.start else {
                    self.complain(format!("kernel {} has no label in the text", kernel.name));
                    return None;
                };
                if !at.is_multiple_of(kernel_code::ALIGN) || binary.text.len() < at + kernel_code::SIZE {
                    self.complain(format!(
                        "kernel {} starts at byte {at}: it must be a multiple of 256 with 256 bytes left for the set-up",
                        kernel.name
                    ));
                    return None;
                }
                binary.text[at..at + kernel_code::SIZE].copy_from_slice(&setup.0);
                let next = self.program.kernels.iter().filter_map(|k| k.start).filter(|s| *s > at).min();
                start = at as u64;
                size = (next.unwrap_or(binary.text.len()) - at) as u64;
            } else {
                if !old {
                    let align = binary.text.len().next_multiple_of(kernel_code::ALIGN);
                    binary.text.resize(align, 0);
                }
                start = binary.text.len() as u64;
                if old {
                    let given = self.bytes_of(&What::Stub(i)).map(<[u8]>::to_vec);
                    binary.text.extend(given.unwrap_or_else(|| stub(&setup, code.len() as u64)));
                }
                binary.text.extend(setup.0);
                starts.extend(section.map(|s| (s, binary.text.len() as u64)));
                binary.text.extend(code);
                size = binary.text.len() as u64 - start;
            }
            let isa_metadata = self.bytes_of(&What::IsaMetadata(i)).unwrap_or(&ISA_METADATA).to_vec();
            binary.kernels.push(Kernel { name: kernel.name, metadata, isa_metadata, start, size });
        }
        let relocations = self.relocations.iter().map(|(section, r)| {
            let start = starts.iter().find(|s| s.0 == *section).map_or(0, |s| s.1);
            Relocation { offset: r.offset + start, ..*r }
        });
        binary.relocations = relocations.collect();
        self.sampler_relocations(&mut binary);
        for section in &self.sections {
            if let What::Extra(name, ty, flags, inner) = &section.what {
                let extra = Extra {
                    name: name.clone(),
                    ty: *ty,
                    flags: *flags,
                    align: section.align,
                    data: section.bytes.clone(),
                };
                if *inner { &mut binary.inner } else { &mut binary.outer }.push(extra);
            }
        }
        (!self.failed()).then(|| binary.write())
    }

    /// A kernel's set-up: raw, or what its configuration comes to.
    fn setup(&mut self, i: usize, around: Around) -> Option<KernelCode> {
        let kernel = &self.program.kernels[i];
        let name = kernel.name.clone();
        let mut setup = match (self.bytes_of(&What::Setup(i)), &kernel.config) {
            (Some(bytes), None) => match KernelCode::read(bytes).filter(|_| bytes.len() == kernel_code::SIZE)
            {
                Some(setup) => setup,
                None => {
                    let message = format!("the .setup of kernel {name} has {} bytes, not 256", bytes.len());
                    self.complain(message);
                    return None;
                }
            },
            (None, Some(config)) => config.setup(kernel.used, around),
            (Some(_), Some(_)) => {
                self.complain(format!("kernel {name} has a .setup and a configuration"));
                return None;
            }
            (None, None) => {
                self.complain(format!("kernel {name} has no configuration: .config or .hsaconfig"));
                return None;
            }
        };
        if let Some(bytes) = self.bytes_of(&What::ControlDirective(i)) {
            if bytes.len() != 128 {
                let message =
                    format!("the .control_directive of kernel {name} has {} bytes, not 128", bytes.len());
                self.complain(message);
                return None;
            }
            setup.0[128..].copy_from_slice(bytes);
        }
        Some(setup)
    }

    fn metadata(&mut self, i: usize, around: Around) -> Option<Vec<u8>> {
        let kernel = &self.program.kernels[i];
        match (self.bytes_of(&What::Metadata(i)), &kernel.config) {
            (Some(bytes), _) => Some(bytes.to_vec()),
            (None, Some(config)) => Some(config.record(i as u32, around).write(around.width)),
            (None, None) => {
                let message = format!("kernel {} has neither .metadata nor a configuration", kernel.name);
                self.complain(message);
                None
            }
        }
    }

    /// Descriptors of all samplers: what was given raw, or eight bytes each with the second dword given.
    fn sampler_descriptors(&self) -> Vec<u8> {
        if let Some(raw) = self.bytes_of(&What::SamplerInit) {
            return raw.to_vec();
        }
        // Size 8, kind 1.
        self.program
            .samplers
            .iter()
            .flat_map(|v| {
                [
                    8u16.to_le_bytes(),
                    1u16.to_le_bytes(),
                    [*v as u8, (*v >> 8) as u8],
                    [(*v >> 16) as u8, (*v >> 24) as u8],
                ]
                .concat()
            })
            .collect()
    }

    /// Where samplers' handles go: as said, else into the last bytes of the constants.
    fn sampler_relocations(&mut self, binary: &mut Binary) {
        let count = binary.samplers.len() as u64 / 8;
        let room = binary.constants.len() as u64;
        if !binary.samplers.len().is_multiple_of(8) {
            self.complain("sampler descriptors have eight bytes each".into());
            return;
        }
        let mut places = self.program.sampler_places.clone();
        if places.is_empty() && count > 0 {
            let Some(first) = room.checked_sub(8 * count) else {
                self.complain(format!("{count} samplers need {} bytes at the end of .globaldata", 8 * count));
                return;
            };
            places = (0..count).map(|i| (first + 8 * i, i as u32)).collect();
        }
        for (offset, sampler) in places {
            if u64::from(sampler) >= count || offset + 8 > room {
                self.complain(format!(
                    "sampler {sampler} at byte {offset} of .globaldata: there is no such sampler or place"
                ));
                return;
            }
            binary.relocations.push(Binary::sampler_relocation(offset, sampler));
        }
    }
}
