//! The guide's page of wrong inputs, row by row.

use crate::scratch;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// A .npy file.
fn npy(descr: &str, data: &[u8]) -> Vec<u8> {
    let count = data.len() / 4;
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({count},), }}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((text.len() as u16).to_le_bytes());
    file.extend(text.as_bytes());
    file.extend(data);
    file
}

/// The files that the page speaks of.
fn files() -> PathBuf {
    let directory = scratch("wrong");
    let fixture = |name: &str| std::fs::read(repository("tests/kernels/fixtures").join(name)).unwrap();
    let object = fixture("vadd.gfx90a.clang-15.v5.O2.hsaco");
    let example = |name: &str| std::fs::read(repository("examples").join(name)).unwrap();
    let array = npy("<f4", &[0; 256]);
    let all: [(&str, &[u8]); 21] = [
        ("empty", b""),
        ("zeros.bin", &[0; 64]),
        ("script.sh", b"#!/bin/sh\necho hello\n"),
        ("cut.hsaco", &object[..100]),
        ("vadd.hsaco", &object),
        ("fill.bundle", &fixture("fill.bundle")),
        ("vadd.s", &example("vadd.s")),
        ("traps.s", &example("traps.s")),
        ("wrong.s", b"v_mov_b32 v0\n"),
        ("loop.s", b"L: s_branch L\n"),
        ("null.s", b"s_mov_b64 s[4:5], 0\ns_load_dword s0, s[4:5], 0x0\n"),
        ("badline.s", b"; run: --gird 64\ns_endpgm\n"),
        ("undefined.s", b".globl f\nf: s_getpc_b64 s[0:1]\ns_add_u32 s0, s0, missing@rel32@lo+4\n"),
        ("k.cl", b"kernel void k() {}\n"),
        ("f32.npy", &array),
        ("i32.npy", &npy("<i4", &[0; 256])),
        ("big.npy", &npy(">f4", &[0; 256])),
        ("object.npy", &npy("|O", &[0; 8])),
        ("cut.npy", &array[..20]),
        ("cut.png", b"\x89PNG\r\n\x1a\n\0\0"),
        ("cut.npz", b"PK\x03\x04"),
    ];
    for (name, bytes) in all {
        std::fs::write(directory.join(name), bytes).unwrap();
    }
    std::fs::create_dir_all(directory.join("directory")).unwrap();
    directory
}

/// Words as a shell splits them; quotes keep blanks.
fn words(text: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => all.push(String::new()),
            c => all.last_mut().unwrap().push(c),
        }
    }
    all
}

#[test]
fn wrong_input_is_answered_as_the_guide_says() {
    let directory = files();
    let page = std::fs::read_to_string(repository("docs/guide/src/errors.md")).unwrap();
    let rows: Vec<[&str; 3]> = page
        .lines()
        .filter(|l| l.starts_with("| `") && !l.starts_with("| `wavemill …`"))
        .map(|l| {
            let mut cells = l.trim_matches('|').splitn(3, " | ").map(str::trim);
            std::array::from_fn(|_| cells.next().expect(l).trim_matches('`').trim())
        })
        .collect();
    assert!(rows.len() >= 100, "{} rows", rows.len());
    let mut wrong = Vec::new();
    for [command, status, said] in rows {
        let out = Command::new(env!("CARGO_BIN_EXE_wavemill"))
            .args(words(command))
            .current_dir(&directory)
            .stdin(Stdio::null())
            .env_remove("WAVEMILL_GPU")
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&out.stderr);
        let code = out.status.code().map(|c| c.to_string());
        // A backtick at its end belongs to the message.
        if code.as_deref() != Some(status) || !errors.contains(said.trim_matches('`')) {
            wrong.push(format!("{command}\n  wanted {status}: {said}\n  got {code:?}: {errors}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The commands, each with its words.
pub fn commands() -> Vec<Vec<String>> {
    let listed = |words: &[String]| {
        let out = Command::new(env!("CARGO_BIN_EXE_wavemill")).args(words).arg("--help").output().unwrap();
        let text = String::from_utf8(out.stdout).unwrap();
        let list =
            text.split("\nCommands:\n").nth(1).unwrap_or_default().split("\n\n").next().unwrap_or_default();
        let names = list.lines().filter(|l| l.starts_with("  ") && !l.starts_with("   "));
        names.filter_map(|l| l.split_whitespace().next().map(str::to_owned)).filter(|n| n != "help").collect()
    };
    let mut all = Vec::new();
    let top: Vec<String> = listed(&[]);
    for name in top {
        let below: Vec<String> = listed(std::slice::from_ref(&name));
        if below.is_empty() {
            all.push(vec![name]);
        } else {
            all.extend(below.into_iter().map(|b| vec![name.clone(), b]));
        }
    }
    all
}

/// The options of a command, as `--help` has them, each with what it says about it.
pub fn options(words: &[String]) -> Vec<[String; 2]> {
    let out = Command::new(env!("CARGO_BIN_EXE_wavemill")).args(words).arg("--help").output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    let mut all: Vec<[String; 2]> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        let inner = line.trim_start();
        let indent = line.len() - inner.len();
        if line.is_empty() {
            continue;
        } else if indent == 0 {
            open = inner.ends_with(':') && inner != "Usage:" && inner != "Arguments:" && !inner.contains(' ');
        } else if open && indent <= 6 && inner.starts_with('-') {
            let (option, rest) = inner.split_once("  ").unwrap_or((inner, ""));
            all.push([option.to_owned(), rest.trim().to_owned()]);
        } else if let Some([_, said]) = all.last_mut().filter(|_| open && indent > 6) {
            if !said.is_empty() {
                said.push(' ');
            }
            said.push_str(inner);
        }
    }
    all.retain(|[option, _]| !option.contains("--help") && !option.contains("--version"));
    all
}

/// The page of options, as the commands themselves have it.
fn page_of_options() -> String {
    let mut page = String::from(
        "# Every option\n\nWhat each command's `--help` lists, which has more to say. This page is written by a test: \
         `WAVEMILL_WRITE_GUIDE=1 cargo test -p wavemill --test it guide`.\n",
    );
    for words in commands() {
        let all = options(&words);
        page += &format!("\n## {}\n\n", words.join(" "));
        if words == ["mc"] {
            page += "llvm-mc's options; `wavemill mc --help` lists them.\n";
            continue;
        }
        if all.is_empty() {
            page += "It has none.\n";
            continue;
        }
        page += "| Option | |\n|---|---|\n";
        for [option, said] in all {
            let cell = |text: &str| text.replace('|', "\\|").replace('<', "\\<").replace('[', "\\[");
            page += &format!("| `{}` | {} |\n", option.replace('|', "\\|"), cell(&said));
        }
    }
    page
}

#[test]
fn every_option_is_in_the_guide() {
    let path = repository("docs/guide/src/options.md");
    let page = page_of_options();
    assert!(page.contains("## isa explain") && page.contains("`--trace[=<WHAT>]`"), "{page}");
    if std::env::var_os("WAVEMILL_WRITE_GUIDE").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    // Wording may differ until somebody writes it anew; what there is may not.
    let (has, written) = (named(&page), named(&std::fs::read_to_string(&path).unwrap()));
    let difference =
        |a: &[String], b: &[String]| a.iter().filter(|x| !b.contains(x)).cloned().collect::<Vec<_>>();
    let (missing, gone) = (difference(&has, &written), difference(&written, &has));
    let how = "WAVEMILL_WRITE_GUIDE=1 writes it";
    assert!(
        has.len() > 80 && missing.is_empty() && gone.is_empty(),
        "options.md lacks {missing:?} and has {gone:?}; {how}"
    );
}

/// What a page of options has: command and option.
fn named(page: &str) -> Vec<String> {
    let mut command = "";
    let mut all = Vec::new();
    for line in page.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            command = name;
        } else if let Some(option) = line.strip_prefix("| `-") {
            let option = option.split('`').next().unwrap_or_default();
            let long = option.split("--").nth(1).or(option.strip_prefix('-')).unwrap_or(option);
            let name = long.split([' ', '[', '=', '<', ',']).next().unwrap_or_default();
            all.push(format!("{command} {name}"));
        }
    }
    all
}

/// Names of variables in the sources: those that a string holds, or that stand in help.
fn variables(directory: &Path, out: &mut std::collections::BTreeSet<String>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            variables(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            for part in text.split("WAVEMILL_").skip(1) {
                let name: String = part.chars().take_while(|c| c.is_ascii_uppercase() || *c == '_').collect();
                out.insert(format!("WAVEMILL_{name}"));
            }
        }
    }
}

