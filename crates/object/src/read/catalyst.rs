//! The code object in an OpenCL binary of Catalyst: its inner ELF file, or what one would say, with the container beside
//! it.

use super::{Error, File, Kind, Section, Symbol};
use crate::catalyst::{Container, Inner, Layout, is_container, kernel_name};
use crate::elf;
use crate::metadata::kernel::Kernel;

/// Reads a container.
pub(super) fn file(data: &[u8]) -> Result<File<'_>, Error> {
    let container = Container::parse(data)?;
    let mut file = match container.layout {
        Layout::New => {
            let base = container.text.offset;
            if is_container(container.text.bytes) {
                return Err(Error::new("the container's .text", Some(base), "it is another container"));
            }
            let inner = File::parse(container.text.bytes).map_err(|e| Error {
                part: format!("{} of the inner file", e.part),
                offset: e.offset.map(|at| at.saturating_add(base)),
                ..e
            });
            let mut inner = inner?;
            // Kernels are called what the program calls them.
            for symbol in &mut inner.symbols {
                symbol.name = kernel_name(symbol.name).unwrap_or(symbol.name);
            }
            inner
        }
        Layout::Old => {
            let text = container.text;
            let empty = Section {
                name: "",
                ty: elf::SHT_NULL,
                flags: 0,
                address: 0,
                offset: 0,
                size: 0,
                link: 0,
                info: 0,
                align: 0,
                entsize: 0,
                data: &[],
            };
            // Each kernel is loaded by itself, its set-up and code at a multiple of 256.
            let mut sections = vec![empty];
            let mut symbols = Vec::new();
            for (name, value, size) in container.kernels()? {
                let range = value as usize..(value + size) as usize;
                symbols.push(Symbol {
                    name,
                    ty: elf::STT_AMDGPU_HSA_KERNEL,
                    binding: elf::STB_GLOBAL,
                    other: 0,
                    section: sections.len() as u32,
                    value: 0,
                    size,
                });
                sections.push(Section {
                    name: ".text",
                    ty: elf::SHT_PROGBITS,
                    flags: elf::SHF_ALLOC | elf::SHF_EXECINSTR,
                    offset: text.offset + value,
                    size,
                    align: 256,
                    data: text.bytes.get(range).unwrap_or(&[]),
                    ..empty
                });
            }
            File {
                data,
                kind: Kind::Relocatable,
                os_abi: elf::ELFOSABI_AMDGPU_HSA,
                abi_version: 0,
                flags: 0,
                sections,
                segments: Vec::new(),
                symbols,
                catalyst: None,
            }
        }
    };
    file.flags = container.code;
    file.catalyst = Some(Box::new(container));
    Ok(file)
}

impl<'a> File<'a> {
    /// True for code objects of version 1 as a finalizer leaves them: relocatable, but for a loader to take as they are,
    /// with relocations numbered on their own and symbols relative to their sections.
    pub fn is_finalized(&self) -> bool {
        let hsa = |ty: u32| (elf::PT_HSA_GLOBAL_PROGRAM..=elf::PT_HSA_CODE_AGENT).contains(&ty);
        self.catalyst.is_some() || self.kind == Kind::Relocatable && self.segments.iter().any(|s| hsa(s.ty))
    }

    /// What tells the driver and the GPU of a container.
    pub fn inner(&self) -> Inner<'a> {
        let note = self.section(".note").map_or(&[][..], |s| s.data);
        let isa = self.notes().unwrap_or_default().into_iter().find_map(|n| {
            let word = |at: usize| Some(u32::from_le_bytes(*n.contents.get(at..)?.first_chunk()?));
            let isa = n.is(elf::NOTE_NAME_V2, elf::NT_AMD_HSA_ISA_VERSION);
            isa.then(|| Some([word(4)?, word(8)?, word(12)?])).flatten()
        });
        let first_symbol_named = self.symbols.first().is_some_and(|s| !s.name.is_empty());
        Inner { first_symbol_named, notes: note, isa }
    }

    /// What a container says about its kernels.
    pub(super) fn catalyst_metadata(&self, container: &Container<'a>) -> Result<Vec<Kernel<'a>>, Error> {
        let records = container.records();
        records.map(|r| r.map(|(part, record)| record.kernel(part.kernel, container.width))).collect()
    }
}
