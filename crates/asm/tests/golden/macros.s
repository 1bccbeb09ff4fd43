.macro a x:req, y=5, z:vararg
.long \x, \y
.ascii "\z"
.long \@
.endm
a 1
a 1, 2, 3 4, 5 "x y"
a
a y=4, x=3
a x=4, 5
a q=4
.macro nest n
.if \n
.long \n
nest (\n-1)
.endif
.endm
nest 3
.macro noargs
.byte 1
.exitm
.byte 2
.endm
noargs
noargs 5
.purgem noargs
.purgem noargs
.macro dup
.endm
.macro dup
.endm
.macro t a b=(1 + 2) c
.byte \a, \b, \c+1
.endm
t 1 , , 3
t 1 2 3
t 1+2 3 - 1 4
t 1,2,3,4
t (1,2
.rept 3
.rept 2
.byte 1
.endr
.endr
.rept -1
.endr
.rept 0
.byte 7
.endr
.irp r,1,,3
.byte 0\r
.endr
.irp r,"a b",c
.ascii "\r"
.endr
.irpc c,abc
.ascii "\c"
.endr
.irpc c,"abc"
.ascii "\c"
.endr
.irpc c,a b
.endr
.rept 2
.error "in rept"
.endr
.macro m1
.warning "w"
m2
.endm
.macro m2
.err
.long )
.endm
m1
.altmacro
.macro alt p, q
.byte p, \q
.ascii "p&q"
.endm
alt %(1+2), <5!>4>
alt 1 2
.noaltmacro
.macro plus
.long \+
.endm
plus
plus
.macro paste a
x\a\()y = 5
.long x\a\()y
.endm
paste 3
.endm
.endr
.exitm
.macros_off
.macros_on
plus
.rept 2
.long \+
.endr
# 55 "other.c"
.error "line 55"
# 7 "elsewhere.c"
.macro bad name
.byte $0
.endm
.macro
.macro q a, a
.endm
.macro q a:wrong
.endm
.macro q a:
.endm
.macro q a:vararg, b
.endm
.macro q a:req=5
.byte \a
.endm
q 4
.macro with_body a
.macro \a
.byte 42
.endm
.endm
with_body inner
inner
.macro condition a
.if \a
.exitm
.endif
.byte 5
.endm
condition 1
condition 0
.rept label
.endr
.rept 2 3
.endr
.irp x
.endr
.irp ,1
.endr
.macro unfinished
.byte 1
