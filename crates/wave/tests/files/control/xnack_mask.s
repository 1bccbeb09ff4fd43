; cpu: gfx900 gfx906 gfx908 gfx90a gfx801
;; XNACK_MASK and FLAT_SCRATCH are registers like others.
; expect s0 = 5
; expect s1 = 7
; expect s2 = 1
; expect s3 = 2
s_mov_b32 xnack_mask_lo, 5
s_mov_b32 xnack_mask_hi, 7
s_mov_b64 s[0:1], xnack_mask
s_mov_b32 flat_scratch_lo, 1
s_mov_b32 flat_scratch_hi, 2
s_mov_b64 s[2:3], flat_scratch
