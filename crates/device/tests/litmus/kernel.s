; The kernel around a test: every thread of the test, one lane of a wave, runs its role for each of the iterations. A
; round has its own locations x, y, z and w, a meeting place where threads wait for each other for a while, and results.
;
; Arguments: memory (512 bytes a round), results (64 bytes a round, 16 a role), rounds. Roles come from the work-group or,
; at work-group scope, from the wave; at wave scope, a wave's lanes play one after the other. Registers: v[2:3] x, v[4:5]
; y, v[6:7] z, v[8:9] w, v[10:11] meeting place, v12 = 1, v13 = 2, v[14:15] results of this role, v20 to v23 what was
; read, v26 to v31 scratch.
.set x, 2
.set y, 4
.set z, 6
.set w, 8
.set one, 12
.set two, 13
.set r0, 20
.set r1, 21
.set r2, 22
.set r3, 23

.macro add_address d, lo, hi, offset
  v_mov_b32 v[\d], \lo
  v_mov_b32 v[\d+1], \hi
  .if SPACE
    v_add_lo v[\d], s30
    v_add_lo v[\d], \offset/16
  .else
    .if \offset
      v_add_lo v[\d], \offset
      v_add_hi v[\d+1]
    .endif
  .endif
.endm

.macro v_add_lo d, n
  .if MAJOR >= 9
    v_add_co_u32 \d, vcc, \n, \d
  .elseif MAJOR == 8
    v_add_u32 \d, vcc, \n, \d
  .else
    v_add_i32 \d, vcc, \n, \d
  .endif
.endm

.macro v_add_hi d
  .if MAJOR >= 9
    v_addc_co_u32 \d, vcc, 0, \d, vcc
  .else
    v_addc_u32 \d, vcc, 0, \d, vcc
  .endif
.endm

.text
.globl k
.p2align 8
.type k,@function
k:
  ; s[0:1] arguments, s2 work-group, v0 work-item
  s_mov_b32 m0, -1
  s_load_dwordx4 s[4:7], s[0:1], 0
  .if MAJOR >= 8
    s_load_dword s12, s[0:1], 16
  .else
    s_load_dword s12, s[0:1], 4
  .endif
  s_mov_b32 s8, 0
  s_mov_b32 s9, 0
  s_mov_b32 s10, -1
  s_mov_b32 s11, 0xf000 | 4<<15
  s_waitcnt lgkmcnt(0)
  .if SCOPE == 0
    s_mov_b32 s13, 0
    s_mul_i32 s14, s2, s12
  .elseif SCOPE == 1
    v_readfirstlane_b32 s13, v0
    s_and_b32 s13, s13, 0x3ff
    s_lshr_b32 s13, s13, 6
    ; each work-group has rounds of its own
    s_mul_i32 s14, s2, s12
  .else
    s_mov_b32 s13, s2
    s_mov_b32 s14, 0
  .endif
  s_lshl_b32 s15, s14, 9
  s_add_u32 s4, s4, s15
  s_addc_u32 s5, s5, 0
  s_lshl_b32 s15, s14, 6
  s_add_u32 s6, s6, s15
  s_addc_u32 s7, s7, 0
  s_lshl_b32 s15, s13, 4
  s_add_u32 s6, s6, s15
  s_addc_u32 s7, s7, 0
  .if SCOPE == 0
    s_mov_b64 exec, (1<<ROLES)-1
    v_and_b32 v16, 0x3ff, v0
    v_lshlrev_b32 v16, 4, v16
  .else
    s_mov_b64 exec, 1
    v_mov_b32 v16, 0
  .endif
  v_mov_b32 v12, 1
  v_mov_b32 v13, 2
  s_mov_b32 s30, 0
round:
  .if SPACE
    add_address 2, 0, 0, 0
    add_address 4, 0, 0, 64
    add_address 6, 0, 0, 128
    add_address 8, 0, 0, 192
    add_address 10, 0, 0, 256
  .else
    add_address 2, s4, s5, 0
    add_address 4, s4, s5, 64
    add_address 6, s4, s5, 128
    add_address 8, s4, s5, 192
    add_address 10, s4, s5, 256
  .endif
  v_mov_b32 v14, s6
  v_mov_b32 v15, s7
  v_add_lo v14, v16
  v_add_hi v15
  v_mov_b32 v20, 0
  v_mov_b32 v21, 0
  v_mov_b32 v22, 0
  v_mov_b32 v23, 0
  .if SCOPE == 0
    s_mov_b64 exec, 1
    role0
    s_mov_b64 exec, 2
    role1
    .if ROLES > 2
      s_mov_b64 exec, 4
      role2
    .endif
    .if ROLES > 3
      s_mov_b64 exec, 8
      role3
    .endif
    s_mov_b64 exec, (1<<ROLES)-1
    s_branch played
  .endif
  ; Meet.
  v_mov_b32 v26, 1
  rmw_relaxed add, 10, 26
  s_movk_i32 s16, TRIES
meet:
  s_sub_u32 s16, s16, 1
  s_cmp_eq_u32 s16, 0
  s_cbranch_scc1 met
  .if SCOPE == 1
    s_sleep 1
  .endif
  load_relaxed 26, 10
  s_waitcnt 0
  v_readfirstlane_b32 s17, v26
  s_cmp_lt_u32 s17, ROLES
  s_cbranch_scc1 meet
met:
  s_cmp_eq_u32 s13, 0
  s_cbranch_scc0 not0
  role0
  s_branch played
not0:
  s_cmp_eq_u32 s13, 1
  s_cbranch_scc0 not1
  role1
  s_branch played
not1:
  .if ROLES > 2
  s_cmp_eq_u32 s13, 2
  s_cbranch_scc0 not2
  role2
  s_branch played
not2:
  .if ROLES > 3
  role3
  .endif
  .endif
played:
  s_waitcnt 0
  st 14, 20
  v_add_lo v14, 4
  v_add_hi v15
  st 14, 21
  v_add_lo v14, 4
  v_add_hi v15
  st 14, 22
  s_add_u32 s4, s4, 512
  s_addc_u32 s5, s5, 0
  s_add_u32 s6, s6, 64
  s_addc_u32 s7, s7, 0
  s_add_u32 s30, s30, 20
  s_sub_u32 s12, s12, 1
  s_cmp_lg_u32 s12, 0
  s_cbranch_scc0 end
  s_getpc_b64 s[18:19]
back:
  s_sub_u32 s18, s18, back-round
  s_subb_u32 s19, s19, 0
  s_setpc_b64 s[18:19]
end:
  s_endpgm
.size k, .-k
