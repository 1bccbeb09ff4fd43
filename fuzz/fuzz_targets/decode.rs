//! See `targets/decode.rs`, which `cargo test` runs as well.
#![no_main]

#[path = "../targets/decode.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
