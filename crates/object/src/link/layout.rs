//! Output sections, their order and their addresses.

use super::lookup::{gnu_buckets, gnu_hash};
use super::merge::{self, Kind};
use super::resolve::Globals;
use super::{Error, Object, Options, Strip};
use crate::elf::{
    SHF_ALLOC, SHF_COMPRESSED, SHF_EXECINSTR, SHF_GROUP, SHF_INFO_LINK, SHF_LINK_ORDER, SHF_MERGE,
    SHF_STRINGS, SHF_WRITE, SHN_ABS, SHT_DYNAMIC, SHT_DYNSYM, SHT_GNU_HASH, SHT_HASH, SHT_NOBITS, SHT_NOTE,
    SHT_PROGBITS, SHT_RELA, SHT_STRTAB, SHT_SYMTAB, STB_WEAK, STT_SECTION,
};
use crate::unpack;
use std::collections::{HashMap, HashSet};

/// Segments start in pages of their own.
pub(super) const PAGE: u64 = 0x1000;
const HEADER: u64 = 64;
const PROGRAM_HEADER: u64 = 56;

/// An output section.
#[derive(Clone, Debug, Default)]
pub(super) struct Section {
    pub name: String,
    pub ty: u32,
    pub flags: u64,
    pub align: u64,
    pub entsize: u64,
    pub link: usize,
    pub info: u32,
    pub address: u64,
    pub offset: u64,
    pub size: u64,
    /// Written by the loader while it relocates, read-only afterwards.
    pub relro: bool,
    /// What it is made of, in order.
    parts: Vec<Part>,
}

impl Section {
    fn made(name: &str, ty: u32, flags: u64, align: u64, entsize: u64) -> Section {
        Section { name: name.into(), ty, flags, align, entsize, ..Section::default() }
    }

    pub fn is_alloc(&self) -> bool {
        self.flags & SHF_ALLOC != 0
    }

    /// Where it stands among the others: what is loaded first, and that by what may be done with it.
    fn rank(&self) -> u32 {
        let nobits = u32::from(self.ty == SHT_NOBITS);
        match (self.is_alloc(), self.flags & SHF_WRITE != 0, self.flags & SHF_EXECINSTR != 0) {
            (false, ..) => 1000,
            (true, false, false) => match self.ty {
                SHT_NOTE => 0,
                SHT_PROGBITS => 20,
                _ => 10,
            },
            (true, false, true) => 30 + nobits,
            (true, true, true) => 40 + nobits,
            (true, true, false) => 50 + if self.relro { 0 } else { 10 } + nobits,
        }
    }
}

/// A part of an output section.
#[derive(Clone, Debug)]
enum Part {
    /// An input section: object and number.
    Input(usize, usize),
    /// Merged sections, by their place in [`Layout::merged`].
    Merged(usize),
}

/// Sections that are merged with each other.
pub(super) struct Merged {
    kind: Kind,
    /// Objects and numbers of the sections.
    inputs: Vec<(usize, usize)>,
    /// The output section and the offset in it.
    pub place: (usize, u64),
    /// What they come to.
    pub bytes: Vec<u8>,
}

/// A segment: its type, flags and the output sections it covers.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    pub ty: u32,
    pub flags: u32,
    pub first: usize,
    pub last: usize,
    pub align: u64,
}

/// The output file's plan.
pub(super) struct Layout {
    pub sections: Vec<Section>,
    pub loads: Vec<Segment>,
    pub merged: Vec<Merged>,
    /// By place in `sections` before sorting; see [`Layout::now`].
    moved: Vec<usize>,
    /// Common symbols: offset in `.bss`, by global symbol.
    pub commons: HashMap<usize, u64>,
    /// Order of the dynamic symbols, by global symbol.
    pub dynamic_symbols: Vec<usize>,
    pub ids: Made,
    strip: Strip,
}

/// The numbers of the sections that the linker makes.
#[derive(Clone, Copy, Default)]
pub(super) struct Made {
    pub build_id: usize,
    pub dynsym: usize,
    pub gnu_hash: usize,
    pub hash: usize,
    pub dynstr: usize,
    pub rela_dyn: usize,
    pub dynamic: usize,
    pub got: usize,
    pub padding: usize,
    pub bss: usize,
    pub symtab: usize,
    pub shstrtab: usize,
    pub strtab: usize,
}

