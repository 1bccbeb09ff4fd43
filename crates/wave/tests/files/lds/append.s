; cpu: gfx900 gfx906 gfx908 gfx90a
;; One number for the wave, at M0's lower half and the offset: as many as there are active lanes. No lane, no change.
;; (LLVM's __builtin_amdgcn_ds_append moves the pointer into M0.)
; lds 64
; set m0 = 0xffff0008
; set v0 = lane*4
; set exec = 0x700000000000000f
; expect v1 = 0 0 0 0 0 ..
; expect v2 = 7 7 7 0 ..
; expect v3 = 4 4 4 4 0 ..
ds_append v1 offset:4
ds_append v9 offset:4
ds_consume v9 offset:4
ds_append v9 offset:60
s_waitcnt lgkmcnt(0)
s_mov_b64 exec, 0
ds_append v9 offset:4
s_mov_b64 exec, 7
ds_consume v8 offset:4
s_mov_b64 exec, 15
v_mov_b32 v4, 12
ds_read_b32 v3, v4
s_mov_b64 exec, 0xf
s_waitcnt lgkmcnt(0)
v_mov_b32 v2, v8
