.globl a, b
.global c
.weak a
.local l
.hidden h
.internal i
.protected p
.globl .Ltemporary
.globl 5
.globl
.weak
.weak a b
.type a,@function
.type a, %object
.type a,#notype
.type a, "tls_object"
.type a STT_FUNC
.type a,@gnu_indirect_function
.type a,@common
.type a,@gnu_unique_object
.type a,@nonsense
.type a
.type
a:
.byte 1
.size a, .-a
.size b, 8
.size
.size a
.comm x1, 4
.comm x2, 4, 3
.common x3, 8
.comm a, 4
.comm x4
.comm x5, -1
.lcomm x6, 8
.lcomm x7, 8, 3
.symver a, a@v1
.symver a, a@@v2
.symver a, a@@@v3
.symver a, a@v4, remove
.symver a, b
.weakref w, a
.ident "a \"string\""
.ident nothing
.version "1.0"
.addrsig
.addrsig_sym a
.cg_profile a, b, 7
.cg_profile a, b
.no_dead_strip a
.lazy_reference a
.symbol_resolver a
.private_extern a
.reference a
.weak_definition a
.weak_reference a
.weak_def_can_be_hidden a
.memtag a
.cold a
.lto_set_conditional z, a
.set s1, 4
.equ s2, a
.equiv s3, 5
.equiv s3, 6
s4 = s1 + 1
.set
.set 5, 6
.set s5
.set s5,
.extern anything goes here
a:
.globl "odd name"
"odd name":
.long "odd name"+4
.reloc 4, R_AMDGPU_NONE
.reloc a+4, R_AMDGPU_ABS64, b+4
.reloc 4
.reloc 4, 5
.reloc 4, R_AMDGPU_NONE, a*b
1:
.long 1b, 1f, 2f
1:
.long 1b-1f
1:
2:
.long 2b, 3b
.long 4f
5

// What is on the list of discarded symbols is passed over, until the next list.
.lto_discard dropped, also_dropped
dropped:
s_nop 4
also_dropped = 5
also_dropped:
.globl dropped
.weak also_dropped
.type dropped, @function
.lto_discard
dropped:
s_nop 5
