//! Making containers: a plain model in, bytes out.
//!
//! The order of sections and symbols is that of the driver whose version is given; files have no padding but what
//! alignments ask for.

use super::{
    BINARY_NAME, EM_32, EM_64, ISA_METADATA_NAME, KERNEL_NAME, METADATA_NAME, STUB_BYTES, Width, device,
};
use crate::elf::{
    ELFOSABI_AMDGPU_HSA, EM_AMDGPU, PT_HSA_CODE_AGENT, R_V1_INIT_SAMPLER, SHF_ALLOC, SHF_EXECINSTR,
    SHF_MERGE, SHF_STRINGS, SHF_WRITE, SHT_NOBITS, SHT_NOTE, SHT_NULL, SHT_PROGBITS, SHT_RELA, SHT_STRTAB,
    SHT_SYMTAB, STT_AMDGPU_HSA_KERNEL, STT_HSA_METADATA, STT_SECTION,
};
use crate::kernel_code::KernelCode;

/// Sections of the inner file that are loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoadedSection {
    /// `.hsadata_global_agent`.
    Data,
    /// `.hsabss_global_agent`.
    Bss,
    /// `.hsadata_readonly_agent`.
    Constants,
    /// `.hsatext`.
    Text,
}

impl LoadedSection {
    /// The section's name.
    pub const fn name(self) -> &'static str {
        match self {
            LoadedSection::Data => ".hsadata_global_agent",
            LoadedSection::Bss => ".hsabss_global_agent",
            LoadedSection::Constants => ".hsadata_readonly_agent",
            LoadedSection::Text => ".hsatext",
        }
    }

    /// `sh_flags`: GLOBAL, READONLY or CODE, and AGENT, above what every ELF file has.
    const fn flags(self) -> u64 {
        match self {
            LoadedSection::Data | LoadedSection::Bss => 0x90_0000 | SHF_WRITE | SHF_ALLOC,
            LoadedSection::Constants => 0xa0_0000 | SHF_WRITE | SHF_ALLOC,
            LoadedSection::Text => 0xc0_0000 | SHF_WRITE | SHF_ALLOC | SHF_EXECINSTR,
        }
    }

    /// `p_type` of its segment.
    const fn segment(self) -> u32 {
        PT_HSA_CODE_AGENT
            - match self {
                LoadedSection::Data | LoadedSection::Bss => 2,
                LoadedSection::Constants => 1,
                LoadedSection::Text => 0,
            }
    }
}

/// A relocation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Relocation {
    /// The section whose bytes it changes: the text or the constants.
    pub place: LoadedSection,
    /// Byte of that section.
    pub offset: u64,
    /// `R_V1_*`.
    pub ty: u32,
    /// What it refers to.
    pub target: Target,
    /// Added to the address.
    pub addend: i64,
}

/// What a relocation refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// A section.
    Section(LoadedSection),
    /// A sampler, by number.
    Sampler(u32),
}

/// A kernel.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// Name.
    pub name: String,
    /// Its record of metadata.
    pub metadata: Vec<u8>,
    /// The old layout's second metadata.
    pub isa_metadata: Vec<u8>,
    /// Where it starts in the text: its `amd_kernel_code_t`, or in the old layout what is in front of it.
    pub start: u64,
    /// Its bytes.
    pub size: u64,
}

/// A section of the program's own.
#[derive(Clone, Debug, Default)]
pub struct Extra {
    /// Name.
    pub name: String,
    /// `sh_type`.
    pub ty: u32,
    /// `sh_flags`.
    pub flags: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// Contents.
    pub data: Vec<u8>,
}

