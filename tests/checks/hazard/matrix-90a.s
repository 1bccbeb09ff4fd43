; The result of a matrix instruction is read too early.
; run: --grid 64
; gpus: gfx90a
    v_mov_b32 v8, 1.0
    s_nop 3
    v_mfma_f32_4x4x1f32 v[0:3], v8, v8, 0
    s_nop 3                             ;-
;+  s_nop 4
    v_mov_b32 v4, v0                    ; BUG hazard wait-states
    s_endpgm
