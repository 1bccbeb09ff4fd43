; cpu: gfx900 gfx906 gfx908 gfx90a
;; Loads and stores with each kind of address, sub-dword sizes, and an atomic with return.
; set v0 = lane*4
; set v9 = 2
; buffer s[4:5] = 1 -2 0x80ff7f01 4
; buffer s[6:7] = 0 0 0 0 0 0
; set exec = 0xf
; expect v1 = 1 -2 0x80ff7f01 4 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
; expect v4 = 1 -2 1 4 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
; expect s[6:7] = 1 -2 0x80ff7f01 4 8
global_load_dword v1, v0, s[4:5]
global_load_sbyte v4, v0, s[4:5]
global_store_dword v0, v1, s[6:7]
v_mov_b32 v2, s6
v_mov_b32 v3, s7
global_atomic_add v[2:3], v9, off offset:16
s_waitcnt vmcnt(0)
