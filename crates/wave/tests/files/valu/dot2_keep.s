; cpu: gfx906 gfx908
;; V_DOT2 keeps f16 denormals in every MODE, flushing ones too, but on gfx90a (llvm-project #205101): -2^-24 times 2^-14.
; set mode = 0x300
; set v0 = 0x8001
; set v1 = 0x0400
; expect v2 = 0xac800000
v_dot2_f32_f16 v2, v0, v1, 0
