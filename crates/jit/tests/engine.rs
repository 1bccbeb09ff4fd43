//! What the engine tells of its code, and waves whose last registers nobody looks at.

use wavemill_isa::target::{Target, processor};
use wavemill_jit::Jit;
use wavemill_wave::{Engine, Event, FaultKind, GroupShared, Interp, Memory, Shape, Turns, Wave};

fn target() -> Target {
    Target::new(processor("gfx90a").expect("it is known"))
}

fn assemble(text: &str) -> Vec<u8> {
    let mut options = wavemill_asm::Options::new(target());
    options.output = wavemill_asm::OutputType::Obj;
    let output = wavemill_asm::assemble(&options, "waves", text.into());
    assert!(!output.failed(), "{text}: {}", String::from_utf8_lossy(&output.render_diagnostics()));
    let code = output.object.as_ref().and_then(|o| o.sections.iter().find(|s| s.has_instructions));
    code.map(|s| s.data.to_vec()).unwrap_or_default()
}

/// Adds 3 to sixty-four dwords in place, lane by lane; the last strip loads nothing.
const IN_PLACE: &str = "
    v_lshlrev_b32 v1, 2, v0
    global_load_dword v2, v1, s[2:3]
    s_waitcnt vmcnt(0)
    v_add_u32 v2, 3, v2
    global_store_dword v1, v2, s[2:3]
    s_endpgm
";

/// What comes of two waves that end.
const BOTH_END: Turns = Turns { done: 2, at_barrier: 0, other: None };

/// Runs two waves in turn on a buffer of dwords, the second on what the first has left.
fn run(engine: &dyn Engine, forgets: bool, lanes: u64, dwords: usize) -> (Turns, Vec<u32>) {
    let code = assemble(IN_PLACE);
    let mut buffer: Vec<u32> = (0..64).collect();
    let memory = Memory::new();
    // SAFETY: both live as long as the memory, and are looked at only when nothing runs.
    unsafe {
        memory.add(code.as_ptr() as u64, code.len() as u64, false).expect("a range of its own");
        memory.add(buffer.as_mut_ptr() as u64, 4 * dwords as u64, true).expect("a range of its own");
    }
    let group = GroupShared::new(0);
    let mut waves: Vec<Wave> = (0..2).map(|_| Wave::new(&target(), Shape { vgprs: 8, agprs: 0 })).collect();
    for wave in &mut waves {
        wave.pc = code.as_ptr() as u64;
        wave.forgets = forgets;
        wave.set_exec(lanes);
        wave.set_sgpr64(2, buffer.as_mut_ptr() as u64);
        for (lane, v) in wave.vgpr_mut(0).into_iter().flatten().enumerate() {
            *v = lane as u32;
        }
    }
    let turns = engine.run_in_turn(&mut waves, &group, &memory, u64::MAX);
    engine.invalidate(code.as_ptr() as u64, code.len() as u64);
    drop(memory);
    (turns, buffer)
}

#[test]
fn waves_that_forget_their_registers_store_what_others_do() {
    let engines: Vec<Box<dyn Engine>> = Jit::all(target())
        .into_iter()
        .map(|jit| Box::new(jit) as Box<dyn Engine>)
        .chain([Box::new(Interp::new(target())) as Box<dyn Engine>])
        .collect();
    for engine in &engines {
        for (lanes, forgets) in [(!0u64, true), (!0, false), (0x5a5a_0000_ffff_8001, true), (0, true)] {
            let (turns, buffer) = run(&**engine, forgets, lanes, 64);
            assert_eq!(turns, BOTH_END, "{}", engine.name());
            for (lane, &value) in buffer.iter().enumerate() {
                let want = lane as u32 + if lanes >> lane & 1 != 0 { 6 } else { 0 };
                assert_eq!(value, want, "{}: lane {lane} of {lanes:#x}", engine.name());
            }
        }
    }
}

