; The last of four addends is a register that nobody has written; the result of all four is undefined. With it, results that
; lie where undefined ones were are defined.
; run: --grid 64 --arg zeros:u32:64
; gpus: gfx900 gfx906 gfx908 gfx90a
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    v_mov_b32 v4, 1
    v_mov_b32 v5, 1
    v_mov_b32 v8, 0
    v_mov_b32 v9, 0
    v_mov_b32 v10, 0
;+  v_mov_b32 v11, 0
    v_mqsad_u32_u8 v[12:15], v[4:5], v1, v[8:11]
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v15, s[4:5]   ; BUG init undefined-result
    s_endpgm
