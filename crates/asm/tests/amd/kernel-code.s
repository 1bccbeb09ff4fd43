// options: -triple=amdgcn-mesa-mesa3d -mcpu=gfx802
.amdgpu_hsa_kernel k
.p2align 8
k:
.amd_kernel_code_t
        kernel_code_version_major = 1
        compute_pgm_rsrc1_vgprs = count
        compute_pgm_rsrc1_sgprs = 3
        priority = 1
        enable_sgpr_workgroup_id_x = count
        is_ptr64 = 1
        is_dynamic_callstack = count
        max_scratch_backing_memory_byte_size = 12
        workitem_private_segment_byte_size = 4 * count
        kernarg_segment_byte_size = 0x10
        wavefront_sgpr_count = count + 1
        workitem_vgpr_count = 7
        call_convention = -1
.end_amd_kernel_code_t
.long 0xbf810000
.set count, 1
.byte .option.machine_version_major, .kernel.vgpr_count
