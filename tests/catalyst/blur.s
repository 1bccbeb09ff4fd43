# Each texel becomes the mean of the three by three around it. CLRX's assembly for Catalyst's OpenCL 2.0.
# run: --arg image:photo.png --arg image:64x48 --arg sampler:nearest,clamp_to_edge --grid 64,48 --block 8,8
.amdcl2
.64bit
.gpu Fiji
.kernel blur
    .config
        .dims xy
        .useargs
        .setupargs
        .arg from, image2d, read_only
        .arg to, image2d, write_only
        .arg how, sampler
    .text
        s_load_dwordx4 s[8:11], s[4:5], 48
        s_load_dwordx2 s[12:13], s[4:5], 64
        s_mov_b32 s40, s6
        s_mov_b32 s41, s7
        s_waitcnt lgkmcnt(0)
        s_load_dwordx8 s[16:23], s[8:9], 0
        s_load_dwordx8 s[24:31], s[10:11], 0
        s_load_dwordx4 s[32:35], s[12:13], 0
        s_lshl_b32 s40, s40, 3
        s_lshl_b32 s41, s41, 3
        v_add_u32 v0, vcc, s40, v0
        v_add_u32 v1, vcc, s41, v1
        v_cvt_f32_u32 v2, v0
        v_cvt_f32_u32 v3, v1
        v_mov_b32 v4, 0
        v_mov_b32 v5, 0
        v_mov_b32 v6, 0
        v_mov_b32 v7, 0
        s_waitcnt lgkmcnt(0)
        .irp dy, -0.5, 0.5, 1.5
            v_add_f32 v9, \dy, v3
            .irp dx, -0.5, 0.5, 1.5
                v_add_f32 v8, \dx, v2
                image_sample v[12:15], v[8:9], s[16:23], s[32:35] dmask:15
                s_waitcnt vmcnt(0)
                v_add_f32 v4, v4, v12
                v_add_f32 v5, v5, v13
                v_add_f32 v6, v6, v14
                v_add_f32 v7, v7, v15
            .endr
        .endr
        ninth = 0x3de38e39
        v_mul_f32 v4, ninth, v4
        v_mul_f32 v5, ninth, v5
        v_mul_f32 v6, ninth, v6
        v_mul_f32 v7, ninth, v7
        image_store v[4:7], v[0:1], s[24:31] dmask:15 unorm
        s_endpgm
