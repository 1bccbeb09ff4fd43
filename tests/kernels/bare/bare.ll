; Kernels for no operating system (amdgcn--) and a compute shader for AMD's graphics drivers (amdgcn-amd-amdpal): LLVM tells
; their registers in .AMDGPU.config and in PAL's metadata.

define amdgpu_kernel void @scale(ptr addrspace(1) %p, i32 %factor) #0 {
  %item = call i32 @llvm.amdgcn.workitem.id.x()
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %first = mul i32 %group, 64
  %index = add i32 %first, %item
  %at = getelementptr i32, ptr addrspace(1) %p, i32 %index
  %old = load i32, ptr addrspace(1) %at
  %new = mul i32 %old, %factor
  store i32 %new, ptr addrspace(1) %at
  ret void
}

; The size of the grid in x lies in front of the arguments.
define amdgpu_kernel void @grid(ptr addrspace(1) %p) {
  %size = call i32 @llvm.r600.read.global.size.x()
  store i32 %size, ptr addrspace(1) %p
  ret void
}

declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.r600.read.global.size.x()

attributes #0 = { "amdgpu-no-dispatch-ptr" "amdgpu-no-dispatch-id" "amdgpu-no-queue-ptr" "amdgpu-no-workgroup-id-y" "amdgpu-no-workgroup-id-z" "amdgpu-no-workitem-id-y" "amdgpu-no-workitem-id-z" }
