//! Kernels that try to reach the host's memory through what the host serves them: the printf buffer and the hostcall
//! buffer, whose every word they may write.

use std::sync::{Arc, Mutex};
use std::time::Duration;
use wavemill_console::printf::Printer;
use wavemill_device::run::Launch;
use wavemill_device::{Device, Options};
use wavemill_isa::target::{Target, processor};

/// Overwrites the first 512 bytes of both buffers with a value, each lane a word, then sends the host a message, as a
/// hostcall does.
fn attack(value: u64) -> String {
    format!(
        "  .amdgcn_target \"amdgcn-amd-amdhsa--gfx900\"
  .p2align 8
  .globl k
  .type k,@function
k:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32_e32 v0, 3, v0
  v_mov_b32_e32 v2, {:#x}
  v_mov_b32_e32 v3, {:#x}
  s_waitcnt lgkmcnt(0)
  global_store_dwordx2 v0, v[2:3], s[4:5]
  global_store_dwordx2 v0, v[2:3], s[6:7]
  s_waitcnt vmcnt(0)
  s_mov_b32 m0, 1
  s_sendmsg sendmsg(MSG_INTERRUPT)
  s_endpgm
  .rodata
  .p2align 6
  .amdhsa_kernel k
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_kernarg_size 16
    .amdhsa_next_free_vgpr 4
    .amdhsa_next_free_sgpr 16
  .end_amdhsa_kernel
  .amdgpu_metadata
    amdhsa.version: [1, 1]
    amdhsa.printf: [\"1:1:4:%d\\n\", \"2:1:8:%s\\n\"]
    amdhsa.kernels:
      - .name: k
        .symbol: k.kd
        .kernarg_segment_size: 16
        .kernarg_segment_align: 8
        .group_segment_fixed_size: 0
        .private_segment_fixed_size: 0
        .wavefront_size: 64
        .sgpr_count: 16
        .vgpr_count: 4
        .max_flat_workgroup_size: 64
        .args:
          - {{.size: 8, .offset: 0, .value_kind: hidden_hostcall_buffer, .address_space: global}}
          - {{.size: 8, .offset: 8, .value_kind: hidden_printf_buffer, .address_space: global}}
  .end_amdgpu_metadata
",
        value as u32,
        value >> 32
    )
}

#[test]
fn through_the_buffers_of_printf_and_hostcalls() {
    const MARK: u64 = 0x5555_5555_5555_5555;
    let victim = vec![MARK; 1 << 16];
    let target = victim[1000..].as_ptr() as u64;
    let gpu = Target::new(processor("gfx900").unwrap());
    for value in [target, target | 1 << 32, 0, 1, !0, 1 << 63, 0x1_0000_0001, 0x0000_0010_0000_0010, MARK] {
        let device = Device::new(gpu, &Options { threads: 1, ..Options::default() });
        let object = device.load("attack", wavemill_testing::object("gfx900", &attack(value))).unwrap();
        let said = Arc::new(Mutex::new(0));
        let sink = said.clone();
        let printer = Printer::new(move |_, bytes| *sink.lock().unwrap() += bytes.len());
        let launch = Launch {
            grid: vec![64],
            block: vec![64],
            timeout: Some(Duration::from_secs(20)),
            ..Launch::default()
        };
        let kernel = object.kernel("k").unwrap();
        let done = wavemill_console::launch(&device, kernel, &launch, &printer).unwrap();
        assert!(done[0].fault.is_none(), "{value:#x}: {}", done[0].fault.as_ref().unwrap());
        // What is said of it is bounded by what the buffers can hold.
        assert!(*said.lock().unwrap() < 64 << 20, "{value:#x}");
    }
    assert!(victim.iter().all(|w| *w == MARK), "a kernel reached the host's memory");
}
