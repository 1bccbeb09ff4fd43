; cpu: gfx90a
;; The same where MODE flushes denormals of f16.
; set mode = 0x30
; set v0 = 0x0200 0x0400
; expect v1 = 0 2
; expect v2 = 0 4
v_cvt_norm_i16_f16 v1, v0
v_cvt_norm_u16_f16 v2, v0
