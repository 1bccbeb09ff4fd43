; cpu: gfx900 gfx906 gfx908 gfx90a
;; SGPRs a wave does not have: sources are s0, destinations are not written, loads to them are not executed, and the base
;; of a load is s0, too (manual 3.6.1, 8.4).
; set sgprs = 32
; buffer s[0:1] = 5 6 7 8
; set s2 = 3
; set vcc = 0x10
; expect s3 = 4
; expect s4 = 9
; expect s5 = 1
; expect s6 = 5
; expect s7 = 1
; expect s8 = 77
; expect vcc = 0x11
s_sub_u32 s3, s40, s0
s_add_u32 s3, s3, 4
s_movk_i32 s50, 11
s_cmp_eq_u32 s50, s0
s_cselect_b32 s5, 1, 0
s_load_dword s6, s[60:61], 0
s_load_dwordx2 s[90:91], s[0:1], 0
v_mov_b32 v0, s33
v_cmp_eq_u32 vcc, s0, v0
s_bcnt1_i32_b64 s4, vcc
s_cmp_eq_u32 s4, 64
s_cselect_b32 s7, 1, 0
s_mov_b32 s4, 9
s_mov_b64 vcc, 0x11
s_movk_i32 s8, 77
s_movk_i32 s31, 5
s_movk_i32 s32, 6
