; cpu: gfx600 gfx701 gfx803 gfx900 gfx906 gfx908 gfx90a
;; Registers a wave does not have (manual 3.6.1): here it has 128 VGPRs. Sources are v0; a destination makes the
;; instruction do nothing, its carry and its memory access included.
; buffer s[4:5] = 5 6 7 8
; lds 64
; set m0 = 0xffffffff
; set v0 = 0
; set v1 = 1
; set v3 = -1
; expect v2 = 1
; expect vcc = 0x7
; expect v6 = 0
; expect s10 = 42
s_mov_b64 vcc, 7
v_add_f32 v2, v130, v1
v_or_b32 v2, v255, v1
.if .option.machine_version_major >= 9
v_addc_co_u32 v200, vcc, v3, v3, vcc
.else
v_addc_u32 v200, vcc, v3, v3, vcc
.endif
v_mov_b32 v127, 42
v_readfirstlane_b32 s10, v127
ds_write_b32 v0, v1
ds_add_rtn_u32 v129, v0, v1
ds_read_b32 v6, v0
ds_read_b64 v[128:129], v0
v_readfirstlane_b32 s10, v127
v_sub_f32 v6, v6, v6
