; cpu: gfx900
;; gfx900's unfused V_MAD_MIX knows no denormals of 16 or 32 bits, whatever MODE says (Mesa's and LLVM's compilers count on
;; it: llvm-project #224911). Lanes: a denormal f16 times 1, 2^-14 times 1, 2^-14 times ½.
; set mode = 0x3f0
; set v0 = 0x0001 0x0400 0x0400
; set v1 = 1.0 1.0 0.5
; set v2 = 0
; set v3 = 0
; expect v4 = 0 0x38800000 0x38000000
; expect v2 = 0 0x0400 0
; expect v3 = 0 0x04000000 0
v_mad_mix_f32 v4, v0, v1, 0 op_sel_hi:[1,0,0]
v_mad_mixlo_f16 v2, v0, v1, 0 op_sel_hi:[1,0,0]
v_mad_mixhi_f16 v3, v0, v1, 0 op_sel_hi:[1,0,0]
