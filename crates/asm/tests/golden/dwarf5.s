.file 0 "/src" "main.cl" md5 0x00112233445566778899aabbccddeeff
.file 1 "/src" "header.h" md5 0x10112233445566778899aabbccddeeff
.file 2 "/other" "header.h" md5 0x20112233445566778899aabbccddeeff
.loc 0 1 2
.loc 1 3 4
