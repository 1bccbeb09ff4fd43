; cpu: gfx600 gfx701 gfx803
;; Before GFX9, VCC is the last two SGPRs that a wave has (GCN manuals, SGPR allocation): here 32.
; set sgprs = 32
; expect vcc = 0x0000000700000005
; expect s2 = 5
; expect s3 = 7
; expect s4 = 9
s_mov_b32 s30, 5
s_mov_b32 s31, 7
s_mov_b64 s[2:3], vcc
s_mov_b64 vcc, 9
s_mov_b32 s4, s30
s_mov_b64 s[30:31], s[2:3]
