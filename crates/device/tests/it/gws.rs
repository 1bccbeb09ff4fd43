//! Global wave sync across work-groups, on the interpreter.

use super::*;
use std::time::Duration;
use wavemill_device::kernarg::Value;
use wavemill_device::{Region, Use};

/// A kernel `k` of these instructions; s[4:5] is the address of a buffer, s2 the work-group.
fn source(cpu: &str, code: &str) -> String {
    let accum = if cpu == "gfx90a" { ".amdhsa_accum_offset 16" } else { "" };
    format!(
        ".text\n.globl k\n.p2align 8\n.type k,@function\nk:\ns_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n\
         s_mov_b32 m0, 0\n{code}\ns_endpgm\n.size k, .-k\n.rodata\n.p2align 6\n.amdhsa_kernel k\n\
         .amdhsa_next_free_vgpr 16\n.amdhsa_next_free_sgpr 32\n{accum}\n.amdhsa_kernarg_size 8\n\
         .amdhsa_user_sgpr_kernarg_segment_ptr 1\n.end_amdhsa_kernel\n"
    )
}

fn run(device: &Device, cpu: &str, code: &str, groups: u32, buffer: &Region) -> Completion {
    let how = Launch {
        values: vec![Value::Pointer(buffer.start())],
        timeout: Some(Duration::from_secs(60)),
        ..sizes(&[64 * groups], &[64])
    };
    launch(device, object(cpu, &source(cpu, code)), &how).unwrap()
}

fn words(buffer: &Region, n: usize) -> Vec<u32> {
    let mut bytes = vec![0; 4 * n];
    buffer.read(0, &mut bytes);
    bytes.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b)).collect()
}

/// Every work-group counts itself, meets the others, and notes how many it sees; three times over.
#[test]
fn barriers_across_work_groups() {
    for (cpu, threads) in [("gfx90a", 1), ("gfx90a", 4), ("gfx900", 4)] {
        let device = witnessed(cpu, threads);
        let buffer = device.memory().allocate(4096, Use::Device, "counts").unwrap();
        buffer.write(0, &[0; 4096]);
        let groups = 40;
        // As the runtime of a cooperative launch does, another kernel prepares the resource.
        let init = format!("v_mov_b32 v2, {}\nds_gws_init v2 offset:5 gds\ns_waitcnt 0", groups - 1);
        assert!(run(&device, cpu, &init, 1, &buffer).fault.is_none());
        let code = format!(
            "s_mov_b64 exec, 1
             v_mov_b32 v0, 0
             v_mov_b32 v1, 1
             v_mov_b32 v2, {}
             s_mov_b32 s8, 3
             s_lshl_b32 s9, s2, 2
             v_mov_b32 v4, s9
             again:
             global_atomic_add v0, v1, s[4:5]
             s_waitcnt 0
             ds_gws_barrier v2 offset:5 gds
             s_waitcnt 0
             global_load_dword v3, v0, s[4:5] glc
             s_waitcnt 0
             v_add_u32 v4, 0x100, v4
             global_store_dword v4, v3, s[4:5]
             s_waitcnt 0
             ds_gws_barrier v2 offset:5 gds
             s_waitcnt 0
             s_sub_u32 s8, s8, 1
             s_cmp_lg_u32 s8, 0
             s_cbranch_scc1 again",
            groups - 1
        );
        let done = run(&device, cpu, &code, groups, &buffer);
        assert!(done.fault.is_none(), "{:?}", done.fault.map(|f| f.summary));
        let seen = words(&buffer, 1024);
        for round in 1..=3usize {
            for group in 0..groups as usize {
                assert_eq!(seen[64 * round + group], round as u32 * groups, "{cpu} {round} {group}");
            }
        }
    }
}

