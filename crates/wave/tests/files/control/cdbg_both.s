; cpu: gfx701 gfx803 gfx900 gfx906 gfx908 gfx90a
;; S_CBRANCH_CDBG* with both bits: every branch is taken.
; set status = 0x00300040
; expect s1 = 0
; expect s2 = 0
; expect s3 = 0
; expect s4 = 0
; expect s0 = 1
s_mov_b32 s1, 0
s_mov_b32 s2, 0
s_mov_b32 s3, 0
s_mov_b32 s4, 0
s_cbranch_cdbguser user
s_mov_b32 s1, 1
user:
s_cbranch_cdbgsys system
s_mov_b32 s2, 1
system:
s_cbranch_cdbgsys_or_user either
s_mov_b32 s3, 1
either:
s_cbranch_cdbgsys_and_user both
s_mov_b32 s4, 1
both:
s_getreg_b32 s0, hwreg(HW_REG_STATUS, 21, 1)
