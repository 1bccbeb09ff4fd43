; In memory, too, waves of a work-group want a barrier between them.
; run: --grid 128 --block 128 --arg zeros:u32:128
; gpus: gfx900 gfx906 gfx908 gfx90a
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    v_xor_b32 v2, 0x100, v1
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v0, s[4:5]
    s_waitcnt vmcnt(0)
;+  s_barrier
    global_load_dword v3, v2, s[4:5]    ; BUG race memory-race
    s_waitcnt vmcnt(0)
    s_endpgm
