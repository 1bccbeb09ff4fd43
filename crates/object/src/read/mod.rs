//! Reading code objects of every version, from bytes that may be anything: every error says where it is, nothing is
//! reserved that the file's own size does not warrant.

mod catalyst;
mod kernels;
mod notes;
mod registers;

pub use crate::error::Error;
pub use kernels::{Kernel, KernelForm, Registers};
pub use notes::{Note, notes_in};
pub use registers::FIRST_ARGUMENT;

use crate::catalyst::Container;
use crate::elf::{self, EM_AMDGPU};
use crate::metadata::{self, Value};
use crate::strtab::text;
use crate::target_id::{Os, Setting, TargetId};
use object::elf as raw;
use object::read::elf::{FileHeader as _, ProgramHeader as _, SectionHeader as _, Sym as _};
use object::{LittleEndian as LE, SymbolIndex};
use std::borrow::Cow;

type RawHeader = raw::FileHeader64<LE>;

/// What kind of ELF file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `ET_REL`: made by an assembler, to be linked.
    Relocatable,
    /// `ET_DYN`: linked, to be loaded.
    Shared,
    /// `ET_EXEC`: linked for fixed addresses, as GCC makes them.
    Executable,
    /// Something else.
    Other(u16),
}

/// A section.
#[derive(Clone, Copy, Debug)]
pub struct Section<'a> {
    /// Name.
    pub name: &'a str,
    /// `sh_type`.
    pub ty: u32,
    /// `sh_flags`.
    pub flags: u64,
    /// Address in memory, 0 in relocatable files.
    pub address: u64,
    /// Byte of the file where its contents start.
    pub offset: u64,
    /// Size in memory.
    pub size: u64,
    /// `sh_link`.
    pub link: u32,
    /// `sh_info`.
    pub info: u32,
    /// Alignment in bytes.
    pub align: u64,
    /// `sh_entsize`.
    pub entsize: u64,
    /// Contents; empty when it only takes room in memory.
    pub data: &'a [u8],
}

/// A segment.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// `p_type`.
    pub ty: u32,
    /// `p_flags`: 1 executable, 2 writable, 4 readable.
    pub flags: u32,
    /// Byte of the file where its contents start.
    pub offset: u64,
    /// Address in memory.
    pub address: u64,
    /// Size in memory, at least that of `data`.
    pub memory_size: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// Contents.
    pub data: &'a [u8],
}

/// A symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// Name.
    pub name: &'a str,
    /// `STT_*`.
    pub ty: u8,
    /// `STB_*`.
    pub binding: u8,
    /// `st_other`; the lowest two bits are the visibility.
    pub other: u8,
    /// Section number, or a special one: 0 undefined, 0xfff1 absolute, 0xff00 LDS.
    pub section: u32,
    /// Address, or offset in the section in relocatable files.
    pub value: u64,
    /// Size in bytes.
    pub size: u64,
}

/// A relocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Byte of the section, or address in linked files.
    pub offset: u64,
    /// `R_AMDGPU_*`.
    pub ty: u32,
    /// Number of the symbol, 0 for none.
    pub symbol: u32,
    /// Added to the symbol's value.
    pub addend: i64,
}

impl Relocation {
    /// The name of its type, in a file of version 1 as a finalizer left it, or in any other.
    pub fn type_name(&self, finalized: bool) -> Cow<'static, str> {
        let name =
            if finalized { elf::reloc_type_v1(self.ty) } else { elf::reloc_type(self.ty).map(|t| t.name) };
        name.map_or_else(|| format!("type {}", self.ty).into(), Into::into)
    }
}

/// A group of sections that are kept or dropped together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group<'a> {
    /// The symbol that names it.
    pub signature: &'a str,
    /// Of several with the same name only one is kept.
    pub comdat: bool,
}

/// A code object.
#[derive(Clone, Debug)]
pub struct File<'a> {
    /// The whole file.
    pub data: &'a [u8],
    /// What kind of ELF file it is.
    pub kind: Kind,
    /// `EI_OSABI`.
    pub os_abi: u8,
    /// `EI_ABIVERSION`.
    pub abi_version: u8,
    /// `e_flags`.
    pub flags: u32,
    /// The sections, with their numbers as indices.
    pub sections: Vec<Section<'a>>,
    /// The segments.
    pub segments: Vec<Segment<'a>>,
    /// The symbol table, with its numbers as indices; the dynamic one when there is no other.
    pub symbols: Vec<Symbol<'a>>,
    /// The OpenCL binary of Catalyst that it is in.
    pub catalyst: Option<Box<Container<'a>>>,
}

