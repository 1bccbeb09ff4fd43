// Writes beyond its buffer on a line that a report can name.
__attribute__((noinline)) void put(global uint *out, size_t at, uint value) {
  out[at] = value;
}

kernel void faulty(global uint *out) {
  size_t i = get_global_id(0);
  put(out, i * 2, i);
}
