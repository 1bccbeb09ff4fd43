//! The commands on code objects, on objects that compilers made. What is expected comes from LLVM's tools, by
//! `crates/object/tests/fixtures/make`; `objdiff.py` compares in bulk.

use crate::{scratch, wavemill};

fn fixture(name: &str) -> String {
    format!("{}/../object/tests/fixtures/objects/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// What a command that must succeed prints.
fn ok(args: &[&str]) -> String {
    let output = wavemill(args);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// What a command that must fail with status 1 complains about.
fn fails(args: &[&str]) -> String {
    let output = wavemill(args);
    assert_eq!(output.status.code(), Some(1), "{args:?}");
    // For programs there is a document all the same.
    assert_eq!(output.stdout.is_empty(), !args.contains(&"--json"), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn descriptors_are_shown_as_llvm_objdump_shows_them() {
    for name in ["v4-gfx908.o", "v5-gfx90a.so"] {
        let expected = std::fs::read_to_string(fixture(&format!("{name}.kd"))).unwrap();
        let text = ok(&["disasm", &fixture(name)]);
        let at = text.find("\nDisassembly of section .rodata:").unwrap();
        let end = text[at + 1..].find("\nDisassembly").map_or(text.len(), |n| at + 1 + n);
        assert_eq!(text[at..end].trim(), expected.trim(), "{name}");
    }
}

#[test]
fn metadata_is_shown_as_readelf_shows_it() {
    for name in ["v3-gfx90a", "v4-gfx908", "v5-gfx90a", "v6-gfx90a"] {
        let expected = std::fs::read_to_string(fixture(&format!("{name}.notes"))).unwrap();
        let text = ok(&["inspect", "--notes", &fixture(&format!("{name}.o"))]);
        let lines: String =
            text.lines().filter_map(|l| l.strip_prefix("    ")).map(|l| format!("{l}\n")).collect();
        assert_eq!(lines.trim(), expected.trim(), "{name}");
    }
}

#[test]
fn json_and_text_tell_the_same() {
    let json = ok(&["inspect", "--json", "--kernels", &fixture("v5-gfx90a.so")]);
    for fact in [
        "\"target\": \"amdgcn-amd-amdhsa--gfx90a\"",
        "\"version\": 5",
        "\"name\": \"axpy\"",
        "\"symbol\": \"axpy.kd\"",
        "\"value_kind\": \"global_buffer\"",
        "\"waves_per_simd\": 8",
        "\"vgpr_count\": 44",
        "\"allocated_vgprs\": 48",
    ] {
        assert!(json.contains(fact), "{fact} in {json}");
    }
    let text = ok(&["inspect", &fixture("v5-gfx90a.so")]);
    for fact in [
        "AMD GPU code object version 5 for gfx90a, linked",
        "registers   VGPRs 44 (48 allocated), SGPRs 42 (48 allocated)",
        "LDS 256 bytes per work-group, scratch 16 bytes per work-item, arguments 24 bytes",
        "occupancy   8 of 8 waves per SIMD",
        "       0     8  global_buffer  global",
    ] {
        assert!(text.contains(fact), "{fact} in {text}");
    }
}

/// The text that `disasm --asm` makes of an object assembles to it.
#[test]
fn objects_survive_disassembly_and_assembly() {
    let names = [
        "v2-gfx600.o",
        "v2-gfx803.o",
        "v2-gfx906.o",
        "v3-gfx90a.o",
        "v4-gfx908.o",
        "v5-gfx90a.o",
        "v6-gfx90a.o",
        "link-a.o",
        "link-b.o",
        "merge-a.o",
    ];
    let dir = scratch("again");
    for name in names {
        let (source, object) = (dir.join(format!("{name}.s")), dir.join(name));
        std::fs::write(&source, ok(&["disasm", "--asm", &fixture(name)])).unwrap();
        ok(&["asm", "-c", source.to_str().unwrap(), "-o", object.to_str().unwrap()]);
        same(&std::fs::read(&object).unwrap(), &std::fs::read(fixture(name)).unwrap(), name);
    }
    // Linked files, too: their symbols come out in the same order, so that nothing differs at all.
    let (first, source, again) = (dir.join("first.so"), dir.join("first.s"), dir.join("again.so"));
    ok(&["link", &fixture("v5-gfx90a.o"), "-o", first.to_str().unwrap()]);
    std::fs::write(&source, ok(&["disasm", "--asm", first.to_str().unwrap()])).unwrap();
    ok(&["asm", source.to_str().unwrap(), "-o", again.to_str().unwrap()]);
    same(&std::fs::read(&again).unwrap(), &std::fs::read(&first).unwrap(), "v5-gfx90a.so");
}

/// The same for sources of our own: a kernel that became protected after its descriptor was made (LLVM's rule), version 2's
/// structure with keys that listings leave out, environments in target ids.
#[test]
fn sources_survive_assembly_and_disassembly() {
    let v5 = "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx90a\"\n\t.text\n\t.globl k\n\t.p2align 8\n\t.type k,@function\nk:\n\
              \ts_endpgm\n\t.section .rodata,\"a\"\n\t.p2align 6\n.amdhsa_kernel k\n .amdhsa_next_free_vgpr 4\n\
              .amdhsa_next_free_sgpr 8\n .amdhsa_accum_offset 4\n.end_amdhsa_kernel\n";
    let hidden = v5.replace("\t.globl k\n", "\t.globl k\n\t.hidden k\n");
    let v2 = "\t.hsa_code_object_version 2,1\n\t.hsa_code_object_isa 8,0,3,\"AMD\",\"AMDGPU\"\n\t.text\n\t.globl k\n\
              \t.p2align 8\n\t.amdgpu_hsa_kernel k\nk:\n\t.amd_kernel_code_t\n\tkernel_code_prefetch_byte_offset = 64\n\
              \tbulky = 1\n\tcdbg_user = 1\n\tmax_scratch_backing_memory_byte_size = 0x123456789a\n\
              \tkernarg_segment_byte_size = 0x100000001\n\t.end_amd_kernel_code_t\n\ts_endpgm\n";
    let xnack = v2.replace("8,0,3", "9,0,1");
    // The environments that the AMDGPU guide lists.
    let environments = ["opencl", "amdgizcl", "amdgiz", "hcc"].map(|name| {
        let line = format!("\t.amd_amdgpu_isa \"amdgcn-amd-amdhsa-{name}-gfx803\"\n\t.text");
        (name, v2.replace("\t.text", &line))
    });
    let dir = scratch("sources");
    let all = [("v5", v5), ("hidden", &hidden), ("v2", v2), ("xnack", &xnack)];
    for (name, text) in all.into_iter().chain(environments.iter().map(|(name, text)| (*name, text.as_str())))
    {
        let path = |end: &str| dir.join(format!("{name}{end}")).to_str().unwrap().to_owned();
        std::fs::write(path(".s"), text).unwrap();
        ok(&["asm", "-c", &path(".s"), "-o", &path(".o")]);
        std::fs::write(path(".again.s"), ok(&["disasm", "--asm", &path(".o")])).unwrap();
        ok(&["asm", "-c", &path(".again.s"), "-o", &path(".again.o")]);
        same(&std::fs::read(path(".again.o")).unwrap(), &std::fs::read(path(".o")).unwrap(), name);
    }
}

/// Same sections that are loaded, same symbols.
fn same(ours: &[u8], theirs: &[u8], name: &str) {
    use wavemill_object::read::File;
    let (ours, theirs) = (File::parse(ours).unwrap(), File::parse(theirs).unwrap());
    let loaded = |f: &File<'_>| {
        let mut all: Vec<_> = f
            .sections
            .iter()
            .filter(|s| s.flags & 2 != 0 && s.size != 0)
            .map(|s| (s.name.to_owned(), s.address, s.size, (s.align, s.flags, s.entsize), s.data.to_vec()))
            .collect();
        all.sort();
        all
    };
    let (a, b) = (loaded(&ours), loaded(&theirs));
    for (a, b) in a.iter().zip(&b) {
        assert_eq!((&a.0, a.1, a.2, a.3), (&b.0, b.1, b.2, b.3), "{name}");
        assert!(a.4 == b.4, "{name}: contents of {}", a.0);
    }
    assert_eq!(a.len(), b.len(), "{name}");
    let symbols = |f: &File<'_>| {
        let named = f.symbols.iter().filter(|s| !s.name.is_empty() && !matches!(s.ty, 3 | 4));
        let mut all: Vec<_> =
            named.map(|s| (s.name.to_owned(), s.ty, s.binding, s.other, s.value, s.size)).collect();
        all.sort();
        all
    };
    assert_eq!(symbols(&ours), symbols(&theirs), "{name}");
    assert_eq!((ours.flags, ours.version()), (theirs.flags, theirs.version()), "{name}");
}

#[test]
fn relocations_are_shown_as_llvm_objdump_shows_them() {
    let theirs = std::fs::read_to_string(fixture("link-a.o.dr")).unwrap();
    let ours = ok(&["disasm", "-d", "-r", &fixture("link-a.o")]);
    assert_eq!(ours[ours.find("Disassembly").unwrap()..], theirs);
}

/// Words of a linked file that the loader fills in are named as `llvm-readelf -r` names them.
#[test]
fn dynamic_relocations_have_their_own_symbols() {
    let text = ok(&["disasm", "--asm", &fixture("link.so")]);
    let words: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("\t.quad ")).collect();
    let symbolic: Vec<&str> = words.iter().copied().filter(|w| !w.starts_with(".L")).collect();
    assert_eq!(symbolic, ["external", "pointers+8", "external", "weak_nowhere"]);
    let text = ok(&["inspect", "--relocations", &fixture("link.so")]);
    assert!(text.contains("0x0000000000003868 R_AMDGPU_ABS64           pointers+8\n"), "{text}");
    assert!(text.contains("0x0000000000002790 R_AMDGPU_RELATIVE64      0x2788\n"), "{text}");
}

/// Names, types and spaces are those of `llvm-dwarfdump` (AMDGPU guide, "Address Space Mapping").
#[test]
fn debugging_information_is_shown() {
    let text = ok(&["inspect", "--debug", &fixture("debug-O0.so")]);
    assert!(text.contains("\nkernel void spaces  /src/debug.cl:10  0x"), "{text}");
    let row = |name: &str| {
        let line = text.lines().find(|l| l.contains(&format!("  {name}  "))).unwrap_or_default();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(row("shared"), "variable 11 int[16] shared local 0x0");
    assert_eq!(row("scratch"), "parameter 10 int * scratch local private frame+24");
    assert_eq!(row("mine"), "variable 12 int[8][2] mine private frame+52");
    let json = ok(&["inspect", "--debug", "--json", &fixture("debug-O0.so")]);
    assert!(json.contains("\"expression\": \"DW_OP_addrx 0x1, DW_OP_lit2, DW_OP_swap, DW_OP_xderef\""));
    assert!(ok(&["inspect", "--debug", &fixture("link-b.o")]).contains("No debugging information"));
}

#[test]
fn one_kernel_is_picked() {
    let text = ok(&["disasm", "--kernel", "count", &fixture("v5-gfx90a.so")]);
    assert!(text.contains("<count>:") && text.contains(".amdhsa_kernel count"), "{text}");
    assert!(!text.contains("<axpy>:"), "{text}");
    let message = fails(&["disasm", "--kernel", "conut", &fixture("v5-gfx90a.so")]);
    assert!(message.contains("no kernel or function conut in it"), "{message}");
}

#[test]
fn a_source_says_its_target_and_version() {
    let dir = scratch("asm");
    let (source, object) = (dir.join("k.s"), dir.join("k.hsaco"));
    let text = "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx90a+xnack+sram-ecc\"\n\t.globl k\n\t.type k,@function\nk:\n\ts_endpgm\n\
        \t.section .rodata,\"a\"\n\t.p2align 6\n\t.amdhsa_kernel k\n\t.amdhsa_next_free_vgpr 1\n\t.amdhsa_next_free_sgpr N\n\
        \t.amdhsa_accum_offset 4\n\t.end_amdhsa_kernel\n";
    std::fs::write(&source, text).unwrap();
    let (source, object) = (source.to_str().unwrap(), object.to_str().unwrap());
    ok(&["asm", source, "-D", "N=5", "-o", object]);
    let json = ok(&["inspect", "--json", object]);
    assert!(json.contains("\"version\": 3") && json.contains("\"xnack\": \"on\""), "{json}");
    let missing = fails(&["asm", source, "-o", object, "--mcpu", "gfx9oa"]);
    assert!(missing.contains("no GPU `gfx9oa`; did you mean gfx90a?"), "{missing}");
    assert_eq!(wavemill(&["asm", source, "--code-object-version", "7"]).status.code(), Some(2));
}

#[test]
fn undefined_symbols_are_left_or_reported() {
    let dir = scratch("link");
    let output = dir.join("k.so");
    let (a, b) = (fixture("link-a.o"), fixture("link-b.o"));
    // As clang calls ld.lld.
    ok(&["link", "-shared", &a, &b, "-plugin-opt=mcpu=gfx90a", "-o", output.to_str().unwrap()]);
    let message = fails(&["link", &a, &b, "-o", output.to_str().unwrap(), "--no-undefined"]);
    assert!(message.contains("undefined symbol: external"), "{message}");
}

/// A bundle of entries, as clang lays them out.
fn bundle(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    out.extend((entries.len() as u64).to_le_bytes());
    let mut at = 4096u64;
    for (id, data) in entries {
        for word in [at, data.len() as u64, id.len() as u64] {
            out.extend(word.to_le_bytes());
        }
        out.extend(id.bytes());
        at = (at + data.len() as u64).next_multiple_of(4096);
    }
    for (_, data) in entries {
        out.resize(out.len().next_multiple_of(4096), 0);
        out.extend(*data);
    }
    out
}

#[test]
fn bundles_are_listed_chosen_from_and_unpacked() {
    let dir = scratch("bundle");
    let objects =
        [std::fs::read(fixture("v4-gfx908.o")).unwrap(), std::fs::read(fixture("v5-gfx90a.so")).unwrap()];
    let ids = ["hipv4-amdgcn-amd-amdhsa--gfx908", "hipv4-amdgcn-amd-amdhsa--gfx90a"];
    let file = dir.join("two.hipfb");
    let host: (&str, &[u8]) = ("host-x86_64-unknown-linux--", b"");
    std::fs::write(&file, bundle(&[host, (ids[0], &objects[0]), (ids[1], &objects[1])])).unwrap();
    let file = file.to_str().unwrap();
    let list = ok(&["unbundle", "--list", file]);
    assert!(ids.iter().all(|id| list.contains(id)) && list.lines().count() == 2, "{list}");
    for command in ["inspect", "disasm"] {
        let message = fails(&[command, file]);
        assert!(message.contains("code for 2 targets") && message.contains(ids[0]), "{message}");
        assert!(fails(&[command, file, "--target", "gfx803"]).contains("nothing in it is for gfx803"));
        ok(&[command, file, "--target", "gfx90a"]);
    }
    ok(&["unbundle", file, "-o", dir.to_str().unwrap()]);
    assert!(std::fs::read(dir.join("two-gfx90a.co")).unwrap() == objects[1]);
}

/// One clear line that names the place, and status 1.
#[test]
fn broken_files_are_explained() {
    let dir = scratch("broken");
    let path = dir.join("x");
    let good = std::fs::read(fixture("v5-gfx90a.so")).unwrap();
    let table = u64::from_le_bytes(good[40..48].try_into().unwrap()) as usize;
    let with = |at: usize, bytes: &[u8]| {
        let mut broken = good.clone();
        broken[at..at + bytes.len()].copy_from_slice(bytes);
        broken
    };
    let cases = [
        (b"hello".to_vec(), "file at byte 0x0: this is no code object"),
        (good[..3000].to_vec(), "section headers at byte 0x1280"),
        (with(18, &[62]), "ELF header at byte 0x12: it is for x86-64"),
        (with(60, &[0xff, 0xfe]), "section headers at byte 0x1280"),
        (
            with(table + 64 * 7 + 24, &0x238u64.to_le_bytes()),
            "section .text (number 7) at byte 0x1440: its contents overlap",
        ),
        (with(table + 64 * 7 + 32, &(1u64 << 40).to_le_bytes()), "section .text (number 7) at byte 0x1440"),
        (with(table + 64 * 12 + 40, &12u32.to_le_bytes()), ".symtab at byte 0x10f0"),
        (with(table + 64 * 12 + 56, &[0]), ".symtab at byte 0x10f0: 216 bytes in entries of 0"),
        (with(0x238 + 4, &[0xf0; 4]), ".note at byte 0x238: a note of 7 and"),
        (with(0x24c, &[0xdf]), ".note at byte 0x65f"),
    ];
    for (bytes, expected) in cases {
        std::fs::write(&path, bytes).unwrap();
        for command in [&["inspect"][..], &["inspect", "--json"], &["disasm"]] {
            let args: Vec<&str> = command.iter().copied().chain([path.to_str().unwrap()]).collect();
            // Notes do not matter to a disassembler.
            if command[0] == "disasm" && expected.starts_with(".note") {
                continue;
            }
            let message = fails(&args);
            assert!(message.contains(expected), "{expected}: {message}");
            assert_eq!(message.lines().count(), 1, "{message}");
        }
    }
}

/// Relative references reach neither what is nowhere nor what another code object may replace (as ld.lld -shared has it).
#[test]
fn references_to_what_is_not_here_are_explained() {
    let folder = scratch("references");
    for (source, why) in [
        ("s_add_u32 s0, s0, nowhere@rel32@lo+4\n", "k.s: undefined symbol: nowhere"),
        (
            ".globl f\nf:\ns_add_u32 s0, s0, f@rel32@lo+4\n",
            "f, which another code object may define; make it protected or hidden",
        ),
    ] {
        let file = folder.join("k.s");
        std::fs::write(&file, format!(".amdgcn_target \"amdgcn-amd-amdhsa--gfx90a\"\n{source}")).unwrap();
        let out = folder.join("k.so");
        let message = fails(&["asm", file.to_str().unwrap(), "-o", out.to_str().unwrap()]);
        assert!(message.contains(why), "{message}");
    }
}

/// The notes of code object version 2 as llvm-readelf-19 -n decodes them.
#[test]
fn notes_of_version_2_are_decoded() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/kernels/fixtures/arith.gfx900.clang-15.v2.O2.hsaco"
    );
    let shown = wavemill(&["inspect", "--notes", file]);
    let text = String::from_utf8_lossy(&shown.stdout);
    for want in ["code object version 2.1", "AMD:AMDGPU:9:0:1", "amdgcn-amd-amdhsa--gfx901"] {
        assert!(text.contains(want), "{want}: {text}");
    }
    let shown = wavemill(&["inspect", "--notes", "--json", file]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("\"decoded\": \"AMD:AMDGPU:9:0:1\""));
}

/// Call frames, as llvm-dwarfdump-19 --debug-frame shows them for the same source.
#[test]
fn call_frames_are_shown() {
    let directory = scratch("frames");
    let (source, object) = (directory.join("f.s"), directory.join("f.o"));
    let text = "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx90a\"\n\t.text\n\t.globl f\n\t.p2align 8\n\t.type f,@function\nf:\n\
        \t.cfi_sections .debug_frame\n\t.cfi_startproc\n\t.cfi_def_cfa 64, 0\n\t.cfi_undefined 16\n\ts_nop 0\n\
        \t.cfi_def_cfa_offset 16\n\t.cfi_offset 72, -8\n\ts_nop 0\n\t.cfi_register 73, 75\n\ts_endpgm\n\t.cfi_endproc\n\
        \t.size f, .-f\n";
    std::fs::write(&source, text).unwrap();
    let made = wavemill(&["asm", "-c", source.to_str().unwrap(), "-o", object.to_str().unwrap()]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let shown = wavemill(&["inspect", "--debug", object.to_str().unwrap()]);
    let text = String::from_utf8_lossy(&shown.stdout);
    for want in [
        "frames of f  0x0 to 0xc, by .debug_frame",
        "from 0x0: CFA is SGPR32+0, PC_REG lost",
        "from 0x4: CFA is SGPR32+16, PC_REG lost, SGPR40 [CFA-8]",
        "from 0x8: CFA is SGPR32+16, PC_REG lost, SGPR40 [CFA-8], SGPR41 SGPR43",
    ] {
        assert!(text.contains(want), "{want}: {text}");
    }
}

/// What `amd_kernel_code_t` says beside numbers (ROCm's code object format): `control_directive`, 128 bytes of BRIG's.
#[test]
fn control_directives_are_shown() {
    let directory = scratch("directives");
    let (source, object) = (directory.join("k.s"), directory.join("k.o"));
    let text = "\t.hsa_code_object_version 2,1\n\t.hsa_code_object_isa 8,0,3,\"AMD\",\"AMDGPU\"\n\t.text\n\t.globl k\n\
        \t.p2align 8\n\t.amdgpu_hsa_kernel k\nk:\n\t.amd_kernel_code_t\n\t.end_amd_kernel_code_t\n\ts_endpgm\n";
    std::fs::write(&source, text).unwrap();
    ok(&["asm", "-c", source.to_str().unwrap(), "-o", object.to_str().unwrap()]);
    assert!(!ok(&["inspect", "--descriptors", object.to_str().unwrap()]).contains("control_directive"));
    // The structure is the first thing in .text; the directives are its last 128 bytes.
    let mut bytes = std::fs::read(&object).unwrap();
    let file = wavemill_object::read::File::parse(&bytes).unwrap();
    let at = file.sections.iter().find(|s| s.name == ".text").unwrap().offset as usize + 128;
    bytes[at..at + 4].copy_from_slice(&[1, 2, 3, 0xfe]);
    std::fs::write(&object, bytes).unwrap();
    let shown = ok(&["inspect", "--descriptors", object.to_str().unwrap()]);
    let line = shown.lines().find(|l| l.contains("control_directive")).unwrap();
    assert!(line.trim_end().ends_with(&format!("010203fe{}", "0".repeat(248))), "{line}");
    let shown = ok(&["inspect", "--descriptors", "--json", object.to_str().unwrap()]);
    assert!(shown.contains("\"control_directive\": \"010203fe"), "{shown}");
}

/// ValueType of version 2's metadata (AMDGPU guide, "Code Object Metadata"), in a note as compilers of its time wrote it (today's
/// directive leaves it out), shown as version 3 spells it.
#[test]
fn types_of_values_are_shown() {
    let directory = scratch("types");
    let (source, object) = (directory.join("k.s"), directory.join("k.o"));
    let text = "\t.hsa_code_object_version 2,1\n\t.hsa_code_object_isa 8,0,3,\"AMD\",\"AMDGPU\"\n\t.text\n\t.globl k\n\
        \t.p2align 8\n\t.amdgpu_hsa_kernel k\nk:\n\t.amd_kernel_code_t\n\t.end_amd_kernel_code_t\n\ts_endpgm\n\
        \t.section .note,\"a\",@note\n\t.long 4\n\t.long end-begin\n\t.long 10\n\t.asciz \"AMD\"\nbegin:\n\t.ascii \"---\\n\
        Version: [ 1, 0 ]\\nKernels:\\n  - { Name: k, SymbolName: 'k@kd', Args: [ { Size: 4, Align: 4, ValueKind: ByValue, \
        ValueType: F32 } ] }\\n...\\n\"\nend:\n\t.p2align 2\n";
    std::fs::write(&source, text).unwrap();
    ok(&["asm", "-c", source.to_str().unwrap(), "-o", object.to_str().unwrap()]);
    let shown = ok(&["inspect", "--kernels", object.to_str().unwrap()]);
    assert!(shown.contains("by_value         f32"), "{shown}");
    let shown = ok(&["inspect", "--kernels", "--json", object.to_str().unwrap()]);
    assert!(shown.contains("\"value_type\": \"f32\""), "{shown}");
}

/// Code for GPUs that came after gfx90a is refused by its name (numbers of EF_AMDGPU_MACH in LLVM's guide).
#[test]
fn objects_for_later_gpus_are_refused_by_name() {
    let directory = scratch("later");
    let mut bytes = std::fs::read(fixture("v5-gfx90a.so")).unwrap();
    for (mach, name) in [(0x40, "gfx940"), (0x4c, "gfx942"), (0x4f, "gfx950")] {
        // e_flags is at byte 48 of a 64-bit ELF header.
        bytes[48] = mach;
        let path = directory.join(format!("{name}.so"));
        std::fs::write(&path, &bytes).unwrap();
        let path = path.to_str().unwrap();
        for command in [&["run", path, "--kernel", "axpy"][..], &["disasm", path], &["lint", path]] {
            let output = wavemill(command);
            let message = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{command:?}: {message}");
            assert!(message.contains(name), "{command:?}: {message}");
        }
    }
}

/// GPUs before GCN (the AMDGPU guide's architecture r600) are refused by name, as a processor and as a triple.
#[test]
fn r600_is_refused_by_name() {
    let directory = scratch("r600");
    let source = directory.join("k.s");
    std::fs::write(&source, "s_endpgm\n").unwrap();
    let source = source.to_str().unwrap();
    let out = directory.join("k.o");
    for (options, said) in [
        (&["asm", "--mcpu", "cypress", "-c", source, "-o", out.to_str().unwrap()][..], "cypress"),
        (&["run", "--gpu", "rv770", source], "rv770"),
        (&["mc", "--triple", "r600--", source], "r600"),
        (&["mc", "--arch", "r600", source], "r600"),
    ] {
        let output = wavemill(options);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{options:?}: {message}");
        assert!(message.contains(said) && message.contains("before GCN"), "{options:?}: {message}");
    }
}

/// Host programs of clang's OpenMP have their code objects in a section `.llvm.offloading` (LLVM's offload binary): `unbundle` and
/// `disasm` find them. The images are those that clang's packager made.
#[test]
fn code_in_host_programs_is_found() {
    let directory = scratch("offloading");
    let path = |name: &str| directory.join(name).to_str().unwrap().to_owned();
    std::fs::copy(fixture("offload.bin"), path("offload.bin")).unwrap();
    let text = "\t.section .llvm.offloading,\"a\",@progbits\n\t.incbin \"offload.bin\"\n";
    std::fs::write(path("host.s"), text).unwrap();
    ok(&["asm", "-c", "--mcpu", "gfx90a", &path("host.s"), "-o", &path("host.o")]);
    // e_machine is at byte 18: 62 is x86-64.
    let mut bytes = std::fs::read(path("host.o")).unwrap();
    bytes[18..20].copy_from_slice(&[62, 0]);
    std::fs::write(path("host.o"), bytes).unwrap();
    let list = ok(&["unbundle", "--list", &path("host.o")]);
    for id in ["openmp-amdgcn-amd-amdhsa--gfx90a:xnack-", "openmp-amdgcn-amd-amdhsa--gfx908"] {
        assert!(list.contains(id), "{list}");
    }
    assert!(ok(&["disasm", &path("host.o"), "--target", "gfx908"]).contains("s_endpgm"));
}
