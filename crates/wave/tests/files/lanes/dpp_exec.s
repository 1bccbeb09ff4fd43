; cpu: gfx803 gfx900 gfx906 gfx908 gfx90a
;; A lane that EXEC disables has no data to give (manual 13.3.9): who reads it keeps its old value, or gets 0 with
;; bound_ctrl. Disabled lanes write nothing.
; set v0 = lane+1
; set v1 = 100
; set v2 = 100
; set v3 = 100
; set v4 = 100
; set v5 = 64
; set exec = 0xf
; expect v1 = 2 3 4 100 ..
; expect v2 = 2 3 4 0 100 ..
; expect v3 = 100 1 2 3 100 ..
; expect v4 = 66 65 68 67 100 ..
v_mov_b32_dpp v1, v0 row_shl:1 row_mask:0xf bank_mask:0xf
v_mov_b32_dpp v2, v0 row_shl:1 row_mask:0xf bank_mask:0xf bound_ctrl:0
v_mov_b32_dpp v3, v0 row_ror:1 row_mask:0xf bank_mask:0xf
v_or_b32_dpp v4, v0, v5 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf
