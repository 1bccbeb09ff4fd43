; LDS holds what an earlier work-group has left.
; run: --grid 64 --lds 256 --arg zeros:u32:64
; gpus: gfx900 gfx906 gfx908 gfx90a
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
;+  ds_write_b32 v1, v0
    s_waitcnt lgkmcnt(0)
    ds_read_b32 v2, v1
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v2, s[4:5]   ; BUG init undefined-result
    s_endpgm
