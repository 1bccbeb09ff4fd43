;; The scalar offset of a buffer may be any inline constant: 4, -4 (out of range, which reads as zero), and 1.0, whose bits
;; 0x3f800000 are an offset like any other. The descriptor's base is so far below the buffer that they lead into it.
; cpu: gfx803 gfx900 gfx90a
; buffer s[4:5] = 11 22 33 44
; set s6 = 0x7fffffff
; set s7 = 0x20000
; set v1 = 0
; set v2 = 7
; set v3 = 7
; expect v1 = 22
; expect v2 = 33
; expect v3 = 0
s_mov_b64 s[8:9], s[4:5]
s_mov_b32 s10, s6
s_mov_b32 s11, s7
buffer_load_dword v1, off, s[8:11], 4
s_sub_u32 s8, s4, 0x3f800000
s_subb_u32 s9, s5, 0
buffer_load_dword v2, off, s[8:11], 1.0 offset:8
buffer_load_dword v3, off, s[8:11], -4
s_waitcnt vmcnt(0)
