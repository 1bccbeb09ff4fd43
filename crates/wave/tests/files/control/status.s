; cpu: gfx600 gfx701 gfx803 gfx900 gfx906 gfx908 gfx90a
;; STATUS: SCC 0, priority 4:3, TRAP_EN 6, EXECZ 9, VCCZ 10, VALID 16 (manual 3.4); IB_STS is idle.
; set vcc = 0
; expect s0 = 0x00010441
; expect s1 = 0x00010440
; expect s2 = 0x00010450
; expect s3 = 0x00010258
; expect s4 = 0
; expect s5 = 1
; expect s6 = 1
; expect s7 = 1
s_cmp_eq_u32 s20, s20
s_getreg_b32 s0, hwreg(HW_REG_STATUS)
s_cmp_lg_u32 s20, s20
s_getreg_b32 s1, hwreg(HW_REG_STATUS)
s_setprio 2
s_getreg_b32 s2, hwreg(HW_REG_STATUS)
s_setprio 7
s_mov_b64 vcc, 4
s_mov_b64 exec, 0
s_getreg_b32 s3, hwreg(HW_REG_STATUS)
s_getreg_b32 s4, hwreg(HW_REG_IB_STS)
s_mov_b32 s5, 0
s_cbranch_execnz end
s_mov_b32 s5, 1
end:
s_cmp_eq_u32 s20, s20
s_mov_b32 s6, src_scc
s_mov_b32 s7, src_execz
