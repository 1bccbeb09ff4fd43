; A result that nobody has computed.
; run: --grid 64 --arg zeros:u32:64
; gpus: gfx900 gfx906 gfx908 gfx90a
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
;+  v_mov_b32 v9, 1.0
    v_add_f32 v9, 1.0, v9
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v9, s[4:5]   ; BUG init undefined-result
    s_endpgm
