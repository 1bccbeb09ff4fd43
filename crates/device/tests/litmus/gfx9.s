; GFX9: global instructions.
.macro ld d, a, bits:vararg
  global_load_dword v[\d], v[\a:\a+1], off \bits
.endm
.macro ld64 d, a, bits:vararg
  global_load_dwordx2 v[\d:\d+1], v[\a:\a+1], off \bits
.endm
.macro st a, s
  global_store_dword v[\a:\a+1], v[\s], off
.endm
.macro st64 a, s
  global_store_dwordx2 v[\a:\a+1], v[\s:\s+1], off
.endm
.macro atomic op, a, s, bits:vararg
  .ifb \bits
    global_atomic_\op v[\a:\a+1], v[\s], off
  .else
    global_atomic_\op v[\s], v[\a:\a+1], v[\s], off \bits
  .endif
.endm
.macro returned d, s
  v_mov_b32 v[\d], v[\s]
.endm
.macro wait_global
  s_waitcnt vmcnt(0)
.endm
.macro wait_flat
.endm
.macro wait_all
  s_waitcnt vmcnt(0) & lgkmcnt(0)
.endm
.macro invalidate
  buffer_wbinvl1_vol
.endm
; gfx90a's L2 is not coherent with the system's memory by itself.
.macro invalidate_system
  .ifdef GFX90A
    buffer_invl2
  .endif
.endm
.macro write_back_system
  .ifdef GFX90A
    buffer_wbl2
    s_waitcnt vmcnt(0)
  .endif
.endm
