//! The output file's contents: symbol tables, hash tables, dynamic section, relocated words, headers.

use super::layout::{Layout, Section, Segment, binding};
use super::lookup::{bloom_words, gnu_buckets, gnu_hash, sysv_hash};
use super::relocate::{Dynamic, Relocations, Target, is_preemptible, tombstone};
use super::resolve::Globals;
use super::{Error, Header, Object};
use crate::elf::{self, SHF_ALLOC, SHF_MERGE, SHT_NOBITS, STT_SECTION};
use std::collections::HashMap;

/// The second bit of the bloom filter is the hash shifted by this.
const BLOOM_SHIFT: u32 = 26;

/// What the linker adds to `.comment`.
const PRODUCER: &str = concat!("Linker: Wavemill ", env!("CARGO_PKG_VERSION"));

/// A string table without sharing of endings; equal strings share.
struct Strings<'a> {
    bytes: Vec<u8>,
    offsets: HashMap<&'a str, u32>,
}

impl<'a> Strings<'a> {
    fn new() -> Self {
        Strings { bytes: vec![0], offsets: HashMap::from([("", 0)]) }
    }

    fn add(&mut self, string: &'a str) -> u32 {
        let bytes = &mut self.bytes;
        *self.offsets.entry(string).or_insert_with(|| {
            let at = bytes.len() as u32;
            bytes.extend_from_slice(string.as_bytes());
            bytes.push(0);
            at
        })
    }
}

/// One row of a symbol table.
struct Row {
    name: u32,
    info: u8,
    other: u8,
    section: u16,
    value: u64,
    size: u64,
}

impl Row {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.name.to_le_bytes());
        out.extend([self.info, self.other]);
        out.extend(self.section.to_le_bytes());
        out.extend(self.value.to_le_bytes());
        out.extend(self.size.to_le_bytes());
    }
}

const NULL_ROW: Row = Row { name: 0, info: 0, other: 0, section: 0, value: 0, size: 0 };

/// What the symbol table lists: local symbols of each object with those that have become local, then the others.
enum Listed {
    Local(usize, usize),
    Global(usize),
    Dynamic,
}

fn listed(objects: &[Object<'_>], symbols: &Globals<'_>) -> (Vec<Listed>, usize) {
    let mut by_object: Vec<Vec<Listed>> = objects
        .iter()
        .enumerate()
        .map(|(number, object)| {
            let all = object.file.symbols.iter().enumerate().skip(1);
            let kept = |s: &crate::read::Symbol<'_>| {
                let dropped = object.kept.get(s.section as usize) == Some(&false);
                // Assemblers keep labels of mergeable sections for relocations only.
                let merged =
                    object.file.sections.get(s.section as usize).is_some_and(|s| s.flags & SHF_MERGE != 0);
                let label = merged && s.name.starts_with(".L");
                s.binding == 0 && s.ty != STT_SECTION && !dropped && s.section != 0 && !label
            };
            all.filter(|(_, s)| kept(s)).map(|(i, _)| Listed::Local(number, i)).collect()
        })
        .collect();
    let mut global = Vec::new();
    for (id, symbol) in symbols.all.iter().enumerate() {
        if !symbol.is_local() {
            global.push(Listed::Global(id));
        } else if symbol.is_defined() {
            let home = symbol.definition.map_or(symbol.first, |d| d.0);
            by_object[home].push(Listed::Global(id));
        }
    }
    let mut all: Vec<Listed> = by_object.into_iter().flatten().collect();
    all.push(Listed::Dynamic);
    let locals = all.len() + 1;
    all.extend(global);
    (all, locals)
}

