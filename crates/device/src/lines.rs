//! What the host knows about addresses: source lines from DWARF, and the process's own memory.

use wavemill_object::lines::Lines;
use wavemill_object::read::File;

/// File and line of an address of a linked file, when its debug information has them.
pub(crate) fn find(file: &[u8], address: u64) -> Option<(String, u32)> {
    let file = File::parse(file).ok()?;
    let lines = Lines::read(&file).ok()??;
    let line = lines.find(0, address)?;
    Some((line.file.to_owned(), line.line))
}

/// File and line of the code before an address, not before `from`: for code that the compiler has given no line.
pub(crate) fn before(file: &[u8], address: u64, from: u64) -> Option<(String, u32)> {
    let file = File::parse(file).ok()?;
    let lines = Lines::read(&file).ok()??;
    let line = lines.before(0, address, from)?;
    Some((line.file.to_owned(), line.line))
}

/// Whether the process has memory of its own at an address (`/proc/self/maps`); never, where that cannot be told.
pub(crate) fn is_host(address: u64) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    maps.lines().any(|line| {
        let range = line.split(' ').next().and_then(|r| r.split_once('-'));
        range.and_then(|(a, b)| Some((hex(a)?..hex(b)?).contains(&address))).unwrap_or(false)
    })
}
