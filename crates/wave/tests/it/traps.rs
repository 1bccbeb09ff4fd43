//! Trap handlers, exceptions, halts, and what the host can do to a wave (manual 3.10, 3.11, 12.3, 12.5).

use crate::harness::{Machine, assemble, target};
use crate::images::{Resource, memory};
use wavemill_wave::hwreg::{mode, status, trapsts};
use wavemill_wave::{Bases, Event, FaultKind, Simd, Watch, Wave};

const CPUS: [&str; 7] = ["gfx90a", "gfx908", "gfx906", "gfx900", "gfx803", "gfx701", "gfx600"];
/// S_RFE_RESTORE_B64 and S_ENDPGM_SAVED came with GFX8.
const FROM_GFX8: [&str; 5] = ["gfx90a", "gfx908", "gfx906", "gfx900", "gfx803"];

/// A program behind a handler of its own, which starts at the code's second dword.
fn with_handler(cpu: &str, handler: &str, program: &str) -> (Machine, Wave) {
    let text = format!("s_branch main\n{handler}\nmain:\n{program}\n");
    let machine = Machine::new(cpu, Simd::Portable, &text, 256);
    let mut wave = machine.wave();
    wave.set_trap_handler(wave.pc + 4, 0x1234_5678_9abc);
    (machine, wave)
}

/// Counts in s10, keeps the cause in s[12:13], goes on behind the instruction.
const COUNT: &str = "s_add_u32 s10, s10, 1\n s_mov_b64 s[12:13], ttmp[0:1]\n s_getreg_b32 s14, hwreg(HW_REG_TRAPSTS)\n \
     s_getreg_b32 s15, hwreg(HW_REG_STATUS)\n s_and_b32 ttmp1, ttmp1, 0xffff\n";
const NEXT: &str = "s_add_u32 ttmp0, ttmp0, 4\n s_addc_u32 ttmp1, ttmp1, 0\n s_rfe_b64 ttmp[0:1]\n";
const SAME: &str = "s_rfe_b64 ttmp[0:1]\n";

#[test]
fn a_trap_enters_the_handler_and_returns() {
    for cpu in CPUS {
        let (m, mut wave) =
            with_handler(cpu, &format!("{COUNT}{NEXT}"), "s_mov_b32 s0, 1\n s_trap 7\n s_mov_b32 s1, 2");
        let start = wave.pc;
        assert_eq!(m.run(&mut wave), Event::End, "{cpu}");
        assert_eq!((wave.sgpr(0), wave.sgpr(1), wave.sgpr(10)), (1, 2, 1), "{cpu}");
        // {0, rewind 0, host 0, id 7, PC of the S_TRAP itself}.
        let cause = wave.sgpr64(12);
        assert_eq!(cause >> 48, 7, "{cpu}");
        let code =
            assemble(target(cpu), "t.s", &format!("s_branch main\n{COUNT}{NEXT}\nmain:\n s_mov_b32 s0, 1"));
        assert_eq!(cause & 0xffff_ffff_ffff, start + code.len() as u64, "{cpu}");
        assert_ne!(wave.sgpr(15) & status::PRIV, 0, "the handler is privileged");
        assert!(!wave.privileged());
    }
}

#[test]
fn without_a_handler_traps_are_the_machine_s_or_nothing() {
    let m = Machine::new("gfx90a", Simd::Portable, "s_trap 2\n s_mov_b32 s0, 1", 0);
    let mut wave = m.wave();
    assert_eq!(m.run(&mut wave), Event::Trap(2));
    assert_eq!(m.run(&mut wave), Event::End);
    // TRAP_EN = 0: S_TRAP is a no-operation (manual 3.10).
    let (m, mut wave) = with_handler("gfx90a", &format!("{COUNT}{NEXT}"), "s_trap 2\n s_mov_b32 s0, 1");
    wave.status &= !status::TRAP_EN;
    assert_eq!(m.run(&mut wave), Event::End);
    assert_eq!((wave.sgpr(0), wave.sgpr(10)), (1, 0));
}

