//! Modifiers after the operands: `offset:16 glc`, `quad_perm:[0,1,2,3] row_mask:0xf`, `clamp mul:2`.
//!
//! They may come in any order. Which ones an instruction takes is for its encoding to say ([`Set`]); a word that is no
//! modifier of the instruction is read as an operand.

use super::swizzle;
use crate::lex::Tok;
use crate::names;
use crate::parser::Parser;
use crate::source::{Diag, Span};
use wavemill_isa::Level;

macro_rules! modifiers {
    ($($name:ident $text:expr, $syntax:ident;)*) => {
        /// A modifier.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub(super) enum Mod { $($name),* }

        const MODS: &[(Mod, &str, Syntax)] = &[$((Mod::$name, $text, Syntax::$syntax)),*];
    };
}

/// How a modifier is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Syntax {
    /// `name`, or `noname` to say that it is off.
    Bit,
    /// `name` only.
    Word,
    /// `name:number`
    Number,
    /// `name:[0,1,…]`
    Bits,
    /// `name:WORD`
    Choice,
    /// A DPP control.
    Control,
    /// `format:…`, `dfmt:n`, `nfmt:n`
    Format,
}

modifiers! {
    Clamp "clamp", Bit;
    Omod "mul", Number;
    OpSel "op_sel", Bits;
    OpSelHi "op_sel_hi", Bits;
    NegLo "neg_lo", Bits;
    NegHi "neg_hi", Bits;
    High "high", Bit;
    DstSel "dst_sel", Choice;
    DstUnused "dst_unused", Choice;
    Src0Sel "src0_sel", Choice;
    Src1Sel "src1_sel", Choice;
    DppCtrl "quad_perm", Control;
    RowMask "row_mask", Number;
    BankMask "bank_mask", Number;
    BoundCtrl "bound_ctrl", Number;
    Cbsz "cbsz", Number;
    Abid "abid", Number;
    Blgp "blgp", Number;
    Offset "offset", Number;
    InstOffset "inst_offset", Number;
    Offset0 "offset0", Number;
    Offset1 "offset1", Number;
    Gds "gds", Bit;
    Offen "offen", Word;
    Idxen "idxen", Word;
    Addr64 "addr64", Word;
    Glc "glc", Bit;
    Slc "slc", Bit;
    Scc "scc", Bit;
    Lds "lds", Word;
    Tfe "tfe", Bit;
    Format "format", Format;
    Dmask "dmask", Number;
    Unorm "unorm", Bit;
    Da "da", Bit;
    R128 "r128", Bit;
    A16 "a16", Bit;
    Lwe "lwe", Bit;
    Nv "nv", Word;
    D16 "d16", Bit;
    Done "done", Word;
    Vm "vm", Bit;
    Compr "compr", Bit;
}

const COUNT: usize = MODS.len();

impl Mod {
    /// As it is written; the output modifier and the DPP controls have several spellings.
    pub fn name(self) -> &'static str {
        match self {
            Mod::Omod => "mul/div",
            Mod::DppCtrl => "dpp control",
            _ => MODS[self as usize].1,
        }
    }
}

/// A set of modifiers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Set(u64);

impl Set {
    /// These and no others.
    pub const fn of(mods: &[Mod]) -> Set {
        let mut bits = 0;
        let mut i = 0;
        while i < mods.len() {
            bits |= 1 << mods[i] as u8;
            i += 1;
        }
        Set(bits)
    }

    /// Both together.
    pub const fn and(self, other: Set) -> Set {
        Set(self.0 | other.0)
    }

    /// With one more when `yes`.
    pub const fn with(self, m: Mod, yes: bool) -> Set {
        Set(self.0 | (yes as u64) << m as u8)
    }

    /// Is it in here?
    pub const fn has(self, m: Mod) -> bool {
        self.0 >> m as u8 & 1 != 0
    }

    /// One of these that is not in `other`, which is not asked for when there are none.
    pub fn outside(self, other: impl FnOnce() -> Set) -> Option<Mod> {
        let rest = if self.0 == 0 { 0 } else { self.0 & !other().0 };
        if rest == 0 { None } else { MODS.get(rest.trailing_zeros() as usize).map(|m| m.0) }
    }

