; cpu: gfx900 gfx906 gfx908 gfx90a
;; Which half of a register a 16-bit result writes: VOP2 clears the upper one, op_sel forms keep it.
; set v0 = 0xaaaa3c00
; set v1 = 0xbbbb4000
; set v2 = 0x12345678
; set v3 = 0x12345678
; set v4 = 0x12345678
; expect v2 = 0x4200
; expect v3 = 0x12344200
; expect v4 = 0x42005678
; expect v5 = 0x40003c00
; expect v6 = 0x44004200
v_add_f16 v2, v0, v1
v_fma_f16 v3, v0, 1.0, v1
v_fma_f16 v4, v0, 1.0, v1 op_sel:[0,0,0,1]
v_pack_b32_f16 v5, v0, v1
v_pk_add_f16 v6, v5, v1 op_sel:[0,0] op_sel_hi:[1,0]
