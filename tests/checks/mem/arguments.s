; Reads a second argument, and the kernel has one.
; run: --grid 64 --arg zeros:u32:1
; gpus: gfx900 gfx906 gfx908
.text
.globl k
.p2align 8
.type k,@function
k:
    s_load_dwordx2 s[4:5], s[0:1], 0x8  ; BUG mem arguments-outside
    s_waitcnt lgkmcnt(0)
    s_endpgm
.size k, .-k
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_next_free_vgpr 4
  .amdhsa_next_free_sgpr 8
  .amdhsa_kernarg_size 8                ;-
;+.amdhsa_kernarg_size 16
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel
