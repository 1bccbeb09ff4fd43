# A kernel for every set of features that CLRX's .config has, and what each one finds at its start. Whoever assembles it
# writes .amdcl2, .gpu and .32bit or .64bit in front.

.ifarch gfx7
    SMUL = 1            # SMRD counts dwords, SMEM bytes
.else
    SMUL = 4
.endif
.if64
    W = 8
.else
    W = 4
.endif
.ifarch gfx9
    MORE = 2            # GFX9 always has flat scratch init
.else
    MORE = 0
.endif
FIRST = 6 * W           # the program's own arguments follow the hidden ones

# out[byte offset in \offset] = \value, where \lo is the SGPR with the pointer.
.macro store value, offset, lo
    s_mov_b32 s40, s[\lo]
    .if64
        s_and_b32 s41, s[\lo+1], 0xffff
    .else
        s_mov_b32 s41, 0
    .endif
    s_mov_b32 s42, -1
    s_mov_b32 s43, 0x8027fac
    buffer_store_dword \value, \offset, s[40:43], 0 offen
.endm

# s[\to], or s[\to:\to+1], = the pointer at byte \byte of the arguments.
.macro pointer to, args, byte
    .if64
        s_load_dwordx2 s[\to:\to+1], s[\args:\args+1], (\byte)*SMUL/4
    .else
        s_load_dword s[\to], s[\args:\args+1], (\byte)*SMUL/4
    .endif
.endm

# v2 = 4 * (64 * group + local id)
.macro place group
    s_lshl_b32 s30, \group, 6
    .ifarch gfx9
        v_add_u32 v2, s30, v0
    .else
        v_add_u32 v2, vcc, s30, v0
    .endif
    v_lshlrev_b32 v2, 2, v2
.endm

.bssdata align=16
results:
    .skip 1024
.globaldata
constants:
    .int 3, 1000, 7

# No features: the scratch descriptor and the group id. Results go to memory of the program.
.kernel none
    .config
        .dims x
    .text
        place s[4+MORE]
        s_mov_b32 s10, (results+0)&0xffffffff
        .if64
            s_mov_b32 s11, results>>32
        .endif
        s_mov_b32 s12, (constants+4)%0x100000000
        .if64
            s_mov_b32 s13, (constants+4)/0x100000000
        .else
            s_mov_b32 s13, 0
        .endif
        s_load_dword s14, s[12:13], 0
        s_waitcnt lgkmcnt(0)
        s_mul_i32 s14, s14, s[4+MORE]
        .ifarch gfx9
            v_add_u32 v3, s14, v0
        .else
            v_add_u32 v3, vcc, s14, v0
        .endif
        store v3, v2, 10
        s_endpgm

# Arguments: copies what the first kernel has left.
.kernel fetch
    .config
        .dims x
        .useargs
        .setupargs
        .arg out, uint*, global
    .text
        pointer 10, 4, FIRST
        place s[6+MORE]
        s_mov_b32 s40, results&0xffffffff
        .if64
            s_mov_b32 s41, results>>32
            s_and_b32 s41, s41, 0xffff
        .else
            s_mov_b32 s41, 0
        .endif
        s_mov_b32 s42, -1
        s_mov_b32 s43, 0x8027fac
        buffer_load_dword v3, v2, s[40:43], 0 offen
        s_waitcnt vmcnt(0) & lgkmcnt(0)
        store v3, v2, 10
        s_endpgm

