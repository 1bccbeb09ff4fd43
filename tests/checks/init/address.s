; The address comes from a register that nobody has written.
; run: --grid 64 --arg zeros:u32:64
; gpus: gfx900 gfx906 gfx908 gfx90a
    s_load_dwordx2 s[4:5], s[0:1], 0x0
;+  v_lshlrev_b32 v3, 2, v0
    s_waitcnt lgkmcnt(0)
    global_store_dword v3, v0, s[4:5]   ; BUG init undefined-address
    s_endpgm
