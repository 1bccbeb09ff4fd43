; roles 2
; forbid 0.0=1 1.0=1
; see 1.0=1
; No value out of thin air: each load comes before the store that the other one reads.
.macro role0
  load_acquire r0, x
  store_release y, one
.endm
.macro role1
  load_acquire r0, y
  store_release x, one
.endm