# The dispatch packet: dwords 0 to 5 of it, then 100 * global id with the offset.
.kernel setup
    .config
        .dims xy, xy
        .usesetup
        .setupargs
        .arg out, uint*, global
    .text
        s_load_dwordx4 s[12:15], s[4:5], 0
        s_load_dwordx2 s[16:17], s[4:5], 4*SMUL
        s_load_dword s18, s[6:7], 0
        pointer 20, 6, FIRST
        s_waitcnt lgkmcnt(0)
        .for i=0, i<6, i+1
            v_mov_b32 v4, 4*i
            v_mov_b32 v3, s[12+i]
            store v3, v4, 20
        .endr
        # x + 16 * group, and the row: y + 2 * group
        s_lshl_b32 s30, s[8+MORE], 4
        s_add_u32 s30, s30, s18
        s_lshl_b32 s31, s[9+MORE], 1
        .ifarch gfx9
            v_add_u32 v3, s30, v0
            v_add_u32 v5, s31, v1
        .else
            v_add_u32 v3, vcc, s30, v0
            v_add_u32 v5, vcc, s31, v1
        .endif
        v_mul_u32_u24 v3, 100, v3
        s_sub_u32 s30, s30, s18
        .ifarch gfx9
            v_add_u32 v6, s30, v0
            v_lshlrev_b32 v5, 5, v5
            v_add_u32 v6, v5, v6
        .else
            v_add_u32 v6, vcc, s30, v0
            v_lshlrev_b32 v5, 5, v5
            v_add_u32 v6, vcc, v5, v6
        .endif
        v_lshlrev_b32 v6, 2, v6
        s_add_u32 s20, s20, 64
        .if64
            s_addc_u32 s21, s21, 0
        .endif
        store v3, v6, 20
        s_endpgm

# Scratch through its descriptor and the wave's offset.
.kernel enqueue
    .config
        .dims x
        .useenqueue
        .scratchbuffer 32
        .setupargs
        .arg out, uint*, global
    .text
        pointer 20, 6, FIRST
        place s10
        v_mul_u32_u24 v3, 3, v2
        buffer_store_dword v3, v0, s[0:3], s11 offset:12
        v_mov_b32 v4, 77
        buffer_store_dword v4, v0, s[0:3], s11 offset:16
        s_waitcnt vmcnt(0)
        buffer_load_dword v5, v0, s[0:3], s11 offset:12
        s_waitcnt vmcnt(0) & lgkmcnt(0)
        store v5, v2, 20
        s_endpgm

# Generic pointers: LDS and scratch through FLAT, by the apertures of the queue.
.kernel generic
    .config
        .dims x
        .usegeneric
        .localsize 256
        .scratchbuffer 32
        .setupargs
        .arg out, uint*, global
    .text
        .ifarch gfx9
            s_add_u32 flat_scratch_lo, s10, s13
            s_addc_u32 flat_scratch_hi, s11, 0
        .else
            s_add_u32 s10, s10, s13
            s_lshr_b32 flat_scratch_hi, s10, 8
            s_mov_b32 flat_scratch_lo, s11
        .endif
        s_load_dwordx2 s[16:17], s[6:7], 16*SMUL
        pointer 20, 8, FIRST
        place s12
        s_mov_b32 m0, 0x10000
        v_lshlrev_b32 v3, 2, v0
        v_mul_u32_u24 v4, 5, v0
        ds_write_b32 v3, v4
        v_mul_u32_u24 v5, 1000, v0
        buffer_store_dword v5, v0, s[0:3], s13 offset:8
        s_waitcnt vmcnt(0) & lgkmcnt(0)
        v_mov_b32 v7, s16
        v_mov_b32 v6, v3
        flat_load_dword v8, v[6:7]
        v_mov_b32 v9, 8
        v_mov_b32 v10, s17
        flat_load_dword v11, v[9:10]
        s_waitcnt vmcnt(0) & lgkmcnt(0)
        .ifarch gfx9
            v_add_u32 v8, v8, v11
        .else
            v_add_u32 v8, vcc, v8, v11
        .endif
        store v8, v2, 20
        s_endpgm

