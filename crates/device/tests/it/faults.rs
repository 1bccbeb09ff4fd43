//! Kernels that do what they must not, on the interpreter: each ends in a report, and the device runs the next one.

use super::*;
use std::time::Duration;
use wavemill_device::kernarg::Value;
use wavemill_device::{Region, Use};
use wavemill_wave::Bounds;

/// Runs these instructions with a buffer of 256 bytes as the argument; s[4:5] is its address, v0 the lane.
fn run(device: &Device, code: &str) -> (Completion, Region) {
    let source = format!(
        ".text\n.globl k\n.p2align 8\n.type k,@function\nk:\ns_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n\
         {code}\ns_endpgm\n.size k, .-k\n.rodata\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr 16\n\
         .amdhsa_next_free_sgpr 32\n.amdhsa_accum_offset 16\n.amdhsa_kernarg_size 8\n\
         .amdhsa_user_sgpr_kernarg_segment_ptr 1\n.amdhsa_group_segment_fixed_size 64\n.end_amdhsa_kernel\n"
    );
    let buffer = device.memory().allocate(256, Use::Device, "argument 0").unwrap();
    let how = Launch {
        values: vec![Value::Pointer(buffer.start())],
        timeout: Some(Duration::from_millis(200)),
        ..sizes(&[64], &[64])
    };
    (launch(device, object("gfx90a", &source), &how).unwrap(), buffer)
}

#[test]
fn every_fault_is_a_report() {
    let target = Target::new(processor("gfx90a").unwrap());
    let device = Device::new(target, &Options::default());
    let cases = [
        (
            "v_mov_b32 v2, 0x1000\nv_mov_b32 v3, 0\nglobal_store_dword v[2:3], v0, off",
            "write",
            "global_store_dword",
        ),
        ("v_mov_b32 v2, 0\nv_mov_b32 v3, 0\nglobal_load_dword v4, v[2:3], off", "read", "global_load_dword"),
        ("v_mov_b32 v2, -1\nv_mov_b32 v3, -1\nflat_load_dword v4, v[2:3]", "read", "flat_load_dword"),
        ("s_mov_b64 s[6:7], 0\ns_load_dword s8, s[6:7], 0x10", "read", "s_load_dword"),
        (
            "s_getpc_b64 s[6:7]\nv_mov_b32 v2, 0\nglobal_store_dword v2, v0, s[6:7]",
            "read-only",
            "global_store_dword",
        ),
        ("v_mov_b32 v2, 2\nglobal_atomic_add v2, v0, s[4:5]", "misaligned", "global_atomic_add"),
        (".long 0xffffffff", "illegal", ".long 0xffffffff"),
        ("s_mov_b64 s[6:7], 64\ns_setpc_b64 s[6:7]", "fetch", ""),
        ("s_trap 2", "trap", "s_trap 2"),
        ("s_trap 7", "trap", "s_trap 7"),
        ("s_sethalt 1", "halt", "s_sethalt 1"),
        ("loop:\ns_branch loop", "timeout", "s_branch"),
        ("loop:\ns_sleep 1\ns_branch loop", "timeout", ""),
        ("loop:\ns_barrier\ns_branch loop", "timeout", ""),
    ];
    for (code, kind, instruction) in cases {
        let (done, _) = run(&device, code);
        let report = done.fault.unwrap_or_else(|| panic!("no fault from\n{code}"));
        assert_eq!(report.kind, kind, "{code}\n{report}");
        if !instruction.is_empty() {
            let at = report.listing.iter().find(|l| l.address == report.stop.pc);
            let text = at.map_or("", |l| &l.text);
            assert!(text.starts_with(instruction), "{text:?}, {code}\n{report}");
        }
        // Nothing else is harmed.
        let code = "v_lshlrev_b32 v1, 2, v0\nglobal_store_dword v1, v0, s[4:5]\ns_waitcnt vmcnt(0)";
        let (done, buffer) = run(&device, code);
        assert!(done.fault.is_none());
        assert_eq!(buffer.to_vec()[252..], 63u32.to_le_bytes());
    }
}

#[test]
fn the_first_lane_beyond_a_buffer_is_named() {
    let target = Target::new(processor("gfx90a").unwrap());
    let device = Device::new(target, &Options { deterministic: true, ..Options::default() });
    // Eight bytes for each lane of a buffer of four: lanes 32 and up are outside.
    let code = "v_lshlrev_b32 v1, 3, v0\nglobal_store_dword v1, v0, s[4:5]";
    let report = run(&device, code).0.fault.unwrap();
    assert_eq!(report.lanes, !0 << 32, "{report}");
    let text = report.to_string();
    for want in [
        "lanes       32-63 (work-item 32,0,0)",
        "0 bytes past the end of argument 0 (device memory, 256 bytes",
    ] {
        assert!(text.contains(want), "{want} in\n{text}");
    }
}

/// Hardware protects pages of 4 KiB. By default vector accesses are held to the last byte all the same; scalar loads, which
/// compilers widen, may read on to the end of the page.
#[test]
fn bounds_are_exact_or_those_of_pages() {
    let target = Target::new(processor("gfx90a").unwrap());
    // The buffer has 256 bytes; its page goes on.
    let vector = |at: u32| format!("v_mov_b32 v2, {at}\nglobal_load_dword v4, v2, s[4:5]");
    let store = |at: u32| format!("v_mov_b32 v2, {at}\nglobal_store_dword v2, v0, s[4:5]");
    let scalar = |at: u32| format!("s_load_dwordx8 s[8:15], s[4:5], {at:#x}");
    for (bounds, cases) in [
        (
            Bounds::Exact,
            [
                (vector(252), true),
                (vector(256), false),
                (store(256), false),
                (scalar(240), true),
                (scalar(4064), true),
                (scalar(4068), false),
            ],
        ),
        (
            Bounds::Page,
            [
                (vector(256), true),
                (vector(4092), true),
                (store(256), true),
                (store(4092), true),
                (scalar(4064), true),
                (scalar(4068), false),
            ],
        ),
    ] {
        for (code, fine) in cases {
            let device = Device::new(target, &Options { bounds, ..Options::default() });
            let (done, _) = run(&device, &code);
            assert_eq!(done.fault.is_none(), fine, "{bounds:?}: {code}");
        }
    }
}

/// LDS is given in granules of 512 bytes, 256 on GFX6: what a kernel has beyond its size is there.
#[test]
fn lds_has_whole_granules() {
    let target = Target::new(processor("gfx90a").unwrap());
    let device = Device::new(target, &Options::default());
    let code = |at: u32| {
        format!(
            "v_mov_b32 v2, {at}\nv_mov_b32 v3, 7\nds_write_b32 v2, v3\ns_waitcnt lgkmcnt(0)\nds_read_b32 v4, v2\n\
             s_waitcnt lgkmcnt(0)\nv_lshlrev_b32 v1, 2, v0\nglobal_store_dword v1, v4, s[4:5]\ns_waitcnt vmcnt(0)"
        )
    };
    for (at, want) in [(508, 7u32), (512, 0)] {
        // The kernel asks for 64 bytes.
        let (done, buffer) = run(&device, &code(at));
        assert!(done.fault.is_none());
        assert_eq!(buffer.to_vec()[..4], want.to_le_bytes(), "{at}");
    }
}
