; cpu: gfx900 gfx906 gfx908 gfx90a
;; The address is M0, the offset and four bytes a lane (manual 12.12); beyond LDS nothing is read or written.
; lds 64
; set m0 = 8
; set v1 = lane+50
; set v0 = lane*4
; set v2 = 9
; set v3 = 9
; set exec = 0xffffff
; expect v2 = 54 55 56 57 58 59 60 61 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 9 ..
; expect v3 = 0 0 0 0 50 51 52 53 54 55 56 57 58 59 60 61 0 0 0 0 0 0 0 0 9 ..
ds_write_addtid_b32 v1 offset:8
s_waitcnt lgkmcnt(0)
ds_read_b32 v3, v0
s_mov_b32 m0, 20
ds_read_addtid_b32 v2 offset:12
s_waitcnt lgkmcnt(0)
