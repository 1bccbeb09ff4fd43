// options: -triple=amdgcn--amdpal -mcpu=gfx900
        .amd_amdgpu_isa "amdgcn-unknown-amdpal--gfx900"
        .amdgpu_lds tile, 1024, 16
        .globl tile
        .amdgpu_lds unused, 4
        .amdgpu_pal_metadata
---
amdpal.pipelines:
  - .registers:
      0x2e12: 0x2c0041
      '0x2e13 (COMPUTE_PGM_RSRC2)': 0x90
    .api: Vulkan
...
        .end_amdgpu_pal_metadata
        .long tile + 12
