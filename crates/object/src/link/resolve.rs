//! Which objects take part, and which definition each name means.

use super::{Error, Input, Object, Options, check_linkable};
use crate::archive;
use crate::elf::{self, SHF_COMPRESSED, SHF_EXCLUDE, SHN_AMDGPU_LDS, SHT_GROUP};
use crate::read::{File, Symbol};
use crate::unpack;
use std::collections::{HashMap, HashSet};

/// Symbol tables, string tables, relocations: made anew. The rest is advice to linkers that this one does not take.
const MADE_ANEW: [u32; 6] =
    [elf::SHT_NULL, elf::SHT_SYMTAB, elf::SHT_STRTAB, elf::SHT_RELA, SHT_GROUP, elf::SHT_LLVM_ADDRSIG];

/// Visibilities: the larger of two that are not 0 is not always the stricter, see [`stricter`].
const HIDDEN: u8 = 2;

/// A global symbol.
#[derive(Clone, Debug)]
pub(super) struct Global<'a> {
    pub name: &'a str,
    /// Object and symbol number of its definition.
    pub definition: Option<(usize, usize)>,
    /// Size and alignment, when it is common storage so far.
    pub common: Option<(u64, u64)>,
    /// Every mention so far is weak.
    pub weak: bool,
    pub visibility: u8,
    pub ty: u8,
    /// The object that mentions it first.
    pub first: usize,
}

impl Global<'_> {
    /// Nobody outside the output sees it.
    pub fn is_local(&self) -> bool {
        matches!(self.visibility, 1 | HIDDEN)
    }

    pub fn is_defined(&self) -> bool {
        self.definition.is_some() || self.common.is_some()
    }

    /// Another code object's definition may be taken instead.
    pub fn is_preemptible(&self) -> bool {
        self.visibility == 0
    }
}

/// All global symbols, in the order of their first mention.
#[derive(Default)]
pub(super) struct Globals<'a> {
    pub all: Vec<Global<'a>>,
    by_name: HashMap<&'a str, usize>,
}

/// Of two visibilities the one that allows less: internal, hidden, protected, default.
fn stricter(a: u8, b: u8) -> u8 {
    match (a, b) {
        (0, other) | (other, 0) => other,
        _ => a.min(b),
    }
}

/// A member of an archive that nothing has asked for yet.
struct Member<'a> {
    name: String,
    data: &'a [u8],
    defines: Vec<&'a str>,
}

/// Reads the inputs and resolves names.
pub(super) fn load<'a>(inputs: &[Input<'a>], errors: &mut Vec<Error>) -> (Vec<Object<'a>>, Globals<'a>) {
    let mut objects = Vec::new();
    let mut globals = Globals::default();
    let mut groups = HashSet::new();
    let mut waiting = Vec::new();
    for input in inputs {
        if input.data.starts_with(archive::MAGIC) {
            match members(input) {
                Ok(more) => waiting.extend(more),
                Err(e) => errors.push(e),
            }
        } else {
            add(&input.name, input.data, &mut objects, &mut globals, &mut groups, errors);
        }
    }
    // A member that is taken may need others; each is taken once, so this ends.
    while let Some(i) = waiting.iter().position(|m: &Member<'_>| m.defines.iter().any(|n| globals.wants(n))) {
        let member = waiting.remove(i);
        add(&member.name, member.data, &mut objects, &mut globals, &mut groups, errors);
    }
    (objects, globals)
}

/// The objects in an archive, with what they define.
fn members<'a>(input: &Input<'a>) -> Result<Vec<Member<'a>>, Error> {
    let broken = |at: usize| Error::new(&input.name, format!("archive member at byte {at:#x} is broken"));
    let read = |member: archive::Member<'a>| {
        let name = format!("{}({})", input.name, member.name);
        let file = File::parse(member.data).map_err(|e| Error::new(&name, e.to_string()))?;
        let global = |s: &&Symbol<'a>| s.binding != 0 && s.section != 0;
        let defines = file.symbols.iter().filter(global).map(|s| s.name).collect();
        Ok(Member { name, data: member.data, defines })
    };
    archive::members(input.data).map_err(broken)?.into_iter().map(read).collect()
}

/// What files are that other linkers take, or that have objects in them.
fn foreign(data: &[u8]) -> Option<&'static str> {
    let starts = |magic: &[u8]| data.starts_with(magic);
    if starts(b"BC\xc0\xde") {
        Some("it is LLVM bitcode; compile it to an object first")
    } else if starts(b"__CLANG_OFFLOAD_BUNDLE__") || starts(b"CCOB") {
        Some("it is an offload bundle; take the object that you want out of it first")
    } else if starts(b"!<thin>") {
        Some("it is an archive that only names its members; give those instead")
    } else {
        None
    }
}

