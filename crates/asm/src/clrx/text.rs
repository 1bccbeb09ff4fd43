//! Source text of CLRX's assembly: comments blanked out, statements cut.
//!
//! `#` and `/* … */` are comments, `;` separates statements and a backslash at the end of a line joins it to the next.
//! What is left out becomes blanks, so that every byte stays where it was and messages can point at it.

/// Blanks out comments and joins continued lines; strings and characters keep theirs.
pub(super) fn clean(text: &[u8]) -> Vec<u8> {
    let mut out = text.to_vec();
    let mut i = 0;
    while i < out.len() {
        match out[i] {
            b'#' => {
                while i < out.len() && out[i] != b'\n' {
                    out[i] = b' ';
                    i += 1;
                }
            }
            b'/' if out.get(i + 1) == Some(&b'*') => {
                let end = out[i + 2..].windows(2).position(|w| w == b"*/").map_or(out.len(), |n| i + n + 4);
                // The comment's newlines do not end the statement, but lines keep their numbers.
                for byte in &mut out[i..end] {
                    *byte = if *byte == b'\n' { JOIN } else { b' ' };
                }
                i = end;
            }
            b'\\' if matches!(out.get(i + 1), Some(b'\n')) => {
                out[i] = b' ';
                out[i + 1] = JOIN;
                i += 2;
            }
            quote @ (b'"' | b'\'') => i = skip_quoted(&out, i, quote),
            _ => i += 1,
        }
    }
    out
}

/// A newline that does not end a statement.
pub(super) const JOIN: u8 = 0x0b;

/// The byte after a string or character that starts at `at`, or the end of the line where it is not closed.
fn skip_quoted(text: &[u8], at: usize, quote: u8) -> usize {
    let mut i = at + 1;
    while i < text.len() {
        match text[i] {
            b'\\' => i += 2,
            b'\n' => return i,
            byte if byte == quote => return i + 1,
            _ => i += 1,
        }
    }
    text.len()
}

/// Where the next statement of a clean text ends: before a newline or a semicolon.
pub(super) fn statement_end(text: &[u8], from: usize) -> usize {
    let mut i = from;
    while i < text.len() {
        match text[i] {
            b'\n' | b';' => return i,
            quote @ (b'"' | b'\'') => i = skip_quoted(text, i, quote),
            _ => i += 1,
        }
    }
    text.len()
}

/// A place in a statement, and what can be read from there.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'t> {
    text: &'t [u8],
    /// The next byte.
    pub at: usize,
}

impl<'t> Cursor<'t> {
    pub fn new(text: &'t [u8]) -> Cursor<'t> {
        let mut cursor = Cursor { text, at: 0 };
        cursor.blanks();
        cursor
    }

    /// What is left.
    pub fn rest(&self) -> &'t [u8] {
        self.text.get(self.at..).unwrap_or(&[])
    }

    pub fn at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    pub fn peek(&self) -> u8 {
        self.rest().first().copied().unwrap_or(0)
    }

    pub fn peek_at(&self, ahead: usize) -> u8 {
        self.rest().get(ahead).copied().unwrap_or(0)
    }

