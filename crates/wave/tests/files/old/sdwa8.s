; cpu: gfx803 gfx900 gfx906 gfx908 gfx90a
;; GFX8's SDWA: byte and word selects of both sources, sign extension, and the three rules for the rest of the destination
;; (GCN3 manual, SDWA).
; set v0 = 0x04030281
; set v1 = 0x80706050
; set v2 = 0x11223344
; set v3 = 0x11223344
; set v4 = 0x11223344
; set v5 = 0x3f800000
; expect v10 = 0x00000053
; expect v11 = 0xffffff81
; expect v2 = 0x11228344
; expect v3 = 0x00008300
; expect v4 = 0xff830000
; expect v13 = 0xbf800000
; expect vcc = 0xffffffffffffffff
v_add_u16_sdwa v10, v0, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_2 src1_sel:BYTE_0
v_mov_b32_sdwa v11, sext(v0) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0
v_or_b32_sdwa v2, v0, v0 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0 src1_sel:BYTE_1
v_or_b32_sdwa v3, v0, v0 dst_sel:BYTE_1 dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:BYTE_1
v_or_b32_sdwa v4, v0, v0 dst_sel:BYTE_2 dst_unused:UNUSED_SEXT src0_sel:BYTE_0 src1_sel:BYTE_1
v_mul_f32_sdwa v13, -v5, |v5| dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD
v_cmp_eq_u32_sdwa vcc, v0, v0 src0_sel:BYTE_0 src1_sel:BYTE_0
