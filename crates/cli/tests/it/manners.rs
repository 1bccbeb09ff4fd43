//! What all commands have in common: documents, outputs that fail, names of GPUs. Each test takes the commands from
//! `--help`, so that a new one is missed.

use crate::documents::is_document;
use crate::{guide, scratch, wavemill};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Sources and objects for every command.
fn files(name: &str) -> PathBuf {
    let directory = scratch(name);
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/kernels/fixtures");
    for (from, to) in [("vadd.gfx90a.clang-15.v5.O2.hsaco", "vadd.hsaco"), ("fill.bundle", "fill.bundle")] {
        std::fs::copy(fixtures.join(from), directory.join(to)).unwrap();
    }
    let source = ".amdgcn_target \"amdgcn-amd-amdhsa--gfx90a\"\ns_nop 0\nv_mov_b32 v0, v1\ns_endpgm\n";
    std::fs::write(directory.join("k.s"), source).unwrap();
    std::fs::write(directory.join("bare.s"), "s_nop 0\n").unwrap();
    directory
}

/// The commands that have an option, each once.
fn having(option: &str) -> Vec<String> {
    let has = |words: &[String]| guide::options(words).iter().any(|[o, _]| o.contains(option));
    guide::commands().iter().filter(|w| has(w)).map(|w| w.join(" ")).collect()
}

/// Each command that takes `--json`, and a call whose set-up fails.
const FAILING: [(&str, &[&str], i32, &str); 9] = [
    ("inspect", &["inspect", "--json", "nothere"], 1, "nothere: No such file"),
    ("unbundle", &["unbundle", "--list", "--json", "nothere"], 1, "nothere: No such file"),
    ("lint", &["lint", "--json", "nothere.s"], 1, "nothere.s: No such file"),
    ("isa list", &["isa", "list", "--mcpu", "nothere", "--json"], 1, "no GPU `nothere`"),
    ("isa processors", &["isa", "processors", "--json", "--what"], 2, "unexpected argument '--what'"),
    ("run", &["run", "--json", "nothere.s"], 1, "nothere.s: No such file"),
    ("exec", &["exec", "--json", "-", "--gpu", "nothere", "--", "true"], 1, "no GPU `nothere`"),
    ("info", &["info", "--json", "--gpu", "nothere"], 1, "no GPU `nothere`"),
    ("bench", &["bench", "--json", "teapot"], 2, "teapot"),
];

#[test]
fn every_command_that_writes_json_writes_a_document_of_what_failed() {
    assert_eq!(having("--json"), FAILING.map(|(name, ..)| name), "all commands with --json");
    let directory = files("manners-json");
    for (name, words, status, error) in FAILING {
        let out = Command::new(env!("CARGO_BIN_EXE_wavemill"))
            .args(words)
            .current_dir(&directory)
            .output()
            .unwrap();
        let (text, said) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
        assert_eq!(out.status.code(), Some(status), "{name}: {said}");
        assert!(is_document(&text) && text.contains("\"error\": \""), "{name}: {text}");
        assert!(text.contains(error) && said.contains(error), "{name}: {text}{said}");
    }
}

#[test]
fn the_document_of_exec_goes_where_it_is_wanted() {
    let file = scratch("manners-exec").join("d.json");
    let name = file.to_str().unwrap();
    let out = wavemill(&["exec", "--json", name, "--gpu", "nothere", "--", "true"]);
    assert_eq!((out.status.code(), out.stdout.len()), (Some(1), 0));
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(is_document(&text) && text.contains("no GPU `nothere`"), "{text}");
    // Wrong usage, which is not taken for a program; and a program that has a status of its own and text before the document.
    let out = wavemill(&["exec", "--json=-", "--bogus", "--", "true"]);
    let text = String::from_utf8_lossy(&out.stdout);
    assert_eq!(out.status.code(), Some(2));
    assert!(is_document(&text) && text.contains("unexpected argument '--bogus'"), "{text}");
    let out = wavemill(&["exec", "--json", "-", "--", "sh", "-c", "echo --json -; exit 7"]);
    let text = String::from_utf8_lossy(&out.stdout);
    assert_eq!(out.status.code(), Some(7));
    let document = text.strip_prefix("--json -\n").unwrap();
    assert!(is_document(document) && document.contains("\"exit\": 7"), "{text}");
}

