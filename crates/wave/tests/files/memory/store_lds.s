; cpu: gfx803 gfx900 gfx906 gfx908 gfx90a
;; LDS to memory: lane by lane from M0 and the offset, which memory adds as well; beyond the buffer nothing is written.
; lds 64
; buffer s[4:5] = 1 1 1 1 1 1 1 1
; set s6 = 20
; set s7 = 0x00800fac
; set v0 = lane*4
; set v1 = lane+100
; set m0 = -1
; set exec = 0xffff
; expect s[4:5] = 1 103 104 105 1 1 1 1
ds_write_b32 v0, v1
s_waitcnt lgkmcnt(0)
s_or_b32 s5, s5, 0x40000
s_mov_b32 s6, 3
s_mov_b32 m0, 8
s_mov_b64 exec, 7
buffer_store_lds_dword s[4:7], 0 offset:4 lds
s_waitcnt vmcnt(0)
