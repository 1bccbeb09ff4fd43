; cpu: gfx803
;; GFX8's 16-bit result clears the upper half.
; lds 256
; set m0 = 16
; set v4 = 1.0
; set v10 = 0xdead0000
; expect v10 = 0x3c00
v_interp_p2_f16 v10, v3, attr1.y, v4
