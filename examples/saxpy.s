// y[i] = a * x[i] + y[i] for i < n, with a check for the last work-group.
//
//   wavemill run examples/saxpy.s
//
// run: --grid 1000 --block 128 --arg u32:1000 --arg f32:0.5 --arg iota:f32:1000 --arg iota:f32:1000 --show 3:f32:12

        .amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
        .text
        .globl  saxpy
        .p2align 8
        .type   saxpy,@function
saxpy:                                  // s[0:1] arguments, s2 work-group, v0 work-item
        s_load_dwordx2 s[4:5], s[0:1], 0x0      // n, a
        s_load_dwordx4 s[8:11], s[0:1], 0x8     // x, y
        s_lshl_b32 s2, s2, 7
        v_add_u32_e32 v0, s2, v0
        s_waitcnt lgkmcnt(0)
        v_cmp_gt_u32_e32 vcc, s4, v0
        s_and_saveexec_b64 s[6:7], vcc
        s_cbranch_execz .Ldone
        v_lshlrev_b32_e32 v0, 2, v0
        global_load_dword v1, v0, s[8:9]
        global_load_dword v2, v0, s[10:11]
        s_waitcnt vmcnt(0)
        v_fmac_f32_e32 v2, s5, v1
        global_store_dword v0, v2, s[10:11]
.Ldone:
        s_endpgm
        .size   saxpy, .-saxpy

        .rodata
        .p2align 6
        .amdhsa_kernel saxpy
                .amdhsa_kernarg_size 24
                .amdhsa_user_sgpr_kernarg_segment_ptr 1
                .amdhsa_next_free_vgpr 3
                .amdhsa_next_free_sgpr 12
                .amdhsa_accum_offset 4
        .end_amdhsa_kernel

        .amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: saxpy
    .symbol: saxpy.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 18
    .vgpr_count: 3
    .max_flat_workgroup_size: 1024
    .args:
      - {.name: count, .offset: 0, .size: 4, .value_kind: by_value}
      - {.name: a, .offset: 4, .size: 4, .value_kind: by_value}
      - {.name: x, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.name: inout, .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global}
...
        .end_amdgpu_metadata
