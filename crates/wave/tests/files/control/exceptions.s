; cpu: gfx600 gfx701 gfx803 gfx900 gfx906 gfx908 gfx90a
;; TRAPSTS gathers float exceptions (manual 3.10.1): 0 invalid, 1 input denormal, 2 division by zero, 3 overflow,
;; 4 underflow, 5 inexact, 6 integer division by zero. They stay until they are cleared; only active lanes raise them, and
;; modifiers count: the comparison signals NaNs with CLAMP alone.
; set gather = 1
; set v0 = 0.0
; set v1 = 1.0
; set v2 = 3.0
; set v3 = 0x7f7fffff
; set v4 = 0x00800000
; set v5 = 0x00000001
; set v6 = 0x7f800000
; set v7 = 0x7fc00000
; expect s0 = 0
; expect s1 = 0x04
; expect s2 = 0x24
; expect s3 = 0x2c
; expect s4 = 0
; expect s5 = 0x30
; expect s6 = 0x02
; expect s7 = 0x01
; expect s8 = 0x40
; expect s9 = 0
; expect s10 = 0x01
; expect s11 = 0
; expect s12 = 0x01
v_add_f32 v20, v1, v1
s_getreg_b32 s0, hwreg(HW_REG_TRAPSTS, 0, 9)
v_rcp_f32 v20, v0
s_getreg_b32 s1, hwreg(HW_REG_TRAPSTS, 0, 9)
v_mul_f32 v20, 0x3eaaaaab, v2
s_getreg_b32 s2, hwreg(HW_REG_TRAPSTS, 0, 9)
v_add_f32 v20, v3, v3
s_getreg_b32 s3, hwreg(HW_REG_TRAPSTS, 0, 9)
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 9), 0
s_getreg_b32 s4, hwreg(HW_REG_TRAPSTS, 0, 9)
v_mul_f32 v20, v4, v4
s_getreg_b32 s5, hwreg(HW_REG_TRAPSTS, 0, 9)
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 9), 0
v_add_f32 v20, v5, v0
s_getreg_b32 s6, hwreg(HW_REG_TRAPSTS, 0, 9)
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 9), 0
v_sub_f32 v20, v6, v6
s_getreg_b32 s7, hwreg(HW_REG_TRAPSTS, 0, 9)
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 9), 0
v_rcp_iflag_f32 v20, v0
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 9)
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 9), 0
v_add_f32_e64 v20, v6, -v6
v_clrexcp
v_add_f32_e64 v20, v6, |v6|
s_mov_b64 exec, 0
v_rcp_f32 v20, v0
s_mov_b64 exec, 1
v_cmp_lt_f32 vcc, v7, v1
v_mov_b32 v20, v7
s_getreg_b32 s9, hwreg(HW_REG_TRAPSTS, 0, 9)
;; v_cmp_lt_f32_e64 s[20:21], v7, v1 with CLAMP, which assemblers have no word for
.if .option.machine_version_major >= 8
.long 0xd0418014, 0x00020307
.else
.long 0xd0020814, 0x00020307
.endif
s_getreg_b32 s10, hwreg(HW_REG_TRAPSTS, 0, 9)
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 9), 0
v_cvt_i32_f32 v20, 0.5
s_getreg_b32 s11, hwreg(HW_REG_TRAPSTS, 0, 9)
v_cvt_i32_f32 v20, v6
s_getreg_b32 s12, hwreg(HW_REG_TRAPSTS, 0, 9)
