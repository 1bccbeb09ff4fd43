; cpu: gfx600 gfx701 gfx803 gfx900 gfx906 gfx908 gfx90a
;; Branches, a loop, and a call with a return.
; set s0 = 5
; expect s1 = 15
; expect s2 = 77
; expect s3 = 0
loop:
s_add_u32 s1, s1, s0
s_sub_u32 s0, s0, 1
s_cmp_lg_u32 s0, 0
s_cbranch_scc1 loop
s_getpc_b64 s[4:5]
s_add_u32 s4, s4, function-.
s_addc_u32 s5, s5, 0
s_add_u32 s4, s4, 0
s_addc_u32 s5, s5, 0
s_swappc_b64 s[30:31], s[4:5]
s_branch done
s_mov_b32 s3, 1
function:
s_mov_b32 s2, 77
s_setpc_b64 s[30:31]
done:
s_nop 0
