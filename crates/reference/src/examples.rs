//! Lines with the bytes that llvm-mc gives them, which the tests of `asm` compare with ours.

use std::collections::HashMap;
use std::sync::OnceLock;

/// Examples on a page; more would not help.
const MOST: usize = 8;

/// The mnemonic of a line of assembly, without an encoding's suffix.
fn mnemonic(line: &str) -> Option<&str> {
    let word = line.split_whitespace().next()?;
    Some(["_e32", "_e64", "_sdwa", "_dpp"].iter().find_map(|s| word.strip_suffix(s)).unwrap_or(word))
}

/// Examples of a mnemonic: text, and bytes by generation.
pub(crate) fn examples(name: &str) -> &'static [[String; 2]] {
    static EXAMPLES: OnceLock<HashMap<&str, Vec<[String; 2]>>> = OnceLock::new();
    let all = EXAMPLES.get_or_init(|| {
        let mut out: HashMap<&str, Vec<[String; 2]>> = HashMap::new();
        for line in include_str!("../../asm/tests/instructions/instructions.tsv").lines() {
            let mut columns = line.split('\t');
            let source = columns.next().unwrap_or_default();
            let bytes: Vec<&str> = columns.filter(|c| !c.is_empty()).collect();
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
