; V_DIV_FMAS reads VCC.
; run: --grid 64
; gpus: gfx600 gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a
    v_mov_b32 v1, 1.0
    v_cmp_lt_f32 vcc, v1, v1
    s_nop 2                             ;-
;+  s_nop 3
    v_div_fmas_f32 v2, v1, v1, v1       ; BUG hazard wait-states
    s_endpgm
