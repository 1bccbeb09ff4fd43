//! What cannot be run is refused with one message; what goes wrong is a report.

use super::*;
use std::sync::atomic::{AtomicU64, Ordering};
use wavemill_device::Use;
use wavemill_device::kernarg::Value;
use wavemill_wave::{Fault, FaultKind};

/// The message of a launch that is refused.
fn refused(lines: &str, how: &Launch) -> String {
    let device = device("gfx90a", 1, |_, _, _, _| panic!("nothing may run"));
    launch(&device, kernel("gfx90a", lines), how).expect_err("refused")
}

#[test]
fn sizes_beyond_the_processor_are_refused() {
    let cases = [
        ("", sizes(&[0], &[64]), "the grid 0,1,1 has no work-items"),
        ("", sizes(&[64], &[0]), "the work-group 0,1,1 has no work-items"),
        ("", sizes(&[4096], &[2048]), "has 2048 work-items, gfx90a can run 1024"),
        ("", sizes(&[1 << 20], &[65536]), "65536 work-items in one dimension"),
        ("", sizes(&[1, 1, 1, 1], &[1]), "one to three dimensions"),
        ("", sizes(&[], &[]), "one to three dimensions"),
        (
            ".amdhsa_group_segment_fixed_size 65537",
            sizes(&[64], &[64]),
            "65537 bytes of LDS, gfx90a has 65536",
        ),
        (".amdhsa_private_segment_fixed_size 200000", sizes(&[64], &[64]), "200000 bytes of scratch"),
        ("", Launch { dynamic_lds: u32::MAX, ..sizes(&[64], &[64]) }, "bytes of LDS"),
    ];
    for (lines, how, want) in cases {
        let message = refused(lines, &how);
        assert!(message.contains(want), "{message}");
    }
    let data = object(
        "gfx90a",
        ".text\n.p2align 8\nk: s_endpgm\n.rodata\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr 512\n.amdhsa_next_free_sgpr 8\n\
         .amdhsa_accum_offset 256\n.end_amdhsa_kernel\n",
    );
    let device = device("gfx90a", 1, |_, _, _, _| panic!("nothing may run"));
    let message = launch(&device, data, &sizes(&[1024], &[1024])).unwrap_err();
    assert!(message.contains("with 512 VGPRs only 1 fit"), "{message}");
}

/// gfx9-generic covers gfx900, 902, 904, 906, 909 and 90c, neither gfx908 nor gfx90a (AMDGPU guide of LLVM 19, "Generic
/// processors").
#[test]
fn generic_code_runs_where_it_may() {
    let data = kernel("gfx9-generic", "");
    for cpu in ["gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"] {
        let device = device(cpu, 1, |_, _, _, _| Event::End);
        assert!(launch(&device, data.clone(), &sizes(&[64], &[64])).is_ok(), "{cpu}");
    }
    for cpu in ["gfx803", "gfx908", "gfx90a"] {
        let device = device(cpu, 1, |_, _, _, _| panic!("nothing may run"));
        let message = launch(&device, data.clone(), &sizes(&[64], &[64])).unwrap_err();
        let want =
            "it is for gfx9-generic (that is gfx900, gfx902, gfx904, gfx906, gfx909, gfx90c), the GPU is";
        assert!(message.contains(want), "{message}");
    }
}

#[test]
fn arguments_are_checked() {
    let values = vec![Value::Pointer(0), Value::Bytes(vec![0; 4]), Value::Bytes(vec![0; 8])];
    let how = Launch { values, ..sizes(&[64], &[64]) };
    let message = refused(".amdhsa_kernarg_size 16", &how);
    assert!(message.contains("argument 2: it would end at byte 24"), "{message}");
}

#[test]
fn foreign_objects_are_refused() {
    let device = device("gfx90a", 1, |_, _, _, _| Event::End);
    let load = |data: Vec<u8>| device.load("x", data).map(|_| ()).unwrap_err().to_string();
    assert!(load(kernel("gfx906", "")).contains("it is for gfx906, the GPU is gfx90a"));
    assert!(load(b"#!/bin/sh".to_vec()).contains("not an ELF file"));
    // No cut or altered file brings the loader down.
    let whole = wavemill_device::loader::linked("x", kernel("gfx90a", "")).unwrap();
    for cut in (0..whole.len()).step_by(7) {
        let _ = device.load("cut", whole[..cut].to_vec());
    }
    for at in 0..whole.len().min(4096) {
        let mut altered = whole.clone();
        altered[at] ^= 0xff;
        let _ = device.load("altered", altered);
    }
}

