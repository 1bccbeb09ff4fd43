; cpu: gfx600 gfx701 gfx803 gfx900 gfx906 gfx908 gfx90a
;; A fork that all lanes pass jumps, one that none passes goes on; neither touches the stack.
; set exec = 0xff00
; set s0 = 11
; set s30 = 0xff00
; set s31 = 0
; set s32 = 0xff
; set s33 = 0
; expect s0 = 11
; expect s5 = 1
; expect s6 = 1
; expect s7 = 0
; expect exec = 0xff00
s_mov_b32 s5, 0
s_mov_b32 s6, 0
s_cbranch_i_fork s[30:31], passed
s_mov_b32 s5, 9
passed:
s_add_u32 s5, s5, 1
s_cbranch_i_fork s[32:33], failed
s_mov_b32 s6, 1
failed:
s_getreg_b32 s7, hwreg(HW_REG_MODE, 29, 3)