#[test]
fn returning_is_for_handlers() {
    for text in ["s_rfe_b64 s[0:1]", "s_rfe_restore_b64 s[0:1], s2"] {
        let m = Machine::new("gfx90a", Simd::Portable, text, 0);
        let mut wave = m.wave();
        let Event::Fault(fault) = m.run(&mut wave) else { panic!("{text}") };
        assert!(matches!(fault.kind, FaultKind::Illegal { .. }));
        assert_eq!(fault.pc, wave.pc);
    }
    // S_RFE_RESTORE ignores its second argument.
    let handler = format!("{COUNT} s_add_u32 ttmp0, ttmp0, 4\n s_rfe_restore_b64 ttmp[0:1], s20\n");
    for cpu in FROM_GFX8 {
        let (m, mut wave) = with_handler(cpu, &handler, "s_trap 1\n s_mov_b32 s1, 2");
        assert_eq!(m.run(&mut wave), Event::End, "{cpu}");
        assert_eq!((wave.sgpr(1), wave.privileged()), (2, false), "{cpu}");
    }
}

#[test]
fn the_handler_finds_its_addresses() {
    let handler = "s_getreg_b32 s0, hwreg(HW_REG_TBA_LO)\n s_getreg_b32 s1, hwreg(HW_REG_TBA_HI)\n \
         s_getreg_b32 s2, hwreg(HW_REG_TMA_LO)\n s_getreg_b32 s3, hwreg(HW_REG_TMA_HI)\n s_endpgm";
    let (m, mut wave) = with_handler("gfx90a", handler, "s_trap 1");
    let tba = wave.pc + 4;
    assert_eq!(m.run(&mut wave), Event::End);
    assert_eq!((wave.sgpr64(0), wave.sgpr64(2)), (tba, 0x1234_5678_9abc));
    for cpu in ["gfx803", "gfx701", "gfx600"] {
        // The handler may write them there: a second trap goes elsewhere.
        let (m, mut wave) =
            with_handler(cpu, "s_mov_b64 s[0:1], tba\n s_mov_b64 s[2:3], tma\n s_endpgm", "s_trap 1");
        let tba = wave.pc + 4;
        assert_eq!(m.run(&mut wave), Event::End);
        assert_eq!((wave.sgpr64(0), wave.sgpr64(2)), (tba, 0x1234_5678_9abc), "{cpu}");
    }
}

/// The handler may write STATUS: it gives back SCC, which it needs itself.
#[test]
fn the_handler_restores_the_condition_code() {
    let handler = "s_getreg_b32 ttmp2, hwreg(HW_REG_STATUS)\n s_cmp_eq_u32 s0, s0\n s_add_u32 ttmp0, ttmp0, 4\n \
         s_and_b32 ttmp1, ttmp1, 0xffff\n s_setreg_b32 hwreg(HW_REG_STATUS, 0, 1), ttmp2\n s_rfe_b64 ttmp[0:1]";
    for (compare, want) in [("s_cmp_eq_u32 s0, s0", true), ("s_cmp_lg_u32 s0, s0", false)] {
        let (m, mut wave) = with_handler("gfx90a", handler, &format!("{compare}\n s_trap 3"));
        assert_eq!(m.run(&mut wave), Event::End);
        assert_eq!(wave.scc, want);
    }
}

#[test]
fn single_steps() {
    // Four instructions trap behind each of them; S_ENDPGM does not (manual 3.5).
    let program = "s_mov_b32 s0, 1\n v_mov_b32 v0, 2\n s_branch over\n over:\n s_mov_b32 s1, 3";
    for cpu in CPUS {
        let (m, mut wave) = with_handler(cpu, &format!("{COUNT}{SAME}"), program);
        wave.mode |= mode::DEBUG;
        assert_eq!(m.run(&mut wave), Event::End, "{cpu}");
        // The first S_BRANCH, to the program, counts, too.
        assert_eq!((wave.sgpr(10), wave.sgpr(1), wave.sgpr(13) >> 16), (5, 3, 0), "{cpu}");
        let (m, mut wave) = with_handler(cpu, &format!("{COUNT}{SAME}"), program);
        wave.mode |= mode::DEBUG;
        wave.status &= !status::TRAP_EN;
        assert_eq!(m.run(&mut wave), Event::End, "{cpu}");
        assert_eq!(wave.sgpr(10), 0, "only with TRAP_EN");
    }
}

