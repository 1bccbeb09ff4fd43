; A value from LDS, used at once.
; run: --grid 64 --lds 256
; gpus: gfx600 gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a
    s_mov_b32 m0, -1
    v_lshlrev_b32 v1, 2, v0
    ds_write_b32 v1, v0
    s_waitcnt lgkmcnt(0)
    ds_read_b32 v2, v1
;+  s_waitcnt lgkmcnt(0)
    v_mov_b32 v3, v2                    ; BUG wait used-before-wait
    s_endpgm
