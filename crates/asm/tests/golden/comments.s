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

s_nop /* one */ /* two */ /**/ 1
/* a */ /* b */ v_mov_b32 v1 /* c */ , /* d */ v2
s_mov_b64 s[ 2 : 3 ], s[4:5] /* after a range */
s_mov_b64 s[0x2:3], s[04:05]
s_load_dwordx4 s[4:7], s [2:3], 0
v_mov_b32 v[3], s[1+1]
