; cpu: gfx600 gfx701 gfx803 gfx900 gfx906 gfx908 gfx90a
;; A resource of zeros and one whose data format is INVALID are unbound: loads give 0 even for selects of one, stores and
;; atomics do nothing, and an atomic returns 0 (manual 9.1.4, 9.1.8).
; buffer s[4:5] = 1 2 3 4
; set s6 = 16
; set s7 = 0x00000249
; set v1 = 7
; set v2 = 7
; set v3 = 7
; set v4 = 7
; set v5 = 7
; set v6 = 7
; set v7 = 9
; set v8 = 9
; set v9 = 9
; set exec = 3
; expect v1 = 0 0 7 ..
; expect v2 = 0 0 7 ..
; expect v3 = 0 0 7 ..
; expect v4 = 0 0 7 ..
; expect v5 = 0 0 7 ..
; expect v7 = 0 0 9 ..
; expect s[4:5] = 1 2 3 4
buffer_load_dword v1, off, s[4:7], 0
buffer_load_format_x v2, off, s[4:7], 0
buffer_load_format_x v3, off, s[8:11], 0
buffer_load_dword v4, off, s[8:11], 0
tbuffer_load_format_x v5, off, s[8:11], 0 format:[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_UINT]
buffer_store_dword v9, off, s[4:7], 0
buffer_store_format_x v9, off, s[8:11], 0
tbuffer_store_format_x v9, off, s[8:11], 0 format:[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_UINT]
buffer_atomic_add v7, off, s[8:11], 0 glc
buffer_atomic_add v8, off, s[4:7], 0
s_waitcnt vmcnt(0)
