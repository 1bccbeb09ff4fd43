//! AMD's directives against LLVM's listings and objects, which `amd/make` writes, and what is wrong said so.

use wavemill_asm::{Options, Os, Output, OutputType, assemble, elf};
use wavemill_isa::target::{Target, processor};

/// The sources in `amd`.
const SOURCES: [&str; 8] = [
    "descriptor-gfx803",
    "descriptor-gfx90a",
    "kernel-code",
    "lines-dwarf4",
    "lines-dwarf5",
    "metadata",
    "pal",
    "pal-pairs",
];

fn read(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/amd/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The options on a source's first line.
fn options(line: &str) -> Options {
    let value = |name: &str| line.split_whitespace().find_map(|word| word.strip_prefix(name));
    let cpu = value("-mcpu=").expect("a processor");
    let mut target = Target::new(processor(cpu).expect("a known processor"));
    for feature in value("-mattr=").unwrap_or("").split(',') {
        match feature.split_at(feature.len().min(1)) {
            (sign, "xnack") => target.xnack = Some(sign == "+"),
            (sign, "sramecc") => target.sramecc = Some(sign == "+"),
            _ => {}
        }
    }
    let mut options = Options::new(target);
    options.triple = value("-triple=").unwrap_or("amdgcn").into();
    options.os = match options.triple.rsplit('-').next() {
        Some("amdhsa") => Os::AmdHsa,
        Some("amdpal") => Os::AmdPal,
        Some("mesa3d") => Os::Mesa3d,
        _ => Os::Unknown,
    };
    if let Some(version) = value("--amdhsa-code-object-version=") {
        options.code_object_version = Some(version.parse().expect("a number"));
    }
    options
}

fn run(source: &[u8], mut options: Options, output: OutputType) -> Output {
    options.output = output;
    assemble(&options, "test.s", source.to_vec())
}

fn messages(output: &Output) -> String {
    String::from_utf8_lossy(&output.render_diagnostics()).into_owned()
}

#[test]
fn listings_and_objects_equal_llvms() {
    for name in SOURCES {
        let source = read(&format!("{name}.s"));
        let text = String::from_utf8_lossy(&source).into_owned();
        let options = options(text.lines().next().unwrap_or(""));
        let listing = run(&source, options.clone(), OutputType::Asm);
        assert_eq!(messages(&listing), "", "{name}");
        let expected = read(&format!("{name}.out"));
        assert_eq!(String::from_utf8_lossy(&listing.text), String::from_utf8_lossy(&expected), "{name}");
        let object = run(&source, options, OutputType::Obj);
        let bytes = elf::write(&object).expect("an object");
        let expected = read(&format!("{name}.o"));
        let at = bytes.iter().zip(&expected).position(|(a, b)| a != b);
        assert_eq!((at, bytes.len()), (None, expected.len()), "{name}");
    }
}

fn gfx90a() -> Options {
    options("-triple=amdgcn-amd-amdhsa -mcpu=gfx90a")
}

/// The first line of what is said about a source for gfx90a on HSA.
fn complaint(source: &str) -> String {
    let output = run(source.as_bytes(), gfx90a(), OutputType::Asm);
    messages(&output).lines().next().unwrap_or("").to_string()
}

#[test]
fn wrong_descriptors_are_refused_where_they_are_wrong() {
    let block = |lines: &str| complaint(&format!(".amdhsa_kernel k\n{lines}\n.end_amdhsa_kernel\n"));
    let required = ".amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 8\n.amdhsa_accum_offset 4\n";
    for (lines, message) in [
        (".amdhsa_next_free_vgpr 8", "3:19: error: .amdhsa_next_free_sgpr directive is required"),
        (".amdhsa_tg_split 2", "2:18: error: value out of range"),
        (".amdhsa_kernarg_size -1", "2:22: error: value out of range"),
        (".amdhsa_wavefront_size32 0", "2:1: error: directive requires gfx10+"),
        (".amdhsa_user_sgpr_queue_ptr later", "2:1: error: directive should have resolvable expression"),
        (".amdhsa_reserve_xnack_mask 0", "2:1: error: .amdhsa_reserve_xnack_mask does not match target id"),
        (
            ".amdhsa_next_free_vgprs 0",
            "2:1: error: unknown .amdhsa_kernel directive, did you mean .amdhsa_next_free_vgpr?",
        ),
        (
            ".amdhsa_tg_split 0\n.amdhsa_tg_split 0",
            "3:1: error: .amdhsa_ directives cannot be repeated: .amdhsa_tg_split",
        ),
    ] {
        assert_eq!(block(lines), format!("test.s:{message}"));
        assert!(!block(&format!("{required}{lines}")).is_empty() || lines.contains("next_free_vgpr 8"));
    }
    assert_eq!(block(required), "");
    assert_eq!(
        complaint(".amdhsa_kernel\n"),
        "test.s:1:1: error: expected the kernel's name after .amdhsa_kernel"
    );
    let stray = "test.s:1:1: error: unknown directive: .amdhsa_next_free_sgpr is outside its block";
    assert_eq!(complaint(".amdhsa_next_free_sgpr 3\n"), stray);
}

#[test]
fn wrong_metadata_is_explained() {
    let output = run(b".amdgpu_metadata\na: [ 1\n.end_amdgpu_metadata\n", gfx90a(), OutputType::Asm);
    let said = messages(&output);
    assert!(said.starts_with("test.s:3:21: error: invalid HSA metadata"), "{said}");
    assert!(said.contains("note:"), "{said}");
    let output =
        run(b".amdgpu_metadata\namdhsa.version: [ 1, 1 ]\n.end_amdgpu_metadata\n", gfx90a(), OutputType::Asm);
    assert!(messages(&output).contains("note: the document: 'amdhsa.kernels' is missing"));
    let missing = complaint(".amdgpu_metadata\n---\n");
    assert_eq!(missing, "test.s:1:1: error: expected directive .end_amdgpu_metadata not found");
}

#[test]
fn version_3_sources_are_taken() {
    let source = b".amdgcn_target \"amdgcn-amd-amdhsa--gfx90a+xnack+sram-ecc\"\n";
    let output = run(source, gfx90a(), OutputType::Obj);
    assert_eq!(messages(&output), "");
    let bytes = elf::write(&output).expect("an object");
    assert_eq!((bytes[8], &bytes[48..52]), (1, &[0x3f, 3, 0, 0][..]));
    let source = b".amdgcn_target \"amdgcn-amd-amdhsa--gfx90a+sram-ecc\"\n";
    let bytes = elf::write(&run(source, gfx90a(), OutputType::Obj)).expect("an object");
    assert_eq!(&bytes[48..52], &[0x3f, 2, 0, 0]);
    let wrong = complaint(".amdgcn_target \"amdgcn-amd-amdhsa--gfx908+xnack\"\n");
    assert!(wrong.contains("does not match the specified target id amdgcn-amd-amdhsa--gfx90a"), "{wrong}");
}

#[test]
fn version_2_directives_make_notes() {
    let source = b".hsa_code_object_version 2,1\n.hsa_code_object_isa\n.amd_amdgpu_isa \"amdgcn-amd-amdhsa--gfx901\"\n";
    let options = options("-triple=amdgcn-amd-amdhsa -mcpu=gfx900");
    let listing = run(source, options.clone(), OutputType::Asm);
    let text = String::from_utf8_lossy(&listing.text).into_owned();
    assert!(text.contains("\t.hsa_code_object_isa 9,0,1,\"AMD\",\"AMDGPU\"\n"), "{text}");
    let bytes = elf::write(&run(source, options, OutputType::Obj)).expect("an object");
    let file = wavemill_object::read::File::parse(&bytes).expect("a readable object");
    let kinds: Vec<u32> = file.notes().expect("notes").iter().map(|n| n.kind).collect();
    assert_eq!((file.version(), kinds), (2, vec![1, 3, 11]));
}

/// Registers are counted by what the instruction parser reports.
#[test]
fn used_registers_are_counted() {
    let listing = run(b".byte .amdgcn.next_free_vgpr\n", gfx90a(), OutputType::Asm);
    assert!(String::from_utf8_lossy(&listing.text).contains("\t.byte\t0\n"));
}

/// The sections and symbols of code object v1, as the AMDGPU guide's example uses them.
#[test]
fn version_1_sources_are_taken() {
    let source = b".hsa_code_object_version 1,0\n.hsa_code_object_isa\n.hsatext\n.globl k\n.p2align 8\n\
        .amdgpu_hsa_kernel k\nk:\n.amd_kernel_code_t\nis_ptr64 = 1\n.end_amd_kernel_code_t\n.long 0xbf810000\n\
        .hsadata_global_program\n.amdgpu_hsa_program_global v\nv: .long 1\n";
    let options = options("-triple=amdgcn-amd-amdhsa -mcpu=gfx803");
    let output = run(source, options, OutputType::Obj);
    assert_eq!(messages(&output), "");
    let bytes = elf::write(&output).expect("an object");
    let file = wavemill_object::read::File::parse(&bytes).expect("a readable object");
    assert_eq!(file.version(), 1);
    let flags = |name: &str| file.section(name).map(|s| s.flags);
    assert_eq!((flags(".hsatext"), flags(".hsadata_global_program")), (Some(0xc0_0007), Some(0x10_0003)));
    let kernels = file.kernels().expect("kernels");
    assert_eq!((kernels[0].name, kernels[0].entry), ("k", Some(256)));
}

/// Assembles with `wavemill asm`'s advice; what it says.
fn advised(cpu: &str, xnack: Option<bool>, text: &str) -> String {
    let mut target = Target::new(processor(cpu).expect("a processor"));
    target.xnack = xnack;
    let mut options = Options::new(target);
    options.advice = true;
    let output = assemble(&options, "a.s", text.as_bytes().to_vec());
    assert!(!output.failed(), "{text}");
    String::from_utf8_lossy(&output.render_diagnostics()).into_owned()
}

/// Manual 8.1, OFFSET: "Writes and atomics: M0 or immediate only, not SGPR" (Mesa's README-ISA: other registers do not work on GFX8
/// and GFX9). With XNACK, LLVM keeps the registers of a load that may be replayed apart from those of its base.
#[test]
fn what_assembles_and_does_not_work_is_told() {
    for (cpu, text) in [
        ("gfx803", "s_store_dword s0, s[2:3], s5"),
        ("gfx900", "s_buffer_store_dwordx2 s[0:1], s[4:7], s9"),
        ("gfx90a", "s_atomic_add s0, s[2:3], s5 glc"),
        ("gfx900", "s_store_dword s0, s[2:3], s5 offset:0x10"),
    ] {
        let said = advised(cpu, None, text);
        assert!(
            said.contains("a.s:1:")
                && said.contains("warning: scalar stores and atomics have their offset in M0"),
            "{said}"
        );
    }
    for (cpu, text) in [
        ("gfx803", "s_store_dword s0, s[2:3], m0"),
        ("gfx900", "s_store_dword s0, s[2:3], 0x10"),
        ("gfx900", "s_load_dword s0, s[2:3], s5"),
        ("gfx900", "s_load_dwordx2 s[2:3], s[2:3], 0x0"),
    ] {
        assert_eq!(advised(cpu, Some(false), text), "", "{text}");
    }
    let said = advised("gfx900", Some(true), "s_load_dwordx2 s[2:3], s[2:3], 0x0");
    assert!(said.contains("warning: with XNACK the load may be replayed"), "{said}");
    assert_eq!(advised("gfx900", Some(true), "s_load_dwordx2 s[4:5], s[2:3], 0x0"), "");
    assert_eq!(
        advised("gfx900", Some(true), "s_load_dword s2, s[2:3], 0x0"),
        "",
        "one dword comes back as a whole"
    );
    let said = advised("gfx900", Some(true), "s_buffer_load_dwordx4 s[4:7], s[4:7], 0x0");
    assert!(said.contains("with XNACK"), "{said}");
}

/// The guide's examples that the hardware or the syntax has left behind: LLVM 19 refuses the same lines on gfx900, and takes those
/// that an older processor has there.
#[test]
fn lines_of_the_guide_that_are_refused() {
    let fails = |cpu: &str, text: &str| {
        let options = Options::new(Target::new(processor(cpu).expect("a processor")));
        assemble(&options, "a.s", text.as_bytes().to_vec()).failed()
    };
    for (text, taken_by) in [
        ("ds_write_src2_b64 v2 offset0:4 offset1:8", None),
        ("flat_atomic_fmax_x2 v[1:2], v[3:4], v[5:6] glc", Some("gfx701")),
        ("buffer_store_dwordx4 v[1:4], v2, ttmp[4:7], s1 offen offset:4 glc tfe", None),
        ("s_load_dwordx16 s[88:103], s[2:3], s4", Some("gfx701")),
        ("s_cbranch_join s[4:5]", None),
        ("v_addc_u32 v1, s[0:1], v2, v3, s[2:3]", Some("gfx803")),
    ] {
        assert!(fails("gfx900", text), "{text}");
        assert!(taken_by.is_none_or(|cpu| !fails(cpu, text)), "{text}");
    }
}

/// Errors in the metadata of version 2 name the key, and the note stands at its line.
#[test]
fn metadata_of_version_2_has_lines() {
    let text = ".amd_amdgpu_hsa_metadata\n---\nVersion: [ 1, 0 ]\nKernels:\n  - Name: k\n    SymbolName: 'k@kd'\n    Args:\n\
        \x20     - Size: 8\n        Align: 8\n        ValueKind: GlobalBuffer\n      - Size: eight\n        Align: 8\n\
        \x20       ValueKind: ByValue\n...\n.end_amd_amdgpu_hsa_metadata\n";
    let mut options = Options::new(Target::new(processor("gfx803").expect("a processor")));
    options.triple = "amdgcn-amd-amdhsa".into();
    options.os = Os::AmdHsa;
    options.code_object_version = Some(2);
    let said = |text: &str| {
        let output = assemble(&options, "m.s", text.as_bytes().to_vec());
        assert!(output.failed());
        String::from_utf8_lossy(&output.render_diagnostics()).into_owned()
    };
    let wrong = said(text);
    assert!(
        wrong.contains("m.s:11:15: note: the document Kernels[0] Args[1] Size: an integer is needed"),
        "{wrong}"
    );
    // A key that is missing: where its mapping begins.
    let missing = said(&text.replace("eight", "8").replace("    SymbolName: 'k@kd'\n", ""));
    assert!(
        missing.contains("m.s:5:") && missing.contains("Kernels[0]: 'SymbolName' is missing"),
        "{missing}"
    );
}

/// The bytes that a line assembles to, with what LLVM leaves out of the documents or without.
fn encoded(cpu: &str, documented: bool, text: &str) -> Option<Vec<u8>> {
    let mut options = Options::new(Target::new(processor(cpu).expect("a processor")));
    (options.documented, options.output) = (documented, OutputType::Obj);
    let output = assemble(&options, "a.s", text.as_bytes().to_vec());
    let index = output.sections.iter().position(|s| &*s.name == ".text")?;
    (!output.failed()).then(|| output.object.as_ref().expect("an object").sections[index].data.clone())
}

/// NV is bit 15 of SMEM (CLRX's SMEM encodings, MI200 manual 13.2.1) and bit 55 of FLAT on GFX9, where gfx90a has ACC in its
/// place; LLVM has no word for it.
#[test]
fn non_volatile_accesses() {
    let set = |cpu: &str, text: &str, bit: usize| {
        let plain = encoded(cpu, true, text).expect(text);
        let mut want = plain.clone();
        want[bit / 8] |= 1 << (bit % 8);
        assert_ne!(want, plain, "{text}");
        assert_eq!(encoded(cpu, true, &format!("{text} nv")), Some(want), "{text}");
        assert_eq!(encoded(cpu, false, &format!("{text} nv")), None, "LLVM refuses it: {text}");
    };
    for cpu in ["gfx900", "gfx906", "gfx908", "gfx90a"] {
        set(cpu, "s_load_dword s0, s[2:3], 0x10", 15);
        set(cpu, "s_buffer_store_dwordx2 s[0:1], s[4:7], m0 glc", 15);
        let flat = "flat_load_dword v0, v[2:3] offset:4";
        match cpu {
            "gfx90a" => assert_eq!(encoded(cpu, true, &format!("{flat} nv")), None),
            _ => {
                set(cpu, flat, 55);
                set(cpu, "global_store_dword v[0:1], v2, off", 55);
                set(cpu, "scratch_load_dword v0, v1, off", 55);
            }
        }
    }
    for cpu in ["gfx701", "gfx803"] {
        assert_eq!(encoded(cpu, true, "s_load_dword s0, s[2:3], 0x10 nv"), None, "{cpu}");
        assert_eq!(encoded(cpu, true, "flat_load_dword v0, v[2:3] nv"), None, "{cpu}");
    }
}

/// LDS_DIRECT is source 254 (MI200 manual 6.2.1 and 11.3.1), on gfx90a as on the others; LLVM refuses it there.
#[test]
fn operands_from_lds() {
    let code = [0xfe, 0x02, 0x00, 0x7e];
    for cpu in ["gfx600", "gfx803", "gfx900", "gfx908", "gfx90a"] {
        let got = encoded(cpu, true, "v_mov_b32 v0, lds_direct").expect(cpu);
        assert_eq!(got, code, "{cpu}");
        assert_eq!(encoded(cpu, false, "v_mov_b32 v0, lds_direct").is_some(), cpu != "gfx90a", "{cpu}");
    }
    assert_eq!(encoded("gfx90a", true, "v_add_f32 v0, v1, lds_direct"), None, "the first source only");
}
