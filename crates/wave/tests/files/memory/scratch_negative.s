; cpu: gfx900 gfx906 gfx908 gfx90a
;; Offsets of SCRATCH are signed (manual 10.5); the sum with the register says which dword of a lane it is, aligned or not.
; buffer s[4:5] = 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
; set v0 = 16
; set v2 = 0x44332211
; set v3 = 0x88776655
; set s8 = 12
; expect v4 = 0x44332211
; expect v5 = 0x88776655
; expect v6 = 0x66554433
s_mov_b64 flat_scratch, s[4:5]
scratch_store_dword v0, v2, off offset:-8
scratch_store_dword off, v3, s8
scratch_load_dword v4, off, s8 offset:-4
scratch_load_dword v5, v0, off offset:-4
scratch_load_dword v6, v0, off offset:-6
s_waitcnt vmcnt(0)
