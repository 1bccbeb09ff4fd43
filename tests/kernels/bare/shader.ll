; A compute shader for AMD's graphics drivers: s0 is the driver's table, s1 to s3 are user data 0 to 2 (the address of a buffer and
; a factor), s4 is the work-group's number.

define amdgpu_cs void @_amdgpu_cs_main(i32 inreg %table, i32 inreg %low, i32 inreg %high, i32 inreg %factor, i32 inreg %group, i32 %item) {
  %a = insertelement <2 x i32> poison, i32 %low, i32 0
  %b = insertelement <2 x i32> %a, i32 %high, i32 1
  %c = bitcast <2 x i32> %b to i64
  %p = inttoptr i64 %c to ptr addrspace(1)
  %first = mul i32 %group, 64
  %index = add i32 %first, %item
  %at = getelementptr i32, ptr addrspace(1) %p, i32 %index
  %old = load i32, ptr addrspace(1) %at
  %new = mul i32 %old, %factor
  store i32 %new, ptr addrspace(1) %at
  ret void
}

; COMPUTE_PGM_RSRC2 with four user SGPRs and the work-group's number in x; COMPUTE_NUM_THREAD_X to _Z; COMPUTE_USER_DATA_0 to _3.
!amdgpu.pal.metadata = !{!0}
!0 = !{i32 11795, i32 136, i32 11783, i32 64, i32 11784, i32 1, i32 11785, i32 1, i32 11840, i32 268435456, i32 11841, i32 0, i32 11842, i32 1, i32 11843, i32 2}