/// A semaphore with one place: work-groups add to a number one at a time, without atomics.
#[test]
fn semaphores_exclude() {
    for threads in [1, 4] {
        let device = witnessed("gfx90a", threads);
        let buffer = device.memory().allocate(4096, Use::Device, "a number").unwrap();
        buffer.write(0, &[0; 4096]);
        let init = "v_mov_b32 v2, 1\nds_gws_init v2 gds\ns_waitcnt 0";
        assert!(run(&device, "gfx90a", init, 1, &buffer).fault.is_none());
        let code = "s_mov_b64 exec, 1
             v_mov_b32 v0, 0
             ds_gws_sema_p gds
             s_waitcnt 0
             global_load_dword v1, v0, s[4:5] glc
             s_waitcnt 0
             s_sleep 1
             v_add_u32 v1, 1, v1
             global_store_dword v0, v1, s[4:5]
             s_waitcnt 0
             ds_gws_sema_v gds
             s_waitcnt 0";
        let done = run(&device, "gfx90a", code, 60, &buffer);
        assert!(done.fault.is_none(), "{:?}", done.fault.map(|f| f.summary));
        assert_eq!(words(&buffer, 1), [60]);
    }
}

/// Work-group 0 lets the others pass: by a count, and all that wait.
#[test]
fn bulk_release_and_release_all() {
    let device = witnessed("gfx90a", 2);
    let buffer = device.memory().allocate(4096, Use::Device, "a number").unwrap();
    buffer.write(0, &[0; 4096]);
    let init =
        "v_mov_b32 v2, 0\nds_gws_init v2 offset:1 gds\ns_waitcnt 0\nds_gws_init v2 offset:2 gds\ns_waitcnt 0";
    assert!(run(&device, "gfx90a", init, 1, &buffer).fault.is_none());
    // Passing counts at 0; arriving at the second semaphore counts at 4.
    let bulk = "s_mov_b64 exec, 1
         v_mov_b32 v0, 0
         v_mov_b32 v1, 1
         s_cmp_lg_u32 s2, 0
         s_cbranch_scc1 other
         v_mov_b32 v2, 9
         ds_gws_sema_br v2 offset:1 gds
         s_waitcnt 0
         s_endpgm
         other:
         ds_gws_sema_p offset:1 gds
         s_waitcnt 0
         global_atomic_add v0, v1, s[4:5]
         s_waitcnt 0";
    assert!(run(&device, "gfx90a", bulk, 10, &buffer).fault.is_none());
    assert_eq!(words(&buffer, 1), [9]);
    let all = "s_mov_b64 exec, 1
         v_mov_b32 v0, 0
         v_mov_b32 v1, 1
         s_cmp_lg_u32 s2, 0
         s_cbranch_scc1 other
         wait:
         s_sleep 1
         ds_gws_sema_release_all offset:2 gds
         s_waitcnt 0
         global_load_dword v3, v0, s[4:5] glc
         s_waitcnt 0
         v_readfirstlane_b32 s8, v3
         s_cmp_lg_u32 s8, 18
         s_cbranch_scc1 wait
         s_endpgm
         other:
         ds_gws_sema_p offset:2 gds
         s_waitcnt 0
         global_atomic_add v0, v1, s[4:5]
         s_waitcnt 0";
    assert!(run(&device, "gfx90a", all, 10, &buffer).fault.is_none());
    assert_eq!(words(&buffer, 1), [18]);
}

/// A barrier nobody else comes to ends with the time allowed.
#[test]
fn a_barrier_for_one_too_many_is_a_timeout() {
    let device = Device::new(Target::new(processor("gfx90a").unwrap()), &Options::default());
    let buffer = device.memory().allocate(64, Use::Device, "nothing").unwrap();
    let code = "v_mov_b32 v2, 7\nds_gws_init v2 gds\ns_waitcnt 0\nds_gws_barrier v2 gds\ns_waitcnt 0";
    let how = Launch {
        values: vec![Value::Pointer(buffer.start())],
        timeout: Some(Duration::from_millis(50)),
        ..sizes(&[64], &[64])
    };
    let done = launch(&device, object("gfx90a", &source("gfx90a", code)), &how).unwrap();
    assert_eq!(done.fault.unwrap().kind, "timeout");
    // The wave that was stopped has left: eight others fill the barrier.
    let code = "v_mov_b32 v2, 7\nds_gws_barrier v2 gds\ns_waitcnt 0";
    let how = Launch { timeout: Some(Duration::from_secs(20)), ..sizes(&[64 * 8], &[64]) };
    let how = Launch { values: vec![Value::Pointer(buffer.start())], ..how };
    let done = launch(&device, object("gfx90a", &source("gfx90a", code)), &how).unwrap();
    assert!(done.fault.is_none());
}
