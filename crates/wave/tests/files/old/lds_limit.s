; cpu: gfx600 gfx701 gfx803
;; Before GFX9, M0 limits what of LDS an instruction may touch (manual 3.6.5): reads beyond give zero, writes and atomics
;; do nothing. The work-group's own size limits it, too.
; lds 64
; set v0 = 0
; set v1 = 12
; set v2 = 60
; set v3 = 64
; set v4 = 7
; expect v5 = 7
; expect v6 = 0
; expect v7 = 7
; expect v8 = 0
; expect v9 = 0
; expect v10 = 0
; expect v11 = 7
s_mov_b32 m0, -1
ds_write_b32 v0, v4
ds_write_b32 v1, v4
ds_write_b32 v2, v4
ds_write_b32 v3, v4
ds_read_b32 v8, v3
s_mov_b32 m0, 16
ds_read_b32 v5, v1
ds_read_b32 v6, v2
ds_write_b32 v2, v3
ds_add_u32 v2, v4
ds_add_rtn_u32 v9, v2, v4
s_mov_b32 m0, 14
ds_read_b32 v10, v1
s_mov_b32 m0, 0x10000
ds_read_b32 v7, v2
ds_read_b32 v11, v0
s_waitcnt lgkmcnt(0)
