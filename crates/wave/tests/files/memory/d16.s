; cpu: gfx900
;; Without ECC the other half of the register stays (LLVM's d16PreservesUnusedBits).
; lds 64
; set v0 = 0
; set v1 = 0x8765
; set v2 = 0x11112222
; set v3 = 0x11112222
; set v4 = 0x11112222
; expect v2 = 0x11118765
; expect v3 = 0x87652222
; expect v4 = 0xff872222
ds_write_b16 v0, v1
s_waitcnt lgkmcnt(0)
ds_read_u16_d16 v2, v0
ds_read_u16_d16_hi v3, v0
ds_read_i8_d16_hi v4, v0 offset:1
s_waitcnt lgkmcnt(0)
