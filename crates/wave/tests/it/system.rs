//! Events, faults, counters: what the machine sees of a wave.

use crate::harness::{CPUS, Machine};
use std::sync::Arc;
use std::time::Duration;
use wavemill_isa::lookup;
use wavemill_wave::{Clock, Event, FaultKind, Simd};

fn machine(text: &str) -> Machine {
    Machine::new("gfx90a", Simd::Portable, text, 256)
}

/// Whether a processor has the instruction a text begins with.
fn has(cpu: &str, text: &str) -> bool {
    let (name, level) = (text.split(' ').next().unwrap_or(text), crate::harness::target(cpu).level());
    lookup::by_name(name).any(|row| row.opcode_at(level).is_some())
}

/// Every family, on memory that is not there: v[0:1] is its address, s[4:7] a buffer that begins 64 bytes before.
#[test]
fn wild_accesses_are_faults() {
    let (read, write) = (FaultKind::Read { bytes: 4 }, FaultKind::Write { bytes: 4 });
    let format = "format:[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_UINT]";
    let cases = [
        ("flat_load_dword v2, v[0:1]".to_owned(), read),
        ("flat_store_dword v[0:1], v2".into(), write),
        ("flat_atomic_add v[0:1], v2".into(), write),
        ("global_load_dword v2, v[0:1], off".into(), read),
        ("global_store_dword v[0:1], v2, off".into(), write),
        ("global_atomic_add v[0:1], v2, off".into(), write),
        ("buffer_load_dword v2, v3, s[4:7], 0 offen".into(), read),
        ("buffer_store_dword v2, v3, s[4:7], 0 offen".into(), write),
        ("buffer_atomic_add v2, v3, s[4:7], 0 offen".into(), write),
        ("buffer_load_format_x v2, v3, s[4:7], 0 offen".into(), read),
        (format!("tbuffer_load_format_x v2, v3, s[4:7], 0 offen {format}"), read),
        (format!("tbuffer_store_format_x v2, v3, s[4:7], 0 offen {format}"), write),
        ("s_load_dword s2, s[8:9], 0".into(), read),
        ("s_store_dword s2, s[8:9], 0".into(), write),
        ("s_atomic_add s2, s[8:9], 0".into(), write),
    ];
    for cpu in CPUS {
        for (text, kind) in cases.iter().filter(|(text, _)| has(cpu, text)) {
            let m = Machine::new(cpu, Simd::Portable, text, 0);
            let mut wave = m.wave();
            wave.set_exec(0b101);
            wave.vgpr_mut(0).unwrap().fill(0x4040);
            wave.vgpr_mut(1).unwrap().fill(0);
            wave.vgpr_mut(3).unwrap().fill(0x40);
            for (s, word) in [0x4000, 0, 0x1000, 0x0002_4fac, 0x4040, 0].into_iter().enumerate() {
                wave.set_sgpr(4 + s as u32, word);
            }
            let Event::Fault(f) = m.run(&mut wave) else { panic!("no fault: {text} on {cpu}") };
            let lanes = if text.starts_with("s_") { 0 } else { 0b101 };
            assert_eq!((f.kind, f.lanes, f.address), (*kind, lanes, 0x4040), "{text} on {cpu}");
            assert_eq!(f.pc, wave.pc, "{text} on {cpu}");
        }
    }
}

/// An address that passes the end of 64 bits begins again at 0.
#[test]
fn addresses_wrap_around() {
    for cpu in ["gfx900", "gfx906", "gfx908", "gfx90a"] {
        for text in ["flat_load_dword v2, v[0:1] offset:16", "global_load_dword v2, v[0:1], off offset:16"] {
            let m = Machine::new(cpu, Simd::Portable, text, 0);
            let mut wave = m.wave();
            wave.set_exec(2);
            wave.vgpr_mut(0).unwrap().fill(-8i32 as u32);
            wave.vgpr_mut(1).unwrap().fill(!0);
            let Event::Fault(f) = m.run(&mut wave) else { panic!("no fault: {text} on {cpu}") };
            assert_eq!((f.kind, f.lanes, f.address), (FaultKind::Read { bytes: 4 }, 2, 8), "{text} on {cpu}");
        }
    }
}

