// Writes tiles.txt: where AMD's own address library puts elements of images with tiles or levels.
//
// With the sources of Mesa (22.3.6: src/amd/addrlib) in $MESA, all of addrlib's .cpp files compiled with
//   -DADDR_FASTCALL= -DLITTLEENDIAN_CPU -I addrlib/{inc,src,src/core,src/chip/*} -I src -I src/amd -I include
//   g++ make.cpp -I $MESA/src/amd/addrlib/inc -I $MESA/src/amd/addrlib/src addrlib/*.o && ./a.out > tiles.txt
//
// A line has the generation, the swizzle mode (GFX9) or the tile index (before), bytes of an element, what drivers write
// as pitch (elements from row to row; of several levels, sometimes the height of all), width, height, slices, levels, and
// then elements: x, y, slice, level and byte offset.

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "addrinterface.h"
#include "amdgpu_asic_addr.h"

static void *allocate(const ADDR_ALLOCSYSMEM_INPUT *in) { return malloc(in->sizeInBytes); }

static ADDR_E_RETURNCODE release(const ADDR_FREESYSMEM_INPUT *in) {
    free(in->pVirtAddr);
    return ADDR_OK;
}

static void must(ADDR_E_RETURNCODE r, const char *what) {
    if (r != ADDR_OK) {
        fprintf(stderr, "%s: %d\n", what, r);
        exit(1);
    }
}

static unsigned state = 1;

static unsigned below(unsigned n) {
    state = state * 1664525 + 1013904223;
    return (state >> 8) % n;
}

static ADDR_HANDLE create(unsigned family, unsigned revision, unsigned config, bool old) {
    ADDR_CREATE_INPUT in = {};
    ADDR_CREATE_OUTPUT out = {};
    in.size = sizeof in;
    out.size = sizeof out;
    // Southern Islands and what is like them, or Arctic Islands.
    in.chipEngine = old ? 0xa : 0xd;
    in.chipFamily = family;
    in.chipRevision = revision;
    in.callbacks.allocSysMem = allocate;
    in.callbacks.freeSysMem = release;
    in.regValue.gbAddrConfig = config;
    // The tables of the Linux drivers, as far as needed: ARRAY_1D_TILED_THIN1 is array mode 2 (bits 5:2). The order in
    // a tile is in bits 1:0 or 24:22: 0 for displays, 1 thin.
    static UINT_32 tiles[32], macros[16];
    for (unsigned &t : tiles) {
        t = 1 << 2;
    }
    tiles[9] = 2 << 2;
    tiles[13] = 2 << 2 | (family == FAMILY_SI ? 1 : 1 << 22);
    if (old) {
        in.createFlags.useTileIndex = 1;
        in.regValue.backendDisables = 1;
        in.regValue.pTileConfig = tiles;
        in.regValue.noOfEntries = 32;
        in.regValue.pMacroTileConfig = family == FAMILY_SI ? nullptr : macros;
        in.regValue.noOfMacroEntries = family == FAMILY_SI ? 0 : 16;
    }
    must(AddrCreate(&in, &out), "AddrCreate");
    return out.hLib;
}

static unsigned part(unsigned size, unsigned level) { return size >> level ? size >> level : 1; }

static void gfx9(ADDR_HANDLE lib, unsigned mode, unsigned bytes, unsigned width, unsigned height, bool levels) {
    ADDR2_COMPUTE_SURFACE_INFO_INPUT info = {};
    ADDR2_COMPUTE_SURFACE_INFO_OUTPUT got = {};
    info.size = sizeof info;
    got.size = sizeof got;
    info.swizzleMode = (AddrSwizzleMode)mode;
    info.resourceType = ADDR_RSRC_TEX_2D;
    info.flags.texture = 1;
    info.format = ADDR_FMT_INVALID;
    info.bpp = 8 * bytes;
    info.width = width;
    info.height = height;
    info.numSlices = 3;
    info.numMipLevels = 1;
    while (levels && (width | height) >> info.numMipLevels) {
        info.numMipLevels++;
    }
    info.numSamples = info.numFrags = 1;
    must(Addr2ComputeSurfaceInfo(lib, &info, &got), "a surface");
    ADDR2_COMPUTE_SURFACE_ADDRFROMCOORD_INPUT in = {};
    in.size = sizeof in;
    in.swizzleMode = info.swizzleMode;
    in.resourceType = info.resourceType;
    in.flags = info.flags;
    in.bpp = info.bpp;
    in.unalignedWidth = info.width;
    in.unalignedHeight = info.height;
    in.numSlices = info.numSlices;
    in.numMipLevels = info.numMipLevels;
    in.numSamples = in.numFrags = 1;
    unsigned pitch = got.epitchIsHeight ? got.mipChainHeight : got.mipChainPitch;
    if (!levels) {
        // Sometimes more than is needed.
        in.pitchInElement = pitch += below(2) * got.blockWidth;
    }
    printf("gfx9 %u %u %u %u %u %u %u", mode, bytes, pitch, width, height, info.numSlices, info.numMipLevels);
    for (int i = 0; i < 32; i++) {
        in.mipId = below(info.numMipLevels);
        in.x = below(part(width, in.mipId));
        in.y = below(part(height, in.mipId));
        in.slice = below(info.numSlices);
        ADDR2_COMPUTE_SURFACE_ADDRFROMCOORD_OUTPUT out = {};
        out.size = sizeof out;
        must(Addr2ComputeSurfaceAddrFromCoord(lib, &in, &out), "an address");
        printf(" %u,%u,%u,%u,%llu", in.x, in.y, in.slice, in.mipId, (unsigned long long)out.addr);
    }
    printf("\n");
}

