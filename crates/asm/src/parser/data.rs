//! Data directives: values, strings, filling and alignment.

use super::{Parser, Res};
use crate::expr::Expr;
use crate::lex::{Tok, parse_real};
use crate::section::types;
use crate::source::Diag;

/// A repeating directive may write this much text or data.
pub(super) const MAX_OUTPUT: usize = 1 << 30;

fn fits(value: i64, size: u8) -> bool {
    let bits = u32::from(size) * 8;
    bits >= 64 || (value as u64) >> bits == 0 || (value << (64 - bits)) >> (64 - bits) == value
}

impl<'a> Parser<'a> {
    /// `.byte`, `.long` …
    pub(super) fn values(&mut self, size: u8) -> Res {
        self.many(|p| {
            let at = p.lex.here();
            let value = p.expr()?;
            match value {
                Expr::Const(value) if !fits(value, size) => {
                    Err(Diag::error(at, "out of range literal value"))
                }
                value => p.emit_value(&value, size, at),
            }
        })
    }

    /// `.octa`
    pub(super) fn octa(&mut self) -> Res {
        self.many(|p| {
            let value = p.wide_literal()?;
            for half in [value as u64, (value >> 64) as u64] {
                p.emit_int(half as i64, 8);
            }
            Ok(())
        })
    }

    /// A number of up to 128 bits.
    pub(super) fn wide_literal(&mut self) -> Res<u128> {
        if !matches!(self.lex.kind(), Tok::Int | Tok::BigNum) {
            return Err(self.token_error("unknown token in expression"));
        }
        let token = self.lex.bump();
        self.lex
            .wide_value(token)
            .ok_or_else(|| Diag::error(self.lex.span(token), "out of range literal value"))
    }

    /// A floating-point number as the bits of a float of `size` bytes.
    fn real(&mut self, size: u8) -> Res<u64> {
        let negative = self.lex.kind() == Tok::Minus;
        if negative || self.lex.kind() == Tok::Plus {
            self.lex.bump();
        }
        let token = self.lex.peek();
        let text = self.lex.text(token);
        let value = match token.kind {
            Tok::Error => return Err(self.token_error(self.lex.error_message())),
            Tok::Ident => match text.to_ascii_lowercase().as_str() {
                "inf" | "infinity" => Some(if size == 4 { 0x7f80_0000 } else { 0x7ff0_0000_0000_0000 }),
                "nan" => Some(if size == 4 { 0x7fff_ffff } else { 0x7fff_ffff_ffff_ffff }),
                _ => None,
            },
            Tok::Int | Tok::Real => real_bits(text, size),
            _ => return Err(self.token_error("unexpected token in directive")),
        };
        let bits = value.ok_or_else(|| self.token_error("invalid floating point literal"))?;
        self.lex.bump();
        Ok(bits | u64::from(negative) << (u32::from(size) * 8 - 1))
    }

    /// `.float`, `.double`
    pub(super) fn reals(&mut self, size: u8) -> Res {
        self.many(|p| {
            let bits = p.real(size)?;
            p.emit_int(bits as i64, size);
            Ok(())
        })
    }

    /// The contents of a string token, escapes undone; moves past it.
    pub(super) fn escaped_string(&mut self) -> Res<Vec<u8>> {
        let token = self.lex.peek();
        if token.kind != Tok::Str {
            return Err(self.token_error("expected string"));
        }
        let quoted = self.lex.bytes(token);
        let text = &quoted[1..quoted.len() - 1];
        let mut data = Vec::with_capacity(text.len());
        let mut at = 0;
        while at < text.len() {
            let byte = text[at];
            at += 1;
            if byte != b'\\' {
                if byte == b'\n' {
                    let mut span = self.lex.span(token);
                    span.start += at as u32;
                    self.warning(span, "unterminated string; newline inserted");
                }
                data.push(byte);
                continue;
            }
            let Some(&escape) = text.get(at) else {
                return Err(self.token_error("unexpected backslash at end of string"));
            };
            at += 1;
            data.push(match escape {
                b'x' | b'X' => {
                    let digits = text[at..].iter().take_while(|b| b.is_ascii_hexdigit()).count();
                    if digits == 0 {
                        return Err(self.token_error("invalid hexadecimal escape sequence"));
                    }
                    let value = text[at..at + digits]
                        .iter()
                        .fold(0u8, |v, b| v << 4 | (*b as char).to_digit(16).unwrap_or(0) as u8);
                    at += digits;
                    value
                }
                b'0'..=b'7' => {
                    let more = text[at..].iter().take(2).take_while(|b| matches!(b, b'0'..=b'7')).count();
                    let digits = &text[at - 1..at + more];
                    at += more;
                    let value = digits.iter().fold(0u32, |v, b| v * 8 + u32::from(b - b'0'));
                    u8::try_from(value)
                        .map_err(|_| self.token_error("invalid octal escape sequence (out of range)"))?
                }
                b'b' => 8,
                b'f' => 12,
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'"' | b'\\' => escape,
                _ => return Err(self.token_error("invalid escape sequence (unrecognized character)")),
            });
        }
        self.lex.bump();
        Ok(data)
    }

