; cpu: gfx600 gfx701 gfx803 gfx900 gfx906 gfx908 gfx90a
;; Every conditional branch, taken and not taken: each that does as it should sets a bit of s0.
; expect s0 = 0xfff
s_mov_b32 s0, 0
s_cmp_eq_u32 s0, 1
s_cbranch_scc0 on1
s_branch on2
on1:
s_or_b32 s0, s0, 1
on2:
s_cmp_eq_u32 s30, s30
s_cbranch_scc0 on3
s_or_b32 s0, s0, 2
on3:
s_cmp_eq_u32 s30, s30
s_cbranch_scc1 on4
s_branch on5
on4:
s_or_b32 s0, s0, 4
on5:
s_cmp_lg_u32 s30, s30
s_cbranch_scc1 on6
s_or_b32 s0, s0, 8
on6:
s_mov_b64 vcc, 0
s_cbranch_vccz on7
s_branch on8
on7:
s_or_b32 s0, s0, 16
on8:
s_cbranch_vccnz on9
s_or_b32 s0, s0, 32
on9:
s_mov_b32 vcc_hi, 1
s_cbranch_vccz on10
s_or_b32 s0, s0, 64
on10:
s_cbranch_vccnz on11
s_branch on12
on11:
s_or_b32 s0, s0, 0x80
on12:
s_mov_b64 exec, 0
s_cbranch_execz on13
s_branch on14
on13:
s_or_b32 s0, s0, 0x100
on14:
s_cbranch_execnz on15
s_or_b32 s0, s0, 0x200
on15:
s_mov_b32 exec_hi, 8
s_cbranch_execz on16
s_or_b32 s0, s0, 0x400
on16:
s_cbranch_execnz on17
s_branch on18
on17:
s_or_b32 s0, s0, 0x800
on18:
s_nop 0
