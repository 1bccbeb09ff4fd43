; cpu: gfx600 gfx701 gfx803 gfx900 gfx906 gfx908 gfx90a
;; S_CBRANCH_CDBG*: taken by the conditional debug bits of STATUS, 20 (user) and 21 (system).
; set status = 0x00100040
; expect s0 = 0
; expect s1 = 0
; expect s2 = 1
; expect s3 = 0
; expect s4 = 1
; expect s5 = 1
; expect s6 = 0
s_mov_b32 s1, 0
s_mov_b32 s2, 1
s_mov_b32 s3, 0
s_mov_b32 s4, 1
s_mov_b32 s5, 0
s_mov_b32 s6, 1
s_cbranch_cdbguser user
s_mov_b32 s1, 1
user:
s_cbranch_cdbgsys system
s_mov_b32 s5, 1
system:
s_cbranch_cdbgsys_or_user either
s_mov_b32 s3, 1
either:
s_cbranch_cdbgsys_and_user both
s_mov_b32 s6, 0
both:
s_getreg_b32 s0, hwreg(HW_REG_STATUS, 21, 1)
