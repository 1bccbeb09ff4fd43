; Carries reach upwards only: the low half of the sum is known, the high one is not.
; run: --grid 64
; gpus: gfx600 gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a
    s_and_b32 s20, s20, 0xffff0000
    s_add_u32 s20, s20, 5
    s_and_b32 s21, s20, 0x1ffff         ;-
;+  s_and_b32 s21, s20, 0xffff
    s_cmp_eq_u32 s21, 5
    s_cbranch_scc1 out                  ; BUG init undefined-branch
    s_nop 0
out:
    s_endpgm
