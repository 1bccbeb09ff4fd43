; roles 3
; forbid 1.0=1 2.0=1 2.1=0
; see 1.0=1 2.0=1
.macro role0
  store_relaxed x, one
.endm
.macro role1
  load_acquire r0, x
  store_release y, r0
.endm
.macro role2
  load_acquire r0, y
  load_relaxed r1, x
.endm
