; One work-group writes data and then a flag, another waits for the flag: the data must be done before the flag is set.
; run: --grid 128 --block 64 --arg zeros:u32:2 --arg zeros:u32:64 --threads 1
; gpus: gfx900 gfx906 gfx908 gfx90a
    s_load_dwordx4 s[4:7], s[0:1], 0x0
    s_mov_b64 exec, 1
    v_mov_b32 v1, 0
    v_mov_b32 v2, 1
    s_waitcnt lgkmcnt(0)
    s_cmp_lg_u32 s2, 0
    s_cbranch_scc1 reader
    global_store_dword v1, v2, s[6:7]
;+  s_waitcnt vmcnt(0)
    global_store_dword v1, v2, s[4:5]
    s_endpgm
reader:
    global_load_dword v3, v1, s[4:5] glc
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s8, v3
    s_cmp_eq_u32 s8, 0
    s_cbranch_scc1 reader
    buffer_wbinvl1_vol
    global_load_dword v4, v1, s[6:7]    ; BUG race memory-race
    s_waitcnt vmcnt(0)
    s_endpgm
