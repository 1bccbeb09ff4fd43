//! Reads `isa/operations.txt`, what each instruction does in words, and `isa/basis.txt`, what that rests on. The files'
//! heads describe the notation.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A line of the file: a name with alternatives, and the text for them.
struct Pattern<'a> {
    line: usize,
    parts: Vec<Part<'a>>,
    text: &'a str,
}

/// A piece of a name.
enum Part<'a> {
    Fixed(&'a str),
    /// Each word with what `$n` becomes in the text.
    OneOf(Vec<(&'a str, &'a str)>),
}

fn pattern(line: usize, text: &str) -> Result<Pattern<'_>, String> {
    // The name ends at the first `: `; alternatives' texts have no such thing in them.
    let (name, text) = text.split_once(": ").ok_or("no `: ` after the name")?;
    let mut parts = Vec::new();
    let mut rest = name;
    while let Some((fixed, more)) = rest.split_once('{') {
        let (words, after) = more.split_once('}').ok_or("`{` without `}`")?;
        parts.push(Part::Fixed(fixed));
        parts.push(Part::OneOf(words.split(',').map(|w| w.split_once('=').unwrap_or((w, w))).collect()));
        rest = after;
    }
    parts.push(Part::Fixed(rest));
    Ok(Pattern { line, parts, text })
}

impl Pattern<'_> {
    /// Every name the pattern stands for, with its text.
    fn expand(&self) -> Vec<(String, String)> {
        let mut all = vec![(String::new(), self.text.to_owned())];
        let mut number = 0;
        for part in &self.parts {
            match part {
                Part::Fixed(s) => all.iter_mut().for_each(|(name, _)| name.push_str(s)),
                Part::OneOf(words) => {
                    number += 1;
                    let mark = format!("${number}");
                    all = all
                        .iter()
                        .flat_map(|(name, text)| {
                            let mark = &mark;
                            words.iter().map(move |(w, t)| (format!("{name}{w}"), text.replace(mark, t)))
                        })
                        .collect();
                }
            }
        }
        all
    }
}

/// The text of every operation that has one, in the order of `rows`: pairs of the name of a row's `Op` and its mnemonic.
fn some_texts(file: &str, rows: &[(&str, &str)], source: &str) -> Result<Vec<Option<String>>, String> {
    let known: std::collections::BTreeSet<&str> = rows.iter().flat_map(|(op, name)| [*op, *name]).collect();
    let mut found: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for (n, line) in source.lines().enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let at = |message: String| format!("{file}:{}: {message}", n + 1);
        let pattern = pattern(n + 1, line).map_err(|e| at(e.to_owned()))?;
        let mut any = false;
        for (name, text) in pattern.expand() {
            // A family's pattern may be wider than the family.
            if !known.contains(name.as_str()) {
                continue;
            }
            any = true;
            if let Some((other, _)) = found.insert(name.clone(), (pattern.line, text)) {
                return Err(at(format!("{name} has a text already, on line {other}")));
            }
        }
        if !any {
            return Err(at("no instruction has such a name".to_owned()));
        }
    }
    let text = |op: &str, name: &str| found.get(op).or_else(|| found.get(name)).map(|(_, t)| t.clone());
    Ok(rows.iter().map(|(op, name)| text(op, name)).collect())
}

/// The text of every operation, all of which must have one.
pub fn texts(file: &str, rows: &[(&str, &str)], source: &str) -> Result<Vec<String>, String> {
    let texts = some_texts(file, rows, source)?;
    let missing: Vec<&str> =
        rows.iter().zip(&texts).filter(|(_, t)| t.is_none()).map(|((op, _), _)| *op).collect();
    if !missing.is_empty() {
        return Err(format!("{file}: nothing about {}", missing.join(", ")));
    }
    Ok(texts.into_iter().flatten().collect())
}

/// What each operation rests on, if not on the manual alone: a kind and a source.
pub fn bases(
    file: &str,
    rows: &[(&str, &str)],
    source: &str,
) -> Result<Vec<Option<(String, String)>>, String> {
    let kinds = ["measured", "compiler", "reading"];
    let split = |text: String| match text.split_once(", ") {
        Some((kind, source)) if kinds.contains(&kind) => Ok((kind.to_owned(), source.to_owned())),
        _ => Err(format!("{file}: `{text}` does not start with {} and a comma", kinds.join(", "))),
    };
    some_texts(file, rows, source)?.into_iter().map(|t| t.map(split).transpose()).collect()
}

/// The Rust source of what operations rest on.
pub fn emit_bases(bases: &[Option<(String, String)>]) -> String {
    let mut out = String::from(
        "// Written by `cargo xtask gen` from isa/basis.txt. Do not edit.\n\n\
         use crate::basis::Basis::{self, *};\n\n\
         /// What each instruction's exactness rests on, in the order of `ROWS`, and the source.\n",
    );
    let _ = writeln!(out, "pub static BASES: [(Basis, &str); {}] = [", bases.len());
    for basis in bases {
        match basis {
            None => out.push_str("    (Manual, \"\"),\n"),
            Some((kind, source)) => {
                let (first, rest) = kind.split_at(1);
                let _ = writeln!(out, "    ({}{rest}, {source:?}),", first.to_uppercase());
            }
        }
    }
    out.push_str("];\n");
    out
}

/// The Rust source of the texts.
pub fn emit(texts: &[String]) -> String {
    let mut out = String::from(
        "// Written by `cargo xtask gen` from isa/operations.txt. Do not edit.\n\n\
         /// What each instruction does, in the order of `ROWS`.\n",
    );
    let _ = writeln!(out, "pub static OPERATIONS: [&str; {}] = [", texts.len());
    for text in texts {
        let _ = writeln!(out, "    {text:?},");
    }
    out.push_str("];\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_stands_for_all_its_names() {
        let rows = [("s_a_b32", "s_a_b32"), ("s_a_b64", "s_a_b64"), ("s_o_b32", "s_o_b32")];
        let texts = texts("f", &rows, "s_{a=&,o=|}_b{32,64}: D = S0 $1 S1 in $2 bits\n").unwrap();
        assert_eq!(texts, ["D = S0 & S1 in 32 bits", "D = S0 & S1 in 64 bits", "D = S0 | S1 in 32 bits"]);
    }

    #[test]
    fn what_is_missing_twice_or_unknown_is_an_error() {
        let rows = [("s_a", "s_a"), ("s_b_gfx6", "s_b")];
        assert_eq!(texts("f", &rows, "s_a: x").unwrap_err(), "f: nothing about s_b_gfx6");
        assert_eq!(texts("f", &rows, "s_c: x").unwrap_err(), "f:1: no instruction has such a name");
        assert_eq!(
            texts("f", &rows, "s_a: x\ns_{a,b}: y").unwrap_err(),
            "f:2: s_a has a text already, on line 1"
        );
    }
}
