//! `wavemill lint`: places, exit statuses, JSON, and sources that are mended.

use crate::{scratch, wavemill};
use std::path::PathBuf;

/// A kernel without any of the waits it needs; comments say what is wrong with the next line.
const KERNEL: &str = "\
.amdgcn_target \"amdgcn-amd-amdhsa--gfx900\"
.text
.globl k
.type k,@function
k:
  s_load_dwordx2 s[0:1], s[4:5], 0x0
  v_mov_b32_e32 v0, 0
  global_load_dword v1, v0, s[0:1] // s[0:1]
again:
  v_readfirstlane_b32 s2, v1 // v1
  buffer_load_dword v2, off, s[0:3], 0 // s2: five wait states
  s_cbranch_scc1 again
  v_add_f32 v3, v2, v2 // v2
  s_endpgm
.size k, .-k
";

fn source(name: &str) -> (PathBuf, String) {
    let path = scratch("lint").join(name);
    std::fs::write(&path, KERNEL).unwrap();
    let shown = path.to_str().unwrap().to_owned();
    (path, shown)
}

#[test]
fn findings_have_places_and_ways_to_mend_them() {
    let (_, file) = source("findings.s");
    let out = wavemill(&["lint", &file]);
    assert_eq!(out.status.code(), Some(5));
    let text = String::from_utf8(out.stderr).unwrap();
    for line in [
        format!("{file}:8: wait: s0, s1 are used before the load into them is done [used-before-wait]"),
        format!("{file}:10: wait: v1 is used before the load into it is done [used-before-wait]"),
        format!("{file}:13: wait: v2 is used before the load into it is done [used-before-wait]"),
        "=>      0xc: global_load_dword v1, v0, s[0:1]".to_owned(),
        "before it: s_waitcnt lgkmcnt(0)".to_owned(),
        "before it: s_nop 4".to_owned(),
        "5 wait states are needed, 0 are there (s2)".to_owned(),
    ] {
        assert!(text.contains(&line), "{line:?} in\n{text}");
    }
}

#[test]
fn findings_as_json() {
    let (_, file) = source("json.s");
    let out = wavemill(&["lint", "--json", &file]);
    assert_eq!((out.status.code(), out.stderr.len()), (Some(5), 0));
    let text = String::from_utf8(out.stdout).unwrap();
    for line in [
        "\"check\": \"hazard\"",
        "\"kind\": \"wait-states\"",
        "\"kernel\": \"k\"",
        "\"line\": 11",
        "\"mend\": \"s_nop 4\"",
    ] {
        assert!(text.contains(line), "{line:?} in\n{text}");
    }
}

#[test]
fn a_source_is_mended() {
    let (path, file) = source("fix.s");
    assert_eq!(wavemill(&["lint", "--fix", &file]).status.code(), Some(5));
    let mended = std::fs::read_to_string(&path).unwrap();
    let added: Vec<&str> = mended.lines().filter(|l| !KERNEL.lines().any(|k| k == *l)).collect();
    assert_eq!(
        added,
        ["  s_waitcnt lgkmcnt(0)", "  s_waitcnt vmcnt(0)", "  s_nop 4", "  s_waitcnt vmcnt(0)"]
    );
    let again = wavemill(&["lint", &file]);
    assert_eq!(again.status.code(), Some(0), "{}", String::from_utf8_lossy(&again.stderr));
}

#[test]
fn what_cannot_be_checked_is_told() {
    let (path, file) = source("bad.s");
    std::fs::write(&path, "v_nonsense v0\n").unwrap();
    for (words, code, message) in [
        (vec!["lint", &file], 1, "v_nonsense"),
        (vec!["lint", "/nonexistent/k.hsaco"], 1, "/nonexistent/k.hsaco"),
        (vec!["lint", "--mcpu", "gfx1", &file], 1, "gfx1"),
        (vec!["lint", "--bogus", &file], 2, "--bogus"),
    ] {
        let out = wavemill(&words);
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(code), "{words:?}: {text}");
        assert!(text.contains(message), "{words:?}: {text}");
    }
    std::fs::write(&path, KERNEL).unwrap();
    let out = wavemill(&["lint", "--kernel", "other", &file]);
    assert_eq!(out.status.code(), Some(1));
}
