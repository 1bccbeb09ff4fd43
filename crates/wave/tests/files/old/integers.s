; cpu: gfx600 gfx701
;; Forms that GFX8 dropped: shifts with the shift second, V_BFM and V_BCNT as VOP2, adds with signed names and a carry.
; set v0 = 0xf0
; set v1 = 4
; set v2 = 0x80000000
; set v3 = -1
; expect v10 = 0xf00
; expect v11 = 0xf
; expect v12 = 0xf8000000
; expect v13 = 3
; expect s6 = -1
; expect s7 = -1
v_lshl_b32 v10, v0, v1
v_lshr_b32 v11, v0, v1
v_ashr_i32 v12, v2, v1
v_add_i32 v13, vcc, v1, v3
s_mov_b64 s[6:7], vcc
