; cpu: gfx803 gfx900 gfx90a
;; Raw buffers: offsets from VGPR, SGPR and instruction; all three count in the range check (manual 9.1.5.1; silicon
;; includes the SGPR's). Out of range loads give 0 and stores nothing.
; buffer s[4:5] = 1 2 3 4 5 6
; set s6 = 16
; set s7 = 0x00024fac
; set s8 = 4
; set v0 = lane*4
; set v3 = 9
; set exec = 0xff
; expect v1 = 1 2 3 4 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
; expect v2 = 3 4 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
; expect s[4:5] = 1 2 9 9 5 6
buffer_load_dword v1, v0, s[4:7], 0 offen
buffer_load_dword v2, v0, s[4:7], s8 offen offset:4
buffer_store_dword v3, v0, s[4:7], 0 offen offset:8
s_waitcnt vmcnt(0)