impl<'a> File<'a> {
    /// Reads the header, the sections, segments and symbols of a code object, or of the one in a Catalyst container.
    pub fn parse(data: &'a [u8]) -> Result<File<'a>, Error> {
        if crate::catalyst::is_container(data) {
            return catalyst::file(data);
        }
        let header_error = |message: String| Error::new("ELF header", Some(0), message);
        if !data.starts_with(b"\x7fELF") {
            return Err(header_error("this is not an ELF file".into()));
        }
        if data.len() < 64 || data[4..6] != [2, 1] {
            return Err(header_error("a 64-bit little-endian ELF file is needed".into()));
        }
        let header = RawHeader::parse(data).map_err(|e| header_error(e.to_string()))?;
        let machine = header.e_machine(LE).0;
        if let Some(reason) = crate::catalyst::refusal(machine) {
            return Err(header_error(reason.into()));
        }
        if machine != EM_AMDGPU {
            let name = match machine {
                62 => " (x86-64)",
                183 => " (AArch64)",
                _ => "",
            };
            return Err(header_error(format!("machine {machine}{name} is not AMDGPU, which is {EM_AMDGPU}")));
        }
        let kind = match header.e_type(LE).0 {
            1 => Kind::Relocatable,
            2 => Kind::Executable,
            3 => Kind::Shared,
            other => Kind::Other(other),
        };
        let mut file = File {
            data,
            kind,
            os_abi: data[7],
            abi_version: data[8],
            flags: header.e_flags(LE).0,
            sections: Vec::new(),
            segments: Vec::new(),
            symbols: Vec::new(),
            catalyst: None,
        };
        file.read_sections(header)?;
        file.check_overlaps(header.e_shoff.get(LE))?;
        file.read_segments(header)?;
        file.symbols = file.read_symbols(raw::SHT_SYMTAB)?;
        if file.symbols.is_empty() {
            file.symbols = file.read_symbols(raw::SHT_DYNSYM)?;
        }
        if file.is_finalized() {
            // Sections have addresses, but symbols are relative to them as in any relocatable file.
            file.sections.iter_mut().for_each(|s| s.address = 0);
        }
        Ok(file)
    }

    fn read_sections(&mut self, header: &RawHeader) -> Result<(), Error> {
        let data = self.data;
        let at = Some(header.e_shoff.get(LE));
        let table =
            header.sections(LE, data).map_err(|e| Error::new("section headers", at, e.to_string()))?;
        for (number, section) in table.iter().enumerate() {
            let at = at.map(|a| a + 64 * number as u64);
            let name = table.section_name(LE, section);
            let name = name.map_err(|e| Error::new(format!("section {number}"), at, e.to_string()))?;
            let contents = section.data(LE, data);
            let contents = contents.map_err(|_| {
                let (offset, size) = (section.sh_offset.get(LE), section.sh_size.get(LE));
                let message =
                    format!("{size} bytes from {offset:#x} on are not all in the file of {}", data.len());
                Error::new(format!("section {} (number {number})", text(name)), at, message)
            })?;
            self.sections.push(Section {
                name: text(name),
                ty: section.sh_type(LE).0,
                flags: section.sh_flags(LE).0,
                address: section.sh_addr.get(LE),
                offset: section.sh_offset.get(LE),
                size: section.sh_size.get(LE),
                link: section.sh_link.get(LE),
                info: section.sh_info.get(LE),
                align: section.sh_addralign.get(LE),
                entsize: section.sh_entsize.get(LE),
                data: contents,
            });
        }
        Ok(())
    }

    /// Sections that share bytes of the file contradict each other.
    fn check_overlaps(&self, headers: u64) -> Result<(), Error> {
        let filled = |(_, s): &(usize, &Section<'_>)| !s.data.is_empty();
        let mut order: Vec<_> = self.sections.iter().enumerate().filter(filled).collect();
        order.sort_by_key(|(_, s)| s.offset);
        for pair in order.windows(2) {
            let [(_, first), (number, second)] = pair else { continue };
            if first.offset.saturating_add(first.data.len() as u64) > second.offset {
                let message = format!("its contents overlap those of {}", first.name);
                let at = headers.saturating_add(64 * *number as u64);
                return Err(Error::new(
                    format!("section {} (number {number})", second.name),
                    Some(at),
                    message,
                ));
            }
        }
        Ok(())
    }

    fn read_segments(&mut self, header: &RawHeader) -> Result<(), Error> {
        let at = Some(header.e_phoff.get(LE));
        let table = header.program_headers(LE, self.data);
        let table = table.map_err(|e| Error::new("program headers", at, e.to_string()))?;
        for (number, segment) in table.iter().enumerate() {
            let contents = segment.data(LE, self.data).map_err(|()| {
                let at = at.map(|a| a + 56 * number as u64);
                Error::new(format!("segment {number}"), at, "its contents are not all in the file")
            })?;
            self.segments.push(Segment {
                ty: segment.p_type(LE).0,
                flags: segment.p_flags(LE).0,
                offset: segment.p_offset.get(LE),
                address: segment.p_vaddr.get(LE),
                memory_size: segment.p_memsz.get(LE),
                align: segment.p_align.get(LE),
                data: contents,
            });
        }
        Ok(())
    }

    /// The symbols of the first table of a type; nothing when there is no such table.
    fn read_symbols(&self, ty: object::elf::SectionType) -> Result<Vec<Symbol<'a>>, Error> {
        let part = || if ty == raw::SHT_SYMTAB { ".symtab" } else { ".dynsym" };
        let section = self.sections.iter().find(|s| s.ty == ty.0);
        let at = section.map(|s| s.offset);
        let broken = |at: Option<u64>, e: object::Error| Error::new(part(), at, e.to_string());
        if let Some(s) = section
            && (s.entsize != 24 || s.data.len() % 24 != 0)
        {
            let message =
                format!("{} bytes in entries of {}, where symbols have 24", s.data.len(), s.entsize);
            return Err(Error::new(part(), at, message));
        }
        let header = RawHeader::parse(self.data).map_err(|e| broken(at, e))?;
        let table = header.sections(LE, self.data).map_err(|e| broken(at, e))?;
        let symbols = table.symbols(LE, self.data, ty).map_err(|e| broken(at, e))?;
        let mut all = Vec::with_capacity(symbols.len());
        for (number, symbol) in symbols.iter().enumerate() {
            let name = symbols.symbol_name(LE, symbol);
            let name = name.map_err(|e| broken(at.map(|a| a + 24 * number as u64), e))?;
            let section = symbols.shndx(LE, SymbolIndex(number)).filter(|_| symbol.st_shndx(LE).0 == 0xffff);
            all.push(Symbol {
                name: text(name),
                ty: symbol.st_type().0,
                binding: symbol.st_bind().0,
                other: symbol.st_other.0,
                section: section.unwrap_or(symbol.st_shndx(LE).0.into()),
                value: symbol.st_value(LE),
                size: symbol.st_size(LE),
            });
        }
        Ok(all)
    }

    /// The first section of a name.
    pub fn section(&self, name: &str) -> Option<&Section<'a>> {
        self.sections.iter().find(|s| s.name == name)
    }

