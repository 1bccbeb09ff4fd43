; An index of -1: lane 0 reads in front of the buffer.
; run: --grid 64 --arg zeros:u32:64 --arg zeros:u32:64
; gpus: gfx900 gfx906 gfx908 gfx90a
; status: 3
    s_load_dwordx4 s[4:7], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    v_mov_b32 v3, 0
;+  v_cmp_lt_u32 vcc, 0, v0
;+  s_and_saveexec_b64 s[8:9], vcc
    s_waitcnt lgkmcnt(0)
    v_mov_b32 v4, s4
    v_mov_b32 v5, s5
    v_add_co_u32 v4, vcc, v4, v1
    v_addc_co_u32 v5, vcc, 0, v5, vcc
    global_load_dword v3, v[4:5], off offset:-4     ; BUG mem read-outside
    s_waitcnt vmcnt(0)
;+  s_mov_b64 exec, s[8:9]
    global_store_dword v1, v3, s[6:7]
    s_endpgm
