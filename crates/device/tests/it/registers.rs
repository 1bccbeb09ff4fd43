//! What registers hold when a wave starts (AMDGPU guide, "Initial Kernel Execution State").

use super::*;
use std::sync::Mutex;
use wavemill_asm::{Options as AsmOptions, Os, OutputType, assemble, elf};
use wavemill_device::kernarg::Value;
use wavemill_wave::mode;

/// Runs a launch and returns every wave as it started, in order.
fn starts(cpu: &str, data: Vec<u8>, how: &Launch) -> (Vec<Wave>, Device) {
    let seen: Arc<Mutex<Vec<Wave>>> = Arc::default();
    let into = seen.clone();
    let device = device(cpu, 1, move |wave, _, _, _| {
        into.lock().unwrap().push(wave.clone());
        Event::End
    });
    let done = launch(&device, data, how).unwrap();
    assert!(done.fault.is_none());
    let waves = std::mem::take(&mut *seen.lock().unwrap());
    assert_eq!(done.waves, waves.len() as u64);
    (waves, device)
}

const ALL: &str = "
.amdhsa_user_sgpr_private_segment_buffer 1
.amdhsa_user_sgpr_dispatch_ptr 1
.amdhsa_user_sgpr_queue_ptr 1
.amdhsa_user_sgpr_kernarg_segment_ptr 1
.amdhsa_user_sgpr_dispatch_id 1
.amdhsa_user_sgpr_flat_scratch_init 1
.amdhsa_user_sgpr_private_segment_size 1
.amdhsa_system_sgpr_workgroup_id_x 1
.amdhsa_system_sgpr_workgroup_id_y 1
.amdhsa_system_sgpr_workgroup_id_z 1
.amdhsa_system_sgpr_workgroup_info 1
.amdhsa_system_sgpr_private_segment_wavefront_offset 1
.amdhsa_system_vgpr_workitem_id 2
.amdhsa_private_segment_fixed_size 20
.amdhsa_group_segment_fixed_size 100
.amdhsa_kernarg_size 24
";

#[test]
fn scalar_registers_are_in_order() {
    // All seven would be 15 registers; the limit of 16 is not met.
    let how = Launch { values: vec![Value::Bytes(vec![7; 24])], ..sizes(&[128, 2, 3], &[64, 2, 1]) };
    let data = kernel("gfx90a", ALL);
    let (waves, _) = starts("gfx90a", data, &how);
    // Two work-groups in X, one in Y, three in Z; two waves each.
    assert_eq!(waves.len(), 12);
    let first = &waves[0];
    let s = |i: u32| first.sgpr(i);
    let scratch = first.sgpr64(12);
    assert_eq!((s(0), s(1) & 0xffff), (scratch as u32, (scratch >> 32) as u32), "V# base is the scratch");
    assert_eq!(s(1) >> 31, 1, "swizzled");
    assert_eq!((s(3) >> 21 & 3, s(3) >> 23 & 1), (3, 1), "index stride 64, lane added");
    assert_eq!(first.sgpr64(6), first.sgpr64(4) + 1024, "the queue lies behind the packet");
    assert_ne!(first.sgpr64(8), 0, "arguments");
    assert_eq!(first.sgpr64(10), 0, "dispatch id");
    assert_eq!(s(14), 20, "scratch bytes of a work-item");
    // System SGPRs: ids, then info, then the wave's scratch offset.
    let system: Vec<[u32; 5]> =
        waves.iter().map(|w| std::array::from_fn(|i| w.sgpr(15 + i as u32))).collect();
    assert_eq!(system[0], [0, 0, 0, 1 << 31 | 2, 0]);
    assert_eq!(system[1], [0, 0, 0, 2, 2048], "64 lanes of 20 bytes in units of 1 KiB");
    assert_eq!(system[2][..4], [1, 0, 0, 1 << 31 | 2]);
    assert_eq!(system[11][..4], [1, 0, 2, 2]);
    // 100 bytes of LDS take a granule of 512.
    assert_eq!((first.lds_bytes, first.scratch_bytes), (512, 20));
    assert_eq!(first.shape().vgprs, 32);
}

