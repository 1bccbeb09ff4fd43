; Reads one element too far: the last lane has no element of its own.
; run: --grid 64 --arg zeros:u32:63 --arg zeros:u32:64
; gpus: gfx900 gfx906 gfx908 gfx90a
    s_load_dwordx4 s[4:7], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    v_mov_b32 v2, 0
;+  v_cmp_gt_u32 vcc, 63, v0
;+  s_and_saveexec_b64 s[8:9], vcc
    s_waitcnt lgkmcnt(0)
    global_load_dword v2, v1, s[4:5]    ; BUG mem read-outside
;+  s_mov_b64 exec, s[8:9]
    s_waitcnt vmcnt(0)
    global_store_dword v1, v2, s[6:7]
    s_endpgm
