; cpu: gfx600 gfx701 gfx803 gfx900 gfx906 gfx908 gfx90a
;; GFX8 and GFX9 keep V_MAD_LEGACY_F32 and V_MUL_LEGACY_F32.
; set v0 = 0.0
; set v1 = 0x7f800000
; set v2 = 3.0
; expect v10 = 0.0
; expect v12 = 3.0
v_mul_legacy_f32 v10, v0, v1
v_mad_legacy_f32 v12, v0, v1, v2
