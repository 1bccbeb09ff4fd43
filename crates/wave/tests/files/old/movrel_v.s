; cpu: gfx600 gfx701 gfx803
;; V_MOVREL (GFX6 to GFX8): M0 is added to the register's number; out of range v0 is read and nothing written.
; set v0 = 100
; set v1 = lane
; set v4 = 40
; set v5 = lane*2
; set exec = 0xffffffff0000ffff
; expect v10 = 40 40 40 40 40 40 40 40 40 40 40 40 40 40 40 40 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 40..
; expect v23 = 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
; expect v33 = 40 40 40 40 40 40 40 40 40 40 40 40 40 40 40 40 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 40..
; expect v34 = 100 100 100 100 100 100 100 100 100 100 100 100 100 100 100 100 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 100..
; expect v1 = lane
s_mov_b32 m0, 3
v_movrels_b32 v10, v1
v_movreld_b32 v20, v1
v_movrelsd_b32 v30, v1
s_mov_b32 m0, 200
v_movrels_b32 v34, v5
v_movreld_b32 v1, v5
