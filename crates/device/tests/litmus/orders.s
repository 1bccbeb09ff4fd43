; The code sequences of the AMDGPU guide's memory model table (GFX6 to GFX9; gfx90a's additions at system scope), and for
; LDS those of the ROCm ABI. SCOPE: 0 wave, 1 work-group, 2 agent, 3 system. SPACE: 0 global, 1 local.
; Operands are register numbers: destination, address (a pair, or an LDS address), data.

.macro load_relaxed d, a
  .if SPACE
    ds_read_b32 v[\d], v[\a]
  .elseif SCOPE >= 2
    ld \d, \a, glc
  .else
    ld \d, \a
  .endif
.endm

.macro load_acquire d, a
  .if SCOPE == 0
    load_relaxed \d, \a
  .elseif SPACE
    s_waitcnt vmcnt(0)
    ds_read_b32 v[\d], v[\a]
    s_waitcnt lgkmcnt(0)
    invalidate
  .elseif SCOPE >= 2
    ld \d, \a, glc
    wait_global
    .if SCOPE == 3
      invalidate_system
    .endif
    invalidate
  .else
    ld \d, \a
    wait_flat
  .endif
.endm

.macro load_seq_cst d, a
  .if SPACE == 0 && SCOPE >= 2
    s_waitcnt vmcnt(0)
  .endif
  load_acquire \d, \a
.endm

.macro store_relaxed a, s
  .if SPACE
    ds_write_b32 v[\a], v[\s]
  .else
    st \a, \s
  .endif
.endm

.macro store_release a, s
  .if SCOPE == 0
    store_relaxed \a, \s
  .elseif SPACE
    s_waitcnt vmcnt(0)
    ds_write_b32 v[\a], v[\s]
  .elseif SCOPE >= 2
    .if SCOPE == 3
      write_back_system
    .endif
    wait_all
    st \a, \s
  .else
    s_waitcnt lgkmcnt(0)
    st \a, \s
  .endif
.endm

.macro store_seq_cst a, s
  store_release \a, \s
.endm

; Data is replaced by the old value.
.macro rmw_relaxed op, a, s
  .if SPACE
    .ifc \op, add
      ds_add_rtn_u32 v[\s], v[\a], v[\s]
    .else
      ds_wrxchg_rtn_b32 v[\s], v[\a], v[\s]
    .endif
  .else
    atomic \op, \a, \s, glc
  .endif
.endm

.macro rmw_acq_rel op, a, s
  .if SCOPE == 0
    rmw_relaxed \op, \a, \s
  .elseif SPACE
    s_waitcnt vmcnt(0)
    rmw_relaxed \op, \a, \s
    s_waitcnt lgkmcnt(0)
    invalidate
  .elseif SCOPE >= 2
    .if SCOPE == 3
      write_back_system
    .endif
    wait_all
    rmw_relaxed \op, \a, \s
    wait_global
    .if SCOPE == 3
      invalidate_system
    .endif
    invalidate
  .else
    s_waitcnt lgkmcnt(0)
    rmw_relaxed \op, \a, \s
    wait_flat
  .endif
.endm

.macro fence_acq_rel
  .if SCOPE >= 2
    .if SCOPE == 3
      write_back_system
    .endif
    s_waitcnt vmcnt(0) & lgkmcnt(0)
    .if SCOPE == 3
      invalidate_system
    .endif
    invalidate
  .elseif SCOPE == 1
    s_waitcnt lgkmcnt(0)
  .endif
.endm
