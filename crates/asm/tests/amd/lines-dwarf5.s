// options: -triple=amdgcn-amd-amdhsa -mcpu=gfx900
        .file   0 "/home/me" "k.cl" md5 0x00112233445566778899aabbccddeeff
        .file   1 "/usr/include" "types.h" md5 0xffeeddccbbaa99887766554433221100
        .text
        .loc    0 1 1
        s_nop 0
        .loc    1 20 5
        s_nop 0
        .loc    0 4 9
        s_endpgm
        .section .debug_info,"",@progbits
        .long   .Lline_table_start0
        .section .debug_line,"",@progbits
.Lline_table_start0:
