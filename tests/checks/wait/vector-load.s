; The younger of two loads is not there when one is still under way.
; run: --grid 64 --arg zeros:u32:128
; gpus: gfx900 gfx906 gfx908 gfx90a
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    s_waitcnt lgkmcnt(0)
    global_load_dword v2, v1, s[4:5]
    global_load_dword v3, v1, s[4:5] offset:256
    s_waitcnt vmcnt(1)
    v_mov_b32 v4, v2
;+  s_waitcnt vmcnt(0)
    v_mov_b32 v5, v3                    ; BUG wait used-before-wait
    s_endpgm
