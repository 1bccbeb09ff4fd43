//! Linking relocatable objects to the shared code object that a runtime loads.
//!
//! The layout is the one ld.lld has for AMD GPUs: read-only data, code, data that is read-only after relocation,
//! other data, each in pages of its own; both kinds of symbol hash table; one table of dynamic relocations.
//! `resolve` decides which definition each name means, `gc` leaves out what nothing needs, `merge` keeps equal strings once, `layout` decides where
//! everything goes, `output` writes it.

mod build_id;
mod gc;
mod hash;
mod layout;
mod lookup;
mod merge;
mod output;
mod relocate;
mod resolve;

pub use build_id::BuildId;

use crate::elf;
use crate::read::{File, Kind};
use std::collections::HashMap;
use std::fmt;

/// A file to link: an object, or an archive of objects.
#[derive(Clone, Debug)]
pub struct Input<'a> {
    /// What messages call it.
    pub name: String,
    /// Its bytes.
    pub data: &'a [u8],
}

/// How to link.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Symbols that nobody defines are left to the loader. Hidden ones never are.
    pub allow_undefined: bool,
    /// What is left out.
    pub strip: Strip,
    /// Sections that nothing needs are left out, too.
    pub gc_sections: bool,
    /// The note that tells builds apart.
    pub build_id: Option<BuildId>,
}

/// What a linked file does without. What the loader needs is always there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Strip {
    /// Nothing.
    #[default]
    Nothing,
    /// Debugging information.
    Debug,
    /// Debugging information and the symbol table; what other code objects may see is in the dynamic one.
    All,
}

/// Why objects cannot be linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The file to blame, empty for none in particular.
    pub file: String,
    /// What is wrong.
    pub message: String,
}

impl Error {
    fn new(file: &str, message: impl Into<String>) -> Error {
        Error { file: file.into(), message: message.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.file.as_str() {
            "" => f.write_str(&self.message),
            file => write!(f, "{file}: {}", self.message),
        }
    }
}

impl std::error::Error for Error {}

/// An object that takes part, with what has become of its sections and symbols.
struct Object<'a> {
    name: String,
    file: File<'a>,
    /// By section number: whether the section goes into the output. Groups keep only their first copy.
    kept: Vec<bool>,
    /// By section number: the output section and the offset in it; of merged sections, that of what they are merged to.
    places: Vec<Option<(usize, u64)>>,
    /// By section number: where the pieces of a merged section are.
    pieces: HashMap<usize, merge::Pieces>,
    /// By section number: contents that are packed in the file.
    unpacked: HashMap<usize, Vec<u8>>,
    /// By symbol number: the global symbol it is a mention of; `None` for local symbols.
    globals: Vec<Option<usize>>,
}

impl Object<'_> {
    /// A section's contents, unpacked.
    fn data(&self, section: usize) -> &[u8] {
        self.unpacked.get(&section).map_or(self.file.sections[section].data, |d| d)
    }

    /// A section's size in memory, unpacked.
    fn size(&self, section: usize) -> u64 {
        self.unpacked.get(&section).map_or(self.file.sections[section].size, |d| d.len() as u64)
    }
}

