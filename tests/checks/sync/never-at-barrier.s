; The second wave waits for a flag that the first one sets behind the barrier.
; run: --grid 128 --block 128 --lds 8 --timeout 1
; gpus: gfx803 gfx900 gfx90a
; status: 4
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
    v_readfirstlane_b32 s5, v0
    s_cmp_ge_u32 s5, 64
    s_cbranch_scc1 second
;+  ds_or_b32 v1, v2
;+  s_waitcnt lgkmcnt(0)
    s_branch meet
second:
    ds_or_rtn_b32 v3, v1, v1            ; BUG sync never-at-barrier
    s_waitcnt lgkmcnt(0)
    v_readfirstlane_b32 s6, v3
    s_cmp_eq_u32 s6, 0
    s_cbranch_scc1 second
meet:
    s_barrier
    ds_or_b32 v1, v2
    s_waitcnt lgkmcnt(0)
    s_endpgm
