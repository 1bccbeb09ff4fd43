; Atomics want addresses that are multiples of their size.
; run: --grid 1 --arg zeros:u32:64
; gpus: gfx900 gfx906 gfx908 gfx90a
; status: 3
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    v_mov_b32 v1, 2                     ;-
;+  v_mov_b32 v1, 4
    v_mov_b32 v2, 1
    s_waitcnt lgkmcnt(0)
    global_atomic_add v1, v2, s[4:5]    ; BUG mem misaligned-atomic
    s_endpgm
