//! From an assembled object to ELF bytes: which symbols the file has, in which order, and what they say.

mod lines;

use crate::Output;
use crate::expr::{Expr, Op};
use crate::ids::SymId;
use crate::object::{Address, Object, RelocationTarget};
use crate::section::{Section, flags, types};
use crate::symbol::{Binding, SymType, Symbol, Symbols, Visibility};
use wavemill_object::elf::{self, SHN_ABS, SHN_AMDGPU_LDS, SHN_COMMON, STT_AMDGPU_HSA_KERNEL, STT_SECTION};
use wavemill_object::write::{self, Home};

/// Writes the object of an assembly that had no errors.
pub fn write(output: &Output) -> Result<Vec<u8>, String> {
    let object = output.object.as_deref().ok_or("there is no object")?;
    write::write(&build(object, &output.symbols, &output.sections)?)
}

/// The numbers that sections and symbols get in the file's model.
struct Numbers {
    /// By section number: index in the model.
    sections: Vec<Option<usize>>,
    /// By symbol number: index in the model.
    symbols: Vec<Option<usize>>,
}

fn build(object: &Object, symbols: &Symbols, sections: &[Section]) -> Result<write::Object, String> {
    let mut file = write::Object {
        os_abi: object.header.os_abi,
        abi_version: object.header.abi_version,
        flags: object.header.flags,
        implicit_addends: !object.rela,
        ..write::Object::default()
    };
    let mut numbers = Numbers { sections: vec![None; sections.len()], symbols: vec![None; symbols.len()] };
    let written = |i: usize| object.sections.get(i).is_some_and(|s| s.used);
    for (number, i) in (0..sections.len()).filter(|&i| written(i)).enumerate() {
        numbers.sections[i] = Some(number);
    }
    add_symbols(object, symbols, sections, &mut numbers, &mut file);
    for (i, section) in sections.iter().enumerate().filter(|(i, _)| written(*i)) {
        let data = &object.sections[i];
        let mut relocations = Vec::with_capacity(data.relocations.len());
        for r in &data.relocations {
            let symbol = match r.target {
                RelocationTarget::None => None,
                RelocationTarget::Symbol(id) => numbers.symbols[id.0 as usize],
                RelocationTarget::Section(id) => {
                    sections[id.0 as usize].begin.and_then(|s| numbers.symbols[s.0 as usize])
                }
            };
            relocations.push(write::Relocation { offset: r.offset, ty: r.ty, symbol, addend: r.addend });
        }
        let bits = section.ty != types::NOBITS;
        file.sections.push(write::Section {
            name: section.name.to_string(),
            ty: section.ty,
            flags: section.flags.into(),
            align: data.align,
            entsize: section.entsize.into(),
            data: if bits { data.data.clone() } else { Vec::new() },
            memory_size: data.size,
            relocations,
            link: section.linked.and_then(|id| home_section(object, id)).and_then(|s| numbers.sections[s]),
            group: section.group.and_then(|(id, comdat)| Some((numbers.symbols[id.0 as usize]?, comdat))),
        });
    }
    add_lines(object, sections, &numbers, &mut file);
    if let Some(listed) = &object.addrsig {
        file.addrsig = Some(listed.iter().filter_map(|id| numbers.symbols[id.0 as usize]).collect());
    }
    Ok(file)
}

/// Adds the line table that `.file` and `.loc` ask for.
fn add_lines(object: &Object, sections: &[Section], numbers: &Numbers, file: &mut write::Object) {
    let Some(table) = lines::tables(object) else { return };
    let debug = |name: &str| write::Section {
        name: name.into(),
        ty: types::PROGBITS,
        align: 1,
        ..Default::default()
    };
    let at = file.sections.iter().position(|s| s.name == ".debug_line").unwrap_or_else(|| {
        file.sections.push(debug(".debug_line"));
        file.sections.len() - 1
    });
    let strings = file.symbols.len();
    if !table.strings.is_empty() {
        let flags = u64::from(flags::MERGE | flags::STRINGS);
        file.sections.push(write::Section {
            flags,
            entsize: 1,
            data: table.strings,
            ..debug(".debug_line_str")
        });
        let home = Home::Section(file.sections.len() - 1);
        file.symbols.push(write::Symbol { ty: STT_SECTION, home, ..Default::default() });
    }
    let section = &mut file.sections[at];
    let start = section.data.len() as u64;
    section.data.extend_from_slice(&table.lines);
    for (offset, ty, target, addend) in table.relocations {
        let symbol = match target {
            lines::Target::Strings => Some(strings),
            lines::Target::Code(id) => {
                sections[id.0 as usize].begin.and_then(|s| numbers.symbols[s.0 as usize])
            }
        };
        let relocation = write::Relocation { offset: start + offset, ty, symbol, addend };
        if file.implicit_addends {
            put_addend(&relocation, &mut section.data);
        }
        section.relocations.push(relocation);
    }
}

/// Puts a relocation's addend where it applies.
fn put_addend(relocation: &write::Relocation, contents: &mut [u8]) {
    let size = elf::reloc_type(relocation.ty).map_or(0, |t| usize::from(t.size));
    let start = usize::try_from(relocation.offset).unwrap_or(usize::MAX);
    if let Some(place) = contents.get_mut(start..).and_then(|c| c.get_mut(..size)) {
        place.copy_from_slice(&relocation.addend.to_le_bytes()[..size]);
    }
}

