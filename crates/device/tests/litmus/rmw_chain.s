; roles 3
; forbid 2.0=2 2.1=0
; see 2.0=2 2.1=1
; A release sequence: who acquires the second link of the chain sees what was stored before the first.
.macro role0
  store_relaxed x, one
  v_mov_b32 v26, 1
  rmw_acq_rel add, y, 26
.endm
.macro role1
  v_mov_b32 v26, 1
  rmw_relaxed add, y, 26
  s_waitcnt 0
  v_mov_b32 v20, v26
.endm
.macro role2
  load_acquire r0, y
  load_relaxed r1, x
.endm
