; The result of a matrix instruction is read too early.
; run: --grid 64
; gpus: gfx908
    v_mov_b32 v1, 1.0
    s_nop 3
    v_mfma_f32_4x4x1f32 a[0:3], v1, v1, a[4:7]
    s_nop 2                             ;-
;+  s_nop 3
    v_accvgpr_read_b32 v2, a0           ; BUG hazard wait-states
    s_endpgm
