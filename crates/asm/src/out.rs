//! Where the output goes: LLVM's text, in one buffer, or an object in memory.

use crate::fixup::Fixup;
use crate::hex;
use crate::number::write_int;
use crate::object::Object;
use crate::symbol::Symbols;
use std::fmt;
use std::io::Write as _;

/// The column comments start in.
const COMMENT_COLUMN: usize = 40;

/// The output of an assembly.
#[derive(Debug, Default)]
pub struct Out {
    /// The text so far; stays empty when an object is built.
    pub buf: Vec<u8>,
    /// The object being built, or `None` when text is written.
    pub object: Option<Box<Object>>,
    /// Comments waiting for the end of the line; each ends with a newline.
    comments: Vec<u8>,
}

impl Out {
    /// Output as text.
    pub fn text() -> Out {
        Out::default()
    }

    /// Output as an object.
    pub fn object() -> Out {
        Out { object: Some(Box::default()), ..Out::default() }
    }

    /// True when text is written.
    #[inline]
    pub fn is_text(&self) -> bool {
        self.object.is_none()
    }

    /// Writes a line of text (the tab in front is the caller's); does nothing when an object is built.
    pub fn line(&mut self, args: fmt::Arguments<'_>) {
        if self.is_text() {
            _ = self.buf.write_fmt(args);
            self.eol();
        }
    }

    /// Writes text without ending the line; does nothing when an object is built.
    pub fn raw(&mut self, text: &[u8]) {
        if self.is_text() {
            self.buf.extend_from_slice(text);
        }
    }

    /// Writes a string in quotes, with escapes as LLVM chooses them.
    pub fn quoted(&mut self, text: &[u8]) {
        if !self.is_text() {
            return;
        }
        self.buf.push(b'"');
        for &byte in text {
            let letter = match byte {
                b'"' | b'\\' => byte,
                0x20..=0x7e => {
                    self.buf.push(byte);
                    continue;
                }
                8 => b'b',
                12 => b'f',
                b'\n' => b'n',
                b'\r' => b'r',
                b'\t' => b't',
                _ => {
                    let octal = |shift: u8| b'0' + (byte >> shift & 7);
                    self.buf.extend_from_slice(&[b'\\', octal(6), octal(3), octal(0)]);
                    continue;
                }
            };
            self.buf.extend_from_slice(&[b'\\', letter]);
        }
        self.buf.push(b'"');
    }

    /// Adds a comment to be written at the end of the current line.
    pub fn comment(&mut self, text: &[u8]) {
        if self.is_text() {
            self.comments.extend_from_slice(text);
            self.comments.push(b'\n');
        }
    }

    /// Ends the line, with the comments that wait for it.
    #[inline]
    pub fn eol(&mut self) {
        if self.comments.is_empty() {
            self.buf.push(b'\n');
        } else {
            self.write_comments();
        }
    }

    fn write_comments(&mut self) {
        let comments = std::mem::take(&mut self.comments);
        for line in comments.split_inclusive(|b| *b == b'\n') {
            self.pad();
            self.buf.extend_from_slice(b"; ");
            self.buf.extend_from_slice(line);
        }
        self.comments = comments;
        self.comments.clear();
    }

    /// Pads to the comment column, with one space at least.
    pub(crate) fn pad(&mut self) {
        let start = self.buf.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
        self.pad_line(start);
    }

    /// Pads the line that starts at `start`. LLVM counts a tab at a tab stop as nothing.
    fn pad_line(&mut self, start: usize) {
        let mut column = 0;
        for &byte in &self.buf[start..] {
            match byte {
                b'\t' => column = (column + 7) & !7,
                // Continuation bytes of UTF-8 and control characters take no room.
                0x80..=0xbf | ..0x20 => {}
                _ => column += 1,
            }
        }
        let spaces = COMMENT_COLUMN.saturating_sub(column).max(1);
        self.buf.resize(self.buf.len() + spaces, b' ');
    }

    /// Ends the line of an instruction, which starts at `start`, with its encoding. Equal to
    /// [`Out::encoding_comment`] and [`Out::eol`] when there is nothing to fix up, which is nearly always.
    #[inline]
    pub(crate) fn eol_with_encoding(&mut self, start: usize, bits: u64, len: u8) {
        // An instruction without fixups is a tab and printable ASCII: its width is its length.
        let out = &mut self.buf;
        let wanted = (start + 1 + COMMENT_COLUMN).max(out.len() + 1);
        out.extend_from_slice(&[b' '; COMMENT_COLUMN]);
        out.truncate(wanted);
        out.extend_from_slice(b"; encoding: [");
        for byte in bits.to_le_bytes().into_iter().take(len as usize) {
            let [high, low] = hex::LOWER[byte as usize];
            out.extend_from_slice(&[b'0', b'x', high, low, b',']);
        }
        out.truncate(out.len() - 1);
        out.extend_from_slice(b"]\n");
    }

    /// True when comments wait for the end of the line.
    pub(crate) fn has_comments(&self) -> bool {
        !self.comments.is_empty()
    }

    /// Adds the `encoding: […]` comment of an instruction and that of its fixup.
    pub fn encoding_comment(&mut self, bits: u64, len: u8, fixup: Option<&Fixup>, symbols: &Symbols) {
        let start = fixup.map_or(0, |f| usize::from(f.offset));
        let fixed = start..start + fixup.map_or(0, |f| usize::from(f.kind.size()));
        let out = &mut self.comments;
        out.extend_from_slice(b"encoding: [");
        for (i, byte) in bits.to_le_bytes().into_iter().enumerate().take(len as usize) {
            if i != 0 {
                out.push(b',');
            }
            if !fixed.contains(&i) {
                hex_byte(byte, out);
            } else if byte == 0 {
                out.push(b'A');
            } else {
                hex_byte(byte, out);
                out.extend_from_slice(b"'A'");
            }
        }
        out.extend_from_slice(b"]\n");
        if let Some(fixup) = fixup {
            out.extend_from_slice(b"  fixup A - offset: ");
            write_int(fixup.offset.into(), out);
            out.extend_from_slice(b", value: ");
            fixup.expr.print(symbols, out);
            out.extend_from_slice(b", kind: ");
            out.extend_from_slice(fixup.kind.name().as_bytes());
            out.push(b'\n');
        }
    }
}

fn hex_byte(byte: u8, out: &mut Vec<u8>) {
    let [high, low] = hex::LOWER[byte as usize];
    out.extend_from_slice(&[b'0', b'x', high, low]);
}
