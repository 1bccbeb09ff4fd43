; A mask of lanes made from a comparison with nothing.
; run: --grid 64
; gpus: gfx600 gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a
;+  v_mov_b32 v5, 7
    v_cmp_lt_u32 vcc, v5, v0
    s_and_saveexec_b64 s[4:5], vcc      ; BUG init undefined-exec
    s_nop 0
    s_endpgm
