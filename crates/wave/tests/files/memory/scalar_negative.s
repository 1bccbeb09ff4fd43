; cpu: gfx900 gfx906 gfx908 gfx90a
;; The constant offset is a signed number of 21 bits from GFX9 on.
; buffer s[4:5] = 1 2 3 4 5 6 7 8
; expect s8 = 3
; expect s10 = 1
; expect s11 = 2
s_add_u32 s6, s4, 16
s_addc_u32 s7, s5, 0
s_load_dword s8, s[6:7], -0x8
s_load_dwordx2 s[10:11], s[6:7], -0x10
s_waitcnt lgkmcnt(0)
