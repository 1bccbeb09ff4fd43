; An SGPR that the kernel descriptor does not ask for.
; run: --grid 64
; gpus: gfx600 gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a
;+  s_mov_b32 s20, 3
    s_add_u32 s21, s20, 1
    s_and_b32 s22, s21, 0xff
    s_cmp_lg_u32 s22, 7
    s_cbranch_scc1 out                  ; BUG init undefined-branch
    s_nop 0
out:
    s_endpgm
