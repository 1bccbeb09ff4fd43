; Scalar loads come back in any order: a count of one says nothing.
; run: --grid 64 --arg zeros:u32:64 --arg zeros:u32:64
; gpus: gfx600 gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    s_load_dwordx2 s[6:7], s[0:1], 0x4
    s_waitcnt lgkmcnt(1)                ;-
;+  s_waitcnt lgkmcnt(0)
    s_add_u32 s8, s4, 1                 ; BUG wait used-before-wait
    s_waitcnt lgkmcnt(0)
    s_endpgm
