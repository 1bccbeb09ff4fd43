; cpu: gfx600 gfx701 gfx803 gfx900 gfx906 gfx908
;; The first active lane's number is added to one of the counters (bits 7:2 of the offset), the old one is returned. Bit 12
;; exchanges instead. The upper half of M0 is the counters' address, the lower one the wave's number, and no size.
; set m0 = 0x01000000
; set v0 = 5 7
; set exec = 0xe
; expect v1 = 0 0 0 0 0 ..
; expect v2 = 0 7 7 7 0 ..
; expect v3 = 0 14 14 14 0 ..
; expect v4 = 0 7 7 7 0 ..
; expect v5 = 0 0 0 0 0 ..
; expect v6 = 0 7 7 7 0 ..
; expect v7 = 0 14 14 14 0 ..
ds_ordered_count v1, v0 offset:4 gds
ds_ordered_count v2, v0 offset:4 gds
ds_ordered_count v3, v0 offset:0x1004 gds
ds_ordered_count v4, v0 offset:4 gds
ds_ordered_count v5, v0 offset:0xfc gds
s_mov_b32 m0, 0x01f80005
ds_ordered_count v6, v0 offset:4 gds
s_mov_b32 m0, 0x01000002
ds_ordered_count v7, v0 offset:0xfc gds
s_waitcnt lgkmcnt(0)
