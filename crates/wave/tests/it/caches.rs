//! What the manual says of caches of the first level (8.2.3, 9.1.10, 12.6, 12.13), with memory that somebody else changes
//! while a wave runs; and memory violations as the manual has them (3.11, 10.6).

use crate::harness::{CPUS, Machine, engines, target};
use std::sync::Arc;
use wavemill_wave::hwreg::{mode, trapsts};
use wavemill_wave::{Caches, Event, Violations, Wave};

/// Runs two pieces of code on one wave with caches, with memory that reads 0x1111 before and 0x2222 between them: what v2
/// and s8 are afterwards, and what is in memory.
fn twice(cpu: &str, engine: usize, first: &str, second: &str) -> (u32, u32, u32) {
    let (_, engine) = engines(target(cpu)).swap_remove(engine);
    let text = format!("{first}\ns_sleep 0\n{second}");
    let mut machine = Machine::with(file!(), target(cpu), engine, &text, 0);
    let memory = machine.buffer(&[0x11; 256]);
    let mut wave = machine.wave();
    wave.caches = Some(Arc::new(Caches::default()));
    set_address(&mut wave, memory);
    assert_eq!(machine.run(&mut wave), Event::Preempted, "{text}");
    let before = word(&machine.read(memory, 4));
    if before == 0x1111_1111 {
        machine.memory.write(memory, &[0x22; 256]);
    }
    assert_eq!(machine.run(&mut wave), Event::End, "{text}");
    let v2 = wave.vgpr(2).map_or(0, |v| v[0]);
    let s8 = wave.sgpr(8);
    if let Some(caches) = &wave.caches {
        caches.flush(&machine.memory);
    }
    (v2, s8, word(&machine.read(memory, 4)))
}

fn word(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |v, &b| v << 8 | u32::from(b))
}

fn set_address(wave: &mut Wave, memory: u64) {
    wave.set_exec(1);
    let words = [memory as u32, (memory >> 32) as u32, 4096, 4 << 12 | 4 << 15];
    for (i, v) in words.into_iter().enumerate() {
        wave.set_sgpr(4 + i as u32, v);
    }
    for lane in 0..64 {
        wave.vgpr_mut(0).unwrap()[lane] = memory as u32;
        wave.vgpr_mut(1).unwrap()[lane] = (memory >> 32) as u32;
        wave.vgpr_mut(4).unwrap()[lane] = 4 * lane as u32;
        wave.vgpr_mut(5).unwrap()[lane] = 0x3333_3333;
    }
    wave.set_sgpr(16, 0x4444_4444);
}

const OLD: u32 = 0x1111_1111;
const NEW: u32 = 0x2222_2222;

/// 9.1.10: "the load can read data from the GPU L1" without GLC, and with it "intentionally misses"; 12.13: BUFFER_WBINVL1
/// and its kin invalidate.
#[test]
fn vector_loads_are_stale_until_the_cache_is_told() {
    for cpu in CPUS {
        let load = "buffer_load_dword v2, off, s[4:7], 0";
        let stale = |second: &str| {
            (0..engines(target(cpu)).len()).map(|e| twice(cpu, e, load, second).0).collect::<Vec<_>>()
        };
        let all = |values: Vec<u32>, want: u32, why: &str| {
            assert!(values.iter().all(|&v| v == want), "{cpu}, {why}: {values:x?}");
        };
        all(stale(load), OLD, "a hit");
        all(stale(&format!("{load} glc")), NEW, "glc");
        all(stale(&format!("{load} glc\n{load}")), NEW, "the line has gone");
        all(stale(&format!("{load} slc")), OLD, "slc is L2's");
        all(stale(&format!("buffer_wbinvl1\n{load}")), NEW, "buffer_wbinvl1");
        if !matches!(cpu, "gfx600") {
            all(stale(&format!("buffer_wbinvl1_vol\n{load}")), NEW, "buffer_wbinvl1_vol");
        }
        all(stale(&format!("buffer_load_dword v2, off, s[4:7], 0 offset:64\n{load}")), OLD, "another line");
        if cpu == "gfx90a" {
            all(stale(&format!("buffer_invl2\nbuffer_wbl2\n{load}")), OLD, "L2 is not L1");
        }
        // An atomic is done behind the cache, and its line goes.
        all(stale(&format!("buffer_atomic_or v6, off, s[4:7], 0\n{load}")), NEW, "an atomic");
        // A store of part of a line does not leave it there.
        all(stale(&format!("buffer_store_dword v5, off, s[4:7], 0 offset:4\n{load}")), NEW, "a store");
    }
}

