; A FLAT load from LDS is none of vector memory's: VM_CNT may have counted it, and not the buffer load before it.
; run: --grid 64 --lds 256 --arg zeros:u32:64
; gpus: gfx900 gfx906 gfx908 gfx90a
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    s_mov_b64 s[2:3], src_shared_base
    v_lshlrev_b32 v2, 2, v0
    v_mov_b32 v3, s3
    ds_write_b32 v2, v0
    s_waitcnt lgkmcnt(0)
    global_load_dword v4, v2, s[4:5]
    flat_load_dword v5, v[2:3]
    s_waitcnt vmcnt(1)                  ;-
;+  s_waitcnt vmcnt(0)
    v_mov_b32 v6, v4                    ; BUG wait used-before-wait
    s_waitcnt vmcnt(0) lgkmcnt(0)
    s_endpgm
