# a comment at the start of a line
  # an indented one
; and another kind
// and another
/* one line */
/* two
   lines */ .byte 1 /* after */, /* between */ 2 ; rest
.byte 3 // rest

first: # after a label
second: ; after a label
third: .byte 4
  "quoted name": .byte 5
.globl "quoted name", first

	.byte	6,7	,	8
.byte '#', ';', '/', '\'', '\\'
