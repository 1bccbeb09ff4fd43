; GFX6: an SALU write of a descriptor, then a scalar buffer load.
; run: --grid 64 --arg zeros:u32:64
; gpus: gfx600
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    s_mov_b32 s7, 0
    s_waitcnt lgkmcnt(0)
    s_movk_i32 s6, 0x100
    s_nop 2                             ;-
;+  s_nop 3
    s_buffer_load_dword s8, s[4:7], 0x0 ; BUG hazard wait-states
    s_waitcnt lgkmcnt(0)
    s_endpgm
