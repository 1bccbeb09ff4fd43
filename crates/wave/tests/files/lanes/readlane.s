; cpu: gfx600 gfx701 gfx803 gfx900 gfx906 gfx908 gfx90a
; set v0 = lane*3+1
; set exec = 0xf0
; set s2 = 63
; expect s0 = 13
; expect s1 = 190
; expect s3 = 4
; expect v1 = 0 0 55 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
v_readfirstlane_b32 s0, v0
v_readlane_b32 s1, v0, s2
v_readlane_b32 s3, v0, 1
s_movk_i32 s4, 55
v_writelane_b32 v1, s4, 2
