; V_READLANE takes its lane from an SGPR that the VALU has just written: four wait states.
; run: --grid 64
; gpus: gfx600 gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a
    v_readfirstlane_b32 s4, v0
    s_nop 2                             ;-
;+  s_nop 3
    v_readlane_b32 s5, v0, s4           ; BUG hazard wait-states
    s_endpgm