/// Which lanes load may depend on what a function rarely comes to: here it is an infinity, so that no lane does. What they
/// would load is nowhere.
#[test]
fn lanes_that_are_hoped_to_load_load_nothing() {
    let loads = [
        "global_load_ubyte v4, v[2:3], off",
        "global_load_dword v4, v[2:3], off",
        "global_load_dwordx4 v[4:7], v[2:3], off",
        "global_load_dword v4, v1, s[4:5]",
        "global_load_dwordx2 v[4:5], v1, s[4:5]",
        "ds_read_u8 v4, v1",
        "ds_read_b32 v4, v1",
        "ds_read_b128 v[4:7], v1",
        "ds_read2_b32 v[4:5], v1 offset1:8",
    ];
    for (load, jit) in loads.iter().flat_map(|load| Jit::all(target()).into_iter().map(move |j| (load, j))) {
        let code =
            assemble(&format!("v_exp_f32 v1, s3\n v_cmpx_gt_f64 vcc, s[2:3], v[0:1]\n {load}\n s_endpgm\n"));
        let mut buffer = [0u32; 64];
        let memory = Memory::new();
        // SAFETY: both live as long as the memory, and are looked at only when nothing runs.
        unsafe {
            memory.add(code.as_ptr() as u64, code.len() as u64, false).expect("a range of its own");
            memory.add(buffer.as_mut_ptr() as u64, 256, true).expect("a range of its own");
        }
        let mut wave = Wave::new(&target(), Shape { vgprs: 8, agprs: 0 });
        wave.pc = code.as_ptr() as u64;
        wave.set_sgpr(3, 0x7f30_0000);
        wave.set_sgpr64(4, buffer.as_ptr() as u64);
        for r in 2..8 {
            wave.vgpr_mut(r).into_iter().for_each(|v| *v = [if r < 4 { 0x7f80_0000 } else { 7 }; 64]);
        }
        let event = jit.run(&mut wave, &GroupShared::new(1024), &memory, u64::MAX);
        assert_eq!((event, wave.exec()), (Event::End, 0), "{load}, {}", jit.simd().name());
        assert_eq!(wave.vgpr(4), Some(&[7; 64]), "{load}, {}", jit.simd().name());
        jit.invalidate(code.as_ptr() as u64, code.len() as u64);
    }
}

/// The first wave faults before it stores anything, at its load; the second does not run.
#[test]
fn faults_of_waves_that_forget_come_first() {
    for engine in &Jit::all(target()) {
        let (turns, buffer) = run(engine, true, !0, 40);
        let Turns { done: 0, other: Some(Event::Fault(fault)), .. } = &turns else { panic!("{turns:?}") };
        assert_eq!((fault.lanes, fault.kind), (!0 << 40, FaultKind::Read { bytes: 4 }));
        assert_eq!(buffer, (0..64).collect::<Vec<u32>>());
    }
}

/// Whatever a wave has done to itself, in code or in the interpreter: when it starts again, nothing of it is left.
#[test]
fn a_wave_that_starts_again_is_like_a_new_one() {
    let interpreted =
        "v_readfirstlane_b32 s7, v5\n s_incperflevel 3\n s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), 0x5a";
    // What the interpreter does by itself, but is known to write nothing else than these registers.
    let known = "v_mov_b32 v1, 0\n v_mov_b32 v2, 5\n ds_add_rtn_u64 v[8:9], v1, v[2:3]\n ds_permute_b32 v10, v1, v5\n \
         ds_wrxchg2_rtn_b64 v[12:15], v1, v[2:3], v[4:5] offset0:2 offset1:9\n ds_read_u8_d16_hi v16, v1\n \
         v_mfma_f32_32x32x1f32 v[18:49], v2, v5, v[18:49]\n v_mfma_f64_16x16x4f64 v[50:57], v[4:5], v[6:7], v[50:57]\n \
         s_waitcnt lgkmcnt(0)\n ds_add_rtn_u32 v79, v1, v2\n v_accvgpr_write_b32 a3, v2\n s_nop 4\n \
         v_mfma_f32_4x4x1f32 a[0:3], v2, v5, a[0:3]";
    let shape = Shape { vgprs: 80, agprs: 4 };
    for engine in &Jit::all(target()) {
        for more in ["", interpreted, known] {
            let code = assemble(&format!(
                "s_mov_b64 exec, 0x70f0\n v_mov_b32 v5, 7\n v_mov_b32 v70, v0\n v_cmp_lt_u32 vcc, v70, v5\n \
                 s_mov_b32 s9, 3\n s_cmp_eq_u32 s9, s9\n {more}\n s_cbranch_scc0 1f\n v_mov_b32 v6, 1\n \
                 s_branch 1f\n 1: v_readlane_b32 s8, v70, s9\n v_readlane_b32 s8, v5, s9\n \
                 v_readlane_b32 s8, v6, s9\n s_endpgm\n"
            ));
            let memory = Memory::new();
            // SAFETY: the code lives as long as the memory.
            unsafe {
                memory.add(code.as_ptr() as u64, code.len() as u64, false).expect("a range of its own")
            };
            let mut prototype = Wave::prototype(&target(), shape);
            prototype.pc = code.as_ptr() as u64;
            prototype.forgets = true;
            prototype.set_sgpr(4, 44);
            let mut wave = Wave::new(&target(), shape);
            for _ in 0..3 {
                wave.restart(&prototype);
                for r in 0..84 {
                    assert_eq!(wave.vgpr(r), Some(&[0; 64]), "v{r}");
                }
                for code in 0..128 {
                    assert_eq!(wave.sgpr(code), prototype.sgpr(code), "scalar register {code}");
                }
                let seen =
                    |w: &Wave| (w.pc, w.mode, w.status, w.trapsts, w.scc, w.counters.total(), w.perf_levels);
                assert_eq!(seen(&wave), seen(&prototype));
                wave.vgpr_mut(0).into_iter().for_each(|v| *v = [9; 64]);
                assert_eq!(engine.run(&mut wave, &GroupShared::new(1024), &memory, u64::MAX), Event::End);
                assert_eq!(wave.vgpr(70).map(|v| (v[4], v[0])), Some((9, 0)));
            }
            engine.invalidate(code.as_ptr() as u64, code.len() as u64);
        }
    }
}

