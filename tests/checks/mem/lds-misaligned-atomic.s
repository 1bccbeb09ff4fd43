; In LDS, too.
; run: --grid 1 --lds 64
; gpus: gfx600 gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a
; status: 3
    s_mov_b32 m0, -1
    v_mov_b32 v1, 6                     ;-
;+  v_mov_b32 v1, 8
    v_mov_b32 v2, 1
    ds_add_u32 v1, v2                   ; BUG mem misaligned-atomic
    s_endpgm
