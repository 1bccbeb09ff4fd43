; 100 bytes are declared; hardware gives more, and lets this pass.
; run: --grid 16 --lds 100
; gpus: gfx600 gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a
    s_mov_b32 m0, -1
    v_lshlrev_b32 v1, 2, v0
    ds_write_b32 v1, v0 offset:60       ; BUG mem lds-outside ;-
;+  ds_write_b32 v1, v0 offset:36
    s_endpgm
