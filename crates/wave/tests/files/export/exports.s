; cpu: gfx600 gfx701 gfx803 gfx900 gfx906 gfx908
;; A compute wave's exports go nowhere and change nothing.
; set v0 = lane
; set exec = 5
; expect v0 = lane
; expect exec = 5
; expect s4 = 1
exp mrt0 v0, v1, v2, v3
exp mrtz v0, off, off, off compr
exp pos0 v0, v0, v0, v0 done
exp param31 v0, off, v1, off
exp null off, off, off, off done vm
s_waitcnt expcnt(0)
s_mov_b32 s4, 1
