; cpu: gfx600 gfx701 gfx803 gfx900 gfx906 gfx908 gfx90a
;; S_SETREG changes rounding (toward zero) and S_GETREG reads it back.
; set v0 = 0x3f800000
; set v1 = 0x33800001
; expect v2 = 0x3f800001
; expect v3 = 0x3f800000
; expect s0 = 3
v_add_f32 v2, v0, v1
s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 3
v_add_f32 v3, v0, v1
s_getreg_b32 s0, hwreg(HW_REG_MODE, 0, 2)
