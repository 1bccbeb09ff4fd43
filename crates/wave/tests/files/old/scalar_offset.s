;; The scalar offset of a buffer may be any inline constant, 1.0 (0x3f800000) too. GFX6 and GFX7 do not count it in range
;; checks: it leads out of a buffer of 8 bytes, and the access goes to memory (measured on Hawaii: Mesa f001515c875). The
;; other parts are checked.
; cpu: gfx600 gfx701
; buffer s[4:5] = 11 22 33 44
; set s6 = 8
; set s7 = 0x20000
; set v1 = 0
; set v2 = 7
; set v3 = 7
; set v4 = 7
; expect v1 = 22
; expect v2 = 22
; expect v3 = 44
; expect v4 = 0
s_mov_b64 s[8:9], s[4:5]
s_mov_b32 s10, s6
s_mov_b32 s11, s7
buffer_load_dword v1, off, s[8:11], 4
buffer_load_dword v3, off, s[8:11], 12
buffer_load_dword v4, off, s[8:11], 0 offset:8
s_sub_u32 s8, s4, 0x3f800000
s_subb_u32 s9, s5, 0
buffer_load_dword v2, off, s[8:11], 1.0 offset:4
s_waitcnt vmcnt(0)
