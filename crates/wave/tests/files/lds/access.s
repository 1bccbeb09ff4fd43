; cpu: gfx600 gfx701 gfx803 gfx900 gfx906 gfx908 gfx90a
;; Stores and loads of every size, two addresses, an atomic with return, out of range.
; set v0 = lane*8
; set v1 = lane*3+256
; set v2 = lane
; set v20 = 0
; set v21 = 1
; set v22 = 0x10000
; set m0 = -1
; lds 1024
; expect v10 = lane*3+256
; expect v11 = lane
; expect v5 = lane*3+256
; expect v6 = 0 3 6 9 12 15 18 21 24 27 30 33 36 39 42 45 48 51 54 57 60 63 66 69 72 75 78 81 84 87 90 93 96 99 102 105 108 111 114 117 120 123 126 129 132 135 138 141 144 147 150 153 156 159 162 165 168 171 174 177 180 183 186 189
; expect v8 = 64
; expect v9 = 0
ds_write2_b32 v0, v1, v2 offset1:1
ds_read_b64 v[10:11], v0
ds_read_b32 v5, v0
ds_read_u8 v6, v0
ds_write_b32 v20, v20 offset:1020
ds_add_u32 v20, v21 offset:1020
ds_read_b32 v8, v20 offset:1020
ds_read_b32 v9, v22
s_waitcnt lgkmcnt(0)
