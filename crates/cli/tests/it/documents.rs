//! `--json`: one document on standard output, whatever happens.

use crate::{scratch, wavemill};
use std::process::Command;

/// A reader of JSON that knows nothing but its grammar (RFC 8259): what is left behind a value, or nothing if it is none.
fn value(text: &str) -> Option<&str> {
    let text = text.trim_start();
    match text.chars().next()? {
        '{' => items(&text[1..], '}', |t| value(string(t.trim_start())?.trim_start().strip_prefix(':')?)),
        '[' => items(&text[1..], ']', value),
        '"' => string(text),
        't' => text.strip_prefix("true"),
        'f' => text.strip_prefix("false"),
        'n' => text.strip_prefix("null"),
        _ => {
            let end = text.find(|c: char| !"+-.0123456789eE".contains(c)).unwrap_or(text.len());
            text[..end].parse::<f64>().ok().map(|_| &text[end..])
        }
    }
}

fn items(text: &str, end: char, item: impl Fn(&str) -> Option<&str>) -> Option<&str> {
    let mut rest = text.trim_start();
    if let Some(rest) = rest.strip_prefix(end) {
        return Some(rest);
    }
    loop {
        rest = item(rest)?.trim_start();
        match rest.strip_prefix(',') {
            Some(more) => rest = more,
            None => return rest.strip_prefix(end),
        }
    }
}

fn string(text: &str) -> Option<&str> {
    let mut escaped = false;
    let inside = text.strip_prefix('"')?;
    for (at, c) in inside.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(&inside[at + 1..]),
            c if (c as u32) < 0x20 => return None,
            _ => {}
        }
    }
    None
}

pub fn is_document(text: &str) -> bool {
    value(text).is_some_and(|rest| rest.trim().is_empty())
}

#[test]
fn there_is_a_document_also_when_nothing_can_be_done() {
    assert!(is_document(" {\"a\": [1, -2.5e3, \"\\\"\", null], \"b\": {}} \n"));
    for wrong in ["", "{", "{} {}", "[1,]", "{\"a\"}", "\"\n\""] {
        assert!(!is_document(wrong), "{wrong}");
    }
    for (args, status, error) in [
        (&["run", "--json", "nothere.s"][..], 1, "nothere.s: No such file"),
        (&["inspect", "--json", "nothere"], 1, "nothere: No such file"),
        (&["inspect", "--json", "/dev/null"], 1, "this is no code object"),
        (&["info", "--json", "--gpu", "nothere"], 1, "no GPU `nothere`"),
        (&["lint", "--json", "nothere.s"], 1, "nothere.s: No such file"),
        (&["isa", "list", "--mcpu", "nothere", "--json"], 1, "no GPU `nothere`"),
        (&["run", "--json", "--bogus"], 2, "unexpected argument '--bogus' found"),
        (&["bench", "--json", "--what"], 2, "unexpected argument '--what' found"),
    ] {
        let out = wavemill(args);
        let (text, said) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
        assert_eq!(out.status.code(), Some(status), "{args:?}: {said}");
        assert!(is_document(&text), "{args:?}: {text}");
        assert!(
            text.contains(&format!("\"status\": {status}")) && text.contains("\"error\": \""),
            "{args:?}: {text}"
        );
        assert!(text.contains(error) && said.contains(error), "{args:?}: {text}{said}");
    }
    // Help is no failure.
    let out = wavemill(&["run", "--json", "--help"]);
    assert!(out.status.success() && String::from_utf8_lossy(&out.stdout).contains("Usage:"));
}

#[test]
fn there_is_one_document_of_everything_that_went_well() {
    let directory = scratch("documents");
    std::fs::write(directory.join("k.s"), "v_mov_b32 v1, 7\n").unwrap();
    std::fs::write(directory.join("f.s"), "s_mov_b64 s[4:5], 0\ns_load_dword s0, s[4:5], 0x0\n").unwrap();
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wavemill"));
        let out = command.args(args).current_dir(&directory).output().unwrap();
        (out.status.code(), String::from_utf8_lossy(&out.stdout).into_owned())
    };
    for (args, status) in [
        (&["run", "--json", "k.s"][..], 0),
        (&["run", "--json", "f.s"], 3),
        (&["run", "--json", "--show", "0:u8", "k.s", "--arg", "zeros:8"], 0),
        (&["info", "--json", "--gpus", "2"], 0),
        (&["isa", "list", "--mcpu", "gfx90a", "--json"], 0),
        (&["isa", "processors", "--json"], 0),
        (&["lint", "--json", "k.s", "--mcpu", "gfx90a"], 0),
        (&["exec", "--json", "-", "--", "true"], 0),
        (&["exec", "--json", "-", "--", "/no/such/program"], 127),
    ] {
        let (code, text) = run(args);
        assert_eq!(code, Some(status), "{args:?}: {text}");
        assert!(is_document(&text), "{args:?}: {text}");
    }
    assert!(
        run(&["exec", "--json", "-", "--", "/no/such/program"]).1.contains("\"error\": \"/no/such/program: ")
    );
}

#[test]
fn help_that_nobody_gets_is_no_success() {
    for args in [&["--help"][..], &["run", "--help"], &["--version"], &["isa", "processors"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_wavemill"));
        let out = command.args(args).stdout(full).output().unwrap();
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(1), "{args:?}: {said}");
        assert!(said.contains("wavemill: standard output: "), "{args:?}: {said}");
    }
}
