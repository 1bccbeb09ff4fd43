; roles 4
; forbid 2.0=1 2.1=0 3.0=1 3.1=0
; see 2.0=1 3.0=1
; Independent reads of independent writes: both readers agree on the order of the writes.
.macro role0
  store_seq_cst x, one
.endm
.macro role1
  store_seq_cst y, one
.endm
.macro role2
  load_seq_cst r0, x
  load_seq_cst r1, y
.endm
.macro role3
  load_seq_cst r0, y
  load_seq_cst r1, x
.endm
