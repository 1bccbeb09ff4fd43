; cpu: gfx900 gfx906 gfx908 gfx90a
;; GFX9's LDS instructions do not look at M0 (LLVM sets it for none of them); its size still limits them.
; lds 64
; set m0 = 4
; set v0 = 60
; set v1 = 64
; set v2 = 7
; expect v3 = 7
; expect v4 = 0
ds_write_b32 v0, v2
ds_write_b32 v1, v2
ds_read_b32 v3, v0
ds_read_b32 v4, v1
