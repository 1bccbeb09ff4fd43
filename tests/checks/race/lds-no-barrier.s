; Each wave reads what the other has written, without a barrier.
; run: --grid 128 --block 128 --lds 512
; gpus: gfx600 gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a
    s_mov_b32 m0, -1
    v_lshlrev_b32 v1, 2, v0
    v_xor_b32 v2, 0x100, v1
    ds_write_b32 v1, v0
    s_waitcnt lgkmcnt(0)
;+  s_barrier
    ds_read_b32 v3, v2                  ; BUG race lds-race
    s_waitcnt lgkmcnt(0)
    s_endpgm
