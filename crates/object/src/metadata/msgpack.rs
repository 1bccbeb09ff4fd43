//! MessagePack, as metadata notes hold it: a reader that trusts no length, and a writer that picks the shortest
//! form of everything.

use super::{Error, Location, MAX_DEPTH, Map, Value};
use std::borrow::Cow;

/// Reads one document from the start of `bytes`. Returns it with the number of bytes it took.
pub fn read(bytes: &[u8]) -> Result<(Value<'_>, usize), Error> {
    let mut reader = Reader { bytes, at: 0 };
    let value = reader.value(0)?;
    Ok((value, reader.at))
}

/// Reads documents piece by piece.
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// What stands next in the data.
enum Head<'a> {
    Value(Value<'a>),
    Array(u32),
    Map(u32),
}

impl<'a> Reader<'a> {
    /// A reader at the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes, at: 0 }
    }

    /// The byte that is read next.
    pub fn offset(&self) -> usize {
        self.at
    }

    fn error<T>(&self, at: usize, message: impl Into<String>) -> Result<T, Error> {
        Err(Error { message: message.into(), place: Location::Offset(at) })
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Error> {
        match self.bytes.get(self.at..).and_then(|rest| rest.get(..count)) {
            Some(taken) => {
                self.at += count;
                Ok(taken)
            }
            None => {
                let left = self.bytes.len() - self.at.min(self.bytes.len());
                self.error(self.at, format!("{count} bytes wanted, {left} left"))
            }
        }
    }

    /// A big-endian number of `count` bytes.
    fn number(&mut self, count: usize) -> Result<u64, Error> {
        Ok(self.take(count)?.iter().fold(0, |n, &b| n << 8 | u64::from(b)))
    }

    /// Sign-extends a number of `count` bytes.
    fn signed(&mut self, count: usize) -> Result<i64, Error> {
        let unused = 64 - 8 * count as u32;
        Ok((self.number(count)? << unused) as i64 >> unused)
    }

    fn text(&mut self, length: u64) -> Result<Head<'a>, Error> {
        let bytes = self.take(length as usize)?;
        Ok(Head::Value(Value::Str(String::from_utf8_lossy(bytes))))
    }

    fn binary(&mut self, length: u64) -> Result<Head<'a>, Error> {
        Ok(Head::Value(Value::Bin(Cow::Borrowed(self.take(length as usize)?))))
    }

    fn head(&mut self) -> Result<Head<'a>, Error> {
        let at = self.at;
        let first = self.take(1)?[0];
        let value = match first {
            0x00..=0x7f => Value::UInt(u64::from(first)),
            0x80..=0x8f => return Ok(Head::Map(u32::from(first & 0xf))),
            0x90..=0x9f => return Ok(Head::Array(u32::from(first & 0xf))),
            0xa0..=0xbf => return self.text(u64::from(first & 0x1f)),
            0xc0 => Value::Nil,
            0xc2 => Value::Bool(false),
            0xc3 => Value::Bool(true),
            0xc4..=0xc6 => {
                let length = self.number(1 << (first - 0xc4))?;
                return self.binary(length);
            }
            0xca => Value::Float(f64::from(f32::from_bits(self.number(4)? as u32))),
            0xcb => Value::Float(f64::from_bits(self.number(8)?)),
            0xcc..=0xcf => Value::UInt(self.number(1 << (first - 0xcc))?),
            0xd0..=0xd3 => Value::Int(self.signed(1 << (first - 0xd0))?),
            0xd9..=0xdb => {
                let length = self.number(1 << (first - 0xd9))?;
                return self.text(length);
            }
            0xdc | 0xdd => return Ok(Head::Array(self.number(2 << (first - 0xdc))? as u32)),
            0xde | 0xdf => return Ok(Head::Map(self.number(2 << (first - 0xde))? as u32)),
            0xe0..=0xff => Value::Int(i64::from(first as i8)),
            0xc7..=0xc9 | 0xd4..=0xd8 => {
                return self.error(at, "extension types have no meaning in metadata");
            }
            0xc1 => return self.error(at, "byte 0xc1 starts nothing in MessagePack"),
        };
        Ok(Head::Value(value))
    }

    /// Reads a value that `depth` containers enclose.
    fn value(&mut self, depth: usize) -> Result<Value<'a>, Error> {
        let at = self.at;
        let head = self.head()?;
        if depth > MAX_DEPTH {
            return self.error(at, format!("nested more than {MAX_DEPTH} deep"));
        }
        // A count may lie: reserve for what is common, grow for the rest.
        const COMMON: usize = 64;
        match head {
            Head::Value(value) => Ok(value),
            Head::Array(count) => {
                let mut elements = Vec::with_capacity((count as usize).min(COMMON));
                for _ in 0..count {
                    elements.push(self.value(depth + 1)?);
                }
                Ok(Value::Array(elements))
            }
            Head::Map(count) => {
                let mut entries = Vec::with_capacity((count as usize).min(COMMON));
                for _ in 0..count {
                    entries.push((self.value(depth + 1)?, self.value(depth + 1)?));
                }
                Ok(Value::Map(Map::from_entries(entries)))
            }
        }
    }

    /// Reads the next value.
    pub fn next_value(&mut self) -> Result<Value<'a>, Error> {
        self.value(0)
    }

    /// Reads the start of a mapping and returns its number of entries; each is a key and a value to be read.
    pub fn enter_map(&mut self) -> Result<u32, Error> {
        let at = self.at;
        match self.head()? {
            Head::Map(count) => Ok(count),
            _ => self.error(at, "a mapping was expected"),
        }
    }

    /// Reads the start of an array and returns its number of elements.
    pub fn enter_array(&mut self) -> Result<u32, Error> {
        let at = self.at;
        match self.head()? {
            Head::Array(count) => Ok(count),
            _ => self.error(at, "an array was expected"),
        }
    }
}

