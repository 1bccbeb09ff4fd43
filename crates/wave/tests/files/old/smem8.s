; cpu: gfx803 gfx900 gfx906 gfx908 gfx90a
;; GFX8's SMEM: offsets of 20 bits count bytes, and so does an SGPR.
; buffer s[4:5] = 10 11 12 13 14 15 16 17
; set s6 = 8
; expect s10 = 13
; expect s11 = 12
; expect s12 = 16
; expect s13 = 17
s_load_dword s10, s[4:5], 0xc
s_load_dword s11, s[4:5], s6
s_load_dwordx2 s[12:13], s[4:5], 0x18
