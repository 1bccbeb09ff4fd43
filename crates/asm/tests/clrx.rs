//! CLRX's language for Catalyst's binaries, form by form: what a line means is said in LLVM's, whose bytes must come out. Where LLVM
//! has no word, the value is written down. CLRX's documentation has the forms.

use wavemill_asm::{Options, Os, OutputType, assemble, clrx, elf};
use wavemill_isa::target::{Target, processor};

const BEGIN: &str = ".int 0x600dbeef, 0x12345678";
const END: &str = ".int 0x600dbeef, 0x87654321";

/// What lies between the marks.
fn between(bytes: &[u8]) -> Vec<u8> {
    let find = |last: u32| {
        let mark = [0x600d_beef_u32.to_le_bytes(), last.to_le_bytes()].concat();
        bytes.windows(8).position(|w| w == mark).unwrap()
    };
    bytes[find(0x1234_5678) + 8..find(0x8765_4321)].to_vec()
}

/// Bytes of some of CLRX's text in a kernel; messages if it is wrong.
fn theirs_with(gpu: &str, before: &str, text: &str) -> Result<Vec<u8>, String> {
    let source = format!(
        ".amdcl2\n.gpu {gpu}\n.64bit\n{before}\n.kernel k\n.config\n.dims x\n.text\n{BEGIN}\n{text}\n{END}\ns_endpgm\n"
    );
    let output = clrx::assemble(&clrx::Options::default(), "k.s", source.into_bytes());
    let messages = String::from_utf8(output.render_diagnostics()).unwrap();
    output.binary.map(|b| between(&b)).ok_or(messages)
}

fn theirs(gpu: &str, text: &str) -> Vec<u8> {
    theirs_with(gpu, "", text).unwrap_or_else(|e| panic!("{gpu}: {text}\n{e}"))
}

/// Bytes of LLVM's text.
fn llvms(cpu: &str, text: &str) -> Vec<u8> {
    let mut options = Options::new(Target::new(processor(cpu).unwrap()));
    options.triple = "amdgcn-amd-amdhsa".into();
    options.os = Os::AmdHsa;
    options.output = OutputType::Obj;
    let source = format!("{BEGIN}\n{text}\n{END}\n");
    let output = assemble(&options, "k.s", source.into_bytes());
    assert!(!output.failed(), "{}", String::from_utf8_lossy(&output.render_diagnostics()));
    between(&elf::write(&output).unwrap())
}

/// Each pair on each of the GPUs.
fn same(gpus: &[(&str, &str)], pairs: &[(&str, &str)]) {
    for (gpu, cpu) in gpus {
        for (clrx, llvm) in pairs {
            assert_eq!(theirs(gpu, clrx), llvms(cpu, llvm), "{gpu}: {clrx}");
        }
    }
}

const HAWAII: (&str, &str) = ("Hawaii", "gfx701");
const FIJI: (&str, &str) = ("Fiji", "gfx803");
const VEGA: (&str, &str) = ("GFX900", "gfx900");

#[test]
fn comments_statements_and_case() {
    same(
        &[HAWAII, FIJI, VEGA],
        &[
            ("s_nop 1 # to the end ; s_nop 2", "s_nop 1"),
            ("s_nop 1; s_nop 2", "s_nop 1\ns_nop 2"),
            ("s_nop /* here\nand there */ 3", "s_nop 3"),
            ("s_mov_b32 \\\n s1, s2", "s_mov_b32 s1, s2"),
            ("S_Mov_B32 S1, VCC_LO", "s_mov_b32 s1, vcc_lo"),
            ("x = 5; s_mov_b32 s1, x//2+7%%4", "s_mov_b32 s1, 5"),
            ("3: s_branch 3b; s_branch 3f; 3: s_nop 0", "a: s_branch a\ns_branch b\nb: s_nop 0"),
        ],
    );
}

