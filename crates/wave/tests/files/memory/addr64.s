; cpu: gfx600 gfx701
;; 64-bit addresses in VGPRs: base, VGPR pair, scalar and instruction offset are added, the size does not count.
; buffer s[4:5] = 1 2 3 4 0x3f800000 0x40000000 7 8
; set s6 = 0
; set s7 = 0x0000f000
; set s8 = 4
; set v0 = 0 4 8 12
; set v1 = 0
; set v4 = 9
; set exec = 0xf
; expect v2 = 3 4 0x3f800000 0x40000000 0 ..
; expect v3 = 0 63.0 64.0 0 ..
; expect s[4:5] = 1 2 3 4 9 13 17 21
buffer_load_dword v2, v[0:1], s[4:7], s8 addr64 offset:4
tbuffer_load_format_x v3, v[0:1], s[4:7], 0 format:[BUF_DATA_FORMAT_8,BUF_NUM_FORMAT_USCALED] addr64 offset:15
buffer_store_dword v4, v[0:1], s[4:7], s8 addr64 offset:12
buffer_atomic_add v0, v[0:1], s[4:7], 0 addr64 offset:16
s_waitcnt vmcnt(0)
