; cpu: gfx90a
;; V_FRACT is S0 + -floor(S0) (manual 12.8): the sum of zeros of different signs is -0 when rounding down (IEEE 754, 6.3).
; set mode = 0xfa
; set v0 = 0 3.0 1.25
; expect v1 = 0x80000000 0x80000000 0x3e800000
v_fract_f32 v1, v0
