; cpu: gfx600 gfx701 gfx803 gfx900 gfx906 gfx908 gfx90a
;; V_CMP_CLASS (manual 12.9): each class bit alone. Lanes: sNaN qNaN -inf -1 -denormal -0 +0 +denormal +1 +inf.
; set exec = 0x3ff
; set v0 = 0x7f800001 0x7fc00000 0xff800000 -1.0 0x80000001 0x80000000 0 1 1.0 0x7f800000
; set v1 = lane
; set v2 = 1
; expect vcc = 0x3ff
; expect s0 = 0x204
v_lshlrev_b32 v3, v1, v2
v_cmp_class_f32 vcc, v0, v3
v_mov_b32 v4, 0x204
v_cmp_class_f32 s[0:1], v0, v4