/// A container.
#[derive(Clone, Debug)]
pub struct Binary {
    /// Size of pointers.
    pub width: Width,
    /// The driver: 100 times its major and once its minor version.
    pub driver: u32,
    /// `e_flags`.
    pub code: u32,
    /// Major, minor and stepping of the ISA note.
    pub isa: [u32; 3],
    /// The compiler's options.
    pub options: String,
    /// The compiler library's version; the driver's when empty.
    pub acl_version: String,
    /// The kernels, in order.
    pub kernels: Vec<Kernel>,
    /// All code, with the kernels' set-ups: `.hsatext`, or `.text` of the old layout.
    pub text: Vec<u8>,
    /// Data.
    pub data: Vec<u8>,
    /// Bytes and alignment of data that is zero at first.
    pub bss: (u64, u64),
    /// Constants.
    pub constants: Vec<u8>,
    /// Sampler descriptors, eight bytes each.
    pub samplers: Vec<u8>,
    /// Relocations, in order.
    pub relocations: Vec<Relocation>,
    /// Further sections of the inner file.
    pub inner: Vec<Extra>,
    /// Further sections of the container.
    pub outer: Vec<Extra>,
}

/// What the old layout says a second time about each kernel.
pub const ISA_METADATA: [u8; 20] = [0, 0, 0x68, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0x42, 9, 0, 0, 0, 0, 0, 0];

/// What the old layout has in front of a kernel's set-up: facts about it that nothing needs to run it. Estimates of
/// instructions and memory operations are left out.
pub fn stub(setup: &KernelCode, code_bytes: u64) -> Vec<u8> {
    let mut bytes = vec![0; STUB_BYTES as usize];
    let get = |name: &str| setup.named(name) as u32;
    let (vgprs, sgprs) = (get("workitem_vgpr_count"), get("wavefront_sgpr_count"));
    let (lds, scratch) =
        (get("workgroup_group_segment_byte_size"), get("workitem_private_segment_byte_size"));
    let whole = (STUB_BYTES + 256 + code_bytes) as u32;
    let rsrc2 = setup.0[52..56].try_into().map_or(0, u32::from_le_bytes);
    let words = [
        (0x0, STUB_BYTES as u32),
        (0x8, vgprs),
        (0x3c, sgprs),
        (0xb8, STUB_BYTES as u32),
        (0x164, 3),
        (0x168, 12),
        (0x9a0, STUB_BYTES as u32),
        (0x9a8, 0x100),
        (0x9ac, code_bytes as u32 + 256),
        (0x9b8, 0x200),
        (0x9c0, whole),
        (0x9d0, whole),
        (0x9d8, vgprs),
        (0x9dc, sgprs),
        (0x9e8, vgprs),
        (0x9ec, sgprs.saturating_sub(2)),
        (0x9f0, get("float_mode")),
        (0x9f8, 1),
        (0xa08, scratch / 4),
        (0xa0c, lds),
        (0xa10, u32::MAX),
        // LDS is handed out in 512 bytes here.
        (0xa48, rsrc2 | lds.div_ceil(512) << 15),
    ];
    for (at, word) in words {
        bytes[at..at + 4].copy_from_slice(&u32::to_le_bytes(word));
    }
    bytes
}

/// A section on its way to a file.
#[derive(Default)]
struct Section<'a> {
    name: &'a str,
    ty: u32,
    flags: u64,
    address: u64,
    link: usize,
    info: u32,
    align: u64,
    entsize: u64,
    data: Vec<u8>,
    /// Size of what takes no room in the file.
    nobits: u64,
    /// Where it ended up.
    offset: u64,
}

impl Section<'_> {
    fn size(&self) -> u64 {
        if self.ty == SHT_NOBITS { self.nobits } else { self.data.len() as u64 }
    }
}

/// A segment: its type and flags, and the sections it is made of.
struct Segment {
    ty: u32,
    flags: u32,
    sections: Vec<usize>,
}

/// What an ELF header says.
struct Header {
    width: Width,
    ty: u16,
    machine: u16,
    os_abi: u8,
    flags: u32,
}

/// Numbers of a width, one after the other.
struct Out {
    bytes: Vec<u8>,
    width: Width,
}

