; One wave loads into LDS, which VM_CNT tells of and LGKM_CNT does not; the other one reads it behind the barrier.
; run: --grid 128 --block 128 --lds 256 --arg iota:u32:64
; gpus: gfx600 gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    s_mov_b32 s6, 256
    s_mov_b32 s7, 0x00024fac
    v_lshlrev_b32 v1, 2, v0
    v_cmp_gt_u32 vcc, 64, v0
    s_waitcnt lgkmcnt(0)
    s_cbranch_vccz meet
    s_mov_b32 m0, 0
    s_nop 0
    buffer_load_dword v1, s[4:7], 0 offen lds
meet:
    s_waitcnt lgkmcnt(0)                ;-
;+  s_waitcnt vmcnt(0)
    s_barrier
    s_cbranch_vccnz done
    s_mov_b32 m0, -1
    v_xor_b32 v1, 0x100, v1
    ds_read_b32 v2, v1                  ; BUG race lds-race
    s_waitcnt lgkmcnt(0)
done:
    s_endpgm
