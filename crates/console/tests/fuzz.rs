//! The fuzz targets over what users hand us, without libFuzzer.

#[path = "../../../fuzz/targets/assemble.rs"]
mod assemble;
#[path = "../../../fuzz/targets/catalyst.rs"]
mod catalyst;
#[path = "../../../fuzz/targets/decode.rs"]
mod decode;
#[path = "../../../fuzz/targets/launch.rs"]
mod launch;
#[path = "../../../fuzz/targets/lines.rs"]
mod lines;
#[path = "../../../fuzz/targets/object.rs"]
mod object;
#[path = "../../../fuzz/targets/printf.rs"]
mod printf;

use std::path::{Path, PathBuf};
use wavemill_asm::clrx;
use wavemill_testing::fuzz::drive;

/// Where compiled objects are.
const OBJECTS: &str = "crates/object/tests/fixtures/objects";

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn scratch() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

/// The files of a directory whose names end so.
fn files(directory: &str, ends: &[&str]) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(repository(directory)).unwrap().map(|e| e.unwrap().path());
    let mut all: Vec<PathBuf> =
        entries.filter(|p| ends.iter().any(|e| p.to_string_lossy().ends_with(e))).collect();
    all.sort();
    all
}

/// OpenCL sources and binaries of Catalyst; `who` uses them.
fn containers(who: &str) -> Vec<PathBuf> {
    let features = std::fs::read_to_string(repository("tests/catalyst/features.s")).unwrap();
    let heads = [(32, "Bonaire"), (64, "Bonaire"), (32, "Fiji"), (64, "Fiji"), (64, "GFX900")];
    let mut all = vec![repository("tests/catalyst/blur.s")];
    for (bits, gpu) in heads {
        let text = format!(".amdcl2\n.{bits}bit\n.gpu {gpu}\n{features}");
        let output = clrx::assemble(&clrx::Options::default(), "seed", text.clone().into_bytes());
        let binary = output.binary.expect("a source of the corpus assembles");
        for (ending, bytes) in [("s", text.into_bytes()), ("bin", binary)] {
            let path = scratch().join(format!("{who}-{gpu}-{bits}.{ending}"));
            std::fs::write(&path, bytes).unwrap();
            all.push(path);
        }
    }
    all
}

#[test]
fn any_text_to_the_assembler() {
    let mut seeds = files("crates/asm/tests/golden", &[".s"]);
    seeds.extend(files("crates/asm/tests/amd", &[".s"]));
    drive("assemble", &seeds, scratch(), assemble::run);
}

#[test]
fn any_instruction_words() {
    drive("decode", &files(OBJECTS, &[".so"]), scratch(), decode::run);
}

#[test]
fn any_object() {
    drive("object", &files(OBJECTS, &[".o", ".so", ".zst"]), scratch(), object::run);
}

#[test]
fn any_printf_records() {
    drive("printf", &[repository("fuzz/seeds/printf")], scratch(), printf::run);
}

#[test]
fn any_catalyst_container() {
    drive("catalyst", &containers("catalyst"), scratch(), catalyst::run);
}

#[test]
fn source_lines_of_any_object() {
    let objects = repository(OBJECTS);
    let seeds = ["debug-O0.so", "debug-O2.o", "debug-O2.zlib.o"].map(|n| objects.join(n));
    drive("lines", &seeds, scratch(), lines::run);
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
    let mut seeds: Vec<PathBuf> = names.iter().map(|n| fixtures.join(n)).collect();
    seeds.extend(containers("launch"));
    drive("launch", &seeds, scratch(), launch::run);
}