#[test]
fn every_variable_is_in_the_guide() {
    let mut all = std::collections::BTreeSet::new();
    for name in std::fs::read_dir(repository("crates")).unwrap() {
        let sources = name.unwrap().path().join("src");
        // What only builds, tests and chores look at is no user's.
        if sources.is_dir() && !["xtask", "testing"].iter().any(|c| sources.parent().unwrap().ends_with(c)) {
            variables(&sources, &mut all);
        }
    }
    let page = std::fs::read_to_string(repository("docs/guide/src/environment.md")).unwrap();
    // Given by build scripts to the compiler.
    let inner = ["WAVEMILL_RUNTIME", "WAVEMILL_OPENCL", "WAVEMILL_COMGR_LIBRARY", "WAVEMILL_COMMIT"];
    let missing: Vec<_> =
        all.iter().filter(|n| !inner.contains(&n.as_str()) && !page.contains(&format!("`{n}`"))).collect();
    assert!(all.len() > 15 && missing.is_empty(), "environment.md does not have {missing:?}");
}

/// The indented block behind a heading.
fn block(page: &str, heading: &str) -> String {
    let behind = page.split_once(&format!("\n## {heading}\n")).expect(heading).1;
    let lines =
        behind.lines().skip_while(|l| l.is_empty()).take_while(|l| l.is_empty() || l.starts_with("    "));
    lines.map(|l| format!("{}\n", l.strip_prefix("    ").unwrap_or(l))).collect()
}

/// A line without the addresses of a run.
fn without_addresses(line: &str) -> String {
    let mut parts = line.split("0x7f");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out += "ADDRESS";
        out += part.trim_start_matches(|c: char| c.is_ascii_hexdigit());
    }
    out
}

#[test]
fn checks_report_what_their_pages_say() {
    let directory = scratch("guide-checks");
    for check in ["mem", "init", "race", "sync", "wait", "hazard"] {
        let page = std::fs::read_to_string(repository(&format!("docs/guide/src/check-{check}.md"))).unwrap();
        std::fs::write(directory.join("k.s"), block(&page, "A bug")).unwrap();
        let out = Command::new(env!("CARGO_BIN_EXE_wavemill"))
            .args(["run", "-q", &format!("--check={check}"), "k.s"])
            .current_dir(&directory)
            .env_remove("WAVEMILL_GPU")
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(5), "{check}:\n{told}");
        // `…` stands for lines left out.
        let mut lines = told.lines().map(without_addresses);
        let report = block(&page, "Its report");
        for wanted in report.lines().filter(|l| !l.is_empty() && l.trim() != "…").map(without_addresses) {
            assert!(lines.any(|l| l == wanted), "{check}: no `{wanted}` in\n{told}");
        }
    }
}