#[test]
fn stepping_begins_and_ends_with_mode() {
    let program = "s_mov_b32 s0, 1\n s_setreg_imm32_b32 hwreg(HW_REG_MODE, 11, 1), 1\n s_mov_b32 s1, 3\n \
         s_setreg_imm32_b32 hwreg(HW_REG_MODE, 11, 1), 0\n s_mov_b32 s2, 4\n s_mov_b32 s3, 5";
    let (m, mut wave) = with_handler("gfx90a", &format!("{COUNT}{SAME}"), program);
    assert_eq!(m.run(&mut wave), Event::End);
    // Behind s1's move and behind the instruction that ends it.
    assert_eq!((wave.sgpr(10), wave.sgpr(3)), (2, 5));
}

#[test]
fn the_host_asks_for_a_trap() {
    let (m, mut wave) = with_handler("gfx90a", &format!("{COUNT}{SAME}"), "s_mov_b32 s0, 1");
    let start = wave.pc;
    wave.host_trap(9);
    assert_eq!(m.run(&mut wave), Event::End);
    assert_eq!((wave.sgpr(0), wave.sgpr(10)), (1, 1));
    assert_eq!(wave.sgpr64(12), start | 9 << 48 | 1 << 56, "HT is set");
    // In the handler it waits until that has returned: the wave comes back to it at once.
    let handler = format!("s_cmp_eq_u32 s10, 0\n s_cbranch_scc0 second\n s_sleep 1\n second:\n{COUNT}{NEXT}");
    let (m, mut wave) = with_handler("gfx90a", &handler, "s_trap 1\n s_mov_b32 s0, 1\n s_mov_b32 s1, 1");
    assert_eq!(m.run(&mut wave), Event::Preempted);
    assert!(wave.privileged());
    wave.host_trap(5);
    assert_eq!(m.run(&mut wave), Event::End);
    assert_eq!((wave.sgpr(10), wave.sgpr64(12) >> 48), (2, 5 | 1 << 8));
    // Nobody to trap to: ignored.
    let m = Machine::new("gfx90a", Simd::Portable, "s_mov_b32 s0, 1", 0);
    let mut wave = m.wave();
    wave.host_trap(5);
    assert_eq!(m.run(&mut wave), Event::End);
}

#[test]
fn saving_the_context() {
    // A shader can set SAVECTX itself; the handler clears it and ends the wave as saved.
    let handler = format!("{COUNT} s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 10, 1), 0\n s_endpgm_saved");
    let program = "s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 10, 1), 1\n s_nop 0\n s_nop 0\n s_mov_b32 s0, 1";
    for cpu in FROM_GFX8 {
        let (m, mut wave) = with_handler(cpu, &handler, program);
        assert_eq!(m.run(&mut wave), Event::End, "{cpu}");
        assert_eq!((wave.sgpr(10), wave.sgpr(0), wave.sgpr(14)), (1, 0, trapsts::SAVECTX), "{cpu}");
        assert_eq!(wave.trapsts & trapsts::SAVECTX, 0, "{cpu}");
    }
}

#[test]
fn halting() {
    let m = Machine::new("gfx90a", Simd::Portable, "s_sethalt 1\n s_mov_b32 s0, 1", 0);
    let mut wave = m.wave();
    assert_eq!(m.run(&mut wave), Event::Halt);
    assert_eq!(m.run(&mut wave), Event::Halt, "it stays halted");
    wave.resume();
    assert_eq!((m.run(&mut wave), wave.sgpr(0)), (Event::End, 1));
    // S_SENDMSGHALT sends, then halts.
    for cpu in CPUS {
        let text = "s_sendmsghalt sendmsg(MSG_INTERRUPT)\n s_mov_b32 s0, 1";
        let m = Machine::new(cpu, Simd::Portable, text, 0);
        let mut wave = m.wave();
        assert_eq!(m.run(&mut wave), Event::Message { message: 1, m0: 0 }, "{cpu}");
        assert_eq!(m.run(&mut wave), Event::Halt, "{cpu}");
        wave.resume();
        assert_eq!((m.run(&mut wave), wave.sgpr(0)), (Event::End, 1), "{cpu}");
    }
    // The handler does not halt; the wave does when it returns (manual 12.5, S_SETHALT).
    let (m, mut wave) =
        with_handler("gfx90a", &format!("s_sethalt 1\n{COUNT}{NEXT}"), "s_trap 1\n s_mov_b32 s0, 1");
    assert_eq!(m.run(&mut wave), Event::Halt);
    assert_eq!((wave.sgpr(10), wave.sgpr(0), wave.privileged()), (1, 0, false));
    // A host trap reaches a halted wave; the handler lets it go on.
    let (m, mut wave) =
        with_handler("gfx90a", &format!("s_sethalt 0\n{COUNT}{SAME}"), "s_sethalt 1\n s_mov_b32 s0, 1");
    assert_eq!(m.run(&mut wave), Event::Halt);
    wave.host_trap(1);
    assert_eq!((m.run(&mut wave), wave.sgpr(0), wave.sgpr(10)), (Event::End, 1, 1));
}

