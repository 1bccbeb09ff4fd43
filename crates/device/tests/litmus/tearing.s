; roles 2
; only global
; forbid 1.0=1 1.1=0
; forbid 1.0=0 1.1=1
; see 1.0=1 1.1=1
; An aligned 64-bit store is seen whole or not at all.
.macro role0
  v_mov_b32 v26, 1
  v_mov_b32 v27, 1
  st64 x, 26
.endm
.macro role1
  ld64 r0, x, glc
.endm
