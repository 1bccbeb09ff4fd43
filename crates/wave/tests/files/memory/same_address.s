; cpu: gfx900 gfx906 gfx908 gfx90a
;; All lanes add to one dword.
; buffer s[4:5] = 100
; set v2 = lane
; expect s[4:5] = 2116
global_atomic_add v0, v2, s[4:5]
s_waitcnt vmcnt(0)
