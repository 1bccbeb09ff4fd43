; cpu: gfx600 gfx701
;; GFX6 and GFX7 check the index of a buffer with a stride, and that the offset is inside the record.
; buffer s[4:5] = 1 2 3 4 5 6 7 8
; set s6 = 3
; set s7 = 0x00024fac
; set v0 = 0 1 2 3
; set exec = 0xf
; expect v4 = 2 4 6 0 ..
; expect v5 = 0 ..
s_or_b32 s5, s5, 0x80000
buffer_load_dword v4, v0, s[4:7], 0 idxen offset:4
buffer_load_dword v5, v0, s[4:7], 0 idxen offset:8
s_waitcnt vmcnt(0)
