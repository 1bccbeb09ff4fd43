; cpu: gfx900 gfx906 gfx908 gfx90a
;; Each part of an address loses its low two bits (manual 8.2.1.1). Scratch counts registers in 64 bytes.
; buffer s[4:5] = 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20
; set s2 = 7
; set s3 = 1
; set m0 = 4
; expect s8 = 1
; expect s9 = 3
; expect s10 = 18
; expect s12 = 3
; expect s13 = 4
s_load_dword s8, s[4:5], s2
s_load_dword s9, s[4:5], s2 offset:0xb
s_scratch_load_dword s10, s[4:5], s3 offset:0x8
s_load_dwordx2 s[12:13], s[4:5], m0 offset:0x8
s_dcache_discard s[4:5], 0x0
s_dcache_discard_x2 s[4:5], 0x0
s_atc_probe 1, s[4:5], 0x0
s_dcache_inv
s_dcache_wb_vol
s_dcache_inv_vol
s_waitcnt lgkmcnt(0)
