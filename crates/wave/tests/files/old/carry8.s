; cpu: gfx803
;; GFX8's V_ADD_U32, V_ADDC_U32, V_SUB_U32 and V_SUBB_U32 write a carry.
; set v0 = -1
; set v1 = 1
; set v2 = 5
; expect v10 = 0
; expect v11 = 7
; expect v12 = 2
; expect v13 = 3
; expect vcc = 0
v_add_u32 v10, vcc, v0, v1
v_addc_u32 v11, vcc, v1, v2, vcc
v_sub_u32 v12, vcc, v1, v0
v_subb_u32 v13, vcc, v2, v1, vcc
