; cpu: gfx900 gfx906 gfx908 gfx90a
;; Structured buffers (stride 8, an index): the index is checked, the offset is not; without an index bytes are checked.
; buffer s[4:5] = 1 2 3 4 5 6 7 8
; set s6 = 3
; set s7 = 0x00024fac
; set v0 = 0 2 3 0xffffffff
; set v2 = 0 1 0xfffffffc 0
; set exec = 0xf
; set v11 = 1
; set v13 = 0xffffffff
; set v6 = 7
; expect v4 = 2 6 0 ..
; expect v5 = 0 ..
; expect v6 = 1 0 0 1 7 ..
; expect v8 = 3 7 0 ..
s_or_b32 s5, s5, 0x80000
buffer_load_dword v4, v0, s[4:7], 0 idxen offset:4
buffer_load_dword v5, off, s[4:7], 0
buffer_load_ubyte v6, v2, s[4:7], 0 offen
buffer_load_dword v8, v0, s[4:7], 0 idxen offset:8
s_waitcnt vmcnt(0)