/// 9.1.10: a line whose 64 bytes one store wrote stays, unless it has GLC.
#[test]
fn whole_lines_that_were_stored_stay() {
    for (modifier, want) in [("", 0x3333_3333), (" glc", NEW)] {
        for (name, engine) in engines(target("gfx90a")) {
            let text = format!(
                "s_mov_b64 exec, 0xffff\nbuffer_store_dword v5, v4, s[4:7], 0 offen{modifier}\ns_sleep 0\n\
                 buffer_load_dword v2, off, s[4:7], 0"
            );
            let mut machine = Machine::with(file!(), target("gfx90a"), engine, &text, 0);
            // Lines begin at multiples of 64.
            let at = machine.buffer(&[0x11; 256]).next_multiple_of(64);
            let mut wave = machine.wave();
            wave.caches = Some(Arc::new(Caches::default()));
            set_address(&mut wave, at);
            assert_eq!(machine.run(&mut wave), Event::Preempted);
            assert_eq!(word(&machine.read(at, 4)), 0x3333_3333, "stores go to memory");
            machine.memory.write(at, &[0x22; 64]);
            assert_eq!(machine.run(&mut wave), Event::End);
            assert_eq!(wave.vgpr(2).map(|v| v[0]), Some(want), "{name}{modifier}");
        }
    }
}

/// 8.2.3 and 12.6: the scalar cache is stale until S_DCACHE_INV; what S_STORE wrote stays in it until S_DCACHE_WB, or is lost
/// with S_DCACHE_DISCARD.
#[test]
fn scalar_cache() {
    for cpu in ["gfx803", "gfx900", "gfx90a"] {
        let discards = cpu != "gfx803";
        for engine in 0..engines(target(cpu)).len() {
            let load = "s_load_dword s8, s[4:5], 0x0";
            let run = |first: &str, second: &str| twice(cpu, engine, first, second);
            assert_eq!(run(load, load).1, OLD);
            assert_eq!(run(load, &format!("{load} glc")).1, NEW);
            assert_eq!(run(load, &format!("s_dcache_inv\n{load}")).1, NEW);
            // Vector loads see memory.
            let vector = "buffer_load_dword v2, off, s[4:7], 0";
            assert_eq!(run(load, vector).0, NEW);
            // A scalar store: seen by scalar loads at once, by others after S_DCACHE_WB.
            let store = "s_store_dword s16, s[4:5], 0x0";
            let (v2, s8, _) = run("s_nop 0", &format!("{store}\n{load}\n{vector}"));
            assert_eq!((v2, s8), (NEW, 0x4444_4444));
            let (v2, s8, memory) = run("s_nop 0", &format!("{store}\ns_dcache_wb\n{load}\n{vector}"));
            assert_eq!((v2, s8, memory), (0x4444_4444, 0x4444_4444, 0x4444_4444));
            let (v2, ..) = run("s_nop 0", &format!("{store} glc\n{vector}"));
            assert_eq!(v2, 0x4444_4444, "written through");
            // Without S_DCACHE_WB, the end of the dispatch writes it.
            assert_eq!(run("s_nop 0", store).2, 0x4444_4444);
            if discards {
                let (_, s8, memory) =
                    run("s_nop 0", &format!("{store}\ns_dcache_discard s[4:5], 0x0\n{load}"));
                assert_eq!((s8, memory), (NEW, NEW), "discarded");
            }
        }
    }
}

