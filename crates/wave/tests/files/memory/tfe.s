; cpu: gfx600 gfx701 gfx803 gfx900 gfx906 gfx908
;; TFE: the register behind the data says whether something was missing. Nothing was.
; buffer s[4:5] = 0x3c003800 2 3 4
; set s6 = 16
; set s7 = 0x00027fac
; set v0 = 0 4 8 16
; set v2 = 7
; set v5 = 7
; set v8 = 7
; set exec = 0xf
; expect v1 = 0x3c003800 2 3 0 ..
; expect v2 = 0 0 0 0 7 ..
; expect v4 = 2 3 4 0 ..
; expect v5 = 0 0 0 0 7 ..
; expect v8 = 0 0 0 0 7 ..
buffer_load_dword v[1:2], v0, s[4:7], 0 offen tfe
buffer_load_dwordx2 v[3:5], v0, s[4:7], 0 offen tfe
buffer_load_format_xy v[6:8], v0, s[4:7], 0 offen tfe
s_waitcnt vmcnt(0)
