; S_GETREG of what S_SETREG has just set.
; run: --grid 64
; gpus: gfx600 gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a
    s_mov_b32 s4, 0
    s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s4
    s_nop 0                             ;-
;+  s_nop 1
    s_getreg_b32 s5, hwreg(HW_REG_MODE) ; BUG hazard wait-states
    s_endpgm
