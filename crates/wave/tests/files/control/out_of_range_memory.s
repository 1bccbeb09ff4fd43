; cpu: gfx900 gfx906 gfx908 gfx90a
;; All registers that a load returns count (manual 3.6.1): one that reaches beyond the wave's 128 VGPRs is nullified, as
;; is an atomic that returns there; without a return it is not, and data beyond them is v0's.
; buffer s[4:5] = 5 6 7 8
; set v0 = 0
; set v126 = 42
; set v127 = 43
; expect v126 = 42
; expect v127 = 43
; expect s[4:5] = 69 6 0 7
v_mov_b32 v2, 1
v_mov_b32 v1, 8
global_load_dwordx4 v[126:129], v0, s[4:5]
global_atomic_add v130, v0, v2, s[4:5] glc
global_atomic_add v0, v2, s[4:5]
global_store_dword v1, v200, s[4:5]
v_mov_b32 v1, 12
v_mov_b32 v2, 7
s_mov_b64 exec, 1
global_store_dword v1, v2, s[4:5]