#[test]
fn a_report_names_the_place() {
    let device = device("gfx90a", 1, |wave, _, _, _| {
        if wave.sgpr(0) < 2 {
            return Event::End;
        }
        let fault = Fault { kind: FaultKind::Write { bytes: 4 }, pc: wave.pc + 4, lanes: 0b1100, address: 8 };
        Event::Fault(fault)
    });
    let done = launch(&device, kernel("gfx90a", ""), &sizes(&[256], &[64])).unwrap();
    let report = done.fault.unwrap().to_string();
    for want in [
        "GPU fault: write of 4 bytes at 0x8, outside every allocation",
        "kernel      k",
        "work-group  2,0,0 (of 64,1,1 work-items)",
        "lanes       2-3 (work-item 2,0,0)",
        "<k+0x4>",
        "s_nop 0\n  => ",
        "  s_trap 2\n",
        "s_endpgm",
        "null, or an offset from it",
    ] {
        assert!(report.contains(want), "{want:?} in\n{report}");
    }
}

/// The hardware's register for a kernel's address has no bits for less than 256 bytes.
#[test]
fn entries_must_be_aligned() {
    let data = object(
        "gfx90a",
        ".text\n.p2align 8\n s_nop 0\nk: s_endpgm\n.rodata\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr 8\n\
         .amdhsa_next_free_sgpr 8\n.amdhsa_accum_offset 4\n.end_amdhsa_kernel\n",
    );
    let device = device("gfx90a", 1, |_, _, _, _| panic!("nothing may run"));
    let message = launch(&device, data, &sizes(&[64], &[64])).unwrap_err();
    assert!(message.contains("kernel k starts at") && message.contains("not a multiple of 256"), "{message}");
}

/// A kernel runs with more work-items than it was compiled for where its registers let it, as on hardware.
#[test]
fn work_groups_larger_than_announced_run() {
    let metadata = ".amdgpu_metadata\namdhsa.version: [1, 2]\namdhsa.kernels:\n  - .name: k\n    .symbol: k.kd\n\
                    \x20   .kernarg_segment_size: 0\n    .kernarg_segment_align: 8\n    .group_segment_fixed_size: 0\n\
                    \x20   .private_segment_fixed_size: 0\n    .wavefront_size: 64\n    .sgpr_count: 8\n    .vgpr_count: 8\n\
                    \x20   .max_flat_workgroup_size: 64\n.end_amdgpu_metadata\n";
    let source = format!(
        ".text\n.p2align 8\nk: s_endpgm\n.rodata\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr 8\n\
         .amdhsa_next_free_sgpr 8\n.amdhsa_accum_offset 4\n.end_amdhsa_kernel\n{metadata}"
    );
    let device = Device::new(Target::new(processor("gfx90a").unwrap()), &Options::default());
    let done = launch(&device, object("gfx90a", &source), &sizes(&[256], &[256])).unwrap();
    assert!(done.fault.is_none());
}

/// What an address is that a kernel should not have used: the host program's own, or one of memory that was freed.
#[test]
fn a_report_says_whose_the_address_is() {
    static OF_THE_HOST: [u32; 4] = [0; 4];
    let address = Arc::new(AtomicU64::new(OF_THE_HOST.as_ptr() as u64));
    let read = Arc::clone(&address);
    let device = device("gfx90a", 1, move |wave, _, _, _| {
        let address = read.load(Ordering::Relaxed);
        Event::Fault(Fault { kind: FaultKind::Read { bytes: 4 }, pc: wave.pc, lanes: 1, address })
    });
    let report = || {
        let done = launch(&device, kernel("gfx90a", ""), &sizes(&[64], &[64])).unwrap();
        done.fault.unwrap().to_string()
    };
    let first = report();
    assert!(first.contains("memory of the host program that the GPU does not know"), "{first}");
    report();
    let buffer = device.memory().allocate(4096, Use::Device, "a buffer").unwrap();
    address.store(buffer.start() + 8, Ordering::Relaxed);
    drop(buffer);
    let third = report();
    assert!(
        third.contains("8 bytes into a buffer (device memory, 4096 bytes")
            && third.contains("freed before dispatch 2"),
        "{third}"
    );
}
