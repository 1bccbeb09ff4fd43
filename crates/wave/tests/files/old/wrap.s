; cpu: gfx600 gfx701
;; As on later generations a lane's offset and the instruction's wrap around before the check.
; buffer s[4:5] = 1 2 3 4
; set s6 = 16
; set s7 = 0x00024fac
; set v0 = -4 -8 0 12 13 14 15 16
; set v1 = 7
; set v2 = 7
; set exec = 0xff
; expect v1 = 0 0 1 4 0 0 0 0 7 ..
; expect v2 = 2 1 3 0 0 0 0 0 7 ..
buffer_load_dword v1, v0, s[4:7], 0 offen
buffer_load_dword v2, v0, s[4:7], 0 offen offset:8
s_waitcnt vmcnt(0)
