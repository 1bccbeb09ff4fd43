; cpu: gfx803
;; GFX8 counts bytes, index and stride included, unless the buffer is swizzled.
; buffer s[4:5] = 1 2 3 4 5 6 7 8
; set s6 = 20
; set s7 = 0x00024fac
; set v0 = 0 1 2 3
; set exec = 0xf
; expect v4 = 1 3 5 0 ..
; expect v5 = 2 4 0 ..
s_or_b32 s5, s5, 0x80000
buffer_load_dword v4, v0, s[4:7], 0 idxen
buffer_load_dword v5, v0, s[4:7], 0 idxen offset:4
s_waitcnt vmcnt(0)
