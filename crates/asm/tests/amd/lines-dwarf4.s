// options: -triple=amdgcn-amd-amdhsa -mcpu=gfx90a
        .file   1 "sub/dir" "a.cl"
        .file   2 "other/b.cl"
        .text
        .loc    1 10 3
        s_nop 0
        .loc    2 700 0 is_stmt 0 discriminator 5
        s_nop 0
        .fill   100, 4, 0xbf800000
        .loc    1 11 2 isa 3 basic_block
        s_nop 0
        .fill   20, 4, 0xbf800000
        .loc    1 12 0 prologue_end
        .loc    1 13 0 epilogue_begin is_stmt 1
        s_endpgm
        .section .text.b,"ax",@progbits
        .loc    2 1 1
        s_endpgm