static void older(const char *name, ADDR_HANDLE lib, unsigned index, unsigned bytes) {
    ADDR_COMPUTE_SURFACE_INFO_INPUT info = {};
    ADDR_COMPUTE_SURFACE_INFO_OUTPUT got = {};
    info.size = sizeof info;
    got.size = sizeof got;
    info.tileMode = ADDR_TM_1D_TILED_THIN1;
    info.tileType = index == 9 ? ADDR_DISPLAYABLE : ADDR_NON_DISPLAYABLE;
    info.tileIndex = index;
    info.format = ADDR_FMT_INVALID;
    info.bpp = 8 * bytes;
    info.numSamples = 1;
    info.width = 20 + below(100);
    info.height = 20 + below(60);
    info.numSlices = 3;
    info.flags.texture = 1;
    must(AddrComputeSurfaceInfo(lib, &info, &got), "a surface");
    ADDR_COMPUTE_SURFACE_ADDRFROMCOORD_INPUT in = {};
    in.size = sizeof in;
    in.bpp = info.bpp;
    in.pitch = got.pitch;
    in.height = got.height;
    in.numSlices = got.depth;
    in.numSamples = 1;
    in.tileMode = info.tileMode;
    in.tileType = info.tileType;
    in.tileIndex = index;
    printf("%s %u %u %u %u %u %u 1", name, index, bytes, in.pitch, info.width, info.height, info.numSlices);
    for (int i = 0; i < 32; i++) {
        in.x = below(info.width);
        in.y = below(info.height);
        in.slice = below(info.numSlices);
        ADDR_COMPUTE_SURFACE_ADDRFROMCOORD_OUTPUT out = {};
        out.size = sizeof out;
        must(AddrComputeSurfaceAddrFromCoord(lib, &in, &out), "an address");
        printf(" %u,%u,%u,0,%llu", in.x, in.y, in.slice, (unsigned long long)out.addr);
    }
    printf("\n");
}

int main() {
    ADDR_HANDLE vega = create(FAMILY_AI, 1, 0x2a114042, false);
    ADDR_HANDLE old[] = {
        create(FAMILY_SI, 5, 0x12010002, true),
        create(FAMILY_CI, 40, 0x12011003, true),
        create(FAMILY_VI, 80, 0x22011003, true),
    };
    const char *names[] = {"gfx6", "gfx7", "gfx8"};
    for (unsigned bytes = 1; bytes <= 16; bytes *= 2) {
        // Linear.
        gfx9(vega, 0, bytes, 100 + below(300), 20 + below(80), true);
        gfx9(vega, 0, bytes, 20 + below(80), 100 + below(300), true);
        for (unsigned mode = 1; mode <= 11; mode++) {
            // Elements of 16 bytes are neither rotated nor in Z order, nor displayed by older processors.
            if (bytes < 16 || mode % 4 == 1 || mode % 4 == 2) {
                gfx9(vega, mode, bytes, 20 + below(280), 20 + below(200), false);
                // Blocks of 256 bytes have one level. Wide, high, and small ones, which are together from the first.
                if (mode >= 4) {
                    gfx9(vega, mode, bytes, 100 + below(300), 20 + below(80), true);
                    gfx9(vega, mode, bytes, 20 + below(80), 100 + below(300), true);
                    gfx9(vega, mode, bytes, 1 + below(16), 1 + below(16), true);
                }
            }
        }
        for (int i = 0; i < 3; i++) {
            if (bytes < 16) {
                older(names[i], old[i], 9, bytes);
            }
            older(names[i], old[i], 13, bytes);
        }
    }
}
