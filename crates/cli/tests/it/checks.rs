//! `run --check`: bugs and their mended twins (tests/checks), every bug found at its line, nothing in the twin.
//!
//! A file has one bug; the line that it is found at ends with `; BUG CHECK KIND`. The twin has the lines behind `;+`, and not
//! those that end with `;-`. `; gpus:` says what to run on, `; status:` with which exit status, if not 5.

use crate::{scratch, wavemill};
use std::path::{Path, PathBuf};

/// The files of a check.
fn files(check: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/checks").join(check);
    let mut all: Vec<PathBuf> = std::fs::read_dir(root).expect("pairs").flatten().map(|e| e.path()).collect();
    all.retain(|p| p.extension().is_some_and(|e| e == "s"));
    all.sort();
    all
}

fn after<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    text.lines().find_map(|l| l.strip_prefix(word)).map(str::trim)
}

/// A finding: check, kind, its line and that of the other side.
type Finding = (String, String, [u32; 2]);

/// Runs a file with all checks: exit status, messages, and the findings.
fn run(path: &Path, report: &Path, options: &[&str]) -> (i32, String, Vec<Finding>) {
    let fixed = ["run", "-q", "--check", "--check-report", report.to_str().unwrap()];
    let out = wavemill(&[&fixed[..], options, &[path.to_str().unwrap()]].concat());
    let messages = String::from_utf8_lossy(&out.stderr).into_owned();
    let text = std::fs::read_to_string(report).unwrap_or_else(|e| panic!("no report: {e}\n{messages}"));
    let field = |line: &str, name: &str| {
        let from = line.split_once(&format!("\"{name}\": ")).map_or("", |(_, rest)| rest);
        from.trim_start_matches('"').split(['"', ',', '}']).next().unwrap_or_default().to_owned()
    };
    let findings = text.lines().filter(|l| l.contains("\"check\": ")).map(|l| {
        let (own, other) = l.split_once("\"other\": ").unwrap_or((l, ""));
        let line = |part: &str| field(part, "line").parse().unwrap_or(0);
        (field(l, "check"), field(l, "kind"), [line(own), line(other)])
    });
    (out.status.code().unwrap_or(-1), messages, findings.collect())
}

/// The bug that a line tells of.
fn bug(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split_once(" BUG ")?.1.split_whitespace();
    Some((words.next()?, words.next()?))
}

/// All pairs of a check; how many there are.
fn pairs(check: &str) -> usize {
    let mut count = 0;
    for path in files(check) {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(&path).expect("a pair");
        let gpus = after(&text, "; gpus:").expect("`; gpus:`");
        let status = after(&text, "; status:").map_or(5, |s| s.parse().unwrap());
        let (line, what) = (1..).zip(text.lines()).find_map(|(n, l)| Some((n, bug(l)?))).expect("a bug");
        let twin = text.lines().filter(|l| !l.ends_with(";-")).map(|l| l.strip_prefix(";+").unwrap_or(l));
        let twin = twin.collect::<Vec<_>>().join("\n");
        for gpu in gpus.split_whitespace() {
            count += 1;
            let dir = scratch(&format!("checks-{check}-{name}-{gpu}"));
            let (bug, mended) = (dir.join("bug.s"), dir.join("twin.s"));
            std::fs::write(&bug, &text).unwrap();
            std::fs::write(&mended, &twin).unwrap();
            let report = dir.join("report.json");
            let (code, messages, found) = run(&bug, &report, &["--gpu", gpu]);
            let found: Vec<_> = found.iter().map(|(c, k, [l, _])| ((c.as_str(), k.as_str()), *l)).collect();
            assert_eq!(found, [(what, line)], "{check}/{name} on {gpu}:\n{messages}");
            assert_eq!(code, status, "{check}/{name} on {gpu}:\n{messages}");
            let (code, messages, found) = run(&mended, &report, &["--gpu", gpu]);
            assert!(found.is_empty(), "the twin of {check}/{name} on {gpu}:\n{messages}\n{twin}");
            assert_eq!(code, 0, "the twin of {check}/{name} on {gpu}:\n{messages}");
        }
    }
    count
}

#[test]
fn mem() {
    assert!(pairs("mem") >= 55);
}

#[test]
fn init() {
    assert!(pairs("init") >= 60);
}

#[test]
fn race() {
    assert!(pairs("race") >= 57);
}

#[test]
fn sync() {
    assert!(pairs("sync") >= 26);
}

#[test]
fn wait() {
    assert!(pairs("wait") >= 44);
}

#[test]
fn hazard() {
    assert!(pairs("hazard") >= 36);
}

