//! Format strings: text and conversion specifications (C99 7.19.6.1, OpenCL C "printf").

use super::Dialect;

/// A width or precision beyond this is no width or precision: such a specification is printed as it is.
pub(super) const MOST: u32 = 1 << 16;

/// A number in a specification.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Count {
    Number(u32),
    /// `*`: an argument of its own.
    Argument,
}

/// How long an argument is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Length {
    /// Nothing is said.
    Plain,
    /// `hh`.
    Char,
    /// `h`.
    Short,
    /// `hl`: elements of 32 bits (OpenCL).
    Word,
    /// `l`, `ll`, `j`, `z`, `t`, `L`.
    Long,
}

impl Length {
    /// Bits of an integer of this length.
    pub(super) fn bits(self) -> Option<u32> {
        match self {
            Length::Plain => None,
            Length::Char => Some(8),
            Length::Short => Some(16),
            Length::Word => Some(32),
            Length::Long => Some(64),
        }
    }
}

/// A conversion specification.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Spec {
    /// `-`
    pub(super) left: bool,
    /// `+`
    pub(super) plus: bool,
    /// A space.
    pub(super) space: bool,
    /// `#`
    pub(super) alternate: bool,
    /// `0`
    pub(super) zero: bool,
    pub(super) width: Option<Count>,
    pub(super) precision: Option<Count>,
    /// Elements of a vector; 1 if it is none.
    pub(super) elements: u32,
    pub(super) length: Length,
    /// The conversion's letter.
    pub(super) conversion: u8,
}

impl Spec {
    fn number(count: Option<Count>) -> Option<usize> {
        match count {
            Some(Count::Number(n)) => Some(n as usize),
            _ => None,
        }
    }

    /// The width, 0 if there is none. `*` has been replaced.
    pub(super) fn width(&self) -> usize {
        Self::number(self.width).unwrap_or(0)
    }

    /// The precision. `*` has been replaced.
    pub(super) fn precision(&self) -> Option<usize> {
        Self::number(self.precision)
    }
}

/// A part of a format string.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Piece<'a> {
    /// Printed as it is.
    Text(&'a [u8]),
    Spec(Spec),
}

/// The parts of a format string. What looks like a specification and is none is text, as in glibc.
pub(super) fn pieces(format: &[u8], dialect: Dialect) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = format;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let percent = rest.iter().position(|b| *b == b'%').unwrap_or(rest.len());
        if percent > 0 {
            let text;
            (text, rest) = rest.split_at(percent);
            return Some(Piece::Text(text));
        }
        let mut reader = Reader { bytes: rest, at: 1 };
        let spec = reader.spec(dialect);
        let text;
        (text, rest) = rest.split_at(reader.at);
        Some(match spec {
            Some(spec) if spec.conversion == b'%' => Piece::Text(b"%"),
            Some(spec) => Piece::Spec(spec),
            None => Piece::Text(text),
        })
    })
}

/// Which of a format string's arguments are text.
pub(super) fn texts(format: &[u8], dialect: Dialect) -> impl Iterator<Item = bool> + '_ {
    pieces(format, dialect).flat_map(|piece| {
        let (stars, text) = match piece {
            Piece::Text(_) => (0, None),
            Piece::Spec(spec) => {
                let counts = [spec.width, spec.precision];
                (
                    counts.iter().filter(|c| **c == Some(Count::Argument)).count(),
                    Some(spec.conversion == b's'),
                )
            }
        };
        std::iter::repeat_n(false, stars).chain(text)
    })
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// What follows the `%`.
    fn spec(&mut self, dialect: Dialect) -> Option<Spec> {
        let mut spec = Spec {
            left: false,
            plus: false,
            space: false,
            alternate: false,
            zero: false,
            width: None,
            precision: None,
            elements: 1,
            length: Length::Plain,
            conversion: 0,
        };
        loop {
            match self.peek()? {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternate = true,
                b'0' => spec.zero = true,
                // Groups of thousands, which the C locale does not have.
                b'\'' => {}
                _ => break,
            }
            self.at += 1;
        }
        spec.width = self.count()?;
        if self.eat(b'.') {
            spec.precision = Some(self.count()?.unwrap_or(Count::Number(0)));
        }
        if dialect == Dialect::OpenCl && self.eat(b'v') {
            spec.elements = match self.count()? {
                Some(Count::Number(n @ (2 | 3 | 4 | 8 | 16))) => n,
                _ => return None,
            };
        }
        spec.length = self.length(dialect);
        spec.conversion = self.peek()?;
        self.at += 1;
        let scalar = matches!(spec.conversion, b's' | b'c' | b'p' | b'n' | b'%');
        let known = b"diouxXfFeEgGaA".contains(&spec.conversion);
        (known || scalar && spec.elements == 1).then_some(spec)
    }

    /// Digits or `*`; `None` in front of something else, and no specification at all if the number is too large.
    fn count(&mut self) -> Option<Option<Count>> {
        if self.eat(b'*') {
            return Some(Some(Count::Argument));
        }
        let start = self.at;
        let mut number = 0u32;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            number = number.saturating_mul(10).saturating_add(u32::from(digit - b'0'));
            self.at += 1;
        }
        if number > MOST {
            return None;
        }
        Some((self.at > start).then_some(Count::Number(number)))
    }

    fn length(&mut self, dialect: Dialect) -> Length {
        if self.eat(b'h') {
            if self.eat(b'h') {
                return Length::Char;
            }
            if dialect == Dialect::OpenCl && self.eat(b'l') {
                return Length::Word;
            }
            return Length::Short;
        }
        if self.eat(b'l') {
            self.eat(b'l');
            return Length::Long;
        }
        let long = [b'j', b'z', b't', b'L'].into_iter().any(|b| self.eat(b));
        if long { Length::Long } else { Length::Plain }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(format: &str, dialect: Dialect) -> String {
        let show = |p: Piece<'_>| match p {
            Piece::Text(t) => String::from_utf8_lossy(t).into_owned(),
            Piece::Spec(s) => format!("<{}{}>", char::from(s.conversion), s.elements),
        };
        pieces(format.as_bytes(), dialect).map(show).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn what_is_no_specification_is_text() {
        assert_eq!(texts("a%db%%c%s", Dialect::C), "a|<d1>|b|%|c|<s1>");
        assert_eq!(texts("%-5.3lx%v4hlf", Dialect::OpenCl), "<x1>|<f4>");
        assert_eq!(texts("%v4f%v5f%v2s", Dialect::OpenCl), "<f4>|%v5|f|%v2s");
        assert_eq!(texts("%v4f", Dialect::C), "%v|4f");
        assert_eq!(texts("%", Dialect::C), "%");
        assert_eq!(texts("%5", Dialect::C), "%5");
        assert_eq!(texts("%70000d%y", Dialect::C), "%70000|d|%y");
        assert_eq!(texts("%99999999999999999999d", Dialect::C), "%99999999999999999999|d");
    }
}
