.file "plain.c"
.file 1 "a/b.c"
.file 2 "/usr/include" "x.h"
.file 3 "/x.c"
.file 4 ""
.file 5 "dir" "a\tb"
.file 1 "again.c"
.file 6 "m.c" md5 0x00112233445566778899aabbccddeeff
.file 7 "s.c" source "int x;\n"
.file "d" "f"
.file 8 nothing
.file -1 "x"
.file 9 "x" junk
.loc 1 5 3
.loc 1 5
.loc 1
.loc 2 7 1 prologue_end is_stmt 0
.loc 2 8 1 is_stmt 1 isa 3 discriminator 4 basic_block epilogue_begin
.loc 2 9 1 is_stmt 0
.loc 2 10 1
.loc 99 1 1
.loc 0 1 1
.loc x
.loc 1 1 1 is_stmt 2
.loc 1 1 1 junk
.line 5
.line
.cfi_sections .debug_frame
.cfi_sections .eh_frame, .debug_frame
.cfi_startproc
.cfi_def_cfa 32, 8
.cfi_def_cfa_offset 16
.cfi_adjust_cfa_offset -8
.cfi_def_cfa_register 33
.cfi_offset s33, -8
.cfi_offset s70, -8
.cfi_offset v5, -8
.cfi_offset a5, -8
.cfi_offset exec, -8
.cfi_rel_offset 5, 4
.cfi_register 5, 6
.cfi_same_value 5
.cfi_restore 5
.cfi_window_save
.cfi_escape 0x10, 1, 2
.cfi_remember_state
.cfi_restore_state
.cfi_undefined 2600
.cfi_return_column 16
.cfi_personality 0x1b, foo
.cfi_personality 0x77, foo
.cfi_lsda 0x1b, bar
.cfi_llvm_def_aspace_cfa 64, 0, 6
.cfi_label xx
.cfi_startproc
.cfi_endproc
.cfi_startproc simple
.cfi_signal_frame
.cfi_endproc
.cfi_endproc
.cfi_def_cfa 1, 2
.cfi_startproc junk
.pseudoprobe 1 2 3 0 foo
.pseudoprobe 1 2 3 0 @ 4:5 @ 6:7 foo
