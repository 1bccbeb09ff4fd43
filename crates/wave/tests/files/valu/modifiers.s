; cpu: gfx600 gfx701 gfx803 gfx900 gfx906 gfx908 gfx90a
;; neg, abs, clamp; OMOD needs IEEE off and denormal results flushed (manual 6.2.2).
; set v0 = -2.0 0.25 3.0
; set v1 = 1.0
; expect v2 = 3.0 0.75 -2.0
; expect v3 = 3.0 1.25 4.0
; expect v4 = 0 1.0 1.0
; expect v5 = -1.0 1.25 4.0
; expect v6 = -2.0 2.5 8.0
; expect v7 = 0 0.25 1.0
v_sub_f32 v2, v1, v0
v_add_f32_e64 v3, |v0|, v1
v_add_f32_e64 v4, v0, v1 clamp
v_add_f32_e64 v5, v0, v1 mul:2
s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 6), 0x10
v_add_f32_e64 v6, v0, v1 mul:2
v_max_f32_e64 v7, v0, v0 clamp