/// The output section of an input section: `.text.foo` goes to `.text`.
fn output_name(name: &str) -> &str {
    const BASES: [&str; 13] = [
        ".text",
        ".data.rel.ro",
        ".data",
        ".rodata",
        ".bss.rel.ro",
        ".bss",
        ".gcc_except_table",
        ".init_array",
        ".fini_array",
        ".tbss",
        ".tdata",
        ".ctors",
        ".dtors",
    ];
    let is_base =
        |base: &&&str| name.strip_prefix(**base).is_some_and(|r| r.is_empty() || r.starts_with('.'));
    BASES.iter().find(is_base).copied().unwrap_or(name)
}

fn is_relro(name: &str, ty: u32) -> bool {
    matches!(name, ".data.rel.ro" | ".bss.rel.ro" | ".ctors" | ".dtors" | ".jcr" | ".eh_frame")
        || matches!(ty, 14..=16)
}

impl Layout {
    /// Puts the input sections into output sections.
    pub fn new(
        objects: &mut [Object<'_>],
        symbols: &Globals<'_>,
        options: &Options,
        errors: &mut Vec<Error>,
    ) -> Layout {
        let mut layout = Layout {
            sections: Vec::new(),
            loads: Vec::new(),
            merged: Vec::new(),
            moved: Vec::new(),
            commons: HashMap::new(),
            dynamic_symbols: Vec::new(),
            ids: Made::default(),
            strip: options.strip,
        };
        layout.place_commons(symbols);
        for (i, object) in objects.iter().enumerate() {
            let relocated: HashSet<u32> =
                object.file.sections.iter().filter(|s| s.ty == SHT_RELA).map(|s| s.info).collect();
            for number in (0..object.file.sections.len()).filter(|n| object.kept[*n]) {
                let movable = !relocated.contains(&(number as u32));
                if let Err(message) = layout.place(i, object, number, movable) {
                    let name = object.file.sections[number].name;
                    errors.push(Error::new(&object.name, format!("section {name}: {message}")));
                }
            }
        }
        layout.merge(objects);
        layout.pack(objects);
        let made = |name: &str, ty, flags, align, entsize| Section::made(name, ty, flags, align, entsize);
        let relro = |s: Section| Section { relro: true, ..s };
        let data = SHF_ALLOC | SHF_WRITE;
        if let Some(id) = &options.build_id {
            let note = made(".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, 4, 0);
            layout.ids.build_id = layout.push(Section { size: id.size(), ..note });
        }
        layout.ids.dynsym = layout.push(made(".dynsym", SHT_DYNSYM, SHF_ALLOC, 8, 24));
        layout.ids.gnu_hash = layout.push(made(".gnu.hash", SHT_GNU_HASH, SHF_ALLOC, 8, 0));
        layout.ids.hash = layout.push(made(".hash", SHT_HASH, SHF_ALLOC, 4, 4));
        layout.ids.dynamic = layout.push(relro(made(".dynamic", SHT_DYNAMIC, data, 8, 16)));
        layout.ids.dynstr = layout.push(made(".dynstr", SHT_STRTAB, SHF_ALLOC, 1, 0));
        layout.ids.rela_dyn = layout.push(made(".rela.dyn", SHT_RELA, SHF_ALLOC, 8, 24));
        layout.ids.got = layout.push(relro(made(".got", SHT_PROGBITS, data, 8, 0)));
        layout.ids.padding = layout.push(relro(made(".relro_padding", SHT_NOBITS, data, 1, 0)));
        let comment = made(".comment", SHT_PROGBITS, SHF_MERGE | SHF_STRINGS, 1, 1);
        if !layout.sections.iter().any(|s| s.name == ".comment") {
            layout.push(comment);
        }
        layout.ids.symtab = layout.push(made(".symtab", SHT_SYMTAB, 0, 8, 24));
        layout.ids.shstrtab = layout.push(made(".shstrtab", SHT_STRTAB, 0, 1, 0));
        layout.ids.strtab = layout.push(made(".strtab", SHT_STRTAB, 0, 1, 0));
        layout.moved = (0..layout.sections.len()).collect();
        layout
    }

    fn push(&mut self, section: Section) -> usize {
        self.sections.push(section);
        self.sections.len() - 1
    }

    /// Appends an input section to its output section, or to what it is merged with when its contents may move.
    fn place(
        &mut self,
        number: usize,
        object: &Object<'_>,
        section: usize,
        movable: bool,
    ) -> Result<(), String> {
        let input = &object.file.sections[section];
        let name = output_name(input.name);
        let flags = input.flags & !(SHF_GROUP | SHF_INFO_LINK | SHF_LINK_ORDER | SHF_COMPRESSED);
        let kind = Kind { flags, entsize: input.entsize, align: unpack::alignment(input).max(1) };
        let merges = movable && merge::is_mergeable(&kind, object.data(section))?;
        let id = self.sections.iter().position(|s| s.name == name).unwrap_or_else(|| {
            let relro = is_relro(name, input.ty);
            self.push(Section { relro, ..Section::made(name, input.ty, flags, 1, input.entsize) })
        });
        let out = &mut self.sections[id];
        out.flags |= flags;
        if out.ty == SHT_NOBITS && input.ty != SHT_NOBITS {
            out.ty = input.ty;
        }
        if out.entsize != input.entsize {
            out.entsize = 0;
        }
        out.align = out.align.max(kind.align);
        if !merges {
            out.parts.push(Part::Input(number, section));
            return Ok(());
        }
        let same = |m: &Merged| m.place.0 == id && m.kind.joins(&kind);
        let merged = self.merged.iter().position(same).unwrap_or_else(|| {
            let merged = self.merged.len();
            self.merged.push(Merged { kind, inputs: Vec::new(), place: (id, 0), bytes: Vec::new() });
            self.sections[id].parts.push(Part::Merged(merged));
            merged
        });
        let merged = &mut self.merged[merged];
        merged.kind.align = merged.kind.align.max(kind.align);
        merged.inputs.push((number, section));
        Ok(())
    }

    /// Merges what can be merged.
    fn merge(&mut self, objects: &mut [Object<'_>]) {
        for merged in &mut self.merged {
            let contents: Vec<&[u8]> = merged.inputs.iter().map(|&(o, s)| objects[o].data(s)).collect();
            let (bytes, pieces) = merge::merge(&merged.kind, &contents);
            merged.bytes = bytes;
            for (&(object, section), pieces) in merged.inputs.iter().zip(pieces) {
                objects[object].pieces.insert(section, pieces);
            }
        }
    }

    /// Decides where in the output sections their parts are.
    fn pack(&mut self, objects: &mut [Object<'_>]) {
        for (id, section) in self.sections.iter_mut().enumerate() {
            let mut next = |align: u64, size: u64| {
                let at = section.size.next_multiple_of(align.max(1));
                section.size = at.saturating_add(size);
                at
            };
            for part in &section.parts {
                match *part {
                    Part::Input(object, number) => {
                        let object = &mut objects[object];
                        let align = unpack::alignment(&object.file.sections[number]);
                        object.places[number] = Some((id, next(align, object.size(number))));
                    }
                    Part::Merged(number) => {
                        let merged = &mut self.merged[number];
                        merged.place.1 = next(merged.kind.align, merged.bytes.len() as u64);
                        for &(object, number) in &merged.inputs {
                            objects[object].places[number] = Some(merged.place);
                        }
                    }
                }
            }
        }
    }

    /// Common symbols have no section of their own; they get room in `.bss`.
    fn place_commons(&mut self, symbols: &Globals<'_>) {
        for (i, global) in symbols.all.iter().enumerate() {
            let Some((size, align)) = global.common else { continue };
            let id =
                self.sections.iter().position(|s| s.name == ".bss").unwrap_or_else(|| {
                    self.push(Section::made(".bss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE, 1, 0))
                });
            self.ids.bss = id;
            let align = align.clamp(1, 1 << 20).next_power_of_two();
            let bss = &mut self.sections[id];
            bss.align = bss.align.max(align);
            let at = bss.size.next_multiple_of(align);
            self.commons.insert(i, at);
            bss.size = at.saturating_add(size);
        }
    }

    /// Whether a section that the linker makes is left out at the user's wish.
    pub fn is_stripped(&self, id: usize) -> bool {
        self.strip == Strip::All && (id == self.ids.symtab || id == self.ids.strtab)
    }

    /// Where a section that had this number when it was made is now.
    pub fn now(&self, id: usize) -> usize {
        self.moved[id]
    }

    /// A section that the linker made.
    pub fn made(&mut self, id: usize) -> &mut Section {
        let now = self.moved[id];
        &mut self.sections[now]
    }

    /// Decides order and addresses, when the sizes of the sections that the linker makes are known.
    pub fn finish(&mut self, sizes: &[(usize, u64)]) {
        for &(id, size) in sizes {
            self.sections[id].size = size;
        }
        let ids = self.ids;
        let is_needed = |i: usize, s: &Section| match i {
            i if i == ids.rela_dyn || i == ids.got => s.size != 0,
            i => !self.is_stripped(i),
        };
        let mut order: Vec<usize> =
            (0..self.sections.len()).filter(|&i| is_needed(i, &self.sections[i])).collect();
        order.sort_by_key(|&i| self.sections[i].rank());
        // Number 0 is the empty section that every file starts with.
        let mut moved = vec![0; self.sections.len()];
        for (now, &was) in order.iter().enumerate() {
            moved[was] = now + 1;
        }
        let old = std::mem::take(&mut self.sections);
        self.sections.push(Section::default());
        let mut old: Vec<Option<Section>> = old.into_iter().map(Some).collect();
        self.sections.extend(order.iter().filter_map(|&i| old[i].take()));
        self.moved = moved;
        for (of, to) in [
            (ids.dynsym, ids.dynstr),
            (ids.gnu_hash, ids.dynsym),
            (ids.hash, ids.dynsym),
            (ids.rela_dyn, ids.dynsym),
            (ids.dynamic, ids.dynstr),
            (ids.symtab, ids.strtab),
        ] {
            let link = self.moved[to];
            self.made(of).link = link;
        }
        self.sections[0] = Section::default();
        self.loads();
        self.addresses();
    }

    /// Decides what other code objects can see, in the order that the hash table wants: undefined ones first.
    pub fn order_dynamic_symbols(&mut self, symbols: &Globals<'_>) {
        let visible = |i: &usize| !symbols.all[*i].is_local();
        let all: Vec<usize> = (0..symbols.all.len()).filter(visible).collect();
        let (undefined, mut defined): (Vec<usize>, Vec<usize>) =
            all.into_iter().partition(|&i| !symbols.all[i].is_defined());
        let buckets = gnu_buckets(defined.len());
        defined.sort_by_key(|&i| gnu_hash(symbols.all[i].name) % buckets);
        self.dynamic_symbols = undefined.into_iter().chain(defined).collect();
    }

    /// Groups the sections into segments.
    fn loads(&mut self) {
        let flags = |s: &Section| {
            4 | if s.flags & SHF_WRITE != 0 { 2 } else { 0 }
                | if s.flags & SHF_EXECINSTR != 0 { 1 } else { 0 }
        };
        // The first segment starts with the headers.
        self.loads = vec![Segment { ty: 1, flags: 4, first: 0, last: 0, align: PAGE }];
        let mut relro_before = false;
        for i in 1..self.sections.len() {
            let section = &self.sections[i];
            if !section.is_alloc() {
                break;
            }
            let last = self.loads.len() - 1;
            let load = &self.loads[last];
            let after_nobits = self.sections[load.last].ty == SHT_NOBITS && section.ty != SHT_NOBITS;
            let new = load.flags != flags(section) || (relro_before && !section.relro) || after_nobits;
            relro_before = section.relro;
            if new {
                let align = PAGE.max(section.align);
                self.loads.push(Segment { ty: 1, flags: flags(section), first: i, last: i, align });
            } else {
                self.loads[last].last = i;
                self.loads[last].align = self.loads[last].align.max(section.align);
            }
        }
    }

    /// All segments but the loaded ones, as (type, flags, first and last section, alignment).
    pub fn other_segments(&self) -> Vec<Segment> {
        let dynamic = self.now(self.ids.dynamic);
        let relro: Vec<usize> = (1..self.sections.len()).filter(|&i| self.sections[i].relro).collect();
        let mut all = vec![Segment { ty: 2, flags: 6, first: dynamic, last: dynamic, align: 8 }];
        if let (Some(&first), Some(&last)) = (relro.first(), relro.last()) {
            all.push(Segment { ty: 0x6474_e552, flags: 4, first, last, align: 1 });
        }
        // Whether the stack may be executed, which a GPU has no use for but loaders look at.
        all.push(Segment { ty: 0x6474_e551, flags: 6, first: 0, last: 0, align: 0 });
        let is_note = |i: usize| self.sections.get(i).is_some_and(|s| s.ty == SHT_NOTE && s.is_alloc());
        let mut i = 1;
        while i < self.sections.len() {
            if is_note(i) {
                let first = i;
                while is_note(i + 1) && self.sections[i + 1].align == self.sections[first].align {
                    i += 1;
                }
                all.push(Segment { ty: 4, flags: 4, first, last: i, align: self.sections[first].align });
            }
            i += 1;
        }
        all
    }

    /// Number of program headers.
    pub fn segment_count(&self) -> u64 {
        1 + self.loads.len() as u64 + self.other_segments().len() as u64
    }

    fn addresses(&mut self) {
        let padding = self.now(self.ids.padding);
        let mut address = HEADER + PROGRAM_HEADER * self.segment_count();
        let mut offset = address;
        let firsts: HashMap<usize, u64> = self.loads.iter().map(|l| (l.first, l.align)).collect();
        let mut load_start = (0, 0);
        for i in 1..self.sections.len() {
            let section = &mut self.sections[i];
            if !section.is_alloc() {
                offset = offset.next_multiple_of(section.align.max(1));
                section.offset = offset;
                offset = offset.saturating_add(section.size);
                continue;
            }
            // A new segment goes to the next page, at the same place in it, so that the file needs no padding.
            if firsts.contains_key(&i) {
                address = address.next_multiple_of(PAGE) + address % PAGE;
            }
            address = address.next_multiple_of(section.align.max(1));
            section.address = address;
            match firsts.get(&i) {
                Some(align) => {
                    let skew = address % align;
                    offset = if offset % align <= skew {
                        offset - offset % align + skew
                    } else {
                        offset - offset % align + align + skew
                    };
                    load_start = (offset, address);
                }
                None if section.ty != SHT_NOBITS => offset = load_start.0 + (address - load_start.1),
                None => {}
            }
            section.offset = offset;
            if section.ty != SHT_NOBITS {
                offset = offset.saturating_add(section.size);
            }
            if i == padding {
                // Fills the page, but what follows starts behind it anyway.
                section.size = address.next_multiple_of(PAGE) - address;
            } else {
                address = address.saturating_add(section.size);
            }
        }
    }

    /// The address of a global symbol that is defined; 0 for others.
    pub fn global_address(&self, id: usize, objects: &[Object<'_>], symbols: &Globals<'_>) -> u64 {
        let global = &symbols.all[id];
        match (global.definition, self.commons.get(&id)) {
            (Some((object, symbol)), _) => self.symbol_address(&objects[object], symbol),
            (None, Some(at)) => self.sections[self.now(self.ids.bss)].address + at,
            (None, None) => 0,
        }
    }

    /// The address of a symbol that its own object defines.
    pub fn symbol_address(&self, object: &Object<'_>, symbol: usize) -> u64 {
        self.symbol_plus(object, symbol, 0)
    }

    /// The address of a symbol with an addend. That of a section's symbol says which piece of the section is meant.
    pub fn symbol_plus(&self, object: &Object<'_>, symbol: usize, addend: u64) -> u64 {
        let Some(symbol) = object.file.symbols.get(symbol) else { return addend };
        let number = symbol.section as usize;
        let Some(Some((section, at))) = object.places.get(number) else {
            // Absolute, or in a section that is not there.
            return symbol.value.wrapping_add(addend);
        };
        let start = self.sections[self.now(*section)].address.wrapping_add(*at);
        let offset = match object.pieces.get(&number) {
            None => symbol.value.wrapping_add(addend),
            Some(pieces) if symbol.ty == STT_SECTION => pieces.find(symbol.value.wrapping_add(addend)),
            Some(pieces) => pieces.find(symbol.value).wrapping_add(addend),
        };
        start.wrapping_add(offset)
    }

    /// The number of the output section of a symbol: 0 undefined, 0xfff1 absolute.
    pub fn section_of(&self, object: &Object<'_>, symbol: usize) -> u16 {
        let Some(symbol) = object.file.symbols.get(symbol) else { return 0 };
        match object.places.get(symbol.section as usize) {
            Some(Some((section, _))) => self.now(*section) as u16,
            _ if symbol.section == 0 => 0,
            _ => SHN_ABS,
        }
    }
}

/// The binding that a global symbol has in the output.
pub(super) fn binding(global: &super::resolve::Global<'_>) -> u8 {
    match (global.is_local(), global.weak) {
        (true, _) => 0,
        (false, true) => STB_WEAK,
        (false, false) => 1,
    }
}
