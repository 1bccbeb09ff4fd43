; cpu: gfx600 gfx701
;; Scalar buffer loads: offsets count from the base; dwords beyond the size are zero.
; buffer s[4:5] = 10 11 12 13 14 15 16 17
; set s6 = 24
; set s7 = 0
; set s8 = 20
; expect s12 = 12
; expect s13 = 15
; expect s16 = 14
; expect s17 = 15
; expect s18 = 0
; expect s19 = 0
s_buffer_load_dword s12, s[4:7], 2
s_buffer_load_dword s13, s[4:7], s8
s_buffer_load_dwordx4 s[16:19], s[4:7], 4
