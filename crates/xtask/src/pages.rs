//! Writes the ISA reference `docs/isa/`: a page per mnemonic and an index.

use crate::evidence;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use wavemill_isa::{Enc, ROWS};
use wavemill_reference::{Block, page};

/// Examples on a page; more would not help.
const EXAMPLES: usize = 8;

/// The mnemonic of a line of assembly, without an encoding's suffix.
fn mnemonic(line: &str) -> Option<&str> {
    let word = line.split_whitespace().next()?;
    Some(["_e32", "_e64", "_sdwa", "_dpp"].iter().find_map(|s| word.strip_suffix(s)).unwrap_or(word))
}

/// Lines with the bytes llvm-mc gives them, by mnemonic: `crates/asm/tests/instructions/instructions.tsv`.
fn examples(root: &Path) -> Result<BTreeMap<String, Vec<Vec<String>>>, String> {
    let file = root.join("crates/asm/tests/instructions/instructions.tsv");
    let text = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    let mut out: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    for line in text.lines() {
        let mut columns = line.split('\t');
        let source = columns.next().unwrap_or_default();
        let bytes: Vec<&str> = columns.filter(|c| !c.is_empty()).collect();
        let Some(name) = mnemonic(source).filter(|_| !bytes.is_empty()) else { continue };
        let found = out.entry(name.to_owned()).or_default();
        if found.len() < EXAMPLES {
            found.push(vec![source.to_owned(), bytes.join(", ")]);
        }
    }
    Ok(out)
}

/// Every page with its content.
pub fn pages(root: &Path) -> Result<Vec<(PathBuf, String)>, String> {
    let examples = examples(root)?;
    let tests = evidence::read(root)?;
    let folder = root.join("docs/isa");
    let mut out = Vec::new();
    let mut index = String::from(
        "# Instruction set reference: GFX6 to GFX9\n\n\
         Written by `cargo xtask gen` from the instruction table; `wavemill isa explain MNEMONIC` shows the same page in a\n\
         terminal. Examples are lines that the test-suite compares with llvm-mc's bytes. Tests are those that `cargo xtask evidence`\n\
         saw running the instruction and looking at the outcome, with the generations if they are not all that have it.\n",
    );
    for enc in Enc::ALL {
        let mut names: Vec<&str> = ROWS.iter().filter(|r| r.enc == enc).map(|r| r.name).collect();
        names.dedup();
        let _ = writeln!(index, "\n## {}\n", enc.name());
        let links: Vec<String> = names.iter().map(|n| format!("[{n}]({n}.md)")).collect();
        let _ = writeln!(index, "{}", links.join(" ·\n"));
    }
    out.push((folder.join("README.md"), index));
    let mut names: Vec<&str> = ROWS.iter().map(|r| r.name).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let Some(mut page) = page(name) else { continue };
        if let Some(found) = examples.get(name) {
            page.push("Examples", Block::table(&["text", "bytes by generation"], found.iter().cloned()));
        }
        if let Some(found) = tests.get(name) {
            page.push("Tests", Block::Code(found.clone()));
        }
        out.push((folder.join(format!("{name}.md")), page.markdown()));
    }
    Ok(out)
}
