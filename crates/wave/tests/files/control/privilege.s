; cpu: gfx900 gfx906 gfx908 gfx90a
;; Trap temporaries, STATUS, TBA and TMA cannot be written without privilege (manual 3.10).
; set status = 0x48
; set v0 = 5
; expect s0 = 0
; expect s1 = 0
; expect s2 = 0
; expect s3 = 1
; expect s4 = 0
s_mov_b32 ttmp0, 5
s_mov_b64 ttmp[2:3], 5
v_readfirstlane_b32 ttmp4, v0
v_cmp_eq_u32 ttmp[6:7], v0, v0
s_getreg_b32 ttmp8, hwreg(HW_REG_MODE)
s_or_b32 s0, ttmp0, ttmp2
s_or_b32 s0, s0, ttmp4
s_or_b32 s0, s0, ttmp6
s_or_b32 s0, s0, ttmp8
s_setreg_imm32_b32 hwreg(HW_REG_STATUS, 3, 2), 3
s_setreg_imm32_b32 hwreg(HW_REG_STATUS, 5, 1), 1
s_setreg_imm32_b32 hwreg(HW_REG_TBA_LO), 3
s_setreg_imm32_b32 hwreg(HW_REG_HW_ID), 3
s_getreg_b32 s1, hwreg(HW_REG_STATUS, 5, 1)
s_getreg_b32 s2, hwreg(HW_REG_TBA_LO)
s_getreg_b32 s3, hwreg(HW_REG_STATUS, 3, 2)
s_getreg_b32 s4, hwreg(HW_REG_HW_ID)
