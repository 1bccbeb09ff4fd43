//! Source lines from DWARF.

use addr2line::Context;
use gimli::{Dwarf, EndianSlice, LittleEndian};
use wavemill_object::read::File;

/// File and line of an address of a linked file, when its debug information has them.
pub(crate) fn find(file: &[u8], address: u64) -> Option<(String, u32)> {
    let file = File::parse(file).ok()?;
    let section = |id: gimli::SectionId| -> Result<_, gimli::Error> {
        let data = file.section(id.name()).map_or(&[][..], |s| s.data);
        Ok(EndianSlice::new(data, LittleEndian))
    };
    let dwarf = Dwarf::load(section).ok()?;
    let context = Context::from_dwarf(dwarf).ok()?;
    let location = context.find_location(address).ok()??;
    Some((location.file?.to_owned(), location.line?))
}
