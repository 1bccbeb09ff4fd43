; cpu: gfx900 gfx906 gfx908 gfx90a
;; SCC as the manual's sections 12.1 and 12.3 have it: each result's SCC is kept with s_cselect.
; set s0 = 0x80000000
; set s1 = 0xffffffff
; set s2 = 5
; expect s10 = 0x7fffffff
; expect s11 = 1
; expect s12 = 0x7fffffff
; expect s13 = 1
; expect s14 = 6
; expect s15 = 0
; expect s16 = 0x80000000
; expect s17 = 3
; expect s18 = 0x1f
; expect s19 = 0xfffffffe
; expect s20 = 16
; expect s21 = 0xffffffff
; expect s22 = 0xfffffff0
; expect s23 = 0x0f
; expect s24 = 0x00050005
; expect s26 = 0
; expect s27 = 0x33
; expect s28 = 4
; expect s29 = 1
s_add_u32 s10, s0, s1
s_cselect_b32 s11, 1, 0
s_add_i32 s12, s0, s1
s_cselect_b32 s13, 1, 0
s_addc_u32 s14, s2, 0
s_cselect_b32 s15, 1, 0
s_abs_i32 s16, s0
s_absdiff_i32 s17, 2, s2
s_mov_b32 s30, 0x1234f0f8
s_bfe_u32 s18, s30, 0x50003
s_bfe_i32 s19, 0x0000000c, 0x20001
s_ff1_i32_b32 s20, 0x00010000
s_ff1_i32_b32 s21, 0
s_sext_i32_i8 s22, 0x12f0
s_wqm_b32 s23, 0x00000002
s_pack_ll_b32_b16 s24, s2, s2
s_cmp_lg_u32 s2, s2
s_cselect_b32 s26, 1, 0
s_bitreplicate_b64_b32 s[30:31], 5
s_mov_b32 s27, s30
s_bcnt1_i32_b32 s28, 0x0f
s_cselect_b32 s29, 1, 0