/// Code is made for the lanes that a block's first wave has active, and more of it when other waves come; all of it goes with the
/// block.
#[test]
fn waves_with_other_lanes_run_the_same_block() {
    // Loads that others depend on only where lanes are off, scalar instructions in between, comparisons, EXEC that changes.
    let text = "
        v_lshlrev_b32 v1, 2, v0
        v_mov_b32 v4, v0
        global_load_dword v2, v1, s[2:3]
        s_waitcnt vmcnt(0)
        v_mov_b32 v3, v2
        s_add_u32 s7, s7, 5
        v_lshlrev_b32 v3, 2, v4
        v_cmp_gt_u32 vcc, 40, v0
        s_and_b64 s[8:9], vcc, exec
        global_load_dword v5, v3, s[2:3]
        s_waitcnt vmcnt(0)
        v_cndmask_b32 v6, v5, v2, vcc
        v_cmpx_lt_u32 s[10:11], v0, v6
        v_add_f32 v7, v6, v0
        v_add_u32 v2, 3, v2
        global_store_dword v1, v2, s[2:3]
        s_endpgm
    ";
    let code = assemble(text);
    let lanes = [!0u64, 0x5a5a_0000_ffff_8001, 0, 1 << 63, !0, 0xffff_0000];
    let seen = |engine: &dyn Engine, lanes: &[u64]| {
        let mut buffer: Vec<u32> = (0..64).map(|n| n * 3).collect();
        let memory = Memory::new();
        // SAFETY: both live as long as the memory, and are looked at only when nothing runs.
        unsafe {
            memory.add(code.as_ptr() as u64, code.len() as u64, false).expect("a range of its own");
            memory.add(buffer.as_mut_ptr() as u64, 256, true).expect("a range of its own");
        }
        let mut all = Vec::new();
        for &exec in lanes {
            let mut wave = Wave::new(&target(), Shape { vgprs: 8, agprs: 0 });
            wave.pc = code.as_ptr() as u64;
            wave.set_exec(exec);
            wave.set_sgpr64(2, buffer.as_mut_ptr() as u64);
            for r in 0..8 {
                for (lane, v) in wave.vgpr_mut(r).into_iter().flatten().enumerate() {
                    *v = lane as u32 * if r == 0 { 1 } else { 0x0101_0101 };
                }
            }
            assert_eq!(engine.run(&mut wave, &GroupShared::new(0), &memory, u64::MAX), Event::End);
            let registers: Vec<_> = (0..8).map(|r| wave.vgpr(r).copied()).collect();
            // But for the buffer's address.
            let scalars: Vec<u32> = (4..12).chain([106, 107, 126, 127]).map(|code| wave.sgpr(code)).collect();
            all.push((registers, scalars, wave.scc, wave.counters.total()));
        }
        drop(memory);
        (all, buffer)
    };
    for first in 0..lanes.len() {
        let order: Vec<u64> = lanes[first..].iter().chain(&lanes[..first]).copied().collect();
        let want = seen(&Interp::new(target()), &order);
        for jit in &Jit::all(target()) {
            let before = jit.code_stats().map(|s| s.bytes);
            assert!(seen(jit, &order) == want, "{:?}, {first} first", jit.simd());
            let (compiled, _) = (jit.code_stats().map(|s| s.instructions), seen(jit, &order));
            assert_eq!(jit.code_stats().map(|s| s.instructions), compiled, "the same code again");
            jit.invalidate(code.as_ptr() as u64, code.len() as u64);
            assert_eq!(jit.code_stats().map(|s| s.bytes), before);
        }
    }
}

