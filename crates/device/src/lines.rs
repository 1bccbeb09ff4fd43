//! Source lines from DWARF.

use wavemill_object::lines::Lines;
use wavemill_object::read::File;

/// File and line of an address of a linked file, when its debug information has them.
pub(crate) fn find(file: &[u8], address: u64) -> Option<(String, u32)> {
    let file = File::parse(file).ok()?;
    let lines = Lines::read(&file).ok()??;
    let line = lines.find(0, address)?;
    Some((line.file.to_owned(), line.line))
}
