; SCC is whatever it was.
; run: --grid 64
; gpus: gfx600 gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a
;+  s_cmp_eq_u32 s2, 0
    s_cbranch_scc1 out                  ; BUG init undefined-branch
    s_nop 0
out:
    s_endpgm
