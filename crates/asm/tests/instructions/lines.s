// Syntax and rules of instructions, one line each. `make` asks llvm-mc about all of them on all levels.
v_mov_b32 v0 v1
v_mov_b32 v0, v1,
V_MOV_B32 v0, v1
S_MOV_B32 s0, s1
v_mov_b32 v[0], v[1]
v_mov_b32 v[2*2], v[(3+4)]
s_mov_b64 s[2*2:2*2+1], s[6:6+1]
s_mov_b64 [s4,s5], [s6,s7]
s_mov_b64 [vcc_lo,vcc_hi], [exec_lo,exec_hi]
s_mov_b64 [ttmp4,ttmp5], s[0:1]
s_mov_b64 [s4,s6], s[0:1]
s_mov_b64 [s4,v5], s[0:1]
s_mov_b64 s[1:2], s[0:1]
s_mov_b64 s[2:1], s[0:1]
s_mov_b64 s[0:1, s[2:3]
s_load_dwordx4 s[2:5], s[0:1], 0
s_load_dwordx8 s[4:11], s[0:1], 0
s_load_dwordx8 s[6:13], s[0:1], 0
s_mov_b32 s101, s0
s_mov_b32 s102, s0
s_mov_b32 s103, s0
s_mov_b32 s104, s0
s_mov_b32 ttmp11, s0
s_mov_b32 ttmp12, s0
s_mov_b32 ttmp16, s0
v_mov_b32 v255, v0
v_mov_b32 v256, v0
v_mov_b32 v0, a0
v_mov_b32 v0, acc0
v_mov_b32 v0.l, v1
s_mov_b32 s0, null
s_mov_b32 tba_lo, s0
s_mov_b64 tma, s[0:1]
s_mov_b32 flat_scratch_hi, s0
s_mov_b64 xnack_mask, s[0:1]
s_mov_b32 s0, src_shared_base
s_mov_b64 s[0:1], src_shared_base
s_mov_b64 s[0:1], shared_limit
s_mov_b32 s0, src_pops_exiting_wave_id
s_mov_b32 s0, src_vccz
s_mov_b32 s0, execz
s_mov_b64 s[0:1], scc
s_mov_b32 s0, lds_direct
s_mov_b32 s0, v0
s_mov_b32 s[0:1], s[2:3]
s_mov_b64 s[0:1], s2
s_setpc_b64 src_shared_base
s_setpc_b64 scc
s_cbranch_join src_scc
s_add_u32 s0, 0x1234, 0x1234
s_add_u32 s0, 0x1234, 0x1235
s_add_u32 s0, label, 0x1234
s_add_u32 s0, s0, label
s_add_u32 s0, s0, label@rel32@lo+4
s_addc_u32 s1, s1, label@rel32@hi+12
s_add_u32 s0, s0, label@gotpcrel32@lo+4
s_mov_b32 s0, label@abs32@lo
s_mov_b32 s0, label@abs32@hi
s_mov_b32 s0, first-second
s_mov_b32 s0, label+4
s_mov_b64 s[0:1], label
s_mov_b32 s0, 1.5
s_mov_b64 s[0:1], 1.5
s_mov_b64 s[0:1], 1.0
s_mov_b32 s0, -1
s_mov_b32 s0, 0xffffffff
s_mov_b32 s0, 0x100000000
s_mov_b32 s0, -0x80000001
s_mov_b64 s[0:1], 0xffffffff
s_mov_b64 s[0:1], -17
s_mov_b32 s0, 64
s_mov_b32 s0, 65
s_mov_b32 s0, -16
s_mov_b32 s0, 0.15915494
s_mov_b32 s0, 0x3e22f983
s_mov_b64 s[0:1], 0.15915494309189532
s_mov_b32 s0, 'a'
s_mov_b32 s0, 0b101
s_mov_b32 s0, 017
s_mov_b32 s0, 1+2*3
s_mov_b32 s0, (1<<5)|3
s_mov_b32 s0, ~0
s_mov_b32 s0, !0
s_mov_b32 s0, lit(5)
s_mov_b32 s0, lit(lit(5))
s_mov_b32 s0, -s1
s_mov_b32 s0, |s1|
s_mov_b32 s0, glc
s_mov_b32 s0, offset
s_mov_b32 s0, neg
s_movk_i32 s0, 0x8000
s_movk_i32 s0, -32768
s_movk_i32 s0, -32769
s_movk_i32 s0, 65536
s_movk_i32 s0, label
s_cmpk_eq_u32 s0, -1
s_cmpk_eq_u32 s0, 65535
s_branch label
s_branch 1f
s_branch -5
s_branch 65535
s_branch 65536
s_branch -32769
s_branch label+4
s_branch s0
s_call_b64 s[0:1], label
s_cbranch_i_fork s[0:1], label
s_waitcnt 0
s_waitcnt vmcnt(0)
s_waitcnt vmcnt(15) & expcnt(7) & lgkmcnt(15)
s_waitcnt vmcnt(63)
s_waitcnt vmcnt(64)
s_waitcnt vmcnt_sat(100)
s_waitcnt expcnt(8)
s_waitcnt expcnt_sat(8), lgkmcnt_sat(99)
s_waitcnt vmcnt(1) lgkmcnt(2)
s_waitcnt vmcnt(0) &
s_waitcnt vscnt(0)
s_waitcnt vmcnt(1+1)
s_waitcnt label
s_sendmsg sendmsg(MSG_INTERRUPT)
s_sendmsg sendmsg(MSG_GS, GS_OP_EMIT, 0)
s_sendmsg sendmsg(MSG_GS, GS_OP_EMIT)
s_sendmsg sendmsg(MSG_GS, GS_OP_NOP)
s_sendmsg sendmsg(MSG_GS)
s_sendmsg sendmsg(MSG_GS, GS_OP_CUT, 4)
s_sendmsg sendmsg(MSG_GS_DONE, GS_OP_NOP)
s_sendmsg sendmsg(MSG_GS_DONE, GS_OP_NOP, 0)
s_sendmsg sendmsg(MSG_GS_DONE, GS_OP_EMIT_CUT, 3)
s_sendmsg sendmsg(MSG_INTERRUPT, GS_OP_EMIT)
s_sendmsg sendmsg(MSG_SYSMSG, SYSMSG_OP_ECC_ERR_INTERRUPT)
s_sendmsg sendmsg(MSG_SYSMSG, SYSMSG_OP_HOST_TRAP_ACK)
s_sendmsg sendmsg(MSG_SYSMSG, SYSMSG_OP_TTRACE_PC)
s_sendmsg sendmsg(MSG_SAVEWAVE)
s_sendmsg sendmsg(MSG_STALL_WAVE_GEN)
s_sendmsg sendmsg(MSG_GS_ALLOC_REQ)
s_sendmsg sendmsg(MSG_GET_DOORBELL)
s_sendmsg sendmsg(2, 2, 1)
s_sendmsg sendmsg(2, GS_OP_EMIT, 1)
s_sendmsg sendmsg(15, 7, 3)
s_sendmsg sendmsg(16)
s_sendmsg sendmsg(1, 8)
s_sendmsg sendmsg(MSG_NONE)
s_sendmsg 0xffff
s_sendmsg 65536
s_sendmsghalt sendmsg(MSG_INTERRUPT)
s_getreg_b32 s0, hwreg(HW_REG_MODE)
s_getreg_b32 s0, hwreg(HW_REG_TBA_LO)
s_getreg_b32 s0, hwreg(HW_REG_SH_MEM_BASES, 3, 5)
s_getreg_b32 s0, hwreg(51, 31, 1)
s_getreg_b32 s0, hwreg(64)
s_getreg_b32 s0, hwreg(1, 32, 1)
s_getreg_b32 s0, hwreg(1, 0, 33)
s_getreg_b32 s0, hwreg(1, 0, 0)
s_getreg_b32 s0, hwreg(1, 0)
s_getreg_b32 s0, hwreg(HW_REG_WRONG)
s_getreg_b32 s0, {id: 1, offset: 2, size: 3}
s_getreg_b32 s0, {size: 3, id: 1}
s_getreg_b32 s0, {id: 1, id: 2}
s_getreg_b32 s0, {width: 1}
s_getreg_b32 s0, {}
s_getreg_b32 s0, 0x1234
s_getreg_b32 s0, 65536
s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s0
s_setreg_imm32_b32 hwreg(HW_REG_MODE), 0x11213141
s_setreg_imm32_b32 hwreg(HW_REG_MODE), label
s_set_gpr_idx_on s0, gpr_idx()
s_set_gpr_idx_on s0, gpr_idx(SRC0,SRC1,SRC2,DST)
s_set_gpr_idx_on s0, gpr_idx(SRC0,SRC0)
s_set_gpr_idx_on s0, gpr_idx(SRC3)
s_set_gpr_idx_on s0, 15
s_set_gpr_idx_on s0, 16
s_set_gpr_idx_mode gpr_idx(DST)
s_endpgm
s_endpgm 5
s_endpgm 65536
s_nop
s_nop 1, 2
s_nop 1 2
s_load_dword s0, s[2:3]
s_load_dword s0, s[2:3], 255
s_load_dword s0, s[2:3], 256
s_load_dword s0, s[2:3], 0xfffff
s_load_dword s0, s[2:3], 0x100000
s_load_dword s0, s[2:3], -0x100000
s_load_dword s0, s[2:3], 0xffffffff
s_load_dword s0, s[2:3], 0x100000000
s_load_dword s0, s[2:3], label
s_load_dword s0, s[2:3], offset:4
s_load_dword s0, s[2:3], 4 offset:4
s_load_dword m0, s[2:3], 0
s_load_dword exec_lo, s[2:3], 0
s_load_dword vcc_lo, vcc, m0
s_load_dword s0, exec, exec_hi
s_load_dword s0, s[2:3], 0 glc glc
s_load_dword s0, s[2:3], 0 slc
s_load_dword s0, s[2:3], 0 noglc
s_buffer_load_dword s0, s[4:7], -1
s_buffer_load_dword s0, s[2:5], 0
s_memtime exec
s_atc_probe 127, s[2:3], 0
v_add_f32 v0, s0, v1
v_add_f32 v0, v1, s0
v_add_f32 v0, s0, s0
v_add_f32 v0, s0, s1
v_add_f32 v0, s0, vcc_lo
v_add_f32 v0, 0x12345, s0
v_add_f32 v0, v1, 0x12345
v_add_f32_e32 v0, v1, s0
v_add_f32_e32 v0, -v1, v2
v_add_f32_e64 v0, 0x12345, v1
v_add_f32 v0, |1.0|, v1
v_add_f32 v0, neg(1.0), v1
v_add_f32 v0, neg(1), v1
v_add_f32 v0, abs(-1.5), v1
v_add_f32_e64 v0, neg(1), v1
v_add_f32_e64 v0, |-1|, v1
v_add_f32_e64 v0, -|v1|, neg(v2)
v_add_f32 v0, -abs(v1), neg(abs(v2))
v_add_f32 v0, -neg(v1), v2
v_add_f32 v0, --1, v2
v_add_f32 v0, abs(|v1|), v2
v_add_f32 v0, abs(neg(v1)), v2
v_add_f32 v0, neg, v2
v_add_f32 v0, |v1, v2
v_add_f32 v0, sext(v1), v2
v_add_u32 v0, vcc, v1, v2
v_add_u32 v0, v1, v2
v_add_u32 v0, s[0:1], v1, v2
v_add_i32 v0, vcc, v1, v2
v_add_i32 v0, v1, v2
v_add_co_u32 v0, vcc, v1, v2
v_add_co_u32 v0, v1, v2
v_add_co_u32 v0, s[0:1], v1, v2
v_add_co_u32_e32 v0, s[0:1], v1, v2
v_addc_co_u32 v0, vcc, v1, v2, vcc
v_addc_co_u32 v0, vcc, s1, v2, vcc
v_addc_co_u32 v0, s[0:1], v1, v2, s[2:3]
v_addc_co_u32 v0, vcc, v1, v2, src_scc
v_addc_co_u32 v0, vcc, v1, v2, 1
v_addc_co_u32 v0, vcc, v1, v2
v_addc_u32 v0, vcc, v1, v2, vcc
v_cndmask_b32 v0, v1, v2, vcc
v_cndmask_b32 v0, v1, v2
v_cndmask_b32 v0, s1, v2, vcc
v_cndmask_b32 v0, -v1, |v2|, s[4:5]
v_cndmask_b32_sdwa v0, v1, v2, vcc
v_cndmask_b32_dpp v0, v1, v2, vcc row_shl:1
v_cmp_eq_f32 v1, v2
v_cmp_eq_f32_e64 v1, v2
v_cmp_eq_f32 vcc, v1, v2
v_cmp_eq_f32 exec, v1, v2
v_cmp_eq_f32 s0, v1, v2
v_cmp_eq_f32 s[2:3], v1, v2
v_cmp_eq_f32_sdwa s[2:3], v1, v2
v_cmp_eq_f32_sdwa vcc, s1, 2.0
v_cmpx_class_f32 vcc, v1, v2
v_cmp_class_f64 s[2:3], -v[2:3], v4
v_madmk_f32 v0, v1, 0x12345, v2
v_madmk_f32 v0, 0x12345, 0x12345, v2
v_madmk_f32 v0, 0x12345, 0x12346, v2
v_madmk_f32 v0, s0, 0x12345, v2
v_madmk_f32 v0, v1, 1.0, v2
v_madmk_f32 v0, v1, label, v2
v_madak_f32 v0, 2.0, v2, 1.5
v_madak_f32 v0, lds_direct, v2, 1.5
v_madak_f16 v0, v1, v2, 0x12345
v_madak_f16 v0, v1, v2, 1.5
v_madak_f32 v0, v1, v2, lit(0x7e8)
v_mad_f32 v0, s0, s0, s0
v_mad_f32 v0, s0, s1, v0
v_mad_f32 v0, vccz, vccz, 1.0
v_mad_f32 v0, s0, execz, 1.0
v_mad_f32 v0, -s0, |s0|, -|v2| clamp mul:4
v_mad_f32 v0, 1.0, 2.0, 4.0
v_mad_f32 v0, 0.15915494, v1, v2
v_mad_f32_e32 v0, v1, v2, v3
v_mad_f32_e64 v0, v1, v2, v3
v_mad_f32 v0, v1, v2
v_mad_f32 v0, v1, v2, v3, v4
v_mad_f16 v0, v1, v2, v3 op_sel:[1,0,1,1]
v_mad_f16 v0, v1, v2, v3 op_sel:[1,2,0]
v_mad_f16 v0, v1, v2, v3 op_sel:[1,0,0,0,0]
v_add_f64 v[0:1], v[2:3], s[4:5]
v_add_f64 v[1:2], v[3:4], v[5:6]
v_add_f64 v[0:1], 1.0, v[2:3]
v_add_f64 v[0:1], 0x3ff00000, v[2:3]
v_add_f64 v[0:1], 2.5, v[2:3]
v_add_f64 v[0:1], v[2:3], src_shared_base
v_cvt_f32_f64 v0, 2.5
v_cvt_f32_f64 v0, neg(2.5)
v_cvt_f32_f64 v0, 0x12345
v_cvt_f32_f64 v0, neg(0x12345)
v_cvt_f32_f64 v0, label
v_cvt_f64_f32 v[0:1], 2.5
v_cvt_f32_f16 v0, 0x3800
v_cvt_f32_f16 v0, 2.5
v_cvt_f32_f16_e64 v0, 1.0
v_cvt_f16_u16 v0, 1.0
v_add_f16 v0, 1.0, v1
v_add_f16 v0, 0xffff, v1
v_add_f16 v0, 65536, v1
v_add_f16 v0, 65504.0, v1
v_add_f16 v0, 65520.0, v1
v_add_f16 v0, 0.00000001, v1
v_add_f32 v0, 3.5e38, v1
v_add_f32 v0, 1.0e-45, v1
v_add_u16 v0, 0xffff, v1
v_add_u16 v0, -1, v1
v_add_u16 v0, -17, v1
v_add_u16 v0, 1.0, v1
v_add_u16 v0, 65536, v1
v_add_u16 v0, 0x3800, v1
v_add_u16 v0, label, v1
v_pk_add_f16 v0, 1.0, v1
v_pk_add_f16 v0, 0x3c00, v1
v_pk_add_f16 v0, 100, v1
v_pk_add_f16 v0, -v1, v2
v_pk_add_f16 v0, v1, v2 op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[1,0] neg_hi:[0,1] clamp
v_pk_add_u16 v0, 1.0, v1
v_pk_add_u16 v0, 0x3f800000, v1
v_pk_add_u16 v0, -1, s1
v_pk_fma_f32 v[0:1], v[2:3], s[4:5], 1.0
v_pk_fma_f32 v[1:2], v[2:3], v[4:5], v[6:7]
v_pk_mov_b32 v[0:1], v[2:3], v[4:5] op_sel:[1,0]
v_fma_mix_f32 v0, 1.0, -v1, |v2| op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_dot2_f32_f16 v0, v1, v2, v3 neg_lo:[0,1,0]
v_dot4_i32_i8 v0, v1, v2, v3 clamp
v_readlane_b32 s0, v1, s2
v_readlane_b32 m0, v1, 5
v_readlane_b32 s0, v1, 100
v_readlane_b32 s0, v1, v2
v_readlane_b32 s0, lds_direct, s2
v_writelane_b32 v0, s1, s2
v_writelane_b32 v0, s1, m0
v_writelane_b32 v0, 5, s2
v_writelane_b32 v0, 0x12345, 2
v_writelane_b32 v0, lds_direct, s2
v_readfirstlane_b32 s0, v1
v_readfirstlane_b32 s0, lds_direct
v_readfirstlane_b32 s0, 1
v_mov_b32 v0, lds_direct
v_mov_b32_sdwa v0, lds_direct
v_sub_f32 v0, v1, lds_direct
v_subrev_f32 v0, lds_direct, v1
v_swap_b32 v0, v1
v_swap_b32 v0, s1
v_div_scale_f32 v0, vcc, v1, v2, v3
v_div_scale_f32 v0, s[2:3], -v1, v2, v3
v_div_scale_f32 v0, vcc, |v1|, v2, v3
v_div_fmas_f32 v0, v1, s2, v3
v_div_fmas_f32 v0, v1, vcc_lo, v3
v_mac_f32 v0, s1, v2
v_mac_f32_sdwa v0, v1, v2 dst_sel:DWORD
v_mac_f32_sdwa v0, v1, v2 dst_sel:WORD_1
v_mov_b32_sdwa v0, v1
v_mov_b32_sdwa v0, s1 src0_sel:BYTE_1
v_mov_b32_sdwa v0, sext(v1) dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:BYTE_0
v_mov_b32_sdwa v0, -v1
v_mov_b32_sdwa v0, 7
v_mov_b32_sdwa v0, 100
v_mov_b32_sdwa v0, v1 dst_sel:WORD_2
v_mov_b32_sdwa v0, v1 dst_unused:UNUSED
v_mov_b32_dpp v0, v1
v_mov_b32_dpp v0, v1 quad_perm:[0,1,2,4]
v_mov_b32_dpp v0, v1 quad_perm:[0,1,2]
v_mov_b32_dpp v0, v1 row_shl:0
v_mov_b32_dpp v0, v1 row_shl:16
v_mov_b32_dpp v0, v1 wave_shl:2
v_mov_b32_dpp v0, v1 row_bcast:16
v_mov_b32_dpp v0, v1 row_newbcast:15
v_mov_b32_dpp v0, v1 row_newbcast:16
v_mov_b32_dpp v0, v1 row_share:1
v_mov_b32_dpp v0, s1 row_shl:1
v_mov_b32_dpp v0, v1 row_shl:1 bound_ctrl:2
v_add_f32_dpp v0, -v1, |v2| row_ror:3 row_mask:0x1 bank_mask:0x2
v_add_f32_dpp v0, v1, s2 row_ror:3
v_ceil_f64 v[0:1], v[2:3] row_newbcast:1
v_ceil_f64 v[0:1], v[2:3] row_shl:1
v_interp_p1_f32 v0, v1, attr0.x
v_interp_p1_f32 v0, v1, attr32.w
v_interp_p1_f32 v0, v1, attr33.x
v_interp_p1_f32 v0, v1, attr0.q
v_interp_p1_f32_e64 v0, -v1, attr3.z clamp mul:2
v_interp_mov_f32 v0, p10, attr1.y
v_interp_mov_f32 v0, p11, attr1.y
v_interp_p1lv_f16 v0, v1, attr2.x, -v3 high
v_interp_p2_f16 v0, v1, attr2.x, v3 high clamp
v_accvgpr_read_b32 v0, a1
v_accvgpr_read v0, a1
v_accvgpr_write_b32 a0, v1
v_accvgpr_write_b32 a0, s1
v_accvgpr_write_b32 a0, 1.0
v_accvgpr_mov_b32 a0, a1
v_mfma_f32_32x32x1f32 a[0:31], v0, v1, a[0:31]
v_mfma_f32_32x32x1f32 a[0:31], v0, v1, a[2:33]
v_mfma_f32_32x32x1f32 a[0:31], v0, v1, 1.0
v_mfma_f32_32x32x1f32 a[1:32], v0, a1, a[1:32] cbsz:7 abid:15 blgp:7
v_mfma_f32_32x32x1f32 v[0:31], v0, v1, v[0:31]
v_mfma_f32_32x32x1f32 a[0:31], v0, v1, v[0:31]
v_mfma_f32_32x32x1f32 a[0:31], s0, v1, a[0:31]
v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[2:5]
v_mfma_f64_16x16x4f64 v[0:7], v[0:1], a[2:3], v[0:7] blgp:7
v_mul_lo_i32 v0, v1, v2
v_nop
v_nop_e64
ds_read_b32 v0, v1 offset:65535
ds_read_b32 v0, v1 offset:-1
ds_read_b32 v0, v1 offset:1 offset:2
ds_read_b32 v0, v1 nogds
ds_read_b32 v0, s1
ds_read_b64 v[1:2], v3
ds_read2_b32 v[0:1], v2 offset0:1 offset1:255
ds_read2_b32 v[0:1], v2 offset0:256
ds_read2_b32 v[0:1], v2 offset:1
ds_write_b32 v0, a1
ds_write2_b32 v0, a1, v2
ds_add_rtn_u32 a0, v1, v2
ds_gws_init v1 gds
ds_gws_init v2 offset:3 gds
ds_gws_init v2
ds_swizzle_b32 v0, v1 offset:swizzle(QUAD_PERM,0,1,2,3)
ds_swizzle_b32 v0, v1 offset:swizzle(BITMASK_PERM,"01pi0")
ds_swizzle_b32 v0, v1 offset:swizzle(BITMASK_PERM,"01pi")
ds_swizzle_b32 v0, v1 offset:swizzle(BITMASK_PERM,"01pix")
ds_swizzle_b32 v0, v1 offset:swizzle(BROADCAST,32,31)
ds_swizzle_b32 v0, v1 offset:swizzle(BROADCAST,3,1)
ds_swizzle_b32 v0, v1 offset:swizzle(SWAP,16)
ds_swizzle_b32 v0, v1 offset:swizzle(SWAP,32)
ds_swizzle_b32 v0, v1 offset:swizzle(REVERSE,8)
ds_swizzle_b32 v0, v1 offset:swizzle(XXX,1)
ds_swizzle_b32 v0, v1 offset:0xffff
ds_swizzle_b32 v0, v1 offset:65536
buffer_load_dword v0, off, s[4:7], s0 offset:65536
buffer_load_dword v0, v1, s[4:7], s0
buffer_load_dword v0, off, s[4:7], s0 offen
buffer_load_dword v0, v[1:2], s[4:7], s0 offen
buffer_load_dword v0, v[2:3], s[4:7], s0 idxen offen
buffer_load_dword v0, off, s[4:7], 100
buffer_load_dword v0, off, s[4:7], src_scc
buffer_load_dword v0, off, s[5:8], s0
buffer_load_dword v0, off, s[4:5], s0
buffer_load_dword off, s[4:7], s0 offset:8 lds
buffer_load_dword v0, off, s[4:7], s0 lds
buffer_load_dword v0, off, s[4:7], s0 glc glc
buffer_load_dword v0, off, s[4:7], s0 dlc
buffer_store_dword v[0:1], off, s[4:7], s0 tfe
buffer_atomic_add v0, off, s[4:7], scc offset:4095
buffer_atomic_add_f32 v0, off, s[4:7], s0 glc
buffer_store_lds_dword s[4:7], s0 offset:4 lds
buffer_wbinvl1
buffer_wbinvl1 glc
buffer_wbl2
tbuffer_load_format_x v0, off, s[4:7], s0 format:127
tbuffer_load_format_x v0, off, s[4:7], s0 format:128
tbuffer_load_format_x v0, off, s[4:7], s0 format:[BUF_DATA_FORMAT_32]
tbuffer_load_format_x v0, off, s[4:7], s0 format:[BUF_NUM_FORMAT_SINT]
tbuffer_load_format_x v0, off, s[4:7], s0 format:[BUF_NUM_FORMAT_SINT,BUF_DATA_FORMAT_8_8]
tbuffer_load_format_x v0, off, s[4:7], s0 format:[BUF_NUM_FORMAT_SINT,BUF_NUM_FORMAT_UINT]
tbuffer_load_format_x v0, off, s[4:7], s0 format:[BUF_NUM_FORMAT_SNORM_OGL]
tbuffer_load_format_x v0, off, s[4:7], s0 format:[BUF_FMT_32_FLOAT]
tbuffer_load_format_x v0, off, s[4:7], format:5, s0
tbuffer_load_format_x v0, off, s[4:7], dfmt:4, nfmt:7, s0 offset:16
tbuffer_load_format_x v0, off, s[4:7], nfmt:7, s0
tbuffer_load_format_x v0, off, s[4:7], dfmt:16, s0
tbuffer_load_format_x v0, off, s[4:7], dfmt:1, dfmt:2, s0
image_load v[0:3], v[4:7], s[8:15] dmask:0xf unorm
image_load v0, v[4:7], s[8:15]
image_load v[0:3], v4, s[8:15] dmask:0x7
image_load v[0:3], v4, s[8:11] dmask:0xf
image_load v[0:3], v4, s[8:15] dmask:0xf dim:2D
image_load v[0:1], v4, s[8:15] dmask:0xf d16
image_gather4 v[0:3], v[4:5], s[8:15], s[16:19] dmask:0x8
image_gather4 v[0:3], v[4:5], s[8:15], s[16:19] dmask:0x3
image_atomic_add v0, v4, s[8:15] dmask:0x1
image_atomic_add v0, v4, s[8:15] dmask:0x2
image_atomic_cmpswap v[0:1], v4, s[8:15] dmask:0x3
image_atomic_cmpswap v0, v4, s[8:15] dmask:0x1
flat_load_dword v0, v[2:3]
flat_load_dword v0, v[2:3] offset:8
flat_load_dword v0, v[2:3] inst_offset:8
flat_load_dword v0, v2
flat_load_dword v0, v[2:3], off
flat_atomic_add v0, v[2:3], v4 glc
flat_atomic_add v0, v[2:3], v4
flat_atomic_add v[2:3], v4 glc
flat_atomic_add v[2:3], v4 slc
global_load_dword v0, v[2:3], off
global_load_dword v0, v[2:3]
global_load_dword v0, v2, off
global_load_dword v0, v2, s[4:5] offset:-4096
global_load_dword v0, v2, s[4:5] offset:-4097
global_load_dword v0, v2, exec
global_load_dword v[2:3], off lds
global_atomic_add_f32 v0, v[2:3], v4, off glc
global_atomic_add_f32 v[2:3], v4, off
scratch_load_dword v0, v1, off
scratch_load_dword v0, off, s1
scratch_load_dword v0, off, off
scratch_load_dword v0, v1, s1
scratch_load_dword v0, off, exec_hi
scratch_load_dword v0, off, m0
exp mrt0 v0, v1, v2, v3 done vm
exp mrt0 v0, v1, v2
exp mrt0 s0, v1, v2, v3
exp invalid v0, v1, v2, v3
v_nonsense v0, v1
v_add_f33 v0, v1, v2
v_add_f32_e16 v0, v1, v2