    fn names(self) -> impl Iterator<Item = &'static str> {
        let spelt = |m: Mod| -> &'static [&'static str] {
            match m {
                Mod::Omod => &["mul", "div"],
                Mod::DppCtrl => &[
                    "quad_perm",
                    "row_shl",
                    "row_shr",
                    "row_ror",
                    "wave_shl",
                    "wave_rol",
                    "wave_shr",
                    "wave_ror",
                    "row_mirror",
                    "row_half_mirror",
                    "row_bcast",
                    "row_newbcast",
                ],
                _ => &[],
            }
        };
        MODS.iter().filter(move |m| self.has(m.0)).flat_map(move |m| {
            let several = spelt(m.0);
            several.iter().copied().chain(several.is_empty().then_some(m.1))
        })
    }
}

/// The modifiers of one instruction.
pub(super) struct Mods {
    /// Which were written, switched off ones included.
    pub seen: Set,
    on: Set,
    at: [u32; COUNT],
    /// `offset` or `offset0`.
    pub offset: i64,
    /// `offset1`.
    pub offset1: i64,
    /// The offset was given as `swizzle(…)`.
    pub swizzled: bool,
    /// Which halves of the buffer format were given.
    format_parts: u8,
    /// Values of the others, each in the place of its modifier.
    values: [u16; COUNT],
}

impl Mods {
    pub fn new() -> Mods {
        Mods {
            seen: Set::default(),
            on: Set::default(),
            at: [0; COUNT],
            offset: 0,
            offset1: 0,
            swizzled: false,
            format_parts: 0,
            values: [0; COUNT],
        }
    }

    /// Is the flag set?
    pub fn on(&self, m: Mod) -> bool {
        self.on.has(m)
    }

    /// The modifier's value, or `default` when it was not written.
    pub fn value(&self, m: Mod, default: u32) -> u32 {
        if self.seen.has(m) { self.values[m as usize].into() } else { default }
    }

    /// Offset of the modifier in its buffer.
    pub fn start(&self, m: Mod) -> u32 {
        self.at[m as usize]
    }

    fn record(&mut self, m: Mod, span: Span) -> Result<(), Diag> {
        if self.seen.has(m) {
            return Err(Diag::error(span, format!("{} is given twice", m.name())));
        }
        self.seen = self.seen.with(m, true);
        self.at[m as usize] = span.start;
        Ok(())
    }

    /// Reads a modifier at the cursor if it is one of those allowed.
    pub fn parse(&mut self, p: &mut Parser<'_>, allowed: impl FnOnce() -> Set) -> Result<bool, Diag> {
        let token = p.lex.peek();
        let name = p.lex.bytes(token);
        let Some((m, off)) = find(name) else { return Ok(false) };
        if !allowed().has(m) || m == Mod::Nv && !p.options.documented {
            return Ok(false);
        }
        // Another spelling, for the flat family.
        let m = if m == Mod::InstOffset { Mod::Offset } else { m };
        let span = p.lex.span(token);
        let syntax = MODS[m as usize].2;
        // `offset` as an operand of its own is a symbol.
        if matches!(syntax, Syntax::Number | Syntax::Bits | Syntax::Choice | Syntax::Format)
            && p.lex.peek2().kind != Tok::Colon
        {
            return Ok(false);
        }
        p.lex.bump();
        if m == Mod::Format {
            // dfmt and nfmt are two halves of one modifier.
            return self.format(p, name, span).map(|()| true);
        }
        self.record(m, span)?;
        match syntax {
            Syntax::Bit | Syntax::Word => self.on = self.on.with(m, !off),
            Syntax::Control => self.values[m as usize] = control(p, name, span)?,
            _ => {
                p.lex.bump();
                self.value_of(p, m, name, span)?;
            }
        }
        Ok(true)
    }