/// The section number of where a symbol is.
fn home_section(object: &Object, id: SymId) -> Option<usize> {
    match object.addresses.get(id.0 as usize) {
        Some(Address::Section(section, _)) => Some(section.0 as usize),
        _ => None,
    }
}

fn add_symbols(
    object: &Object,
    symbols: &Symbols,
    sections: &[Section],
    numbers: &mut Numbers,
    file: &mut write::Object,
) {
    let mut used = vec![false; symbols.len()];
    for r in object.sections.iter().flat_map(|s| &s.relocations) {
        let id = match r.target {
            RelocationTarget::Symbol(id) => Some(id),
            RelocationTarget::Section(section) => sections[section.0 as usize].begin,
            RelocationTarget::None => None,
        };
        if let Some(id) = id {
            used[id.0 as usize] = true;
        }
    }
    if !object.files.is_empty() {
        for id in lines::sections(object).into_iter().filter_map(|s| sections[s.0 as usize].begin) {
            used[id.0 as usize] = true;
        }
    }
    let signatures: Vec<SymId> = sections.iter().filter_map(|s| s.group).map(|g| g.0).collect();
    // Predefined symbols are older than the statement that makes them part of the file.
    let (first, last): (Vec<_>, Vec<_>) =
        symbols.iter().partition(|(_, s)| !crate::symbol::is_predefined(&s.name));
    for (id, symbol) in first.into_iter().chain(last) {
        let is_signature = signatures.contains(&id);
        let is_lds = object.lds.contains(&id);
        // An LDS symbol that nobody mentions takes no room.
        let unmentioned = is_lds && !symbol.referenced && symbol.binding == Binding::Unset;
        if unmentioned || !in_table(symbol, used[id.0 as usize] || is_signature, object, id) {
            continue;
        }
        let mut address = object.addresses.get(id.0 as usize).copied().unwrap_or(Address::Undefined);
        if is_lds {
            address = Address::Common;
        }
        let (home, value) = match address {
            Address::Undefined if is_signature && !used[id.0 as usize] => (Home::Group, 0),
            Address::Undefined => (Home::Undefined, 0),
            Address::Absolute(value) => (Home::Special(SHN_ABS), value as u64),
            Address::Section(section, offset) => match numbers.sections[section.0 as usize] {
                Some(section) => (Home::Section(section), offset),
                None => continue,
            },
            Address::Common => {
                let align = symbol.common.map_or(0, |c| c.align);
                let special = if is_lds { SHN_AMDGPU_LDS } else { SHN_COMMON };
                (Home::Special(special), align)
            }
        };
        let is_section = symbol.ty == SymType::Section;
        numbers.symbols[id.0 as usize] = Some(file.symbols.len());
        file.symbols.push(write::Symbol {
            name: if is_section { String::new() } else { symbol.name.to_string() },
            binding: binding(symbol, home),
            ty: ty(symbol),
            other: symbol.other | visibility(symbol.visibility),
            home,
            value,
            size: object.sizes.get(id.0 as usize).copied().unwrap_or(0),
        });
    }
}

/// Does the symbol reach the file?
fn in_table(symbol: &Symbol, used: bool, object: &Object, id: SymId) -> bool {
    // AMD's functions are worked out wherever they are used.
    if matches!(&symbol.value, Some(Expr::Tree(tree)) if matches!(tree.op, Op::Amd(_))) {
        return false;
    }
    if used {
        return true;
    }
    // Only what the source itself has set: `.set .amdgcn.next_free_vgpr, 0`.
    if crate::symbol::is_predefined(&symbol.name) && !symbol.redefinable && symbol.place.is_none() {
        return false;
    }
    let undefined = matches!(object.addresses.get(id.0 as usize), None | Some(Address::Undefined));
    if symbol.is_variable() && undefined {
        return false;
    }
    if undefined && !symbol.referenced && symbol.binding == Binding::Unset && symbol.common.is_none() {
        return false;
    }
    !symbol.temporary && symbol.ty != SymType::Section
}

fn binding(symbol: &Symbol, home: Home) -> u8 {
    match symbol.binding {
        Binding::Local => 0,
        Binding::Global => 1,
        Binding::Weak => 2,
        Binding::Unique => 10,
        // What nobody said anything about is local when it is here and global when it is elsewhere.
        Binding::Unset if symbol.ty == SymType::Section => 0,
        Binding::Unset if matches!(home, Home::Undefined | Home::Special(SHN_COMMON | SHN_AMDGPU_LDS)) => 1,
        Binding::Unset => 0,
    }
}

fn ty(symbol: &Symbol) -> u8 {
    match symbol.ty {
        SymType::Section => STT_SECTION,
        SymType::AmdgpuHsaKernel => STT_AMDGPU_HSA_KERNEL,
        other => other as u8,
    }
}

fn visibility(visibility: Visibility) -> u8 {
    match visibility {
        Visibility::Default => 0,
        Visibility::Internal => 1,
        Visibility::Hidden => 2,
        Visibility::Protected => 3,
    }
}