#[test]
fn device_code_can_read_packet_and_queue() {
    let device = device("gfx90a", 1, |wave, _, memory, _| {
        let mut packet = [0; 64];
        assert!(memory.read(wave.sgpr64(4), &mut packet));
        let packet = wavemill_device::aql::DispatchPacket::from_bytes(&packet);
        assert_eq!((packet.workgroup_size, packet.grid_size), ([64, 2, 1], [128, 2, 3]));
        assert_eq!((packet.private_segment_size, packet.group_segment_size), (20, 100));
        assert_eq!((packet.kernarg_address, packet.setup), (wave.sgpr64(8), 3));
        let mut queue = [0; 256];
        assert!(memory.read(wave.sgpr64(6), &mut queue));
        assert_eq!(queue[64..72], [0, 0, 1, 0, 0, 0, 2, 0], "apertures");
        assert_eq!(u64::from_le_bytes(queue[8..16].try_into().unwrap()), wave.sgpr64(4), "the ring");
        Event::End
    });
    let how = Launch { values: vec![Value::Bytes(vec![7; 24])], ..sizes(&[128, 2, 3], &[64, 2, 1]) };
    assert!(launch(&device, kernel("gfx90a", ALL), &how).unwrap().fault.is_none());
}

#[test]
fn work_item_ids_are_packed_on_gfx90a() {
    let ids = "\n.amdhsa_system_vgpr_workitem_id 2\n";
    let (waves, _) = starts("gfx90a", kernel("gfx90a", ids), &sizes(&[4, 4, 8], &[4, 4, 8]));
    let v0 = waves[1].vgpr(0).unwrap();
    assert_eq!(v0[0], 4 << 20, "work-item 64 is (0, 0, 4)");
    assert_eq!(v0[7], 3 | 1 << 10 | 4 << 20);
    assert_eq!(v0[63], 3 | 3 << 10 | 7 << 20);
    assert_eq!(waves[1].vgpr(1).unwrap(), &[0; 64]);
    let (waves, _) = starts("gfx90a", kernel("gfx90a", ""), &sizes(&[4, 4, 8], &[4, 4, 8]));
    assert_eq!(waves[1].vgpr(0).unwrap()[7], 3, "only X was asked for");
}

#[test]
fn work_item_ids_have_registers_of_their_own_elsewhere() {
    let ids = "\n.amdhsa_system_vgpr_workitem_id 1\n";
    let (waves, _) = starts("gfx906", kernel("gfx906", ids), &sizes(&[4, 4, 8], &[4, 4, 8]));
    let v = |i: u16| waves[1].vgpr(i).unwrap()[7];
    assert_eq!((v(0), v(1), v(2)), (3, 1, 0));
}

#[test]
fn edges_of_the_grid_are_partial() {
    let ids = "\n.amdhsa_system_vgpr_workitem_id 1\n.amdhsa_system_sgpr_workgroup_id_y 1\n";
    let (waves, _) = starts("gfx900", kernel("gfx900", ids), &sizes(&[100, 3], &[64, 2]));
    let seen: Vec<(u32, u32, u32)> =
        waves.iter().map(|w| (w.sgpr(0), w.sgpr(1), w.exec().count_ones())).collect();
    let want = [(0, 0, 64), (0, 0, 64), (1, 0, 64), (1, 0, 8), (0, 1, 64), (1, 1, 36)];
    assert_eq!(seen, want);
    // The work-items of a partial work-group fill its waves without gaps.
    let (x, y) = (waves[2].vgpr(0).unwrap(), waves[2].vgpr(1).unwrap());
    assert_eq!((x[35], y[35], x[36], y[36]), (35, 0, 0, 1));
}

/// ROCm's code object format, "Flat scratch": on GFX7 and GFX8 the low word of Flat Scratch Init is the same offset that the
/// base address of the Scratch Segment Buffer has in its lower half, the second word the bytes of a work-item.
#[test]
fn flat_scratch_init_before_gfx9() {
    for cpu in ["gfx701", "gfx803"] {
        let how = Launch { values: vec![Value::Bytes(vec![7; 24])], ..sizes(&[64], &[64]) };
        let (waves, _) = starts(cpu, kernel(cpu, ALL), &how);
        let w = &waves[0];
        assert_eq!(w.sgpr(12), w.sgpr(0), "{cpu}: the lower half of the V#'s base");
        assert_ne!(w.sgpr(12), 0, "{cpu}");
        assert_eq!(w.sgpr(13), 20, "{cpu}: bytes of a work-item");
    }
}