/// 3.11 and 10.6: with EXCP_EN.mem_viol = 0 a violation sets the sticky bit of TRAPSTS, reads give zero, writes do nothing, other
/// lanes do theirs, and the wave goes on. Scalar accesses report nothing. Else it is an event.
#[test]
fn violations_as_the_manual_has_them() {
    for (name, engine) in engines(target("gfx90a")) {
        let text = "global_load_dword v2, v[0:1], off\nglobal_store_dword v[0:1], v5, off\ns_load_dword s8, s[10:11], 0x0\n\
            s_getreg_b32 s12, hwreg(HW_REG_TRAPSTS, 0, 12)\ns_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 8, 1), 0\n\
            s_getreg_b32 s13, hwreg(HW_REG_TRAPSTS, 0, 12)";
        let mut machine = Machine::with(file!(), target("gfx90a"), engine, text, 0);
        let memory = machine.buffer(&[0x11; 256]);
        let prepare = |machine: &Machine| {
            let mut wave = machine.wave();
            for lane in 0..64usize {
                // Odd lanes go where nothing is.
                let at = if lane % 2 == 0 { memory + 4 * lane as u64 } else { 0x40 };
                wave.vgpr_mut(0).unwrap()[lane] = at as u32;
                wave.vgpr_mut(1).unwrap()[lane] = (at >> 32) as u32;
                wave.vgpr_mut(2).unwrap()[lane] = 7;
                wave.vgpr_mut(5).unwrap()[lane] = 0x3333_3333;
            }
            wave.set_sgpr64(10, 0x40);
            wave.set_sgpr(8, 7);
            wave
        };
        let mut wave = prepare(&machine);
        assert!(matches!(machine.run(&mut wave), Event::Fault(_)), "{name}: reported unless asked otherwise");
        let mut wave = prepare(&machine);
        wave.violations = Violations::Architectural;
        assert_eq!(machine.run(&mut wave), Event::End, "{name}");
        for lane in 0..64 {
            let (want, stored) = if lane % 2 == 0 { (OLD, 0x3333_3333) } else { (0, OLD) };
            assert_eq!(wave.vgpr(2).unwrap()[lane], want, "{name}, lane {lane}");
            assert_eq!(word(&machine.read(memory + 4 * lane as u64, 4)), stored, "{name}, lane {lane}");
        }
        assert_eq!(wave.sgpr(8), 0, "{name}: the scalar load");
        assert_eq!(wave.sgpr(12), trapsts::MEMORY_VIOLATION, "{name}: sticky");
        assert_eq!(wave.sgpr(13), 0, "{name}: until it is cleared");
        // A scalar access alone is not noted.
        let scalar = "s_load_dword s8, s[10:11], 0x0\ns_getreg_b32 s12, hwreg(HW_REG_TRAPSTS, 0, 12)";
        let engine = engines(target("gfx90a")).into_iter().find(|e| e.0 == name).unwrap().1;
        let quiet = Machine::with(file!(), target("gfx90a"), engine, scalar, 0);
        let mut wave = quiet.wave();
        wave.violations = Violations::Architectural;
        wave.set_sgpr64(10, 0x40);
        wave.set_sgpr(8, 7);
        assert_eq!((quiet.run(&mut wave), wave.sgpr(8), wave.sgpr(12)), (Event::End, 0, 0), "{name}");
        // With EXCP_EN.mem_viol and nobody who handles it, it is an event.
        let mut wave = prepare(&machine);
        wave.violations = Violations::Architectural;
        wave.mode |= trapsts::MEMORY_VIOLATION << mode::EXCP_EN_SHIFT;
        assert!(matches!(machine.run(&mut wave), Event::Fault(_)), "{name}: enabled");
    }
}

