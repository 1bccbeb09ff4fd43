; The work-group has 256 bytes of LDS, the last lanes write beyond.
; run: --grid 64 --lds 256
; gpus: gfx600 gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a
    s_mov_b32 m0, -1
    v_lshlrev_b32 v1, 3, v0             ;-
;+  v_lshlrev_b32 v1, 2, v0
    ds_write_b32 v1, v0                 ; BUG mem lds-outside
    s_endpgm