    /// `.ascii`, `.asciz`, `.string`
    pub(super) fn strings(&mut self, terminated: bool) -> Res {
        self.many(|p| {
            loop {
                let data = p.escaped_string()?;
                p.emit_bytes(&data);
                if terminated || p.lex.kind() != Tok::Str {
                    break;
                }
            }
            if terminated {
                p.emit_bytes(&[0]);
            }
            Ok(())
        })
    }

    /// `.space`, `.skip`, `.zero`: count, value
    pub(super) fn space(&mut self) -> Res {
        let at = self.lex.here();
        let count = self.expr()?;
        let value = if self.lex.eat(Tok::Comma) { self.absolute()? } else { 0 };
        self.eol()?;
        self.emit_space(count, value, at)
    }

    /// `.fill count, size, value`
    pub(super) fn fill(&mut self) -> Res {
        let at = self.lex.here();
        let count = self.expr()?;
        let (mut size, mut value) = (1, 0);
        let (mut size_at, mut value_at) = (at, at);
        if self.lex.eat(Tok::Comma) {
            size_at = self.lex.here();
            size = self.absolute()?;
            if self.lex.eat(Tok::Comma) {
                value_at = self.lex.here();
                value = self.absolute()?;
            }
        }
        self.eol()?;
        if size < 0 {
            self.warning(size_at, "'.fill' directive with negative size has no effect");
            return Ok(());
        }
        if size > 8 {
            self.warning(size_at, "'.fill' directive with size greater than 8 has been truncated to 8");
            size = 8;
        }
        if u32::try_from(value).is_err() && size > 4 {
            self.warning(value_at, "'.fill' directive pattern has been truncated to 32-bits");
        }
        self.emit_fill(count, size as u8, value, at)
    }

    /// `.org offset, value`
    pub(super) fn org(&mut self) -> Res {
        let at = self.lex.here();
        let offset = self.expr()?;
        let value = if self.lex.eat(Tok::Comma) { self.absolute()? } else { 0 };
        self.eol()?;
        self.emit_org(offset, value as u8, at)
    }

    /// `.align`, `.p2align`, `.balign` and the forms for words
    pub(super) fn align(&mut self, power: bool, size: u8) -> Res {
        let at = self.lex.here();
        if power && size == 1 && self.lex.kind() == Tok::Eol {
            self.warning(at, "p2align directive with no operand(s) is ignored");
            return self.eol();
        }
        let mut alignment = self.absolute()?;
        let (mut value, mut value_at) = (None, at);
        let (mut max, mut max_at) = (0, None);
        if self.lex.eat(Tok::Comma) {
            if self.lex.kind() != Tok::Comma {
                value_at = self.lex.here();
                value = Some(self.absolute()?);
            }
            if self.lex.eat(Tok::Comma) {
                max_at = Some(self.lex.here());
                max = self.absolute()?;
            }
        }
        self.eol()?;
        // The alignment is emitted even when something about it is wrong.
        let mut problem = None;
        if power {
            if !(0..32).contains(&alignment) {
                problem = Some(Diag::error(at, "invalid alignment value"));
                alignment = 31;
            }
            alignment = 1 << alignment;
        } else {
            if alignment == 0 {
                alignment = 1;
            } else if !(alignment as u64).is_power_of_two() {
                problem = Some(Diag::error(at, "alignment must be a power of 2"));
                alignment = (1u64 << (63 - (alignment as u64).leading_zeros())) as i64;
            }
            if u32::try_from(alignment).is_err() {
                problem = Some(Diag::error(at, "alignment must be smaller than 2**32"));
                alignment = 1 << 31;
            }
        }
        let section = self.current_section().map(|(id, _)| &self.sections[id.0 as usize]);
        if let Some(section) = section
            && section.ty == types::NOBITS
            && value.is_some_and(|v| v != 0)
        {
            let message = format!("ignoring non-zero fill value in SHT_NOBITS section '{}'", section.name);
            self.warning(value_at, message);
            value = Some(0);
        }
        if let Some(max_at) = max_at {
            if max < 1 {
                self.error(
                    max_at,
                    "alignment directive can never be satisfied in this many bytes, ignoring maximum bytes \
                     expression",
                );
                max = 0;
            }
            if max >= alignment {
                self.warning(max_at, "maximum bytes expression exceeds alignment and has no effect");
                max = 0;
            }
        }
        let code = self.in_code() && size == 1 && value.is_none_or(|v| v == 0);
        let value = if code { None } else { Some(value.unwrap_or(0)) };
        self.emit_align(alignment as u64, value, size, max as u32);
        problem.map_or(Ok(()), Err)
    }

