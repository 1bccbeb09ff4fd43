; cpu: gfx600 gfx701 gfx803 gfx900 gfx906 gfx908 gfx90a
;; S_CBRANCH_G_FORK, nested: the target is an address. Four groups of lanes each take their own path, one after the other;
;; each adds itself to s60, so that the order shows: of each half, the smaller part goes first.
; set v0 = lane
; expect v1 = 1 2 2 3 3 3 3 4..
; expect s60 = 1234
; expect s61 = 0
s_mov_b32 s60, 0
v_cmp_gt_u32 s[30:31], 3, v0
v_cmp_gt_u32 s[32:33], 1, v0
v_cmp_gt_u32 s[34:35], 7, v0
s_getpc_b64 s[40:41]
here:
s_add_u32 s42, s40, low-here
s_addc_u32 s43, s41, 0
s_add_u32 s44, s40, first-here
s_addc_u32 s45, s41, 0
s_add_u32 s46, s40, third-here
s_addc_u32 s47, s41, 0
s_getreg_b32 s50, hwreg(HW_REG_MODE, 29, 3)
s_cbranch_g_fork s[30:31], s[42:43]
s_getreg_b32 s51, hwreg(HW_REG_MODE, 29, 3)
s_cbranch_g_fork s[34:35], s[46:47]
v_mov_b32 v1, 4
s_movk_i32 s62, 4
s_branch inner_high
third:
v_mov_b32 v1, 3
s_movk_i32 s62, 3
inner_high:
s_mul_i32 s60, s60, 10
s_add_u32 s60, s60, s62
s_cbranch_join s51
s_branch outer
low:
s_getreg_b32 s52, hwreg(HW_REG_MODE, 29, 3)
s_cbranch_g_fork s[32:33], s[44:45]
v_mov_b32 v1, 2
s_movk_i32 s62, 2
s_branch inner_low
first:
v_mov_b32 v1, 1
s_movk_i32 s62, 1
inner_low:
s_mul_i32 s60, s60, 10
s_add_u32 s60, s60, s62
s_cbranch_join s52
outer:
s_cbranch_join s50
s_getreg_b32 s61, hwreg(HW_REG_MODE, 29, 3)
