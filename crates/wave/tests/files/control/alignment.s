; cpu: gfx803 gfx900 gfx906 gfx908
;; 64-bit operands in VGPRs need no alignment before gfx90a (manual 3.6.4 of older parts; gfx90a's assembler refuses it).
; set v1 = 0xffffffff
; set v2 = 0
; set v3 = 1
; set v4 = 0
; expect v5 = 0xffffffff
; expect v6 = 0
; expect v7 = 0
; expect v8 = 1
v_lshlrev_b64 v[5:6], 0, v[1:2]
v_lshlrev_b64 v[7:8], 32, v[3:4]
