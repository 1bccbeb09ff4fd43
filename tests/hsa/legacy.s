// A kernel of GFX8 that enqueues another, by the rules for doorbells before GFX9 (ROCm code object format, "Signals").
.amdgcn_target "amdgcn-amd-amdhsa--gfx803"
.text

.macro kernel name, kernarg
.rodata
.p2align 6
.amdhsa_kernel \name
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_kernarg_size \kernarg
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr 40
.end_amdhsa_kernel
.text
.endm

// The 64-bit address of byte \offset of the queue, in v[\lo:\hi].
.macro in_queue lo, hi, offset
  s_add_u32 s34, s4, \offset
  s_addc_u32 s35, s5, 0
  v_mov_b32 v\lo, s34
  v_mov_b32 v\hi, s35
.endm

// Adds one to a counter; argument its address.
.globl count
.p2align 8
.type count,@function
count:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v2, 1
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v0, s4
  v_mov_b32 v1, s5
  flat_atomic_add v[0:1], v2
  s_endpgm
.size count, .-count
kernel count, 8

// One lane copies a packet into a queue, the first word last, and rings; arguments queue and packet.
.globl enqueue
.p2align 8
.type enqueue,@function
enqueue:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  s_load_dwordx16 s[8:23], s[6:7], 0x0
  s_load_dwordx4 s[24:27], s[4:5], 0x8
  s_load_dword s28, s[4:5], 0x18
  s_waitcnt lgkmcnt(0)
  s_load_dwordx2 s[30:31], s[26:27], 0x8
  in_queue 0, 1, 56
  v_mov_b32 v2, 1
  v_mov_b32 v3, 0
  flat_atomic_add_x2 v[4:5], v[0:1], v[2:3] glc
  s_waitcnt vmcnt(0) lgkmcnt(0)
  // The packet's place: base + 64 * (index modulo size).
  s_add_i32 s28, s28, -1
  v_and_b32 v6, s28, v4
  v_lshlrev_b32 v6, 6, v6
  v_mov_b32 v7, s25
  v_add_u32 v6, vcc, s24, v6
  v_addc_u32 v7, vcc, 0, v7, vcc
  .set word, 9
  .rept 15
  v_add_u32 v6, vcc, 4, v6
  v_addc_u32 v7, vcc, 0, v7, vcc
  v_mov_b32 v8, s[word]
  flat_store_dword v[6:7], v8
  .set word, word + 1
  .endr
  s_waitcnt vmcnt(0) lgkmcnt(0)
  v_add_u32 v6, vcc, -60, v6
  v_addc_u32 v7, vcc, -1, v7, vcc
  v_mov_b32 v8, s8
  flat_store_dword v[6:7], v8
  s_waitcnt vmcnt(0) lgkmcnt(0)
  // Signal store: the lock of the queue's doorbell.
  in_queue 0, 1, 88
lock:
  flat_atomic_cmpswap v8, v[0:1], v[2:3] glc
  s_waitcnt vmcnt(0) lgkmcnt(0)
  v_cmp_ne_u32 vcc, 0, v8
  s_cbranch_vccnz lock
  // The hardware wants the index behind the last packet, and never a smaller one than before.
  v_add_u32 v4, vcc, 1, v4
  v_addc_u32 v5, vcc, 0, v5, vcc
  in_queue 10, 11, 80
  flat_load_dwordx2 v[12:13], v[10:11]
  s_waitcnt vmcnt(0) lgkmcnt(0)
  v_cmp_gt_u64 vcc, v[4:5], v[12:13]
  s_cbranch_vccz unlock
  flat_store_dwordx2 v[10:11], v[4:5]
  v_mov_b32 v12, s30
  v_mov_b32 v13, s31
  flat_store_dword v[12:13], v4
unlock:
  v_mov_b32 v9, 0
  s_waitcnt vmcnt(0) lgkmcnt(0)
  flat_store_dword v[0:1], v9
  s_endpgm
.size enqueue, .-enqueue
kernel enqueue, 16
