//! DS_ORDERED_COUNT: waves count in the order of their launch, whichever host thread runs them and whoever comes first.
//! What the offset's bits and M0 mean: LLVM's `llvm.amdgcn.ds.ordered.add` and its lowering.

use super::*;
use std::time::Duration;
use wavemill_device::kernarg::Value;
use wavemill_device::{Region, Use};

/// Offsets of counter 0: the turn is kept; it passes; and nothing else will be counted.
const HOLD: u32 = 0;
const RELEASE: u32 = 0x100;
const DONE: u32 = 0x300;

/// A kernel `k` of these instructions. s[4:5] is the address of a buffer, s6 the number of the wave (work-groups have
/// `waves`, s2 is the work-group's number), v1 four times that; only the first lane is active.
fn source(waves: u32, code: &str) -> String {
    format!(
        ".text\n.globl k\n.p2align 8\n.type k,@function\nk:
         s_load_dwordx2 s[4:5], s[0:1], 0x0
         v_readfirstlane_b32 s6, v0
         s_lshr_b32 s6, s6, 6
         s_mul_i32 s7, s2, {waves}
         s_add_u32 s6, s6, s7
         s_lshl_b32 s7, s6, 2
         v_mov_b32 v1, s7
         s_waitcnt lgkmcnt(0)
         s_mov_b64 exec, 1
         s_mov_b32 m0, 0x00400000
         {code}
         s_endpgm
         .size k, .-k\n.rodata\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr 16\n.amdhsa_next_free_sgpr 32
         .amdhsa_kernarg_size 8\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n.end_amdhsa_kernel\n"
    )
}

fn device(cpu: &str, threads: usize) -> (Device, Region) {
    let target = Target::new(processor(cpu).unwrap());
    let device = Device::new(target, &Options { threads, ..Options::default() });
    let buffer = device.memory().allocate(4096, Use::Device, "results").unwrap();
    buffer.write(0, &[0xff; 4096]);
    (device, buffer)
}

fn run(device: &Device, data: Vec<u8>, grid: &[u32], block: &[u32], buffer: &Region) -> Vec<u32> {
    let how = Launch {
        values: vec![Value::Pointer(buffer.start())],
        timeout: Some(Duration::from_secs(60)),
        ..sizes(grid, block)
    };
    let done = launch(device, data, &how).unwrap();
    assert!(done.fault.is_none(), "{:?}", done.fault.map(|f| f.to_string()));
    let mut bytes = vec![0; 4096];
    buffer.read(0, &mut bytes);
    bytes.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b)).collect()
}

/// Waits the longer, the lower the bits of the wave's number turned around: the order of arrival is another than that
/// of launch.
const DAWDLE: &str = "s_brev_b32 s8, s6
     s_lshr_b32 s8, s8, 20
     s_sub_u32 s8, 0x1000, s8
     dawdle:
     s_sub_u32 s8, s8, 1
     s_cmp_lg_u32 s8, 0
     s_cbranch_scc1 dawdle";

/// Each wave adds its number and one; it must find the sum of the earlier ones'.
#[test]
fn sums_are_in_the_order_of_launch() {
    for (cpu, threads) in [("gfx900", 1), ("gfx900", 4), ("gfx908", 4)] {
        let (device, buffer) = device(cpu, threads);
        let code = format!(
            "{DAWDLE}
             v_mov_b32 v2, s6
             v_add_u32 v2, 1, v2
             ds_ordered_count v3, v2 offset:{DONE} gds
             s_waitcnt lgkmcnt(0)
             global_store_dword v1, v3, s[4:5]"
        );
        // Forty-one work-groups of two waves; the last one has only one.
        let found = run(&device, object(cpu, &source(2, &code)), &[40 * 128 + 64], &[128], &buffer);
        let wanted: Vec<u32> = (0..81).map(|n| n * (n + 1) / 2).collect();
        assert_eq!(found[..81], wanted, "{cpu}, {threads} threads");
    }
}

