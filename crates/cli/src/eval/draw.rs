//! Registers before and after, lane by lane.

use std::fmt::Write;
use wavemill_isa::row::Access;
use wavemill_isa::{Inst, Kind};
use wavemill_sem::soft::{self, Round};

/// How to show a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// Bits that may be anything: as f32 if all of them look like that, else as signed decimal.
    Bits,
    /// Signed decimal.
    Int,
    /// Unsigned decimal.
    Uint,
    /// Hexadecimal.
    Hex,
    /// Two f16.
    Halves,
    /// f32.
    Float,
    /// f64, of two registers.
    Double,
}

impl Style {
    /// Reads the name of a style.
    pub fn parse(name: &str) -> Result<Style, String> {
        Ok(match name {
            "i32" => Style::Int,
            "u32" => Style::Uint,
            "hex" => Style::Hex,
            "f16" => Style::Halves,
            "f32" => Style::Float,
            "f64" => Style::Double,
            _ => return Err(format!("no type `{name}`: i32, u32, hex, f16, f32 or f64")),
        })
    }

    /// What an instruction's result is.
    pub fn of(inst: &Inst) -> Style {
        let result = inst.row.operands.iter().find(|o| o.access != Access::Read);
        match result.map(|o| (o.ty.kind, o.ty.bits)) {
            Some((Kind::F, 64)) => Style::Double,
            Some((Kind::F, 16)) => Style::Halves,
            Some((Kind::F, _)) => Style::Float,
            Some((Kind::U, _)) => Style::Uint,
            Some((Kind::I, _)) => Style::Int,
            _ => Style::Bits,
        }
    }

    /// What bits look like.
    fn guess(self, mut values: impl Iterator<Item = u64>) -> Style {
        // From 2^-40 to 2^40: as integers these are large ones that nobody has by chance.
        let float = |v: u64| v == 0 || (87..=167).contains(&(v as u32 >> 23 & 0xff));
        match self {
            Style::Bits if values.all(float) => Style::Float,
            Style::Bits => Style::Int,
            other => other,
        }
    }

    /// A value as text.
    pub fn text(self, bits: u64) -> String {
        let low = bits as u32;
        match self {
            Style::Int | Style::Bits => (low as i32).to_string(),
            Style::Uint => low.to_string(),
            Style::Hex => format!("{low:#x}"),
            Style::Float => short(f32::from_bits(low).into(), format!("{:?}", f32::from_bits(low))),
            Style::Double => short(f64::from_bits(bits), format!("{:?}", f64::from_bits(bits))),
            Style::Halves => {
                let value = |h: u32| {
                    f64::from_bits(soft::convert(soft::F16, soft::F64, u64::from(h & 0xffff), Round::Nearest))
                };
                match low >> 16 {
                    0 => format!("{}", value(low)),
                    high => format!("{}|{}", value(low), value(high)),
                }
            }
        }
    }
}

/// A float: in full, as long as that is no longer than a cell of a table had better be.
fn short(value: f64, full: String) -> String {
    let full = full.strip_suffix(".0").map(str::to_owned).unwrap_or(full);
    if full.len() <= 10 { full } else { format!("{value:.6e}") }
}

/// Rounds to the nearest f16, ties to even.
pub fn half(value: f64) -> u16 {
    soft::convert(soft::F64, soft::F16, value.to_bits(), Round::Nearest) as u16
}

/// Lanes in a row, as DPP has them.
const ROW: usize = 16;

/// The lanes of a register that changed: each row of 16 with a change before and after.
pub fn lanes(name: &str, before: &[u64; 64], after: &[u64; 64], style: Style) -> String {
    let count = before.iter().zip(after).filter(|(a, b)| a != b).count();
    let mut out = format!("{name}: {count} of 64 lanes changed\n");
    let rows = (0..64).step_by(ROW).filter(|&r| before[r..r + ROW] != after[r..r + ROW]);
    let rows: Vec<usize> = rows.collect();
    let changed = before.iter().zip(after).filter(|(a, b)| a != b).flat_map(|(a, b)| [*a, *b]);
    let style = style.guess(changed);
    let texts = |values: &[u64; 64]| values.map(|v| style.text(v));
    let (old, new) = (texts(before), texts(after));
    let shown = rows.iter().flat_map(|&r| old[r..r + ROW].iter().chain(&new[r..r + ROW]));
    let width = shown.map(String::len).max().unwrap_or(1).max(2);
    for row in rows {
        let _ = write!(out, "  lane  ");
        (row..row + ROW).for_each(|l| _ = write!(out, " {l:>width$}"));
        let _ = write!(out, "\n    was ");
        (row..row + ROW).for_each(|l| _ = write!(out, " {:>width$}", old[l]));
        let _ = write!(out, "\n    is  ");
        for l in row..row + ROW {
            let text = if before[l] == after[l] { "." } else { &new[l] };
            let _ = write!(out, " {text:>width$}");
        }
        out.push('\n');
    }
    out
}

/// A register's lanes as they are.
pub fn all(name: &str, values: &[u64; 64], style: Style) -> String {
    let style = style.guess(values.iter().copied().filter(|_| values.iter().any(|v| *v != 0)));
    let texts = values.map(|v| style.text(v));
    let width = texts.iter().map(String::len).max().unwrap_or(1);
    let mut out = format!("{name}\n");
    for row in (0..64).step_by(ROW) {
        let _ = write!(out, "  {:>2}-{:<2}", row, row + ROW - 1);
        texts[row..row + ROW].iter().for_each(|t| _ = write!(out, " {t:>width$}"));
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rows_with_changes_are_drawn() {
        let before = [u64::from(u32::MAX); 64];
        let mut after = before;
        after[17] = 5;
        let text = lanes("v2", &before, &after, Style::Int);
        assert!(text.starts_with("v2: 1 of 64 lanes changed\n  lane   16 17 18 "), "{text}");
        assert_eq!(text.lines().count(), 4, "{text}");
        assert!(text.lines().nth(3).unwrap().starts_with("    is    .  5  .  ."), "{text}");
    }

    #[test]
    fn bits_are_what_they_look_like() {
        let float = |f: f32| u64::from(f.to_bits());
        assert_eq!(Style::Bits.guess([0, float(1.5), float(-1e6)].into_iter()), Style::Float);
        assert_eq!(Style::Bits.guess([0, 5, float(1.5)].into_iter()), Style::Int);
        assert_eq!(Style::Bits.guess([u64::from(u32::MAX)].into_iter()), Style::Int);
    }

    #[test]
    fn numbers_in_every_style() {
        assert_eq!(Style::Float.text(1.5f32.to_bits().into()), "1.5");
        assert_eq!(Style::Float.text(1f32.to_bits().into()), "1");
        assert_eq!(Style::Double.text(0.25f64.to_bits()), "0.25");
        assert_eq!(Style::Halves.text(0x3c00_c000), "-2|1");
        assert_eq!(Style::Int.text(u64::from(u32::MAX)), "-1");
        assert_eq!(Style::Uint.text(u64::from(u32::MAX)), "4294967295");
        assert_eq!(Style::Hex.text(255), "0xff");
        assert!(Style::parse("f128").is_err());
    }
}
