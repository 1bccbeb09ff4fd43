; The two instructions meet on the path taken only.
; run: --grid 64
; gpus: gfx600 gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a
    s_mov_b32 s6, 0
    v_readfirstlane_b32 s4, v0
    s_cmp_eq_u32 s6, 0
    s_cbranch_scc1 there
    s_nop 4
there:
;+  s_nop 1
    v_readlane_b32 s5, v0, s4           ; BUG hazard wait-states
    s_endpgm
