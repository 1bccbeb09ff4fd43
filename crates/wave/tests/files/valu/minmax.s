; cpu: gfx600 gfx701 gfx803 gfx900 gfx906 gfx908 gfx90a
;; V_MIN and V_MAX with zeros and NaNs (manual 12.7): IEEE quiets signalling NaNs, numbers beat quiet ones.
; set v0 = 0x80000000 0 0x7fc00001 0x7f800001 1.0 1.0
; set v1 = 0 0x80000000 2.0 2.0 0x7fc00001 -3.0
; expect v2 = 0x80000000 0x80000000 2.0 0x7fc00001 1.0 -3.0
; expect v3 = 0 0 2.0 0x7fc00001 1.0 1.0
; expect v4 = 0x80000000 0x80000000 2.0 2.0 1.0 -3.0
v_min_f32 v2, v0, v1
v_max_f32 v3, v0, v1
s_setreg_imm32_b32 hwreg(HW_REG_MODE, 9, 1), 0
v_min_f32 v4, v0, v1
