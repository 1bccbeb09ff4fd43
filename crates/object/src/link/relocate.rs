//! What relocations ask for: entries of the global offset table, work for the loader, words to fill in.

use super::resolve::Globals;
use super::{Error, Object};
use crate::elf::{self, SHF_ALLOC, SHF_WRITE, reloc_type};
use crate::read::Relocation;
use std::collections::{HashMap, HashSet};

/// A relocation of an input section.
pub(super) struct InputRelocation {
    pub object: usize,
    pub section: usize,
    pub relocation: Relocation,
    pub target: Target,
}

/// What a relocation refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(super) enum Target {
    None,
    /// A global symbol.
    Global(usize),
    /// A local symbol of an object.
    Local(usize, usize),
}

/// A word that the loader fills in.
#[derive(Clone, Copy)]
pub(super) enum Dynamic {
    /// Of an input section: object, section, offset in it, target, addend.
    Input(usize, usize, u64, Target, i64),
    /// An entry of the global offset table.
    Got(usize),
}

/// Everything that relocations ask for.
#[derive(Default)]
pub(super) struct Relocations {
    pub inputs: Vec<InputRelocation>,
    /// Entries of the global offset table, in order.
    pub got: Vec<Target>,
    pub got_index: HashMap<Target, usize>,
    pub dynamic: Vec<Dynamic>,
    /// Places of input sections that the loader fills in.
    pub filled: HashSet<(usize, usize, u64)>,
    /// How many of `dynamic` need no symbol.
    pub relative: u64,
}

/// Is the target's address only known when the code object is loaded together with others?
pub(super) fn is_preemptible(target: Target, symbols: &Globals<'_>) -> bool {
    match target {
        Target::Global(id) => symbols.all[id].is_preemptible(),
        _ => false,
    }
}

