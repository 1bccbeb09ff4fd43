; cpu: gfx600 gfx701 gfx803 gfx900 gfx906 gfx908 gfx90a
;; S_CBRANCH_I_FORK and S_CBRANCH_JOIN (manual 4.6): sixteen lanes pass, 48 fail. The fewer run first, the others wait on
;; the stack in s[0:3]; the second time at the join, the program goes on.
; set v0 = lane
; expect v1 = 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 7..
; expect v2 = 1
; expect s40 = 0
; expect s41 = 1
; expect s42 = 0
; expect s0 = 0xffff0000
; expect s1 = 0xffffffff
; expect s50 = 21
; expect exec = 0xffffffffffff0000
v_cmp_gt_u32 vcc, 16, v0
s_getreg_b32 s40, hwreg(HW_REG_MODE, 29, 3)
s_movk_i32 s50, 0
s_cbranch_i_fork vcc, then
s_mul_i32 s50, s50, 10
s_add_u32 s50, s50, 1
v_mov_b32 v1, 7
s_branch end
then:
s_getreg_b32 s41, hwreg(HW_REG_MODE, 29, 3)
s_add_u32 s50, s50, 2
v_mov_b32 v1, 5
end:
v_add_f32 v2, 0, 1.0
v_cvt_u32_f32 v2, v2
s_cbranch_join s40
s_getreg_b32 s42, hwreg(HW_REG_MODE, 29, 3)
