; cpu: gfx600 gfx701 gfx803 gfx900 gfx906 gfx908 gfx90a
;; V_READLANE and V_WRITELANE do not look at EXEC; lane numbers count modulo 64; V_READFIRSTLANE reads lane 0 when no lane is
;; active.
; set v0 = lane+1
; set v1 = 9
; set s8 = 65
; set s9 = -1
; set exec = 0
; expect s0 = 1
; expect s1 = 2
; expect s2 = 64
; expect s3 = 12
; expect v1 = 9 33 9 ..
; expect exec = 0xf0
v_readfirstlane_b32 s0, v0
v_readlane_b32 s1, v0, s8
v_readlane_b32 s2, v0, s9
v_readlane_b32 s3, v0, 11
v_writelane_b32 v1, 33, s8
s_mov_b64 exec, 0xf0