    /// `.sleb128`, `.uleb128`
    pub(super) fn leb128(&mut self, signed: bool) -> Res {
        self.many(|p| {
            let at = p.lex.here();
            let value = p.expr()?;
            p.emit_leb128(value, signed, at)
        })
    }

    /// A repeat count; `None` when it is negative, which has no effect.
    fn repeat_count(&mut self, name: &str) -> Res<Option<u64>> {
        let at = self.lex.here();
        let count = self.absolute()?;
        if count < 0 {
            self.warning(at, format!("'{name}' directive with negative repeat count has no effect"));
            return Ok(None);
        }
        if count as usize > MAX_OUTPUT {
            return Err(Diag::error(at, "repeat count is too large"));
        }
        Ok(Some(count as u64))
    }

    /// `.dcb.w count, value`
    pub(super) fn dcb(&mut self, name: &str, size: u8) -> Res {
        // LLVM reads on after the count, and stumbles over the comma.
        let Some(count) = self.repeat_count(name)? else { return Ok(()) };
        self.comma()?;
        let at = self.lex.here();
        let value = self.expr()?;
        if let Expr::Const(value) = value
            && !fits(value, size)
        {
            return Err(Diag::error(at, "literal value out of range for directive"));
        }
        self.repeat(count, at, |p| p.emit_value(&value, size, at))?;
        self.eol()
    }

    /// `.dcb.d count, value`
    pub(super) fn dcb_real(&mut self, name: &str, size: u8) -> Res {
        let at = self.lex.here();
        // LLVM reads on after the count, and stumbles over the comma.
        let Some(count) = self.repeat_count(name)? else { return Ok(()) };
        self.comma()?;
        let bits = self.real(size)?;
        self.eol()?;
        self.repeat(count, at, |p| {
            p.emit_int(bits as i64, size);
            Ok(())
        })
    }

    /// `.ds.l count`
    pub(super) fn ds(&mut self, name: &str, size: u8) -> Res {
        let at = self.lex.here();
        let Some(count) = self.repeat_count(name)? else { return self.eol() };
        self.eol()?;
        self.repeat(count, at, |p| p.emit_space(Expr::Const(size.into()), 0, at))
    }

    fn repeat(&mut self, count: u64, at: crate::source::Span, mut one: impl FnMut(&mut Self) -> Res) -> Res {
        let start = self.output_size();
        for _ in 0..count {
            one(self)?;
            if self.output_size() - start > MAX_OUTPUT {
                return Err(Diag::error(at, "repeat count is too large"));
            }
        }
        Ok(())
    }
}

/// A literal as the bits of a float, rounded once from its exact value.
fn real_bits(text: &str, size: u8) -> Option<u64> {
    // Integers with a suffix or in another radix are not floats, except hexadecimal ones with an exponent.
    let value = parse_real(text)?;
    if size == 8 {
        return Some(value.to_bits());
    }
    if text.starts_with("0x") || text.starts_with("0X") {
        return Some(u64::from(crate::lex::parse_hex_single(text)?.to_bits()));
    }
    let digits = text.trim_end_matches(['+', '-']).trim_end_matches(['e', 'E']);
    digits.parse::<f32>().ok().map(|v| u64::from(v.to_bits()))
}
