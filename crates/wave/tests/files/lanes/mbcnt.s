; cpu: gfx600 gfx701 gfx803 gfx900 gfx906 gfx908 gfx90a
;; The manual's own example: a lane's number.
; expect v0 = lane
v_mbcnt_lo_u32_b32 v0, -1, 0
v_mbcnt_hi_u32_b32 v0, -1, v0
