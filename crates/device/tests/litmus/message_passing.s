; roles 2
; forbid 1.0=1 1.1=0
; see 1.0=1 1.1=1
; Who acquires the flag sees the data stored before its release.
.macro role0
  store_relaxed x, one
  store_release y, one
.endm
.macro role1
  load_acquire r0, y
  load_relaxed r1, x
.endm
