; Private memory of 16 bytes, and a store behind them.
; run: --grid 64
; gpus: gfx900 gfx906 gfx908
; status: 3
.text
.globl k
.p2align 8
.type k,@function
k:
    s_add_u32 flat_scratch_lo, s0, s2
    s_addc_u32 flat_scratch_hi, s1, 0
    v_mov_b32 v1, 16                    ;-
;+  v_mov_b32 v1, 12
    scratch_store_dword v1, v0, off     ; BUG mem private-outside
    s_endpgm
.size k, .-k
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_next_free_vgpr 4
  .amdhsa_next_free_sgpr 8
  .amdhsa_private_segment_fixed_size 16
  .amdhsa_user_sgpr_flat_scratch_init 1
  .amdhsa_system_sgpr_private_segment_wavefront_offset 1
  .amdhsa_system_sgpr_workgroup_id_x 0
.end_amdhsa_kernel
