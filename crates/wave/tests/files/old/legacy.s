; cpu: gfx600 gfx701
;; The DX9 forms: 0 times anything is 0, min and max take the second operand when a NaN is there (GCN manuals).
; set v0 = 0.0
; set v1 = 0x7f800000
; set v2 = 3.0
; set v3 = 0x7fc00000
; set v4 = 2.0
; set v6 = 5.0
; expect v10 = 0.0
; expect v11 = 6.0
; expect v12 = 3.0
; expect v13 = 8.0
; expect v6 = 5.0
; expect v14 = 2.0
; expect v15 = 2.0
; expect v16 = 0x7fc00000
; expect v17 = 3.0
; expect v18 = 2.0
v_mul_legacy_f32 v10, v0, v1
v_mul_legacy_f32 v11, v2, v4
v_mad_legacy_f32 v12, v0, v1, v2
v_mad_legacy_f32 v13, v2, v4, v4
v_mac_legacy_f32 v6, v0, v1
v_min_legacy_f32 v14, v3, v4
v_max_legacy_f32 v15, v3, v4
v_min_legacy_f32 v16, v4, v3
v_max_legacy_f32 v17, v2, v4
v_min_legacy_f32 v18, v2, v4
