; cpu: gfx90a
;; V_DIV_SCALE where the denominator's reciprocal and the quotient are both denormal: the manual (12.11) scales the denominator
;; up, which overflows; RDNA's GPUs scale it down (facts measured on gfx1100 and gfx1201), and the numerator stays. V_DIV_FMAS is
;; told to scale back.
; set mode = 0xf0
; set v1 = 0x7f7fffff
; set v2 = 0x38800000
; set v8 = 0xffffffff
; set v9 = 0x7fefffff
; set v10 = 0
; set v11 = 0x3f100000
; expect v0 = 0x5f7fffff
; expect v3 = 1
; expect v4 = 0x38800000
; expect v12 = 0xffffffff
; expect v13 = 0x77efffff
; expect v14 = 1
v_div_scale_f32 v0, vcc, v1, v1, v2
v_cndmask_b32_e64 v3, 0, 1, vcc
v_div_scale_f32 v4, vcc, v2, v1, v2
v_div_scale_f64 v[12:13], vcc, v[8:9], v[8:9], v[10:11]
v_cndmask_b32_e64 v14, 0, 1, vcc
