//! `wavemill run` on what people have: bare instructions, standard input, and sources that a compiler must see first.
//! The compiler here is a script that does what clang would; with the real one, `cargo xtask acid` tries it.

use crate::{scratch, wavemill};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn fed(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_wavemill"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

/// Writes its lane numbers, times a factor, to the buffer in the arguments.
const BARE: &str = "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_and_b32 v0, 0x3ff, v0\nv_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\n\
    v_mul_u32_u24 v2, v0, 3\nglobal_store_dword v1, v2, s[4:5]\n";

#[test]
fn bare_instructions_run_from_a_file_and_from_standard_input() {
    let out = fed(&["run", "-", "--arg", "zeros:i32:64", "--show", "0:i32:5"], BARE);
    assert_eq!(text(&out.stderr), "");
    assert!(
        text(&out.stdout).starts_with("0 3 6 9 12\ninstructions: 1 work-groups, 1 waves"),
        "{}",
        text(&out.stdout)
    );
    let path = scratch("bare").join("notes.txt");
    std::fs::write(&path, BARE).unwrap();
    let out = wavemill(&[
        "run",
        path.to_str().unwrap(),
        "--gpu",
        "MI100",
        "--arg",
        "zeros:i32:64",
        "--show",
        "0:i32:3",
        "-q",
    ]);
    assert_eq!(
        (text(&out.stdout).as_str(), out.status.code()),
        ("0 3 6\n", Some(0)),
        "{}",
        text(&out.stderr)
    );
    // Mistakes and faults have the lines of what the user wrote.
    let out = fed(&["run", "-"], "s_nop 0\nv_mov_b32 v0\n");
    assert!(text(&out.stderr).contains("<stdin>:2:"), "{}", text(&out.stderr));
    let out = fed(
        &["run", "-"],
        "s_nop 0\ns_mov_b64 s[4:5], 0\n\ns_load_dword s0, s[4:5], 0x0\ns_waitcnt lgkmcnt(0)\n",
    );
    assert_eq!(out.status.code(), Some(3));
    assert!(text(&out.stderr).contains("at <stdin>:4\n"), "{}", text(&out.stderr));
}

#[test]
fn faults_in_assembly_have_lines_also_behind_macros() {
    let path = scratch("lines").join("k.s");
    let source = ".macro load d\n s_nop 0\n s_load_dword \\d, s[4:5], 0x0\n.endm\ns_mov_b64 s[4:5], 0\nload s0\ns_waitcnt lgkmcnt(0)\n";
    std::fs::write(&path, source).unwrap();
    let out = wavemill(&["run", path.to_str().unwrap()]);
    assert!(text(&out.stderr).contains("k.s:6\n"), "{}", text(&out.stderr));
}

/// Compilers give line 0 to what they cannot place: the report has the line before it, and says so.
#[test]
fn faults_in_code_without_a_line_have_the_one_before() {
    let path = scratch("lines").join("zero.s");
    let source = ".amdgcn_target \"amdgcn-amd-amdhsa--gfx90a\"\n.text\n.file 1 \"k.c\"\n.p2align 8\n.type k,@function\nk:\n\
        .loc 1 5 0\ns_mov_b64 s[4:5], 0\n.loc 1 0 0\ns_load_dword s0, s[4:5], 0x0\ns_endpgm\n.size k, .-k\n\
        .rodata\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr 4\n.amdhsa_next_free_sgpr 8\n\
        .amdhsa_accum_offset 4\n.end_amdhsa_kernel\n";
    std::fs::write(&path, source).unwrap();
    let out = wavemill(&["run", path.to_str().unwrap(), "--grid", "64"]);
    assert!(text(&out.stderr).contains(" <k+0x4> near k.c:5\n"), "{}", text(&out.stderr));
}

/// A directory with a `clang` that assembles, in its way: it writes what the source has behind `//asm `, and notes its
/// words and how often it was called.
fn compiler(name: &str) -> (PathBuf, PathBuf) {
    let directory = scratch(name);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    let script = "#!/bin/sh\necho \"$*\" >> \"$(dirname \"$0\")/calls\"\nprevious=; source=\nfor word; do\n\
        case \"$previous\" in -o) out=$word;; -MF) rule=$word;; esac\n\
        case \"$word\" in *.cl|*.hip|*.cpp|*.ll) source=$word;; esac\nprevious=$word\ndone\n\
        if [ -z \"$source\" ]; then source=$(dirname \"$0\")/input; cat > \"$source\"; fi\n\
        echo \"k.s: $source $(dirname \"$0\")/header.h\" > \"$rule\"\n\
        if grep -q mistake \"$source\"; then echo \"$source:1:1: error: expected what is not there\" >&2; exit 1; fi\n\
        if grep -q careless \"$source\"; then echo \"$source:1:1: warning: careless\" >&2; fi\n\
        sed -n 's|^//asm ||p' \"$source\" > \"$out\"\n";
    let clang = directory.join("clang");
    std::fs::write(&clang, script).unwrap();
    std::fs::set_permissions(&clang, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(directory.join("header.h"), "1").unwrap();
    (directory, clang)
}

/// Assembly of a kernel, as comments of a source.
fn kernel(body: &str) -> String {
    let text = format!(
        ".text\n.p2align 8\n.type k,@function\nk:\n{body}\ns_endpgm\n.rodata\n.p2align 6\n.amdhsa_kernel k\n\
         .amdhsa_next_free_vgpr 4\n.amdhsa_next_free_sgpr 8\n.end_amdhsa_kernel\n"
    );
    text.lines().map(|l| format!("//asm {l}\n")).collect()
}

fn run_with(clang: &Path, directory: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wavemill"));
    command.arg("run").args(args).current_dir(directory);
    command.env("WAVEMILL_CLANG", clang).env("WAVEMILL_CACHE", directory.join("cache"));
    command.output().unwrap()
}

fn calls(directory: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(directory.join("calls")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn sources_are_compiled_for_the_gpu_and_kept() {
    let (directory, clang) = compiler("compiled");
    std::fs::write(directory.join("k.cl"), format!("careless\n{}", kernel("s_nop 0"))).unwrap();
    let run = |args: &[&str]| run_with(&clang, &directory, &[args, &["--grid", "64"]].concat());
    let first = run(&["k.cl", "--gpu", "vega10", "-v", "--cflag=-DN=5"]);
    assert_eq!(first.status.code(), Some(0), "{}", text(&first.stderr));
    let said = text(&first.stderr);
    for part in ["clang -x cl", "-mcpu=gfx900", "-O2", "-DN=5", "k.cl", "k.cl:1:1: warning: careless"] {
        assert!(said.contains(part), "no `{part}` in {said}");
    }
    // The same again is not compiled again, and its messages are still there.
    let again = run(&["k.cl", "--gpu", "vega10", "--cflag=-DN=5"]);
    assert!(text(&again.stderr).contains("warning: careless"));
    assert_eq!(calls(&directory).len(), 1);
    // Other options, another source or another header are another matter.
    run(&["k.cl", "--gpu", "vega10"]);
    assert_eq!(calls(&directory).len(), 2);
    std::fs::write(directory.join("header.h"), "2").unwrap();
    run(&["k.cl", "--gpu", "vega10"]);
    assert_eq!(calls(&directory).len(), 3);
    std::fs::write(directory.join("k.cl"), kernel("s_nop 1")).unwrap();
    assert_eq!(text(&run(&["k.cl", "--gpu", "vega10"]).stderr), "");
    assert_eq!(calls(&directory).len(), 4);
}

#[test]
fn every_language_is_told_to_the_compiler() {
    let (directory, clang) = compiler("languages");
    for (name, source, options) in [
        ("k.hip", "", "-x hip --offload-arch=gfx908 --cuda-device-only"),
        ("k.cpp", "__global__ void k();\n", "-x hip --offload-arch=gfx908"),
        ("k.ll", "", "-x ir --target=amdgcn-amd-amdhsa -mcpu=gfx908"),
    ] {
        std::fs::write(directory.join(name), format!("{source}{}", kernel("s_nop 0"))).unwrap();
        let out = run_with(&clang, &directory, &[name, "--gpu", "mi100", "--grid", "64"]);
        assert_eq!(out.status.code(), Some(0), "{name}: {}", text(&out.stderr));
        assert!(calls(&directory).last().unwrap().starts_with(options), "{:?}", calls(&directory));
    }
}

#[test]
fn what_the_compiler_says_is_shown_as_it_is() {
    let (directory, clang) = compiler("mistakes");
    std::fs::write(directory.join("k.cl"), "mistake\n").unwrap();
    let out = run_with(&clang, &directory, &["k.cl", "--json"]);
    assert_eq!(out.status.code(), Some(1));
    let said = text(&out.stderr);
    assert!(said.starts_with("k.cl:1:1: error: expected what is not there\nwavemill run: k.cl: "), "{said}");
    assert!(text(&out.stdout).contains("\"error\": \"k.cl: "), "{}", text(&out.stdout));
    // No compiler at all.
    let mut command = Command::new(env!("CARGO_BIN_EXE_wavemill"));
    let out = command.args(["run", "k.cl"]).current_dir(&directory).env("PATH", directory.join("none"));
    let out = out.env_remove("WAVEMILL_CLANG").env("ROCM_PATH", "/nonexistent").output().unwrap();
    let said = text(&out.stderr);
    assert!(
        said.contains("there is none here; on Debian or Ubuntu `apt install clang rocm-device-libs`"),
        "{said}"
    );
    let out = run_with(Path::new("/no/clang"), &directory, &["k.cl"]);
    assert!(text(&out.stderr).contains("WAVEMILL_CLANG=/no/clang: there is no such program"));
}
