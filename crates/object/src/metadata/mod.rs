//! Metadata of code objects: what a runtime must know about kernels beyond their descriptors.
//!
//! One document model serves every form: code object v2's YAML, the MessagePack of v3 and later, and PAL's. A
//! document is a tree of [`Value`]s; keys nobody knows are kept. [`schema`] says what HSA documents must contain.

pub mod kernel;
pub mod msgpack;
pub mod pal;
pub mod schema;
pub mod v2;
mod yaml_in;
mod yaml_out;

pub use yaml_in::{from_yaml, locate};
pub use yaml_out::to_yaml;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

/// Documents nested deeper than this are refused.
pub const MAX_DEPTH: usize = 64;

/// A node of a document.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// Negative, or read as signed.
    Int(i64),
    /// Not negative.
    UInt(u64),
    /// Nothing.
    Nil,
    /// True or false.
    Bool(bool),
    /// Floating point.
    Float(f64),
    /// Text.
    Str(Cow<'a, str>),
    /// Bytes.
    Bin(Cow<'a, [u8]>),
    /// Values in order.
    Array(Vec<Value<'a>>),
    /// Values by key.
    Map(Map<'a>),
}

/// A mapping, sorted by key: the order in which assemblers write it.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Map<'a>(Vec<(Value<'a>, Value<'a>)>);

impl<'a> Map<'a> {
    /// An empty mapping.
    pub fn new() -> Self {
        Map(Vec::new())
    }

    /// The entries in order of their keys.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &(Value<'a>, Value<'a>)> {
        self.0.iter()
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn position(&self, key: &Value<'_>) -> Result<usize, usize> {
        self.0.binary_search_by(|(k, _)| k.key_cmp(key))
    }

    /// The value of any key.
    pub fn get_value(&self, key: &Value<'_>) -> Option<&Value<'a>> {
        self.position(key).ok().map(|i| &self.0[i].1)
    }

    /// The value of a text key.
    pub fn get(&self, key: &str) -> Option<&Value<'a>> {
        self.get_value(&Value::Str(Cow::Borrowed(key)))
    }

    /// The value of a text key, to change.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value<'a>> {
        let i = self.position(&Value::Str(Cow::Borrowed(key))).ok()?;
        Some(&mut self.0[i].1)
    }

    /// Adds an entry; returns the value that it replaces.
    pub fn insert(&mut self, key: Value<'a>, value: Value<'a>) -> Option<Value<'a>> {
        // Documents are mostly written in order, so look at the end first.
        if self.0.last().is_none_or(|(last, _)| last.key_cmp(&key) == Ordering::Less) {
            self.0.push((key, value));
            return None;
        }
        match self.position(&key) {
            Ok(i) => Some(std::mem::replace(&mut self.0[i].1, value)),
            Err(i) => {
                self.0.insert(i, (key, value));
                None
            }
        }
    }

    /// Removes and returns all entries.
    pub fn into_entries(self) -> Vec<(Value<'a>, Value<'a>)> {
        self.0
    }

    /// Entries in any order, sorted once; of equal keys the last wins.
    fn from_entries(mut entries: Vec<(Value<'a>, Value<'a>)>) -> Self {
        if !entries.is_sorted_by(|a, b| a.0.key_cmp(&b.0) == Ordering::Less) {
            entries.reverse();
            entries.sort_by(|a, b| a.0.key_cmp(&b.0));
            entries.dedup_by(|later, first| later.0.key_cmp(&first.0) == Ordering::Equal);
        }
        Map(entries)
    }
}

impl<'a> Value<'a> {
    /// A text node.
    pub fn str(text: &'a str) -> Value<'a> {
        Value::Str(Cow::Borrowed(text))
    }

    fn kind(&self) -> u8 {
        match self {
            Value::Int(_) => 0,
            Value::UInt(_) => 1,
            Value::Nil => 2,
            Value::Bool(_) => 3,
            Value::Float(_) => 4,
            Value::Str(_) => 5,
            Value::Bin(_) => 6,
            Value::Array(_) => 7,
            Value::Map(_) => 8,
        }
    }

    /// The order of keys: first by kind, then by value, text by its bytes.
    fn key_cmp(&self, other: &Value<'_>) -> Ordering {
        match (self, other) {
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            (Value::UInt(a), Value::UInt(b)) => a.cmp(b),
            (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
            (Value::Float(a), Value::Float(b)) => a.total_cmp(b),
            (Value::Str(a), Value::Str(b)) => a.as_bytes().cmp(b.as_bytes()),
            (Value::Bin(a), Value::Bin(b)) => a.cmp(b),
            (Value::Array(a), Value::Array(b)) => {
                let unequal = a.iter().zip(b).map(|(x, y)| x.key_cmp(y)).find(|o| o.is_ne());
                unequal.unwrap_or(a.len().cmp(&b.len()))
            }
            (Value::Map(a), Value::Map(b)) => {
                let pairs = a.0.iter().zip(&b.0);
                let unequal =
                    pairs.map(|(x, y)| x.0.key_cmp(&y.0).then_with(|| x.1.key_cmp(&y.1))).find(|o| o.is_ne());
                unequal.unwrap_or(a.len().cmp(&b.len()))
            }
            _ => self.kind().cmp(&other.kind()),
        }
    }

    /// The text of a text node.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Str(s) => Some(s),
            _ => None,
        }
    }

    /// The number of a node that holds a non-negative integer.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Value::UInt(u) => Some(*u),
            Value::Int(i) => u64::try_from(*i).ok(),
            _ => None,
        }
    }

    /// The truth of a Boolean node.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(b) => Some(*b),
            _ => None,
        }
    }

    /// The elements of an array.
    pub fn as_array(&self) -> Option<&[Value<'a>]> {
        match self {
            Value::Array(a) => Some(a),
            _ => None,
        }
    }

    /// The mapping of a mapping node.
    pub fn as_map(&self) -> Option<&Map<'a>> {
        match self {
            Value::Map(m) => Some(m),
            _ => None,
        }
    }

    /// The value of a text key, when this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Value<'a>> {
        self.as_map()?.get(key)
    }

    /// What kind of node it is, for messages.
    pub fn kind_name(&self) -> &'static str {
        [
            "an integer",
            "an integer",
            "nothing",
            "a Boolean",
            "a number",
            "a string",
            "bytes",
            "an array",
            "a mapping",
        ][self.kind() as usize]
    }

    /// The same document without borrowed text.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Value::Int(i) => Value::Int(i),
            Value::UInt(u) => Value::UInt(u),
            Value::Nil => Value::Nil,
            Value::Bool(b) => Value::Bool(b),
            Value::Float(f) => Value::Float(f),
            Value::Str(s) => Value::Str(Cow::Owned(s.into_owned())),
            Value::Bin(b) => Value::Bin(Cow::Owned(b.into_owned())),
            Value::Array(a) => Value::Array(a.into_iter().map(Value::into_owned).collect()),
            Value::Map(m) => {
                Value::Map(Map(m.0.into_iter().map(|(k, v)| (k.into_owned(), v.into_owned())).collect()))
            }
        }
    }

    /// What unquoted or untagged text means: a number if it reads as one, else true or false, else text.
    ///
    /// Assemblers forget whether a scalar was quoted, so `'1'` is the number 1 too; a `!str` tag keeps text text.
    pub(crate) fn from_scalar(text: Cow<'a, str>) -> Value<'a> {
        if let Some(u) = parse_unsigned(&text) {
            Value::UInt(u)
        } else if let Some(i) = parse_signed(&text) {
            Value::Int(i)
        } else if let Some(b) = parse_bool(&text) {
            Value::Bool(b)
        } else if let Some(f) = parse_float(&text) {
            Value::Float(f)
        } else {
            Value::Str(text)
        }
    }

    /// The text of a scalar, as keys and untagged values print it. `hex` prints unsigned numbers in hexadecimal.
    pub(crate) fn scalar_text(&self, hex: bool) -> Cow<'_, str> {
        match self {
            Value::Str(s) => Cow::Borrowed(s),
            Value::Bool(b) => Cow::Borrowed(if *b { "true" } else { "false" }),
            Value::Int(i) => Cow::Owned(i.to_string()),
            // C's "%#x" gives 0 no prefix.
            Value::UInt(u) if hex && *u != 0 => Cow::Owned(format!("{u:#x}")),
            Value::UInt(u) => Cow::Owned(u.to_string()),
            Value::Float(f) => Cow::Owned(float_text(*f)),
            Value::Bin(b) => String::from_utf8_lossy(b),
            Value::Nil | Value::Array(_) | Value::Map(_) => Cow::Borrowed(""),
        }
    }
}

