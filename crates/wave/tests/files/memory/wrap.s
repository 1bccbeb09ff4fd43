; cpu: gfx803 gfx900 gfx906 gfx908 gfx90a
;; A lane's offset and the instruction's wrap around, then the sum is checked; the scalar offset is added without wrapping: a
;; big one is out of range, whatever is added (measured on gfx950: rocm-systems #10928). The last byte counts, too.
; buffer s[4:5] = 1 2 3 4
; set s6 = 16
; set s7 = 0x00024fac
; set s8 = -4
; set s9 = 8
; set v0 = -4 -8 0 12 13 14 15 16
; set v1 = 7
; set v2 = 7
; set v3 = 7
; set v4 = 7
; set v5 = 9
; set exec = 0xff
; expect v1 = 0 0 1 4 0 0 0 0 7 ..
; expect v2 = 2 1 3 0 0 0 0 0 7 ..
; expect v3 = 0 0 0 0 0 0 0 0 7 ..
; expect v4 = 0 0 3 0 0 0 0 0 7 ..
; expect s[4:5] = 9 9 3 4
buffer_load_dword v1, v0, s[4:7], 0 offen
buffer_load_dword v2, v0, s[4:7], 0 offen offset:8
buffer_load_dword v3, v0, s[4:7], s8 offen offset:4
buffer_load_dword v4, v0, s[4:7], s9 offen
s_mov_b64 exec, 0xf3
buffer_store_dword v5, v0, s[4:7], 0 offen offset:8
s_mov_b64 exec, 0xff
s_waitcnt vmcnt(0)
