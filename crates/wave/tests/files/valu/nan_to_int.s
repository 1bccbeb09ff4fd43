; cpu: gfx600 gfx701 gfx803 gfx900 gfx906 gfx908 gfx90a
;; V_CVT_FLR and V_CVT_RPI saturate a NaN by its sign (CLRX's notes on GCN, AMD's emulator measured it on gfx1201);
;; V_CVT_I32_F32 makes 0 of it (manual 12.8). Lanes: +NaN -NaN signalling NaNs, infinities, numbers.
; set v0 = 0x7fc00000 0xffc00000 0x7f800001 0xff800001 0x7f800000 0xff800000 -1.5 2.5
; expect v1 = 0x7fffffff 0x80000000 0x7fffffff 0x80000000 0x7fffffff 0x80000000 0xfffffffe 2
; expect v2 = 0x7fffffff 0x80000000 0x7fffffff 0x80000000 0x7fffffff 0x80000000 0xffffffff 3
; expect v3 = 0 0 0 0 0x7fffffff 0x80000000 0xffffffff 2
v_cvt_flr_i32_f32 v1, v0
v_cvt_rpi_i32_f32 v2, v0
v_cvt_i32_f32 v3, v0
