; cpu: gfx803 gfx900 gfx906 gfx908
;; The long forms: a negated coordinate, a clamped and a doubled result (which needs denormals off).
; lds 256
; set v0 = lane*4
; set v1 = lane
; set v2 = 0.5
; set mode = 0xc0
; expect v4 = 14.5 14.5 14.5 14.5 20.5 ..
; expect v5 = 1.0 ..
; expect v6 = 91.0 91.0 91.0 91.0 127.0 ..
v_cvt_f32_u32 v1, v1
s_mov_b32 m0, -1
ds_write_b32 v0, v1
s_waitcnt lgkmcnt(0)
s_mov_b32 m0, 0x00010010
v_interp_p1_f32_e64 v4, -v2, attr1.y
v_interp_p1_f32_e64 v5, v2, attr1.y clamp
v_interp_p1_f32_e64 v6, v2, attr1.y mul:2
