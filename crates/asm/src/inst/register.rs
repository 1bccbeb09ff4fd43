//! Registers: `v5`, `s[0:1]`, `[s0,s1]`, `ttmp[4:7]`, `a3`, `vcc` and the other names.

use crate::amd::{RegFile, note_register};
use crate::lex::{Tok, Token};
use crate::parser::Parser;
use crate::source::{Diag, Span};
use wavemill_isa::regs;

/// Where a register lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum File {
    /// Vector registers.
    V,
    /// Accumulation registers.
    A,
    /// Everything a scalar operand code names: SGPRs, trap temporaries, VCC, EXEC, M0 and so on.
    S,
}

/// A register or a run of registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Reg {
    /// Its file.
    pub file: File,
    /// How many.
    pub dwords: u8,
    /// Index of the first; for scalars the operand code.
    pub code: u16,
}

impl Reg {
    /// True for the read-only sources that stand for constants: apertures, VCCZ, EXECZ, SCC.
    pub fn is_value(self) -> bool {
        self.file == File::S && matches!(self.code, 235..=239 | 251..=253)
    }

    /// True for LDS_DIRECT.
    pub fn is_lds_direct(self) -> bool {
        self.file == File::S && self.code as u32 == regs::LDS_DIRECT
    }

    /// True for EXEC or a half of it.
    pub fn is_exec(self) -> bool {
        self.file == File::S && matches!(self.code, 126 | 127)
    }

    /// True for M0.
    pub fn is_m0(self) -> bool {
        self.file == File::S && self.code as u32 == regs::M0
    }

    /// True for the register pair VCC.
    pub fn is_vcc(self) -> bool {
        self.file == File::S && self.code as u32 == regs::VCC && self.dwords == 2
    }
}

/// The files that have numbered registers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbered {
    V,
    S,
    Ttmp,
    A,
}

/// Splits `v12` into its file and what follows.
fn numbered(name: &[u8]) -> Option<(Numbered, &[u8])> {
    Some(match name {
        [b'v', rest @ ..] => (Numbered::V, rest),
        [b's', rest @ ..] => (Numbered::S, rest),
        [b't', b't', b'm', b'p', rest @ ..] => (Numbered::Ttmp, rest),
        [b'a', b'c', b'c', rest @ ..] => (Numbered::A, rest),
        [b'a', rest @ ..] => (Numbered::A, rest),
        _ => return None,
    })
}

/// A register number; saturates, since anything above 255 is wrong anyway.
#[inline]
fn index(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u32, |n, d| {
        d.is_ascii_digit().then(|| n.saturating_mul(10).saturating_add((d - b'0') as u32))
    })
}

