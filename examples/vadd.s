// Adds two arrays of floats: c[i] = a[i] + b[i].
//
//   wavemill run examples/vadd.s
//
// run: --grid 1024 --block 256 --arg iota:f32:1024 --arg iota:f32:1024 --arg zeros:4096 --show 2:f32:16

        .amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
        .text
        .globl  vadd
        .p2align 8
        .type   vadd,@function
vadd:                                   // s[0:1] arguments, s2 work-group, v0 work-item
        s_load_dwordx4 s[4:7], s[0:1], 0x0
        s_load_dwordx2 s[8:9], s[0:1], 0x10
        s_lshl_b32 s2, s2, 8            // 256 work-items in each work-group
        v_add_u32_e32 v0, s2, v0
        v_lshlrev_b32_e32 v0, 2, v0     // byte offset
        s_waitcnt lgkmcnt(0)
        global_load_dword v1, v0, s[4:5]
        global_load_dword v2, v0, s[6:7]
        s_waitcnt vmcnt(0)
        v_add_f32_e32 v1, v1, v2
        global_store_dword v0, v1, s[8:9]
        s_endpgm
        .size   vadd, .-vadd

        .rodata
        .p2align 6
        .amdhsa_kernel vadd
                .amdhsa_kernarg_size 24
                .amdhsa_user_sgpr_kernarg_segment_ptr 1
                .amdhsa_next_free_vgpr 3
                .amdhsa_next_free_sgpr 10
                .amdhsa_accum_offset 4
        .end_amdhsa_kernel

        .amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: vadd
    .symbol: vadd.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 3
    .max_flat_workgroup_size: 256
    .args:
      - {.name: a, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.name: b, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.name: c, .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global}
...
        .end_amdgpu_metadata
