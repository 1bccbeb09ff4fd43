; cpu: gfx600 gfx701 gfx803 gfx900 gfx906 gfx908 gfx90a
;; Inactive lanes keep their registers, their compare bits are 0, and V_CMPX writes EXEC.
; set v0 = lane
; set v1 = 9
; set exec = 0xf0
; expect v1 = 9 9 9 9 4 5 6 7 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9
; expect s0 = 0x30
; expect exec = 0xc0
v_mov_b32 v1, v0
v_cmp_gt_u32 s[0:1], 6, v0
v_cmpx_lt_u32 vcc, 5, v0