/// LLVM's `raw_ostream << double`: `%e`.
fn float_text(f: f64) -> String {
    if f.is_nan() {
        return "nan".into();
    }
    if f.is_infinite() {
        return if f > 0.0 { "INF".into() } else { "-INF".into() };
    }
    let text = format!("{f:.6e}");
    // Rust writes e-5 where C writes e-05.
    match text.split_once('e') {
        Some((mantissa, exp)) => {
            let (sign, digits) = exp.strip_prefix('-').map_or(('+', exp), |d| ('-', d));
            format!("{mantissa}e{sign}{digits:0>2}")
        }
        None => text,
    }
}

/// Strips a C-like base prefix: `0x`, `0b`, `0o`, or `0` before more digits.
fn radix(text: &str) -> (u32, &str) {
    let bytes = text.as_bytes();
    match bytes {
        [b'0', b'x' | b'X', ..] => (16, &text[2..]),
        [b'0', b'b' | b'B', ..] => (2, &text[2..]),
        [b'0', b'o', ..] => (8, &text[2..]),
        [b'0', d, ..] if d.is_ascii_digit() => (8, &text[1..]),
        _ => (10, text),
    }
}

/// An unsigned number with C-like base prefix, without sign.
pub(crate) fn parse_unsigned(text: &str) -> Option<u64> {
    let (base, digits) = radix(text);
    if digits.starts_with('+') {
        return None;
    }
    u64::from_str_radix(digits, base).ok()
}

