; Code is read-only.
; run: --grid 1 --arg zeros:u32:1
; gpus: gfx900 gfx906 gfx908 gfx90a
; status: 3
    s_load_dwordx2 s[6:7], s[0:1], 0x0
    v_mov_b32 v1, 0
    s_waitcnt lgkmcnt(0)
    s_getpc_b64 s[4:5]                  ;-
;+  s_mov_b64 s[4:5], s[6:7]
    global_store_dword v1, v1, s[4:5]   ; BUG mem write-read-only
    s_endpgm
