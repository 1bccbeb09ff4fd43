//! Any records and any format strings are printed or explained: no panic, no hang. Format strings are lines up to a zero
//! byte; the records follow.

use wavemill_console::printf::Printer;
use wavemill_console::printf::records::{Formats, print_records};

pub fn run(data: &[u8]) {
    let end = data.iter().position(|b| *b == 0).unwrap_or(data.len());
    let Ok(text) = std::str::from_utf8(&data[..end]) else { return };
    let Ok(formats) = Formats::new(text.lines()) else { return };
    print_records(data.get(end + 1..).unwrap_or(&[]), &formats, &Printer::default());
}
