//! Files of ours with the text and messages llvm-mc gives for them. `golden/make` writes the expectations.

use std::fs;
use std::path::{Path, PathBuf};
use wavemill_asm::{Options, assemble};
use wavemill_isa::Target;
use wavemill_isa::target::processor;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

#[test]
fn text_and_messages_equal_llvm() {
    let mut names: Vec<_> = fs::read_dir(directory())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "s"))
        .collect();
    names.sort();
    assert!(names.len() > 5, "the golden files are missing");
    let mut differing = Vec::new();
    for path in names {
        let expected = fs::read(path.with_extension("out")).unwrap_or_default();
        if golden(&path) != expected {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            differing.push(first_difference(&name, &golden(&path), &expected));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

/// What `golden/make` writes for a file: the text, a line of dashes, the messages.
fn golden(path: &Path) -> Vec<u8> {
    let text = fs::read(path).unwrap();
    let mut options = Options::new(Target::new(processor("gfx900").unwrap()));
    options.show_encoding = true;
    options.include_paths.push(directory());
    options.defsym.push(("defined_outside".to_owned(), 7));
    let name = path.file_name().unwrap().to_str().unwrap();
    let output = assemble(&options, name, text);
    [&output.printed[..], &output.text, b"--------\n", &output.render_diagnostics()].concat()
}

fn first_difference(name: &str, got: &[u8], expected: &[u8]) -> String {
    let (got, expected) = (String::from_utf8_lossy(got), String::from_utf8_lossy(expected));
    let mut lines = got.lines().zip(expected.lines()).enumerate();
    match lines.find(|(_, (a, b))| a != b) {
        Some((i, (a, b))) => format!("{name}.out:{}:\n  llvm: {b:?}\n  ours: {a:?}", i + 1),
        None => format!("{name}: one is longer (ours {}, llvm's {})", got.len(), expected.len()),
    }
}
