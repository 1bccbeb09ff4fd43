; Writes three elements too far.
; run: --grid 64 --arg zeros:u32:61
; gpus: gfx900 gfx906 gfx908 gfx90a
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
;+  v_cmp_gt_u32 vcc, 61, v0
;+  s_and_b64 exec, exec, vcc
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v0, s[4:5]   ; BUG mem write-outside
    s_endpgm