    fn value_of(&mut self, p: &mut Parser<'_>, m: Mod, name: &[u8], span: Span) -> Result<(), Diag> {
        let at = p.lex.here();
        let value = match m {
            Mod::OpSel | Mod::OpSelHi | Mod::NegLo | Mod::NegHi => bits(p)?,
            Mod::DstSel | Mod::Src0Sel | Mod::Src1Sel => choice(p, &names::SDWA_SELS)?,
            Mod::DstUnused => choice(p, &names::SDWA_UNUSED)?,
            Mod::Offset | Mod::Offset0 | Mod::Offset1 => {
                let value = if m == Mod::Offset && p.lex.word() == b"swizzle" {
                    self.swizzled = true;
                    swizzle::parse(p)?
                } else {
                    p.absolute()?
                };
                if m == Mod::Offset1 {
                    self.offset1 = value;
                } else {
                    self.offset = value;
                }
                return Ok(());
            }
            _ => {
                let value = p.absolute()?;
                let (max, value) = match (m, name, value) {
                    (Mod::Omod, b"mul", 1) | (Mod::Omod, b"div", 1) => (3, 0),
                    (Mod::Omod, b"mul", 2) => (3, 1),
                    (Mod::Omod, b"mul", 4) => (3, 2),
                    (Mod::Omod, b"div", 2) => (3, 3),
                    (Mod::Omod, b"mul", _) => return Err(Diag::error(span, "mul is 1, 2 or 4")),
                    (Mod::Omod, ..) => return Err(Diag::error(span, "div is 1 or 2")),
                    // Both spellings mean the same: out-of-range lanes read 0.
                    (Mod::BoundCtrl, _, 0 | 1) => (1, 1),
                    (Mod::BoundCtrl, ..) => return Err(Diag::error(span, "bound_ctrl is 0 or 1")),
                    (Mod::Cbsz | Mod::Blgp, ..) => (7, value),
                    _ => (15, value),
                };
                if value < 0 || value > max {
                    let name = String::from_utf8_lossy(name).into_owned();
                    return Err(Diag::error(at, format!("{name} is a number from 0 to {max}")));
                }
                value as u16
            }
        };
        self.values[m as usize] = value;
        Ok(())
    }

    /// `format:n`, `format:[BUF_…,BUF_…]`, `dfmt:n`, `nfmt:n`.
    fn format(&mut self, p: &mut Parser<'_>, name: &[u8], span: Span) -> Result<(), Diag> {
        p.lex.bump();
        const DFMT: u8 = 1;
        const NFMT: u8 = 2;
        const WHOLE: u8 = 3;
        let mut value = u32::from(self.values[Mod::Format as usize]);
        if !self.seen.has(Mod::Format) {
            value = names::DEFAULT_FORMAT;
        }
        let half = |p: &mut Parser<'_>, max: i64, what: &str| -> Result<u32, Diag> {
            let at = p.lex.here();
            let n = p.absolute()?;
            if n < 0 || n > max {
                return Err(Diag::error(at, format!("{what} is a number from 0 to {max}")));
            }
            Ok(n as u32)
        };
        let part = match name {
            b"dfmt" => {
                value = value & !15 | half(p, 15, "dfmt")?;
                DFMT
            }
            b"nfmt" => {
                value = value & 15 | half(p, 7, "nfmt")? << 4;
                NFMT
            }
            _ if p.lex.eat(Tok::LBrac) => {
                value = symbolic_format(p)?;
                WHOLE
            }
            _ => {
                value = half(p, 127, "format")?;
                WHOLE
            }
        };
        if self.format_parts & part != 0 {
            return Err(Diag::error(span, "the format is given twice"));
        }
        self.format_parts |= part;
        self.seen = self.seen.with(Mod::Format, true);
        self.at[Mod::Format as usize] = span.start;
        self.values[Mod::Format as usize] = value as u16;
        Ok(())
    }
}

