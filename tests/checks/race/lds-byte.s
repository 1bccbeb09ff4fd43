; Bytes of one dword are places of their own; these overlap by one.
; run: --grid 128 --block 128 --lds 128
; gpus: gfx900 gfx906 gfx908 gfx90a
    v_mov_b32 v1, 0
    v_readfirstlane_b32 s5, v0
    s_cmp_ge_u32 s5, 64
    s_cbranch_scc1 second
    ds_write_b16 v1, v1
    s_endpgm
second:
    ds_write_b8 v1, v1 offset:1         ; BUG race lds-race ;-
;+  ds_write_b8 v1, v1 offset:2
    s_endpgm
