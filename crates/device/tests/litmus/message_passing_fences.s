; roles 2
; forbid 1.0=1 1.1=0
; see 1.0=1 1.1=1
.macro role0
  store_relaxed x, one
  fence_acq_rel
  store_relaxed y, one
.endm
.macro role1
  load_relaxed r0, y
  fence_acq_rel
  load_relaxed r1, x
.endm
