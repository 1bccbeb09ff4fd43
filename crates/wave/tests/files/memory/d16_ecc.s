; cpu: gfx906 gfx908 gfx90a
;; "When ECC is enabled 16-bit memory loads write the full 32-bit VGPR. Unused bits are set to zero." (manual 9.1.6)
; lds 64
; set m0 = -1
; set v0 = 0
; set v1 = 0x8765
; set v2 = 0x11112222
; set v3 = 0x11112222
; set v4 = 0x11112222
; expect v2 = 0x00008765
; expect v3 = 0x87650000
; expect v4 = 0xff870000
ds_write_b16 v0, v1
s_waitcnt lgkmcnt(0)
ds_read_u16_d16 v2, v0
ds_read_u16_d16_hi v3, v0
ds_read_i8_d16_hi v4, v0 offset:1
s_waitcnt lgkmcnt(0)