    /// Goes on by some bytes and over blanks.
    pub fn skip(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.text.len());
        self.blanks();
    }

    fn blanks(&mut self) {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\r' | &JOIN)) {
            self.at += 1;
        }
    }

    /// Goes over a text if it is there.
    pub fn eat(&mut self, text: &str) -> bool {
        let hit = self.rest().starts_with(text.as_bytes());
        if hit {
            self.skip(text.len());
        }
        hit
    }

    /// The word at the cursor: letters, digits, `_`, `.` and, inside of paths, `::`. Empty when there is none.
    pub fn word(&self) -> &'t str {
        let rest = self.rest();
        let mut i = 0;
        while i < rest.len() {
            match rest[i] {
                b'0'..=b'9' if i == 0 => break,
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' => i += 1,
                b':' if rest.get(i + 1) == Some(&b':') && is_start(rest.get(i + 2).copied().unwrap_or(0)) => {
                    i += 2;
                }
                _ => break,
            }
        }
        std::str::from_utf8(&rest[..i]).unwrap_or("")
    }

    /// Takes the word at the cursor.
    pub fn take_word(&mut self) -> &'t str {
        let word = self.word();
        self.skip(word.len());
        word
    }

    /// Takes the text up to a comma that is in no brackets or strings, without blanks around it.
    pub fn take_field(&mut self) -> &'t [u8] {
        self.take_until(|b| b == b',')
    }

    /// Takes a macro's argument: up to a comma, or a blank that no operator is beside.
    pub fn take_until(&mut self, stop: impl Fn(u8) -> bool) -> &'t [u8] {
        let rest = self.rest();
        let mut depth = 0i32;
        let mut i = 0;
        while i < rest.len() {
            match rest[i] {
                b'(' | b'[' => depth += 1,
                b')' | b']' => depth -= 1,
                quote @ (b'"' | b'\'') => {
                    i = skip_quoted(rest, i, quote);
                    continue;
                }
                byte if depth <= 0 && stop(byte) => break,
                _ => {}
            }
            i += 1;
        }
        let field = rest[..i.min(rest.len())].trim_ascii();
        self.at += i.min(rest.len());
        self.blanks();
        field
    }

    /// A string in quotes, with its escapes undone.
    pub fn string(&mut self) -> Option<Vec<u8>> {
        if self.peek() != b'"' {
            return None;
        }
        let rest = self.rest();
        let end = skip_quoted(rest, 0, b'"');
        if end < 2 || rest.get(end - 1) != Some(&b'"') {
            return None;
        }
        let text = unescape(&rest[1..end - 1]);
        self.skip(end);
        Some(text)
    }
}

/// Whether a byte can start a word.
pub(super) fn is_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'.')
}

/// Undoes C's escapes.
pub(super) fn unescape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut i = 0;
    while i < text.len() {
        if text[i] != b'\\' || i + 1 == text.len() {
            out.push(text[i]);
            i += 1;
            continue;
        }
        i += 2;
        let digits = |from: usize, most: usize, radix: u32| {
            let is = |b: &&u8| char::from(**b).is_digit(radix);
            let found: Vec<u8> = text[from..].iter().take(most).take_while(is).copied().collect();
            let value = u32::from_str_radix(std::str::from_utf8(&found).unwrap_or(""), radix).unwrap_or(0);
            (value as u8, found.len())
        };
        match text[i - 1] {
            b'n' => out.push(b'\n'),
            b't' => out.push(b'\t'),
            b'r' => out.push(b'\r'),
            b'a' => out.push(7),
            b'b' => out.push(8),
            b'v' => out.push(11),
            b'f' => out.push(12),
            b'x' => {
                let (value, len) = digits(i, 2, 16);
                out.push(value);
                i += len;
            }
            b'0'..=b'7' => {
                let (value, len) = digits(i - 1, 3, 8);
                out.push(value);
                i += len - 1;
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_become_blanks() {
        let clean = |t: &str| String::from_utf8(super::clean(t.as_bytes())).unwrap();
        assert_eq!(clean("a # b\nc"), "a    \nc");
        assert_eq!(clean("a /* x\ny */ b"), "a     \u{b}     b");
        assert_eq!(clean(".ascii \"#/*\" # x"), ".ascii \"#/*\"    ");
        assert_eq!(clean("a \\\n b"), "a  \u{b} b");
        assert_eq!(clean("a /* never closed"), "a                ");
    }

    #[test]
    fn statements_end_at_semicolons_outside_of_strings() {
        let text = b".ascii \"a;b\"; s_endpgm\n";
        assert_eq!(statement_end(text, 0), 12);
        assert_eq!(statement_end(text, 13), text.len() - 1);
    }

    #[test]
    fn strings_have_escapes() {
        assert_eq!(unescape(br"a\n\x41\101\\"), b"a\nAA\\");
        assert_eq!(Cursor::new(b"\"x\\\"y\" z").string().unwrap(), b"x\"y");
        assert_eq!(Cursor::new(b"\"x").string(), None);
    }
}
