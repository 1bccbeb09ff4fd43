//! Writing relocatable ELF objects: a plain model in, bytes out, in the order LLVM's assembler has.

use crate::elf::{
    EM_AMDGPU, SHF_EXCLUDE, SHF_GROUP, SHF_INFO_LINK, SHT_GROUP, SHT_LLVM_ADDRSIG, SHT_NOBITS, SHT_REL,
    SHT_RELA, SHT_STRTAB, SHT_SYMTAB,
};
use crate::strtab;

const GRP_COMDAT: u32 = 1;
const HEADER_SIZE: usize = 64;
/// Section numbers from here on have other meanings.
const SHN_LORESERVE: usize = 0xff00;

/// A relocatable object.
#[derive(Clone, Debug, Default)]
pub struct Object {
    /// `EI_OSABI`.
    pub os_abi: u8,
    /// `EI_ABIVERSION`.
    pub abi_version: u8,
    /// `e_flags`.
    pub flags: u32,
    /// The sections that have contents of their own; string, symbol and relocation tables are made.
    pub sections: Vec<Section>,
    /// The symbols in any order; in the file local ones come first.
    pub symbols: Vec<Symbol>,
    /// Relocations have their addends in the relocated places, as every system but HSA wants it.
    pub implicit_addends: bool,
    /// Symbols whose address is taken, for `.llvm_addrsig`; `None` for no such section.
    pub addrsig: Option<Vec<usize>>,
}

/// A section.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// Name.
    pub name: String,
    /// `sh_type`.
    pub ty: u32,
    /// `sh_flags`.
    pub flags: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// `sh_entsize`.
    pub entsize: u64,
    /// Contents; empty for a section that only takes room in memory.
    pub data: Vec<u8>,
    /// Size of a section that only takes room in memory.
    pub memory_size: u64,
    /// Relocations, in order.
    pub relocations: Vec<Relocation>,
    /// The section it is linked to, by index into [`Object::sections`].
    pub link: Option<usize>,
    /// Its group: signature (index into [`Object::symbols`]), and whether it is a comdat.
    pub group: Option<(usize, bool)>,
}

/// A relocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Byte of the section.
    pub offset: u64,
    /// `R_AMDGPU_*`.
    pub ty: u32,
    /// Index into [`Object::symbols`]; `None` for no symbol.
    pub symbol: Option<usize>,
    /// Added to the symbol's value; with [`Object::implicit_addends`] it must be in the section's data.
    pub addend: i64,
}

/// A symbol.
#[derive(Clone, Debug, Default)]
pub struct Symbol {
    /// Name; empty for section symbols.
    pub name: String,
    /// `STB_*`.
    pub binding: u8,
    /// `STT_*`.
    pub ty: u8,
    /// `st_other`, visibility included.
    pub other: u8,
    /// Where it is.
    pub home: Home,
    /// `st_value`.
    pub value: u64,
    /// `st_size`.
    pub size: u64,
}

/// The section of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Home {
    /// None: another object has it.
    #[default]
    Undefined,
    /// A section, by index into [`Object::sections`].
    Section(usize),
    /// The group whose signature the symbol is.
    Group,
    /// A special number: `SHN_ABS`, `SHN_COMMON`, `SHN_AMDGPU_LDS`.
    Special(u16),
}

/// One row of the section header table.
#[derive(Default)]
struct Row<'a> {
    name: &'a str,
    ty: u32,
    flags: u64,
    offset: usize,
    size: u64,
    link: usize,
    info: u32,
    align: u64,
    entsize: u64,
}

/// A position in the output.
struct Out {
    bytes: Vec<u8>,
}

impl Out {
    fn align(&mut self, align: u64) -> usize {
        let to = self.bytes.len().next_multiple_of(align.max(1) as usize);
        self.bytes.resize(to, 0);
        to
    }

