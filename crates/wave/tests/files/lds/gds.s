; cpu: gfx600 gfx701 gfx803 gfx900 gfx906 gfx908
;; M0 has the base of GDS in its upper half and its size in the lower one: beyond the size reads give 0, writes nothing.
; lds 64
; set m0 = 0x01000010
; set v0 = lane*4
; set v1 = lane+50
; set v5 = 3
; set exec = 0x3f
; expect v2 = 50 51 52 53 0 ..
; expect v3 = 52 53 0 ..
; expect v4 = 0 ..
; expect v6 = 52 52 52 52 52 52 0 ..
; expect v7 = 58 58 58 58 58 58 0 ..
; expect v8 = 52 ..
ds_write_b32 v0, v1 gds
ds_read_b32 v2, v0 gds
ds_read_b32 v3, v0 offset:8 gds
s_waitcnt lgkmcnt(0)
s_mov_b32 s4, m0
s_mov_b32 m0, 64
ds_read_b32 v4, v0
s_waitcnt lgkmcnt(0)
s_mov_b32 m0, s4
ds_append v6 offset:8 gds
ds_consume v7 offset:8 gds
s_waitcnt lgkmcnt(0)
s_mov_b64 exec, -1
s_mov_b32 m0, 0x01080008
v_mov_b32 v0, 0
ds_read_b32 v8, v0 gds
s_waitcnt lgkmcnt(0)
