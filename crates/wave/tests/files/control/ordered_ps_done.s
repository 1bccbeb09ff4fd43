; cpu: gfx900 gfx906 gfx908 gfx90a
;; S_ENDPGM_ORDERED_PS_DONE ends the wave.
; expect s0 = 1
s_mov_b32 s0, 1
s_endpgm_ordered_ps_done
s_mov_b32 s0, 2
