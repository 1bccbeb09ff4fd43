//! A document to YAML text, laid out as LLVM tools print it: two spaces a level, values in column 17 of their key,
//! quotes only where needed, tags only where the text alone would read as something else.

use super::Value;
use std::fmt::Write;

/// The text of a document, from `---` to `...` and a newline. With `hex`, unsigned numbers are hexadecimal.
pub fn to_yaml(value: &Value<'_>, hex: bool) -> String {
    let mut printer = Printer { out: String::from("---"), hex, padding: Padding::Line };
    printer.value(value, 0, Parent::Top);
    printer.out.push_str("\n...\n");
    printer.out
}

/// Where a value stands.
#[derive(Clone, Copy, PartialEq)]
enum Parent {
    Top,
    InMap,
    InArray,
}

/// What comes before the next thing printed on a value's place.
#[derive(Clone, Copy, PartialEq)]
enum Padding {
    /// A new line with its indentation.
    Line,
    /// So many spaces.
    Spaces(usize),
}

struct Printer {
    out: String,
    hex: bool,
    padding: Padding,
}

impl Printer {
    /// Starts a line at `level`, with a dash for array elements.
    fn line(&mut self, level: usize, dash: bool) {
        self.out.push('\n');
        for _ in 0..level {
            self.out.push_str("  ");
        }
        if dash {
            self.out.push_str("- ");
        }
    }

    /// Prints a value whose container is at `level` (the indentation of its keys or dashes).
    fn value(&mut self, value: &Value<'_>, level: usize, place: Parent) {
        match value {
            Value::Map(map) if map.is_empty() => self.empty("{}", level, place),
            Value::Array(elements) if elements.is_empty() => self.empty("[]", level, place),
            Value::Map(map) => {
                let inner = if place == Parent::Top { 0 } else { level + 1 };
                for (i, (key, value)) in map.iter().enumerate() {
                    // The first key of a mapping in an array stands on the dash's line.
                    let on_dash = i == 0 && place == Parent::InArray;
                    self.line(if on_dash { level } else { inner }, on_dash);
                    let text = key.scalar_text(self.hex).into_owned();
                    self.quoted(&text, quoting(&text, false));
                    self.out.push(':');
                    self.padding = Padding::Spaces(16usize.saturating_sub(text.len()).max(1));
                    self.value(value, inner, Parent::InMap);
                }
            }
            // LLVM's printer loses the outer dash of an array in an array; on one line it reads back.
            Value::Array(_) if place == Parent::InArray => {
                self.lead(level, place);
                self.flow(value);
                self.padding = Padding::Line;
            }
            Value::Array(elements) => {
                let inner = if place == Parent::Top { 0 } else { level + 1 };
                for element in elements {
                    self.padding = Padding::Line;
                    self.value(element, inner, Parent::InArray);
                }
            }
            _ => self.scalar(value, level, place),
        }
    }

    /// Prints a value on one line.
    fn flow(&mut self, value: &Value<'_>) {
        match value {
            Value::Array(elements) => {
                self.out.push('[');
                for (i, element) in elements.iter().enumerate() {
                    self.out.push_str(if i == 0 { " " } else { ", " });
                    self.flow(element);
                }
                self.out.push_str(" ]");
            }
            Value::Map(map) => {
                self.out.push('{');
                for (i, (key, value)) in map.iter().enumerate() {
                    self.out.push_str(if i == 0 { " " } else { ", " });
                    let text = key.scalar_text(self.hex).into_owned();
                    self.quoted(&text, flow_quoting(&text, false));
                    self.out.push_str(": ");
                    self.flow(value);
                }
                self.out.push_str(" }");
            }
            _ => {
                if let Some(tag) = tag(value, self.hex) {
                    self.out.push_str(tag);
                    self.out.push(' ');
                }
                let text = value.scalar_text(self.hex).into_owned();
                self.quoted(&text, flow_quoting(&text, matches!(value, Value::Str(_) | Value::Bin(_))));
            }
        }
    }

    fn lead(&mut self, level: usize, place: Parent) {
        match std::mem::replace(&mut self.padding, Padding::Line) {
            Padding::Line => self.line(level, place == Parent::InArray),
            Padding::Spaces(n) => {
                for _ in 0..n {
                    self.out.push(' ');
                }
            }
        }
    }

    fn empty(&mut self, text: &str, level: usize, place: Parent) {
        match self.padding {
            // An empty array as an element loses its dash in LLVM's output; ours keeps it, so that it reads back.
            Padding::Line if place == Parent::Top => self.out.push('\n'),
            _ => self.lead(level, place),
        }
        self.out.push_str(text);
        self.padding = Padding::Line;
    }

