foo:
.byte 1, -128, 255, 'a'
.2byte 0xffff
.short 1, -1
.value 2
.hword 3
.4byte 4
.long 4294967295, -1
.int 5
.8byte 6
.quad -1, 7
.octa 0x112233445566778899aabbccddeeff00, 5, 0x1ffffffffffffffff
.octa 0x100000000000000000000000000000000
.octa label
.dc 1
.dc.a foo
.dc.b 1
.dc.w 2
.dc.l 3
.dc.s 1.5
.dc.d 1.5
.dc.x 1
.single 1.5, -2.5, inf, -infinity, nan, 0x1.8p1, 3, 1e10, 1e40, 1e-50, 16777217
.float .5, 1., 1e5, 0x1p-149, 0x1.000001p0, +2.5, 0x1.8p-150
.double 1.5, 1e400, 0x1p-1074, 1e-400, 4.9e-324, 0x1.fffffffffffff8p0, 123456789012345678901234567890
.float foo
.float 0x10
.double 1e
.ascii "abc\n\t\b\f\r\"\\\001\377\x41\x142" "def", "x"
.asciz "a", "bc", ""
.string "x\0y"
.ascii
.ascii "bad\q"
.ascii "bad\400"
.ascii "bad\x"
.ascii no
.ascii "unterminated
.uleb128 0, 127, 128, 300, -1, foo-bar
.sleb128 -5, 63, 64, -64, -65, foo-bar
.zero 5
.zero 5, 3
.zero 0
.space 4, -1
.skip foo-bar
.space 300, 300
.fill 3
.fill 3, 2
.fill 3, 8, -1
.fill foo-bar, 2, 5
.fill 1, 9, 1
.fill 1, -1
.fill 1, 8, 0x123456789
.dcb 2, 5
.dcb.b 2, 5
.dcb.w 1, foo
.dcb.l 0, 5
.dcb.s 2, 1.5
.dcb.d 1, 1.5
.dcb.b 2, 256
.dcb.b -1, 5
.dcb.x 1, 2
.ds 1
.ds.b 1
.ds.d 1
.ds.l 1
.ds.p 2
.ds.s 1
.ds.w 1
.ds.x 1
.ds.b -1
.org 200
.org foo+300, 5
.align 16
.align 4, 0x90
.align 0
.align 3
.align32 8, 5
.balign 8, 5, 3
.balign 8,,3
.balignw 4, 0x1234
.balignl 8, 0x12345678, 4
.p2align 3,,4
.p2align 3, 1, 1
.p2align 3, 1, 0
.p2align 3, 1, 9
.p2align 40
.p2align
.p2alignw 2, 5
.p2alignl 6, 3214868480
.fill 48, 4, 3214868480
.data
.p2align 4
.p2align 4, 7
.bss
.p2align 4, 7
.incbin "included.inc"
.incbin "included.inc", 2, 4
.incbin "included.inc",,3
.incbin "included.inc", 100
.incbin "included.inc", -1
.incbin "included.inc", 0, -1
.incbin "nowhere.inc"
.incbin
