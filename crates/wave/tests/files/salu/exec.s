; cpu: gfx900 gfx906 gfx908 gfx90a
; set exec = 0xff
; set vcc = 0x0f0f
; expect s0 = 0xff
; expect s2 = 0x0f
; expect s4 = 0x1
; expect exec = 0xf0
; expect s6 = 0xf0
; expect scc = 1
s_and_saveexec_b64 s[0:1], vcc
s_cselect_b32 s4, 1, 0
s_mov_b64 s[2:3], exec
s_mov_b64 exec, 0xff
s_andn1_wrexec_b64 s[6:7], s[2:3]
