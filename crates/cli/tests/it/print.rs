//! `wavemill run` of kernels that print. The expectation is what the host's C library prints for the same calls
//! (`tests/kernels/printf.inc`).

use crate::wavemill;
use std::path::{Path, PathBuf};
use std::process::Output;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/kernels/fixtures")
}

/// Fixtures of `printf.cl` or `printf.hip`.
fn all(ending: &str) -> Vec<PathBuf> {
    let files = std::fs::read_dir(fixtures()).unwrap().map(|f| f.unwrap().path());
    let name = |p: &PathBuf| p.file_name().unwrap().to_string_lossy().into_owned();
    let mut files: Vec<PathBuf> =
        files.filter(|p| name(p).starts_with("printf.") && name(p).ends_with(ending)).collect();
    files.sort();
    files
}

fn run(file: &Path, kernel: &str, grid: u32, block: u32, more: &[&str]) -> Output {
    let (grid, block) = (grid.to_string(), block.to_string());
    let file = file.display().to_string();
    wavemill(&[&["run", &file, "--kernel", kernel, "--grid", &grid, "--block", &block], more].concat())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

const ARGUMENTS: [&str; 14] = [
    "--arg",
    "i32:-42",
    "--arg",
    "u32:3000000001",
    "--arg",
    "i64:-1234567890123",
    "--arg",
    "f32:3.14159274",
    "--arg",
    "f64:-12345.678901234567",
    "--arg",
    "i32:0",
    "--arg",
    "f32:0",
];

/// What the kernel printed: the report's line is the last.
fn printed(output: &Output, kernel: &str) -> String {
    let errors = text(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{errors}");
    let out = text(&output.stdout);
    let (lines, report) = out.trim_end().rsplit_once('\n').unwrap();
    assert!(report.starts_with(&format!("{kernel}: ")), "{report}");
    format!("{lines}\n")
}

#[test]
fn opencl_prints_what_the_host_prints() {
    let expected = std::fs::read_to_string(fixtures().join("printf.expected")).unwrap();
    // What C has and OpenCL C does not.
    let (common, _) = expected.split_once("stars: ").unwrap();
    let word = "b2d05e01";
    let vectors = format!(
        "vectors: -42,7 1,2,-42 {} {} -42,1\n",
        [(256 - 42).to_string().as_str(); 8].join(","),
        [word; 16].join(",")
    );
    let want = format!("{common}{vectors}");
    let files = all(".hsaco");
    assert!(files.len() >= 9);
    for file in files {
        let output = run(&file, "calls", 1, 1, &ARGUMENTS);
        assert_eq!(printed(&output, "calls"), want, "{}", file.display());
        let output = run(&file, "items", 200, 50, &["--arg", "u32:130", "--deterministic"]);
        let want: String = (0..130).map(|i| format!("item {i} of 130\n")).collect();
        assert_eq!(printed(&output, "items"), want, "{}", file.display());
    }
}

#[test]
fn hip_prints_what_the_host_prints() {
    let want = std::fs::read_to_string(fixtures().join("printf.expected")).unwrap();
    let files = all(".bundle");
    assert!(files.len() >= 4);
    for file in files {
        let output = run(&file, "calls", 1, 1, &ARGUMENTS);
        assert_eq!(printed(&output, "calls"), want, "{}", file.display());
        let lines: Vec<String> =
            (0..130).map(|i| format!("item {i} of 130 is {}", ["even", "odd"][i % 2])).collect();
        let output = run(&file, "items", 200, 50, &["--arg", "u32:130", "--deterministic"]);
        assert_eq!(printed(&output, "items").lines().collect::<Vec<_>>(), lines, "{}", file.display());
        // In whatever order, but each of them whole and once.
        let output = run(&file, "items", 2000, 50, &["--arg", "u32:130", "--threads", "4"]);
        let text = printed(&output, "items");
        let mut got: Vec<&str> = text.lines().collect();
        let mut want: Vec<&str> = lines.iter().map(String::as_str).collect();
        got.sort_unstable();
        want.sort_unstable();
        assert_eq!(got, want, "{}", file.display());
    }
}

#[test]
fn assertions_fail_with_their_message() {
    for file in all(".bundle") {
        let output = run(&file, "asserts", 6, 6, &["--arg", "u32:5"]);
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{errors}");
        let (message, report) = errors.split_once('\n').unwrap();
        assert!(message.starts_with("printf.hip:"), "{errors}");
        assert!(message.ends_with("Device-side assertion `i < n' failed."), "{errors}");
        assert!(report.starts_with("GPU fault: the kernel called abort (s_trap 2)\n"), "{errors}");
    }
}

#[test]
fn kernels_allocate_memory() {
    for file in all(".bundle") {
        for (bytes, how) in
            [("u32:16", "--deterministic"), ("u32:16", "--threads=2"), ("u32:5000", "--threads=2")]
        {
            let more = ["--arg", "zeros:1024", "--arg", bytes, "--show", "0:u32:256", how];
            let output = run(&file, "allocates", 256, 64, &more);
            let want: Vec<String> = (0..256).map(|i| (3 * i).to_string()).collect();
            let text = printed(&output, "allocates");
            let got: Vec<&str> = text.split_whitespace().collect();
            assert_eq!(got, want, "{} {bytes} {how}", file.display());
        }
    }
}

#[test]
fn text_comes_before_the_fault_it_explains() {
    for file in all(".hsaco") {
        let output = run(&file, "faulty", 1, 1, &["--arg", "zeros:64"]);
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(text(&output.stdout), "before the fault, unfinished\n");
        assert!(text(&output.stderr).starts_with("GPU fault: write of 4 bytes"));
    }
}

#[test]
fn json_has_the_text() {
    let file = fixtures().join("printf.gfx90a.clang-19.v5.O2.hsaco");
    let output = run(&file, "items", 2, 2, &["--arg", "u32:2", "--json", "--repeat", "2"]);
    let json = text(&output.stdout);
    assert!(json.starts_with("{\n"), "{json}");
    assert_eq!(json.matches(", \"printf\": \"item 0 of 2\\nitem 1 of 2\\n\"}").count(), 2, "{json}");
}
