; cpu: gfx803 gfx900 gfx90a
;; The private segment buffer of the ROCm ABI: ADD_TID, swizzled with four-byte elements for 64 lanes (manual 9.1.5.2).
; buffer s[4:5] = 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
; set s6 = -1
; set s7 = 0x00e80000
; set v0 = 4
; set v2 = lane+1
; expect v3 = lane+1
; expect s[4:5] = 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 2 3 4 5
s_or_b32 s5, s5, 0x80000000
buffer_store_dword v2, v0, s[4:7], 0 offen
buffer_load_dword v3, off, s[4:7], 0 offset:4
s_waitcnt vmcnt(0)