#[test]
fn killing() {
    let m = Machine::new(
        "gfx90a",
        Simd::Portable,
        "s_setkill 0\n s_mov_b32 s0, 1\n s_setkill 1\n s_mov_b32 s0, 2",
        0,
    );
    let mut wave = m.wave();
    assert_eq!((m.run(&mut wave), wave.sgpr(0)), (Event::End, 1));
}

#[test]
fn performance_levels() {
    for cpu in CPUS {
        let text = "s_incperflevel 3\n s_incperflevel 3\n s_decperflevel 15";
        let m = Machine::new(cpu, Simd::Portable, text, 0);
        let mut wave = m.wave();
        assert_eq!(m.run(&mut wave), Event::End, "{cpu}");
        assert_eq!((wave.perf_levels[3], wave.perf_levels[15]), (2, u32::MAX), "{cpu}");
    }
}

#[test]
fn violations_trap_when_enabled() {
    let program = "v_mov_b32 v1, 0\n v_mov_b32 v2, 7\n flat_load_dword v2, v[0:1]\n s_mov_b32 s0, 1";
    let (m, mut wave) = with_handler("gfx90a", &format!("{COUNT}{SAME}"), program);
    wave.set_exec(0b101);
    wave.mode |= trapsts::MEMORY_VIOLATION << mode::EXCP_EN_SHIFT;
    assert_eq!(m.run(&mut wave), Event::End);
    // Reads give zero, the handler sees the bit, the wave goes on behind the instruction.
    assert_eq!((wave.sgpr(0), wave.sgpr(10)), (1, 1));
    assert_ne!(wave.sgpr(14) & trapsts::MEMORY_VIOLATION, 0);
    assert_eq!((wave.vgpr(2).unwrap()[0], wave.vgpr(2).unwrap()[2]), (0, 0));
    // Not enabled, it is a fault, as ever.
    let (m, mut wave) = with_handler("gfx90a", &format!("{COUNT}{SAME}"), program);
    assert!(matches!(m.run(&mut wave), Event::Fault(_)));
    assert_ne!(wave.trapsts & trapsts::MEMORY_VIOLATION, 0);
    // Misaligned LDS atomics report one (manual 3.11), scalar accesses do not.
    let (m, mut wave) =
        with_handler("gfx90a", &format!("{COUNT}{SAME}"), "v_mov_b32 v0, 2\n ds_add_u32 v0, v0");
    wave.mode |= trapsts::MEMORY_VIOLATION << mode::EXCP_EN_SHIFT;
    assert_eq!((m.run(&mut wave), wave.sgpr(10)), (Event::End, 1));
    let (m, mut wave) =
        with_handler("gfx90a", &format!("{COUNT}{SAME}"), "s_mov_b64 s[0:1], 0\n s_load_dword s2, s[0:1], 0");
    wave.mode |= trapsts::MEMORY_VIOLATION << mode::EXCP_EN_SHIFT;
    assert!(matches!(m.run(&mut wave), Event::Fault(_)));
}

#[test]
fn illegal_instructions_trap() {
    let handler = format!("{COUNT}{NEXT}");
    let (m, mut wave) = with_handler("gfx90a", &handler, ".long 0xbfff0000\n s_mov_b32 s0, 1");
    assert_eq!(m.run(&mut wave), Event::End);
    assert_eq!((wave.sgpr(0), wave.sgpr(10)), (1, 1));
    assert_ne!(wave.sgpr(14) & trapsts::ILLEGAL, 0);
}

