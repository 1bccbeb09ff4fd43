# Edges of a picture: Sobel's operator on red, green and blue, in CLRX's assembly for OpenCL 2.0 of AMD's Catalyst driver.
# run: --arg image:picture.png --arg image:160x120 --arg sampler:nearest,clamp_to_edge --grid 160,120 --block 16,4
#
# `--dump 1:edges.png` writes what came of it.
.amdcl2
.64bit
.gpu Fiji
.kernel edges
    .config
        .dims xy
        .cws 16, 4
        .useargs
        .setupargs
        .arg from, image2d, read_only
        .arg to, image2d, write_only
        .arg how, sampler
    .text
        # Arguments are handles: what they lead to is the descriptor.
        s_load_dwordx4 s[8:11], s[4:5], 48
        s_load_dwordx2 s[12:13], s[4:5], 64
        s_waitcnt lgkmcnt(0)
        s_load_dwordx8 s[16:23], s[8:9], 0
        s_load_dwordx8 s[24:31], s[10:11], 0
        s_load_dwordx4 s[32:35], s[12:13], 0
        # v[0:1]: the pixel; v[2:3]: its upper left corner.
        s_lshl_b32 s6, s6, 4
        s_lshl_b32 s7, s7, 2
        v_add_u32 v0, vcc, s6, v0
        v_add_u32 v1, vcc, s7, v1
        v_cvt_f32_u32 v2, v0
        v_cvt_f32_u32 v3, v1
        # v[4:6] change across, v[7:9] change down.
        .irp reg, v4, v5, v6, v7, v8, v9
            v_mov_b32 \reg, 0
        .endr
        s_waitcnt lgkmcnt(0)
        # The middle of a neighbour, and how much it counts in each direction.
        .macro tap x, y, across, down
            v_add_f32 v10, \x, v2
            v_add_f32 v11, \y, v3
            image_sample v[12:14], v[10:11], s[16:23], s[32:35] dmask:7
            s_waitcnt vmcnt(0)
            v_mac_f32 v4, \across, v12
            v_mac_f32 v5, \across, v13
            v_mac_f32 v6, \across, v14
            v_mac_f32 v7, \down, v12
            v_mac_f32 v8, \down, v13
            v_mac_f32 v9, \down, v14
        .endm
        tap -0.5, -0.5, -1.0, -1.0
        tap  0.5, -0.5,  0.0, -2.0
        tap  1.5, -0.5,  1.0, -1.0
        tap -0.5,  0.5, -2.0,  0.0
        tap  1.5,  0.5,  2.0,  0.0
        tap -0.5,  1.5, -1.0,  1.0
        tap  0.5,  1.5,  0.0,  2.0
        tap  1.5,  1.5,  1.0,  1.0
        v_add_f32 v4, abs(v4), abs(v7)
        v_add_f32 v5, abs(v5), abs(v8)
        v_add_f32 v6, abs(v6), abs(v9)
        v_mov_b32 v7, 1.0
        image_store v[4:7], v[0:1], s[24:31] dmask:15 unorm
        s_endpgm
