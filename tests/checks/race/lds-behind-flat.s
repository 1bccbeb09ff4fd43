; The wait leaves one operation under way: that may be the write, for FLAT in memory counts LGKM_CNT down when it likes.
; run: --grid 128 --block 128 --lds 512 --arg zeros:u32:128
; gpus: gfx900 gfx906 gfx908 gfx90a
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    v_xor_b32 v2, 0x100, v1
    s_waitcnt lgkmcnt(0)
    v_mov_b32 v4, s4
    v_mov_b32 v5, s5
    ds_write_b32 v1, v0
    flat_load_dword v6, v[4:5]
    s_waitcnt vmcnt(0) lgkmcnt(1)       ;-
;+  s_waitcnt vmcnt(0) lgkmcnt(0)
    s_barrier
    ds_read_b32 v3, v2                  ; BUG race lds-race
    s_waitcnt lgkmcnt(0)
    s_endpgm