# Arguments of all sizes: each at the next multiple of its alignment, structures by reference, local memory by offset.
.kernel args
    .config
        .dims x
        .useargs
        .localsize 12
        .setupargs
        .arg c, char
        .arg s, ushort
        .arg v, uint3
        .arg st, "pair", structure, 12
        .arg l, float4*, local
        .arg out, uint*, global, restrict
        .arg last, uchar
    .text
        C = FIRST
        V = FIRST + 4
        ST = (V + 16 + W - 1) & ~(W - 1)
        L = ST + W
        OUT = L + W
        LAST = OUT + W
        pointer 20, 4, OUT
        s_load_dword s12, s[4:5], C*SMUL/4
        s_load_dwordx2 s[24:25], s[4:5], V*SMUL/4
        s_load_dword s26, s[4:5], (V+8)*SMUL/4
        s_mov_b32 s31, 0
        pointer 30, 4, ST
        s_load_dword s16, s[4:5], L*SMUL/4
        s_load_dword s17, s[4:5], LAST*SMUL/4
        s_waitcnt lgkmcnt(0)
        s_load_dwordx2 s[14:15], s[30:31], 0
        s_load_dword s13, s[30:31], 2*SMUL
        s_waitcnt lgkmcnt(0)
        s_and_b32 s17, s17, 0xff
        s_mov_b32 s27, s13
        n = 0
        .irp reg, s12, s24, s25, s26, s14, s15, s27, s16, s17
            v_mov_b32 v3, \reg
            v_mov_b32 v4, n
            store v3, v4, 20
            n = n + 4
        .endr
        s_endpgm

# Device-side enqueue: fills in the first slot of the queue as drivers' code does, for the next kernel, whose number leads
# to it in the queue's table.
.kernel parent
    .config
        .dims x
        .useenqueue
        .setupargs
        .arg out, uint*, global
    .text
        CHILD = 7
        SLOT = 64
        PACKET = SLOT + 64
        pointer 12, 6, 4*W
        pointer 14, 6, 5*W
        pointer 16, 6, FIRST
        s_waitcnt lgkmcnt(0)
        .if64
        .else
            s_mov_b32 s13, 0
            s_mov_b32 s15, 0
            s_mov_b32 s17, 0
        .endif
        s_load_dwordx2 s[18:19], s[12:13], 24*SMUL/4
        s_load_dwordx2 s[20:21], s[12:13], 48*SMUL/4
        s_load_dwordx2 s[24:25], s[12:13], (PACKET+40)*SMUL/4
        s_waitcnt lgkmcnt(0)
        s_load_dwordx2 s[22:23], s[20:21], (8*CHILD)*SMUL/4
        s_waitcnt lgkmcnt(0)
        .macro fill word, at, lo
            v_mov_b32 v3, \word
            v_mov_b32 v4, \at
            store v3, v4, \lo
        .endm
        # The slot is taken; its arguments are a global offset of 5 and the buffer.
        fill 1, 0, 18
        fill 5, 0, 24
        fill s16, FIRST, 24
        .if64
            fill s17, FIRST+4, 24
        .endif
        # Command 1 without an event, of this kernel; 128 work-items in work-groups of 64.
        fill 1, SLOT+8, 12
        fill s14, SLOT+24, 12
        fill s15, SLOT+28, 12
        fill 0x10a02, PACKET, 12
        fill 0x10040, PACKET+4, 12
        fill 1, PACKET+8, 12
        fill 128, PACKET+12, 12
        fill 1, PACKET+16, 12
        fill 1, PACKET+20, 12
        fill s22, PACKET+32, 12
        fill s23, PACKET+36, 12
        # One child more, and the slot is ready.
        fill 1, 12, 14
        s_waitcnt vmcnt(0)
        fill 2, SLOT, 12
        s_endpgm

# out[i] = 3 * (i + global offset)
.kernel child
    .config
        .dims x
        .useargs
        .setupargs
        .arg out, uint*, global
    .text
        s_load_dword s20, s[4:5], 0
        pointer 10, 4, FIRST
        place s[6+MORE]
        s_waitcnt lgkmcnt(0)
        v_lshrrev_b32 v3, 2, v2
        .ifarch gfx9
            v_add_u32 v3, s20, v3
        .else
            v_add_u32 v3, vcc, s20, v3
        .endif
        v_mul_u32_u24 v3, 3, v3
        store v3, v2, 10
        s_endpgm
