; VCC is in the highest two of the wave's 16 SGPRs: who reads it by their number must wait, which hardware does not see to.
; run: --grid 64
; gpus: gfx803 gfx810 gfx900 gfx906 gfx908
.text
.globl k
.p2align 8
.type k,@function
k:
    v_cmp_lt_u32 vcc, 3, v0
    v_mov_b32 v1, s13
    v_cmp_lt_u32 vcc, 5, v0
;+  s_nop 0
    v_mov_b32 v1, s14                   ; BUG hazard wait-states
    s_endpgm
.size k, .-k
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_next_free_vgpr 4
  .amdhsa_next_free_sgpr 12
  .amdhsa_reserve_flat_scratch 0
.end_amdhsa_kernel
