// Vector addition, with a grid that need not be a multiple of the work-group.
kernel void vadd(global const float *a, global const float *b, global float *c, uint n) {
  size_t i = get_global_id(0);
  if (i < n)
    c[i] = a[i] + b[i];
}

// Everything a work-item can ask about itself.
kernel void ids(global uint *out) {
  size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  size_t flat = x + get_global_size(0) * (y + get_global_size(1) * z);
  global uint *o = out + 16 * flat;
  o[0] = x;
  o[1] = y;
  o[2] = z;
  o[3] = get_local_id(0);
  o[4] = get_local_id(1);
  o[5] = get_local_id(2);
  o[6] = get_group_id(0);
  o[7] = get_group_id(1);
  o[8] = get_group_id(2);
  o[9] = get_local_size(0);
  o[10] = get_local_size(1);
  o[11] = get_local_size(2);
  o[12] = get_num_groups(0);
  o[13] = get_num_groups(1);
  o[14] = get_num_groups(2);
  o[15] = get_work_dim();
}
