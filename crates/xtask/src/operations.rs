//! Reads `isa/operations.txt`: what each instruction does, in words. The file's head describes the notation.

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

/// The text of every operation, in the order of `rows`: pairs of the name of a row's `Op` and its mnemonic.
pub fn texts<'a>(file: &str, rows: &[(&'a str, &'a str)], source: &str) -> Result<Vec<String>, String> {
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
    let missing: Vec<&str> = rows
        .iter()
        .filter(|(op, name)| !found.contains_key(*op) && !found.contains_key(*name))
        .map(|(op, _)| *op)
        .collect();
    if !missing.is_empty() {
        return Err(format!("{file}: nothing about {}", missing.join(", ")));
    }
    Ok(rows
        .iter()
        .filter_map(|(op, name)| found.get(*op).or_else(|| found.get(*name)))
        .map(|(_, t)| t.clone())
        .collect())
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
