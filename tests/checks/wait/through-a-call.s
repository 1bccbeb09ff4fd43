; The load is under way when a function is called, and the function uses it: no path within one function shows it.
; run: --grid 64 --lds 256
; gpus: gfx900 gfx906 gfx908 gfx90a
    v_lshlrev_b32 v1, 2, v0
    ds_write_b32 v1, v0
    s_waitcnt lgkmcnt(0)
    ds_read_b32 v2, v1
;+  s_waitcnt lgkmcnt(0)
    s_getpc_b64 s[4:5]
here:
    s_add_u32 s4, s4, function-here
    s_addc_u32 s5, s5, 0
    s_swappc_b64 s[30:31], s[4:5]
    s_endpgm
function:
    v_mov_b32 v3, v2                    ; BUG wait used-before-wait
    s_setpc_b64 s[30:31]
