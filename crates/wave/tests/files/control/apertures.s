; cpu: gfx900 gfx906 gfx908 gfx90a
;; SH_MEM_BASES has bits 63:48 of the private aperture in 15:0 and of the shared one in 31:16; as operands they are the
;; upper halves of addresses.
; expect s0 = 0x00010002
; expect s1 = 0x00010000
; expect s2 = 0x00020000
s_getreg_b32 s0, hwreg(HW_REG_SH_MEM_BASES)
s_mov_b64 s[4:5], src_shared_base
s_mov_b32 s1, s5
s_mov_b64 s[4:5], src_private_base
s_mov_b32 s2, s5