fn add<'a>(
    name: &str,
    data: &'a [u8],
    objects: &mut Vec<Object<'a>>,
    globals: &mut Globals<'a>,
    groups: &mut HashSet<String>,
    errors: &mut Vec<Error>,
) {
    let file = match File::parse(data) {
        Ok(file) => file,
        Err(e) => {
            let message = foreign(data).map_or_else(|| e.to_string(), Into::into);
            return errors.push(Error::new(name, message));
        }
    };
    if let Err(e) = check_linkable(name, &file) {
        return errors.push(e);
    }
    let mut kept: Vec<bool> = file
        .sections
        .iter()
        .map(|s| !MADE_ANEW.contains(&s.ty) && s.flags & SHF_EXCLUDE == 0 && s.name != ".note.GNU-stack")
        .collect();
    for group in file.sections.iter().filter(|s| s.ty == SHT_GROUP) {
        let signature = file.symbols.get(group.info as usize).map_or("", |s| s.name);
        let words = group.data.chunks_exact(4).map(|w| u32::from_le_bytes(w.try_into().unwrap_or_default()));
        let words: Vec<u32> = words.collect();
        // The first word is 1 for groups of which only one copy is wanted.
        let again = words.first() == Some(&1) && !groups.insert(signature.to_string());
        for &member in words.iter().skip(1).filter(|_| again) {
            if let Some(kept) = kept.get_mut(member as usize) {
                *kept = false;
            }
        }
    }
    let number = objects.len();
    let mut mentions = vec![None; file.symbols.len()];
    for (i, symbol) in file.symbols.iter().enumerate().filter(|(i, s)| *i != 0 && s.binding != 0) {
        // A copy of a group that was dropped defines nothing.
        let dropped = kept.get(symbol.section as usize) == Some(&false);
        match globals.mention(symbol, number, i, dropped) {
            Ok(global) => mentions[i] = Some(global),
            Err(other) => {
                // The object itself, when that has the name twice.
                let other = objects.get(other).map_or(name, |o| o.name.as_str());
                let message = format!("duplicate symbol: {} is defined in {other} too", symbol.name);
                errors.push(Error::new(name, message));
            }
        }
    }
    let mut unpacked = HashMap::new();
    for (i, section) in
        file.sections.iter().enumerate().filter(|(i, s)| kept[*i] && s.flags & SHF_COMPRESSED != 0)
    {
        match unpack::contents(section) {
            Ok(data) => _ = unpacked.insert(i, data.into_owned()),
            Err(e) => errors.push(Error::new(name, e.to_string())),
        }
    }
    let places = vec![None; file.sections.len()];
    let pieces = HashMap::new();
    objects.push(Object { name: name.into(), file, kept, places, pieces, unpacked, globals: mentions });
}

impl<'a> Globals<'a> {
    /// Would a definition of the name be of use?
    fn wants(&self, name: &str) -> bool {
        self.by_name.get(name).is_some_and(|&g| !self.all[g].is_defined() && !self.all[g].weak)
    }

    /// Takes note of a symbol of an object. The error is the object that defines it already.
    fn mention(
        &mut self,
        symbol: &Symbol<'a>,
        object: usize,
        index: usize,
        dropped: bool,
    ) -> Result<usize, usize> {
        let id = *self.by_name.entry(symbol.name).or_insert_with(|| {
            self.all.push(Global {
                name: symbol.name,
                definition: None,
                common: None,
                weak: true,
                visibility: 0,
                ty: symbol.ty,
                first: object,
            });
            self.all.len() - 1
        });
        let global = &mut self.all[id];
        global.visibility = stricter(global.visibility, symbol.other & 3);
        let weak = symbol.binding == elf::STB_WEAK;
        if symbol.section == 0 || dropped {
            if !global.is_defined() {
                global.weak &= weak;
            }
        } else if symbol.section == u32::from(elf::SHN_COMMON) {
            if global.definition.is_none() {
                let (size, align) = global.common.unwrap_or((0, 1));
                global.common = Some((size.max(symbol.size), align.max(symbol.value)));
                global.weak = false;
                global.ty = symbol.ty;
            }
        } else {
            match global.definition {
                Some((other, _)) if !weak && !global.weak => return Err(other),
                Some(_) if weak => {}
                _ => {
                    global.definition = Some((object, index));
                    global.common = None;
                    global.weak = weak;
                    global.ty = symbol.ty;
                }
            }
        }
        Ok(id)
    }

    /// Reports what nobody defines and nobody may leave open.
    pub fn check_undefined(&self, options: &Options, objects: &[Object<'_>], errors: &mut Vec<Error>) {
        for global in &self.all {
            let file = objects.get(global.first).map_or("", |o| o.name.as_str());
            if let Some((object, symbol)) = global.definition
                && objects[object].file.symbols[symbol].section == u32::from(SHN_AMDGPU_LDS)
            {
                let message = format!(
                    "symbol {} is {} bytes of LDS without a place: compilers lay LDS out kernel by kernel before they \
                     write an object, and no linker does it afterwards",
                    global.name, objects[object].file.symbols[symbol].size
                );
                errors.push(Error::new(file, message));
            }
            if global.is_defined() || global.weak {
                continue;
            }
            if global.is_local() {
                errors.push(Error::new(file, format!("undefined hidden symbol: {}", global.name)));
            } else if !options.allow_undefined {
                errors.push(Error::new(file, format!("undefined symbol: {}", global.name)));
            }
        }
    }
}
