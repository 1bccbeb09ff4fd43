//! JSON as it is written: piece by piece, so that a library of thousands of kernels takes no memory.

use std::fmt::Write as _;
use std::io::{self, Write};
use wavemill_device::json::quote;

/// Text after which it is handed on.
const FLUSH: usize = 1 << 16;

/// Writes one JSON value, indented.
pub struct Json<W: Write> {
    out: W,
    text: String,
    /// For each open object or array: whether it has something in it.
    open: Vec<bool>,
    /// A key has been written and waits for its value.
    keyed: bool,
    error: Option<io::Error>,
}

/// A number, text, truth or nothing.
pub enum Scalar<'a> {
    /// A number.
    Number(u64),
    /// A number that may be negative.
    Signed(i64),
    /// A fraction.
    Float(f64),
    /// Text.
    Text(&'a str),
    /// True or false.
    Bool(bool),
    /// Nothing.
    Null,
}

impl From<u64> for Scalar<'_> {
    fn from(n: u64) -> Self {
        Scalar::Number(n)
    }
}

impl From<u32> for Scalar<'_> {
    fn from(n: u32) -> Self {
        Scalar::Number(n.into())
    }
}

impl From<usize> for Scalar<'_> {
    fn from(n: usize) -> Self {
        Scalar::Number(n as u64)
    }
}

impl From<bool> for Scalar<'_> {
    fn from(b: bool) -> Self {
        Scalar::Bool(b)
    }
}

impl<'a> From<&'a str> for Scalar<'a> {
    fn from(s: &'a str) -> Self {
        Scalar::Text(s)
    }
}

impl<'a> From<&'a String> for Scalar<'a> {
    fn from(s: &'a String) -> Self {
        Scalar::Text(s)
    }
}

impl<'a, T: Into<Scalar<'a>>> From<Option<T>> for Scalar<'a> {
    fn from(o: Option<T>) -> Self {
        o.map_or(Scalar::Null, Into::into)
    }
}

impl<W: Write> Json<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Json<W> {
        Json { out, text: String::new(), open: Vec::new(), keyed: false, error: None }
    }

    fn before(&mut self) {
        if std::mem::take(&mut self.keyed) {
            return;
        }
        if let Some(filled) = self.open.last_mut() {
            if std::mem::replace(filled, true) {
                self.text.push(',');
            }
            self.line();
        }
        if self.text.len() > FLUSH {
            self.flush();
        }
    }

    fn line(&mut self) {
        self.text.push('\n');
        for _ in 0..self.open.len() {
            self.text.push_str("  ");
        }
    }

    fn flush(&mut self) {
        if self.error.is_none() {
            self.error = self.out.write_all(self.text.as_bytes()).err();
        }
        self.text.clear();
    }

    fn enclosed(&mut self, brackets: [char; 2], inside: impl FnOnce(&mut Self)) {
        self.before();
        self.text.push(brackets[0]);
        self.open.push(false);
        inside(self);
        if self.open.pop() == Some(true) {
            self.line();
        }
        self.text.push(brackets[1]);
    }

    /// Writes an object, whose fields `inside` writes.
    pub fn object(&mut self, inside: impl FnOnce(&mut Self)) {
        self.enclosed(['{', '}'], inside);
    }

    /// Writes an array, whose elements `inside` writes.
    pub fn array(&mut self, inside: impl FnOnce(&mut Self)) {
        self.enclosed(['[', ']'], inside);
    }

    /// Writes a key; its value comes next.
    pub fn key(&mut self, key: &str) -> &mut Self {
        self.before();
        quote(key, &mut self.text);
        self.text.push_str(": ");
        self.keyed = true;
        self
    }

    /// Writes a field of an object.
    pub fn field<'a>(&mut self, key: &str, value: impl Into<Scalar<'a>>) {
        self.key(key).value(value);
    }

    /// Writes a value.
    pub fn value<'a>(&mut self, value: impl Into<Scalar<'a>>) {
        self.before();
        match value.into() {
            Scalar::Number(n) => _ = write!(self.text, "{n}"),
            Scalar::Signed(n) => _ = write!(self.text, "{n}"),
            Scalar::Float(f) if f.is_finite() => _ = write!(self.text, "{f:?}"),
            Scalar::Text(s) => quote(s, &mut self.text),
            Scalar::Bool(b) => _ = write!(self.text, "{b}"),
            Scalar::Float(_) | Scalar::Null => self.text.push_str("null"),
        }
    }

    /// Ends the text and says whether all of it could be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.text.push('\n');
        self.flush();
        match self.error {
            Some(e) => Err(e),
            None => self.out.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Json;

    #[test]
    fn nests_and_quotes() {
        let mut out = Vec::new();
        let mut json = Json::new(&mut out);
        json.object(|j| {
            j.field("a\"b", "x\ny");
            j.key("n").array(|j| {
                j.value(1u32);
                j.value(None::<u32>);
            });
            j.key("e").array(|_| {});
        });
        json.finish().unwrap();
        let text = "{\n  \"a\\\"b\": \"x\\ny\",\n  \"n\": [\n    1,\n    null\n  ],\n  \"e\": []\n}\n";
        assert_eq!(String::from_utf8(out).unwrap(), text);
    }
}
