; GFX6: buffers with 64-bit addresses; s[8:11] is a descriptor of all memory.
.macro ld d, a, bits:vararg
  buffer_load_dword v[\d], v[\a:\a+1], s[8:11], 0 addr64 \bits
.endm
.macro ld64 d, a, bits:vararg
  buffer_load_dwordx2 v[\d:\d+1], v[\a:\a+1], s[8:11], 0 addr64 \bits
.endm
.macro st a, s
  buffer_store_dword v[\s], v[\a:\a+1], s[8:11], 0 addr64
.endm
.macro st64 a, s
  buffer_store_dwordx2 v[\s:\s+1], v[\a:\a+1], s[8:11], 0 addr64
.endm
.macro atomic op, a, s, bits:vararg
  buffer_atomic_\op v[\s], v[\a:\a+1], s[8:11], 0 addr64 \bits
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
  buffer_wbinvl1
.endm
.macro invalidate_system
.endm
.macro write_back_system
.endm
