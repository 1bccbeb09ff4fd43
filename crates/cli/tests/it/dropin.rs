//! The command under the names of other tools.

use crate::scratch;
use std::os::unix::{fs::symlink, process::CommandExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn fixture(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/kernels/fixtures")
        .join(name)
        .display()
        .to_string()
}

/// A link of that name.
fn tool(name: &str) -> PathBuf {
    let path = scratch("tools").join(name);
    // Tests share it.
    let _ = symlink(env!("CARGO_BIN_EXE_wavemill"), &path);
    path
}

fn called(name: &str, args: &[&str]) -> Output {
    Command::new(tool(name))
        .args(args)
        .env_remove("WAVEMILL_GPU")
        .env_remove("WAVEMILL_GPUS")
        .output()
        .unwrap()
}

fn said(name: &str, args: &[&str]) -> String {
    let out = called(name, args);
    assert!(out.status.success(), "{name}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).into_owned()
}

#[test]
fn llvm_mc_and_the_linker_make_objects() {
    let directory = scratch("dropin");
    let path = |name: &str| directory.join(name).display().to_string();
    std::fs::write(path("k.s"), ".globl f\n.type f,@function\nf:\ns_setpc_b64 s[30:31]\n.size f, .-f\n")
        .unwrap();
    for mc in ["llvm-mc", "llvm-mc-19"] {
        let args = [
            "-triple=amdgcn-amd-amdhsa",
            "-mcpu=gfx90a",
            "-filetype=obj",
            "-g",
            &path("k.s"),
            "-o",
            &path("k.o"),
        ];
        assert_eq!(said(mc, &args), "");
    }
    assert!(said("llvm-mc", &["--version"]).contains("LLVM version 19"));
    // What llvm-mc-19 writes of it with and without the option.
    std::fs::write(path("imm.s"), "s_movk_i32 s0, 100\ns_mov_b32 s1, 0x1234\n").unwrap();
    let text = said("llvm-mc", &["-arch=amdgcn", "-mcpu=gfx90a", "--print-imm-hex", &path("imm.s")]);
    assert!(text.contains("s_movk_i32 s0, 0x64") && text.contains("s_mov_b32 s1, 0x1234"), "{text}");
    for (lld, flavor) in [("ld.lld", &[][..]), ("lld", &["-flavor", "gnu"][..])] {
        let link = ["-shared", &path("k.o"), "-o", &path("k.hsaco")];
        assert_eq!(said(lld, &[flavor, &link[..]].concat()), "");
        assert!(
            said(lld, &[flavor, &["--version"]].concat())
                .contains("LLD 19.1.7 (compatible with GNU linkers)")
        );
    }
    let text = said("llvm-objdump", &["-d", "-l", &path("k.hsaco")]);
    assert!(
        text.contains("<f>:") && text.contains("s_setpc_b64 s[30:31]") && text.contains("k.s:4"),
        "{text}"
    );
}

/// ld.lld-19 leaves `unused` out of the same object, and has a note of 20 bytes.
#[test]
fn the_linker_takes_response_files_collects_sections_and_tells_builds_apart() {
    let directory = scratch("dropin-link");
    let path = |name: &str| directory.join(name).display().to_string();
    let source = ".section .text.f,\"ax\",@progbits\n.globl f\nf: s_getpc_b64 s[0:1]\ns_add_u32 s0, s0, helper@rel32@lo+4\n\
        .section .text.helper,\"ax\",@progbits\n.hidden helper\n.globl helper\nhelper: s_nop 1\n\
        .section .text.unused,\"ax\",@progbits\n.hidden unused\n.globl unused\nunused: s_nop 2\n";
    std::fs::write(path("k.s"), source).unwrap();
    let mc = ["-triple=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-filetype=obj", &path("k.s"), "-o", &path("k.o")];
    said("llvm-mc", &mc);
    let link = |options: &str, out: &str| {
        let words = format!("-shared {options}\n'{}' -o \"{}\"\n", path("k.o"), path(out));
        std::fs::write(path("rsp"), words).unwrap();
        said("ld.lld", &[&format!("@{}", path("rsp"))]);
        (said("llvm-objdump", &["-d", "-t", &path(out)]), std::fs::read(path(out)).unwrap())
    };
    let (all, _) = link("", "all.co");
    assert!(all.contains("s_nop 1") && all.contains("s_nop 2") && all.contains("unused"), "{all}");
    let (some, bytes) = link("--gc-sections --build-id", "some.co");
    assert!(some.contains("s_nop 1") && some.contains("helper"), "{some}");
    assert!(!some.contains("s_nop 2") && !some.contains("unused"), "{some}");
    // A note of owner GNU, type 3, with 20 bytes that are not all zero, the same for the same input.
    let note = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0";
    let at = bytes.windows(note.len()).position(|w| w == note).expect("a note") + note.len();
    assert!(bytes[at..at + 20].iter().any(|b| *b != 0));
    assert_eq!(link("--gc-sections --build-id", "again.co").1, bytes);
    let (_, bytes) = link("--build-id=0x1234567890abcdef", "given.co");
    assert!(bytes.windows(12).any(|w| w == b"GNU\0\x12\x34\x56\x78\x90\xab\xcd\xef"));
    let out = called("ld.lld", &["--build-id=md5", &path("k.o"), "-o", &path("x")]);
    assert_eq!(out.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&out.stderr).contains("--build-id=`md5`: sha1, fast, none or 0x"));
}

#[test]
fn llvm_objdump_takes_several_files_and_names() {
    let (a, b) = (fixture("vadd.gfx90a.clang-15.v5.O2.hsaco"), fixture("vadd.gfx900.clang-15.v3.O2.hsaco"));
    let text = said("llvm-objdump", &["--disassemble-symbols=ids", &a, &b]);
    assert_eq!(text.matches("<ids>:").count(), 2, "{text}");
    assert!(!text.contains("<vadd>:"));
    let out = called("llvm-objdump", &["--nonsense", &a]);
    assert_eq!(out.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&out.stderr).contains("unknown argument '--nonsense'"));
    let out = called("llvm-objdump", &[&a]);
    assert!(String::from_utf8_lossy(&out.stderr).contains("at least one action"));
}

