//! `wavemill run` of kernels that print. The expectation is what the host's C library prints for the same calls
//! (`tests/kernels/printf.inc`).

use crate::{scratch, wavemill};
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
        assert_eq!(output.status.code(), Some(3), "{errors}");
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
        assert_eq!(output.status.code(), Some(3));
        assert_eq!(text(&output.stdout), "before the fault, unfinished\n");
        assert!(text(&output.stderr).starts_with("GPU fault: write of 4 bytes"));
    }
}

#[test]
fn assembly_can_print() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/printf.s");
    let output = wavemill(&["run", &file.display().to_string()]);
    let want: String = (0..8).map(|i| format!("{i} squared is {}\n", i * i)).collect();
    assert_eq!(printed(&output, "squares"), want);
}

#[test]
fn json_has_the_text() {
    let file = fixtures().join("printf.gfx90a.clang-19.v5.O2.hsaco");
    let output = run(&file, "items", 2, 2, &["--arg", "u32:2", "--json", "--repeat", "2"]);
    let json = text(&output.stdout);
    assert!(json.starts_with("{\n"), "{json}");
    assert_eq!(json.matches(", \"printf\": \"item 0 of 2\\nitem 1 of 2\\n\"}").count(), 2, "{json}");
}

/// A kernel in assembly whose only argument is hidden: its address is in s[4:5].
fn assembly(name: &str, kind: &str, function: &str, code: &str) -> Output {
    let source = format!(
        ".amdgcn_target \"amdgcn-amd-amdhsa--gfx90a\"
        .text
        .globl k
        .p2align 8
        .type k,@function
k:
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        v_mov_b32 v0, 0
        v_mov_b32 v1, 1
        s_waitcnt lgkmcnt(0)
        .type {function},@function
{function}:
        {code}
        s_endpgm
        .rodata
        .p2align 6
        .amdhsa_kernel k
                .amdhsa_kernarg_size 8
                .amdhsa_user_sgpr_kernarg_segment_ptr 1
                .amdhsa_next_free_vgpr 8
                .amdhsa_next_free_sgpr 16
                .amdhsa_accum_offset 8
        .end_amdhsa_kernel
        .amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.printf: ['1:1:4:one %d\\n', '2:1:4:%d %d\\n']
amdhsa.kernels:
  - {{.name: k, .symbol: k.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 0,
     .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 16, .vgpr_count: 8,
     .max_flat_workgroup_size: 256, .args: [{{.offset: 0, .size: 8, .value_kind: {kind}}}]}}
...
        .end_amdgpu_metadata
"
    );
    let path = scratch("print").join(name);
    std::fs::write(&path, source).unwrap();
    run(&path, "k", 1, 1, &[])
}

/// Stores dwords into the printf buffer from its start on.
fn stores(words: &[u32]) -> String {
    let store = |(i, w): (usize, &u32)| {
        format!(
            "v_mov_b32 v2, {w:#x}\n global_store_dword v0, v2, s[4:5] offset:{}\n",
            if i == 0 { 0 } else { 4 + 4 * i }
        )
    };
    words.iter().enumerate().map(store).collect()
}

#[test]
fn what_is_wrong_with_records_is_said() {
    let cases: &[(&[u32], &str, &str)] = &[
        (&[8, 1, 7], "one 7\n", ""),
        (&[16, 1, 7, 99, 1], "one 7\n", "there is no format string 0x63; the last 8 bytes of the buffer"),
        (
            &[16, 2, 7, 1, 8],
            "7 one 8\n",
            "printf(\"%d %d\\n\"): the format string has more conversions than there are",
        ),
        (&[4, 1], "", "a record is cut off"),
        (&[0xffff_fff0], "", "the kernel says it wrote 4294967280 bytes into the printf buffer"),
    ];
    for (i, (words, out, note)) in cases.iter().enumerate() {
        let output = assembly(&format!("records{i}.s"), "hidden_printf_buffer", "f", &stores(words));
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{stderr}");
        assert!(stdout.starts_with(&format!("{out}k: 1 work-groups")), "{stdout}");
        match note {
            &"" => assert_eq!(stderr, ""),
            note => assert!(stderr.starts_with("wavemill run: ") && stderr.contains(note), "{stderr}"),
        }
    }
}

#[test]
fn faults_of_null_hidden_arguments_name_them() {
    let load = "s_load_dword s6, s[4:5], 0x4";
    let output = assembly("queue.s", "hidden_multigrid_sync_arg", "f", load);
    let report = text(&output.stderr);
    assert!(report.starts_with("GPU fault: read of 4 bytes at 0x4"), "{report}");
    assert!(report.ends_with("(only `wavemill exec` has them): hidden_multigrid_sync_arg\n"), "{report}");
    let output = assembly("stub.s", "hidden_none", "__printf_alloc", load);
    let report = text(&output.stderr);
    assert!(report.contains("note: the compiler has linked the library's printf"), "{report}");
    let output = assembly("none.s", "hidden_none", "f", load);
    assert!(!text(&output.stderr).contains("note:"));
}
