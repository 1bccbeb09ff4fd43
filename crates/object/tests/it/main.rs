//! One test binary for the whole crate. What is expected comes from LLVM's tools, by `fixtures/make`.

mod bundle;
mod debug;
mod descriptor;
mod kernel_code;
mod lines;
mod link;
mod metadata;
mod objects;
mod target_id;

/// Reads a fixture.
fn fixture(name: &str) -> String {
    let path = format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Reads a fixture of hexadecimal bytes.
fn hex(name: &str) -> Vec<u8> {
    let byte = |digits: &str| u8::from_str_radix(digits, 16).expect("two hexadecimal digits");
    fixture(name).split_whitespace().map(byte).collect()
}
