; A value from LDS that was never written there is used as an address.
; run: --grid 64 --lds 512
; gpus: gfx600 gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a
    s_mov_b32 m0, -1
    v_lshlrev_b32 v1, 2, v0
;+  ds_write_b32 v1, v1
    s_waitcnt lgkmcnt(0)
    ds_read_b32 v2, v1
    s_waitcnt lgkmcnt(0)
    v_and_b32 v2, 0xfc, v2
    ds_write_b32 v2, v0                 ; BUG init undefined-address
    s_endpgm
