; cpu: gfx600 gfx701 gfx803 gfx900 gfx906 gfx908 gfx90a
;; S_ICACHE_INV, S_TTRACEDATA, S_WAKEUP, S_SLEEP, S_NOP and the like leave the registers alone.
; set s0 = 3
; expect s0 = 3
; expect scc = 1
s_cmp_eq_u32 s0, 3
s_nop 7
s_icache_inv
s_ttracedata
s_incperflevel 3
s_decperflevel 3
s_setprio 0
s_sethalt 0
s_waitcnt 0
