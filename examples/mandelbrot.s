// The Mandelbrot set, 96 by 56 points, drawn in the terminal.
//
//   wavemill run examples/mandelbrot.s
//   wavemill run examples/mandelbrot.s --grid 160,90 --show 0:image:160x90 --arg zeros:57600 --arg u32:160 ...
//
// Each work-item iterates z = z*z + c for one point and stores after how many steps |z| passed 2.
//
// run: --grid 96,56 --block 16,4 --arg zeros:21504 --arg u32:96 --arg u32:200
// run: --arg f32:-2.2 --arg f32:-1.2 --arg f32:0.0333333 --arg f32:0.0436364
// run: --show 0:image:96x56

        .amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
        .text
        .globl  mandelbrot
        .p2align 8
        .type   mandelbrot,@function
// s[0:1] arguments, s2 and s3 work-group in X and Y, v0 both work-item ids
mandelbrot:
        s_load_dwordx4 s[4:7], s[0:1], 0x0      // out, width, limit
        s_load_dwordx4 s[8:11], s[0:1], 0x10    // x0, y0, dx, dy
        s_lshl_b32 s2, s2, 4                    // 16 by 4 work-items
        s_lshl_b32 s3, s3, 2
        v_and_b32_e32 v1, 0x3ff, v0             // gfx90a packs ids: ten bits each
        v_bfe_u32 v2, v0, 10, 10
        v_add_u32_e32 v1, s2, v1                // x
        v_add_u32_e32 v2, s3, v2                // y
        s_waitcnt lgkmcnt(0)
        v_mul_lo_u32 v3, v2, s6
        v_add_lshl_u32 v3, v3, v1, 2            // byte offset of the point
        v_cvt_f32_u32_e32 v4, v1
        v_cvt_f32_u32_e32 v5, v2
        v_mov_b32_e32 v6, s8
        v_mov_b32_e32 v7, s9
        v_fma_f32 v4, v4, s10, v6               // c = (v4, v5)
        v_fma_f32 v5, v5, s11, v7
        v_mov_b32_e32 v6, 0                     // z = (v6, v7)
        v_mov_b32_e32 v7, 0
        v_mov_b32_e32 v8, 0                     // steps
        s_mov_b32 s12, 0
        s_mov_b64 s[14:15], exec
.Lstep:
        v_mul_f32_e32 v9, v6, v6
        v_mul_f32_e32 v10, v7, v7
        v_add_f32_e32 v11, v9, v10
        v_cmp_gt_f32_e32 vcc, 4.0, v11          // points that are still inside
        s_and_b64 exec, exec, vcc               // the others wait
        s_cbranch_execz .Lout
        v_mul_f32_e32 v12, v6, v7
        v_sub_f32_e32 v9, v9, v10
        v_add_f32_e32 v6, v9, v4
        v_fma_f32 v7, v12, 2.0, v5
        v_add_u32_e32 v8, 1, v8
        s_add_i32 s12, s12, 1
        s_cmp_lt_u32 s12, s7
        s_cbranch_scc1 .Lstep
.Lout:
        s_mov_b64 exec, s[14:15]
        global_store_dword v3, v8, s[4:5]
        s_endpgm
        .size   mandelbrot, .-mandelbrot

        .rodata
        .p2align 6
        .amdhsa_kernel mandelbrot
                .amdhsa_kernarg_size 32
                .amdhsa_user_sgpr_kernarg_segment_ptr 1
                .amdhsa_system_sgpr_workgroup_id_y 1
                .amdhsa_system_vgpr_workitem_id 1
                .amdhsa_next_free_vgpr 13
                .amdhsa_next_free_sgpr 16
                .amdhsa_accum_offset 16
        .end_amdhsa_kernel

        .amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: mandelbrot
    .symbol: mandelbrot.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 22
    .vgpr_count: 13
    .max_flat_workgroup_size: 64
    .reqd_workgroup_size: [16, 4, 1]
    .args:
      - {.name: out, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.name: width, .offset: 8, .size: 4, .value_kind: by_value}
      - {.name: limit, .offset: 12, .size: 4, .value_kind: by_value}
      - {.name: x0, .offset: 16, .size: 4, .value_kind: by_value}
      - {.name: y0, .offset: 20, .size: 4, .value_kind: by_value}
      - {.name: dx, .offset: 24, .size: 4, .value_kind: by_value}
      - {.name: dy, .offset: 28, .size: 4, .value_kind: by_value}
...
        .end_amdgpu_metadata
