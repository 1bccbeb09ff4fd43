//! House rules that a machine can check: `cargo xtask tidy`. Each is in ARCHITECTURE.md or CONTRIBUTING.md.

mod asserts;
mod crates;
mod lex;
mod modules;

use lex::Token;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Lines a module may have.
const MOST_LINES: usize = 900;

/// Checks the repository; says all that is wrong.
pub fn run(root: &Path) -> Result<(), String> {
    let wrong = check(root)?;
    match wrong.len() {
        0 => Ok(()),
        n => Err(format!("{}\n{n} untidy places", wrong.join("\n"))),
    }
}

fn check(root: &Path) -> Result<Vec<String>, String> {
    let page = read(&root.join("ARCHITECTURE.md"))?;
    let mut wrong = crates::check(&page, root)?;
    let mut files = Vec::new();
    sources(&root.join("crates"), &mut files)?;
    files.sort();
    let mut functions = asserts::Functions::default();
    let allowed = crates::unsafe_places(&page);
    let mut used: BTreeSet<&str> = BTreeSet::new();
    for path in &files {
        let name = path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned();
        let text = read(path)?;
        functions.read(&name, &text);
        let generated = text.starts_with("// Written by ");
        if text.lines().count() > MOST_LINES && !generated {
            wrong.push(format!("{name}: {} lines, more than {MOST_LINES}", text.lines().count()));
        }
        let place = allowed.iter().find(|a| name == **a || name.starts_with(&format!("{a}/")));
        let lines = habits(&name, &text, &mut wrong);
        match (lines, place) {
            (Some(line), None) if name.contains("/src/") => {
                wrong
                    .push(format!("{name}:{line}: unsafe code, but ARCHITECTURE.md does not list the place"));
            }
            (Some(_), Some(place)) => _ = used.insert(place),
            _ => {}
        }
    }
    for place in allowed.iter().filter(|a| !used.contains(a.as_str())) {
        wrong.push(format!("ARCHITECTURE.md: no unsafe code in `{place}`"));
    }
    wrong.extend(functions.idle());
    for name in crates::manifests(root)?.keys() {
        let directory = root.join("crates").join(name);
        let Some(file) = modules::root_file(&directory) else { continue };
        let needs = !allowed.iter().any(|a| a.starts_with(&format!("crates/{name}/")));
        if needs && !read(&file)?.contains("#![forbid(unsafe_code)]") {
            wrong.push(format!("crates/{name}: no `#![forbid(unsafe_code)]`, though it has no unsafe code"));
        }
        wrong.extend(cycles(name, &file)?);
    }
    Ok(wrong)
}

/// A crate's cycles.
fn cycles(name: &str, root_file: &Path) -> Result<Vec<String>, String> {
    let found = modules::Modules::read(root_file)?.cycles();
    let lines = found.iter().map(|group| format!("{name}: {}", group.join(", ")));
    Ok(lines.map(|line| format!("modules use each other in a circle: {line}")).collect())
}

/// What must not be in a file at all; returns the first line of unsafe code.
fn habits(name: &str, text: &str, wrong: &mut Vec<String>) -> Option<usize> {
    let lexed = lex::lex(text);
    let tokens = &lexed.tokens;
    let mut first_unsafe = None;
    for (i, (token, line)) in tokens.iter().enumerate() {
        let next = |n: usize, c| tokens.get(i + n).is_some_and(|(t, _)| t.mark(c));
        match token.word() {
            Some("unsafe") => first_unsafe = first_unsafe.or(Some(*line)),
            Some(word @ ("todo" | "unimplemented" | "dbg")) if next(1, '!') => {
                wrong.push(format!("{name}:{line}: {word}!"));
            }
            Some("ignore") if i >= 2 && tokens[i - 1].0.mark('[') && tokens[i - 2].0 == Token::Mark('#') => {
                wrong.push(format!("{name}:{line}: an ignored test"));
            }
            _ => {}
        }
    }
    for (comment, line) in &lexed.comments {
        // Spelt apart, so that this file does not accuse itself.
        for word in [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")] {
            if comment.split(|c: char| !c.is_alphanumeric()).any(|w| w == word) {
                wrong.push(format!("{name}:{line}: {word}"));
            }
        }
    }
    first_unsafe
}

/// Every Rust file below a directory.
fn sources(directory: &Path, out: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = std::fs::read_dir(directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("target") {
            sources(&path, out)?;
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_habits_are_found() {
        let mut wrong = Vec::new();
        let text =
            "#[ignore]\nfn f() { todo!() }\n// TODO later\nlet s = \"unsafe todo!()\";\nunsafe { g() }";
        assert_eq!(habits("a.rs", text, &mut wrong), Some(5));
        assert_eq!(wrong, ["a.rs:1: an ignored test", "a.rs:2: todo!", "a.rs:3: TODO"]);
    }
}
