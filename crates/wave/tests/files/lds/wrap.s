; cpu: gfx600 gfx701 gfx803 gfx900 gfx906 gfx908 gfx90a
;; Address and offset are added in 32 bits: what wraps around is in range again (GFX6 adds 16 bits, and no compiler relies
;; on that). Both addresses of a pair do so, and unaligned accesses reach into the next dword.
; lds 64
; set m0 = -1
; set v0 = -8
; set v1 = 0
; set v2 = 0x44332211
; set v3 = 0x88776655
; set v20 = 62
; expect v4 = 0x44332211
; expect v5 = 0x88776655
; expect v6 = 0x44332211
; expect v7 = 0x88776655
; expect v8 = 0x55443322
; expect v10 = 0x66554433
; expect v12 = 0
ds_write_b32 v0, v2 offset:12
ds_write_b32 v0, v3 offset:16
ds_read_b32 v4, v1 offset:4
ds_read_b32 v5, v1 offset:8
ds_read2_b32 v[6:7], v0 offset0:3 offset1:4
ds_read_b32 v8, v1 offset:5
ds_read_b32 v10, v1 offset:6
ds_read_b32 v12, v20
s_waitcnt lgkmcnt(0)
