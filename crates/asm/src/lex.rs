//! Tokens. One pass over the bytes, on demand, no allocation: a token is its kind and its place.
//!
//! The rules are llvm-mc's for amdgcn: a newline ends a statement, `;` and `//` start comments anywhere, `#` only at
//! the start of a statement, `@` may stand inside identifiers, `1f` is the integer 1 followed by the identifier `f`.

mod real;

pub use real::{parse_hex_single, parse_real};

use crate::source::Span;

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum Tok {
    /// Name, mnemonic, register, directive: `[A-Za-z_.][A-Za-z0-9_.$?@]*`.
    Ident,
    /// Integer that fits 64 bits: decimal, `0x`, `0b`, octal, or a character constant.
    Int,
    /// Integer that does not.
    BigNum,
    /// Floating-point literal, decimal or hexadecimal.
    Real,
    /// String in double quotes, quotes included.
    Str,
    /// End of statement: a newline, or a comment with the newline that ends it.
    Eol,
    /// End of the buffer.
    Eof,
    /// Something unreadable: [`Lexer::error_message`] says what.
    Error,
    /// `# 12 "file"` at the start of a line.
    HashDirective,
    /// `:`
    Colon,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `->`
    MinusGreater,
    /// `~`
    Tilde,
    /// `/`
    Slash,
    /// `\`
    BackSlash,
    /// `(`
    LParen,
    /// `)`
    RParen,
    /// `[`
    LBrac,
    /// `]`
    RBrac,
    /// `{`
    LCurly,
    /// `}`
    RCurly,
    /// `?`
    Question,
    /// `*`
    Star,
    /// `.` on its own: the current address.
    Dot,
    /// `,`
    Comma,
    /// `$`
    Dollar,
    /// `=`
    Equal,
    /// `==`
    EqualEqual,
    /// `|`
    Pipe,
    /// `||`
    PipePipe,
    /// `^`
    Caret,
    /// `&`
    Amp,
    /// `&&`
    AmpAmp,
    /// `!`
    Exclaim,
    /// `!=`
    ExclaimEqual,
    /// `%`
    Percent,
    /// `#` not at the start of a statement.
    Hash,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `<<`
    LessLess,
    /// `<>`
    LessGreater,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `>>`
    GreaterGreater,
    /// `@`
    At,
}

/// A token: kind and byte range in the lexer's buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// What it is.
    pub kind: Tok,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Token {
    /// True when the token is of this kind.
    pub fn is(self, kind: Tok) -> bool {
        self.kind == kind
    }
}

/// So many digits never need more than 64 bits, whatever the radix.
const FIT_64: usize = 16;

const IDENT: u8 = 1;
const DIGIT: u8 = 2;
const HEX: u8 = 4;
const START: u8 = 8;

/// Character classes, so that the inner loops are one load and one test.
static CLASS: [u8; 256] = {
    let mut table = [0u8; 256];
    let mut c = 0;
    while c < 256 {
        let b = c as u8;
        if b.is_ascii_digit() {
            table[c] = IDENT | DIGIT | HEX;
        } else if b.is_ascii_alphabetic() {
            table[c] = IDENT | START | if b.is_ascii_hexdigit() { HEX } else { 0 };
        } else if b == b'_' {
            table[c] = IDENT | START;
        } else if matches!(b, b'.' | b'$' | b'?' | b'@') {
            table[c] = IDENT;
        }
        c += 1;
    }
    table
};

/// The bytes that are tokens by themselves, whatever follows them.
static SINGLE: [Option<Tok>; 256] = {
    let mut table = [None; 256];
    let bytes: [(u8, Tok); 18] = [
        (b',', Tok::Comma),
        (b'[', Tok::LBrac),
        (b']', Tok::RBrac),
        (b':', Tok::Colon),
        (b'(', Tok::LParen),
        (b')', Tok::RParen),
        (b'{', Tok::LCurly),
        (b'}', Tok::RCurly),
        (b'+', Tok::Plus),
        (b'*', Tok::Star),
        (b'%', Tok::Percent),
        (b'~', Tok::Tilde),
        (b'^', Tok::Caret),
        (b'$', Tok::Dollar),
        (b'@', Tok::At),
        (b'?', Tok::Question),
        (b'\\', Tok::BackSlash),
        (b'\n', Tok::Eol),
    ];
    let mut i = 0;
    while i < bytes.len() {
        table[bytes[i].0 as usize] = Some(bytes[i].1);
        i += 1;
    }
    table
};

