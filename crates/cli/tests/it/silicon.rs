//! Options that choose what memory does where the hardware is less strict than a report: `--bounds`, `--faults`, `--caches`,
//! `--xnack`.

use crate::{scratch, wavemill};
use std::process::Output;

/// Runs a source of its own with options.
fn run(name: &str, source: &str, options: &[&str]) -> Output {
    let path = scratch("silicon").join(format!("{name}.s"));
    std::fs::write(&path, source).unwrap();
    wavemill(&[&["run", path.to_str().unwrap()], options].concat())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Hardware protects pages of 4 KiB: what reads 4 bytes behind an array of 40 is a fault to the byte, and none to the page. Scalar
/// loads, which compilers widen within a page, may read on to its end in either case.
#[test]
fn bounds_are_those_of_bytes_or_of_pages() {
    let load = |instruction: &str| {
        format!(
            "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_mov_b32 v1, 0\ns_waitcnt lgkmcnt(0)\n{instruction}\ns_waitcnt 0\n\
             v_mov_b32 v3, 7\nglobal_store_dword v1, v3, s[4:5]\n"
        )
    };
    let vector = load("global_load_dword v2, v1, s[4:5] offset:40");
    let scalar = load("s_load_dwordx8 s[8:15], s[4:5], 0x20");
    let common = ["--arg", "zeros:40", "--grid", "1", "--show", "0:u32:1", "-q"];
    for (name, source, bounds, status) in [
        ("vector", &vector, None, 3),
        ("vector", &vector, Some("exact"), 3),
        ("vector", &vector, Some("page"), 0),
        ("scalar", &scalar, None, 0),
        ("scalar", &scalar, Some("exact"), 0),
        ("scalar", &scalar, Some("page"), 0),
    ] {
        let option = bounds.map_or(vec![], |b| vec!["--bounds", b]);
        let output = run(name, source, &[&common[..], &option].concat());
        assert_eq!(output.status.code(), Some(status), "{name} {bounds:?}: {}", text(&output.stderr));
        assert_eq!(text(&output.stdout).trim(), if status == 0 { "7" } else { "0" }, "{name} {bounds:?}");
    }
    // The next page is nobody's in any case.
    let far = vector.replace("offset:40", "offset:4092").replace("v_mov_b32 v1, 0", "v_mov_b32 v1, 0x2000");
    let output = run("far", &far, &[&common[..], &["--bounds", "page"]].concat());
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert_ne!(run("far", &far, &["--bounds", "loose"]).status.code(), Some(0));
}

/// Manual 3.11: a violation sets TRAPSTS.mem_viol (bit 8), which stays; 9.1.5 and 10.6: reads give zero, writes are dropped. The
/// report is the default.
#[test]
fn violations_are_told_or_noted() {
    let source = "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_mov_b32 v0, 0\nv_mov_b32 v1, 0x10\nv_mov_b32 v2, 5\ns_waitcnt lgkmcnt(0)\n\
        global_load_dword v2, v[0:1], off\ns_waitcnt vmcnt(0)\nglobal_store_dword v[0:1], v2, off\ns_waitcnt vmcnt(0)\n\
        s_getreg_b32 s6, hwreg(HW_REG_TRAPSTS, 8, 1)\nv_mov_b32 v3, s6\nglobal_store_dwordx2 v0, v[2:3], s[4:5]\n";
    let shown = ["--arg", "zeros:u32:2", "--grid", "1", "-q", "--show", "0:u32:2"];
    for option in [&[][..], &["--faults", "report"]] {
        let output = run("violation", source, &[&shown[..], option].concat());
        assert_eq!(output.status.code(), Some(3));
        assert!(
            text(&output.stderr).contains("GPU fault: read of 4 bytes at 0x1000000000"),
            "{}",
            text(&output.stderr)
        );
    }
    let output = run("violation", source, &[&shown[..], &["--faults", "architectural"]].concat());
    assert_eq!(
        (output.status.code(), text(&output.stdout).trim()),
        (Some(0), "0 1"),
        "{}",
        text(&output.stderr)
    );
}

/// Manual 8.2.3 and 9.1.10: the scalar cache does not see what vector stores write until S_DCACHE_INV, the vector cache of the
/// first level keeps what scalar stores change behind it. Without the option there are no caches.
#[test]
fn caches_keep_what_nobody_invalidates() {
    let program = |maintenance: &str| {
        format!(
            "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_mov_b32 v0, 0\nv_mov_b32 v1, 9\ns_waitcnt lgkmcnt(0)\n\
             s_load_dword s6, s[4:5], 0x0\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v0, v1, s[4:5]\ns_waitcnt vmcnt(0)\n\
             {maintenance}s_load_dword s7, s[4:5], 0x0\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v2, s7\n\
             global_store_dword v0, v2, s[4:5] offset:4\n"
        )
    };
    let arguments = ["--arg", "zeros:u32:2", "--grid", "1", "--show", "0:u32:2", "-q"];
    for (maintenance, options, want) in
        [("", &[][..], "9 9"), ("", &["--caches"], "9 0"), ("s_dcache_inv\n", &["--caches"], "9 9")]
    {
        let output = run("caches", &program(maintenance), &[&arguments[..], options].concat());
        assert_eq!(
            text(&output.stdout).trim(),
            want,
            "{maintenance:?} {options:?}: {}",
            text(&output.stderr)
        );
    }
}

/// `exec` hands these on to the library; a GPU without XNACK cannot be asked for it.
#[test]
fn exec_hands_options_on() {
    let script = "echo $HSA_XNACK $WAVEMILL_BOUNDS $WAVEMILL_VIOLATIONS $WAVEMILL_CACHES";
    let options = ["--xnack", "--bounds", "exact", "--faults", "architectural", "--caches"];
    let program = ["--", "sh", "-c", script];
    let output = wavemill(&[&["exec", "--gpu", "mi210"], &options[..], &program].concat());
    assert_eq!(text(&output.stdout).trim(), "1 exact architectural 1", "{}", text(&output.stderr));
    let output = wavemill(&["exec", "--gpu", "gfx803", "--xnack", "--", "true"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("--xnack: gfx803 has no XNACK"), "{}", text(&output.stderr));
}