#[test]
fn read_only_memory_stays_so() {
    let m = machine(
        "s_getpc_b64 s[0:1]\n v_mov_b32 v0, s0\n v_mov_b32 v1, s1\n global_store_dword v[0:1], v2, off",
    );
    let mut wave = m.wave();
    assert!(matches!(m.run(&mut wave), Event::Fault(f) if f.kind == FaultKind::ReadOnly { bytes: 4 }));
}

/// Every family, on an address two bytes (eight-byte atomics: four bytes) from where it should be.
#[test]
fn misaligned_atomics_fault() {
    let cases = [
        ("flat_atomic_add v[0:1], v2", 4),
        ("flat_atomic_add_x2 v[4:5], v[2:3]", 8),
        ("global_atomic_add v[0:1], v2, off", 4),
        ("global_atomic_add_x2 v[4:5], v[2:3], off", 8),
        ("buffer_atomic_add v2, off, s[4:7], 0 offset:2", 4),
        ("buffer_atomic_add_x2 v[2:3], off, s[4:7], 0 offset:4", 8),
        ("ds_add_u32 v6, v2", 4),
        ("ds_add_u64 v6, v[2:3] offset:2", 8),
        ("s_atomic_add_x2 s[2:3], s[4:5], 4", 8),
        ("s_buffer_atomic_add_x2 s[2:3], s[4:7], 4", 8),
    ];
    for cpu in CPUS {
        for (text, bytes) in cases.iter().filter(|(text, _)| has(cpu, text)) {
            let mut m = Machine::new(cpu, Simd::Portable, text, 64);
            let base = m.buffer(&[0; 64]);
            let mut wave = m.wave();
            wave.set_exec(1);
            for (r, address) in [(0, base + 2), (4, base + 4)] {
                wave.vgpr_mut(r).unwrap()[0] = address as u32;
                wave.vgpr_mut(r + 1).unwrap()[0] = (address >> 32) as u32;
            }
            wave.vgpr_mut(6).unwrap()[0] = 2;
            wave.set_sgpr64(4, base);
            wave.set_sgpr(6, 64);
            wave.set_sgpr(7, 0x0002_4fac);
            wave.set_sgpr(124, !0);
            let Event::Fault(f) = m.run(&mut wave) else { panic!("no fault: {text} on {cpu}") };
            assert_eq!(f.kind, FaultKind::Misaligned { bytes: *bytes }, "{text} on {cpu}");
            assert_eq!(m.read(base, 64), [0; 64], "{text} on {cpu}");
        }
    }
}

#[test]
fn illegal_words_and_jumps_are_faults() {
    let m = machine(".long 0xffffffff");
    assert!(matches!(m.run(&mut m.wave()), Event::Fault(f) if matches!(f.kind, FaultKind::Illegal { .. })));
    let m = machine("s_mov_b64 s[0:1], 64\n s_setpc_b64 s[0:1]");
    assert!(matches!(m.run(&mut m.wave()), Event::Fault(f) if f.kind == FaultKind::Fetch && f.pc == 64));
}

#[test]
fn events_stop_and_resume() {
    for cpu in CPUS {
        let text = "s_barrier\n s_trap 2\n s_mov_b32 m0, 5\n s_sendmsg sendmsg(MSG_INTERRUPT)\n s_sleep 1\n s_mov_b32 s5, 1";
        let m = Machine::new(cpu, Simd::Portable, text, 256);
        let mut wave = m.wave();
        assert_eq!(m.run(&mut wave), Event::Barrier, "{cpu}");
        assert_eq!(m.run(&mut wave), Event::Trap(2), "{cpu}");
        assert_eq!(m.run(&mut wave), Event::Message { message: 1, m0: 5 }, "{cpu}");
        assert_eq!(m.run(&mut wave), Event::Preempted, "{cpu}");
        assert_eq!(m.run(&mut wave), Event::End, "{cpu}");
        assert_eq!(wave.sgpr(5), 1, "{cpu}");
        assert_eq!(wave.counters.total(), 7, "{cpu}");
    }
}

