; DPP reads a register two states after it was written.
; run: --grid 64
; gpus: gfx803 gfx900 gfx906 gfx908 gfx90a
    v_mov_b32 v1, v0
    s_nop 0                             ;-
;+  s_nop 1
    v_mov_b32_dpp v2, v1 row_shl:1 row_mask:0xf bank_mask:0xf   ; BUG hazard wait-states
    s_endpgm