impl Out {
    fn u16(&mut self, value: u16) {
        self.bytes.extend(value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.bytes.extend(value.to_le_bytes());
    }

    fn word(&mut self, value: u64) {
        self.bytes.extend(&value.to_le_bytes()[..self.width.bytes() as usize]);
    }

    fn align(&mut self, align: u64) -> u64 {
        let to = (self.bytes.len() as u64).next_multiple_of(align.max(1));
        self.bytes.resize(to as usize, 0);
        to
    }
}

/// Puts an ELF file together: header, program headers, sections in order, section headers.
fn assemble(header: &Header, sections: &mut [Section<'_>], segments: &[Segment]) -> Vec<u8> {
    let names = sections.iter().position(|s| s.name == ".shstrtab").unwrap_or(0);
    let (table, offsets) = strings(sections.iter().map(|s| s.name));
    sections[names].data = table;
    let wide = header.width == Width::W64;
    let (header_size, segment_size, section_size) = if wide { (64, 56, 64) } else { (52, 32, 40) };
    let mut out = Out { bytes: vec![0; header_size + segment_size * segments.len()], width: header.width };
    for section in sections.iter_mut().skip(1) {
        section.offset = out.align(section.align);
        out.bytes.extend_from_slice(&section.data);
    }
    let headers = out.align(header.width.bytes());
    for (section, name) in sections.iter().zip(offsets) {
        out.u32(name);
        out.u32(section.ty);
        out.word(section.flags);
        out.word(section.address);
        out.word(section.offset);
        out.word(section.size());
        out.u32(section.link as u32);
        out.u32(section.info);
        out.word(section.align);
        out.word(section.entsize);
    }
    let mut start = Out { bytes: Vec::new(), width: header.width };
    start.bytes.extend([0x7f, b'E', b'L', b'F', if wide { 2 } else { 1 }, 1, 1, header.os_abi]);
    start.bytes.resize(16, 0);
    start.u16(header.ty);
    start.u16(header.machine);
    start.u32(1);
    start.word(0);
    start.word(if segments.is_empty() { 0 } else { header_size as u64 });
    start.word(headers);
    start.u32(header.flags);
    let segment_entry = if segments.is_empty() { 0 } else { segment_size };
    for n in [header_size, segment_entry, segments.len(), section_size, sections.len(), names] {
        start.u16(n as u16);
    }
    // Only inner files have segments, and those are of 64 bits.
    for segment in segments {
        let parts = segment.sections.iter().map(|&i| &sections[i]);
        let first = &sections[segment.sections[0]];
        let end = parts.clone().map(|s| s.address + s.size()).max().unwrap_or(0);
        let in_file =
            parts.clone().filter(|s| s.ty != SHT_NOBITS).map(|s| s.address + s.size() - first.address);
        start.u32(segment.ty);
        start.u32(segment.flags);
        start.word(first.offset);
        start.word(first.address);
        start.word(first.address);
        start.word(in_file.max().unwrap_or(0));
        start.word(end - first.address);
        start.word(parts.map(|s| s.align).max().unwrap_or(1));
    }
    out.bytes[..start.bytes.len()].copy_from_slice(&start.bytes);
    out.bytes
}

/// A string table and where each string is in it.
fn strings<'a>(names: impl Iterator<Item = &'a str>) -> (Vec<u8>, Vec<u32>) {
    let mut table = vec![0];
    let offsets = names
        .map(|name| match name {
            "" => 0,
            name => {
                let at = table.len() as u32;
                table.extend(name.as_bytes());
                table.push(0);
                at
            }
        })
        .collect();
    (table, offsets)
}

/// A symbol on its way to a file.
struct Symbol {
    name: String,
    binding: u8,
    ty: u8,
    section: usize,
    value: u64,
    size: u64,
}

/// The symbol table and its strings.
fn symbol_table(symbols: &[Symbol], width: Width) -> (Vec<u8>, Vec<u8>) {
    let (table, offsets) = strings(symbols.iter().map(|s| s.name.as_str()));
    let mut out = Out { bytes: Vec::new(), width };
    for (symbol, name) in symbols.iter().zip(offsets) {
        let info = [symbol.binding << 4 | symbol.ty, 0];
        out.u32(name);
        if width == Width::W64 {
            out.bytes.extend(info);
            out.u16(symbol.section as u16);
        }
        out.word(symbol.value);
        out.word(symbol.size);
        if width == Width::W32 {
            out.bytes.extend(info);
            out.u16(symbol.section as u16);
        }
    }
    (out.bytes, table)
}

fn null_symbol() -> Symbol {
    Symbol { name: String::new(), binding: 0, ty: 0, section: 0, value: 0, size: 0 }
}

/// The compiler library's version that a driver writes.
pub fn default_acl_version(driver: u32) -> &'static str {
    if driver < device::FIRST_INNER {
        "AMD-COMP-LIB-v0.8 (0.0.326)"
    } else {
        "AMD-COMP-LIB-v0.8 (0.0.SC_BUILD_NUMBER)"
    }
}