#[test]
fn registers_and_their_names() {
    same(
        &[HAWAII, FIJI, VEGA],
        &[
            ("s_mov_b32 s[5], s[2+1]", "s_mov_b32 s5, s3"),
            ("z = 4; s_mov_b64 s[z:z+1], s[8:9]", "s_mov_b64 s[4:5], s[8:9]"),
            ("acc = %v[16:31]; v_mov_b32 acc[4], acc[7]", "v_mov_b32 v20, v23"),
            ("id = %s8; v_mov_b32 v1, id", "v_mov_b32 v1, s8"),
            ("one = %1; s_mov_b32 s0, one", "s_mov_b32 s0, 1"),
            ("p = %s[4:11]; i = 2; s_mov_b64 p[i:i+1], p[0:1]", "s_mov_b64 s[6:7], s[4:5]"),
            ("s_mov_b64 exec, vcc", "s_mov_b64 exec, vcc"),
            ("s_mov_b32 m0, -1", "s_mov_b32 m0, -1"),
            ("v_cndmask_b32 v0, v1, v2, vcc", "v_cndmask_b32 v0, v1, v2, vcc"),
        ],
    );
}

#[test]
fn literals() {
    same(
        &[HAWAII, FIJI, VEGA],
        &[
            ("s_mov_b32 s0, 0b1010101", "s_mov_b32 s0, 0x55"),
            ("s_mov_b32 s0, 0377", "s_mov_b32 s0, 0xff"),
            ("s_mov_b32 s0, 'a'", "s_mov_b32 s0, 0x61"),
            ("v_add_f32 v0, 2.5, v1", "v_add_f32 v0, 0x40200000, v1"),
            ("v_add_f32 v0, 1.0, v1", "v_add_f32 v0, 1.0, v1"),
            ("v_mov_b32 v0, 1.5s", "v_mov_b32 v0, 0x3fc00000"),
            ("v_mov_b32 v0, 1.5h", "v_mov_b32 v0, 0x3e00"),
            ("s_mov_b32 s0, @1+2", "s_mov_b32 s0, 3"),
            (".byte 1, 2, 3, 4", ".byte 1, 2, 3, 4"),
            (".half 1.0, -2.0", ".short 0x3c00, 0xc000"),
            (".float 1.0; .double 2.0", ".long 0x3f800000, 0, 0x40000000"),
            (".ascii \"ab\\n\"; .asciz \"c\"; .p2align 2", ".ascii \"ab\\nc\"\n.byte 0, 0, 0, 0"),
            (".fill 2, 4, 7", ".long 7, 7"),
        ],
    );
    // A literal dword where a constant would do: CLRX's lit().
    assert_eq!(
        theirs("Fiji", "s_mov_b32 s0, lit(4)"),
        [0xbe80_00ff_u32.to_le_bytes(), 4u32.to_le_bytes()].concat()
    );
}

