// Real calls, recursion and function pointers: the stack is in scratch memory.
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable

__attribute__((noinline)) uint twice(uint x) { return x * 2 + 1; }

__attribute__((noinline)) uint ackermann(uint m, uint n) {
  if (m == 0)
    return n + 1;
  if (n == 0)
    return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

__attribute__((noinline)) uint fibonacci(uint n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

kernel void calls(global const uint *in, global uint *out) {
  size_t i = get_global_id(0), n = get_global_size(0);
  out[i] = twice(twice(in[i]));
  out[n + i] = fibonacci(in[i] % 10);
  out[2 * n + i] = ackermann(in[i] % 3, in[i] % 4);
}

__attribute__((noinline)) uint square(uint x) { return x * x; }

typedef uint (*function)(uint);

// Lanes of a wave call different functions.
kernel void pointers(global const uint *in, global uint *out) {
  size_t i = get_global_id(0);
  function table[3] = {twice, square, fibonacci};
  out[i] = table[in[i] % 3](in[i] % 11);
}
