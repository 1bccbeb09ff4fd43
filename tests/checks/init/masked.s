; Bits that are masked away do no harm, others do.
; run: --grid 64
; gpus: gfx600 gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a
    s_and_b32 s20, s20, 0xf0            ;-
;+  s_and_b32 s20, s20, 0
    s_or_b32 s20, s20, 1
    s_cmp_eq_u32 s20, 1
    s_cbranch_scc1 out                  ; BUG init undefined-branch
    s_nop 0
out:
    s_endpgm
