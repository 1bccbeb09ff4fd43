; The same as gws-barrier.s, mended as ROCm does it: everybody invalidates L1 before he comes, and loads nothing until all are there.
; run: --grid 128 --block 64 --arg zeros:u32:64 --threads 1
; gpus: gfx900 gfx906 gfx908 gfx90a
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    s_mov_b64 exec, 1
    v_mov_b32 v0, 1
    v_mov_b32 v2, 0
    s_mov_b32 m0, 0
    s_waitcnt lgkmcnt(0)
    s_cmp_lg_u32 s2, 0
    s_cbranch_scc1 second
    ds_gws_init v0 offset:1 gds
    s_waitcnt 0
    ds_gws_sema_v offset:2 gds
    s_branch meet
second:
    ds_gws_sema_p offset:2 gds
meet:
    s_waitcnt 0
    s_lshl_b32 s6, s2, 2
    s_xor_b32 s7, s6, 4
    v_mov_b32 v3, s6
    v_mov_b32 v4, s7
    global_load_dword v6, v4, s[4:5]
    s_waitcnt vmcnt(0)
    ds_gws_barrier v0 offset:1 gds
    s_waitcnt 0
    global_store_dword v3, v0, s[4:5]
    s_waitcnt vmcnt(0)
;+  buffer_wbinvl1_vol
    ds_gws_barrier v0 offset:1 gds
    s_waitcnt 0
    global_load_dword v5, v4, s[4:5]    ; BUG race stale-read
    s_waitcnt vmcnt(0)
    s_endpgm
