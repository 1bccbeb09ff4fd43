; cpu: gfx600 gfx701 gfx803 gfx900 gfx906 gfx908 gfx90a
;; Memory to LDS (manual 9.1.9): M0 and the instruction's offset give the place of lane 0, a dword for each lane. Bytes are
;; extended; a lane beyond memory writes 0, one beyond LDS nothing.
; lds 64
; buffer s[4:5] = 0x80 2 3 4 5 6 7 8
; set s6 = 24
; set s7 = 0x00024fac
; set v0 = lane*4
; set v1 = lane*4
; set m0 = 32
; set exec = 0xff
; expect v2 = 0 0 0 0 0 0 0 0 0xffffff80 2 3 4 5 6 0 0 0 ..
; expect v3 = 0 0 0 3 4 5 6 0 0xffffff80 2 3 4 5 6 0 0 0 ..
; expect v4 = 0 0 0 3.0 4 5 6 0 0xffffff80 2 3 4 5 6 0 0 0 ..
buffer_load_sbyte v0, s[4:7], 0 offen lds
s_waitcnt vmcnt(0)
s_mov_b64 s[10:11], exec
s_mov_b64 exec, -1
s_mov_b32 s12, m0
s_mov_b32 m0, -1
ds_read_b32 v2, v1
s_waitcnt lgkmcnt(0)
s_mov_b32 m0, 4
s_mov_b64 exec, 0x1f
buffer_load_dword v0, s[4:7], 0 offen offset:8 lds
s_waitcnt vmcnt(0)
s_mov_b64 exec, -1
s_mov_b32 m0, -1
ds_read_b32 v3, v1
s_waitcnt lgkmcnt(0)
s_mov_b32 m0, 12
s_mov_b32 s7, 0x0000afac
s_mov_b64 exec, 1
s_mov_b32 s6, 32
buffer_load_format_x off, s[4:7], 8 lds
s_waitcnt vmcnt(0)
s_mov_b64 exec, -1
s_mov_b32 m0, -1
ds_read_b32 v4, v1
s_waitcnt lgkmcnt(0)
s_mov_b64 exec, 15
