// A trap handler of one's own. The kernel computes b[i] = 1 / (i mod 128), and its descriptor lets divisions by zero trap;
// each wave traps once more when it is done. The handler counts both in the memory that TMA names.
//
//   wavemill run examples/traps.s
//
// prints how many waves divided by zero, and how many are done: 2 4.
//
// run: --grid 256 --block 64 --arg zeros:1024 --trap-handler :handler --trap-memory zeros:8 --show tma:u32:2

        .amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
        .text
        .globl  reciprocal
        .p2align 8
        .type   reciprocal,@function
reciprocal:                             // s[0:1] arguments, s2 work-group, v0 work-item
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        s_lshl_b32 s2, s2, 6            // 64 work-items in each work-group
        v_add_u32_e32 v0, s2, v0
        v_and_b32_e32 v1, 127, v0
        v_cvt_f32_u32_e32 v1, v1
        v_lshlrev_b32_e32 v0, 2, v0     // byte offset
        s_waitcnt lgkmcnt(0)
        v_rcp_f32_e32 v1, v1            // traps in waves with a zero
        global_store_dword v0, v1, s[4:5]
        s_trap 4
        s_endpgm
        .size   reciprocal, .-reciprocal

// Waves come here with the PC in TTMP0 and bits 15:0 of TTMP1, and the trap's number in bits 23:16 (0: an exception). Only
// TTMPs may be overwritten, and v[2:3], which the kernel leaves alone.
        .globl  handler
        .p2align 8
        .type   handler,@function
handler:
        s_getreg_b32 ttmp7, hwreg(HW_REG_STATUS)        // SCC
        s_getreg_b32 ttmp2, hwreg(HW_REG_TMA_LO)
        s_getreg_b32 ttmp3, hwreg(HW_REG_TMA_HI)
        s_mov_b64 ttmp[4:5], exec
        s_mov_b64 exec, 1
        s_bfe_u32 ttmp6, ttmp1, 0x80010                 // the trap's number
        s_min_u32 ttmp6, ttmp6, 1
        s_lshl_b32 ttmp6, ttmp6, 2                      // 0 or 4: which counter, and how far to go
        s_and_b32 ttmp1, ttmp1, 0xffff
        s_add_u32 ttmp0, ttmp0, ttmp6                   // behind s_trap; behind others it is already
        s_addc_u32 ttmp1, ttmp1, 0
        v_mov_b32_e32 v2, ttmp6
        v_mov_b32_e32 v3, 1
        global_atomic_add v2, v3, ttmp[2:3]
        s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 9), 0
        s_mov_b64 exec, ttmp[4:5]
        s_setreg_b32 hwreg(HW_REG_STATUS, 0, 1), ttmp7
        s_rfe_b64 ttmp[0:1]
        .size   handler, .-handler

        .rodata
        .p2align 6
        .amdhsa_kernel reciprocal
                .amdhsa_kernarg_size 8
                .amdhsa_user_sgpr_kernarg_segment_ptr 1
                .amdhsa_next_free_vgpr 4
                .amdhsa_next_free_sgpr 8
                .amdhsa_accum_offset 4
                .amdhsa_exception_fp_ieee_div_zero 1
        .end_amdhsa_kernel

        .amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: reciprocal
    .symbol: reciprocal.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 14
    .vgpr_count: 4
    .max_flat_workgroup_size: 256
    .args:
      - {.name: b, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
...
        .end_amdgpu_metadata