#[test]
fn replay_shows_in_status() {
    let bit = |xnack: bool| {
        let mut target = Target::new(processor("gfx90a").unwrap());
        target.xnack = Some(xnack);
        let seen: Arc<Mutex<Vec<u32>>> = Arc::default();
        let into = seen.clone();
        let device = device_of(target, 1, move |wave, _, _, _| {
            into.lock().unwrap().push(wave.status);
            Event::End
        });
        launch(&device, kernel("gfx90a", ""), &sizes(&[64], &[64])).unwrap();
        let status = seen.lock().unwrap()[0];
        status >> 22 & 1
    };
    // STATUS.ALLOW_REPLAY, manual 3.4.
    assert_eq!((bit(true), bit(false)), (1, 0));
}

#[test]
fn at_most_sixteen_user_registers_are_filled() {
    // A kernel of version 2 can ask for more than there are.
    let source = ".hsa_code_object_version 2,0\n.hsa_code_object_isa 9,0,0,\"AMD\",\"AMDGPU\"\n.text\n.p2align 8\n.amdgpu_hsa_kernel k\nk:\n\
        .amd_kernel_code_t\nenable_sgpr_private_segment_buffer = 1\nenable_sgpr_dispatch_ptr = 1\n\
        enable_sgpr_queue_ptr = 1\nenable_sgpr_kernarg_segment_ptr = 1\nenable_sgpr_dispatch_id = 1\n\
        enable_sgpr_flat_scratch_init = 1\nenable_sgpr_private_segment_size = 1\n\
        enable_sgpr_grid_workgroup_count_x = 1\nenable_sgpr_grid_workgroup_count_y = 1\nuser_sgpr_count = 16\n\
        enable_sgpr_workgroup_id_x = 1\ngranulated_wavefront_sgpr_count = 3\ngranulated_workitem_vgpr_count = 1\n\
        wavefront_sgpr_count = 32\nworkitem_vgpr_count = 8\nworkitem_private_segment_byte_size = 16\n\
        float_mode = 240\nenable_ieee_mode = 1\n.end_amd_kernel_code_t\ns_endpgm\n";
    let mut options = AsmOptions::new(Target::new(processor("gfx900").unwrap()));
    options.triple = "amdgcn-amd-amdhsa".into();
    options.os = Os::AmdHsa;
    options.output = OutputType::Obj;
    options.code_object_version = Some(2);
    let output = assemble(&options, "v2.s", source.as_bytes().to_vec());
    assert!(!output.failed(), "{}", String::from_utf8_lossy(&output.render_diagnostics()));
    let object = elf::write(&output).unwrap();
    let (waves, device) = starts("gfx900", object.clone(), &sizes(&[192], &[64]));
    // "The HSA Runtime loader initializes this field once the code object is loaded": runtime_loader_kernel_symbol, bits
    // 1023:960 of amd_kernel_code_t (ROCm's code object format), which the file has as 0.
    let loaded = device.load("v2", object).unwrap();
    let mut symbol = [0; 8];
    assert!(device.memory().memory().read(loaded.kernels[0].object + 120, &mut symbol));
    assert_ne!(symbol, [0; 8]);
    let w = &waves[2];
    assert_eq!(w.sgpr(14), 16, "scratch bytes");
    assert_eq!(w.sgpr(15), 3, "work-groups in X");
    assert_eq!(w.sgpr(16), 2, "the work-group id, where the work-groups in Y would be");
    assert_eq!(w.mode, 240 | mode::IEEE);
}

#[test]
fn accumulators_and_mode_come_from_the_descriptor() {
    let data = object(
        "gfx90a",
        ".text\n.p2align 8\nk: s_endpgm\n.rodata\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr 72\n.amdhsa_next_free_sgpr 8\n\
         .amdhsa_accum_offset 40\n.amdhsa_float_round_mode_32 1\n.amdhsa_float_denorm_mode_32 3\n.amdhsa_ieee_mode 0\n\
         .amdhsa_dx10_clamp 0\n.amdhsa_fp16_overflow 1\n.end_amdhsa_kernel\n",
    );
    let (waves, _) = starts("gfx90a", data, &sizes(&[1], &[1]));
    let shape = waves[0].shape();
    assert_eq!((shape.vgprs, shape.agprs), (40, 32));
    assert_eq!(waves[0].mode, 1 | 3 << mode::DENORM32_SHIFT | 3 << mode::DENORM64_SHIFT | mode::FP16_OVFL);
    assert_eq!(waves[0].exec(), 1);
}
