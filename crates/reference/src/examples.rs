//! Lines with the bytes that llvm-mc gives them, which the tests of `asm` compare with ours.

use std::collections::HashMap;
use std::sync::OnceLock;

/// Examples on a page; more would not help.
const MOST: usize = 8;

/// Examples of a modifier, if there are so many.
const SOME: usize = 4;

/// The mnemonic of a line of assembly, without an encoding's suffix.
fn mnemonic(line: &str) -> Option<&str> {
    let word = line.split_whitespace().next()?;
    Some(["_e32", "_e64", "_sdwa", "_dpp"].iter().find_map(|s| word.strip_suffix(s)).unwrap_or(word))
}

/// All lines with their bytes by generation. Where we differ from llvm-mc on purpose (`*`) there are none to show.
fn lines() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    include_str!("../../asm/tests/instructions/instructions.tsv").lines().map(|line| {
        let mut columns = line.split('\t');
        let source = columns.next().unwrap_or_default();
        (source, columns.filter(|c| !c.is_empty() && !c.ends_with("=*")).collect())
    })
}

/// Examples of a mnemonic: text, and bytes by generation.
pub(crate) fn examples(name: &str) -> &'static [[String; 2]] {
    static EXAMPLES: OnceLock<HashMap<&str, Vec<[String; 2]>>> = OnceLock::new();
    let all = EXAMPLES.get_or_init(|| {
        let mut out: HashMap<&str, Vec<[String; 2]>> = HashMap::new();
        for (source, bytes) in lines() {
            let Some(name) = mnemonic(source).filter(|_| !bytes.is_empty()) else { continue };
            let found = out.entry(name).or_default();
            if found.len() < MOST {
                found.push([source.to_owned(), bytes.join(", ")]);
            }
        }
        out
    });
    all.get(name).map_or(&[], Vec::as_slice)
}

/// Examples that have one of these modifiers: each spelling once, the first few; where there are hardly any spellings,
/// with other instructions, too.
pub(crate) fn using(names: &[&str]) -> Vec<[String; 2]> {
    let has = |word: &str| names.contains(&word.split([':', '(']).next().unwrap_or(word));
    let mut found: Vec<(&str, [String; 2])> = Vec::new();
    let mut others: Vec<(&str, [String; 2])> = Vec::new();
    for (source, bytes) in lines() {
        // Behind the mnemonic and not among registers: a modifier, or a counter.
        let Some(used) = source.split([' ', ',']).skip(1).find(|w| has(w) && !is_register(w)) else {
            continue;
        };
        let Some(name) = mnemonic(source).filter(|name| !bytes.is_empty() && *name != "v_nop") else {
            continue;
        };
        let row = [source.to_owned(), bytes.join(", ")];
        if !found.iter().any(|(spelling, _)| *spelling == used) {
            found.push((used, row));
        } else if !others.iter().any(|(other, _)| *other == name) {
            others.push((name, row));
        }
    }
    let missing = SOME.saturating_sub(found.len());
    let rows = found.into_iter().take(MOST).chain(others.into_iter().take(missing));
    rows.map(|(_, row)| row).collect()
}

/// Names that are operands and no modifiers; every other line has them.
fn is_register(word: &str) -> bool {
    matches!(word, "exec" | "vcc" | "m0" | "scc" | "flat_scratch" | "execz" | "vccz" | "mode")
}
