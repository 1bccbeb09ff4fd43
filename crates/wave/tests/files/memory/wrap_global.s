; cpu: gfx900 gfx906 gfx908 gfx90a
;; Offsets of GLOBAL are signed, those of FLAT are not; an address that passes the end of 64 bits begins again at 0. The
;; register beside a scalar base counts without a sign.
; buffer s[4:5] = 1 2 3 4
; set v2 = 12
; set v3 = 0
; set exec = 1
; expect v4 = 3 0 ..
; expect v5 = 2 0 ..
; expect v6 = 4 0 ..
; expect v7 = 1 0 ..
v_mov_b32 v0, s4
v_mov_b32 v1, s5
global_load_dword v4, v[0:1], off offset:8
global_load_dword v5, v2, s[4:5] offset:-8
flat_load_dword v6, v[0:1] offset:12
s_add_u32 s6, s4, 0x1000
s_addc_u32 s7, s5, 0
v_mov_b32 v2, s6
v_mov_b32 v3, s7
global_load_dword v7, v[2:3], off offset:-4096
s_waitcnt vmcnt(0)