fn parse_signed(text: &str) -> Option<i64> {
    let magnitude = parse_unsigned(text.strip_prefix('-')?)?;
    if magnitude > 1 << 63 { None } else { Some((magnitude as i64).wrapping_neg()) }
}

fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "y" | "Y" | "on" | "On" | "ON" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" => Some(true),
        "n" | "N" | "off" | "Off" | "OFF" | "no" | "No" | "NO" | "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

/// What C's `strtod` reads in full, apart from hexadecimal fractions, which no metadata has.
fn parse_float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let named = ["inf", "infinity", "nan"].iter().any(|n| unsigned.eq_ignore_ascii_case(n));
    let first = unsigned.bytes().next()?;
    if named || first.is_ascii_digit() || first == b'.' { text.parse().ok() } else { None }
}

/// Why a document cannot be read, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What is wrong.
    pub message: String,
    /// Where.
    pub place: Location,
}

/// A place in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// Line and column of YAML text, both from 1.
    Line(usize, usize),
    /// Byte of MessagePack data.
    Offset(usize),
    /// A node, named by the keys and indices that lead to it.
    Path(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Location::Line(line, column) => write!(f, "line {line}, column {column}: {}", self.message),
            Location::Offset(offset) => write!(f, "byte {offset}: {}", self.message),
            Location::Path(path) => write!(f, "{path}: {}", self.message),
        }
    }
}

impl std::error::Error for Error {}
