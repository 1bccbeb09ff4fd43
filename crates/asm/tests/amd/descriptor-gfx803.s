; options: -triple=amdgcn-amd-amdhsa -mcpu=gfx803 --amdhsa-code-object-version=4
.p2align 8
k:
.long 0xbf810000
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_user_sgpr_private_segment_buffer 1
  .amdhsa_user_sgpr_flat_scratch_init 1
  .amdhsa_user_sgpr_private_segment_size 1
  .amdhsa_user_sgpr_count 12
  .amdhsa_system_sgpr_private_segment_wavefront_offset 1
  .amdhsa_next_free_vgpr .amdgcn.next_free_vgpr + 3
  .amdhsa_next_free_sgpr 100
  .amdhsa_dx10_clamp 0
  .amdhsa_exception_fp_denorm_src 1
.end_amdhsa_kernel
.byte .amdgcn.gfx_generation_number, .amdgcn.gfx_generation_minor, .amdgcn.gfx_generation_stepping