/// The sizes of the sections that the linker makes, by their first numbers.
pub(super) fn sizes(
    objects: &[Object<'_>],
    symbols: &Globals<'_>,
    layout: &Layout,
    relocations: &Relocations,
) -> Vec<(usize, u64)> {
    let ids = layout.ids;
    let dynamic = layout.dynamic_symbols.len() as u64;
    let defined = layout.dynamic_symbols.iter().filter(|&&i| symbols.all[i].is_defined()).count();
    let gnu = 16 + 8 * bloom_words(defined) as u64 + 4 * u64::from(gnu_buckets(defined)) + 4 * defined as u64;
    let mut dynstr = Strings::new();
    layout.dynamic_symbols.iter().for_each(|&i| _ = dynstr.add(symbols.all[i].name));
    let (rows, _) = listed(objects, symbols);
    let mut strtab = Strings::new();
    names_by_age(&rows, objects, symbols, &mut strtab);
    let relas = relocations.dynamic.len() as u64;
    let mut shstrtab = Strings::new();
    let names = layout.sections.iter().enumerate().filter(|&(i, _)| match i {
        i if i == ids.got => !relocations.got.is_empty(),
        i if i == ids.rela_dyn => relas != 0,
        i => !layout.is_stripped(i),
    });
    names.for_each(|(_, s)| _ = shstrtab.add(&s.name));
    let mut sizes = vec![
        (ids.dynsym, 24 * (dynamic + 1)),
        (ids.gnu_hash, gnu),
        (ids.hash, 4 * (2 + 2 * (dynamic + 1))),
        (ids.dynstr, dynstr.bytes.len() as u64),
        (ids.got, 8 * relocations.got.len() as u64),
        (ids.rela_dyn, 24 * relas),
        (ids.dynamic, 16 * dynamic_tags(relas != 0)),
        (ids.symtab, 24 * (rows.len() as u64 + 1)),
        (ids.shstrtab, shstrtab.bytes.len() as u64),
        (ids.strtab, strtab.bytes.len() as u64),
    ];
    if let Some(id) = layout.sections.iter().position(|s| s.name == ".comment") {
        sizes.push((id, comment(objects).len() as u64));
    }
    sizes
}

/// Producers' names, each once.
fn comment(objects: &[Object<'_>]) -> Vec<u8> {
    let mut seen = Vec::new();
    let comments = objects.iter().flat_map(|o| o.file.sections.iter().filter(|s| s.name == ".comment"));
    for text in comments.flat_map(|s| s.data.split(|b| *b == 0)).chain([PRODUCER.as_bytes()]) {
        if !text.is_empty() && !seen.contains(&text) {
            seen.push(text);
        }
    }
    seen.into_iter().flat_map(|t| t.iter().copied().chain([0])).collect()
}

fn dynamic_tags(has_relocations: bool) -> u64 {
    7 + if has_relocations { 4 } else { 0 }
}

/// Adds the names of a symbol table in the order in which the symbols came up: local ones, then the global ones,
/// some of which have become local.
fn names_by_age<'a>(
    rows: &[Listed],
    objects: &[Object<'a>],
    symbols: &Globals<'a>,
    strings: &mut Strings<'a>,
) {
    let mut globals = Vec::new();
    for row in rows {
        match row {
            Listed::Global(id) => globals.push(*id),
            Listed::Local(..) => _ = strings.add(row_name(row, objects, symbols)),
            Listed::Dynamic => {}
        }
    }
    globals.sort_unstable();
    for id in globals {
        strings.add(symbols.all[id].name);
    }
    strings.add("_DYNAMIC");
}

fn row_name<'a>(row: &Listed, objects: &[Object<'a>], symbols: &Globals<'a>) -> &'a str {
    match row {
        Listed::Local(object, symbol) => objects[*object].file.symbols[*symbol].name,
        Listed::Global(id) => symbols.all[*id].name,
        Listed::Dynamic => "_DYNAMIC",
    }
}

/// What a symbol table says about a global symbol.
fn global_row(id: usize, name: u32, objects: &[Object<'_>], symbols: &Globals<'_>, layout: &Layout) -> Row {
    let global = &symbols.all[id];
    let (section, size, other) = match (global.definition, global.common) {
        (Some((object, symbol)), _) => {
            let object = &objects[object];
            let original = &object.file.symbols[symbol];
            (layout.section_of(object, symbol), original.size, original.other & !3)
        }
        (None, Some((size, _))) => (layout.now(layout.ids.bss) as u16, size, 0),
        (None, None) => (0, 0, 0),
    };
    Row {
        name,
        info: binding(global) << 4 | global.ty & 0xf,
        other: other | global.visibility,
        section,
        value: layout.global_address(id, objects, symbols),
        size,
    }
}

/// Writes the file.
pub(super) fn write(
    objects: &[Object<'_>],
    symbols: &Globals<'_>,
    layout: &Layout,
    relocations: Relocations,
    header: Header,
    errors: &mut Vec<Error>,
) -> Vec<u8> {
    let mut contents = made_contents(objects, symbols, layout, &relocations);
    let mut sections = layout.sections.clone();
    if !layout.is_stripped(layout.ids.symtab) {
        let (_, locals) = listed(objects, symbols);
        sections[layout.now(layout.ids.symtab)].info = locals as u32;
    }
    sections[layout.now(layout.ids.dynsym)].info = 1;
    let end =
        sections.iter().skip(1).filter(|s| s.ty != SHT_NOBITS).map(|s| s.offset + s.size).max().unwrap_or(0);
    let headers_at = end.next_multiple_of(8);
    let file_size = headers_at + 64 * sections.len() as u64;
    let input_size: usize = objects.iter().map(|o| o.file.data.len()).sum();
    // Alignments make room, but not without bound.
    if file_size > (input_size as u64 + (1 << 20)) * 4 {
        errors.push(Error::new(
            "",
            format!("the output would have {file_size} bytes: an alignment is too large"),
        ));
        return Vec::new();
    }
    let mut out = vec![0; file_size as usize];
    for object in objects {
        copy_sections(object, layout, &sections, &mut out);
    }
    for merged in &layout.merged {
        let section = &sections[layout.now(merged.place.0)];
        if section.name != ".comment" {
            let start = (section.offset + merged.place.1) as usize;
            out[start..][..merged.bytes.len()].copy_from_slice(&merged.bytes);
        }
    }
    for (id, bytes) in contents.drain(..) {
        let section = &sections[layout.now(id)];
        out[section.offset as usize..][..bytes.len()].copy_from_slice(&bytes);
    }
    if let Some(section) = sections.iter().find(|s| s.name == ".comment") {
        let text = comment(objects);
        out[section.offset as usize..][..text.len()].copy_from_slice(&text);
    }
    apply(objects, symbols, layout, &relocations, &mut out, errors);
    let mut names = Strings::new();
    for section in &sections {
        names.add(&section.name);
    }
    write_headers(&sections, layout, header, headers_at, &mut names, &mut out);
    let shstrtab = &sections[layout.now(layout.ids.shstrtab)];
    let length = names.bytes.len().min(shstrtab.size as usize);
    out[shstrtab.offset as usize..][..length].copy_from_slice(&names.bytes[..length]);
    out
}

fn copy_sections(object: &Object<'_>, layout: &Layout, sections: &[Section], out: &mut [u8]) {
    for number in 0..object.file.sections.len() {
        let Some((id, at)) = object.places[number].filter(|_| !object.pieces.contains_key(&number)) else {
            continue;
        };
        let section = &sections[layout.now(id)];
        if section.ty == SHT_NOBITS || section.name == ".comment" {
            continue;
        }
        let data = object.data(number);
        out[(section.offset + at) as usize..][..data.len()].copy_from_slice(data);
    }
}

/// The contents of the sections that the linker makes.
fn made_contents(
    objects: &[Object<'_>],
    symbols: &Globals<'_>,
    layout: &Layout,
    relocations: &Relocations,
) -> Vec<(usize, Vec<u8>)> {
    let ids = layout.ids;
    let mut dynstr = Strings::new();
    // Strings are in the order of the symbols' first mention, not in that of the table.
    let mut by_age = layout.dynamic_symbols.clone();
    by_age.sort_unstable();
    for &id in &by_age {
        dynstr.add(symbols.all[id].name);
    }
    let mut dynsym = Vec::new();
    NULL_ROW.write(&mut dynsym);
    for &id in &layout.dynamic_symbols {
        let name = dynstr.add(symbols.all[id].name);
        global_row(id, name, objects, symbols, layout).write(&mut dynsym);
    }
    let mut strtab = Strings::new();
    let mut symtab = Vec::new();
    NULL_ROW.write(&mut symtab);
    let (rows, _) = listed(objects, symbols);
    names_by_age(&rows, objects, symbols, &mut strtab);
    for row in rows {
        let name = strtab.add(row_name(&row, objects, symbols));
        let row = match row {
            Listed::Global(id) => global_row(id, name, objects, symbols, layout),
            Listed::Local(number, symbol) => {
                let object = &objects[number];
                let original = &object.file.symbols[symbol];
                Row {
                    name,
                    info: original.ty & 0xf,
                    other: original.other,
                    section: layout.section_of(object, symbol),
                    value: layout.symbol_address(object, symbol),
                    size: original.size,
                }
            }
            Listed::Dynamic => {
                let section = layout.now(ids.dynamic);
                let value = layout.sections[section].address;
                Row { name, info: 0, other: 2, section: section as u16, value, size: 0 }
            }
        };
        row.write(&mut symtab);
    }
    let mut contents = vec![
        (ids.dynstr, dynstr.bytes),
        (ids.dynsym, dynsym),
        (ids.strtab, strtab.bytes),
        (ids.symtab, symtab),
        (ids.gnu_hash, gnu_table(symbols, layout)),
        (ids.hash, sysv_table(symbols, layout)),
        (ids.dynamic, dynamic_section(layout, relocations)),
    ];
    if !relocations.dynamic.is_empty() {
        contents.push((ids.rela_dyn, dynamic_relocations(objects, symbols, layout, relocations)));
    }
    contents.retain(|(id, _)| !layout.is_stripped(*id));
    contents
}

fn gnu_table(symbols: &Globals<'_>, layout: &Layout) -> Vec<u8> {
    let defined: Vec<usize> =
        layout.dynamic_symbols.iter().copied().filter(|&i| symbols.all[i].is_defined()).collect();
    let first = 1 + layout.dynamic_symbols.len() - defined.len();
    let buckets = gnu_buckets(defined.len());
    let hashes: Vec<u32> = defined.iter().map(|&i| gnu_hash(symbols.all[i].name)).collect();
    let mut bloom = vec![0u64; bloom_words(defined.len())];
    let words = bloom.len();
    for h in &hashes {
        let word = &mut bloom[(*h as usize / 64) & (words - 1)];
        *word |= 1 << (h % 64) | 1 << ((h >> BLOOM_SHIFT) % 64);
    }
    let mut table = vec![0u32; buckets as usize];
    let mut values = Vec::with_capacity(hashes.len());
    for (i, h) in hashes.iter().enumerate() {
        let bucket = h % buckets;
        let last = hashes.get(i + 1).is_none_or(|next| next % buckets != bucket);
        values.push(if last { h | 1 } else { h & !1 });
        if table[bucket as usize] == 0 {
            table[bucket as usize] = (first + i) as u32;
        }
    }
    let mut out = Vec::new();
    for word in [buckets, first as u32, words as u32, BLOOM_SHIFT] {
        out.extend(word.to_le_bytes());
    }
    out.extend(bloom.iter().flat_map(|w| w.to_le_bytes()));
    out.extend(table.iter().chain(&values).flat_map(|w| w.to_le_bytes()));
    out
}

fn sysv_table(symbols: &Globals<'_>, layout: &Layout) -> Vec<u8> {
    let count = layout.dynamic_symbols.len() + 1;
    let mut buckets = vec![0u32; count];
    let mut chains = vec![0u32; count];
    for (i, &id) in layout.dynamic_symbols.iter().enumerate() {
        let bucket = sysv_hash(symbols.all[id].name) as usize % count;
        chains[i + 1] = buckets[bucket];
        buckets[bucket] = i as u32 + 1;
    }
    let head = [count as u32, count as u32];
    head.iter().chain(&buckets).chain(&chains).flat_map(|w| w.to_le_bytes()).collect()
}

fn dynamic_section(layout: &Layout, relocations: &Relocations) -> Vec<u8> {
    let ids = layout.ids;
    let section = |id: usize| &layout.sections[layout.now(id)];
    let mut tags: Vec<(u64, u64)> = Vec::new();
    if !relocations.dynamic.is_empty() {
        let rela = section(ids.rela_dyn);
        let relative = relocations.relative;
        tags.extend([(7, rela.address), (8, rela.size), (9, 24), (0x6fff_fff9, relative)]);
    }
    tags.extend([
        (6, section(ids.dynsym).address),
        (11, 24),
        (5, section(ids.dynstr).address),
        (10, section(ids.dynstr).size),
        (0x6fff_fef5, section(ids.gnu_hash).address),
        (4, section(ids.hash).address),
        (0, 0),
    ]);
    tags.iter().flat_map(|(tag, value)| tag.to_le_bytes().into_iter().chain(value.to_le_bytes())).collect()
}

/// The address of what a relocation refers to, its addend included.
fn target_address(
    target: Target,
    addend: i64,
    objects: &[Object<'_>],
    symbols: &Globals<'_>,
    layout: &Layout,
) -> u64 {
    let addend = addend as u64;
    match target {
        Target::None => addend,
        Target::Global(id) => layout.global_address(id, objects, symbols).wrapping_add(addend),
        Target::Local(object, symbol) => layout.symbol_plus(&objects[object], symbol, addend),
    }
}

fn dynamic_relocations(
    objects: &[Object<'_>],
    symbols: &Globals<'_>,
    layout: &Layout,
    relocations: &Relocations,
) -> Vec<u8> {
    let numbers: HashMap<usize, u64> = (1..).zip(&layout.dynamic_symbols).map(|(n, &id)| (id, n)).collect();
    let got = layout.sections[layout.now(layout.ids.got)].address;
    let mut rows: Vec<(bool, u64, u64, u64, i64)> = Vec::new();
    for dynamic in &relocations.dynamic {
        let (place, target, addend) = match *dynamic {
            Dynamic::Got(index) => (got + 8 * index as u64, relocations.got[index], 0),
            Dynamic::Input(object, section, offset, target, addend) => {
                let place = objects[object].places[section]
                    .map_or(0, |(id, at)| layout.sections[layout.now(id)].address + at);
                (place + offset, target, addend)
            }
        };
        rows.push(match target {
            Target::Global(id) if is_preemptible(target, symbols) => {
                let symbol = numbers.get(&id).copied().unwrap_or(0);
                (true, symbol, place, symbol << 32 | u64::from(elf::R_AMDGPU_ABS64), addend)
            }
            _ => {
                let address = target_address(target, addend, objects, symbols, layout);
                (false, 0, place, u64::from(elf::R_AMDGPU_RELATIVE64), address as i64)
            }
        });
    }
    // Relative ones first, by place; then by symbol and place.
    rows.sort_by_key(|&(symbolic, symbol, place, ..)| (symbolic, symbol, place));
    let bytes = |(_, _, place, info, addend): (bool, u64, u64, u64, i64)| {
        place.to_le_bytes().into_iter().chain(info.to_le_bytes()).chain(addend.to_le_bytes())
    };
    rows.into_iter().flat_map(bytes).collect()
}

/// Fills in the words that relocations ask for.
fn apply(
    objects: &[Object<'_>],
    symbols: &Globals<'_>,
    layout: &Layout,
    relocations: &Relocations,
    out: &mut [u8],
    errors: &mut Vec<Error>,
) {
    let got = layout.sections[layout.now(layout.ids.got)].address;
    for place in &relocations.inputs {
        let object = &objects[place.object];
        let Some((id, at)) = object.places[place.section] else { continue };
        let section = &layout.sections[layout.now(id)];
        if section.ty == SHT_NOBITS {
            continue;
        }
        let r = &place.relocation;
        let here = section.address.wrapping_add(at).wrapping_add(r.offset);
        let preemptible = section.is_alloc() && is_preemptible(place.target, symbols);
        let absolute = target_address(place.target, r.addend, objects, symbols, layout);
        let relative = absolute.wrapping_sub(here);
        let entry = relocations.got_index.get(&place.target).map_or(0, |i| got + 8 * *i as u64);
        let by_got = entry.wrapping_add(r.addend as u64).wrapping_sub(here);
        let tombstone =
            if section.is_alloc() { None } else { tombstone(&section.name, place.target, objects, symbols) };
        let value = match r.ty {
            elf::R_AMDGPU_NONE => continue,
            _ if tombstone.is_some() => tombstone.unwrap_or_default(),
            // What the loader fills in is zero in the file.
            elf::R_AMDGPU_ABS64 if preemptible || is_dynamic(place, object, relocations) => continue,
            elf::R_AMDGPU_ABS64 | elf::R_AMDGPU_ABS32 | elf::R_AMDGPU_ABS32_LO => absolute,
            elf::R_AMDGPU_ABS32_HI => absolute >> 32,
            elf::R_AMDGPU_REL64 | elf::R_AMDGPU_REL32 | elf::R_AMDGPU_REL32_LO => relative,
            elf::R_AMDGPU_REL32_HI => relative >> 32,
            elf::R_AMDGPU_GOTPCREL | elf::R_AMDGPU_GOTPCREL32_LO => by_got,
            elf::R_AMDGPU_GOTPCREL32_HI => by_got >> 32,
            elf::R_AMDGPU_REL16 => {
                let words = (relative as i64 - 4) / 4;
                if i16::try_from(words).is_err() {
                    let message =
                        format!("{}+{:#x}: a branch of {words} words is too far", section.name, r.offset);
                    errors.push(Error::new(&object.name, message));
                }
                words as u64
            }
            _ => continue,
        };
        let size = elf::reloc_type(r.ty).map_or(0, |t| usize::from(t.size));
        let start = (section.offset + at + r.offset) as usize;
        out[start..start + size].copy_from_slice(&value.to_le_bytes()[..size]);
    }
}

/// Does the loader fill the place in?
fn is_dynamic(
    place: &super::relocate::InputRelocation,
    object: &Object<'_>,
    relocations: &Relocations,
) -> bool {
    let flags = object.file.sections[place.section].flags;
    flags & SHF_ALLOC != 0
        && relocations.filled.contains(&(place.object, place.section, place.relocation.offset))
}

fn write_headers(
    sections: &[Section],
    layout: &Layout,
    header: Header,
    headers_at: u64,
    names: &mut Strings<'_>,
    out: &mut [u8],
) {
    let mut head = Vec::with_capacity(64);
    head.extend(*b"\x7fELF\x02\x01\x01");
    head.extend([header.os_abi, header.abi_version, 0, 0, 0, 0, 0, 0, 0]);
    // A shared file for AMD GPUs.
    head.extend(3u16.to_le_bytes());
    head.extend(elf::EM_AMDGPU.to_le_bytes());
    head.extend(1u32.to_le_bytes());
    for word in [0, 64, headers_at] {
        head.extend(word.to_le_bytes());
    }
    head.extend(header.flags.to_le_bytes());
    let shstrtab = layout.now(layout.ids.shstrtab) as u16;
    for half in [64, 56, layout.segment_count() as u16, 64, sections.len() as u16, shstrtab] {
        head.extend(half.to_le_bytes());
    }
    out[..64].copy_from_slice(&head);

    let mut at = 64;
    let mut put = |ty: u32, flags: u32, offset: u64, address: u64, sizes: (u64, u64), align: u64| {
        let mut row = Vec::with_capacity(56);
        row.extend(ty.to_le_bytes());
        row.extend(flags.to_le_bytes());
        for word in [offset, address, address, sizes.0, sizes.1, align] {
            row.extend(word.to_le_bytes());
        }
        out[at..at + 56].copy_from_slice(&row);
        at += 56;
    };
    let own_size = 56 * layout.segment_count();
    put(6, 4, 64, 64, (own_size, own_size), 8);
    for segment in layout.loads.iter().chain(&layout.other_segments()) {
        let (offset, address, file, memory) = extent(segment, sections);
        put(segment.ty, segment.flags, offset, address, (file, memory), segment.align);
    }

    for (i, section) in sections.iter().enumerate() {
        let mut row = Vec::with_capacity(64);
        let name = names.offsets.get(section.name.as_str()).copied().unwrap_or(0);
        row.extend(name.to_le_bytes());
        row.extend(section.ty.to_le_bytes());
        for word in [section.flags, section.address, section.offset, section.size] {
            row.extend(word.to_le_bytes());
        }
        row.extend((section.link as u32).to_le_bytes());
        row.extend(section.info.to_le_bytes());
        row.extend(section.align.to_le_bytes());
        row.extend(section.entsize.to_le_bytes());
        let start = headers_at as usize + 64 * i;
        out[start..start + 64].copy_from_slice(&row);
    }
}

/// Offset, address, size in the file and in memory of a segment.
fn extent(segment: &Segment, sections: &[Section]) -> (u64, u64, u64, u64) {
    if segment.first == 0 && segment.ty != 1 {
        return (0, 0, 0, 0);
    }
    let (first, last) = (&sections[segment.first], &sections[segment.last]);
    // The first loaded segment holds the headers too.
    let (offset, address) = if segment.first == 0 { (0, 0) } else { (first.offset, first.address) };
    let with_bits = (segment.first..=segment.last).rev().find(|&i| sections[i].ty != SHT_NOBITS);
    let file_end = with_bits.map_or(offset, |i| sections[i].offset.saturating_add(sections[i].size));
    // Sections of odd types may be out of order; what they make is odd, but no more than that.
    let memory_end = last.address.saturating_add(last.size);
    (offset, address, file_end.saturating_sub(offset), memory_end.saturating_sub(address))
}
