; cpu: gfx900 gfx90a
;; Scratch is interleaved: a dword per lane, lane after lane (manual 10.5); flat reaches it through the private aperture.
; buffer s[4:5] = 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
; set v0 = 4
; set v2 = lane*5+1
; expect v3 = lane*5+1
; expect v4 = lane*5+1
; expect s[4:5] = 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 6 11 16 21
s_mov_b64 flat_scratch, s[4:5]
scratch_store_dword v0, v2, off
s_mov_b64 s[0:1], src_private_base
v_mov_b32 v1, s1
s_waitcnt vmcnt(0)
flat_load_dword v3, v[0:1]
scratch_load_dword v4, v0, off
s_waitcnt vmcnt(0) lgkmcnt(0)
