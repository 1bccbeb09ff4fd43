; cpu: gfx600 gfx701 gfx803 gfx900 gfx906 gfx908 gfx90a
;; An offset register near the end of 32 bits is out of a buffer's range, and so is every dword behind it; EXEC does not
;; matter to scalar instructions.
; buffer s[4:5] = 1 2 3 4
; set s6 = 16
; set s7 = 0
; set s8 = -4
; set s9 = 0x80000000
; set s12 = 7
; set s14 = 7
; set s16 = 7
; set s19 = 7
; set exec = 0
; expect s12 = 0
; expect s14 = 0
; expect s16 = 0
; expect s17 = 0
; expect s18 = 0
; expect s19 = 0
s_buffer_load_dword s12, s[4:7], s8
s_buffer_load_dword s14, s[4:7], s9
s_buffer_load_dwordx4 s[16:19], s[4:7], s8
s_waitcnt lgkmcnt(0)
