; cpu: gfx900 gfx906 gfx908 gfx90a
;; Packed halves, SDWA and DPP raise exceptions for what they work on, and no more.
; set gather = 1
; set v0 = 0x7c003c00
; set v1 = 0x7c003c00
; set v2 = 0xfc003c00
; set v3 = 0x3c007e00
; expect s0 = 0
; expect s1 = 1
; expect s2 = 0
; expect s3 = 1
; expect s4 = 0
v_pk_add_f16 v20, v0, v1
s_getreg_b32 s0, hwreg(HW_REG_TRAPSTS, 0, 9)
v_pk_add_f16 v20, v0, v2
s_getreg_b32 s1, hwreg(HW_REG_TRAPSTS, 0, 9)
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 9), 0
v_add_f16_sdwa v20, v0, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_0 src1_sel:WORD_0
s_getreg_b32 s2, hwreg(HW_REG_TRAPSTS, 0, 9)
v_add_f16_sdwa v20, v0, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:WORD_1
s_getreg_b32 s3, hwreg(HW_REG_TRAPSTS, 0, 9)
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 9), 0
v_mov_b32 v5, 0
v_mov_b32 v6, 0x7f800000
v_mov_b32 v7, 1.0
s_mov_b64 exec, 0x10000
v_mov_b32 v5, 0xff800000
s_mov_b64 exec, 1
v_add_f32_dpp v20, v5, v6 row_shl:1 row_mask:0xf bank_mask:0xf
s_getreg_b32 s4, hwreg(HW_REG_TRAPSTS, 0, 9)
