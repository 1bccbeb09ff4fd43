// options: -triple=amdgcn-amd-amdhsa -mcpu=gfx90a -mattr=-xnack,+sramecc
        .amdgcn_target "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"
        .amdhsa_code_object_version 5
        .text
        .globl  saxpy
        .p2align 8
        .type   saxpy,@function
saxpy:
        .long   0xbf810000
.Lsaxpy_end:
        .size   saxpy, .Lsaxpy_end-saxpy
        .protected later
        .weak   later
        .p2align 8
        .type   later,@function
later:
        .long   0xbf810000

        .section .rodata,"a",@progbits
        .p2align 6
        .amdhsa_kernel saxpy
                .amdhsa_group_segment_fixed_size 4*256
                .amdhsa_kernarg_size 32
                .amdhsa_user_sgpr_kernarg_segment_ptr 1
                .amdhsa_user_sgpr_dispatch_ptr 1
                .amdhsa_system_vgpr_workitem_id 2
                .amdhsa_next_free_vgpr 61
                .amdhsa_next_free_sgpr 34
                .amdhsa_accum_offset 32
                .amdhsa_reserve_vcc 0
                .amdhsa_reserve_xnack_mask 0
                .amdhsa_tg_split 1
                .amdhsa_uses_dynamic_stack 1
        .end_amdhsa_kernel
        // Values that are only known at the end.
        .p2align 6
        .amdhsa_kernel later
                .amdhsa_private_segment_fixed_size scratch
                .amdhsa_next_free_vgpr vgprs + 1
                .amdhsa_float_round_mode_32 mode ; a comment
                .amdhsa_next_free_sgpr max(vgprs, 3)
                .amdhsa_accum_offset vgprs
                .amdhsa_reserve_flat_scratch mode - 1

                .amdhsa_exception_int_div_zero mode - 1
        .end_amdhsa_kernel
        .set    scratch, 64
        .set    vgprs, 8
        .set    mode, 2