/// A call of each command that writes to standard output.
const WRITING: [&[&str]; 25] = [
    &["mc", "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "k.s"],
    &["asm", "k.s", "-o", "-"],
    &["link", "k.o", "-o", "-"],
    &["inspect", "vadd.hsaco"],
    &["disasm", "vadd.hsaco"],
    &["unbundle", "--list", "fill.bundle"],
    &["lint", "--json", "k.s"],
    &["isa", "list", "--mcpu", "gfx90a"],
    &["isa", "explain", "v_mov_b32"],
    &["isa", "search", "dpp"],
    &["isa", "processors"],
    &["run", "bare.s"],
    &["eval", "s_mov_b32 s0, 1"],
    &["exec", "--json", "-", "--", "true"],
    &["info"],
    &["completions", "bash"],
    &["bench", "--instructions", "v_mov_b32", "--seconds", "0.000001"],
    &["bench", "--instructions", "v_mov_b32", "--seconds", "0.000001", "--json"],
    &["inspect", "--json", "vadd.hsaco"],
    &["unbundle", "--list", "--json", "fill.bundle"],
    &["isa", "list", "--mcpu", "gfx90a", "--json"],
    &["isa", "processors", "--json"],
    &["run", "bare.s", "--json"],
    &["run", "bare.s", "-q", "--arg", "zeros:64", "--dump", "0:-"],
    &["info", "--json"],
];

#[test]
fn what_cannot_be_written_is_an_error_in_every_command() {
    let directory = files("manners-full");
    let mut asm = Command::new(env!("CARGO_BIN_EXE_wavemill"));
    asm.args(["asm", "-c", "k.s", "-o", "k.o"]).current_dir(&directory);
    assert!(asm.status().unwrap().success());
    let tried = |words: &[String]| WRITING.iter().any(|call| words.iter().zip(*call).all(|(a, b)| a == b));
    let left: Vec<_> = guide::commands().into_iter().filter(|w| !tried(w)).collect();
    assert_eq!(left, [["man"]], "it writes files");
    for words in WRITING {
        let command = || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_wavemill"));
            command.args(words).current_dir(&directory).stdin(Stdio::null()).stderr(Stdio::piped());
            command
        };
        assert!(command().stdout(Stdio::null()).status().unwrap().success(), "{words:?}");
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let out = command().stdout(full).spawn().unwrap().wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(1), "{words:?}: {said}");
        assert!(said.contains("standard output: No space left on device"), "{words:?}: {said}");
        assert_eq!(said.matches("No space").count(), 1, "{words:?}: {said}");
        // A pipe that nobody reads.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let out = command().stdout(writer).spawn().unwrap().wait_with_output().unwrap();
        assert_eq!(
            (out.status.code(), String::from_utf8_lossy(&out.stderr).as_ref()),
            (Some(1), ""),
            "{words:?}"
        );
    }
}

/// Each command that takes a GPU, with a product's name.
const PRODUCTS: [(&str, &[&str], &str); 11] = [
    ("asm", &["asm", "bare.s", "--mcpu", "Radeon VII", "-o", "bare.co"], ""),
    ("disasm", &["disasm", "vadd.hsaco", "--mcpu", "MI210"], "s_endpgm"),
    ("lint", &["lint", "bare.s", "--mcpu", "AMD Instinct MI100"], ""),
    ("isa list", &["isa", "list", "--mcpu", "R9 290X"], "v_add_i32"),
    ("isa explain", &["isa", "explain", "0xbf800000", "--mcpu", "Radeon R9 Fury X"], "on gfx803"),
    ("run", &["run", "bare.s", "--gpu", "MI210"], "1 wave"),
    ("eval", &["eval", "s_mov_b32 s0, 1", "--gpu", "Vega64"], "s0: 0 -> 1"),
    ("exec", &["exec", "--gpu", "MI100", "--", "amdgpu-arch"], "gfx908"),
    ("info", &["info", "--gpu", "Instinct MI250X"], "AMD Instinct MI250X"),
    (
        "bench",
        &["bench", "--instructions", "--mcpu", "R9 290X", "v_add_i32", "--seconds", "0.000001"],
        "v_add_i32",
    ),
    ("mc", &["mc", "-triple=amdgcn-amd-amdhsa", "-mcpu=MI210", "k.s"], "v_mov_b32"),
];