/// Writes a document.
pub fn write(value: &Value<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    write_value(value, &mut out);
    out
}

/// A length or count, in the shortest form: within the first byte up to `fix_max`, else after the first of
/// `forms` that is wide enough.
fn write_length(length: usize, fix: u8, fix_max: usize, forms: &[(u8, usize)], out: &mut Vec<u8>) {
    if length <= fix_max && fix != 0 {
        out.push(fix | length as u8);
        return;
    }
    let bytes = (length as u32).to_be_bytes();
    let fits = |&&(_, size): &&(u8, usize)| size == 4 || length < 1 << (8 * size);
    if let Some(&(first, size)) = forms.iter().find(fits) {
        out.push(first);
        out.extend_from_slice(&bytes[4 - size..]);
    }
}

fn write_value(value: &Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Nil => out.push(0xc0),
        Value::Bool(b) => out.push(if *b { 0xc3 } else { 0xc2 }),
        Value::UInt(u) => write_uint(*u, out),
        Value::Int(i) => write_int(*i, out),
        Value::Float(f) => {
            let magnitude = f.abs();
            if magnitude >= f64::from(f32::MIN_POSITIVE) && magnitude <= f64::from(f32::MAX) {
                out.push(0xca);
                out.extend_from_slice(&(*f as f32).to_be_bytes());
            } else {
                out.push(0xcb);
                out.extend_from_slice(&f.to_be_bytes());
            }
        }
        Value::Str(s) => {
            write_length(s.len(), 0xa0, 31, &[(0xd9, 1), (0xda, 2), (0xdb, 4)], out);
            out.extend_from_slice(s.as_bytes());
        }
        Value::Bin(b) => {
            write_length(b.len(), 0, 0, &[(0xc4, 1), (0xc5, 2), (0xc6, 4)], out);
            out.extend_from_slice(b);
        }
        Value::Array(elements) => {
            write_length(elements.len(), 0x90, 15, &[(0xdc, 2), (0xdd, 4)], out);
            for element in elements {
                write_value(element, out);
            }
        }
        Value::Map(map) => {
            write_length(map.len(), 0x80, 15, &[(0xde, 2), (0xdf, 4)], out);
            for (key, value) in map.iter() {
                write_value(key, out);
                write_value(value, out);
            }
        }
    }
}

fn write_uint(u: u64, out: &mut Vec<u8>) {
    match u {
        0..=0x7f => out.push(u as u8),
        0x80..=0xff => out.extend([0xcc, u as u8]),
        0x100..=0xffff => {
            out.push(0xcd);
            out.extend((u as u16).to_be_bytes());
        }
        0x1_0000..=0xffff_ffff => {
            out.push(0xce);
            out.extend((u as u32).to_be_bytes());
        }
        _ => {
            out.push(0xcf);
            out.extend(u.to_be_bytes());
        }
    }
}

fn write_int(i: i64, out: &mut Vec<u8>) {
    match i {
        0.. => write_uint(i as u64, out),
        -32..0 => out.push(i as u8),
        -0x80..-32 => out.extend([0xd0, i as u8]),
        -0x8000..-0x80 => {
            out.push(0xd1);
            out.extend((i as i16).to_be_bytes());
        }
        -0x8000_0000..-0x8000 => {
            out.push(0xd2);
            out.extend((i as i32).to_be_bytes());
        }
        _ => {
            out.push(0xd3);
            out.extend(i.to_be_bytes());
        }
    }
}
