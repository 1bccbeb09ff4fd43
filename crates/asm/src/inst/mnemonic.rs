//! From a mnemonic to a row: suffixes that force an encoding, other names, and what to say when there is none.

use crate::lex::Token;
use crate::parser::Parser;
use crate::source::Diag;
use crate::suggest;
use wavemill_isa::{Enc, Form, Level, ROWS, Row, flag, lookup};

/// A mnemonic's row, and the encoding its suffix asks for.
pub(super) struct Found {
    pub row: &'static Row,
    pub form: Option<Form>,
    /// The name to print.
    pub name: &'static str,
}

/// Another name of an instruction.
struct Alias {
    name: &'static str,
    /// The row's name.
    means: &'static str,
    /// First and last level it is known on.
    levels: (Level, Level),
    /// The only form it has under this name.
    form: Option<Form>,
    /// Printed as written.
    echo: bool,
}

const fn alias(name: &'static str, means: &'static str, first: Level, last: Level) -> Alias {
    Alias { name, means, levels: (first, last), form: None, echo: false }
}

/// LLVM's other names, and the MI200 manual's spellings where LLVM has another.
static ALIASES: &[Alias] = &[
    Alias { form: Some(Form::Vop3), ..alias("v_add_co_u32", "v_add_i32", Level::Gfx6, Level::Gfx7) },
    Alias { form: Some(Form::Vop3), ..alias("v_sub_co_u32", "v_sub_i32", Level::Gfx6, Level::Gfx7) },
    Alias { form: Some(Form::Vop3), ..alias("v_subrev_co_u32", "v_subrev_i32", Level::Gfx6, Level::Gfx7) },
    Alias { echo: true, ..alias("v_mul_lo_i32", "v_mul_lo_u32", Level::Gfx8, Level::Gfx90a) },
    alias("v_accvgpr_read", "v_accvgpr_read_b32", Level::Gfx908, Level::Gfx90a),
    alias("v_accvgpr_write", "v_accvgpr_write_b32", Level::Gfx908, Level::Gfx90a),
    alias("v_mad_mix_f32", "v_fma_mix_f32", Level::Gfx90a, Level::Gfx90a),
    alias("v_mad_mixlo_f16", "v_fma_mixlo_f16", Level::Gfx90a, Level::Gfx90a),
    alias("v_mad_mixhi_f16", "v_fma_mixhi_f16", Level::Gfx90a, Level::Gfx90a),
];

/// What a suffix asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Suffix {
    None,
    E32,
    E64,
    Sdwa,
    Dpp,
}

/// Splits the encoding suffix off.
fn split(name: &[u8]) -> (&[u8], Suffix) {
    match name {
        [stem @ .., b'_', b'e', b'3', b'2'] => (stem, Suffix::E32),
        [stem @ .., b'_', b'e', b'6', b'4'] => (stem, Suffix::E64),
        [stem @ .., b'_', b's', b'd', b'w', b'a'] => (stem, Suffix::Sdwa),
        // `_e64_dpp` is GFX11's: the stem is no mnemonic then.
        [stem @ .., b'_', b'd', b'p', b'p'] => (stem, Suffix::Dpp),
        _ => (name, Suffix::None),
    }
}

/// The row that a name means on a level, of those that are there.
fn row_of(
    name: &[u8],
    level: Level,
    there: impl Fn(&Row) -> bool,
) -> Option<(&'static Row, Option<&'static Alias>)> {
    if let Some(row) = lookup::by_name(name).find(|r| there(r)) {
        return Some((row, None));
    }
    let alias =
        ALIASES.iter().find(|a| a.name.as_bytes() == name && a.levels.0 <= level && level <= a.levels.1)?;
    let row = lookup::by_name(alias.means).find(|r| there(r))?;
    Some((row, Some(alias)))
}

/// Looks the mnemonic up on the target.
pub(super) fn find(p: &Parser<'_>, mnemonic: Token) -> Result<Found, Diag> {
    let written = p.lex.bytes(mnemonic);
    let level = p.target.level();
    let (mut stem, mut suffix) = split(written);
    let there = |r: &Row| r.opcode_on(p.target.cpu).is_some();
    let mut found = row_of(stem, level, there);
    // Mnemonics, and they alone, may be written in capitals.
    let lower;
    if found.is_none() && written.iter().any(u8::is_ascii_uppercase) {
        lower = written.to_ascii_lowercase();
        (stem, suffix) = split(&lower);
        found = row_of(stem, level, there);
    }
    let Some((row, alias)) = found else {
        return Err(unknown(p, mnemonic, &String::from_utf8_lossy(stem)));
    };
    let form = match suffix {
        Suffix::None => None,
        Suffix::E32 => Some(Form::Base),
        Suffix::E64 if matches!(row.enc, Enc::Vop3 | Enc::Vop3p | Enc::Mfma) => None,
        Suffix::E64 => Some(Form::Vop3),
        Suffix::Sdwa => Some(Form::Sdwa),
        Suffix::Dpp => Some(Form::Dpp),
    };
    let long_only = matches!(row.enc, Enc::Vop3 | Enc::Vop3p | Enc::Mfma);
    let wrong = form.is_some_and(|f| !row.has_form(f, level))
        // LLVM takes the lane accesses of GFX8 and later for short ones.
        || long_only && suffix == Suffix::E32 && !row.has(flag::NOEXEC)
        || form.is_some_and(|f| alias.is_some_and(|a| a.form.is_some_and(|only| only != f)));
    if wrong {
        let what = written.get(stem.len() + 1..).unwrap_or(written);
        let [stem, what] = [stem, what].map(String::from_utf8_lossy);
        let cpu = p.target.cpu.name;
        return Err(Diag::error(p.lex.span(mnemonic), format!("{stem} has no {what} form on {cpu}")));
    }
    let name = alias.filter(|a| a.echo).map_or(row.name, |a| a.name);
    Ok(Found { row, form: form.or(alias.and_then(|a| a.form)), name })
}

/// Says which processors have an instruction, or what it may have been meant to be.
#[cold]
fn unknown(p: &Parser<'_>, mnemonic: Token, stem: &str) -> Diag {
    let span = p.lex.span(mnemonic);
    let cpu = p.target.cpu.name;
    let levels: Vec<Level> = Level::ALL
        .into_iter()
        .filter(|l| row_of(stem.as_bytes(), *l, |r| r.opcode_at(*l).is_some()).is_some())
        .collect();
    if !levels.is_empty() {
        return Diag::error(span, format!("{stem} is not available on {cpu}: {} it", have(&levels)));
    }
    let here = ROWS.iter().filter(|r| r.opcode_on(p.target.cpu).is_some()).map(|r| r.name);
    if let Some(near) = suggest::closest(stem, here) {
        return Diag::error(span, format!("unknown instruction '{stem}': did you mean {near}?"));
    }
    Diag::error(span, format!("unknown instruction '{stem}'"))
}

/// `gfx6, gfx7 and gfx908 have`.
fn have(levels: &[Level]) -> String {
    let names: Vec<&str> = levels.iter().map(|l| l.name()).collect();
    match names.as_slice() {
        [one] => format!("{one} has"),
        [all @ .., last] => format!("{} and {last} have", all.join(", ")),
        [] => String::new(),
    }
}
