//! ELF string tables in which a string that ends another shares its bytes, laid out as LLVM does.

use std::collections::HashMap;

/// Collects strings, then gives each its offset.
#[derive(Default)]
pub struct Builder<'a> {
    strings: Vec<&'a str>,
}

/// A finished table.
pub struct Table<'a> {
    /// The bytes, from the empty string's zero on.
    pub bytes: Vec<u8>,
    offsets: HashMap<&'a str, u32>,
}

impl<'a> Builder<'a> {
    /// Adds a string; the empty one needs no adding.
    pub fn add(&mut self, string: &'a str) {
        if !string.is_empty() {
            self.strings.push(string);
        }
    }

    /// Lays the table out: strings in descending order of their reversed bytes, so that a string comes right after
    /// those it ends.
    pub fn finish(mut self) -> Table<'a> {
        self.strings.sort_unstable_by(|a, b| b.bytes().rev().cmp(a.bytes().rev()));
        self.strings.dedup();
        let mut table = Table { bytes: vec![0], offsets: HashMap::with_capacity(self.strings.len()) };
        let mut previous = "";
        for string in self.strings {
            let at = if previous.ends_with(string) {
                table.bytes.len() - string.len() - 1
            } else {
                let at = table.bytes.len();
                table.bytes.extend_from_slice(string.as_bytes());
                table.bytes.push(0);
                previous = string;
                at
            };
            table.offsets.insert(string, at as u32);
        }
        table
    }
}

impl Table<'_> {
    /// Where a string starts; 0, the empty string, for one that was not added.
    pub fn offset(&self, string: &str) -> u32 {
        self.offsets.get(string).copied().unwrap_or(0)
    }
}

/// Text of a string table; what is not UTF-8 in it is not shown.
pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or("\u{fffd}")
}