#[inline]
fn is(byte: u8, class: u8) -> bool {
    CLASS[byte as usize] & class != 0
}

/// Reads tokens from one buffer. `Copy`, so that saving and restoring a position is an assignment.
#[derive(Clone, Copy, Debug)]
pub struct Lexer<'a> {
    buf: &'a [u8],
    buffer: u32,
    /// Where the token after the current one starts to be looked for.
    pos: u32,
    cur: Token,
    /// No token of the statement has been read yet, so `#` starts a comment.
    statement_start: bool,
    line_start: bool,
    /// The token before the current one ended a statement.
    fresh: bool,
    message: &'static str,
    message_at: u32,
}

impl<'a> Lexer<'a> {
    /// Starts at the beginning of a buffer; `buffer` is its index in the source map.
    pub fn new(buf: &'a [u8], buffer: u32) -> Self {
        Self::at(buf, buffer, 0)
    }

    /// Starts in the middle of a buffer, at the start of a statement.
    pub fn at(buf: &'a [u8], buffer: u32, pos: u32) -> Self {
        // Offsets are 32 bits wide: what lies beyond is cut off (the caller refuses such files).
        let buf = &buf[..buf.len().min(u32::MAX as usize - 1)];
        let mut lexer = Lexer {
            buf,
            buffer,
            pos,
            cur: Token { kind: Tok::Eof, start: 0, end: 0 },
            statement_start: true,
            line_start: true,
            fresh: true,
            message: "",
            message_at: 0,
        };
        lexer.scan(true);
        lexer
    }

    /// Starts in the middle of a statement.
    pub(crate) fn resume(buf: &'a [u8], buffer: u32, pos: u32) -> Self {
        let mut lexer = Lexer::new(&buf[..0], buffer);
        lexer.buf = buf;
        lexer.pos = pos;
        lexer.statement_start = false;
        lexer.line_start = false;
        lexer.fresh = false;
        lexer.scan(true);
        lexer
    }

    /// The token at the cursor.
    #[inline]
    pub fn peek(&self) -> Token {
        self.cur
    }

    /// The kind of the token at the cursor.
    #[inline]
    pub fn kind(&self) -> Tok {
        self.cur.kind
    }

    /// The token after the one at the cursor.
    #[inline]
    pub fn peek2(&self) -> Token {
        // Punctuation most often touches the token before it.
        if let Some(kind) = SINGLE[self.byte(self.pos) as usize] {
            return Token { kind, start: self.pos, end: self.pos + 1 };
        }
        let mut ahead = *self;
        ahead.scan(false);
        ahead.cur
    }

    /// Moves past the token at the cursor and returns it.
    #[inline]
    pub fn bump(&mut self) -> Token {
        let token = self.cur;
        self.fresh = token.kind == Tok::Eol;
        self.scan(true);
        token
    }

    /// Moves past the token at the cursor if it is of this kind.
    #[inline]
    pub fn eat(&mut self, kind: Tok) -> bool {
        let hit = self.cur.kind == kind;
        if hit {
            self.bump();
        }
        hit
    }

    /// True at the end of a statement or of the buffer.
    #[inline]
    pub fn at_eol(&self) -> bool {
        matches!(self.cur.kind, Tok::Eol | Tok::Eof)
    }

    /// True when the cursor is at the first token of a statement.
    pub(crate) fn at_statement_start(&self) -> bool {
        self.fresh
    }

