// For a bundle of code objects: no headers are needed.
#define __global__ __attribute__((global))

extern "C" __global__ void fill(unsigned *out, unsigned value) {
  unsigned i = __builtin_amdgcn_workitem_id_x();
  out[64 * __builtin_amdgcn_workgroup_id_x() + i] = value + i;
}
