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
}

#[test]
fn knows_what_it_cannot_measure() {
    for args in [
        &["bench", "teapot"][..],
        &["bench", "--simd", "mmx"],
        &["bench", "--engine", "steam"],
        &["bench", "--seconds", "0"],
        &["bench", "--instructions", "teapot"],
        &["bench", "--instructions", "--mcpu", "gfx1"],
        &["bench", "--mcpu", "gfx900"],
    ] {
        let out = wavemill(args);
        assert_eq!(out.status.code(), Some(2), "{args:?}");
        assert!(out.stdout.is_empty() && !out.stderr.is_empty(), "{args:?}");
    }
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
