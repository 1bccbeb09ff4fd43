; The descriptor says 4,096 bytes, the buffer has 256.
; run: --grid 64 --arg zeros:u32:64
; gpus: gfx600 gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    s_movk_i32 s6, 0x1000               ;-
;+  s_movk_i32 s6, 0x100
    s_mov_b32 s7, 0x00024fac
    s_waitcnt lgkmcnt(0)
    s_nop 4
    buffer_store_dword v0, v1, s[4:7], 0 offen      ; BUG mem descriptor-range
    s_endpgm
