; cpu: gfx90a
;; Norm conversions of f16 denormals, which MODE lets be numbers: 2^-15 times 32767 is 0.99997, times 65535 is 1.99997; the least
;; one, 2^-24, is nothing.
; set mode = 0xf0
; set v0 = 0x0200 0x0001 0x8200
; expect v1 = 1 0 0xffff
; expect v2 = 2 0 0
v_cvt_norm_i16_f16 v1, v0
v_cvt_norm_u16_f16 v2, v0