#[test]
fn watched_addresses() {
    let program = "v_mov_b32 v2, 1\n global_store_dword v0, v2, s[20:21]\n global_load_dword v3, v0, s[20:21] offset:8\n \
         s_mov_b32 s0, 1";
    for (watch, index, want) in [
        // Watch 0 has no bit of its own, the others 12 to 14.
        (0, 0, trapsts::ADDRESS_WATCH),
        (8, 2, trapsts::ADDRESS_WATCH | 1 << 13),
        (8, 3, trapsts::ADDRESS_WATCH | 1 << 14),
        (12, 1, 0),
    ] {
        let (mut m, mut wave) = with_handler("gfx90a", &format!("{COUNT}{SAME}"), program);
        let buffer = m.buffer(&[0; 64]);
        wave.set_sgpr64(20, buffer);
        wave.set_exec(1);
        wave.mode |= trapsts::ADDRESS_WATCH << mode::EXCP_EN_SHIFT;
        let mut watches = Box::new([None; 4]);
        watches[index] = Some(Watch::new(buffer + watch, 4));
        wave.watches = Some(watches.clone());
        assert_eq!(m.run(&mut wave), Event::End);
        assert_eq!((wave.sgpr(0), wave.sgpr(10)), (1, (want != 0) as u32), "{watch}");
        assert_eq!(wave.sgpr(14) & (trapsts::EXCP | trapsts::WATCHES), want);
        // Not enabled, the bits are set all the same.
        let mut wave2 = m.wave();
        wave2.set_sgpr64(20, buffer);
        wave2.set_exec(1);
        wave2.watches = Some(watches);
        assert_eq!((m.run(&mut wave2), wave2.trapsts), (Event::End, want));
    }
}

/// Converting instructions and images are watched, too: every texel that a filter reads, and nothing that is out of
/// range.
#[test]
fn watched_texels() {
    let (reads, writes, atomics) = (1, 2, 4);
    for (text, kind, touched) in [
        // Elements of four bytes (8_8_8_8) and of two (16) in a buffer with a stride of 8; the lane's index is 2.
        ("buffer_load_format_xyzw v[4:7], v0, s[4:7], 0 idxen", reads, [16..20, 0..0]),
        ("buffer_store_format_x v4, v0, s[4:7], 0 idxen", writes, [16..20, 0..0]),
        ("tbuffer_load_format_x v4, v0, s[4:7], dfmt:2, nfmt:4, 0 idxen offset:4", reads, [20..22, 0..0]),
        ("tbuffer_store_format_x v4, v0, s[4:7], dfmt:2, nfmt:4, 0 idxen offset:4", writes, [20..22, 0..0]),
        ("buffer_load_format_x v4, v1, s[4:7], 0 idxen", reads, [0..0, 0..0]),
        // Texels of four bytes in rows of 64; the lane's are (2, 1), and beyond the image.
        ("image_load v[4:7], v[2:3], s[8:15] dmask:0xf unorm", reads, [264..268, 0..0]),
        ("image_store v4, v[2:3], s[8:15] dmask:1 unorm", writes, [264..268, 0..0]),
        ("image_atomic_add v4, v[2:3], s[8:15] dmask:1 unorm", atomics, [264..268, 0..0]),
        ("image_load v4, v[1:2], s[8:15] dmask:1 unorm", reads, [0..0, 0..0]),
        ("image_get_resinfo v[4:7], v0, s[8:15] dmask:0xf unorm", reads, [0..0, 0..0]),
        // Halfway between texels 1 and 2, and rows 0 and 1.
        ("image_sample v4, v[12:13], s[8:15], s[16:19] dmask:1 unorm", reads, [4..12, 260..268]),
    ] {
        let mut m = Machine::new("gfx900", Simd::Portable, text, 0);
        let buffer = memory(&mut m, &[0; 1024]);
        for at in (0..512).step_by(2) {
            for seen in [reads, writes, atomics] {
                let mut wave = m.wave();
                wave.set_exec(1);
                // Identity selects, 8_8_8_8 unorm.
                for (i, w) in [buffer as u32, (buffer >> 32) as u32 | 8 << 16, 16, 0xfac | 10 << 15]
                    .into_iter()
                    .enumerate()
                {
                    wave.set_sgpr(4 + i as u32, w);
                }
                Resource::new(buffer, 9, 10, 0, [64, 4, 1]).set(&mut wave, "gfx900");
                // Unnormalized, bilinear.
                for (i, w) in [1 << 15, 0xfff << 12, 5 << 20, 0].into_iter().enumerate() {
                    wave.set_sgpr(16 + i as u32, w);
                }
                for (v, x) in [(0, 2), (1, 100), (2, 2), (3, 1), (12, 2f32.to_bits()), (13, 1f32.to_bits())] {
                    wave.vgpr_mut(v).unwrap()[0] = x;
                }
                let mut watches = Box::new([None; 4]);
                watches[1] = Some(Watch {
                    reads: seen == reads,
                    writes: seen == writes,
                    atomics: seen == atomics,
                    ..Watch::new(buffer + at, 2)
                });
                wave.watches = Some(watches);
                assert_eq!(m.run(&mut wave), Event::End, "{text}");
                let want = if seen == kind && touched.iter().any(|r| r.contains(&at)) {
                    trapsts::ADDRESS_WATCH | 1 << 12
                } else {
                    0
                };
                assert_eq!(wave.trapsts, want, "{text}: byte {at} watched for {seen}");
            }
        }
    }
}

