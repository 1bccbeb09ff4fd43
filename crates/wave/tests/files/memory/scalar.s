; cpu: gfx803 gfx900 gfx90a
; buffer s[4:5] = 1 2 3 4 5 6 7 8
; set s2 = 8
; expect s8 = 3
; expect s10 = 3
; expect s12 = 5
; expect s15 = 8
; expect s16 = 0
s_load_dword s8, s[4:5], 0x8
s_load_dword s10, s[4:5], s2
s_load_dwordx4 s[12:15], s[4:5], 0x10
s_waitcnt lgkmcnt(0)
s_mov_b32 s20, s4
s_mov_b32 s21, s5
s_mov_b32 s22, 8
s_mov_b32 s23, 0
s_buffer_load_dword s16, s[20:23], 0x8
s_waitcnt lgkmcnt(0)