/// What a word that starts a register says.
enum Word {
    /// `v5`
    Number(Numbered, u32),
    /// `v`, to be followed by a range.
    Range(Numbered),
    /// `vcc` and the like.
    Name(&'static regs::Special),
    /// Half a register, or a name, that later generations have; a register as far as syntax goes.
    Later,
}

/// Reads a word as the start of a register; `next` is the kind of the token after it.
#[inline(always)] // nearly every operand is a register
fn word(name: &[u8], next: impl FnOnce() -> Tok) -> Option<Word> {
    if let Some((file, rest)) = numbered(name) {
        if rest.is_empty() {
            return (next() == Tok::LBrac).then_some(Word::Range(file));
        }
        if let Some(n) = index(rest) {
            return Some(Word::Number(file, n));
        }
    }
    unnumbered(name)
}

/// A register without a number. The first letter sorts out nearly every word that is none.
fn unnumbered(name: &[u8]) -> Option<Word> {
    if !matches!(name.first()?, b'v' | b'e' | b'm' | b'f' | b'x' | b't' | b's' | b'p' | b'l' | b'a' | b'n') {
        return None;
    }
    if let Some(special) = regs::special(std::str::from_utf8(name).ok()?) {
        return Some(Word::Name(special));
    }
    let half = name.strip_suffix(b".l").or(name.strip_suffix(b".h")).and_then(numbered);
    let later = matches!(name, b"null" | b"pc") || half.is_some_and(|(_, rest)| index(rest).is_some());
    later.then_some(Word::Later)
}

/// Whether a token (with the one after it) starts a register.
pub(super) fn starts(p: &Parser<'_>, token: Token, next: impl FnOnce() -> Tok) -> bool {
    match token.kind {
        Tok::LBrac => true,
        Tok::Ident => word(p.lex.bytes(token), next).is_some(),
        _ => false,
    }
}

/// Reads a register if the cursor is on one.
#[inline]
pub(super) fn parse(p: &mut Parser<'_>) -> Result<Option<Reg>, Diag> {
    match p.lex.kind() {
        Tok::LBrac => list(p).map(Some),
        Tok::Ident => Ok(single(p)?.map(|(reg, _)| reg)),
        _ => Ok(None),
    }
}

/// A register, and its number if it has one.
type Single = (Reg, Option<(Numbered, u32)>);

/// Reads a register that is not a list, if the cursor is on one.
#[inline(always)] // nearly every operand is a register
fn single(p: &mut Parser<'_>) -> Result<Option<Single>, Diag> {
    let token = p.lex.peek();
    let Some(word) = word(p.lex.bytes(token), || p.lex.peek2().kind) else { return Ok(None) };
    p.lex.bump();
    let mut span = p.lex.span(token);
    let (file, first, dwords) = match word {
        Word::Number(file, n) => (file, n, 1),
        Word::Range(file) => {
            let (first, dwords) = range(p)?;
            span.end = p.lex.peek().start;
            (file, first, dwords)
        }
        Word::Name(special) => return named(p, special, span).map(|reg| Some((reg, None))),
        Word::Later => return Err(later(p, token)),
    };
    Ok(Some((tuple(p, file, first, dwords, span)?, Some((file, first)))))
}

/// A register that has a name.
fn named(p: &Parser<'_>, special: &regs::Special, span: Span) -> Result<Reg, Diag> {
    if !special.has.on(&p.target) {
        return Err(unavailable(p, span));
    }
    let code = regs::special_code(special, &p.target) as u16;
    Ok(Reg { file: File::S, dwords: special.dwords, code })
}

#[cold]
fn later(p: &Parser<'_>, token: Token) -> Diag {
    let (text, cpu) = (p.lex.text(token), p.target.cpu.name);
    let message = match text {
        "null" | "pc" => format!("register '{text}' is not available on {cpu}"),
        _ => format!("16-bit register '{text}' is not available before GFX11"),
    };
    Diag::error(p.lex.span(token), message)
}

#[cold]
fn unavailable(p: &Parser<'_>, span: Span) -> Diag {
    let text = String::from_utf8_lossy(p.sources.text(span)).trim_end().to_owned();
    Diag::error(span, format!("register {text} is not available on {}", p.target.cpu.name))
}

/// `[first]` or `[first:last]`, as first and count.
fn range(p: &mut Parser<'_>) -> Result<(u32, u32), Diag> {
    if let Some((first, last)) = p.lex.eat_plain_range() {
        return Ok((first, last - first + 1));
    }
    p.lex.bump();
    let first_at = p.lex.here();
    let first = p.absolute()?;
    let (mut last, mut last_at) = (first, first_at);
    if p.lex.eat(Tok::Colon) {
        last_at = p.lex.here();
        last = p.absolute()?;
    }
    p.expect(Tok::RBrac, "expected a closing square bracket after the register range")?;
    for (value, at) in [(first, first_at), (last, last_at)] {
        if u32::try_from(value).is_err() {
            return Err(Diag::error(at, "a register index must not be negative"));
        }
    }
    if first > last {
        return Err(Diag::error(first_at, "the first register index must not exceed the second"));
    }
    let dwords = (last - first + 1).min(u32::MAX as i64);
    Ok((first as u32, dwords as u32))
}

/// `[s0,s1]` or `[vcc_lo,vcc_hi]`.
#[cold]
fn list(p: &mut Parser<'_>) -> Result<Reg, Diag> {
    let open = p.lex.bump();
    let element = |p: &mut Parser<'_>| {
        let at = p.lex.here();
        let reg = if p.lex.kind() == Tok::Ident { single(p)? } else { None };
        match reg {
            None => Err(p.token_error("expected a register")),
            Some((reg, _)) if reg.dwords != 1 => {
                Err(Diag::error(at, "a register list is made of single 32-bit registers"))
            }
            Some((reg, number)) => Ok((reg, number)),
        }
    };
    let (first, number) = element(p)?;
    let mut dwords = 1;
    while p.lex.eat(Tok::Comma) {
        let here = p.lex.here();
        let (reg, n) = element(p)?;
        let follows = match (number, n) {
            (Some((file, start)), Some((f, n))) if f == file => n == start + dwords,
            // Only the two halves of one register make a list of names.
            (None, None) => {
                dwords == 1
                    && reg.code == first.code + 1
                    && first.code % 2 == 0
                    && regs::special_at(first.code.into(), 2, &p.target).is_some()
            }
            _ => return Err(Diag::error(here, "registers in a list must be of one kind")),
        };
        if !follows {
            return Err(Diag::error(here, "registers in a list must be consecutive"));
        }
        dwords += 1;
    }
    let close = p.expect(Tok::RBrac, "expected a comma or a closing square bracket")?;
    let span = p.lex.span(open).to(p.lex.span(close));
    match number {
        Some((file, start)) => tuple(p, file, start, dwords, span),
        None => Ok(Reg { dwords: dwords as u8, ..first }),
    }
}

/// Checks size, alignment and range of a run of numbered registers.
#[inline]
fn tuple(p: &mut Parser<'_>, file: Numbered, first: u32, dwords: u32, span: Span) -> Result<Reg, Diag> {
    if dwords != 1 {
        let scalar = matches!(file, Numbered::S | Numbered::Ttmp);
        let fits = match dwords {
            2 | 4 | 8 | 16 => true,
            1..=12 => file != Numbered::Ttmp,
            32 => !scalar,
            _ => false,
        };
        if !fits {
            return Err(Diag::error(span, format!("no register tuple has {dwords} registers")));
        }
        let align = dwords.next_power_of_two().min(4);
        if scalar && !first.is_multiple_of(align) {
            let what = format!("{dwords} scalar registers must start at a multiple of {align}");
            return Err(Diag::error(span, what));
        }
    }
    let end = first.saturating_add(dwords);
    let (limit, reg) = match file {
        Numbered::V => (256, Reg { file: File::V, dwords: dwords as u8, code: first as u16 }),
        Numbered::A => (256, Reg { file: File::A, dwords: dwords as u8, code: first as u16 }),
        Numbered::S => {
            (regs::sgpr_count(&p.target), Reg { file: File::S, dwords: dwords as u8, code: first as u16 })
        }
        Numbered::Ttmp => {
            let (base, count) = regs::ttmp_range(&p.target);
            (count, Reg { file: File::S, dwords: dwords as u8, code: (base + first.min(255)) as u16 })
        }
    };
    if end > limit {
        return Err(unavailable(p, span));
    }
    let counted = match file {
        Numbered::V => RegFile::Vgpr,
        Numbered::A => RegFile::Agpr,
        Numbered::S => RegFile::Sgpr,
        Numbered::Ttmp => return Ok(reg),
    };
    note_register(p, counted, first, dwords, span)?;
    Ok(reg)
}
