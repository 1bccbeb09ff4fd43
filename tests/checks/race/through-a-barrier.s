; The flag is set by a wave other than the one that wrote the data; a barrier lies between.
; run: --grid 256 --block 128 --arg zeros:u32:2 --arg zeros:u32:256 --threads 1
; gpus: gfx900 gfx906 gfx908 gfx90a
    s_load_dwordx4 s[4:7], s[0:1], 0x0
    v_mov_b32 v1, 0
    v_mov_b32 v2, 1
    v_lshlrev_b32 v5, 2, v0
    v_readfirstlane_b32 s9, v0
    s_waitcnt lgkmcnt(0)
    s_cmp_lg_u32 s2, 0
    s_cbranch_scc1 reader
    global_store_dword v5, v2, s[6:7]
    s_waitcnt vmcnt(0)
;+  s_barrier
    s_cmp_lg_u32 s9, 0
    s_cbranch_scc1 out
    s_mov_b64 exec, 1
    global_atomic_add v1, v2, s[4:5]
out:
    s_endpgm
reader:
    s_mov_b64 exec, 1
    global_atomic_add v3, v1, v1, s[4:5] glc
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s8, v3
    s_cmp_eq_u32 s8, 0
    s_cbranch_scc1 reader
    s_mov_b64 exec, -1
    buffer_wbinvl1_vol
    global_load_dword v4, v5, s[6:7]    ; BUG race memory-race
    s_waitcnt vmcnt(0)
    s_endpgm
