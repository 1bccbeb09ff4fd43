// One step of a bitonic sort in global memory: the host calls it for every size and stride.
kernel void bitonic_step(global int *data, uint size, uint stride) {
  uint l = get_global_id(0);
  uint i = 2 * l - (l & (stride - 1));
  bool up = (i & size) == 0;
  int p = data[i], q = data[i + stride];
  if ((p > q) == up) {
    data[i] = q;
    data[i + stride] = p;
  }
}
