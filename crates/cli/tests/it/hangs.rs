//! Kernels that never end: what is said about them when their time is over, when somebody presses Ctrl-C, and meanwhile.

use crate::strangers::on_terminal;
use crate::{scratch, wavemill};
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

/// Three waves of a work-group come to a barrier, the fourth never does.
const STUCK: &str = "\
; run: --gpu gfx90a --grid 1024 --block 256
v_and_b32 v0, 0x3ff, v0
v_readfirstlane_b32 s6, v0
s_cmp_lt_u32 s6, 192
s_cbranch_scc1 wait
loop:
s_branch loop
wait:
s_barrier
s_endpgm
";

/// Writes 7 to its buffer, and then nothing.
const WRITES: &str = "\
; run: --gpu gfx90a --grid 64 --arg zeros:u32:1 --show 0:u32
s_load_dwordx2 s[4:5], s[0:1], 0x0
v_mov_b32 v1, 0
v_mov_b32 v2, 7
s_waitcnt lgkmcnt(0)
global_store_dword v1, v2, s[4:5]
loop:
s_sleep 1
s_branch loop
";

fn source(name: &str, text: &str) -> String {
    let path = scratch("hangs").join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn when_time_is_over_it_is_told_where_the_waves_are_and_what_they_wait_for() {
    let path = source("stuck.s", STUCK);
    let out = wavemill(&["run", &path, "--timeout", "0.3", "--threads", "1"]);
    let said = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(4), "{said}");
    assert!(said.starts_with("GPU fault: not done after 0.3 s\n"), "{said}");
    for part in [
        "stuck.s:9 (s_barrier), for the others of the work-group (work-group 0,0,0, wave 0, …)\n",
        "stuck.s:7 (s_branch 65535), for memory to change: the same again and again (work-group 0,0,0, wave 3",
    ] {
        assert!(said.contains(part), "no `{part}` in\n{said}");
    }
    assert!(said.contains("  waves       12 waves at the barrier at "), "{said}");
}

#[test]
fn ctrl_c_tells_the_same_and_leaves_the_buffers() {
    let path = source("writes.s", WRITES);
    let mut child = Command::new(env!("CARGO_BIN_EXE_wavemill"))
        .args(["run", &path, "--trace=from:writes.s:8,count:1", "-q"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    // The first instruction of the loop has run.
    while !line.contains("s_sleep") {
        line.clear();
        assert!(errors.read_line(&mut line).unwrap() > 0, "it ended");
    }
    wavemill_testing::signal(child.id(), "INT");
    let mut said = String::new();
    errors.read_to_string(&mut said).unwrap();
    let out = child.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(130), "{said}");
    assert!(said.contains("GPU fault: interrupted (Ctrl-C)\n"), "{said}");
    assert!(said.contains("  waves       1 wave at ") && said.contains("writes.s:"), "{said}");
    assert_eq!(String::from_utf8_lossy(&out.stdout), "7\n");
}

#[test]
fn a_terminal_shows_how_far_a_long_dispatch_is() {
    let path = source("long.s", STUCK);
    let said = on_terminal(&["run", &path, "--timeout", "1.7", "--threads", "1"]);
    assert!(said.contains("instructions: 0 of 4 work-groups (0%), 1 s"), "{said:?}");
    // The line is gone before anything else is said, and short dispatches have none.
    let (_, rest) = said.rsplit_once("work-groups (0%)").unwrap();
    assert!(rest.split_once("\r\x1b[K").is_some_and(|(_, r)| r.starts_with("GPU fault")), "{said:?}");
    let out = wavemill(&["run", &path, "--timeout", "1.2"]);
    assert!(!String::from_utf8_lossy(&out.stderr).contains("work-groups (0%)"));
    let short = on_terminal(&["eval", "s_nop 0"]);
    assert!(!short.contains("work-groups"), "{short}");
}