    /// What a symbol is called: symbols of sections have no names of their own.
    pub fn symbol_name(&self, symbol: &Symbol<'a>) -> &'a str {
        match self.sections.get(symbol.section as usize) {
            Some(home) if symbol.name.is_empty() => home.name,
            _ => symbol.name,
        }
    }

    /// The group that a section of a relocatable file belongs to.
    pub fn group_of(&self, section: u32) -> Option<Group<'a>> {
        let words = |s: &Section<'a>| -> Vec<u32> {
            s.data.chunks_exact(4).map(|w| u32::from_le_bytes(w.try_into().unwrap_or_default())).collect()
        };
        self.sections.iter().filter(|s| s.ty == elf::SHT_GROUP).find_map(|s| {
            let words = words(s);
            let (kind, members) = words.split_first()?;
            let signature = self.symbols.get(s.info as usize).map_or("", |s| s.name);
            members.contains(&section).then_some(Group { signature, comdat: *kind == 1 })
        })
    }

    /// The relocations that apply to a section of a relocatable file, by its number. Their symbols are those of
    /// [`File::symbols`].
    pub fn relocations(&self, section: u32) -> Result<Vec<Relocation>, Error> {
        self.relocations_of(|table| self.kind == Kind::Relocatable && table.info == section)
    }

    /// The relocations that a loader applies to a linked file: those of tables that are loaded themselves. Their
    /// symbols are [`File::dynamic_symbols`].
    pub fn dynamic_relocations(&self) -> Result<Vec<Relocation>, Error> {
        self.relocations_of(|table| self.kind != Kind::Relocatable && table.flags & elf::SHF_ALLOC != 0)
    }

    /// The symbols that other code objects see, with the numbers that dynamic relocations call them by.
    pub fn dynamic_symbols(&self) -> Result<Vec<Symbol<'a>>, Error> {
        if self.catalyst.is_some() {
            return Ok(Vec::new());
        }
        self.read_symbols(raw::SHT_DYNSYM)
    }

    fn relocations_of(&self, wanted: impl Fn(&Section<'_>) -> bool) -> Result<Vec<Relocation>, Error> {
        let mut all = Vec::new();
        for table in self.sections.iter().filter(|s| s.ty == raw::SHT_RELA.0 && wanted(s)) {
            if table.data.len() % 24 != 0 {
                let message = format!("{} bytes are no whole number of relocations", table.data.len());
                return Err(Error::new(table.name, Some(table.offset), message));
            }
            all.extend(table.data.chunks_exact(24).map(|r| {
                let word = |at: usize| u64::from_le_bytes(r[at..at + 8].try_into().unwrap_or_default());
                let info = word(8);
                Relocation {
                    offset: word(0),
                    ty: info as u32,
                    symbol: (info >> 32) as u32,
                    addend: word(16) as i64,
                }
            }));
        }
        Ok(all)
    }

    /// The bytes that a symbol of a section stands for, from its value to the section's end.
    pub fn bytes_from(&self, symbol: &Symbol<'_>) -> Option<&'a [u8]> {
        let section = self.sections.get(symbol.section as usize)?;
        let start = symbol.value.checked_sub(section.address)?;
        section.data.get(usize::try_from(start).ok()?..)
    }

    /// The bytes at an address of a linked file, to the end of what holds them.
    pub fn bytes_at(&self, address: u64) -> Option<&'a [u8]> {
        let load = self.segments.iter().filter(|s| s.ty == raw::PT_LOAD.0);
        let mut bytes =
            load.filter_map(|s| s.data.get(usize::try_from(address.checked_sub(s.address)?).ok()?..));
        bytes.find(|b| !b.is_empty())
    }

    /// All notes.
    pub fn notes(&self) -> Result<Vec<Note<'a>>, Error> {
        let mut all = Vec::new();
        for section in self.sections.iter().filter(|s| s.ty == raw::SHT_NOTE.0) {
            notes_in(section.data, section.offset, section.name, &mut all)?;
        }
        if all.is_empty() {
            // Stripped files have their notes in segments only.
            for segment in self.segments.iter().filter(|s| s.ty == raw::PT_NOTE.0) {
                notes_in(segment.data, segment.offset, "note segment", &mut all)?;
            }
        }
        Ok(all)
    }

    /// The operating system.
    pub fn os(&self) -> Os {
        Os::from_elf_os_abi(self.os_abi)
    }

    /// The code object version: 1 to 6 for HSA, 0 for others.
    pub fn version(&self) -> u8 {
        if self.catalyst.is_some() {
            return 1;
        }
        if self.os() != Os::Hsa {
            return 0;
        }
        match self.abi_version {
            0 => self.version_note().unwrap_or(2),
            n => n.saturating_add(2),
        }
    }

    /// Version 1 and 2 differ in a note.
    fn version_note(&self) -> Option<u8> {
        let notes = self.notes().ok()?;
        let note = notes.iter().find(|n| n.is(elf::NOTE_NAME_V2, elf::NT_AMD_HSA_CODE_OBJECT_VERSION))?;
        Some(if note.contents.first()? == &1 { 1 } else { 2 })
    }

    /// What the code was made for: by the header's flags, else by the notes of version 1 and 2.
    pub fn target_id(&self) -> Result<Option<TargetId>, Error> {
        if let Some(container) = &self.catalyst {
            return Ok(container.target_id(self.inner()));
        }
        let from_flags = TargetId::from_e_flags(self.os_abi, self.abi_version, self.flags);
        let old = self.os() == Os::Hsa && self.abi_version == 0;
        let from_notes = if old || from_flags.is_none() { self.noted_target()? } else { None };
        Ok(match (from_flags, from_notes) {
            // The header of version 2 has XNACK's bit for code that works either way, too; the notes know better.
            (Some(flags), Some(notes))
                if flags.processor == notes.processor && notes.xnack != Setting::Any =>
            {
                Some(TargetId { xnack: notes.xnack, environment: notes.environment, ..flags })
            }
            (Some(flags), _) => Some(flags),
            (None, notes) => notes,
        })
    }

    /// What the notes of versions 1 and 2 say.
    fn noted_target(&self) -> Result<Option<TargetId>, Error> {
        for note in self.notes()? {
            if note.is(elf::NOTE_NAME_V2, elf::NT_AMD_HSA_ISA_NAME) {
                let name = text(note.contents).trim_end_matches('\0');
                let parsed =
                    TargetId::parse(name).map_err(|e| Error::new(note.part, Some(note.offset), e))?;
                return Ok(Some(parsed.0));
            }
            if note.is(elf::NOTE_NAME_V2, elf::NT_AMD_HSA_ISA_VERSION)
                && let Some(id) = isa_version(note.contents)
            {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// The metadata of all notes, merged: arrays are joined, of other values the first counts. `None` when no note
    /// has any.
    pub fn metadata(&self) -> Result<Option<Value<'a>>, Error> {
        let mut merged = None;
        for note in self.notes()? {
            let Some(document) = note.document()? else { continue };
            match &mut merged {
                None => merged = Some(document),
                Some(all) => merge(all, document),
            }
        }
        Ok(merged)
    }

    /// What the metadata says about kernels, whatever its version, without keeping the whole document.
    pub fn kernel_metadata(&self) -> Result<Vec<metadata::kernel::Kernel<'a>>, Error> {
        if let Some(container) = &self.catalyst {
            return self.catalyst_metadata(container);
        }
        let mut kernels = Vec::new();
        for note in self.notes()? {
            note.kernels(&mut kernels)?;
        }
        Ok(kernels)
    }
}

