; Two waves, two barriers: hardware does not mind, and neither wave waits for what it means to.
; run: --grid 128 --block 128
; gpus: gfx600 gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a
    v_readfirstlane_b32 s5, v0
    s_cmp_ge_u32 s5, 64
    s_cbranch_scc1 second               ;-
    s_barrier                           ; BUG sync different-barriers
    s_endpgm                            ;-
second:                                 ;-
    s_barrier                           ;-
    s_endpgm
