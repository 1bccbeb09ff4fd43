; FLAT, with 64-bit addresses.
; run: --grid 64 --arg zeros:u32:62
; gpus: gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    v_lshlrev_b32 v3, 2, v0
;+  v_cmp_gt_u32 vcc, 62, v0
;+  s_and_b64 exec, exec, vcc
    s_waitcnt lgkmcnt(0)
    v_mov_b32 v4, s4
    v_mov_b32 v5, s5
.if .amdgcn.gfx_generation_number >= 9
    v_add_co_u32 v4, vcc, v4, v3
    v_addc_co_u32 v5, vcc, 0, v5, vcc
.elseif .amdgcn.gfx_generation_number == 8
    v_add_u32 v4, vcc, v4, v3
    v_addc_u32 v5, vcc, 0, v5, vcc
.else
    v_add_i32 v4, vcc, v4, v3
    v_addc_u32 v5, vcc, 0, v5, vcc
.endif
    flat_store_dword v[4:5], v0         ; BUG mem write-outside
    s_endpgm
