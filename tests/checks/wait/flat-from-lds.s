; A FLAT load from LDS is not done when VM_CNT says so: LGKM_CNT counts it, too.
; run: --grid 64 --lds 256
; gpus: gfx900 gfx906 gfx908 gfx90a
    s_mov_b64 s[2:3], src_shared_base
    v_lshlrev_b32 v2, 2, v0
    v_mov_b32 v3, s3
    ds_write_b32 v2, v0
    s_waitcnt lgkmcnt(0)
    flat_load_dword v4, v[2:3]
    s_waitcnt vmcnt(0)                  ;-
;+  s_waitcnt vmcnt(0) lgkmcnt(0)
    v_mov_b32 v5, v4                    ; BUG wait used-before-wait
    s_endpgm