/// Is the target a number rather than an address?
pub(super) fn is_absolute(target: Target, objects: &[Object<'_>], symbols: &Globals<'_>) -> bool {
    let absolute = |object: usize, symbol: usize| {
        objects[object].file.symbols[symbol].section == u32::from(elf::SHN_ABS)
    };
    match target {
        Target::None => true,
        Target::Global(id) => match symbols.all[id].definition {
            Some((object, symbol)) => absolute(object, symbol),
            // A weak symbol that is nowhere is 0.
            None => symbols.all[id].common.is_none(),
        },
        Target::Local(object, symbol) => absolute(object, symbol),
    }
}

/// The section that a target was in, when another object's copy of it is kept.
pub(super) fn dropped<'o>(target: Target, objects: &'o [Object<'_>]) -> Option<&'o str> {
    let Target::Local(object, symbol) = target else { return None };
    let object = &objects[object];
    let number = object.file.symbols[symbol].section as usize;
    (object.kept.get(number) == Some(&false)).then(|| object.file.sections[number].name)
}

/// What debugging information finds in the place of an address that there is not: a number that no reader takes for
/// one, and that does not end lists.
pub(super) fn tombstone(
    section: &str,
    target: Target,
    objects: &[Object<'_>],
    symbols: &Globals<'_>,
) -> Option<u64> {
    let undefined = matches!(target, Target::Global(id) if !symbols.all[id].is_defined());
    if !section.starts_with(".debug_") || !(undefined || dropped(target, objects).is_some()) {
        return None;
    }
    Some(match section {
        ".debug_loc" | ".debug_ranges" => 1,
        ".debug_names" => u64::MAX,
        _ => 0,
    })
}

/// Goes through the relocations of all sections.
pub(super) fn scan(objects: &[Object<'_>], symbols: &Globals<'_>, errors: &mut Vec<Error>) -> Relocations {
    let mut all = Relocations::default();
    for (number, object) in objects.iter().enumerate() {
        for (index, section) in object.file.sections.iter().enumerate() {
            if !object.kept[index] {
                continue;
            }
            let relocations = match object.file.relocations(index as u32) {
                Ok(relocations) => relocations,
                Err(e) => {
                    errors.push(Error::new(&object.name, e.to_string()));
                    continue;
                }
            };
            for relocation in relocations {
                let at = format_args!("{}+{:#x}", section.name, relocation.offset).to_string();
                let mut complain =
                    |message: String| errors.push(Error::new(&object.name, format!("{at}: {message}")));
                let Some(ty) = reloc_type(relocation.ty) else {
                    complain(format!("unknown relocation type {}", relocation.ty));
                    continue;
                };
                if relocation
                    .offset
                    .checked_add(ty.size.into())
                    .is_none_or(|end| end > object.data(index).len() as u64)
                {
                    complain(format!("{} is outside the section", ty.name));
                    continue;
                }
                let target = match relocation.symbol as usize {
                    0 => Target::None,
                    s if s >= object.file.symbols.len() => {
                        complain(format!("{} refers to symbol {s}, which there is none of", ty.name));
                        continue;
                    }
                    s => object.globals[s].map_or(Target::Local(number, s), Target::Global),
                };
                if let Err(message) =
                    all.note(number, index, section.flags, relocation, target, objects, symbols)
                {
                    complain(message);
                    continue;
                }
                all.inputs.push(InputRelocation { object: number, section: index, relocation, target });
            }
        }
    }
    all
}

impl Relocations {
    #[allow(clippy::too_many_arguments)] // a relocation and all it is judged by
    fn note(
        &mut self,
        object: usize,
        section: usize,
        flags: u64,
        r: Relocation,
        target: Target,
        objects: &[Object<'_>],
        symbols: &Globals<'_>,
    ) -> Result<(), String> {
        if flags & SHF_ALLOC == 0 {
            // Debugging information is not loaded: addresses are those of the file.
            return Ok(());
        }
        if let Some(section) = dropped(target, objects) {
            return Err(format!("it needs its own copy of {section}, but that of an earlier object is kept"));
        }
        let name = match target {
            Target::Global(id) => symbols.all[id].name,
            _ => "a local symbol",
        };
        let ty = reloc_type(r.ty).map_or("", |t| t.name);
        let preemptible = is_preemptible(target, symbols);
        match r.ty {
            elf::R_AMDGPU_GOTPCREL | elf::R_AMDGPU_GOTPCREL32_LO | elf::R_AMDGPU_GOTPCREL32_HI => {
                if !self.got_index.contains_key(&target) {
                    let index = self.got.len();
                    self.got.push(target);
                    self.got_index.insert(target, index);
                    if preemptible || !is_absolute(target, objects, symbols) {
                        self.dynamic.push(Dynamic::Got(index));
                        self.relative += u64::from(!preemptible);
                    }
                }
                Ok(())
            }
            elf::R_AMDGPU_ABS64 => {
                if !preemptible && is_absolute(target, objects, symbols) {
                    return Ok(());
                }
                if flags & SHF_WRITE == 0 {
                    return Err(format!("{ty} against {name} in a section that cannot be written"));
                }
                self.dynamic.push(Dynamic::Input(object, section, r.offset, target, r.addend));
                self.filled.insert((object, section, r.offset));
                self.relative += u64::from(!preemptible);
                Ok(())
            }
            elf::R_AMDGPU_ABS32 | elf::R_AMDGPU_ABS32_LO | elf::R_AMDGPU_ABS32_HI => {
                if preemptible || !is_absolute(target, objects, symbols) {
                    return Err(format!("{ty} against {name}, whose address is not known before loading"));
                }
                Ok(())
            }
            elf::R_AMDGPU_REL32
            | elf::R_AMDGPU_REL32_LO
            | elf::R_AMDGPU_REL32_HI
            | elf::R_AMDGPU_REL64
            | elf::R_AMDGPU_REL16 => {
                if !preemptible {
                    return Ok(());
                }
                let missing = match target {
                    Target::Global(id) => {
                        symbols.all[id].definition.is_none() && symbols.all[id].common.is_none()
                    }
                    _ => false,
                };
                Err(if missing {
                    format!("{ty} against {name}, which is not defined; {name}@gotpcrel32 may be elsewhere")
                } else {
                    format!(
                        "{ty} against {name}, which another code object may define; make it protected or hidden"
                    )
                })
            }
            elf::R_AMDGPU_NONE => Ok(()),
            _ => Err(format!("{ty} has no place in a relocatable object")),
        }
    }
}