/// 3.11: an LDS alignment error is a violation like any other; lanes that are aligned do their work.
#[test]
fn misaligned_lds_atomics() {
    for (name, engine) in engines(target("gfx90a")) {
        let machine = Machine::with(file!(), target("gfx90a"), engine, "ds_add_rtn_u32 v2, v0, v1", 1024);
        let mut wave = machine.wave();
        wave.violations = Violations::Architectural;
        for lane in 0..64usize {
            wave.vgpr_mut(0).unwrap()[lane] = 8 * lane as u32 + (lane as u32 & 1);
            wave.vgpr_mut(1).unwrap()[lane] = 5;
            wave.vgpr_mut(2).unwrap()[lane] = 7;
        }
        assert_eq!(machine.run(&mut wave), Event::End, "{name}");
        let lds = machine.group.lds.snapshot();
        for lane in 0..64usize {
            assert_eq!(
                word(&lds[8 * lane..8 * lane + 4]),
                if lane % 2 == 0 { 5 } else { 0 },
                "{name} {lane}"
            );
            assert_eq!(wave.vgpr(2).unwrap()[lane], 0, "{name}: old numbers, and zero for violations");
        }
        assert_eq!(wave.trapsts & trapsts::MEMORY_VIOLATION, trapsts::MEMORY_VIOLATION, "{name}");
    }
}

/// IB_STS (manual, table 17): VM_CNT is in 23:22 and 3:0, EXP_CNT in 6:4, LGKM_CNT in 11:8, "issued but not yet returned" each. With
/// caches an operation goes on until it is waited for; without, all are over when the next instruction runs.
#[test]
fn counters_of_what_is_under_way() {
    let loads = "buffer_load_dword v2, off, s[4:7], 0\n".repeat(18);
    let text = format!(
        "s_getreg_b32 s20, hwreg(HW_REG_IB_STS)\n{loads}
         s_getreg_b32 s21, hwreg(HW_REG_IB_STS)
         ds_read_b32 v3, v4
         s_load_dword s8, s[4:5], 0x0
         s_getreg_b32 s22, hwreg(HW_REG_IB_STS)
         s_waitcnt vmcnt(3)
         s_getreg_b32 s23, hwreg(HW_REG_IB_STS)
         s_waitcnt lgkmcnt(0)
         s_getreg_b32 s24, hwreg(HW_REG_IB_STS)
         s_waitcnt vmcnt(0)
         s_getreg_b32 s25, hwreg(HW_REG_IB_STS)
         buffer_load_dword v2, off, s[4:7], 0
         poll:
         s_getreg_b32 s26, hwreg(HW_REG_IB_STS)
         s_cmp_lg_u32 s26, 0
         s_cbranch_scc1 poll"
    );
    for cpu in CPUS {
        for with in [true, false] {
            for (name, engine) in engines(target(cpu)) {
                let mut machine = Machine::with(file!(), target(cpu), engine, &text, 64);
                let memory = machine.buffer(&[0x11; 256]);
                let mut wave = machine.wave();
                wave.caches = with.then(|| Arc::new(Caches::default()));
                wave.set_sgpr(124, !0);
                set_address(&mut wave, memory);
                assert_eq!(machine.run(&mut wave), Event::End, "{cpu}");
                // Before GFX9 the counter ends at 15.
                let many = if cpu.starts_with("gfx9") { 18 } else { 15 };
                let vm = |n: u32| n & 15 | n >> 4 << 22;
                let want = match with {
                    true => [0, vm(many), vm(many) | 2 << 8, 3 | 2 << 8, 3, 0, 0],
                    false => [0; 7],
                };
                let got: [u32; 7] = std::array::from_fn(|i| wave.sgpr(20 + i as u32));
                assert_eq!(got, want, "{cpu} {name} caches: {with}");
            }
        }
    }
}
