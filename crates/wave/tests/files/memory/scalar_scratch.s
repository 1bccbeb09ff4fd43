; cpu: gfx900 gfx906 gfx908 gfx90a
;; Scratch stores: the register counts 64 bytes.
; buffer s[4:5] = 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
; set s3 = 1
; set s8 = 11
; set s9 = 12
; set s10 = 13
; set s11 = 14
; expect s[4:5] = 11 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 11 12 0 11 12 13 14
; expect s12 = 11
; expect s13 = 12
; expect s16 = 11
; expect s19 = 14
s_scratch_store_dword s8, s[4:5], 0x0
s_mov_b32 m0, 1
s_scratch_store_dwordx2 s[8:9], s[4:5], m0 offset:0x4
s_scratch_store_dwordx4 s[8:11], s[4:5], m0 offset:0x10
s_dcache_wb
s_waitcnt lgkmcnt(0)
s_scratch_load_dwordx2 s[12:13], s[4:5], s3 offset:0x4
s_scratch_load_dwordx4 s[16:19], s[4:5], s3 offset:0x10
s_waitcnt lgkmcnt(0)
