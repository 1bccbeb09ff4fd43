; cpu: gfx600 gfx701 gfx803 gfx900 gfx906 gfx908 gfx90a
;; S_MOVREL (manual 12.3): the manual's own examples, pairs, and indices out of range: s0 is read, nothing is written.
; set s0 = 99
; set s1 = 98
; set s7 = 7
; set s17 = 17
; set s18 = 18
; set s19 = 19
; expect s5 = 17
; expect s15 = 7
; expect s20 = 18
; expect s21 = 19
; expect s30 = 18
; expect s31 = 19
; expect s40 = 99
; expect s42 = 99
; expect s43 = 98
; expect vcc = 0x5
; expect s44 = 5
s_mov_b64 vcc, 5
s_mov_b32 m0, 10
s_movrels_b32 s5, s7
s_movreld_b32 s5, s7
s_movrels_b64 s[20:21], s[8:9]
s_movreld_b64 s[20:21], s[18:19]
s_mov_b32 m0, 100
s_movrels_b32 s40, s7
s_movreld_b32 s7, s1
s_movrels_b64 s[42:43], s[6:7]
s_mov_b32 m0, -1
s_movrels_b32 s40, s7
s_movreld_b32 s7, s1
s_mov_b32 m0, 0
s_movrels_b32 s44, vcc_lo
