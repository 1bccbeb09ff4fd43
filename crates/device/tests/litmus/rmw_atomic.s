; roles 4
; distinct 0.0 1.0 2.0 3.0
; Read-modify-writes are atomic: every thread gets a number of its own.
.macro role0
  v_mov_b32 v20, 1
  rmw_acq_rel add, x, r0
.endm
.macro role1
  v_mov_b32 v20, 1
  rmw_relaxed add, x, r0
.endm
.macro role2
  role0
.endm
.macro role3
  role1
.endm