/// Blocks that have run often enough are compiled, and with them others of the page that soon will have; all give the same bits.
#[test]
fn patient_engines_compile_what_runs_often() {
    let text = "
        v_mov_b32 v1, 1
        s_cmp_lg_u32 s4, 0
        s_cbranch_scc1 1f
        v_add_u32 v1, 5, v1
        s_branch 2f
    1:  v_lshlrev_b32 v1, 1, v1
        v_cmp_gt_u32 vcc, 9, v0
        s_and_saveexec_b64 s[6:7], vcc
        s_cbranch_execz 2f
        v_add_u32 v1, v1, v0
        s_branch 3f
    2:  v_xor_b32 v1, 7, v1
        s_branch 4f
    3:  v_xor_b32 v1, 3, v1
        s_branch 4f
    4:  s_endpgm
    ";
    let code = assemble(text);
    let memory = Memory::new();
    // SAFETY: the code lives as long as the memory.
    unsafe { memory.add(code.as_ptr() as u64, code.len() as u64, false).expect("a range of its own") };
    let Some(jit) = Jit::patient(target()) else { return };
    let interp = Interp::new(target());
    for round in 0..200u32 {
        let seen = [&jit as &dyn Engine, &interp].map(|engine| {
            let mut wave = Wave::new(&target(), Shape { vgprs: 8, agprs: 0 });
            wave.pc = code.as_ptr() as u64;
            wave.set_exec(if round % 5 == 3 { 0x00ff_f0f0_1234_5678 } else { !0 });
            wave.set_sgpr(4, round % 3);
            for (lane, v) in wave.vgpr_mut(0).into_iter().flatten().enumerate() {
                *v = lane as u32;
            }
            assert_eq!(engine.run(&mut wave, &GroupShared::new(0), &memory, u64::MAX), Event::End);
            (wave.vgpr(1).copied(), wave.sgpr(126), wave.scc, wave.counters.total())
        });
        assert!(seen[0] == seen[1], "round {round}");
        if round == 20 {
            assert_eq!(jit.code_stats().map(|s| s.instructions), Some(0), "nothing has run often");
        }
    }
    // Seven blocks of sixteen instructions.
    assert_eq!(jit.code_stats().map(|s| s.instructions), Some(16));
    jit.invalidate(code.as_ptr() as u64, code.len() as u64);
}

/// Where a turn ends does not depend on whether the rest of a block had to be compiled anew, because an instruction of it has
/// changed MODE.
#[test]
fn turns_end_where_the_interpreter_ends_them() {
    let code = assemble(
        "s_mov_b32 s0, 0
         loop:
         v_add_f32 v0, 1.0, v0
         s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s0
         v_add_f32 v0, 1.0, v0
         s_xor_b32 s0, s0, 5
         v_add_f32 v0, 1.0, v0
         s_branch loop",
    );
    let memory = Memory::new();
    // SAFETY: it lives as long as the memory.
    unsafe { memory.add(code.as_ptr() as u64, code.len() as u64, false).expect("a range of its own") };
    let group = GroupShared::new(0);
    let left = |engine: &dyn Engine, budget| {
        let mut wave = Wave::new(&target(), Shape { vgprs: 8, agprs: 0 });
        wave.pc = code.as_ptr() as u64;
        let event = engine.run(&mut wave, &group, &memory, budget);
        (event, wave.pc, wave.vgpr(0).map(|v| v[0]))
    };
    let interp = Interp::new(target());
    for jit in &Jit::all(target()) {
        for budget in 1..60 {
            assert_eq!(left(jit, budget), left(&interp, budget), "{}, {budget} instructions", jit.name());
        }
    }
}

#[test]
fn code_is_counted_and_given_back() {
    for jit in &Jit::all(target()) {
        let before = jit.code_stats().expect("it compiles");
        let code = assemble(IN_PLACE);
        let mut buffer = vec![0u32; 64];
        let memory = Memory::new();
        // SAFETY: as above.
        unsafe {
            memory.add(code.as_ptr() as u64, code.len() as u64, false).expect("a range of its own");
            memory.add(buffer.as_mut_ptr() as u64, 256, true).expect("a range of its own");
        }
        let mut wave = Wave::new(&target(), Shape { vgprs: 8, agprs: 0 });
        wave.pc = code.as_ptr() as u64;
        wave.set_sgpr64(2, buffer.as_mut_ptr() as u64);
        assert_eq!(jit.run(&mut wave, &GroupShared::new(0), &memory, u64::MAX), Event::End);
        let after = jit.code_stats().expect("it compiles");
        // Six instructions, of which several have code.
        assert_eq!(after.instructions - before.instructions, 6);
        assert!(after.bytes > before.bytes + 256 && after.nanoseconds > 0, "{after:?}");
        jit.invalidate(code.as_ptr() as u64, code.len() as u64);
        assert_eq!(jit.code_stats().map(|s| s.bytes), Some(before.bytes));
    }
}

