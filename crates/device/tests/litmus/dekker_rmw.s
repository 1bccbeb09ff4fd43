; roles 2
; forbid 0.0=0 1.0=0
; see 1.0=1
; Exchanges instead of stores.
.macro role0
  v_mov_b32 v26, 1
  rmw_acq_rel swap, x, 26
  load_acquire r0, y
.endm
.macro role1
  v_mov_b32 v26, 1
  rmw_acq_rel swap, y, 26
  load_acquire r0, x
.endm
