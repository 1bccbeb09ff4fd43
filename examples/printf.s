// printf in assembly: each work-item prints its number and the square of it.
//
//   wavemill run examples/printf.s
//
// The hidden argument is a buffer. Its first dword counts the bytes of records in it, its second says how many there can
// be, and the records follow: the number of a format string in the metadata, then the arguments. The metadata says how
// many arguments there are and how many bytes each of them takes.
// run: --grid 8 --block 8

        .amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
        .text
        .globl  squares
        .p2align 8
        .type   squares,@function
squares:                                // s[0:1] arguments, v0 work-item
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        v_mov_b32_e32 v1, 0
        v_mov_b32_e32 v2, 12            // bytes of a record: the format's number, two arguments
        s_waitcnt lgkmcnt(0)
        s_load_dword s6, s[4:5], 0x4    // bytes that there can be
        global_atomic_add v3, v1, v2, s[4:5] glc
        s_waitcnt vmcnt(0) lgkmcnt(0)   // v3: where the record of this work-item is
        v_add_u32_e32 v4, 12, v3
        v_cmp_ge_u32_e32 vcc, s6, v4    // no record without room for it
        s_and_saveexec_b64 s[8:9], vcc
        v_mov_b32_e32 v6, 1             // format 1
        v_mov_b32_e32 v7, v0
        v_mul_u32_u24_e32 v8, v0, v0
        global_store_dwordx3 v3, v[6:8], s[4:5] offset:8
        s_endpgm
        .size   squares, .-squares

        .rodata
        .p2align 6
        .amdhsa_kernel squares
                .amdhsa_kernarg_size 8
                .amdhsa_user_sgpr_kernarg_segment_ptr 1
                .amdhsa_next_free_vgpr 9
                .amdhsa_next_free_sgpr 10
                .amdhsa_accum_offset 12
        .end_amdhsa_kernel

        .amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.printf:
  - '1:2:4:4:%d squared is %d\n'
amdhsa.kernels:
  - .name: squares
    .symbol: squares.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 9
    .max_flat_workgroup_size: 256
    .args:
      - {.offset: 0, .size: 8, .value_kind: hidden_printf_buffer, .address_space: global}
...
        .end_amdgpu_metadata