impl Binary {
    /// The container's bytes.
    pub fn write(&self) -> Vec<u8> {
        let old = self.driver < device::FIRST_INNER;
        let wide = self.width == Width::W64;
        let mut sections = vec![
            Section::default(),
            Section { name: ".shstrtab", ty: SHT_STRTAB, flags: SHF_STRINGS, align: 1, ..Section::default() },
            Section { name: ".strtab", ty: SHT_STRTAB, flags: SHF_STRINGS, align: 1, ..Section::default() },
            Section {
                name: ".symtab",
                ty: SHT_SYMTAB,
                link: 2,
                align: 8,
                entsize: if wide { 24 } else { 16 },
                ..Section::default()
            },
            Section { name: ".comment", ty: SHT_PROGBITS, align: 1, ..Section::default() },
        ];
        let mut symbols = vec![null_symbol()];
        let mut comment = self.options.clone().into_bytes();
        let mut symbol = |name: String, ty: u8, section: usize, value: usize, size: usize| {
            symbols.push(Symbol { name, binding: 0, ty, section, value: value as u64, size: size as u64 });
        };
        const OBJECT: u8 = 1;
        const FUNC: u8 = 2;
        const COMMENT: usize = 4;
        const RODATA: usize = 5;
        const TEXT: usize = 6;
        let named = |(before, after): (&str, &str), name: &str| format!("{before}{name}{after}");
        if !self.options.is_empty() {
            symbol("__OpenCL_compiler_options".into(), OBJECT, COMMENT, 0, self.options.len());
        }
        let mut rodata = Vec::new();
        for kernel in &self.kernels {
            symbol(named(METADATA_NAME, &kernel.name), OBJECT, RODATA, rodata.len(), kernel.metadata.len());
            rodata.extend(&kernel.metadata);
        }
        if old {
            for kernel in &self.kernels {
                let (start, size) = (kernel.start as usize, kernel.size as usize);
                symbol(named(BINARY_NAME, &kernel.name), FUNC, TEXT, start, size);
                let (at, size) = (rodata.len(), kernel.isa_metadata.len());
                symbol(named(ISA_METADATA_NAME, &kernel.name), OBJECT, RODATA, at, size);
                rodata.extend(&kernel.isa_metadata);
            }
        }
        let acl = match self.acl_version.as_str() {
            "" => default_acl_version(self.driver),
            version => version,
        };
        symbol("acl_version_string".into(), OBJECT, COMMENT, comment.len(), acl.len());
        comment.extend(acl.as_bytes());
        sections[COMMENT].data = comment;
        let rodata_flags = SHF_ALLOC;
        if !self.kernels.is_empty() {
            sections.push(Section {
                name: ".rodata",
                ty: SHT_PROGBITS,
                flags: rodata_flags,
                align: 1,
                data: rodata,
                ..Section::default()
            });
        }
        let text = if old { self.text.clone() } else { self.inner_file() };
        if !text.is_empty() {
            sections.push(Section {
                name: ".text",
                ty: SHT_PROGBITS,
                flags: SHF_ALLOC | SHF_EXECINSTR,
                align: 1,
                data: text,
                ..Section::default()
            });
        }
        sections.extend(self.outer.iter().map(extra));
        let (table, names) = symbol_table(&symbols, self.width);
        (sections[3].data, sections[2].data) = (table, names);
        sections[3].info = symbols.len() as u32;
        let machine = if wide { EM_64 } else { EM_32 };
        let header = Header { width: self.width, ty: 2, machine, os_abi: 0, flags: self.code };
        assemble(&header, &mut sections, &[])
    }

