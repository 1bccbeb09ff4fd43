; roles 2
; forbid 0.0=0 1.0=0
; see 1.0=1
; Relaxed accesses with sequentially consistent fences between them.
.macro role0
  store_relaxed x, one
  fence_acq_rel
  load_relaxed r0, y
.endm
.macro role1
  store_relaxed y, one
  fence_acq_rel
  load_relaxed r0, x
.endm
