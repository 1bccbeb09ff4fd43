; A scalar store stays in the scalar cache when the wave ends.
; run: --grid 64 --arg zeros:u32:1
; gpus: gfx803 gfx900 gfx906 gfx908
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    s_mov_b32 s6, 42
    s_waitcnt lgkmcnt(0)
    s_store_dword s6, s[4:5], 0x0       ; BUG wait not-written-back
;+  s_dcache_wb
    s_waitcnt lgkmcnt(0)
    s_endpgm