    fn scalar(&mut self, value: &Value<'_>, level: usize, place: Parent) {
        self.lead(level, place);
        if let Some(tag) = tag(value, self.hex) {
            self.out.push_str(tag);
            self.out.push(' ');
        }
        let text = value.scalar_text(self.hex).into_owned();
        let quotes = match value {
            Value::Str(_) | Value::Bin(_) | Value::Nil => quoting(&text, true),
            _ => Quotes::None,
        };
        self.quoted(&text, quotes);
        self.padding = Padding::Line;
    }

    fn quoted(&mut self, text: &str, quotes: Quotes) {
        match quotes {
            Quotes::None => self.out.push_str(text),
            Quotes::Single => {
                self.out.push('\'');
                self.out.push_str(&text.replace('\'', "''"));
                self.out.push('\'');
            }
            Quotes::Double => {
                self.out.push('"');
                escape(text, &mut self.out);
                self.out.push('"');
            }
        }
    }
}

/// The tag a scalar needs so that its text reads back as what it is.
fn tag(value: &Value<'_>, hex: bool) -> Option<&'static str> {
    let read = || Value::from_scalar(value.scalar_text(hex).into_owned().into());
    match value {
        Value::Nil => Some("!nil"),
        Value::Str(_) | Value::Bin(_) => (!matches!(read(), Value::Str(_))).then_some("!str"),
        Value::Float(_) => (!matches!(read(), Value::Float(_))).then_some("!float"),
        _ => None,
    }
}

#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Quotes {
    None,
    Single,
    Double,
}

/// The quotes a text needs. `as_value`: it must not be taken for nothing, a Boolean or a number.
fn quoting(text: &str, as_value: bool) -> Quotes {
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return Quotes::Single };
    let space = |b: &u8| matches!(b, b' ' | b'\t'..=b'\r');
    let looks_typed = matches!(
        text,
        "null" | "Null" | "NULL" | "~" | "true" | "True" | "TRUE" | "false" | "False" | "FALSE"
    );
    let mut needed = Quotes::None;
    if space(first) || space(last) || b"-?:\\,[]{}#&*!|>'\"%@`".contains(first) {
        needed = Quotes::Single;
    }
    if as_value && (looks_typed || is_numeric(text)) {
        needed = Quotes::Single;
    }
    for b in bytes {
        match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'^' | b'.' | b',' | b' ' | b'\t' => {}
            0..=0x1f | 0x7f.. => return Quotes::Double,
            _ => needed = Quotes::Single,
        }
    }
    needed
}

/// The quotes a text needs on one line with others, where a comma ends it.
fn flow_quoting(text: &str, as_value: bool) -> Quotes {
    match quoting(text, as_value) {
        Quotes::None if text.contains(',') => Quotes::Single,
        quotes => quotes,
    }
}

/// A text as a value of its own, quoted where needed.
pub(super) fn quoted_scalar(text: &str) -> String {
    let mut printer = Printer { out: String::new(), hex: false, padding: Padding::Line };
    printer.quoted(text, quoting(text, true));
    printer.out
}

/// YAML 1.2's numbers (section 10.3.2).
fn is_numeric(text: &str) -> bool {
    if matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let tail = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(tail, ".inf" | ".Inf" | ".INF") {
        return true;
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return !digits.is_empty() && digits.bytes().all(|b| (b'0'..=b'7').contains(&b));
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
    }
    let skip = |s: &str| s.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let whole = tail.len() - skip(tail);
    let mut rest = &tail[whole..];
    let mut fraction = 0;
    if let Some(after) = rest.strip_prefix('.') {
        fraction = after.len() - skip(after);
        rest = &after[fraction..];
    }
    if whole + fraction == 0 {
        return false;
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        return !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    }
    rest.is_empty()
}

/// YAML's escapes inside double quotes.
fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\0' => out.push_str("\\0"),
            '\x07' => out.push_str("\\a"),
            '\x08' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\x0b' => out.push_str("\\v"),
            '\x0c' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            '\x1b' => out.push_str("\\e"),
            '\u{85}' => out.push_str("\\N"),
            '\u{a0}' => out.push_str("\\_"),
            '\u{2028}' => out.push_str("\\L"),
            '\u{2029}' => out.push_str("\\P"),
            c if (c as u32) < 0x20 => {
                let _ = write!(out, "\\x{:02X}", c as u32);
            }
            // DEL and C1 are not printable; other planes' unprintables are rare enough to let through.
            c if (0x80..0xa0).contains(&(c as u32)) => {
                let _ = write!(out, "\\x{:02X}", c as u32);
            }
            c => out.push(c),
        }
    }
}
