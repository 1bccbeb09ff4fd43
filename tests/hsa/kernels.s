// Kernels of the C programs, in Wavemill's own assembly.
.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
.text

.macro kernel name, kernarg
.rodata
.p2align 6
.amdhsa_kernel \name
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_kernarg_size \kernarg
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 16
  .amdhsa_accum_offset 8
.end_amdhsa_kernel
.text
.endm

// Nothing at all.
.globl empty
.p2align 8
.type empty,@function
empty:
  s_endpgm
.size empty, .-empty
kernel empty, 0

// c[i] = a[i] + b[i] for work-groups of 64; arguments a, b, c.
.globl add
.p2align 8
.type add,@function
add:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dwordx2 s[8:9], s[0:1], 0x10
  v_lshl_add_u32 v0, s2, 6, v0
  v_lshlrev_b32_e32 v0, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v1, v0, s[4:5]
  global_load_dword v2, v0, s[6:7]
  s_waitcnt vmcnt(0)
  v_add_u32_e32 v1, v1, v2
  global_store_dword v0, v1, s[8:9]
  s_endpgm
.size add, .-add
kernel add, 24

// Adds one to a counter; argument its address.
.globl count
.p2align 8
.type count,@function
count:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32_e32 v1, 0
  v_mov_b32_e32 v2, 1
  s_waitcnt lgkmcnt(0)
  global_atomic_add v1, v2, s[4:5]
  s_endpgm
.size count, .-count
kernel count, 8

// Runs for ever.
.globl forever
.p2align 8
.type forever,@function
forever:
  s_branch forever
  s_endpgm
.size forever, .-forever
kernel forever, 0
