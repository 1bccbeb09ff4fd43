; roles 3
; forbid 2.0=1 2.1=0
; forbid 2.0=2 2.1=0
; forbid 2.0=2 2.1=1
; see 2.0=2 2.1=2
; One location: reads of a thread never go back behind what they have seen. Role 1's store follows role 0's.
.macro role0
  store_relaxed x, one
.endm
.macro role1
  load_relaxed r0, x
  s_waitcnt 0
  v_add_lo v[r0], 1
  ; 1 becomes 2; 0 stays without effect
  v_cmp_eq_u32 vcc, 2, v[r0]
  s_mov_b64 s[20:21], exec
  s_and_b64 exec, exec, vcc
  store_relaxed x, two
  s_mov_b64 exec, s[20:21]
.endm
.macro role2
  load_relaxed r0, x
  load_relaxed r1, x
.endm
