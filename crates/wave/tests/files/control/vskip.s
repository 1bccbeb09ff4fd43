; cpu: gfx600 gfx701 gfx803 gfx900 gfx906 gfx908 gfx90a
;; S_SETVSKIP: no vector instruction is issued until it is taken back; scalar ones are (manual 12.4).
; lds 256
; set m0 = 0xffffffff
; set v0 = 0
; set v1 = 5
; set v2 = 0
; set s4 = 0x10
; expect v1 = 5
; expect v3 = 5
; expect vcc = 0
; expect s5 = 1
; expect s6 = 1
; expect s7 = 0
; expect s8 = 77
s_mov_b64 vcc, 0
s_movk_i32 s8, 77
s_setvskip s4, 4
s_getreg_b32 s6, hwreg(HW_REG_MODE, 28, 1)
v_mov_b32 v1, 6
v_cmp_eq_u32 vcc, v0, v0
v_readfirstlane_b32 s8, v1
ds_write_b32 v0, v1
ds_read_b32 v1, v0
s_movk_i32 s5, 1
s_setvskip s4, 3
s_getreg_b32 s7, hwreg(HW_REG_MODE, 28, 1)
v_mov_b32 v1, 5
ds_read_b32 v3, v0
s_waitcnt lgkmcnt(0)
v_add_f32 v3, 0, v3
v_or_b32 v3, v3, v1
