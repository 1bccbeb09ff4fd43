; A vector load does not see what is in the scalar cache.
; run: --grid 64 --arg zeros:u32:1
; gpus: gfx900 gfx906 gfx908
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    s_mov_b32 s6, 42
    v_mov_b32 v1, 0
    s_waitcnt lgkmcnt(0)
    s_store_dword s6, s[4:5], 0x0
;+  s_dcache_wb
    s_waitcnt lgkmcnt(0)
    global_load_dword v2, v1, s[4:5]    ; BUG wait not-written-back
    s_waitcnt vmcnt(0)
    s_dcache_wb
    s_waitcnt lgkmcnt(0)
    s_endpgm