#[test]
fn products_are_known_everywhere() {
    let directory = files("manners-products");
    let run = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wavemill"));
        let out = command.args(words).current_dir(&directory).env_remove("WAVEMILL_GPU").output().unwrap();
        let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
        (out.status.code(), text(&out.stdout), text(&out.stderr))
    };
    let mut names: Vec<String> = having("--mcpu").into_iter().chain(having("--gpu <")).collect();
    names.push("mc".into());
    for name in &names {
        assert!(PRODUCTS.iter().any(|(tried, ..)| tried == name), "{name} is not tried");
    }
    for (name, words, wanted) in PRODUCTS {
        let (status, out, said) = run(words);
        assert!(status == Some(0) && out.contains(wanted), "{name}: {out}{said}");
        // What came later is said to be that, with the same words everywhere.
        let at = words.iter().position(|w| w.contains("-mcpu") || *w == "--gpu").unwrap();
        let mut later = words.to_vec();
        match words[at].contains('=') {
            true => later[at] = "-mcpu=gfx942",
            false => later[at + 1] = "gfx942",
        }
        let (status, _, said) = run(&later);
        assert!(matches!(status, Some(1 | 2)), "{name}: {status:?}");
        assert!(said.contains("`gfx942` is not one of GFX6 to gfx90a"), "{name}: {said}");
    }
    for name in ["inspect", "disasm", "unbundle"] {
        let more: &[&str] = if name == "unbundle" { &["--list"] } else { &[] };
        let (status, out, said) = run(&[&[name, "fill.bundle", "--target", "MI210"], more].concat());
        assert!(status == Some(0) && !out.is_empty(), "{name}: {said}");
    }
}

/// Every kind of file, by its content: names say nothing.
#[test]
fn files_are_what_they_hold() {
    let directory = scratch("manners-content");
    let given = files("manners-given");
    let object = std::fs::read(given.join("vadd.hsaco")).unwrap();
    let bundle = std::fs::read(given.join("fill.bundle")).unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/vadd.s");
    let source = std::fs::read_to_string(example).unwrap();
    // An archive of one member (ar(5)).
    let mut archive = b"!<arch>\n".to_vec();
    let header = format!("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", "k.o/", 0, 0, 0, "644", object.len());
    archive.extend([header.as_bytes(), &object].concat());
    let vadd = ["--kernel", "vadd", "--grid", "4", "--arg", "iota:f32:4", "--arg", "iota:f32:4"];
    let rest = ["--arg", "zeros:f32:4", "--arg", "4", "--show", "2:f32"];
    let vadd = [&vadd[..], &rest[..]].concat();
    let fill = ["--grid", "4", "--block", "4", "--arg", "zeros:16", "--arg", "u32:5", "--show", "0:u32"];
    for (name, bytes, args, wanted) in [
        ("object.s", &object[..], &vadd[..], "0 2 4 6\n"),
        ("archive.cl", &archive, &vadd, "0 2 4 6\n"),
        ("bundle", &bundle, &fill, "5 6 7 8\n"),
        ("source.hsaco", source.as_bytes(), &[], "0 2 4 6 8"),
        ("bare.png", b"v_mov_b32 v0, 1\n", &[], ""),
    ] {
        let path = directory.join(name);
        std::fs::write(&path, bytes).unwrap();
        let out = wavemill(&[&["run", "-q", path.to_str().unwrap()], args].concat());
        let text = String::from_utf8_lossy(&out.stdout);
        assert_eq!(out.status.code(), Some(0), "{name}: {}", String::from_utf8_lossy(&out.stderr));
        assert!(text.starts_with(wanted), "{name}: {text}");
    }
}