/// S_ICACHE_INV has code looked at again, and none of it made again that is as it was, however its instructions are encoded.
#[test]
fn code_that_stays_is_compiled_once() {
    let text = "
        s_mov_b32 s4, 5
        s_branch again
      again:
        v_add_f32 v1, 0x12345678, v1
        v_add_u32_sdwa v1, v1, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:BYTE_0
        v_add_u32_dpp v1, v1, v1 row_shr:1 row_mask:0xf bank_mask:0xf
        v_fma_f32 v1, v1, v1, v1
        s_mov_b32 s5, 0x12345678
        s_load_dword s6, s[2:3], 0x0
        s_waitcnt lgkmcnt(0)
        global_load_dword v2, v0, s[2:3]
        ds_read_b32 v3, v0
        s_icache_inv
        s_sub_u32 s4, s4, 1
        s_cmp_lg_u32 s4, 0
        s_cbranch_scc1 again
        s_endpgm";
    let lines = text.lines().filter(|l| !l.trim().is_empty() && !l.ends_with(':')).count() as u64;
    let code = assemble(text);
    for jit in &Jit::all(target()) {
        let memory = Memory::new();
        // SAFETY: it lives as long as the memory.
        unsafe { memory.add(code.as_ptr() as u64, code.len() as u64, false).expect("a range of its own") };
        let mut wave = Wave::new(&target(), Shape { vgprs: 8, agprs: 0 });
        wave.pc = code.as_ptr() as u64;
        wave.set_sgpr64(2, code.as_ptr() as u64);
        assert_eq!(jit.run(&mut wave, &GroupShared::new(256), &memory, u64::MAX), Event::End);
        assert_eq!(jit.code_stats().map(|s| s.instructions), Some(lines));
        jit.invalidate(code.as_ptr() as u64, code.len() as u64);
    }
}

/// A child shares its parent's code, and must neither change nor trust it.
#[test]
fn a_forked_child_runs_in_the_interpreter() {
    for jit in &Jit::all(target()) {
        assert_eq!(run(jit, false, !0, 64).0, BOTH_END);
        // SAFETY: the child runs waves of its own, and ends without a look at the test's other threads.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let (turns, buffer) = run(jit, false, !0, 64);
            let right = turns == BOTH_END && buffer.iter().zip(0..).all(|(v, n)| *v == n + 6);
            let left = jit.code_stats().is_some_and(|s| s.instructions == 6);
            // SAFETY: it ends the process.
            unsafe { libc::_exit(if right && left { 0 } else { 1 }) };
        }
        let mut status = 0;
        // SAFETY: the child is ours.
        let ended = unsafe { libc::waitpid(child, &mut status, 0) };
        assert_eq!((ended, status), (child, 0));
    }
}

/// A register that is written again has what it had in the lanes that are off by then.
#[test]
fn what_is_overwritten_in_some_lanes_stays_in_others() {
    let code = assemble(
        "v_mov_b32 v5, 7\n v_cmpx_gt_u32 vcc, 32, v0\n s_branch 1f\n 1: v_mov_b32 v5, 9\n s_mov_b64 exec, -1\n \
         v_lshlrev_b32 v1, 2, v0\n global_store_dword v1, v5, s[2:3]\n s_endpgm\n",
    );
    for jit in Jit::all(target()) {
        let mut buffer = [0u32; 64];
        let memory = Memory::new();
        // SAFETY: both live as long as the memory, and are looked at only when nothing runs.
        unsafe {
            memory.add(code.as_ptr() as u64, code.len() as u64, false).expect("a range of its own");
            memory.add(buffer.as_mut_ptr() as u64, 256, true).expect("a range of its own");
        }
        let mut wave = Wave::new(&target(), Shape { vgprs: 8, agprs: 0 });
        wave.pc = code.as_ptr() as u64;
        wave.forgets = true;
        wave.set_sgpr64(2, buffer.as_mut_ptr() as u64);
        wave.vgpr_mut(0).into_iter().for_each(|v| *v = std::array::from_fn(|lane| lane as u32));
        assert_eq!(jit.run(&mut wave, &GroupShared::new(0), &memory, u64::MAX), Event::End);
        jit.invalidate(code.as_ptr() as u64, code.len() as u64);
        drop(memory);
        assert_eq!(
            buffer,
            std::array::from_fn(|lane| if lane < 32 { 9 } else { 7 }),
            "{}",
            jit.simd().name()
        );
    }
}
