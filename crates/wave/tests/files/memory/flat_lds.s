; cpu: gfx900 gfx906 gfx908 gfx90a
;; A flat address in the shared aperture is LDS.
; set v0 = lane*4
; set v2 = lane*7
; lds 256
; expect v3 = lane*7
; expect v4 = lane*7
s_mov_b64 s[0:1], src_shared_base
v_mov_b32 v1, s1
flat_store_dword v[0:1], v2
s_waitcnt vmcnt(0) lgkmcnt(0)
ds_read_b32 v3, v0
flat_load_dword v4, v[0:1]
s_waitcnt vmcnt(0) lgkmcnt(0)