    fn u16(&mut self, value: u16) {
        self.bytes.extend(value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.bytes.extend(value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.bytes.extend(value.to_le_bytes());
    }
}

/// Where things of the model are in the file.
struct Numbers {
    /// Section header of each section.
    sections: Vec<usize>,
    /// Section header of each group, with its signature.
    groups: Vec<(usize, usize)>,
    /// Number of each symbol in the symbol table.
    symbols: Vec<u32>,
    /// Section header of the symbol table.
    symtab: usize,
}

/// Writes an object; the error says what ELF has no room for.
pub fn write(object: &Object) -> Result<Vec<u8>, String> {
    let (rel, rel_type, rel_size) =
        if object.implicit_addends { (".rel", SHT_REL, 16) } else { (".rela", SHT_RELA, 24) };
    let rel_names: Vec<String> = object.sections.iter().map(|s| format!("{rel}{}", s.name)).collect();
    let mut out = Out { bytes: vec![0; HEADER_SIZE] };
    // The string table has the first header and the last place.
    let strtab = Row { name: ".strtab", ty: SHT_STRTAB, align: 1, ..Row::default() };
    let mut rows = vec![Row::default(), strtab];
    let mut numbers = Numbers { sections: Vec::new(), groups: Vec::new(), symbols: Vec::new(), symtab: 0 };
    let mut members: Vec<(bool, Vec<u32>)> = Vec::new();
    let mut rel_rows = Vec::new();

    for (i, section) in object.sections.iter().enumerate() {
        let offset = out.align(section.align);
        out.bytes.extend_from_slice(&section.data);
        let mut group = None;
        if let Some((signature, comdat)) = section.group {
            let known = numbers.groups.iter().position(|g| g.1 == signature);
            group = Some(known.unwrap_or_else(|| {
                numbers.groups.push((rows.len(), signature));
                members.push((comdat, Vec::new()));
                rows.push(Row { name: ".group", ty: SHT_GROUP, align: 4, entsize: 4, ..Row::default() });
                members.len() - 1
            }));
        }
        let number = rows.len();
        numbers.sections.push(number);
        let size = if section.ty == SHT_NOBITS { section.memory_size } else { section.data.len() as u64 };
        let (ty, flags, align, entsize) = (section.ty, section.flags, section.align.max(1), section.entsize);
        rows.push(Row { name: &section.name, ty, flags, offset, size, align, entsize, ..Row::default() });
        let mut in_group = vec![number as u32];
        if !section.relocations.is_empty() {
            let flags = if section.flags & SHF_GROUP != 0 { SHF_GROUP } else { SHF_INFO_LINK };
            in_group.push(rows.len() as u32);
            rel_rows.push((rows.len(), i));
            let info = number as u32;
            rows.push(Row {
                name: &rel_names[i],
                ty: rel_type,
                flags,
                info,
                align: 8,
                entsize: rel_size,
                ..Row::default()
            });
        }
        if let Some(group) = group {
            members[group].1.extend(in_group);
        }
    }
    for (section, &number) in object.sections.iter().zip(&numbers.sections) {
        if let Some(link) = section.link {
            rows[number].link = *numbers.sections.get(link).ok_or("a section is linked to none")?;
        }
    }
    for ((comdat, members), &(number, _)) in members.iter().zip(&numbers.groups) {
        rows[number].offset = out.align(4);
        out.u32(if *comdat { GRP_COMDAT } else { 0 });
        members.iter().for_each(|&m| out.u32(m));
        rows[number].size = 4 * (members.len() as u64 + 1);
    }
    let addrsig = object.addrsig.as_ref().map(|_| rows.len());
    if addrsig.is_some() {
        let row = Row {
            name: ".llvm_addrsig",
            ty: SHT_LLVM_ADDRSIG,
            flags: SHF_EXCLUDE,
            align: 1,
            ..Row::default()
        };
        rows.push(row);
    }
    numbers.symtab = rows.len();
    rows.push(Row { name: ".symtab", ty: SHT_SYMTAB, align: 8, entsize: 24, link: 1, ..Row::default() });
    if rows.len() >= SHN_LORESERVE {
        return Err(format!("{} sections are more than an object can have", rows.len()));
    }

    let mut names = strtab::Builder::default();
    rows.iter().for_each(|r| names.add(r.name));
    object.symbols.iter().for_each(|s| names.add(&s.name));
    let names = names.finish();

    write_symbols(object, &mut numbers, &names, &mut rows, &mut out);
    for &(row, i) in &rel_rows {
        rows[row].offset = out.align(8);
        rows[row].link = numbers.symtab;
        for r in &object.sections[i].relocations {
            let symbol = r.symbol.and_then(|s| numbers.symbols.get(s)).copied().unwrap_or(0);
            out.u64(r.offset);
            out.u64(u64::from(symbol) << 32 | u64::from(r.ty));
            if !object.implicit_addends {
                out.u64(r.addend as u64);
            }
        }
        rows[row].size = rel_size * object.sections[i].relocations.len() as u64;
    }
    for &(number, signature) in &numbers.groups {
        rows[number].link = numbers.symtab;
        rows[number].info = numbers.symbols.get(signature).copied().unwrap_or(0);
    }
    if let (Some(row), Some(symbols)) = (addrsig, &object.addrsig) {
        rows[row].offset = out.bytes.len();
        rows[row].link = numbers.symtab;
        for number in symbols.iter().filter_map(|&s| numbers.symbols.get(s).copied()).filter(|&n| n != 0) {
            leb128(number, &mut out.bytes);
        }
        rows[row].size = (out.bytes.len() - rows[row].offset) as u64;
    }
    rows[1].offset = out.bytes.len();
    rows[1].size = names.bytes.len() as u64;
    out.bytes.extend_from_slice(&names.bytes);
    let headers = out.align(8);
    for row in &rows {
        write_row(row, &names, &mut out);
    }
    write_header(object, headers, rows.len(), &mut out.bytes);
    Ok(out.bytes)
}

fn leb128(mut value: u32, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn write_symbols(
    object: &Object,
    numbers: &mut Numbers,
    names: &strtab::Table<'_>,
    rows: &mut [Row<'_>],
    out: &mut Out,
) {
    let is_local = |s: &Symbol| s.binding == 0;
    let locals = object.symbols.iter().enumerate().filter(|(_, s)| is_local(s));
    let others = object.symbols.iter().enumerate().filter(|(_, s)| !is_local(s));
    numbers.symbols = vec![0; object.symbols.len()];
    let start = out.align(8);
    out.bytes.resize(start + 24, 0);
    for (number, (i, symbol)) in (1..).zip(locals.chain(others)) {
        numbers.symbols[i] = number;
        let section = match symbol.home {
            Home::Undefined => 0,
            Home::Section(s) => numbers.sections.get(s).copied().unwrap_or(0) as u16,
            Home::Group => numbers.groups.iter().find(|g| g.1 == i).map_or(0, |g| g.0) as u16,
            Home::Special(number) => number,
        };
        out.u32(names.offset(&symbol.name));
        out.bytes.extend([symbol.binding << 4 | symbol.ty & 0xf, symbol.other]);
        out.u16(section);
        out.u64(symbol.value);
        out.u64(symbol.size);
    }
    let row = &mut rows[numbers.symtab];
    row.offset = start;
    row.size = (out.bytes.len() - start) as u64;
    row.info = 1 + object.symbols.iter().filter(|s| is_local(s)).count() as u32;
}

fn write_row(row: &Row<'_>, names: &strtab::Table<'_>, out: &mut Out) {
    out.u32(names.offset(row.name));
    out.u32(row.ty);
    out.u64(row.flags);
    out.u64(0);
    out.u64(row.offset as u64);
    out.u64(row.size);
    out.u32(row.link as u32);
    out.u32(row.info);
    out.u64(row.align);
    out.u64(row.entsize);
}

fn write_header(object: &Object, section_headers: usize, count: usize, bytes: &mut [u8]) {
    let mut header = Out { bytes: Vec::with_capacity(HEADER_SIZE) };
    // 64 bits, little-endian, version 1.
    header.bytes.extend(*b"\x7fELF\x02\x01\x01");
    header.bytes.extend([object.os_abi, object.abi_version, 0, 0, 0, 0, 0, 0, 0]);
    // A relocatable file.
    header.u16(1);
    header.u16(EM_AMDGPU);
    header.u32(1);
    // No entry point, no program headers.
    header.u64(0);
    header.u64(0);
    header.u64(section_headers as u64);
    header.u32(object.flags);
    header.u16(HEADER_SIZE as u16);
    header.u16(0);
    header.u16(0);
    header.u16(64);
    header.u16(count as u16);
    // Section names share the string table.
    header.u16(1);
    bytes[..HEADER_SIZE].copy_from_slice(&header.bytes);
}