#[test]
fn conditions_repetition_and_macros() {
    for (gpu, cpu) in [HAWAII, FIJI, VEGA] {
        let number = ["gfx701", "gfx803", "gfx900"].iter().position(|c| *c == cpu).unwrap();
        let llvm = format!("s_nop {number}");
        for clrx in [
            ".ifarch gfx7\ns_nop 0\n.elseifarch gfx8\ns_nop 1\n.else\ns_nop 2\n.endif",
            ".ifarch GCN1.1\ns_nop 0\n.endif\n.ifarch VI\ns_nop 1\n.endif\n.ifarch Vega\ns_nop 2\n.endif",
            ".ifgpu hawaii\ns_nop 0\n.elseifgpu Fiji\ns_nop 1\n.else\ns_nop 2\n.endif",
            ".get_arch a\n.if a==1\ns_nop 0\n.elseif a==2\ns_nop 1\n.else\ns_nop 2\n.endif",
        ] {
            assert_eq!(theirs(gpu, clrx), llvms(cpu, &llvm), "{gpu}: {clrx}");
        }
    }
    same(
        &[FIJI],
        &[
            (".if64; s_nop 1; .else; s_nop 2; .endif", "s_nop 1"),
            (".iffmt amdcl2; s_nop 1; .endif; .ifnfmt rocm; s_nop 2; .endif", "s_nop 1\ns_nop 2"),
            (".ifdef x; s_nop 1; .endif; x = 1; .ifdef x; s_nop 2; .endif", "s_nop 2"),
            (".ifc ab, ab; s_nop 1; .endif; .ifb; s_nop 2; .endif", "s_nop 1\ns_nop 2"),
            (".rept 3; s_nop 1; .endr", "s_nop 1\ns_nop 1\ns_nop 1"),
            (".irp n, 1, 2; s_nop \\n; .endr", "s_nop 1\ns_nop 2"),
            (".irpc n, 12; s_nop \\n; .endr", "s_nop 1\ns_nop 2"),
            (".for i=0, i<3, i+1; s_nop i; .endr", "s_nop 0\ns_nop 1\ns_nop 2"),
            ("i = 2; .while i; s_nop i; i = i-1; .endr", "s_nop 2\ns_nop 1"),
            (
                ".macro m a, b=7, c:vararg; s_nop \\a; s_nop \\b; .endm; m 1; m 2, 3",
                "s_nop 1\ns_nop 7\ns_nop 2\ns_nop 3",
            ),
            (".macro t; s_nop \\@; .endm; t; t", "s_nop 0\ns_nop 1"),
            (".scope a; n = 4; .ends; s_nop a::n", "s_nop 4"),
            (".scope a; n = 4; .ends; .using a; s_nop n; .unusing a", "s_nop 4"),
            (".enum >2, x, y; s_nop x; s_nop y", "s_nop 2\ns_nop 3"),
            (".eqv n, m+1; m = 1; s_nop n; m = 2; s_nop n", "s_nop 2\ns_nop 3"),
        ],
    );
    // Comparisons give all bits; the order of precedence is CLRX's, where & binds as + does.
    same(&[FIJI], &[(".int 3==3, 2<1, 1+2&2, 6*2|1, -1>@1, 1?5:6", ".long -1, 0, 2, 13, -1, 5")]);
}

#[test]
fn instructions_are_spelled_otherwise() {
    same(
        &[HAWAII],
        &[
            ("v_add_u32 v0, vcc, v1, v2", "v_add_i32 v0, vcc, v1, v2"),
            ("buffer_wbinvl1_sc", "buffer_wbinvl1_vol"),
            ("s_load_dword s0, s[2:3], 12", "s_load_dword s0, s[2:3], 12"),
            ("v_qsad_u8 v[0:1], v[2:3], v4, v[6:7]", "v_qsad_pk_u16_u8 v[0:1], v[2:3], v4, v[6:7]"),
        ],
    );
    same(
        &[FIJI],
        &[
            ("v_add_i32 v0, vcc, v1, v2", "v_add_u32 v0, vcc, v1, v2"),
            ("s_load_dword s0, s[2:3], 12*4", "s_load_dword s0, s[2:3], 48"),
            ("s_cmp_ne_u64 s[0:1], s[2:3]", "s_cmp_lg_u64 s[0:1], s[2:3]"),
            (
                "v_mov_b32 v0, v1 dst_sel:b1 src0_sel:word_1 dst_unused:preserve",
                "v_mov_b32_sdwa v0, v1 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1",
            ),
            ("v_mov_b32 v0, v1 row_shl:3", "v_mov_b32_dpp v0, v1 row_shl:3 row_mask:0xf bank_mask:0xf"),
        ],
    );
    same(
        &[VEGA],
        &[
            ("v_add_u32 v0, v1, v2", "v_add_u32 v0, v1, v2"),
            (
                "global_load_dword v0, v[2:3], off inst_offset:-16",
                "global_load_dword v0, v[2:3], off offset:-16",
            ),
        ],
    );
    same(
        &[HAWAII, FIJI, VEGA],
        &[
            ("v_cmp_lg_u32 vcc, v0, v1", "v_cmp_ne_u32 vcc, v0, v1"),
            ("v_cmpx_t_f32 vcc, v0, v1", "v_cmpx_tru_f32 vcc, v0, v1"),
            ("v_add_f32 v0, v1, v2 vop3", "v_add_f32_e64 v0, v1, v2"),
            ("v_add_f32 v0, abs(v1), -v2 mul:2 clamp", "v_add_f32_e64 v0, |v1|, -v2 clamp mul:2"),
            ("v_add_f32 v0, v1, v2 omod:3", "v_add_f32_e64 v0, v1, v2 div:2"),
            ("v_add_f32 v0, v1, v2 abs:1 neg:[0,1]", "v_add_f32_e64 v0, |v1|, -v2"),
            ("s_getreg_b32 s0, hwreg(mode, 0, 4)", "s_getreg_b32 s0, hwreg(HW_REG_MODE, 0, 4)"),
            ("s_waitcnt vmcnt(0) & lgkmcnt(0)", "s_waitcnt vmcnt(0) & lgkmcnt(0)"),
            (
                "buffer_store_dword v3, v0, s[0:3], s13 offset:76",
                "buffer_store_dword v3, off, s[0:3], s13 offset:76",
            ),
            (
                "buffer_load_dword v3, v0, s[0:3], 0 offen glc:1 slc glc",
                "buffer_load_dword v3, v0, s[0:3], 0 offen glc slc",
            ),
            (
                "tbuffer_load_format_x v0, v1, s[0:3], 0 idxen format:[8_8,uint]",
                "tbuffer_load_format_x v0, v1, s[0:3], 0 idxen format:[BUF_DATA_FORMAT_8_8,BUF_NUM_FORMAT_UINT]",
            ),
            ("v_cmp_class_f64 vcc, v[68:69], s[68:69]", "v_cmp_class_f64 vcc, v[68:69], s68"),
            ("flat_atomic_add v1, v[2:3], v4 glc", "flat_atomic_add v1, v[2:3], v4 glc"),
            ("flat_atomic_add v[2:3], v4", "flat_atomic_add v[2:3], v4"),
            (
                "image_load v[4:7], v[2:3], s[16:23] dmask:15 unorm",
                "image_load v[4:7], v[2:3], s[16:23] dmask:0xf unorm",
            ),
            ("a: s_cbranch_scc0 a", "a: s_cbranch_scc0 a"),
            ("ds_write_b32 v0, v1 offset:16", "ds_write_b32 v0, v1 offset:16"),
        ],
    );
}

