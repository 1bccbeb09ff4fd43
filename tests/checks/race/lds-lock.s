; A lock that one wave does not take.
; run: --grid 128 --block 128 --lds 8
; gpus: gfx803 gfx900 gfx906 gfx908 gfx90a
    s_mov_b32 m0, -1
    v_mov_b32 v1, 0
    v_mov_b32 v2, 1
    v_readfirstlane_b32 s5, v0
    s_cmp_ge_u32 s5, 64
    s_cbranch_scc1 ready
    ds_write2_b32 v1, v1, v1 offset1:1
    s_waitcnt lgkmcnt(0)
ready:
    s_barrier
    s_mov_b64 exec, 1
    v_readfirstlane_b32 s5, v0
    s_cmp_ge_u32 s5, 64                 ;-
    s_cbranch_scc1 inside               ;-
again:
    ds_cmpst_rtn_b32 v3, v1, v1, v2
    s_waitcnt lgkmcnt(0)
    v_readfirstlane_b32 s6, v3
    s_cmp_lg_u32 s6, 0
    s_cbranch_scc1 again
inside:
    v_mov_b32 v4, 5
    ds_write_b32 v1, v4 offset:4        ; BUG race lds-race
    s_waitcnt lgkmcnt(0)
    ds_write_b32 v1, v1
    s_waitcnt lgkmcnt(0)
    s_endpgm
