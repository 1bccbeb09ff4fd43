//! `--trace`: instructions with what they changed.

use crate::{scratch, wavemill};
use std::process::Output;

/// Each lane writes three times its number to memory and its number to LDS, and reads that back.
const SOURCE: &str = "\
; run: --gpu gfx90a --grid 128 --block 128 --arg zeros:u32:128
s_load_dwordx2 s[4:5], s[0:1], 0x0
v_and_b32 v0, 0x3ff, v0
v_lshlrev_b32 v1, 2, v0
s_waitcnt lgkmcnt(0)
v_mul_u32_u24 v2, v0, 3
global_store_dword v1, v2, s[4:5]
v_cvt_f32_u32 v3, v2
s_cmp_eq_u32 s2, 0
s_cbranch_scc1 skip
s_nop 0
skip:
s_endpgm
";

fn trace(name: &str, options: &[&str]) -> (Output, String) {
    let path = scratch("trace").join(format!("{name}.s"));
    std::fs::write(&path, SOURCE).unwrap();
    let out = wavemill(&[&["run", "-q"], options, &[path.to_str().unwrap()]].concat());
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    (out, text)
}

#[test]
fn instructions_come_with_the_registers_and_the_memory_they_changed() {
    let (out, text) = trace("k", &["--trace=wave:0"]);
    assert_eq!(out.status.code(), Some(0), "{text}");
    for part in [
        "instructions, dispatch 0, work-group 0,0,0, wave 0\n",
        "  k.s:2          s_load_dwordx2 s[4:5], s[0:1], 0x0\n                     s[4:5] = 0x",
        "reads 8 bytes at the arguments+0x0: ",
        "  k.s:4          v_lshlrev_b32_e32 v1, 2, v0\n                     v1 = 0x4, +0x4 each (lanes 1-63)\n",
        "writes 4 bytes at argument 0+0x0, +0x4 each: 0x0, +0x3 each (lanes 0-63)\n",
        "v3 = 3.0 (lanes 1)\n",
        "  k.s:9          s_cmp_eq_u32 s2, 0\n                     scc = 1\n",
        "s_cbranch_scc1 1\n                     goes to k.s:13\n",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    assert!(!text.contains("s_nop"), "it was jumped over:\n{text}");
    assert!(!text.contains("wave 1"), "{text}");
}

#[test]
fn a_trace_is_of_what_was_asked_for() {
    let (_, all) = trace("all", &["--trace"]);
    assert!(all.contains("wave 0\n") && all.contains("wave 1\n"), "{all}");
    let (_, some) = trace("some", &["--trace=wave:1,lanes:0-3,from:some.s:7,count:2"]);
    let lines: Vec<&str> = some.lines().collect();
    assert_eq!(lines[0], "instructions, dispatch 0, work-group 0,0,0, wave 1", "{some}");
    assert!(lines[1].contains("some.s:7 ") && lines[1].contains("global_store_dword"), "{some}");
    // Wave 1 has work-items 64 up.
    let store = "writes 4 bytes at argument 0+0x100, +0x4 each: 0xc0, +0x3 each (lanes 0-3)";
    assert_eq!(lines[2].trim(), store);
    assert_eq!(lines[3].trim(), "some.s:8       v_cvt_f32_u32_e32 v3, v2");
    assert!(lines[4..].iter().all(|l| l.trim().starts_with("v3 = ")) && lines.len() == 8, "{some}");
    // To a file, and a place where nothing comes by.
    let file = scratch("trace").join("out.txt");
    let (out, told) = trace("file", &[&format!("--trace=from:0x8,to:0x10,file:{}", file.display())]);
    let written = std::fs::read_to_string(&file).unwrap();
    assert_eq!((out.status.code(), told.as_str()), (Some(0), ""));
    assert!(written.contains("v_and_b32_e32 v0, 0x3ff, v0") && !written.contains("v_lshl"), "{written}");
    let (_, told) = trace("nowhere", &["--trace=from:nowhere.s:77"]);
    assert!(told.starts_with("wavemill run: --trace: from:nowhere.s:77: no wave came there; "), "{told}");
    let (out, told) = trace("wrong", &["--trace=waves:0"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(
        told.contains("`waves:0` says nothing about a trace: kernel:, dispatch:, group:, wave:"),
        "{told}"
    );
}

#[test]
fn a_fault_is_the_last_line_of_a_trace() {
    let path = scratch("trace").join("fault.s");
    std::fs::write(&path, "s_mov_b64 s[4:5], 0\ns_load_dword s0, s[4:5], 0x10\ns_waitcnt lgkmcnt(0)\n")
        .unwrap();
    let out = wavemill(&["run", "--trace", path.to_str().unwrap()]);
    let text = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(3));
    let told = text.split("GPU fault").next().unwrap_or_default();
    assert!(
        told.ends_with(
            "s_load_dword s0, s[4:5], 0x10\n                     reads 4 bytes at 0x10: a fault\n"
        ),
        "{text}"
    );
}

#[test]
fn programs_are_told_what_to_trace() {
    let script = "echo \"$WAVEMILL_TRACE|$WAVEMILL_EVENTS\"";
    let directory = scratch("trace-exec");
    let exec = |options: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_wavemill"));
        let out = command.arg("exec").args(options).args(["--", "sh", "-c", script]).current_dir(&directory);
        let out = out.output().unwrap();
        (out.status.code(), String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned())
    };
    assert_eq!(exec(&["--trace=wave:0,lanes:1"]), (Some(0), "wave:0,lanes:1|\n".into()));
    let place = directory.canonicalize().unwrap();
    let (code, said) = exec(&["--trace=file:t.txt,wave:0", "--events", "e.json"]);
    assert_eq!((code, said), (Some(0), format!("wave:0,file:{0}/t.txt|{0}/e.json\n", place.display())));
    assert!(place.join("t.txt").exists() && place.join("e.json").exists());
    let (code, said) = exec(&["--trace=lanes:64"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("for '--trace[=<WHAT>]': lanes:64: a wave has lanes 0 to 63"), "{said}");
}
