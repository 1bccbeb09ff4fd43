; cpu: gfx600 gfx701 gfx803
;; Before GFX9 M0 bounds LDS and is no address: the counter lies at the offset (Mesa's ACO emits it with M0 = -1).
; lds 64
; set m0 = -1
; set exec = 0x700000000000000f
; expect v1 = 0 0 0 0 0 ..
; expect v2 = 7 7 7 7 0 ..
; expect v3 = 3 3 3 3 0 ..
ds_append v1 offset:12
s_waitcnt lgkmcnt(0)
s_mov_b64 exec, 15
ds_consume v2 offset:12
s_waitcnt lgkmcnt(0)
v_mov_b32 v4, 12
ds_read_b32 v3, v4
s_waitcnt lgkmcnt(0)