/// A wave that ends without having counted lets the others pass. Here only every third one counts.
#[test]
fn waves_that_end_pass_their_turn() {
    for threads in [1, 3] {
        let (device, buffer) = device("gfx906", threads);
        let code = format!(
            "s_mul_hi_u32 s8, s6, 0x55555556
             s_mul_i32 s8, s8, 3
             s_cmp_lg_u32 s8, s6
             s_cbranch_scc1 over
             {DAWDLE}
             v_mov_b32 v2, 1
             ds_ordered_count v3, v2 offset:{RELEASE} gds
             s_waitcnt lgkmcnt(0)
             global_store_dword v1, v3, s[4:5]
             over:"
        );
        let found = run(&device, object("gfx906", &source(4, &code)), &[16 * 256], &[256], &buffer);
        let wanted: Vec<u32> = (0..64).map(|n| if n % 3 == 0 { n / 3 } else { !0 }).collect();
        assert_eq!(found[..64], wanted, "{threads} threads");
    }
}

/// Without *release* the turn stays with the wave: its two counts come one behind the other.
#[test]
fn a_turn_can_be_kept() {
    let (device, buffer) = device("gfx900", 4);
    let code = format!(
        "{DAWDLE}
         v_mov_b32 v2, 1
         v_mov_b32 v4, 10
         ds_ordered_count v3, v2 offset:{HOLD} gds
         s_sleep 1
         ds_ordered_count v5, v4 offset:{DONE} gds
         s_waitcnt lgkmcnt(0)
         v_sub_u32 v5, v5, v3
         v_lshlrev_b32 v5, 16, v5
         v_or_b32 v3, v3, v5
         global_store_dword v1, v3, s[4:5]"
    );
    let found = run(&device, object("gfx900", &source(1, &code)), &[50 * 64], &[64], &buffer);
    let wanted: Vec<u32> = (0..50).map(|n| (11 * n) | 1 << 16).collect();
    assert_eq!(found[..50], wanted);
}

/// Counters have an order each. A wave hands its own number to the next one with an exchange at counter 1, then counts
/// at counter 0: what a driver does that culls triangles.
#[test]
fn counters_have_their_own_turns() {
    let (device, buffer) = device("gfx900", 4);
    let code = format!(
        "{DAWDLE}
         v_mov_b32 v2, s6
         ds_ordered_count v3, v2 offset:{swap} gds
         s_waitcnt lgkmcnt(0)
         v_mov_b32 v4, 2
         ds_ordered_count v5, v4 offset:{DONE} gds
         s_waitcnt lgkmcnt(0)
         v_lshlrev_b32 v5, 16, v5
         v_or_b32 v3, v3, v5
         global_store_dword v1, v3, s[4:5]",
        swap = 0x1000 + RELEASE + 4,
    );
    let found = run(&device, object("gfx900", &source(2, &code)), &[30 * 128], &[128], &buffer);
    let wanted: Vec<u32> = (0..60u32).map(|n| n.saturating_sub(1) | (2 * n) << 16).collect();
    assert_eq!(found[..60], wanted);
}

/// The first wave keeps its turn at counter 0 until the last one, which waits at no counter of the first one's, has
/// written; those between wait for their turn.
#[test]
fn waves_that_wait_for_their_turn_do_not_stop_others() {
    for threads in [1, 3] {
        let (device, buffer) = device("gfx900", threads);
        buffer.write(0, &[0; 4096]);
        let code = format!(
            "v_mov_b32 v0, 0
             v_mov_b32 v2, 1
             ds_ordered_count v3, v2 offset:{other} gds
             s_cmp_eq_u32 s6, 19
             s_cbranch_scc0 first
             global_store_dword v0, v2, s[4:5] offset:4000
             first:
             ds_ordered_count v3, v2 offset:{HOLD} gds
             s_waitcnt 0
             spin:
             global_load_dword v4, v0, s[4:5] offset:4000 glc
             s_waitcnt 0
             v_readfirstlane_b32 s8, v4
             s_cmp_eq_u32 s8, 0
             s_cbranch_scc1 spin
             ds_ordered_count v5, v2 offset:{DONE} gds
             s_waitcnt 0
             global_store_dword v1, v5, s[4:5]",
            other = RELEASE + 4,
        );
        let found = run(&device, object("gfx900", &source(1, &code)), &[20 * 64], &[64], &buffer);
        let wanted: Vec<u32> = (0..20).map(|n| 2 * n + 1).collect();
        assert_eq!(found[..20], wanted, "{threads} threads");
    }
}

