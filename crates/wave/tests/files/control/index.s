; cpu: gfx803 gfx900 gfx906 gfx908 gfx90a
;; VGPR indexing (manual 6.6): sources and destinations move by M0.
; set v2 = 20
; set v3 = 30
; set v4 = 40
; set s0 = 2
; expect v10 = 40
; expect v12 = 0
; expect v13 = 30
; expect v1 = 2
s_set_gpr_idx_on s0, 1
v_mov_b32 v10, v2
s_set_gpr_idx_mode 8
v_mov_b32 v11, v3
s_set_gpr_idx_off
v_mov_b32 v1, s0
