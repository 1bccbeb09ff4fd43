// options: -triple=amdgcn-amd-amdhsa -mcpu=gfx906 --amdhsa-code-object-version=4
        .amdgpu_metadata
---
amdhsa.version:  [ 1, 1 ]
amdhsa.target:   amdgcn-amd-amdhsa--gfx906
amdhsa.printf:   [ '1:1:4:%d' ]
amdhsa.kernels:
  - .symbol: k.kd
    .name: k
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 8
    .vgpr_count: 4
    .max_flat_workgroup_size: 256
...
        .end_amdgpu_metadata
        .long 1