/// What llvm-objdump-19 -t prints of the same object.
#[test]
fn symbol_tables_are_as_llvm_objdump_has_them() {
    let directory = scratch("symbols");
    let path = |name: &str| directory.join(name).display().to_string();
    let source = ".globl g\n.protected g\n.type g,@function\ng:\ns_endpgm\n.size g, .-g\n.local l\nl:\ns_nop 0\n.weak w\nw:\ns_nop 0\n\
        .hidden h\n.globl h\nh:\ns_nop 0\n.set abs, 5\n.data\n.globl d\n.type d,@object\nd: .long u\n.size d, 4\n";
    std::fs::write(path("k.s"), source).unwrap();
    said(
        "llvm-mc",
        &["-triple=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-filetype=obj", &path("k.s"), "-o", &path("k.o")],
    );
    let text = said("llvm-objdump", &["-t", &path("k.o")]);
    let table = text.split("SYMBOL TABLE:\n").nth(1).unwrap();
    assert_eq!(table, include_str!("symbols.golden"), "{text}");
}

/// The messages are ld.lld-19's.
#[test]
fn the_linker_complains_as_ld_lld_does() {
    for (words, message) in [
        (&["--what", "k.o"][..], "ld.lld: error: unknown argument '--what'\n"),
        (
            &["--gc-section", "k.o"][..],
            "ld.lld: error: unknown argument '--gc-section', did you mean '--gc-sections'\n",
        ),
        (&["-shared"][..], "ld.lld: error: no input files\n"),
    ] {
        let out = called("ld.lld", words);
        assert_eq!((out.status.code(), String::from_utf8_lossy(&out.stderr).as_ref()), (Some(1), message));
    }
    let out = called("ld.lld", &["-shared", "/no/such/file.o"]);
    assert_eq!(out.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&out.stderr).starts_with("ld.lld: error: /no/such/file.o: "));
}

