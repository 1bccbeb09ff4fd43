; A semaphore across work-groups: what is written must be done before the other one is let pass.
; run: --grid 128 --block 64 --arg zeros:u32:64 --threads 1
; gpus: gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    s_mov_b64 exec, 1
    v_mov_b32 v2, 7
    s_mov_b32 m0, 0
    s_waitcnt lgkmcnt(0)
    v_mov_b32 v0, s4
    v_mov_b32 v1, s5
    s_cmp_lg_u32 s2, 0
    s_cbranch_scc1 second
    flat_store_dword v[0:1], v2
;+  s_waitcnt vmcnt(0) lgkmcnt(0)
    ds_gws_sema_v offset:3 gds
    s_endpgm
second:
    ds_gws_sema_p offset:3 gds
    s_waitcnt lgkmcnt(0)
    buffer_wbinvl1_vol
    flat_load_dword v3, v[0:1]          ; BUG race memory-race
    s_waitcnt vmcnt(0) lgkmcnt(0)
    s_endpgm
