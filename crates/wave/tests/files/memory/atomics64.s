; cpu: gfx90a
;; 64-bit and float atomics; memory is the first operand of min and max.
; set exec = 1
; buffer s[4:5] = -1 0 5 0 0 0x3ff00000 0 0x40000000 1.5 0x3c003c00
; set v2 = 1
; set v3 = 0
; set v4 = 0
; set v5 = 0x40080000
; set v6 = 2.25
; set v7 = 0x40004200
; expect s[4:5] = 0 1 0 0 0 0x40100000 0 0x40080000 3.75 0x42004400
global_atomic_add_x2 v0, v[2:3], s[4:5]
global_atomic_swap_x2 v0, v[0:1], s[4:5] offset:8
global_atomic_add_f64 v0, v[4:5], s[4:5] offset:16
global_atomic_max_f64 v0, v[4:5], s[4:5] offset:24
global_atomic_add_f32 v0, v6, s[4:5] offset:32
global_atomic_pk_add_f16 v0, v7, s[4:5] offset:36
s_waitcnt vmcnt(0)
