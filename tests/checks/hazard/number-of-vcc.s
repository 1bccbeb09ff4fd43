; Written by the number of the SGPRs that hold it, read as VCC. As a mask it is there at once, as a number it is not.
; run: --grid 64
; gpus: gfx803 gfx810 gfx900 gfx906 gfx908
.text
.globl k
.p2align 8
.type k,@function
k:
    v_cmp_lt_u32 s[30:31], 3, v0
    v_cndmask_b32 v2, v0, v0, vcc
    v_readfirstlane_b32 s31, v0
;+  s_nop 0
    v_mov_b32 v1, vcc_hi                ; BUG hazard wait-states
    s_endpgm
.size k, .-k
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_next_free_vgpr 4
  .amdhsa_next_free_sgpr 28
  .amdhsa_reserve_flat_scratch 0
.end_amdhsa_kernel
