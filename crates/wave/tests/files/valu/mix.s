; cpu: gfx906 gfx908 gfx90a
;; Mixed precision: op_sel_hi makes an operand f16, op_sel picks its half.
; set v0 = 0x40003c00
; set v1 = 3.0
; set v2 = 0x12345678
; expect v3 = 7.0
; expect v4 = 4.0
; expect v2 = 0x12344700
v_fma_mix_f32 v3, v0, v1, 1.0 op_sel:[1,0,0] op_sel_hi:[1,0,0]
v_fma_mix_f32 v4, v0, v1, 1.0 op_sel:[0,0,0] op_sel_hi:[1,0,1]
v_fma_mixlo_f16 v2, v0, v1, 1.0 op_sel:[1,0,0] op_sel_hi:[1,0,0]
