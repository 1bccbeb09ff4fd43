; A scalar load that begins behind the buffer. One that begins in it and was widened is the compilers' way.
; run: --grid 64 --arg zeros:u32:16
; gpus: gfx803 gfx900 gfx906 gfx908 gfx90a
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    s_waitcnt lgkmcnt(0)
    s_load_dwordx2 s[6:7], s[4:5], 0x40 ; BUG mem read-outside ;-
;+  s_load_dwordx2 s[6:7], s[4:5], 0x3c
    s_waitcnt lgkmcnt(0)
    s_endpgm
