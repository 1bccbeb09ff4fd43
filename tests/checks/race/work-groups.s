; Two work-groups write one place.
; run: --grid 128 --block 64 --arg zeros:u32:2 --threads 1
; gpus: gfx900 gfx906 gfx908 gfx90a
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    v_mov_b32 v1, 0
;+  v_mov_b32 v1, s2
;+  v_lshlrev_b32 v1, 2, v1
    s_mov_b64 exec, 1
    v_mov_b32 v2, s2
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v2, s[4:5]   ; BUG race memory-race
    s_endpgm
