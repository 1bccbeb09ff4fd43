; cpu: gfx600 gfx701
;; V_MULLIT_F32: a product, or the least number when S1 is that, minus infinity or no number, or S2 is not positive.
; set v0 = 3.0
; set v1 = 2.0 0xff800000 0xff7fffff 0x7fc00000 2.0 2.0 2.0 0x7f800000
; set v2 = 1.0 1.0 1.0 1.0 0.0 -1.0 0x7fc00000 1.0
; set v4 = 0.0
; expect v3 = 6.0 0xff7fffff 0xff7fffff 0xff7fffff 0xff7fffff 0xff7fffff 0xff7fffff 0x7f800000
; expect v5 = 0.0 0xff7fffff 0xff7fffff 0xff7fffff 0xff7fffff 0xff7fffff 0xff7fffff 0.0
v_mullit_f32 v3, v0, v1, v2
v_mullit_f32 v5, v4, v1, v2
