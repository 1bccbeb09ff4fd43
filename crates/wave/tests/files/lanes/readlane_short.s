; cpu: gfx600 gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a
;; The short forms of GFX6 and GFX7, whose lane number is a constant or an SGPR.
; set s4 = 77
; expect s6 = 77
; expect s7 = 33
v_writelane_b32 v4, s4, 5
s_mov_b32 s9, 6
s_movk_i32 s4, 99
v_writelane_b32 v4, 33, s9
v_readlane_b32 s6, v4, 5
v_readlane_b32 s7, v4, s9
