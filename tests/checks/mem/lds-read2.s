; The second of two offsets is too far.
; run: --grid 64 --lds 512
; gpus: gfx600 gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a
    s_mov_b32 m0, -1
    v_lshlrev_b32 v1, 2, v0
    ds_write2_b32 v1, v0, v0 offset1:64
    s_waitcnt lgkmcnt(0)
    ds_read2_b32 v[2:3], v1 offset0:64 offset1:66   ; BUG mem lds-outside ;-
;+  ds_read2_b32 v[2:3], v1 offset0:32 offset1:64
    s_waitcnt lgkmcnt(0)
    s_endpgm
