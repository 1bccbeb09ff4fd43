//! Events, faults, counters: what the machine sees of a wave.

use crate::harness::Machine;
use wavemill_isa::lookup;
use wavemill_wave::{Event, FaultKind, Simd};

const CPUS: [&str; 7] = ["gfx600", "gfx701", "gfx803", "gfx900", "gfx906", "gfx908", "gfx90a"];

fn machine(text: &str) -> Machine {
    Machine::new("gfx90a", Simd::Portable, text, 256)
}

#[test]
fn wild_accesses_are_faults() {
    let m = machine("v_mov_b32 v1, 0\n global_load_dword v2, v[0:1], off");
    let mut wave = m.wave();
    wave.set_exec(0b101);
    wave.vgpr_mut(0).unwrap().fill(0x40);
    let Event::Fault(f) = m.run(&mut wave) else { panic!("no fault") };
    assert_eq!((f.kind, f.lanes, f.address), (FaultKind::Read { bytes: 4 }, 0b101, 0x40));
    assert_eq!(f.pc, wave.pc);
}

#[test]
fn read_only_memory_stays_so() {
    let m = machine(
        "s_getpc_b64 s[0:1]\n v_mov_b32 v0, s0\n v_mov_b32 v1, s1\n global_store_dword v[0:1], v2, off",
    );
    let mut wave = m.wave();
    assert!(matches!(m.run(&mut wave), Event::Fault(f) if f.kind == FaultKind::ReadOnly { bytes: 4 }));
}

#[test]
fn misaligned_atomics_fault() {
    let mut m = machine("global_atomic_add v[0:1], v2, off");
    let address = m.buffer(&[0; 64]) + 2;
    let mut wave = m.wave();
    wave.set_exec(1);
    wave.vgpr_mut(0).unwrap()[0] = address as u32;
    wave.vgpr_mut(1).unwrap()[0] = (address >> 32) as u32;
    assert!(matches!(m.run(&mut wave), Event::Fault(f) if f.kind == FaultKind::Misaligned { bytes: 4 }));
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
        let level = crate::harness::target(cpu).level();
        for text in QUIET {
            let name = text.split(' ').next().unwrap_or(text);
            if !lookup::by_name(name).any(|row| row.opcode_at(level).is_some()) {
                continue;
            }
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
