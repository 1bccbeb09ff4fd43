; cpu: gfx900 gfx906 gfx908 gfx90a
;; Nothing is checked in a private buffer (lane numbers, swizzled), so that offsets of both signs make an address together:
;; compilers count on it from GFX9 on.
; buffer s[4:5] = 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
; set s6 = -1
; set s7 = 0x00e80000
; set v0 = -4
; set v2 = lane+1
; expect v3 = lane+1
s_or_b32 s5, s5, 0x80000000
buffer_store_dword v2, v0, s[4:7], 0 offen offset:8
buffer_load_dword v3, off, s[4:7], 0 offset:4
s_waitcnt vmcnt(0)
