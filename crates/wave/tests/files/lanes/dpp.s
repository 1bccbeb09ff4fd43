; cpu: gfx803 gfx900 gfx906 gfx908 gfx90a
;; DPP controls (manual 13.3.9). Lanes without a source keep the old destination, or get 0 with bound_ctrl.
; set v0 = lane
; set v1 = 100
; set v2 = 100
; set v3 = 100
; set v4 = 100
; expect v1 = 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 100 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 100 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 100 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 100
; expect v2 = 0 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 0 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 0 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 0 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62
; expect v3 = 3 2 1 0 7 6 5 4 11 10 9 8 15 14 13 12 19 18 17 16 23 22 21 20 27 26 25 24 31 30 29 28 35 34 33 32 39 38 37 36 43 42 41 40 47 46 45 44 51 50 49 48 55 54 53 52 59 58 57 56 63 62 61 60
; expect v4 = 7 6 5 4 3 2 1 0 15 14 13 12 11 10 9 8 23 22 21 20 19 18 17 16 31 30 29 28 27 26 25 24 39 38 37 36 35 34 33 32 47 46 45 44 43 42 41 40 55 54 53 52 51 50 49 48 63 62 61 60 59 58 57 56
v_mov_b32_dpp v1, v0 row_shl:1 row_mask:0xf bank_mask:0xf
v_mov_b32_dpp v2, v0 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0
v_mov_b32_dpp v3, v0 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf
v_mov_b32_dpp v4, v0 row_half_mirror row_mask:0xf bank_mask:0xf
