; GFX7 and GFX8: flat instructions, which may report out of order with LDS.
.macro ld d, a, bits:vararg
  flat_load_dword v[\d], v[\a:\a+1] \bits
.endm
.macro ld64 d, a, bits:vararg
  flat_load_dwordx2 v[\d:\d+1], v[\a:\a+1] \bits
.endm
.macro st a, s
  flat_store_dword v[\a:\a+1], v[\s]
.endm
.macro st64 a, s
  flat_store_dwordx2 v[\a:\a+1], v[\s:\s+1]
.endm
.macro atomic op, a, s, bits:vararg
  .ifb \bits
    flat_atomic_\op v[\a:\a+1], v[\s]
  .else
    flat_atomic_\op v[\s], v[\a:\a+1], v[\s] \bits
  .endif
.endm
.macro returned d, s
  v_mov_b32 v[\d], v[\s]
.endm
.macro wait_global
  s_waitcnt vmcnt(0) & lgkmcnt(0)
.endm
.macro wait_flat
  s_waitcnt lgkmcnt(0)
.endm
.macro wait_all
  s_waitcnt vmcnt(0) & lgkmcnt(0)
.endm
.macro invalidate
  buffer_wbinvl1_vol
.endm
.macro invalidate_system
.endm
.macro write_back_system
.endm
