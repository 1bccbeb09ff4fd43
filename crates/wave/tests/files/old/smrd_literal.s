; cpu: gfx701
;; GFX7 has offsets of 32 bits behind the instruction, in dwords, too.
; buffer s[4:5] = 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25
; expect s10 = 21
s_sub_u32 s4, s4, 1024
s_subb_u32 s5, s5, 0
s_load_dword s10, s[4:5], 267
