; The upper lanes do not come to the barrier.
; run: --grid 128 --block 128
; gpus: gfx600 gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a
    v_and_b32 v1, 32, v0
    v_cmp_eq_u32 vcc, 0, v1
    s_and_saveexec_b64 s[8:9], vcc
;+  s_mov_b64 exec, s[8:9]
    s_barrier                           ; BUG sync divergent-barrier
    s_mov_b64 exec, s[8:9]
    s_endpgm
