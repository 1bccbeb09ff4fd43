//! Bugs and their mended twins, in assembly: every bug is found at its line, nothing in the twin.
//!
//! `!` marks the line that comes too early; the line before it that starts with `+` is the twin's alone.

use wavemill_asm::{Options, OutputType, assemble};
use wavemill_check::{Kind, Program, lint};
use wavemill_isa::{Target, target};

const ALL: &str = "gfx600 gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a";
const GFX7: &str = "gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a";
const GFX8: &str = "gfx803 gfx900 gfx906 gfx908 gfx90a";
const GFX9: &str = "gfx900 gfx906 gfx908 gfx90a";

/// What, where, and the code.
const PAIRS: &[(Kind, &str, &str)] = &[
    (Kind::Used, ALL, "s_load_dword s0, s[4:5], 0x0\n+s_waitcnt lgkmcnt(0)\n!s_add_u32 s1, s0, 1"),
    // Scalar loads come in any order: a count of one is no help.
    (
        Kind::Used,
        ALL,
        "s_load_dword s0, s[4:5], 0x0\ns_load_dword s1, s[4:5], 0x4\ns_waitcnt lgkmcnt(1)\n+s_waitcnt lgkmcnt(0)\n\
         !s_add_u32 s2, s0, 1",
    ),
    (Kind::Used, ALL, "buffer_load_dword v0, off, s[4:7], 0\n+s_waitcnt vmcnt(0)\n!v_add_f32 v1, v0, v0"),
    // The older of two loads is there when one is under way, the younger is not.
    (
        Kind::Used,
        ALL,
        "buffer_load_dword v0, off, s[4:7], 0\nbuffer_load_dword v1, off, s[4:7], 0 offset:4\ns_waitcnt vmcnt(1)\n\
         v_add_f32 v2, v0, v0\n+s_waitcnt vmcnt(0)\n!v_add_f32 v3, v1, v1",
    ),
    (Kind::Used, ALL, "s_mov_b32 m0, -1\nds_read_b32 v0, v1\n+s_waitcnt lgkmcnt(0)\n!v_add_f32 v1, v0, v0"),
    // LDS and scalar memory do not come in order with each other: the one load of LDS may be the last.
    (
        Kind::Used,
        ALL,
        "s_mov_b32 m0, -1\nds_read_b32 v0, v1\ns_load_dword s0, s[4:5], 0x0\ns_waitcnt lgkmcnt(1)\n\
         +s_waitcnt lgkmcnt(0)\n!v_add_f32 v1, v0, v0",
    ),
    // The wait is on one path only.
    (
        Kind::Used,
        ALL,
        "buffer_load_dword v0, off, s[4:7], 0\ns_cbranch_scc1 skip\ns_waitcnt vmcnt(0)\nskip:\n+s_waitcnt vmcnt(0)\n\
         !v_add_f32 v1, v0, v0",
    ),
    // Around a loop.
    (
        Kind::Used,
        ALL,
        "v_mov_b32 v0, 0\nloop:\n+s_waitcnt vmcnt(0)\n!v_add_f32 v1, v0, v0\nbuffer_load_dword v0, off, s[4:7], 0\n\
         s_cbranch_scc1 loop",
    ),
    (Kind::Used, GFX7, "flat_load_dword v0, v[2:3]\n+s_waitcnt vmcnt(0) lgkmcnt(0)\n!v_add_f32 v1, v0, v0"),
    // Scalar loads are waited for with LGKM_CNT, too; it says nothing about memory.
    (
        Kind::Used,
        GFX7,
        "flat_load_dword v0, v[2:3]\ns_waitcnt lgkmcnt(0)\n+s_waitcnt vmcnt(0)\n!v_add_f32 v1, v0, v0",
    ),
    // In memory, FLAT counts LGKM_CNT down early: it may be what is done of the two.
    (
        Kind::Used,
        GFX7,
        "s_mov_b32 m0, -1\nds_read_b32 v1, v4\nflat_load_dword v0, v[2:3]\ns_waitcnt vmcnt(0) lgkmcnt(1)\n\
         v_mov_b32 v5, v0\n+s_waitcnt lgkmcnt(0)\n!v_add_f32 v6, v1, v1",
    ),
    (Kind::Used, GFX9, "global_load_dwordx4 v[0:3], v[4:5], off\n+s_waitcnt vmcnt(0)\n!v_mov_b32 v6, v3"),
    (Kind::Used, GFX9, "global_atomic_add v0, v[4:5], v6, off glc\n+s_waitcnt vmcnt(0)\n!v_mov_b32 v6, v0"),
    (
        Kind::Used,
        "gfx90a",
        "global_load_dword a0, v[4:5], off\n+s_waitcnt vmcnt(0)\n!v_accvgpr_read_b32 v6, a0",
    ),
    (Kind::Overwritten, ALL, "s_load_dword s0, s[4:5], 0x0\n+s_waitcnt lgkmcnt(0)\n!s_mov_b32 s0, 1"),
    (Kind::Overwritten, ALL, "buffer_load_dword v0, off, s[4:7], 0\n+s_waitcnt vmcnt(0)\n!v_mov_b32 v0, 1"),
    // A store's address and data are reads, too.
    (
        Kind::Used,
        ALL,
        "buffer_load_dword v0, off, s[4:7], 0\n+s_waitcnt vmcnt(0)\n!buffer_store_dword v0, off, s[4:7], 0 offset:4",
    ),
    (
        Kind::StillRead,
        "gfx600",
        "buffer_store_dword v0, off, s[4:7], 0\n+s_waitcnt expcnt(0)\n!v_mov_b32 v0, 1",
    ),
    (
        Kind::StillRead,
        "gfx600 gfx803 gfx900",
        "exp mrt0 v0, v1, v2, v3 done vm\n+s_waitcnt expcnt(0)\n!v_mov_b32 v2, 1",
    ),
    // Wait states.
    (
        Kind::TooClose,
        GFX8,
        "v_readfirstlane_b32 s4, v0\ns_nop 3\n+s_nop 0\n!buffer_load_dword v1, off, s[4:7], 0",
    ),
    (
        Kind::TooClose,
        "gfx600",
        "v_readfirstlane_b32 s4, v0\ns_nop 2\n+s_nop 0\n!s_load_dword s8, s[4:5], 0x0",
    ),
    (Kind::TooClose, GFX8, "v_mov_b32 v0, 1\ns_nop 0\n+s_nop 0\n!v_mov_b32_dpp v1, v0 row_shl:1"),
    (Kind::TooClose, GFX8, "v_cmpx_lt_f32 vcc, v0, v1\ns_nop 3\n+s_nop 0\n!v_mov_b32_dpp v1, v3 row_shl:1"),
    (Kind::TooClose, ALL, "v_cmp_lt_f32 vcc, v0, v1\ns_nop 2\n+s_nop 0\n!v_div_fmas_f32 v2, v3, v4, v5"),
    (Kind::TooClose, ALL, "v_readfirstlane_b32 s4, v0\ns_nop 2\n+s_nop 0\n!v_readlane_b32 s5, v1, s4"),
    (
        Kind::TooClose,
        ALL,
        "s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s0\ns_nop 0\n+s_nop 0\n!s_getreg_b32 s1, hwreg(HW_REG_MODE)",
    ),
    (
        Kind::TooClose,
        GFX8,
        "s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s0\ns_nop 0\n+s_nop 0\n!s_setreg_b32 hwreg(HW_REG_MODE, 4, 4), s1",
    ),
    (Kind::TooClose, ALL, "s_setreg_b32 hwreg(HW_REG_MODE, 28, 1), s0\ns_nop 0\n+s_nop 0\n!v_mov_b32 v0, 1"),
    (Kind::TooClose, GFX7, "buffer_store_dwordx4 v[0:3], off, s[4:7], 0\n+s_nop 0\n!v_mov_b32 v2, 1"),
    (Kind::TooClose, GFX9, "s_mov_b32 m0, s0\n+s_nop 0\n!s_movrels_b32 s1, s2"),
    (Kind::TooClose, GFX8, "s_mov_b32 m0, s0\n+s_nop 0\n!s_sendmsg sendmsg(MSG_INTERRUPT)"),
    (Kind::TooClose, GFX8, "s_setreg_b32 hwreg(HW_REG_TRAPSTS), s0\n+s_nop 0\n!s_rfe_b64 s[2:3]"),
    (Kind::TooClose, ALL, "v_cmp_lt_f32 vcc, v0, v1\ns_nop 3\n+s_nop 0\n!v_mov_b32 v2, src_vccz"),
    // The memory model.
    (
        Kind::Invalidated,
        GFX9,
        "global_load_dword v0, v[4:5], off glc\n+s_waitcnt vmcnt(0)\n!buffer_wbinvl1_vol\ns_waitcnt vmcnt(0)",
    ),
    (
        Kind::Invalidated,
        "gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a",
        "flat_atomic_add v0, v[4:5], v6 glc\n+s_waitcnt vmcnt(0) lgkmcnt(0)\n!buffer_wbinvl1_vol\ns_waitcnt vmcnt(0) lgkmcnt(0)",
    ),
    (Kind::Released, "gfx90a", "buffer_wbl2\n+s_waitcnt vmcnt(0)\n!global_store_dword v[4:5], v6, off"),
    (Kind::Met, ALL, "s_mov_b32 m0, -1\nds_write_b32 v0, v1\n+s_waitcnt lgkmcnt(0)\n!s_barrier"),
    // What is loaded into LDS is there when VM_CNT says so, and no other counter.
    (
        Kind::Met,
        ALL,
        "s_mov_b32 m0, 0\ns_nop 0\nbuffer_load_dword v0, s[4:7], 0 offen lds\ns_waitcnt lgkmcnt(0)\n\
         +s_waitcnt vmcnt(0)\n!s_barrier",
    ),
    // A scalar load comes back in any order: a count of one is no help.
    (
        Kind::Met,
        ALL,
        "s_mov_b32 m0, -1\nds_write_b32 v0, v1\ns_load_dword s0, s[4:5], 0x0\ns_waitcnt lgkmcnt(1)\n\
         +s_waitcnt lgkmcnt(0)\n!s_barrier",
    ),
    (
        Kind::Returned,
        GFX7,
        "flat_store_dword v[4:5], v6\n+s_waitcnt vmcnt(0) lgkmcnt(0)\n!s_setpc_b64 s[30:31]",
    ),
    (Kind::Returned, GFX9, "global_load_dword v40, v[4:5], off\n+s_waitcnt vmcnt(0)\n!s_setpc_b64 s[30:31]"),
    // Matrix instructions.
    (
        Kind::TooClose,
        "gfx908 gfx90a",
        "v_mov_b32 v0, 1\ns_nop 0\n+s_nop 0\n!v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]",
    ),
    (
        Kind::TooClose,
        "gfx908",
        "v_mfma_f32_16x16x1f32 a[0:15], v0, v1, a[0:15]\ns_nop 7\ns_nop 0\n+s_nop 0\n!v_accvgpr_read_b32 v2, a3",
    ),
    // Of two results in one place, the later one counts: ten wait states, not eighteen.
    (
        Kind::TooClose,
        "gfx908",
        "v_mfma_f32_32x32x2f32 a[0:15], v0, v1, a[0:15]\nv_mfma_f32_16x16x1f32 a[0:15], v0, v1, a[0:15]\n\
         s_nop 7\ns_nop 0\n+s_nop 0\n!v_accvgpr_read_b32 v2, a3",
    ),
    (
        Kind::TooClose,
        "gfx90a",
        "v_mfma_f32_16x16x1f32 v[0:15], v20, v21, v[0:15]\ns_nop 7\ns_nop 1\n+s_nop 0\n!v_mov_b32 v22, v3",
    ),
    (
        Kind::TooClose,
        "gfx90a",
        "v_mfma_f64_16x16x4f64 v[0:7], v[20:21], v[22:23], v[0:7]\ns_nop 7\ns_nop 7\ns_nop 0\n+s_nop 0\n\
         !global_store_dwordx2 v[24:25], v[2:3], off",
    ),
    // Of three instructions, the one between holds back the result of the first.
    (
        Kind::TooClose,
        "gfx908",
        "v_mov_b32 v4, 1\nv_accvgpr_write_b32 a9, v7\n+s_nop 0\n!global_store_dword v[2:3], v4, off",
    ),
    (Kind::TooClose, "gfx908", "v_mov_b32 v2, 1\nv_accvgpr_read_b32 v8, a7\n+s_nop 0\n!ds_write_b32 v2, v4"),
    (
        Kind::TooClose,
        "gfx90a",
        "v_mov_b32 v2, 1\nv_mfma_f64_4x4x4f64 v[30:31], v[20:21], v[22:23], v[30:31]\n+s_nop 0\n\
         !global_load_dword v40, v2, s[4:5]",
    ),
    (Kind::TooClose, "gfx90a", "v_dot2_f32_f16 v0, v1, v2, v3\ns_nop 1\n+s_nop 0\n!v_add_f32 v4, v0, v0"),
];

