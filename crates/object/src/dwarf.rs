//! The sections of debugging information: unpacked, and in relocatable files relocated.

use crate::elf;
use crate::read::{Error, File};
use crate::unpack;
use gimli::{Dwarf, EndianSlice, LittleEndian, SectionId};
use std::borrow::Cow;
use std::collections::HashMap;

/// Bytes that a file's debugging sections may unpack to.
const MAX_UNPACKED: usize = 4 << 30;

/// Bytes of a debugging section.
pub(crate) type Slice<'d> = EndianSlice<'d, LittleEndian>;

/// The contents of the debugging sections, by name.
pub(crate) struct Contents<'a>(HashMap<&'a str, Cow<'a, [u8]>>);

impl<'a> Contents<'a> {
    /// Reads the sections. `base` is where a section of a relocatable file is taken to be.
    pub fn read(file: &File<'a>, base: impl Fn(u32) -> u64) -> Result<Contents<'a>, Error> {
        let mut contents = HashMap::new();
        let mut unpacked = 0;
        for (number, section) in file.sections.iter().enumerate() {
            if section.name.starts_with(".debug_") {
                let data = unpack::contents(section)?;
                // Sections may share their bytes in the file, and each would be unpacked.
                if let Cow::Owned(plain) = &data {
                    unpacked += plain.len();
                }
                if unpacked > MAX_UNPACKED {
                    let message = "the debugging sections unpack to too much";
                    return Err(Error::new(section.name, Some(section.offset), message));
                }
                contents.insert(section.name, relocated(file, number as u32, data, &base)?);
            }
        }
        Ok(Contents(contents))
    }

    /// The bytes of a section, none when there is no such section.
    pub fn get(&self, name: &str) -> &[u8] {
        self.0.get(name).map_or(&[], |c| c)
    }

    /// The sections as gimli wants them.
    pub fn dwarf(&self) -> Dwarf<Slice<'_>> {
        let load = |id: SectionId| Ok(EndianSlice::new(self.get(id.name()), LittleEndian));
        Dwarf::load(load).unwrap_or_else(|never: std::convert::Infallible| match never {})
    }
}

/// A debugging section's contents with its relocations applied.
fn relocated<'a>(
    file: &File<'a>,
    number: u32,
    mut contents: Cow<'a, [u8]>,
    base: impl Fn(u32) -> u64,
) -> Result<Cow<'a, [u8]>, Error> {
    for r in file.relocations(number)? {
        let Some(symbol) = file.symbols.get(r.symbol as usize) else { continue };
        let home = file.sections.get(symbol.section as usize);
        // Only what is loaded has an address; debugging sections refer to each other by offset.
        let loaded = home.is_some_and(|s| s.flags & elf::SHF_ALLOC != 0);
        let start = if loaded { base(symbol.section) } else { 0 };
        let value = start.wrapping_add(symbol.value).wrapping_add_signed(r.addend);
        let size = match r.ty {
            elf::R_AMDGPU_ABS64 => 8,
            elf::R_AMDGPU_ABS32 => 4,
            _ => continue,
        };
        let place =
            usize::try_from(r.offset).ok().and_then(|at| contents.to_mut().get_mut(at..)?.get_mut(..size));
        if let Some(place) = place {
            place.copy_from_slice(&value.to_le_bytes()[..size]);
        }
    }
    Ok(contents)
}

/// Text of a debugging section.
pub(crate) fn text(slice: Slice<'_>) -> String {
    String::from_utf8_lossy(slice.slice()).into_owned()
}

/// The whole path of an entry of a line table's list of files.
pub(crate) fn path<'d>(
    dwarf: &Dwarf<Slice<'d>>,
    header: &gimli::LineProgramHeader<Slice<'d>>,
    file: Option<&gimli::FileEntry<Slice<'d>>>,
    directory: Option<Slice<'d>>,
) -> String {
    let Some(file) = file else { return "<unknown>".into() };
    let name = |value| dwarf.attr_line_string(value).map(text).unwrap_or_default();
    let mut path = name(file.path_name());
    let mut prepend = |directory: &str| {
        if !path.starts_with('/') && !directory.is_empty() && directory != "." {
            path = format!("{}/{path}", directory.trim_end_matches('/'));
        }
    };
    if let Some(value) = file.directory(header) {
        prepend(&name(value));
    }
    if let Some(directory) = directory {
        prepend(&text(directory));
    }
    path
}