/// The 256 bytes before a kernel's code.
fn set_up(gpu: &str, config: &str) -> Vec<u8> {
    let source = format!(".amdcl2\n.gpu {gpu}\n.64bit\n.kernel k\n{config}\n.text\n{BEGIN}\ns_endpgm\n");
    let output = clrx::assemble(&clrx::Options::default(), "k.s", source.into_bytes());
    let messages = String::from_utf8(output.render_diagnostics()).unwrap();
    let binary = output.binary.unwrap_or_else(|| panic!("{config}\n{messages}"));
    let mark = [0x600d_beef_u32.to_le_bytes(), 0x1234_5678_u32.to_le_bytes()].concat();
    let code = binary.windows(8).position(|w| w == mark).unwrap();
    binary[code - 256..code].to_vec()
}

/// `.hsaconfig` names the fields of `amd_kernel_code_t`, which are where AMD's header has them.
#[test]
fn fields_of_the_set_up() {
    let fields: [(&str, usize, &[u8]); 22] = [
        (".codeversion 1, 2", 0, &[1, 0, 0, 0, 2, 0, 0, 0]),
        (".machine 1, 8, 0, 4", 8, &[1, 0, 8, 0, 0, 0, 4, 0]),
        (".kernel_code_prefetch_offset 512", 24, &[0, 2, 0, 0, 0, 0, 0, 0]),
        (".kernel_code_prefetch_size 64", 32, &[64, 0, 0, 0, 0, 0, 0, 0]),
        (".max_scratch_backing_memory 4096", 40, &[0, 16, 0, 0, 0, 0, 0, 0]),
        (".workitem_private_segment_size 68", 60, &[68, 0, 0, 0]),
        (".workgroup_group_segment_size 128", 64, &[128, 0, 0, 0]),
        (".gds_segment_size 32", 68, &[32, 0, 0, 0]),
        (".kernarg_segment_size 96", 72, &[96, 0, 0, 0, 0, 0, 0, 0]),
        (".workgroup_fbarrier_count 3", 80, &[3, 0, 0, 0]),
        (".wavefront_sgpr_count 20", 84, &[20, 0]),
        (".workitem_vgpr_count 12", 86, &[12, 0]),
        // The first one, and how many.
        (".reserved_vgprs 4, 7", 88, &[4, 0, 4, 0]),
        (".reserved_sgprs 8, 9", 92, &[8, 0, 2, 0]),
        (".debug_wavefront_private_segment_offset_sgpr 7", 96, &[7, 0]),
        (".debug_private_segment_buffer_sgpr 8", 98, &[8, 0]),
        // Powers of two.
        (".kernarg_segment_align 32", 100, &[5]),
        (".group_segment_align 64", 101, &[6]),
        (".private_segment_align 128", 102, &[7]),
        (".wavefront_size 64", 103, &[6]),
        (".call_convention 0x34", 104, &[0x34, 0, 0, 0]),
        (".runtime_loader_kernel_symbol 0x1234", 120, &[0x34, 0x12, 0, 0, 0, 0, 0, 0]),
    ];
    for (line, at, bytes) in fields {
        let made = set_up("Fiji", &format!(".hsaconfig\n.dims x\n{line}"));
        assert_eq!(made[at..at + bytes.len()], *bytes, "{line}");
    }
    let properties: [(&str, u32); 14] = [
        (".use_private_segment_buffer", 1),
        (".use_dispatch_ptr", 1 << 1),
        (".use_queue_ptr", 1 << 2),
        (".use_kernarg_segment_ptr", 1 << 3),
        (".use_dispatch_id", 1 << 4),
        (".use_flat_scratch_init", 1 << 5),
        (".use_private_segment_size", 1 << 6),
        (".use_grid_workgroup_count xyz", 7 << 7),
        (".use_ordered_append_gds", 1 << 16),
        (".private_elem_size 8", 2 << 17),
        (".use_ptr64", 1 << 19),
        (".use_dynamic_call_stack", 1 << 20),
        (".use_debug_enabled", 1 << 21),
        (".use_xnack_enabled", 1 << 22),
    ];
    for (line, bit) in properties {
        let word = |config: &str| {
            let made = set_up("Fiji", config);
            u32::from_le_bytes(made[56..60].try_into().unwrap())
        };
        let (with, without) = (word(&format!(".hsaconfig\n.dims x\n{line}")), word(".hsaconfig\n.dims x"));
        let changed = if line.contains("elem") { with & 3 << 17 } else { with & !without };
        assert_eq!(changed, bit, "{line}: {with:#x}, {without:#x}");
    }
}

