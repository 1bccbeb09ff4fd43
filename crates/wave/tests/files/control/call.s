; cpu: gfx900 gfx906 gfx908 gfx90a
;; S_CALL_B64: the return address is that of the next instruction, the target is relative to it.
; expect s0 = 3
; expect s1 = 1
s_mov_b32 s0, 1
s_call_b64 s[4:5], sub
s_mov_b32 s1, 1
s_branch end
sub:
s_mov_b32 s0, 3
s_setpc_b64 s[4:5]
end:
s_nop 0
