; cpu: gfx90a
;; V_DOT2 on gfx90a takes f16 denormals as zero in every MODE: the case is the one measured for llvm-project #205101,
;; -2^-24 times 2^-14. V_FMA_MIX goes by MODE.
; set mode = 0x3f0
; set v0 = 0x8001
; set v1 = 0x0400
; expect v2 = 0
; expect v3 = 0
; expect v4 = 0xac800000
v_dot2_f32_f16 v2, v0, v1, 0
v_mov_b32 v3, 0
v_dot2c_f32_f16 v3, v0, v1
v_fma_mix_f32 v4, v0, v1, 0 op_sel_hi:[1,1,0]