/// Caches, priorities and traces are not there to be seen.
#[test]
fn what_leaves_no_trace() {
    const QUIET: [&str; 22] = [
        "s_nop 3",
        "s_wakeup",
        "s_setprio 2",
        "s_sethalt 0",
        "s_setkill 0",
        "s_waitcnt 0",
        "s_icache_inv",
        "s_ttracedata",
        "s_set_gpr_idx_off",
        "s_dcache_inv",
        "s_dcache_inv_vol",
        "s_dcache_wb",
        "s_dcache_wb_vol",
        "s_atc_probe 3, s[2:3], 0",
        "s_atc_probe_buffer 3, s[4:7], 0",
        "ds_nop",
        "buffer_wbinvl1",
        "buffer_wbinvl1_vol",
        "buffer_wbinvl1_sc",
        "buffer_wbl2",
        "buffer_invl2",
        "v_nop",
    ];
    for cpu in CPUS {
        for text in QUIET.into_iter().filter(|text| has(cpu, text)) {
            let m = Machine::new(cpu, Simd::Portable, text, 256);
            let mut wave = m.wave();
            wave.set_exec(0x1234);
            wave.set_vcc(0x5678);
            wave.scc = true;
            (0..64).for_each(|r| wave.set_sgpr(r, r * 3));
            (0..64).for_each(|r| wave.vgpr_mut(r).unwrap().fill(u32::from(r) * 5));
            let mode = wave.mode;
            assert_eq!(m.run(&mut wave), Event::End, "{text} on {cpu}");
            assert_eq!(
                (wave.exec(), wave.vcc(), wave.scc, wave.mode),
                (0x1234, 0x5678, true, mode),
                "{text} on {cpu}"
            );
            assert!((0..64).all(|r| wave.sgpr(r) == r * 3), "{text} on {cpu}");
            assert!((0..64).all(|r| *wave.vgpr(r).unwrap() == [u32::from(r) * 5; 64]), "{text} on {cpu}");
            assert!(m.group.lds.snapshot().iter().all(|b| *b == 0), "{text} on {cpu}");
        }
    }
}

#[test]
fn clocks_do_not_run_backwards() {
    for cpu in CPUS {
        let real = if cpu.starts_with("gfx9") || cpu == "gfx803" { "s_memrealtime" } else { "s_memtime" };
        for name in ["s_memtime", real] {
            let m = Machine::new(
                cpu,
                Simd::Portable,
                &format!("{name} s[0:1]\n s_waitcnt 0\n {name} s[2:3]\n s_waitcnt 0"),
                0,
            );
            let mut wave = m.wave();
            assert_eq!(m.run(&mut wave), Event::End, "{name} on {cpu}");
            assert!(wave.sgpr64(0) <= wave.sgpr64(2) && wave.sgpr64(2) != 0, "{name} on {cpu}");
        }
    }
}

/// S_MEMTIME counts shader clocks (ROCm/hip #3110), S_MEMREALTIME 27 MHz on gfx900 (microsoft/mscclpp #237) and 25 MHz on gfx906,
/// gfx908 and gfx90a (ROCm/rccl #1652): one second, at 1,700 MHz.
#[test]
fn clocks_have_their_rates() {
    for (cpu, mhz) in [("gfx900", 27), ("gfx906", 25), ("gfx908", 25), ("gfx90a", 25)] {
        let m = Machine::new(cpu, Simd::Portable, "s_memtime s[0:1]\ns_memrealtime s[2:3]\ns_waitcnt 0", 0);
        let mut wave = m.wave();
        let now = Arc::new(|| Duration::from_secs(1));
        wave.clock = Clock::Source { now, shader: 1700 };
        assert_eq!(m.run(&mut wave), Event::End, "{cpu}");
        assert_eq!((wave.sgpr64(0), wave.sgpr64(2)), (1_700_000_000, mhz * 1_000_000), "{cpu}");
    }
}

#[test]
fn endless_loops_are_preempted() {
    let m = machine("loop:\n s_branch loop");
    assert_eq!(m.run(&mut m.wave()), Event::Preempted);
}

#[test]
fn counters_know_classes_and_fidelity() {
    let m = machine("v_rcp_f32 v0, v1\n v_add_u32 v0, v1, v2\n s_mov_b32 s0, 1\n s_waitcnt 0\n ds_nop");
    let mut wave = m.wave();
    assert_eq!(m.run(&mut wave), Event::End);
    assert_eq!(wave.counters.class, [1, 2, 0, 2, 0, 1, 0, 0]);
    assert_eq!((wave.counters.approximate, wave.counters.waits), (1, 1));
}
