foo:
.if 0
 .long 1
.elseif 1
 .long 2
.elseif 1
 .long 99
.else
 .long 99
.endif
.if 1
.if 0
 nonsense here (
.else
 .long 3
.endif
.else
.if 1
 .long 99
.endif
.endif
.ifdef foo
 .long 4
.endif
.ifndef nowhere
 .long 5
.endif
.ifnotdef nowhere
 .long 6
.endif
.ifdef defined_outside
 .long 7
.endif
.ifb
 .long 8
.endif
.ifnb text
 .long 9
.endif
.ifc a b, a b
 .long 10
.endif
.ifnc a , b
 .long 11
.endif
.ifeqs "a","a"
 .long 12
.endif
.ifnes "a","b"
 .long 13
.endif
.IFEQ 0
 .LONG 14
.endif
.ifge 0
 .long 15
.endif
.ifgt 1
 .long 16
.endif
.ifle 0
 .long 17
.endif
.iflt -1
 .long 18
.endif
.ifne 1
 .long 19
.endif
.elseif 3
.else
.endif
.if foo
.endif
.if 1 2
.endif
.ifdef
.endif
.ifc a
.endif
.ifeqs a
.if 0
.err
.error "not reached"
.endif
.if 1