/// Wave 0 meets wave 1 at a barrier, wave 1 wants to count first: neither can go on, but time does.
#[test]
fn what_cannot_go_on_runs_out_of_time() {
    let (device, buffer) = device("gfx900", 2);
    let code = format!(
        "v_mov_b32 v2, 1
         s_cmp_eq_u32 s6, 0
         s_cbranch_scc1 meet
         ds_ordered_count v3, v2 offset:{DONE} gds
         meet:
         s_barrier"
    );
    let how = Launch {
        values: vec![Value::Pointer(buffer.start())],
        timeout: Some(Duration::from_millis(200)),
        ..sizes(&[512], &[128])
    };
    let done = launch(&device, object("gfx900", &source(2, &code)), &how).unwrap();
    assert_eq!(done.fault.map(|f| f.kind), Some("timeout"));
}

/// `amd_kernel_code_t` can ask for the wave's number in the work-group info (AMDGPU guide, "Initial Kernel Execution
/// State"): bits 16:6. Work-groups at the edges of a grid have fewer waves.
#[test]
fn work_group_info_numbers_the_waves() {
    for wanted in [false, true] {
        let (device, buffer) = device("gfx701", 3);
        let source = format!(
            ".hsa_code_object_version 2,1\n.hsa_code_object_isa 7,0,1,\"AMD\",\"AMDGPU\"\n.text\n.p2align 8\n.amdgpu_hsa_kernel k\nk:
             .amd_kernel_code_t\nis_ptr64 = 1\nenable_sgpr_kernarg_segment_ptr = 1\nenable_sgpr_workgroup_id_x = 1
             enable_sgpr_workgroup_info = 1\nenable_ordered_append_gds = {}\nkernarg_segment_byte_size = 8
             user_sgpr_count = 2\nwavefront_sgpr_count = 24\nworkitem_vgpr_count = 8
             granulated_wavefront_sgpr_count = 2\ngranulated_workitem_vgpr_count = 1\n.end_amd_kernel_code_t
             s_load_dwordx2 s[4:5], s[0:1], 0x0
             s_waitcnt lgkmcnt(0)
             s_mov_b64 exec, 1
             s_bfe_u32 m0, s3, 0xb0006
             v_mov_b32 v2, 1
             ds_ordered_count v3, v2 offset:{DONE} gds
             s_waitcnt lgkmcnt(0)
             v_lshlrev_b32 v4, 2, v3
             v_mov_b32 v5, s5
             v_add_i32 v4, vcc, s4, v4
             v_addc_u32 v5, vcc, 0, v5, vcc
             v_mov_b32 v6, s3
             flat_store_dword v[4:5], v6
             s_endpgm\n",
            u8::from(wanted)
        );
        // Two whole work-groups of two waves in a row and one of one; the last row has half as many lanes.
        let (grid, block) = ([160, 3], [64, 2]);
        let found = run(&device, object("gfx701", &source), &grid, &block, &buffer);
        let mut expected = Vec::new();
        for waves in [2, 2, 1, 1, 1, 1] {
            for i in 0..waves {
                let number = if wanted { expected.len() as u32 } else { 0 };
                expected.push(u32::from(i == 0) << 31 | number << 6 | waves);
            }
        }
        assert_eq!(found[..expected.len()], expected);
        assert_eq!(found[expected.len()], !0);
    }
}
