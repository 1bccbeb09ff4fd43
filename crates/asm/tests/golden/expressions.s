label:
.long 1+2*3, (1+2)*3, 10-4-3, 100/7, 100%7, -100/7, -100%7
.long 1<<4, 256>>4, -1>>60, 12&10, 12|3, 12^10, 3!1
.long 1==1, 1!=1, 1<>2, 1<2, 1<=1, 2>1, 2>=3, 1&&2, 0||0
.long -5, +5, ~5, !5, !0, - -5, -(2+3)
.long 0x1F, 0b101, 017, 0, 'a', '\n', 1u, 2UL, 3ull
.long label, label+4, label-4, -label, ~label, !label, +label
.long label*2+1, (label-other)/4, label-other+8, label+(4-8), 4+label, label+4+4
.long label<<2, label>>1, label&3, label|3, label^3, label!3, label%3
.long label==other, label!=other, label<other, label<=other, label>other, label>=other
.long label&&other, label||other
.long other@rel32@lo, other@rel32@hi+4, other@gotpcrel32@lo+4, other@GOTPCREL32@HI, other@abs32@lo, other@ABS32@HI
.quad other@rel64, other@gotpcrel
.long other@plt, other@got, "a name"@rel32@lo
.long label+4@rel32@lo
.long label-., .-label
.long max(1, 2, 3), max(label, 2), or(1, 2, 4), alignto(5, 4), max(max(1, 5), 3)
.long extrasgprs(1, 0, 0), extrasgprs(1, 1, 0), extrasgprs(0, 0, 1), totalnumvgprs(5, 9)
.long extrasgprs(label, 0, 0), totalnumvgprs(label, 3), alignto(label, 4)
.long occupancy(10, 4, 256, 8, 8, 100, 24), occupancy(10, 4, 256, 6, 10, 60, label)
.set number, 5
.long number, number+1
number = 6
.long number
.set alias, label+4
.long alias, alias+4
.set far, other
.long far
.set .Lhidden, 3
.long .Lhidden, defined_outside
.quad 0xffffffffffffffff, -9223372036854775808
.byte 256
.byte -129
.long 4294967296
.quad 0x10000000000000000
.long )
.long 1+
.long (1
.long label@nonsense
.long label@
.long 5@rel32@lo
.long label@rel32@lo+other@rel32@hi
.long max()
.long max(1,)
.long max(1 2)
.long [1]
.long 08
.long 0x
.long 0b2
.long 1.5
.long "label"
.long *
.long $
.long $dollar, @at
.long 1/0
label = 5
.set far, label
.equiv number, 7
.set loop, loop+1
. = 100
x = )