    /// The code object in it.
    fn inner_file(&self) -> Vec<u8> {
        let first = self.driver < device::FIRST_HINTS;
        let string =
            |name| Section { name, ty: SHT_STRTAB, flags: SHF_STRINGS, align: 1, ..Section::default() };
        let note =
            Section { name: ".note", ty: SHT_NOTE, align: 8, data: self.notes(), ..Section::default() };
        let symtab = Section { name: ".symtab", ty: SHT_SYMTAB, align: 8, entsize: 24, ..Section::default() };
        let mut sections = vec![Section::default()];
        if !first {
            sections.extend([string(".shstrtab"), string(".strtab")]);
        }
        let mut late_note = Some(note);
        if !first {
            sections.extend(late_note.take());
        }
        let mut segments: Vec<Segment> = Vec::new();
        let mut address = 0u64;
        let loaded = [
            (LoadedSection::Data, &self.data, SHT_PROGBITS, 8, self.data.len() as u64),
            (LoadedSection::Bss, &Vec::new(), SHT_NOBITS, self.bss.1.max(1), self.bss.0),
            (LoadedSection::Constants, &self.constants, SHT_PROGBITS, 8, self.constants.len() as u64),
            (LoadedSection::Text, &self.text, SHT_PROGBITS, 256, self.text.len() as u64),
        ];
        for (place, data, ty, align, size) in loaded {
            if size == 0 {
                continue;
            }
            address = address.next_multiple_of(align);
            let number = sections.len();
            sections.push(Section {
                name: place.name(),
                ty,
                flags: place.flags(),
                address,
                align,
                data: data.clone(),
                nobits: size,
                ..Section::default()
            });
            address += size;
            // Readable, and executable or writable.
            let flags = if place == LoadedSection::Text && !first { 5 } else { 6 };
            match segments.iter_mut().find(|s| s.ty == place.segment()) {
                Some(segment) => segment.sections.push(number),
                None => segments.push(Segment { ty: place.segment(), flags, sections: vec![number] }),
            }
        }
        let find = |sections: &[Section<'_>], name: &str| sections.iter().position(|s| s.name == name);
        let samplers = (!self.samplers.is_empty()).then(|| Section {
            name: ".hsaimage_samplerinit",
            ty: SHT_PROGBITS,
            flags: SHF_MERGE,
            align: if first { 1 } else { 8 },
            entsize: 8,
            data: self.samplers.clone(),
            ..Section::default()
        });
        let rela = |place: LoadedSection, name| {
            let any = self.relocations.iter().any(|r| r.place == place);
            any.then(|| Section { name, ty: SHT_RELA, align: 8, entsize: 24, ..Section::default() })
        };
        let relocations = [
            rela(LoadedSection::Text, ".rela.hsatext"),
            rela(LoadedSection::Constants, ".rela.hsadata_readonly_agent"),
        ];
        if first {
            sections.extend(samplers);
            sections.extend(relocations.into_iter().flatten());
            sections.extend(late_note);
            sections.extend([string(".strtab"), symtab, string(".shstrtab")]);
        } else {
            sections.push(symtab);
            sections.extend(samplers);
            sections.extend(relocations.into_iter().flatten());
        }
        sections.extend(self.inner.iter().map(extra));

        let mut symbols = if first { Vec::new() } else { vec![null_symbol()] };
        let mut homes = Vec::new();
        for place in [LoadedSection::Data, LoadedSection::Bss, LoadedSection::Constants, LoadedSection::Text]
        {
            if let Some(section) = find(&sections, place.name()) {
                homes.push((Target::Section(place), symbols.len()));
                let name = format!("__hsa_section{}", place.name());
                symbols.push(Symbol { name, ty: STT_SECTION, section, ..null_symbol() });
            }
        }
        if let Some(section) = find(&sections, ".hsaimage_samplerinit") {
            for i in 0..self.samplers.len() / 8 {
                homes.push((Target::Sampler(i as u32), symbols.len()));
                symbols.push(Symbol { ty: STT_HSA_METADATA, section, value: 8 * i as u64, ..null_symbol() });
            }
        }
        let locals = symbols.len();
        let text = find(&sections, LoadedSection::Text.name()).unwrap_or(0);
        for kernel in &self.kernels {
            symbols.push(Symbol {
                name: format!("{}{}{}", KERNEL_NAME.0, kernel.name, KERNEL_NAME.1),
                binding: 1,
                ty: STT_AMDGPU_HSA_KERNEL,
                section: text,
                value: kernel.start,
                size: kernel.size,
            });
        }
        let (table, names) = symbol_table(&symbols, Width::W64);
        let [symtab, strtab] = [".symtab", ".strtab"].map(|name| find(&sections, name).unwrap_or(0));
        (sections[symtab].data, sections[strtab].data) = (table, names);
        (sections[symtab].link, sections[symtab].info) = (strtab, locals as u32);
        for (place, name) in [
            (LoadedSection::Text, ".rela.hsatext"),
            (LoadedSection::Constants, ".rela.hsadata_readonly_agent"),
        ] {
            let Some(number) = find(&sections, name) else { continue };
            let mut out = Out { bytes: Vec::new(), width: Width::W64 };
            for r in self.relocations.iter().filter(|r| r.place == place) {
                let symbol = homes.iter().find(|h| h.0 == r.target).map_or(0, |h| h.1 as u64);
                out.word(r.offset);
                out.word(symbol << 32 | u64::from(r.ty));
                out.word(r.addend as u64);
            }
            sections[number].data = out.bytes;
            sections[number].link = symtab;
            sections[number].info = find(&sections, place.name()).unwrap_or(0) as u32;
        }
        let header =
            Header { width: Width::W64, ty: 1, machine: EM_AMDGPU, os_abi: ELFOSABI_AMDGPU_HSA, flags: 0 };
        assemble(&header, &mut sections, &segments)
    }

    /// The notes of the inner file.
    fn notes(&self) -> Vec<u8> {
        let first = self.driver < device::FIRST_HINTS;
        let model = u8::from(self.width == Width::W64);
        let mut isa: Vec<u8> = [4u16, 7].iter().flat_map(|n| n.to_le_bytes()).collect();
        isa.extend(self.isa.iter().flat_map(|n| n.to_le_bytes()));
        isa.extend(b"AMD\0AMDGPU");
        isa.resize(if first { 0x1e } else { 0x1a }, 0);
        let mut options =
            String::from(if first { "-hsa_call_convention=" } else { "-hsa_call_convention=0" });
        if self.width == Width::W32 {
            options += " -use-buffer-for-hsa-global ";
        }
        let mut producer_options = (options.len() as u16).to_le_bytes().to_vec();
        producer_options.extend(options.as_bytes());
        let mut producer: Vec<u8> = vec![0x19, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];
        producer.extend(b"AMD HSA Runtime Finalizer\0\0\0\0");
        if first {
            producer = vec![0; 8];
        }
        let mut records = vec![
            (1u32, vec![1, 0, 0, 0, 0, 0, 0, 0]),
            (2, vec![1, 0, 0, 0, 0, 0, 0, 0, 1, model, 1, 0]),
            (3, isa),
            (4, producer),
            (5, producer_options),
        ];
        if first {
            let last = records.remove(4);
            records.insert(2, last);
        }
        let mut bytes = Vec::new();
        for (kind, contents) in records {
            for n in [4, contents.len() as u32, kind] {
                bytes.extend(n.to_le_bytes());
            }
            bytes.extend(b"AMD\0");
            bytes.extend(&contents);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        bytes
    }

    /// Asks for a sampler's handle in the constants.
    pub fn sampler_relocation(offset: u64, sampler: u32) -> Relocation {
        let target = Target::Sampler(sampler);
        Relocation { place: LoadedSection::Constants, offset, ty: R_V1_INIT_SAMPLER, target, addend: 0 }
    }
}

fn extra(e: &Extra) -> Section<'_> {
    let ty = if e.ty == SHT_NULL { SHT_PROGBITS } else { e.ty };
    Section {
        name: &e.name,
        ty,
        flags: e.flags,
        align: e.align.max(1),
        data: if ty == SHT_NOBITS { Vec::new() } else { e.data.clone() },
        nobits: e.data.len() as u64,
        ..Section::default()
    }
}