/// The modifier a word starts, and whether the word switches it off.
fn find(name: &[u8]) -> Option<(Mod, bool)> {
    let m = match name {
        b"offset" => Mod::Offset,
        b"inst_offset" => Mod::InstOffset,
        b"offset0" => Mod::Offset0,
        b"offset1" => Mod::Offset1,
        b"offen" => Mod::Offen,
        b"glc" => Mod::Glc,
        b"slc" => Mod::Slc,
        b"scc" => Mod::Scc,
        b"idxen" => Mod::Idxen,
        b"lds" => Mod::Lds,
        b"gds" => Mod::Gds,
        b"clamp" => Mod::Clamp,
        b"mul" | b"div" => Mod::Omod,
        b"op_sel" => Mod::OpSel,
        b"op_sel_hi" => Mod::OpSelHi,
        b"neg_lo" => Mod::NegLo,
        b"neg_hi" => Mod::NegHi,
        b"quad_perm" | b"row_shl" | b"row_shr" | b"row_ror" | b"wave_shl" | b"wave_rol" | b"wave_shr"
        | b"wave_ror" | b"row_mirror" | b"row_half_mirror" | b"row_bcast" | b"row_newbcast" => Mod::DppCtrl,
        b"row_mask" => Mod::RowMask,
        b"bank_mask" => Mod::BankMask,
        b"bound_ctrl" => Mod::BoundCtrl,
        b"dst_sel" => Mod::DstSel,
        b"dst_unused" => Mod::DstUnused,
        b"src0_sel" => Mod::Src0Sel,
        b"src1_sel" => Mod::Src1Sel,
        b"cbsz" => Mod::Cbsz,
        b"abid" => Mod::Abid,
        b"blgp" => Mod::Blgp,
        b"dmask" => Mod::Dmask,
        b"unorm" => Mod::Unorm,
        b"da" => Mod::Da,
        b"r128" => Mod::R128,
        b"a16" => Mod::A16,
        b"lwe" => Mod::Lwe,
        b"nv" => Mod::Nv,
        b"d16" => Mod::D16,
        b"tfe" => Mod::Tfe,
        b"addr64" => Mod::Addr64,
        b"format" | b"dfmt" | b"nfmt" => Mod::Format,
        b"high" => Mod::High,
        b"done" => Mod::Done,
        b"vm" => Mod::Vm,
        b"compr" => Mod::Compr,
        [b'n', b'o', rest @ ..] => {
            let (m, off) = find(rest)?;
            let bit = MODS[m as usize].2 == Syntax::Bit;
            return (bit && !off).then_some((m, true));
        }
        _ => return None,
    };
    Some((m, false))
}

/// The name among `allowed` that a misspelt one is closest to.
pub(super) fn closest(name: &str, allowed: Set) -> Option<&'static str> {
    crate::suggest::closest(name, allowed.names())
}

/// `[0,1,…]` with up to four elements.
fn bits(p: &mut Parser<'_>) -> Result<u16, Diag> {
    p.expect(Tok::LBrac, "expected a left square bracket")?;
    let mut value = 0;
    for i in 0..4 {
        let at = p.lex.here();
        match p.absolute()? {
            0 => {}
            1 => value |= 1 << i,
            _ => return Err(Diag::error(at, "expected 0 or 1")),
        }
        if p.lex.eat(Tok::RBrac) {
            return Ok(value);
        }
        if i < 3 {
            p.expect(Tok::Comma, "expected a comma or a closing square bracket")?;
        }
    }
    Err(p.token_error("expected a closing square bracket"))
}

fn choice(p: &mut Parser<'_>, words: &[&'static str]) -> Result<u16, Diag> {
    let word = p.lex.word();
    if let Some(i) = words.iter().position(|w| w.as_bytes() == word) {
        p.lex.bump();
        return Ok(i as u16);
    }
    Err(p.token_error(format!("expected one of {}", words.join(", "))))
}

