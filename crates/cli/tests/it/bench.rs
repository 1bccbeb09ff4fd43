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
    for args in [&["bench", "teapot"][..], &["bench", "--simd", "mmx"], &["bench", "--seconds", "0"]] {
        let out = wavemill(args);
        assert_eq!(out.status.code(), Some(2), "{args:?}");
        assert!(out.stdout.is_empty() && !out.stderr.is_empty(), "{args:?}");
    }
}
