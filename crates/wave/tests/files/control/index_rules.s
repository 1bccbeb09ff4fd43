; cpu: gfx803 gfx900 gfx906 gfx908 gfx90a
;; VGPR indexing's table of special cases (manual 6.6.2): accumulating instructions move their destination as source,
;; MADMK's addend is moved by source 2's bit, lane reads only by source 0's; a register out of range is v0, or nothing is
;; written, not even a carry.
; set v0 = 1.0
; set v2 = 2.0
; set v3 = 3.0
; set v4 = 4.0
; set v10 = 10.0
; set v11 = 11.0
; set v12 = 12.0
; set s0 = 2
; set s1 = 250
; expect v12 = 18.0
; expect v20 = 14.0
; expect v21 = 22.0
; expect s20 = 0x40800000
; expect v25 = 1.0
; expect vcc = 0x3
s_set_gpr_idx_on s0, 8
v_mac_f32 v10, v2, v3
s_set_gpr_idx_off
s_set_gpr_idx_on s0, 1
v_madak_f32 v20, v2, v3, 0x40000000
v_readfirstlane_b32 s20, v2
s_set_gpr_idx_mode 4
v_madmk_f32 v21, v2, 0x41200000, v0
s_set_gpr_idx_off
s_mov_b64 vcc, 3
s_set_gpr_idx_on s1, 9
v_mov_b32 v25, v2
s_set_gpr_idx_idx s1
s_set_gpr_idx_off
s_set_gpr_idx_on s1, 1
v_mov_b32 v25, v2
s_set_gpr_idx_off