    /// The text of a token; for bytes that are not UTF-8 see [`Lexer::bytes`].
    #[inline]
    pub fn text(&self, token: Token) -> &'a str {
        std::str::from_utf8(self.bytes(token)).unwrap_or("\u{fffd}")
    }

    /// The bytes of a token.
    #[inline]
    pub fn bytes(&self, token: Token) -> &'a [u8] {
        &self.buf[token.start as usize..token.end as usize]
    }

    /// The bytes of the token at the cursor when it is an identifier, else none: for comparing with known words.
    #[inline]
    pub fn word(&self) -> &'a [u8] {
        if self.cur.kind == Tok::Ident { self.bytes(self.cur) } else { b"" }
    }

    /// True when the cursor is on `name` followed by a left parenthesis.
    #[inline]
    pub fn at_call(&self, name: &[u8]) -> bool {
        self.word() == name && self.peek2().kind == Tok::LParen
    }

    /// The text of the token at the cursor when it is an identifier, else the empty string.
    #[inline]
    pub fn ident(&self) -> &'a str {
        if self.cur.kind == Tok::Ident { self.text(self.cur) } else { "" }
    }

    /// True when there is no white space or comment between two consecutive tokens.
    pub fn adjacent(&self, first: Token, second: Token) -> bool {
        first.end == second.start
    }

    /// The place of a token.
    #[inline]
    pub fn span(&self, token: Token) -> Span {
        Span { buffer: self.buffer, start: token.start, end: token.end }
    }

    /// The place of the token at the cursor.
    #[inline]
    pub fn here(&self) -> Span {
        self.span(self.cur)
    }

    /// Index of the buffer in the source map.
    pub fn buffer(&self) -> u32 {
        self.buffer
    }

    /// The whole buffer.
    pub fn source(&self) -> &'a [u8] {
        self.buf
    }

    /// Where the next token will be looked for: just past the current one.
    pub fn offset(&self) -> u32 {
        self.pos
    }

    /// What is wrong, when the token at the cursor is [`Tok::Error`].
    pub fn error_message(&self) -> &'static str {
        self.message
    }

    /// Where it is wrong, when the token at the cursor is [`Tok::Error`].
    pub fn error_span(&self) -> Span {
        Span { buffer: self.buffer, start: self.message_at, end: self.message_at }
    }

    /// Skips to the end of the statement and past it.
    pub fn skip_statement(&mut self) {
        self.skip_to_eol();
        self.eat(Tok::Eol);
    }

    /// Skips to the end of the statement, leaving the cursor on it.
    pub fn skip_to_eol(&mut self) {
        while !self.at_eol() {
            self.bump();
        }
    }

    /// The value of an integer token; the low 64 bits if it needs more.
    pub fn int_value(&self, token: Token) -> u64 {
        let bytes = self.bytes(token);
        match bytes {
            [b'1'..=b'9', ..] if bytes.len() <= FIT_64 => {
                bytes.iter().fold(0, |value, digit| value * 10 + u64::from(digit - b'0'))
            }
            _ => self.wide_value(token).map_or(0, |value| value as u64),
        }
    }

    /// The value of an integer token of up to 128 bits.
    pub fn wide_value(&self, token: Token) -> Option<u128> {
        let bytes = self.bytes(token);
        let (digits, radix) = match bytes {
            [b'\'', b'\\', c, ..] => return Some(escaped_char(*c).into()),
            // A plain char is signed in LLVM's lexer, so bytes above 127 are negative numbers.
            [b'\'', c, ..] => return Some((*c as i8 as i64 as u64).into()),
            [b'0', b'x' | b'X', rest @ ..] => (rest, 16),
            [b'0', b'b' | b'B', rest @ ..] => (rest, 2),
            [b'0', rest @ ..] => (rest, 8),
            _ => (bytes, 10),
        };
        // The lexer has let nothing but digits through.
        let digits = digits.iter().map(|digit| (*digit as char).to_digit(radix).unwrap_or_default());
        if bytes.len() <= FIT_64 {
            return Some(
                digits.fold(0, |value: u64, digit| value * u64::from(radix) + u64::from(digit)).into(),
            );
        }
        let mut value: u128 = 0;
        for digit in digits {
            value = value.checked_mul(radix.into())?.checked_add(digit.into())?;
        }
        Some(value)
    }

    /// Reads `[5]` or `[4:7]` at the cursor as first and last, when it is written in plain ascending numbers and
    /// nothing else. Anything else is left to be read token by token.
    pub fn eat_plain_range(&mut self) -> Option<(u32, u32)> {
        if self.cur.kind != Tok::LBrac {
            return None;
        }
        let (first, rest) = plain_number(self.buf.get(self.pos as usize..)?)?;
        let (last, rest) = match rest {
            [b':', rest @ ..] => plain_number(rest)?,
            _ => (first, rest),
        };
        if rest.first() != Some(&b']') || first > last {
            return None;
        }
        self.pos = (self.buf.len() - rest.len() + 1) as u32;
        self.scan(true);
        Some((first, last))
    }

    /// The value of a real token, rounded to nearest even; `None` for an exponent without digits.
    pub fn real_value(&self, token: Token) -> Option<f64> {
        parse_real(self.text(token))
    }

    #[inline]
    fn byte(&self, at: u32) -> u8 {
        // Past the end reads as NUL, which starts no token and continues none.
        self.buf.get(at as usize).copied().unwrap_or(0)
    }

    #[inline]
    fn next(&mut self) -> u8 {
        let byte = self.byte(self.pos);
        self.pos += 1;
        byte
    }

    #[inline]
    fn skip_class(&mut self, class: u8) {
        let rest = self.buf.get(self.pos as usize..).unwrap_or_default();
        self.pos += rest.iter().position(|b| !is(*b, class)).unwrap_or(rest.len()) as u32;
    }

    #[cold]
    fn fail(&mut self, start: u32, at: u32, message: &'static str) -> Token {
        self.message = message;
        self.message_at = at;
        self.pos = self.pos.min(self.buf.len() as u32);
        Token { kind: Tok::Error, start: start.min(self.pos), end: self.pos }
    }

    /// Moves the cursor to the next token. `advancing` is false while looking ahead: then `#` is always punctuation, because whether
    /// it starts a comment depends on what the parser makes of the tokens before it.
    fn scan(&mut self, advancing: bool) {
        let buf = self.buf;
        let before = self.pos as usize;
        let mut start = before;
        while matches!(buf.get(start), Some(b' ' | b'\t' | 0)) {
            start += 1;
        }
        let Some(&byte) = buf.get(start) else { return self.end() };
        let mut end = start + 1;
        // Most tokens are words or punctuation.
        let kind = if is(byte, START) {
            while buf.get(end).is_some_and(|b| is(*b, IDENT)) {
                end += 1;
            }
            Some(Tok::Ident)
        } else {
            SINGLE[byte as usize]
        };
        self.pos = end as u32;
        let Some(kind) = kind else {
            self.line_start &= start == before;
            return self.scan_other(start as u32, byte, advancing);
        };
        self.statement_start = kind == Tok::Eol;
        self.line_start = kind == Tok::Eol;
        self.cur = Token { kind, start: start as u32, end: end as u32 };
    }

    /// Moves the cursor to a token that starts with `byte` and is neither a word nor a byte by itself. Its first byte
    /// has been read.
    #[inline(never)]
    fn scan_other(&mut self, start: u32, byte: u8, advancing: bool) {
        self.cur = self.other(start, byte, advancing);
    }

    fn other(&mut self, start: u32, byte: u8, advancing: bool) -> Token {
        let line_start = std::mem::replace(&mut self.line_start, false);
        let statement_start = std::mem::replace(&mut self.statement_start, false);
        let kind = match byte {
            b'.' => return self.dotted(start),
            b'0'..=b'9' => return self.number(start, byte),
            b'\r' => {
                self.statement_start = true;
                self.line_start = true;
                self.either(b'\n', Tok::Eol, Tok::Eol)
            }
            b';' => return self.line_comment(start, statement_start),
            b'#' if statement_start && advancing => {
                if line_start && self.is_line_marker() {
                    let line = self.buf[self.pos as usize..].iter();
                    self.pos += line.take_while(|b| !matches!(b, b'\n' | b'\r')).count() as u32;
                    return Token { kind: Tok::HashDirective, start, end: self.pos };
                }
                return self.line_comment(start, true);
            }
            b'#' => Tok::Hash,
            b'/' => match self.byte(self.pos) {
                b'/' => return self.line_comment(start, statement_start),
                b'*' => {
                    if let Err(open) = self.block_comments() {
                        return self.fail(open, open, "unterminated comment");
                    }
                    self.scan(advancing);
                    return self.cur;
                }
                _ => Tok::Slash,
            },
            b'-' => self.either(b'>', Tok::MinusGreater, Tok::Minus),
            b'=' => self.either(b'=', Tok::EqualEqual, Tok::Equal),
            b'|' => self.either(b'|', Tok::PipePipe, Tok::Pipe),
            b'&' => self.either(b'&', Tok::AmpAmp, Tok::Amp),
            b'!' => self.either(b'=', Tok::ExclaimEqual, Tok::Exclaim),
            b'<' => match self.byte(self.pos) {
                b'>' => self.either(b'>', Tok::LessGreater, Tok::Less),
                b'=' => self.either(b'=', Tok::LessEqual, Tok::Less),
                _ => self.either(b'<', Tok::LessLess, Tok::Less),
            },
            b'>' => match self.byte(self.pos) {
                b'=' => self.either(b'=', Tok::GreaterEqual, Tok::Greater),
                _ => self.either(b'>', Tok::GreaterGreater, Tok::Greater),
            },
            b'\'' => return self.character(start),
            b'"' => return self.string(start),
            _ => return self.fail(start, start, "invalid character in input"),
        };
        Token { kind, start, end: self.pos }
    }

    /// The end of the buffer, which ends a statement first.
    fn end(&mut self) {
        let end = self.buf.len() as u32;
        self.pos = end;
        let kind = if self.statement_start { Tok::Eof } else { Tok::Eol };
        self.statement_start = true;
        self.line_start = true;
        self.cur = Token { kind, start: end, end };
    }

    #[inline]
    fn either(&mut self, second: u8, long: Tok, short: Tok) -> Tok {
        if self.byte(self.pos) == second {
            self.pos += 1;
            long
        } else {
            short
        }
    }

    /// `.name`, `.5` or `.`.
    fn dotted(&mut self, start: u32) -> Token {
        if is(self.byte(self.pos), DIGIT) {
            // `.5` is a number, `.5foo` a name.
            self.skip_class(DIGIT);
            let next = self.byte(self.pos);
            if !is(next, IDENT) || matches!(next, b'e' | b'E') {
                return self.float(start);
            }
        }
        self.skip_class(IDENT);
        let kind = if self.pos == start + 1 { Tok::Dot } else { Tok::Ident };
        Token { kind, start, end: self.pos }
    }

    /// The rest of a decimal float: fraction digits and exponent.
    fn float(&mut self, start: u32) -> Token {
        self.skip_class(DIGIT);
        if matches!(self.byte(self.pos), b'+' | b'-') {
            let at = self.pos;
            return self.fail(start, at, "invalid sign in float literal");
        }
        if matches!(self.byte(self.pos), b'e' | b'E') {
            self.pos += 1;
            if matches!(self.byte(self.pos), b'+' | b'-') {
                self.pos += 1;
            }
            self.skip_class(DIGIT);
        }
        Token { kind: Tok::Real, start, end: self.pos }
    }

    fn hex_float(&mut self, start: u32, has_digits: bool) -> Token {
        let mut has_digits = has_digits;
        if self.byte(self.pos) == b'.' {
            self.pos += 1;
            let fraction = self.pos;
            self.skip_class(HEX);
            has_digits |= self.pos != fraction;
        }
        if !has_digits {
            let what = "invalid hexadecimal floating-point constant: expected at least one significand digit";
            return self.fail(start, start, what);
        }
        if !matches!(self.byte(self.pos), b'p' | b'P') {
            let what = "invalid hexadecimal floating-point constant: expected exponent part 'p'";
            return self.fail(start, start, what);
        }
        self.pos += 1;
        if matches!(self.byte(self.pos), b'+' | b'-') {
            self.pos += 1;
        }
        let exponent = self.pos;
        self.skip_class(DIGIT);
        if self.pos == exponent {
            let what = "invalid hexadecimal floating-point constant: expected at least one exponent digit";
            return self.fail(start, start, what);
        }
        Token { kind: Tok::Real, start, end: self.pos }
    }

    fn number(&mut self, start: u32, first: u8) -> Token {
        if first != b'0' || self.byte(self.pos) == b'.' {
            self.skip_class(DIGIT);
            if matches!(self.byte(self.pos), b'.' | b'e' | b'E') {
                if self.byte(self.pos) == b'.' {
                    self.pos += 1;
                }
                return self.float(start);
            }
            return self.integer(start, true);
        }
        match self.byte(self.pos) {
            b'b' | b'B' => {
                // `0b` may also be a reference to the label `0:` above.
                if !is(self.byte(self.pos + 1), DIGIT) {
                    return Token { kind: Tok::Int, start, end: self.pos };
                }
                self.pos += 1;
                let digits = self.pos;
                while matches!(self.byte(self.pos), b'0' | b'1') {
                    self.pos += 1;
                }
                if self.pos == digits {
                    return self.fail(start, start, "invalid binary number");
                }
                self.integer(start, true)
            }
            b'x' | b'X' => {
                self.pos += 1;
                let digits = self.pos;
                self.skip_class(HEX);
                let has_digits = self.pos != digits;
                if matches!(self.byte(self.pos), b'.' | b'p' | b'P') {
                    return self.hex_float(start, has_digits);
                }
                if !has_digits {
                    return self.fail(start, start, "invalid hexadecimal number");
                }
                self.integer(start, true)
            }
            _ => {
                let digits = self.pos;
                self.skip_class(DIGIT);
                if self.buf[digits as usize..self.pos as usize].iter().any(|d| *d > b'7') {
                    return self.fail(start, start, "invalid octal number");
                }
                self.integer(start, true)
            }
        }
    }

    /// Ends an integer token; C suffixes (`u`, `ul`, `ull`) are read and ignored.
    fn integer(&mut self, start: u32, suffix: bool) -> Token {
        let end = self.pos;
        if suffix {
            for set in [b"uU", b"lL", b"lL"] {
                if set.contains(&self.byte(self.pos)) {
                    self.pos += 1;
                }
            }
        }
        let mut token = Token { kind: Tok::Int, start, end };
        if (end - start) as usize > FIT_64 && self.wide_value(token).is_none_or(|v| v >> 64 != 0) {
            token.kind = Tok::BigNum;
        }
        token
    }

    fn character(&mut self, start: u32) -> Token {
        let mut byte = self.next();
        if byte == b'\\' {
            byte = self.next();
        }
        let _ = byte;
        if self.pos > self.buf.len() as u32 {
            return self.fail(start, start, "unterminated single quote");
        }
        if self.next() != b'\'' {
            return self.fail(start, start, "single quote way too long");
        }
        Token { kind: Tok::Int, start, end: self.pos }
    }

    fn string(&mut self, start: u32) -> Token {
        let len = self.buf.len() as u32;
        while self.pos < len {
            match self.next() {
                b'"' => return Token { kind: Tok::Str, start, end: self.pos },
                b'\\' => self.pos += 1,
                _ => {}
            }
        }
        self.fail(start, start, "unterminated string constant")
    }

    fn line_comment(&mut self, start: u32, whole_line: bool) -> Token {
        let rest = &self.buf[self.pos as usize..];
        let length = rest.iter().position(|b| matches!(b, b'\n' | b'\r')).unwrap_or(rest.len());
        self.pos += length as u32;
        let mut end = self.pos;
        if self.byte(self.pos) == b'\r' {
            self.pos += 1;
        }
        if self.byte(self.pos) == b'\n' {
            self.pos += 1;
        }
        if whole_line {
            end = self.pos;
        }
        self.statement_start = true;
        self.line_start = true;
        Token { kind: Tok::Eol, start, end }
    }

    /// Skips the comment whose star is next, and those that follow it. When one does not end, says where it starts.
    fn block_comments(&mut self) -> Result<(), u32> {
        loop {
            let open = self.pos - 1;
            self.pos += 1;
            let rest = &self.buf[self.pos as usize..];
            let Some(length) = rest.windows(2).position(|pair| pair == b"*/") else {
                self.pos = self.buf.len() as u32;
                return Err(open);
            };
            self.pos += length as u32 + 2;
            let rest = &self.buf[self.pos as usize..];
            let blanks = rest.iter().take_while(|b| matches!(b, b' ' | b'\t' | 0)).count();
            if !rest[blanks..].starts_with(b"/*") {
                return Ok(());
            }
            self.pos += blanks as u32 + 1;
        }
    }

    /// After a `#` at the start of a line: is this `# 12 "file"`?
    fn is_line_marker(&self) -> bool {
        let mut ahead = *self;
        ahead.statement_start = false;
        let mut next = || {
            ahead.scan(false);
            ahead.cur.kind
        };
        next() == Tok::Int && next() == Tok::Str
    }
}

/// Up to three decimal digits at the start of `text`, and what follows them. Not for octal numbers, which start with 0.
fn plain_number(text: &[u8]) -> Option<(u32, &[u8])> {
    let digit = |byte: u8| u32::from(byte - b'0');
    match *text {
        [a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9', ref rest @ ..] => {
            Some((digit(a) * 100 + digit(b) * 10 + digit(c), rest))
        }
        [a @ b'1'..=b'9', b @ b'0'..=b'9', ref rest @ ..] => Some((digit(a) * 10 + digit(b), rest)),
        [a @ b'0'..=b'9', ref rest @ ..] => Some((digit(a), rest)),
        _ => None,
    }
}

fn escaped_char(c: u8) -> u8 {
    match c {
        b't' => b'\t',
        b'n' => b'\n',
        b'b' => 8,
        b'f' => 12,
        b'r' => b'\r',
        other => other,
    }
}
