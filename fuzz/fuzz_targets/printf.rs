//! See `targets/printf.rs`, which `cargo test` runs as well.
#![no_main]

#[path = "../targets/printf.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
