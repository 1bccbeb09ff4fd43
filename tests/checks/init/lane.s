; One lane of a register is written, another one is read.
; run: --grid 64
; gpus: gfx600 gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a
    v_writelane_b32 v5, s2, 3
    v_readlane_b32 s6, v5, 4            ;-
;+  v_readlane_b32 s6, v5, 3
    s_cmp_eq_u32 s6, 0
    s_cbranch_scc1 out                  ; BUG init undefined-branch
    s_nop 0
out:
    s_endpgm