/// The processor of a version 1 or 2 note with numbers: two name sizes, then major, minor and stepping.
fn isa_version(note: &[u8]) -> Option<TargetId> {
    let word = |at: usize| Some(u32::from_le_bytes(note.get(at..at + 4)?.try_into().ok()?));
    let (major, minor, stepping) = (word(4)?, word(8)?, word(12)?);
    TargetId::from_isa_version(major, minor, stepping)
}

/// Joins a second document to a first.
fn merge<'a>(all: &mut Value<'a>, more: Value<'a>) {
    let (Value::Map(all), Value::Map(more)) = (all, more) else { return };
    for (key, value) in more.into_entries() {
        let known = key.as_str().and_then(|k| all.get_mut(k));
        match (known, value) {
            (Some(Value::Array(first)), Value::Array(second)) if !is_version(&key) => first.extend(second),
            (Some(_), _) => {}
            (None, value) => _ = all.insert(key, value),
        }
    }
}

fn is_version(key: &Value<'_>) -> bool {
    matches!(key.as_str(), Some("amdhsa.version" | "amdpal.version" | "Version"))
}

/// A name for a symbol type.
pub fn symbol_type_name(ty: u8) -> Cow<'static, str> {
    match ty {
        0 => "notype".into(),
        1 => "object".into(),
        2 => "func".into(),
        3 => "section".into(),
        4 => "file".into(),
        5 => "common".into(),
        6 => "tls".into(),
        elf::STT_AMDGPU_HSA_KERNEL => "amdgpu_hsa_kernel".into(),
        other => format!("{other}").into(),
    }
}
