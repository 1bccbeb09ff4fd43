; cpu: gfx600 gfx701
;; SMRD: constant offsets count dwords, offsets in an SGPR bytes.
; buffer s[4:5] = 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25
; set s6 = 8
; expect s10 = 13
; expect s11 = 12
; expect s12 = 14
; expect s13 = 15
; expect s16 = 18
; expect s19 = 21
; expect s24 = 10
; expect s39 = 25
s_load_dword s10, s[4:5], 3
s_load_dword s11, s[4:5], s6
s_load_dwordx2 s[12:13], s[4:5], 4
s_load_dwordx4 s[16:19], s[4:5], 8
s_load_dwordx16 s[24:39], s[4:5], 0
