; cpu: gfx90a
;; V_DIV_FIXUP of an infinite quotient overflows as a division in the rounding mode does (IEEE 754, 7.4): toward zero, to the
;; largest number of the sign.
; set mode = 0xff
; set v0 = 0x7f800000 0x7f800000
; set v1 = 1.0 -1.0
; set v2 = 2.0 2.0
; expect v3 = 0x7f7fffff 0xff7fffff
v_div_fixup_f32 v3, v0, v1, v2