#[test]
fn code_that_changes() {
    // S_MOVK_I32 s1, 1 is replaced by S_MOVK_I32 s1, 2 between two runs of it.
    let mut m = Machine::new("gfx90a", Simd::Portable, "s_endpgm", 0);
    let loops = "s_mov_b32 s4, 0\n again:\n s_movk_i32 s1, 1\n s_cmp_eq_u32 s4, 1\n s_cbranch_scc1 done\n \
         s_mov_b32 s4, 1\n v_mov_b32 v0, 4\n v_mov_b32 v1, 0xb0010002\n global_store_dword v0, v1, s[20:21]\n \
         s_waitcnt vmcnt(0)\n s_icache_inv\n s_branch again\n done:\n s_endpgm";
    let code = assemble(m.target, "loop.s", loops);
    let address = m.buffer(&code);
    let mut wave = m.wave();
    wave.pc = address;
    wave.set_sgpr64(20, address);
    assert_eq!((m.engine.run(&mut wave, &m.group, &m.memory, 1000), wave.sgpr(1)), (Event::End, 2));
}

/// Code that was another for a while, seen by its first reader then, is what it is again after S_ICACHE_INV.
#[test]
fn code_that_changes_and_changes_back() {
    let mut m = Machine::new("gfx90a", Simd::Portable, "s_endpgm", 0);
    // S_MOVK_I32 s1, 1 is S_MOVK_I32 s1, 2 when it runs first, and the second one adds what it finds.
    let text = "s_mov_b32 s4, 0\n s_mov_b32 s2, 0\n v_mov_b32 v0, target - start\n v_mov_b32 v1, 0xb0010002\n \
         v_mov_b32 v2, 0xb0010001\n global_store_dword v0, v1, s[20:21]\n s_waitcnt vmcnt(0)\n s_branch target\n \
         back:\n global_store_dword v0, v2, s[20:21]\n s_waitcnt vmcnt(0)\n s_icache_inv\n s_mov_b32 s4, 1\n \
         s_branch target\n s_nop 0\n target:\n s_movk_i32 s1, 1\n s_lshl_b32 s2, s2, 4\n s_add_u32 s2, s2, s1\n \
         s_cmp_eq_u32 s4, 0\n s_cbranch_scc1 back\n s_endpgm";
    let code = assemble(m.target, "loop.s", &format!("start:\n {text}"));
    let address = m.buffer(&code);
    let mut wave = m.wave();
    wave.pc = address;
    wave.set_sgpr64(20, address);
    assert_eq!((m.engine.run(&mut wave, &m.group, &m.memory, 1000), wave.sgpr(2)), (Event::End, 0x21));
}

/// What S_GETREG shows of the allocations, by generation.
#[test]
fn allocations() {
    let text = "s_getreg_b32 s0, hwreg(HW_REG_GPR_ALLOC)\n s_getreg_b32 s1, hwreg(HW_REG_LDS_ALLOC)\n \
         s_getreg_b32 s2, hwreg(HW_REG_HW_ID)";
    for cpu in CPUS {
        let m = Machine::new(cpu, Simd::Portable, text, 0);
        let mut wave = m.wave();
        wave.sgpr_count = 48;
        wave.lds_bytes = 1000;
        wave.hw_id = 0x0102_0304;
        assert_eq!(m.run(&mut wave), Event::End);
        // 128 VGPRs and 64 accumulators, 48 SGPRs in units of 8; 1000 bytes of LDS in units of 256.
        let vgprs = if cpu == "gfx90a" { 23 << 6 | 31 << 12 } else { 31 << 8 };
        assert_eq!(
            (wave.sgpr(0), wave.sgpr(1), wave.sgpr(2)),
            (vgprs | 5 << 24, 4 << 12, 0x0102_0304),
            "{cpu}"
        );
        // Where they begin: VGPRs in 5:0 and SGPRs in 21:16 (gfx90a: from 18 on), in the units of their sizes; LDS in 7:0.
        let mut wave = m.wave();
        (wave.sgpr_count, wave.lds_bytes) = (48, 1000);
        wave.bases = Bases { vgprs: 160, sgprs: 96, lds: 2048 };
        assert_eq!(m.run(&mut wave), Event::End);
        let bases = if cpu == "gfx90a" { (160 / 8) | ((96 / 8) << 18) } else { (160 / 4) | ((96 / 8) << 16) };
        assert_eq!(
            (wave.sgpr(0), wave.sgpr(1)),
            (vgprs | bases | 5 << 24, (4 << 12) | (2048 / 256)),
            "{cpu}"
        );
    }
}

