; cpu: gfx900 gfx906 gfx908
;; GFX9's 16-bit result leaves the upper half alone, the legacy form clears it.
; lds 256
; set m0 = 16
; set v4 = 1.0
; set v10 = 0xdead0000
; set v11 = 0xdead0000
; expect v10 = 0xdead3c00
; expect v11 = 0x3c00
v_interp_p2_f16 v10, v3, attr1.y, v4
v_interp_p2_legacy_f16 v11, v3, attr1.y, v4
