; L2 is written back before the write, which is not in it then.
; home: 0
writer:
    places
    s_mov_b64 exec, 1
    v_mov_b32 v0, 0
    v_mov_b32 v1, 42
    buffer_wbl2
    global_store_dword v0, v1, s[4:5]
;+  buffer_wbl2
    s_waitcnt vmcnt(0)
    global_store_dword v0, v1, s[6:7]
    s_endpgm
reader:
    places
    s_mov_b64 exec, 1
    v_mov_b32 v0, 0
    v_mov_b32 v1, 1
    global_store_dword v0, v1, s[8:9]
wait:
    global_load_dword v2, v0, s[6:7] glc
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s10, v2
    s_cmp_eq_u32 s10, 0
    s_cbranch_scc1 wait
    buffer_invl2
    buffer_wbinvl1_vol
    global_load_dword v3, v0, s[4:5]    ; BUG race release-scope
    s_waitcnt vmcnt(0)
    s_endpgm
