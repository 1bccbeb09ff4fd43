// options: -triple=amdgcn--amdpal -mcpu=gfx803
.amd_amdgpu_pal_metadata 0x2e12, 1, 0x10000000, 0x12345678
.amd_amdgpu_pal_metadata 0x2e12, 0x40
.amd_amdgpu_isa "amdgcn-unknown-amdpal--gfx803"