/// What follows the name of a DPP control.
fn control(p: &mut Parser<'_>, name: &[u8], span: Span) -> Result<u16, Diag> {
    let level = p.target.level();
    let name = std::str::from_utf8(name).unwrap_or_default();
    if name == "row_newbcast" && level != Level::Gfx90a {
        return Err(Diag::error(
            span,
            format!("row_newbcast is not available on {}: gfx90a has it", p.target.cpu.name),
        ));
    }
    let known = names::DPP_CTRLS.iter().find(|c| c.name == name);
    if let Some(names::DppCtrl { code, range: None, .. }) = known {
        return Ok(*code as u16);
    }
    p.expect(Tok::Colon, "expected a colon")?;
    if name == "quad_perm" {
        p.expect(Tok::LBrac, "expected a left square bracket")?;
        let mut value = 0;
        for lane in 0..4 {
            if lane > 0 {
                p.expect(Tok::Comma, "expected a comma")?;
            }
            let at = p.lex.here();
            let n = p.absolute()?;
            if !(0..=3).contains(&n) {
                return Err(Diag::error(at, "a lane of quad_perm is a number from 0 to 3"));
            }
            value |= (n as u16) << (2 * lane);
        }
        p.expect(Tok::RBrac, "expected a closing square bracket")?;
        return Ok(value);
    }
    let at = p.lex.here();
    let n = p.absolute()?;
    let bad = |what: String| Err(Diag::error(at, what));
    match (name, known) {
        ("row_bcast", _) => match n {
            15 => Ok(names::DPP_ROW_BCAST15 as u16),
            31 => Ok(names::DPP_ROW_BCAST31 as u16),
            _ => bad("row_bcast is 15 or 31".into()),
        },
        ("row_newbcast", _) => match n {
            0..=15 => Ok(names::DPP_ROW_NEWBCAST as u16 + n as u16),
            _ => bad("row_newbcast is a number from 0 to 15".into()),
        },
        (_, Some(names::DppCtrl { code, range: Some((first, last)), .. })) => {
            if n < i64::from(*first) || n > i64::from(*last) {
                return bad(if first == last {
                    format!("{name} is {first}")
                } else {
                    format!("{name} is a number from {first} to {last}")
                });
            }
            Ok((*code as i64 + n) as u16)
        }
        _ => Err(Diag::error(span, "unknown dpp control")),
    }
}

/// `BUF_DATA_FORMAT_…,BUF_NUM_FORMAT_…]` in either order, either one alone.
fn symbolic_format(p: &mut Parser<'_>) -> Result<u32, Diag> {
    let (mut data, mut number) = (None, None);
    loop {
        let at = p.lex.here();
        let word = p.lex.ident();
        if word.is_empty() {
            return Err(p.token_error("expected a buffer format"));
        }
        let numbers = names::num_formats(p.target.level());
        let found = if let Some(name) = word.strip_prefix(names::DATA_FORMAT) {
            names::DATA_FORMATS.iter().position(|f| *f == name).map(|i| (&mut data, i as u32))
        } else if let Some(name) = word.strip_prefix(names::NUM_FORMAT) {
            numbers.iter().position(|f| *f == name).map(|i| (&mut number, i as u32))
        } else {
            None
        };
        let Some((slot, value)) = found else {
            return Err(Diag::error(
                at,
                format!("buffer format {word} is not available on {}", p.target.cpu.name),
            ));
        };
        if slot.replace(value).is_some() {
            return Err(Diag::error(at, "the same part of the format is given twice"));
        }
        p.lex.bump();
        if p.lex.eat(Tok::RBrac) {
            break;
        }
        if data.is_some() && number.is_some() {
            return Err(p.token_error("expected a closing square bracket"));
        }
        p.expect(Tok::Comma, "expected a comma or a closing square bracket")?;
    }
    Ok(data.unwrap_or(names::DEFAULT_FORMAT) | number.unwrap_or(0) << 4)
}

// A set of modifiers is a u64.
const _: () = assert!(COUNT <= 64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_declaration_order() {
        for (i, (m, name, _)) in MODS.iter().enumerate() {
            assert_eq!(*m as usize, i);
            assert!(find(name.as_bytes()).is_some_and(|(found, off)| found == *m && !off), "{name}");
        }
        assert_eq!(find(b"noglc"), Some((Mod::Glc, true)));
        assert_eq!(find(b"nolds"), None);
        assert_eq!(find(b"nonoglc"), None);
    }
}
