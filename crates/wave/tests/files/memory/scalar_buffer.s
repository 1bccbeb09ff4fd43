; cpu: gfx803 gfx900 gfx906 gfx908 gfx90a
;; Scalar buffers: every dword is checked by itself; the size counts records of the stride, or bytes if there is none; a
;; descriptor of zeros has no size. Out of range loads give 0, stores nothing. Unaligned offsets lose their low bits.
; buffer s[4:5] = 1 2 3 4 5 6 7 8
; set s6 = 12
; set s7 = 0
; set s16 = 3
; set s18 = -4
; expect s20 = 2
; expect s21 = 3
; expect s22 = 0
; expect s23 = 0
; expect s24 = 3
; expect s25 = 0
; expect s28 = 0
; expect s32 = 3
; expect s33 = 4
; expect s34 = 5
; expect s35 = 6
; expect s36 = 7
; expect s37 = 0
; expect s[4:5] = 9 2 9 4 5 6 7 8
s_buffer_load_dwordx4 s[20:23], s[4:7], 0x4
s_buffer_load_dwordx2 s[24:25], s[4:7], 0x9
s_buffer_load_dword s28, s[8:11], 0x0
s_waitcnt lgkmcnt(0)
s_mov_b32 s12, s4
s_or_b32 s13, s5, 0x70000
s_mov_b32 s14, 4
s_mov_b32 s15, 0
s_buffer_load_dwordx8 s[32:39], s[12:15], 0x8
s_waitcnt lgkmcnt(0)
s_mov_b32 s40, 9
s_mov_b32 s41, 9
s_buffer_store_dword s40, s[4:7], 0x0
s_buffer_store_dwordx2 s[40:41], s[4:7], 0x8
s_buffer_store_dword s40, s[4:7], 0xc
s_dcache_wb
s_waitcnt lgkmcnt(0)
