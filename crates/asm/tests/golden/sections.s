.data
.byte 1
.text
.byte 2
.section .foo,"aMS",@progbits,1
.section .bar,"axG",@progbits,group,comdat
.section .bar2,"aG",@progbits,group2
.section .baz,"ao",@progbits,.text
.section .baz0,"ao",@progbits,0
.section .unique,"a",@progbits,unique,5
.section .unique,"a",@progbits,unique,6
.section ".weird name-x","aw",@nobits
.section .with-dash,"aw"
.section .note.thing
.section .note.other,"a",@note
.section .rodata.str,"a"
.section .text.func
.section .init_array
.section .fini_array,"aw",@fini_array
.section .preinit_array
.section .tdata
.section .tbss
.section .bss.x
.section .number,"a",@0x6fff4c00
.section .number2,"a",@12
.section .percent,"a",%progbits
.section .string,"a","progbits"
.section .flags,"0x6",@progbits
.section .retain,"aR",@progbits
.section .exclude,"e",@progbits
.section .sun,#alloc,#write
.section .gr,"a?",@progbits
.section .odr,"a",@llvm_odrtab
.section .bar,"axG",@progbits,group,comdat
.section .member,"a?",@progbits
.section .foo
.section .foo,"a",@progbits
.section .foo,"aMS",@nobits,1
.section .foo,"aMS",@progbits,2
.section .rodata.cst4
.section .debug_str
.section .debug_info,"",@progbits
.section .debug_str,"",@progbits
.section .debug_str,"MS",@progbits,1
.bss
.rodata
.tdata
.tbss
.data.rel
.data.rel.ro
.eh_frame
.data 3
.text 2
.subsection 1
.subsection
.pushsection .rodata.x,"a",@progbits
.byte 3
.pushsection .rodata.y, 2, "a"
.popsection
.popsection
.popsection
.previous
.previous
.quad .text, .foo
.foo:
.section
.section .z,"q"
.section .z,"aM"
.section .z,"aG"
.section .z,"aM",@progbits
.section .z,"aM",@progbits,0
.section .z,"ao",@progbits
.section .z,"ao",@progbits,nothing
.section .z,"a",@wrong
.section .z,"a",progbits
.section .z,"a",@progbits,foo
.section .z,"a",@progbits,unique
.section .z,"a",@progbits,unique,-1
.section .z,"a" junk
.section .z,3
