;; gfx90a broadcasts a lane within its row, also for 64 bits; masks keep rows out.
; set v0 = lane
; set v1 = lane*2
; set v2 = 9
; set v4 = 7
; set v5 = 7
; expect v2 = 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 35 35 35 35 35 35 35 35 35 35 35 35 35 35 35 35 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9
v_mov_b32_dpp v2, v0 row_newbcast:3 row_mask:0x5 bank_mask:0xf