/// Links objects. Reports every error it finds, up to the step that cannot go on.
pub fn link(inputs: &[Input<'_>], options: &Options) -> Result<Vec<u8>, Vec<Error>> {
    let mut errors = Vec::new();
    let (mut objects, mut symbols) = resolve::load(inputs, &mut errors);
    if objects.is_empty() && errors.is_empty() {
        errors.push(Error::new("", "there is nothing to link"));
    }
    let mut clashes = Vec::new();
    let header = merge_headers(&objects, &mut clashes);
    if !clashes.is_empty() {
        // Objects for different processors define the same names; that is not what is wrong.
        return Err(clashes);
    }
    symbols.check_undefined(options, &objects, &mut errors);
    if !errors.is_empty() {
        return Err(errors);
    }
    if options.strip != Strip::Nothing {
        objects.iter_mut().for_each(drop_debug);
    }
    if options.gc_sections {
        gc::collect(&mut objects, &mut symbols);
    }
    let mut layout = layout::Layout::new(&mut objects, &symbols, options, &mut errors);
    let relocations = relocate::scan(&objects, &symbols, &mut errors);
    if !errors.is_empty() {
        return Err(errors);
    }
    layout.order_dynamic_symbols(&symbols);
    layout.finish(&output::sizes(&objects, &symbols, &layout, &relocations));
    let mut bytes = output::write(&objects, &symbols, &layout, relocations, header, &mut errors);
    if let (Some(id), true) = (&options.build_id, errors.is_empty()) {
        let note = &layout.sections[layout.now(layout.ids.build_id)];
        id.fill(&mut bytes, note.offset as usize);
    }
    if errors.is_empty() { Ok(bytes) } else { Err(errors) }
}

/// Leaves out an object's debugging information.
fn drop_debug(object: &mut Object<'_>) {
    for (kept, section) in object.kept.iter_mut().zip(&object.file.sections) {
        *kept &= section.flags & elf::SHF_ALLOC != 0 || !section.name.starts_with(".debug");
    }
}

/// What the headers of all objects come to.
#[derive(Clone, Copy, Default)]
struct Header {
    os_abi: u8,
    abi_version: u8,
    flags: u32,
}

/// All objects must be for the same processor and runtime; a feature that one leaves open follows the others.
fn merge_headers(objects: &[Object<'_>], errors: &mut Vec<Error>) -> Header {
    let Some(first) = objects.first().map(|o| &o.file) else { return Header::default() };
    let mut header = Header { os_abi: first.os_abi, abi_version: first.abi_version, flags: first.flags };
    for object in &objects[1..] {
        let file = &object.file;
        if (file.os_abi, file.abi_version) != (header.os_abi, header.abi_version) {
            let message = match (file.os_abi == header.os_abi, first.version(), file.version()) {
                (true, ours, theirs) if ours != theirs => {
                    format!("it is of code object version {theirs}, the first object of version {ours}")
                }
                _ => format!("it is for {}, the first object for {}", file.os().name(), first.os().name()),
            };
            errors.push(Error::new(&object.name, message));
            continue;
        }
        if header.os_abi != elf::ELFOSABI_AMDGPU_HSA || header.abi_version < 2 {
            if file.flags != header.flags {
                errors.push(Error::new(
                    &object.name,
                    "its processor or features are not those of the first object",
                ));
            }
            continue;
        }
        if (file.flags ^ header.flags) & (elf::EF_AMDGPU_MACH | elf::EF_AMDGPU_GENERIC_VERSION) != 0 {
            let target = |f: &File<'_>| match f.target_id() {
                Ok(Some(id)) => id.processor,
                _ => format!("a processor with e_flags {:#x}", f.flags),
            };
            let message = format!("it is for {}, the first object for {}", target(file), target(first));
            errors.push(Error::new(&object.name, message));
            continue;
        }
        let masks =
            [("xnack", elf::EF_AMDGPU_FEATURE_XNACK_V4), ("sramecc", elf::EF_AMDGPU_FEATURE_SRAMECC_V4)];
        for (name, mask) in masks {
            let any = mask & (mask >> 1);
            let (ours, theirs) = (header.flags & mask, file.flags & mask);
            if ours == any && theirs != 0 {
                header.flags = header.flags & !mask | theirs;
            } else if ours != theirs && !(ours != 0 && theirs == any) {
                errors.push(Error::new(
                    &object.name,
                    format!("its {name} setting contradicts an earlier object's"),
                ));
            }
        }
    }
    header
}

/// True for a file that can be linked; else says why not.
fn check_linkable(name: &str, file: &File<'_>) -> Result<(), Error> {
    if file.kind != Kind::Relocatable {
        return Err(Error::new(name, "it is linked already; a relocatable object is needed"));
    }
    if file.is_finalized() {
        return Err(Error::new(
            name,
            "a finalizer made it for the loader; such code objects cannot be linked",
        ));
    }
    if let Some(section) = file.sections.iter().find(|s| s.ty == elf::SHT_REL) {
        let message = format!(
            "{} has relocations without addends, which only other runtimes than HSA use",
            section.name
        );
        return Err(Error::new(name, message));
    }
    for section in &file.sections {
        // Beyond this no GPU has memory, and sums of sizes stay in range.
        let fits = section.size <= 1 << 40 && section.align <= MAX_ALIGN;
        if !fits || (section.align > 1 && !section.align.is_power_of_two()) {
            let (size, align) = (section.size, section.align);
            let message = format!("section {} has size {size:#x} and alignment {align:#x}", section.name);
            return Err(Error::new(name, message));
        }
    }
    if file.sections.len() >= 0xff00 {
        return Err(Error::new(name, "it has more sections than can be linked"));
    }
    Ok(())
}

/// Sections may not ask for more.
const MAX_ALIGN: u64 = 1 << 20;