fn program(cpu: &str, text: &str) -> (Program, Vec<u64>) {
    let target = Target::new(target::processor(cpu).unwrap());
    let mut options = Options::new(target);
    options.output = OutputType::Obj;
    // Labels say where lines begin.
    let lines: String = text.lines().enumerate().map(|(n, l)| format!("line{n}:\n{l}\n")).collect();
    let source = format!("{lines}s_endpgm\n");
    let output = assemble(&options, "pair.s", source.into_bytes());
    assert!(!output.failed(), "{}", String::from_utf8_lossy(&output.render_diagnostics()));
    let file = wavemill_asm::elf::write(&output).unwrap();
    let file = wavemill_object::read::File::parse(&file).unwrap();
    let code = file.sections.iter().find(|s| s.name == ".text").unwrap();
    let place = |n: usize| {
        let name = format!("line{n}");
        file.symbols.iter().find(|s| s.name == name).unwrap().value
    };
    let places = (0..text.lines().count()).map(place).collect();
    (Program::read(target, code.address, code.data, &[code.address]), places)
}

#[test]
fn bugs_are_found_at_their_lines_and_twins_are_clean() {
    let mut pairs = 0;
    for (kind, cpus, text) in PAIRS {
        for cpu in cpus.split_whitespace() {
            pairs += 1;
            let bug: Vec<&str> = text.lines().filter(|l| !l.starts_with('+')).collect();
            let bad = bug.iter().position(|l| l.starts_with('!')).unwrap();
            let (buggy, places) = program(cpu, &bug.join("\n").replace('!', ""));
            let found = lint(&buggy);
            assert_eq!(found.len(), 1, "{cpu}:\n{text}\n{found:#x?}");
            assert_eq!((found[0].kind, found[0].at), (*kind, places[bad]), "{cpu}:\n{text}");
            let (mended, _) = program(cpu, &text.replace(['!', '+'], ""));
            let found = lint(&mended);
            assert!(found.is_empty(), "{cpu}: the twin of\n{text}\n{found:#x?}");
        }
    }
    assert!(pairs >= 120, "only {pairs} pairs");
}
