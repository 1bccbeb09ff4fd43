//! Text with names from files in it, for people to read. Such names may hold anything; control characters in them never reach
//! a terminal, which would take them for commands.

use std::borrow::Cow;
use std::io::{IsTerminal, Write};

/// Writes text to standard error, with its control characters shown if that is a terminal. Nobody is left to tell that it
/// cannot be written to.
pub fn report(text: &str) {
    let mut out = std::io::stderr().lock();
    let bytes = if out.is_terminal() { visible(text.as_bytes()) } else { Cow::Borrowed(text.as_bytes()) };
    _ = out.write_all(&bytes);
}

/// Says something to whoever uses the GPU, on a line of its own.
pub fn message(text: impl std::fmt::Display) {
    report(&format!("wavemill: {text}\n"));
}

/// Text with its control characters, and what is no UTF-8, written as `\x1b` and `\u{9b}`; line ends and tabs stay.
pub fn visible(bytes: &[u8]) -> Cow<'_, [u8]> {
    let shown = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    if let Ok(text) = std::str::from_utf8(bytes)
        && text.chars().all(shown)
    {
        return Cow::Borrowed(bytes);
    }
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                c if shown(c) => out.push(c),
                c if c.is_ascii() => out += &format!("\\x{:02x}", u32::from(c)),
                c => out.extend(c.escape_unicode()),
            }
        }
        for byte in chunk.invalid() {
            out += &format!("\\x{byte:02x}");
        }
    }
    Cow::Owned(out.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown() {
        let see = |text: &[u8]| String::from_utf8(visible(text).into_owned()).unwrap();
        assert_eq!(see("a\tb\né".as_bytes()), "a\tb\né");
        assert_eq!(see(b"\x1b]0;x\x07\r"), "\\x1b]0;x\\x07\\x0d");
        assert_eq!(see("\u{9b}2J".as_bytes()), "\\u{9b}2J");
        assert_eq!(see(b"\x9b2J\xff"), "\\x9b2J\\xff");
    }
}
