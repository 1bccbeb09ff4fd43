; cpu: gfx600 gfx701
;; GFX6 and GFX7 count constants in dwords and registers in bytes; buffers are checked dword by dword, a descriptor of
;; zeros has no size.
; buffer s[4:5] = 1 2 3 4 5 6 7 8
; set s6 = 12
; set s7 = 0
; set s16 = 11
; expect s20 = 2
; expect s21 = 3
; expect s22 = 0
; expect s23 = 0
; expect s24 = 3
; expect s25 = 0
; expect s26 = 8
; expect s28 = 3
; expect s29 = 4
; expect s30 = 5
; expect s31 = 0
s_buffer_load_dwordx4 s[20:23], s[4:7], 0x1
s_buffer_load_dword s24, s[4:7], s16
s_buffer_load_dword s25, s[8:11], 0x0
s_load_dword s26, s[4:5], 0x7
s_waitcnt lgkmcnt(0)
s_mov_b32 s12, s4
s_or_b32 s13, s5, 0x50000
s_mov_b32 s14, 4
s_mov_b32 s15, 0
s_buffer_load_dwordx4 s[28:31], s[12:15], 0x2
s_waitcnt lgkmcnt(0)
s_dcache_inv
