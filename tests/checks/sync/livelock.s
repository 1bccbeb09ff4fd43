; Waits for a flag that nobody sets.
; run: --grid 64 --arg zeros:u32:1 --timeout 1
; gpus: gfx900 gfx90a
; status: 4
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    v_mov_b32 v1, 0
    v_mov_b32 v2, 1
    s_waitcnt lgkmcnt(0)
;+  global_atomic_or v1, v2, s[4:5]
again:
    global_load_dword v3, v1, s[4:5] glc        ; BUG sync never-ends
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s6, v3
    s_cmp_eq_u32 s6, 0
    s_cbranch_scc1 again
    s_endpgm