/// Pairs that compilers made of OpenCL and HIP: `run:` says how, and the kernel's name stands below it.
#[test]
fn compiled() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/checks/compiled");
    let mut count = 0;
    for (language, source) in [("opencl", "pairs.cl"), ("hip", "pairs.hip")] {
        let text = std::fs::read_to_string(root.join(source)).expect("pairs");
        let lines: Vec<&str> = text.lines().collect();
        for (i, line) in lines.iter().enumerate() {
            let Some(options) = line.strip_prefix("// run: ") else { continue };
            let kernel = lines[i + 1].split('(').next().unwrap().split_whitespace().last().unwrap();
            let own = lines[i..].iter().take_while(|l| **l != "}");
            let (bad, what) = (i as u32 + 1..).zip(own).find_map(|(n, l)| Some((n, bug(l)?))).expect("a bug");
            let options: Vec<&str> = options.split(' ').chain(["--kernel", kernel]).collect();
            for gpu in ["gfx803.clang-15", "gfx900.clang-19", "gfx908.clang-15", "gfx90a.clang-19"] {
                count += 1;
                let dir = scratch(&format!("checks-{language}-{kernel}-{gpu}"));
                let report = dir.join("report.json");
                let file = |twin: &str| root.join(format!("fixtures/{language}.{gpu}.{twin}.hsaco"));
                let (code, messages, found) = run(&file("bug"), &report, &options);
                let here = |(check, kind, at): &Finding| {
                    (check.as_str(), kind.as_str()) == what && at.contains(&bad)
                };
                assert!(
                    !found.is_empty() && found.iter().all(here),
                    "{kernel} on {gpu}: {found:?}\n{messages}"
                );
                assert_eq!(code, 5, "{kernel} on {gpu}:\n{messages}");
                let (code, messages, found) = run(&file("mended"), &report, &options);
                assert_eq!((code, found), (0, Vec::new()), "the twin of {kernel} on {gpu}:\n{messages}");
            }
        }
    }
    assert!(count >= 68, "{count} pairs");
}

#[test]
fn reports_have_all_there_is_to_say() {
    let dir = scratch("checks-report");
    let (source, sarif) = (dir.join("k.s"), dir.join("k.sarif"));
    let text = "; run: --gpu gfx90a --grid 64 --arg zeros:u32:61\n\
                s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\n\
                global_store_dword v1, v0, s[4:5]\ns_endpgm\n";
    std::fs::write(&source, text).unwrap();
    let (shown, report) = (source.to_str().unwrap(), sarif.to_str().unwrap());
    let out = wavemill(&["run", "--check=mem", "--check-report", report, "--gen-suppressions", shown]);
    let told = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(5), "{told}");
    let suppression = format!("mem:write-outside kernel=instructions place={shown}:5");
    for line in [
        &format!("{shown}:5: mem: a write of 4 bytes writes outside of every allocation [write-outside]"),
        "         5 | global_store_dword v1, v0, s[4:5]",
        "  lanes       61-63 (work-item 61,0,0)",
        ": 0 bytes past the end of argument 0 (device memory, 244 bytes at ",
        "  count       3 times",
        &suppression,
        "1 finding\n",
    ] {
        assert!(told.contains(line), "no `{line}` in\n{told}");
    }
    let sarif = std::fs::read_to_string(&sarif).unwrap();
    assert!(
        sarif.contains("\"ruleId\": \"mem/write-outside\"") && sarif.contains("\"startLine\": 5"),
        "{sarif}"
    );
    // What is known is not told, and another status may be asked for.
    let known = dir.join("known");
    std::fs::write(&known, suppression).unwrap();
    let out = wavemill(&["run", "-q", "--check", "--suppress", known.to_str().unwrap(), shown]);
    assert_eq!((out.status.code(), out.stderr.len()), (Some(0), 0));
    let out = wavemill(&["run", "-q", "--check", "--error-exitcode", "42", shown]);
    assert_eq!(out.status.code(), Some(42));
}

#[test]
fn wrong_options_are_told_before_anything_runs() {
    let dir = scratch("checks-wrong");
    let (source, known) = (dir.join("k.s"), dir.join("known"));
    std::fs::write(&source, "; run: --gpu gfx90a --grid 64 --show 0:u32 --arg zeros:u32:1\ns_endpgm\n")
        .unwrap();
    std::fs::write(&known, "mem\nmemory:all\n").unwrap();
    let (shown, known) = (source.to_str().unwrap(), known.to_str().unwrap());
    let cases: [(&[&str], i32, &str); 5] = [
        (&["--check=memory"], 2, "`memory` is no check; there are mem, init, race, sync, wait, hazard"),
        (&["--check", "--suppress", known], 1, "known:2: `memory` is no check"),
        (&["--check", "--suppress", "/nowhere/known"], 1, "/nowhere/known: "),
        (&["--check", "--check-report", "/nowhere/r.json"], 1, "/nowhere/r.json: "),
        (&["--check-report", "r.json"], 1, "--check-report is for --check"),
    ];
    for (options, status, message) in cases {
        let out = wavemill(&[&["run"], options, &[shown]].concat());
        let told = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(status), "{options:?}: {told}");
        assert!(told.contains(message) && out.stdout.is_empty(), "{options:?}: {told}");
    }
}
