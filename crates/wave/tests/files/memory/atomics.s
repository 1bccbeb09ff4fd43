; cpu: gfx900 gfx906 gfx908 gfx90a
;; Every 32-bit atomic once, with the old value returned (manual 12.16.3, glc). One lane, one dword each.
; set exec = 1
; buffer s[4:5] = 10 10 10 10 -5 -5 12 12 12 7 7 0 3 20
; set v2 = 3
; set v3 = 7
; set v4 = 20
; set v5 = 10
; expect s[4:5] = 3 13 7 3 -5 3 3 -5 0 15 15 0 4 20
; expect s20 = 10
; expect s21 = 20
; expect s22 = 12
global_atomic_swap v10, v0, v2, s[4:5] glc
global_atomic_add v11, v0, v2, s[4:5] offset:4 glc
global_atomic_sub v12, v0, v2, s[4:5] offset:8 glc
global_atomic_umin v13, v0, v2, s[4:5] offset:12 glc
global_atomic_smin v14, v0, v2, s[4:5] offset:16 glc
global_atomic_smax v15, v0, v2, s[4:5] offset:20 glc
global_atomic_umin v16, v0, v2, s[4:5] offset:24 glc
v_mov_b32 v6, -5
global_atomic_umax v17, v0, v6, s[4:5] offset:28 glc
global_atomic_and v18, v0, v2, s[4:5] offset:32 glc
v_mov_b32 v6, 8
global_atomic_or v19, v0, v6, s[4:5] offset:36 glc
global_atomic_xor v20, v0, v6, s[4:5] offset:40 glc
global_atomic_inc v0, v3, s[4:5] offset:44
global_atomic_dec v0, v3, s[4:5] offset:44
global_atomic_inc v22, v0, v3, s[4:5] offset:48 glc
v_mov_b32 v6, 1
v_mov_b32 v7, 2
global_atomic_cmpswap v23, v0, v[6:7], s[4:5] offset:52 glc
s_waitcnt vmcnt(0)
v_readfirstlane_b32 s20, v10
v_readfirstlane_b32 s21, v23
v_readfirstlane_b32 s22, v18