/// What llvm-objdump-19 -fhtTs -j .rodata -j .dynsym prints of the same object, below its name.
#[test]
fn headers_and_bytes_are_as_llvm_objdump_has_them() {
    let object = fixture("vadd.gfx90a.clang-15.v5.O2.hsaco");
    for options in [&["-fhtTs"][..], &["-f", "--headers", "-t", "--dynamic-syms", "--full-contents"]] {
        let text =
            said("llvm-objdump", &[options, &["-j", ".rodata", "--section=.dynsym", &object]].concat());
        let (head, tables) = text.trim_start().split_once('\n').unwrap();
        assert!(head.ends_with("hsaco:\tfile format elf64-amdgpu"), "{text}");
        assert_eq!(tables, include_str!("tables.golden"));
    }
    // Tables and code have one head; the section that is asked for has none.
    let both = said("llvm-objdump", &["-hd", &object]);
    assert_eq!(both.matches("file format").count(), 1);
    assert!(both.contains("\nSections:\n") && both.contains("<vadd>:"));
    assert!(
        !said("llvm-objdump", &["-d", "-j", ".rodata", "--no-show-raw-insn", &object]).contains("<vadd>:")
    );
}

/// llvm-objdump leaves out eight zeros or more, in whole words, unless it is asked for them or a relocation changes them.
#[test]
fn blocks_of_zeros_are_left_out_as_llvm_objdump_does() {
    let directory = scratch("zeros");
    let path = |name: &str| directory.join(name).display().to_string();
    let source =
        "s_nop 0\n.zero 4\ns_nop 1\n.zero 18\n.byte 1, 0\ns_nop 2\n.long 0\n.long u\n.long 0, 0\ns_endpgm\n";
    std::fs::write(path("k.s"), source).unwrap();
    let options = ["-triple=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-filetype=obj"];
    said("llvm-mc", &[&options[..], &[&path("k.s"), "-o", &path("k.o")]].concat());
    let lines = |options: &[&str]| {
        let text = said("llvm-objdump", &[options, &[&path("k.o")]].concat());
        let line = |l: &str| l.split("//").next().unwrap_or_default().trim().to_owned();
        text.lines().skip_while(|l| !l.contains("<.text>")).skip(1).map(line).collect::<Vec<_>>()
    };
    let zero = "v_cndmask_b32_e32 v0, s0, v0, vcc";
    let nop = ["s_nop 0", zero, "s_nop 1", "..."];
    assert_eq!(lines(&["-d"])[..4], nop);
    let ends = |lines: Vec<String>| lines[lines.len().saturating_sub(5)..].to_vec();
    assert_eq!(ends(lines(&["-d"]))[2..], ["s_nop 2", "...", "s_endpgm"]);
    let relocation = "0000000000000028:  R_AMDGPU_ABS32\tu";
    assert_eq!(ends(lines(&["-dr"])), [zero, zero, relocation, "...", "s_endpgm"]);
    assert_eq!(lines(&["-dz"]).iter().filter(|l| *l == "...").count(), 0);
}

#[test]
fn rocm_tools_show_the_virtual_gpus() {
    assert_eq!(said("rocm_agent_enumerator", &[]), "gfx000\ngfx90a\n");
    assert_eq!(said("amdgpu-arch", &[]), "gfx90a:sramecc+:xnack-\n");
    // clang 19 gives it no name.
    let nameless = Command::new(tool("amdgpu-arch")).arg0("").env_remove("WAVEMILL_GPU").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&nameless.stdout).lines().next(), Some("gfx90a:sramecc+:xnack-"));
    let text = said("rocminfo", &[]);
    for line in [
        "HSA System Attributes    \n",
        "  Name:                    gfx90a                             \n",
        "  Marketing Name:          AMD Instinct MI210                 \n",
        "  Compute Unit:            104                                \n",
        "      Name:                    amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-\n",
        "*** Done ***             \n",
    ] {
        assert!(text.contains(line), "no `{line}` in\n{text}");
    }
    // AMD's rocminfo asks lsmod for a line with amdgpu.
    assert!(said("lsmod", &[]).lines().any(|line| line.starts_with("amdgpu ")));
    let out = called("rocminfo", &["--what"]);
    assert_eq!(out.status.code(), Some(2));
    // Under exec they come before others, with the GPUs of exec.
    let script = "rocm_agent_enumerator; amdgpu-arch; rocminfo | grep -c 'Agent '";
    let out = crate::wavemill(&["exec", "--gpu", "vega10", "--gpus", "2", "--", "sh", "-c", script]);
    assert_eq!(
        String::from_utf8_lossy(&out.stdout),
        "gfx000\ngfx900\ngfx900\ngfx900:xnack-\ngfx900:xnack-\n3\n"
    );
}
