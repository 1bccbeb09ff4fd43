; cpu: gfx803 gfx900 gfx906 gfx908 gfx90a
;; Of a scalar buffer, too, base and offset lose their low two bits before they are added (Mesa 81df5175537): the offset is 4 of 7, and
;; the base loses its 1; the sum would have been 8.
; buffer s[4:5] = 10 20 30 40
; set s2 = 7
; set s6 = 16
; set s7 = 0x00024fac
; expect s8 = 20
s_or_b32 s4, s4, 1
s_buffer_load_dword s8, s[4:7], s2
s_waitcnt lgkmcnt(0)
s_and_b32 s4, s4, -4
s_mov_b32 s2, 0
