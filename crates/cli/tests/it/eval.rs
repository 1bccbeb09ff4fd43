//! `wavemill eval` as a user meets it. What instructions do is tested elsewhere; here it is how that is drawn.

use crate::wavemill;
use std::io::Write;
use std::process::{Command, Stdio};

fn eval(words: &[&str]) -> (Option<i32>, String, String) {
    let out = wavemill(&[&["eval"], words].concat());
    let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    (out.status.code(), text(&out.stdout), text(&out.stderr))
}

fn fine(words: &[&str]) -> String {
    let (code, out, errors) = eval(words);
    assert_eq!((code, errors.as_str()), (Some(0), ""), "{words:?}");
    out
}

#[test]
fn changed_lanes_are_drawn_before_and_after() {
    // ROW_BCAST15 hands lane 15 of each row to the next row; rows 1 and 3 are enabled (manual 13.3.9).
    let text = fine(&["v_mov_b32_dpp v2, v0 row_bcast:15 row_mask:0xa", "v0=lane", "v2=-1"]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "v2: 32 of 64 lanes changed");
    assert_eq!(lines[1].split_whitespace().nth(1), Some("16"));
    assert!(lines[2].trim().starts_with("was") && lines[2].matches("-1").count() == 16, "{text}");
    assert!(lines[3].trim().starts_with("is") && lines[3].matches(" 15").count() == 16, "{text}");
    assert!(lines[4].contains("48") && lines[6].matches(" 47").count() == 16, "{text}");
    assert_eq!(lines.len(), 7);
}

#[test]
fn every_processor_and_kind_of_register() {
    assert_eq!(
        fine(&["--gpu", "tahiti", "s_mul_i32 s0, s1, 7; s_cmp_lg_u32 s0, 0", "s1=6"]),
        "s0: 0 -> 42 (0x2a)\nscc: 0x0 -> 0x1\n"
    );
    assert!(fine(&["--gpu", "MI100", "v_accvgpr_write_b32 a3, v1", "v1=7"]).starts_with("a3: 64 of 64"));
    let text = fine(&["v_add_f64 v[2:3], v[0:1], 1.0", "v[0:1]=f64:0.5"]);
    assert!(text.starts_with("v[2:3]: 64 of 64") && text.contains(" 1.5"), "{text}");
    let text = fine(&["v_cmp_gt_u32 vcc, 3, v0", "v0=lane"]);
    assert_eq!(text, "vcc: 0x0000000000000000 -> 0x0000000000000007 (lanes 0-2)\n");
    let text = fine(&["s_load_dword s0, s[4:5], 0x4\ns_waitcnt lgkmcnt(0)", "s[4:5]=buf:11,22,33"]);
    assert_eq!(text, "s0: 0 -> 22 (0x16)\n");
    let text = fine(&["ds_write_b32 v0, v1; s_waitcnt lgkmcnt(0)", "v0=8", "v1=5", "exec=1"]);
    assert_eq!(text, "LDS+8: 0 -> 5\n");
    assert_eq!(fine(&["s_nop 0"]), "nothing changed\n");
    assert!(fine(&["v_mov_b32 v0, 0x3fc00000"]).contains(" 1.5"), "bits that look like floats");
    assert!(fine(&["--as", "hex", "v_mov_b32 v0, 0x3fc00000"]).contains(" 0x3fc00000"));
}

#[test]
fn what_does_not_run_is_explained() {
    let refused = [
        (
            &["v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]", "--gpu", "gfx900"][..],
            1,
            "not available on gfx900",
        ),
        (&["v_mov_b32 v0"][..], 1, "eval:1:"),
        (&["v0=lane"][..], 2, "instructions are wanted"),
        (&["s_nop 0", "v0=five"][..], 1, "`v0=five`: `five` is not a number"),
        (&["s_nop 0", "a0=1", "--gpu", "gfx900"][..], 1, "gfx900 has no accumulation registers"),
        (&["s_nop 0", "--gpu", "gfx942"][..], 1, "`gfx942` is not one of GFX6 to gfx90a"),
        (&["s_nop 0", "--as", "f128"][..], 2, "no type `f128`"),
        (&["s_load_dword s0, s[4:5], 0x0"][..], 3, "read of 4 bytes at 0x0"),
        (&["L: s_branch L"][..], 3, "still ran after 10000000 instructions"),
        (&["s_trap 2"][..], 3, "s_trap 2"),
    ];
    for (words, code, message) in refused {
        let (status, out, errors) = eval(words);
        assert_eq!((status, out.as_str()), (Some(code), ""), "{words:?}: {errors}");
        assert!(errors.contains(message), "{words:?}: {errors}");
    }
}

#[test]
fn a_session_goes_on_with_the_same_wave() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_wavemill"))
        .args(["eval", "--interactive", "v0=lane"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = "s1=20\ns_add_u32 s0, s1, 1\nnonsense v0\ns_add_u32 s0, s0, s0\nv0\nreset\ns0\ngpu fiji\nv_add_u32 v1, vcc, v0, 3\nquit\nv9\n";
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let out = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success());
    assert!(text.starts_with("s0: 0 -> 21 (0x15)\ns0: 21 (0x15) -> 42 (0x2a)\nv0\n   0-15"), "{text}");
    assert!(text.contains("63\ns0: 0\nv1: 64 of 64 lanes changed\n"), "{text}");
    assert!(!text.contains("v9"), "{text}");
    assert!(String::from_utf8_lossy(&out.stderr).contains("nonsense"));
}