#[test]
fn float_exceptions_trap_when_enabled() {
    // Division by zero in lanes 20 and 40: the second group of sixteen lanes raised it first.
    let program = "v_rcp_f32 v1, v0\n s_mov_b32 s0, 1\n v_rcp_f32_e64 v1, v0\n s_mov_b32 s1, 1";
    for cpu in CPUS {
        let (m, mut wave) = with_handler(cpu, &format!("{COUNT}{SAME}"), program);
        let start = wave.pc;
        wave.vgpr_mut(0).unwrap().fill(1f32.to_bits());
        wave.vgpr_mut(0).unwrap()[20] = 0;
        wave.vgpr_mut(0).unwrap()[40] = 0;
        wave.mode |= trapsts::DIVIDE_BY_ZERO << mode::EXCP_EN_SHIFT;
        assert_eq!(m.run(&mut wave), Event::End, "{cpu}");
        assert_eq!((wave.sgpr(10), wave.sgpr(0), wave.sgpr(1)), (2, 1, 1), "{cpu}");
        assert_eq!(
            wave.sgpr(14) & (trapsts::EXCP | trapsts::CYCLE),
            trapsts::DIVIDE_BY_ZERO | 1 << 16,
            "{cpu}"
        );
        // Exceptions have id 0; the instruction lies PC_rewind dwords before the PC: two for a VOP3.
        let cause = wave.sgpr64(12);
        assert_eq!(cause >> 48, 2 << 9, "{cpu}");
        assert!((cause & 0xffff_ffff_ffff) > start);
        // The result is there all the same.
        assert_eq!(wave.vgpr(1).unwrap()[20], f32::INFINITY.to_bits());
        // Another exception's enable does nothing, but the flags are gathered.
        let (m, mut wave) = with_handler(cpu, &format!("{COUNT}{SAME}"), program);
        wave.mode |= trapsts::INVALID << mode::EXCP_EN_SHIFT;
        assert_eq!((m.run(&mut wave), wave.sgpr(10)), (Event::End, 0));
        assert_eq!(wave.trapsts & trapsts::EXCP, trapsts::DIVIDE_BY_ZERO);
    }
    // Without a handler of its own, the machine is told.
    let m = Machine::new("gfx90a", Simd::Portable, program, 0);
    let mut wave = m.wave();
    wave.mode |= trapsts::DIVIDE_BY_ZERO << mode::EXCP_EN_SHIFT;
    let pc = wave.pc;
    assert_eq!(m.run(&mut wave), Event::Exception { trapsts: trapsts::DIVIDE_BY_ZERO, pc });
    // Nobody asked, and nobody looks: nothing is gathered, and nothing is lost in speed.
    let mut wave = m.wave();
    wave.observer = None;
    assert_eq!((m.run(&mut wave), wave.trapsts), (Event::End, 0));
}

/// Old comparisons that signal.
#[test]
fn signalling_comparisons() {
    for (text, want) in [
        ("v_cmps_lt_f32 vcc, v0, v1", trapsts::INVALID),
        ("v_cmpsx_lt_f32 vcc, v0, v1", trapsts::INVALID),
        ("v_cmp_lt_f32 vcc, v0, v1", 0),
    ] {
        let m = Machine::new("gfx600", Simd::Portable, text, 0);
        let mut wave = m.wave();
        wave.gather_exceptions = true;
        wave.vgpr_mut(0).unwrap().fill(0x7fc0_0000);
        assert_eq!((m.run(&mut wave), wave.trapsts), (Event::End, want), "{text}");
    }
}