/// `.config`'s features on each generation: how many registers hold what a kernel finds (seed 003), in PGM_RSRC2's bits 5:1.
#[test]
fn features_have_their_registers() {
    for (gpu, counts) in
        [("Hawaii", [4, 6, 8, 10, 12]), ("Fiji", [4, 6, 8, 10, 12]), ("GFX900", [6, 8, 10, 10, 12])]
    {
        for (feature, count) in ["", ".useargs", ".usesetup", ".useenqueue", ".usegeneric"].iter().zip(counts)
        {
            let made = set_up(gpu, &format!(".config\n.dims x\n{feature}"));
            let registers = u32::from_le_bytes(made[52..56].try_into().unwrap());
            assert_eq!(registers >> 1 & 31, count, "{gpu} {feature}");
        }
    }
    // Mode, priority and exceptions, in their places of PGM_RSRC1 and PGM_RSRC2.
    let made = set_up(
        "Fiji",
        ".config\n.dims xyz\n.floatmode 0xf3\n.priority 2\n.exceptions 0x21\n.ieeemode\n.tgsize",
    );
    let word = |at: usize| u32::from_le_bytes(made[at..at + 4].try_into().unwrap());
    assert_eq!([word(48) >> 12 & 0xff, word(48) >> 10 & 3, word(48) >> 23 & 1], [0xf3, 2, 1]);
    // Group ids of all three, the size, work-item ids of three dimensions, the mask.
    assert_eq!(
        [word(52) >> 7 & 7, word(52) >> 10 & 1, word(52) >> 11 & 3, word(52) >> 24 & 0x7f],
        [7, 1, 2, 0x21]
    );
}
