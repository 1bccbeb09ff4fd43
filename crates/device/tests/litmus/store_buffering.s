; roles 2
; forbid 0.0=0 1.0=0
; see 1.0=1
; Sequentially consistent: one of the loads sees the other's store.
.macro role0
  store_seq_cst x, one
  load_seq_cst r0, y
.endm
.macro role1
  store_seq_cst y, one
  load_seq_cst r0, x
.endm
