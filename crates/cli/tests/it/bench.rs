//! `wavemill bench`.

use crate::wavemill;

#[test]
fn measures_every_kernel() {
    let out = wavemill(&["bench", "--seconds", "0.001", "--json"]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).unwrap();
    for kernel in ["valu", "partial", "salu", "copy", "gather", "lds", "mfma"] {
        assert!(text.contains(&format!("\"kernel\": \"{kernel}\"")), "{kernel} is missing in {text}");
    }
    assert!(text.contains("\"simd\": \"portable\""), "{text}");
    assert!(!text.contains("null"), "{text}");
    // An engine in one of its kinds; the JIT where it writes code for AVX2.
    let with_avx2 = text.matches("\"simd\": \"avx2\"").count() == 2 * 7;
    let out = wavemill(&["bench", "valu", "--seconds", "0.001", "--engine", "interp", "--simd", "portable"]);
    let text = String::from_utf8(out.stdout).unwrap();
    assert_eq!((out.status.code(), text.lines().count()), (Some(0), 2), "{text}");
    if with_avx2 {
        let args = ["bench", "valu", "--seconds", "0.001", "--engine", "jit", "--simd", "avx2"];
        let text = String::from_utf8(wavemill(&args).stdout).unwrap();
        assert!(text.contains("\n  jit avx2 "), "{text}");
    }
}

#[test]
fn knows_what_it_cannot_measure() {
    for args in [
        &["bench", "teapot"][..],
        &["bench", "--simd", "mmx"],
        &["bench", "--engine", "steam"],
        &["bench", "--engine", "plain", "--simd", "avx2"],
        &["bench", "--seconds", "0"],
        &["bench", "--instructions", "teapot"],
        &["bench", "--instructions", "--mcpu", "gfx1"],
        &["bench", "--mcpu", "gfx900"],
        &["bench", "--opencl", "teapot"],
        &["bench", "--opencl", "--runs", "0"],
        &["bench", "--small"],
        &["bench", "--runs", "3"],
        &["bench", "--launch", "vadd"],
        &["bench", "--launch", "--opencl"],
        &["bench", "--launch", "--runs", "0"],
    ] {
        let out = wavemill(args);
        assert_eq!(out.status.code(), Some(2), "{args:?}");
        assert!(out.stdout.is_empty() && !out.stderr.is_empty(), "{args:?}");
    }
}

/// Launches are measured on each engine that there is, in units that are told.
#[test]
fn measures_launches() {
    let out = wavemill(&["bench", "--launch", "--small", "--runs", "1", "--json"]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).unwrap();
    for name in ["launch", "wave", "group", "threads", "threads-wall", "start"] {
        assert!(text.contains(&format!("\"name\": \"{name}\"")), "{name} is missing in {text}");
    }
    assert!(text.contains("\"engine\": \"interp\"") && text.contains("\"unit\": \"ns\""), "{text}");
}

/// Every lane-wise instruction, and every scalar one that does not jump, can be measured.
#[test]
fn measures_instructions() {
    let args = ["bench", "--instructions", "--seconds", "0.000001", "--json", "--simd", "portable"];
    let out = wavemill(&args);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).unwrap();
    for name in ["v_add_u32", "v_madak_f16", "v_div_scale_f64", "v_pk_fma_f16", "s_mul_i32", "ds_add_u32"] {
        assert!(text.contains(&format!("\"instruction\": \"{name}\"")), "{name} is missing");
    }
    assert!(text.contains("\"ratio\": "), "{text}");
    // What cannot be measured says why; no text of ours fails to assemble or to run.
    let out = wavemill(&["bench", "--instructions", "_f16", "--seconds", "0.000001"]);
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(
        text.contains("v_pk_fma_f16") && !text.contains("v_add_u32 v") && !text.contains("error"),
        "{text}"
    );
    // Older generations have other names.
    let out = wavemill(&["bench", "--instructions", "--mcpu", "gfx700", "v_add", "--seconds", "0.000001"]);
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(out.status.success() && text.contains("v_add_i32 v"), "{text}");
}

/// The OpenCL kernels run on both engines, write the same, and a run can be compared with an earlier one.
#[test]
fn opencl_kernels_and_an_earlier_run() {
    let kernels = ["vadd", "histogram", "sgemm-tiled-512", "bitonic-step"];
    let args = [&["bench", "--opencl", "--small", "--runs", "1", "--json"][..], &kernels].concat();
    let out = wavemill(&args);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).unwrap();
    for kernel in kernels {
        assert!(text.contains(&format!("\"kernel\": \"{kernel}\"")), "{kernel} is missing in {text}");
    }
    assert!(text.contains("\"host\"") && text.contains("\"engine\": \"interp\""), "{text}");
    let file = std::env::temp_dir().join(format!("wavemill-bench-{}.json", std::process::id()));
    std::fs::write(&file, &text).unwrap();
    let path = file.to_str().unwrap();
    let again = wavemill(&["bench", "--opencl", "--small", "--runs", "1", "--compare", path, "vadd"]);
    let stray = wavemill(&["bench", "--opencl", "--small", "--compare", "/nowhere/at/all", "vadd"]);
    std::fs::remove_file(&file).unwrap();
    assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stderr));
    assert!(String::from_utf8_lossy(&again.stdout).contains("times before"));
    assert_eq!(stray.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&stray.stderr).contains("/nowhere/at/all"));
}
