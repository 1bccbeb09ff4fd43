; cpu: gfx803 gfx900 gfx906 gfx908
;; Dword i of LDS holds the halves i and i + 0.5. Attribute 1, one primitive from byte 16: P0.y is dword 18, P10.y 19,
;; P20.y 25.
; lds 256
; set v0 = lane*4
; set v1 = lane
; set v2 = 0.5
; set v3 = 0.25
; set v7 = 0x44004000
; set v10 = 0xdead0000
; set v11 = 0xdead0000
; expect v4 = 27.5
; expect v5 = 28.25
; expect v8 = 11.5
; expect v9 = 13.75
; expect v14 = -11.5
; expect v15 = 5.75
; expect v12 = 0x5038
; expect v13 = 0x5054
v_cvt_f32_u32 v1, v1
v_add_f32 v6, 0.5, v1
v_cvt_pkrtz_f16_f32 v1, v1, v6
s_mov_b32 m0, -1
ds_write_b32 v0, v1
s_waitcnt lgkmcnt(0)
s_mov_b32 m0, 0x00000010
v_interp_p1ll_f16 v4, v2, attr1.y
v_interp_p1ll_f16 v5, v2, attr1.y high
v_interp_p1lv_f16 v8, v2, attr1.y, v7
v_interp_p1lv_f16 v9, v2, attr1.y, v7 high
v_interp_p2_f16 v10, v3, attr1.y, v4
v_interp_p2_f16 v11, v3, attr1.y, v5 high
v_and_b32 v12, 0xffff, v10
v_and_b32 v13, 0xffff, v11
v_interp_p1lv_f16 v14, -v2, attr1.y, -v7
v_interp_p1lv_f16 v15, v2, attr1.y, -|v7| high
