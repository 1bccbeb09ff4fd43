//! Fuzz targets over objects, without libFuzzer.

#[path = "../../../fuzz/targets/launch.rs"]
mod launch;
#[path = "../../../fuzz/targets/lines.rs"]
mod lines;

use std::path::{Path, PathBuf};
use wavemill_testing::fuzz::drive;

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn scratch() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

#[test]
fn source_lines_of_any_object() {
    let objects = repository("crates/object/tests/fixtures/objects");
    drive(
        "lines",
        &["debug-O0.so", "debug-O2.o", "debug-O2.zlib.o"].map(|n| objects.join(n)),
        scratch(),
        lines::run,
    );
}

#[test]
fn launches_of_any_object() {
    let names = [
        "vadd.gfx90a.clang-15.v5.O2.hsaco",
        "reduce.gfx900.clang-15.v2.O2.hsaco",
        "private.gfx90a.clang-15.v4.O0.hsaco",
        "printf.gfx90a.clang-15.v5.O2.hsaco",
        "atomics.gfx803.clang-15.v2.O2.hsaco",
    ];
    let fixtures = repository("tests/kernels/fixtures");
    drive("launch", &names.map(|n| fixtures.join(n)), scratch(), launch::run);
}
