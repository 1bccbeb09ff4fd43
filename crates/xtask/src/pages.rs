//! Writes the ISA reference `docs/isa/`: a page per mnemonic and an index.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use wavemill_isa::{Enc, ROWS};
use wavemill_reference::{formats, page, topics};

/// Every page with its content.
pub fn pages(root: &Path) -> Result<Vec<(PathBuf, String)>, String> {
    let folder = root.join("docs/isa");
    let mut out = Vec::new();
    let mut index = String::from(
        "# Instruction set reference: GFX6 to GFX9\n\n\
         Written by `cargo xtask gen` from the instruction table; `wavemill isa explain MNEMONIC` shows the same page in a\n\
         terminal. Examples are lines that the test-suite compares with llvm-mc's bytes. Tests are those that `cargo xtask evidence`\n\
         saw running the instruction and looking at the outcome, with the generations if they are not all that have it.\n",
    );
    let _ = writeln!(index, "\n## Modifiers, registers, counters, hazards\n");
    let links = topics().into_iter().map(|t| format!("[{}]({}.md)", t.names.join(", "), t.file()));
    let _ = writeln!(index, "{}", links.collect::<Vec<_>>().join(" ·\n"));
    for topic in topics() {
        out.push((folder.join(format!("{}.md", topic.file())), topic.page().markdown()));
    }
    for enc in Enc::ALL {
        let file = formats::file(enc);
        if let Some(page) = formats::format(&file) {
            out.push((folder.join(format!("{file}.md")), page.markdown()));
        }
        let mut names: Vec<&str> = ROWS.iter().filter(|r| r.enc == enc).map(|r| r.name).collect();
        names.dedup();
        let _ = writeln!(index, "\n## {}\n\n[The encoding]({file}.md)\n", enc.name());
        let links: Vec<String> = names.iter().map(|n| format!("[{n}]({n}.md)")).collect();
        let _ = writeln!(index, "{}", links.join(" ·\n"));
    }
    out.push((folder.join("README.md"), index));
    let mut names: Vec<&str> = ROWS.iter().map(|r| r.name).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let Some(page) = page(name) else { continue };
        out.push((folder.join(format!("{name}.md")), page.markdown()));
    }
    Ok(out)
}
