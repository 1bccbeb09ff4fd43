; cpu: gfx600 gfx701 gfx803 gfx900 gfx906 gfx908
;; Dword i of LDS is i. M0: parameters from byte 16 on, the second quad begins a new primitive. Attribute 1 of two
;; primitives: P0.y, P10.y, P20.y are dwords 30, 31, 37 for the first quad and 42, 43, 49 for the others.
; lds 256
; set v0 = lane*4
; set v1 = lane
; set v2 = 0.5
; set v3 = 0.25
; set m0 = -1
; set v9 = 7
; expect v4 = 45.5 45.5 45.5 45.5 63.5 ..
; expect v5 = 54.75 54.75 54.75 54.75 75.75 ..
; expect v6 = 30.0 30.0 30.0 30.0 42.0 ..
; expect v7 = 31.0 31.0 31.0 31.0 43.0 ..
; expect v8 = 37.0 37.0 37.0 37.0 49.0 ..
; expect v9 = 7 4.0 7 0 7 0 7 0 7 0 7 0 7 0 7 0 7 0 7 0 7 0 7 0 7 0 7 0 7 0 7 0 7 0 7 0 7 0 7 0 7 0 7 0 7 0 7 0 7 0 7 0 7 0 7 0 7 0 7 0 7 0 7 0
v_cvt_f32_u32 v1, v1
ds_write_b32 v0, v1
s_waitcnt lgkmcnt(0)
s_mov_b32 m0, 0x00010010
v_interp_p1_f32 v4, v2, attr1.y
v_mov_b32 v5, v4
v_interp_p2_f32 v5, v3, attr1.y
v_interp_mov_f32 v6, p0, attr1.y
v_interp_mov_f32 v7, p10, attr1.y
v_interp_mov_f32 v8, p20, attr1.y
;; The last dword inside and the first beyond LDS, for active lanes only.
s_mov_b32 m0, 0x00000010
s_mov_b64 exec, 2
v_interp_mov_f32 v9, p0, attr0.x
s_mov_b32 m0, 0x00000100
s_mov_b32 exec_lo, 0xaaaaaaa8
s_mov_b32 exec_hi, 0xaaaaaaaa
v_interp_mov_f32 v9, p0, attr0.x
s_mov_b64 exec, -1
