//! `--gc-sections`: sections that nothing needs are left out.
//!
//! What other code objects can see is needed, and so is what the loader looks at by its kind: notes, functions that run
//! at the start and the end, what the source wants retained. From there relocations lead on. Sections that are not loaded
//! stay, but make nothing else stay.

use super::Object;
use super::resolve::Globals;
use crate::elf::{self, SHF_ALLOC};

/// The source wants it whether anything needs it or not.
const SHF_GNU_RETAIN: u64 = 1 << 21;

/// Arrays of functions that run before and after everything else: SHT_INIT_ARRAY, SHT_FINI_ARRAY, SHT_PREINIT_ARRAY.
const ARRAYS: std::ops::RangeInclusive<u32> = 14..=16;

/// Leaves out what nothing needs.
pub(super) fn collect(objects: &mut [Object<'_>], symbols: &mut Globals<'_>) {
    let mut needed: Vec<Vec<bool>> = objects.iter().map(|o| vec![false; o.kept.len()]).collect();
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        for (index, section) in object.file.sections.iter().enumerate() {
            let looked_at = section.ty == elf::SHT_NOTE
                || ARRAYS.contains(&section.ty)
                || matches!(section.name, ".init" | ".fini" | ".ctors" | ".dtors")
                || section.flags & SHF_GNU_RETAIN != 0;
            if looked_at || is_reachable_by_name(section.name) {
                found.push((number, index));
            }
        }
    }
    let home =
        |(object, symbol): (usize, usize)| (object, objects[object].file.symbols[symbol].section as usize);
    let seen = symbols.all.iter().filter(|g| !g.is_local());
    found.extend(seen.filter_map(|g| g.definition).map(home));
    while let Some((number, index)) = found.pop() {
        let Some(known) = needed[number].get_mut(index) else { continue };
        let object = &objects[number];
        if std::mem::replace(known, true) || !object.kept[index] {
            continue;
        }
        for relocation in relocations(object, index) {
            let symbol = relocation as usize;
            match object.globals.get(symbol).copied().flatten() {
                Some(id) => found.extend(symbols.all[id].definition.map(home)),
                None => {
                    let section = object.file.symbols.get(symbol).map(|s| s.section as usize);
                    found.extend(section.map(|section| (number, section)));
                }
            }
        }
    }
    for (object, needed) in objects.iter_mut().zip(&needed) {
        for (index, section) in object.file.sections.iter().enumerate() {
            object.kept[index] &= needed[index] || section.flags & SHF_ALLOC == 0;
        }
    }
    // Only debugging information speaks of those now.
    for global in &mut symbols.all {
        let gone = |(o, s): (usize, usize)| {
            let object = &objects[o];
            object.kept.get(object.file.symbols[s].section as usize) == Some(&false)
        };
        if global.is_local() && global.definition.is_some_and(gone) {
            global.definition = None;
        }
    }
}

/// Sections whose names are C's are found through `__start_NAME` and `__stop_NAME`.
fn is_reachable_by_name(name: &str) -> bool {
    let word = |c: char| c == '_' || c.is_ascii_alphanumeric();
    !name.is_empty() && name.chars().all(word) && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// The symbols that a section's relocations name.
fn relocations<'o>(object: &'o Object<'_>, section: usize) -> impl Iterator<Item = u32> + 'o {
    let tables =
        object.file.sections.iter().filter(move |s| s.ty == elf::SHT_RELA && s.info as usize == section);
    tables.flat_map(|s| s.data.chunks_exact(24)).map(|row| {
        // r_info's upper half is the symbol.
        row[12..16].iter().rev().fold(0, |n, b| n << 8 | u32::from(*b))
    })
}
