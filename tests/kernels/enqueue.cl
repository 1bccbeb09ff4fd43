// Kernels that enqueue kernels. What each leaves in `out` is worked out in crates/console/tests/enqueue.rs.

// Every work-item has a child that adds to n places.
kernel void sum(global uint *out, uint n) {
    uint i = get_global_id(0);
    ndrange_t range = ndrange_1D(n);
    int status = enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, range, ^{
        atomic_add(&out[get_global_id(0)], i + 1);
    });
    out[n + i] = status == CLK_SUCCESS ? 100 + i : 0;
}

// Offsets and three dimensions; the child knows its sizes.
kernel void shape(global uint *out) {
    const size_t offset[3] = {1, 2, 3}, global_size[3] = {8, 4, 2}, local_size[3] = {4, 2, 1};
    ndrange_t range = ndrange_3D(offset, global_size, local_size);
    enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, range, ^{
        uint x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
        uint at = (x - 1) + 8 * ((y - 2) + 4 * (z - 3));
        out[at] = x + 100 * y + 10000 * z + 1000000 * get_work_dim() + 10000000 * get_num_groups(1);
    });
}

void tree(global uint *out, uint depth, uint node) {
    out[node] = 1000 * depth + node;
    if (depth == 0)
        return;
    for (uint side = 0; side < 2; side++) {
        uint child = 2 * node + 1 + side;
        enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(1), ^{
            out[child] = 1000 * (depth - 1) + child;
            if (depth > 1)
                enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(2), ^{
                    uint last = 2 * child + 1 + get_global_id(0);
                    out[last] = 1000 * (depth - 2) + last;
                });
        });
    }
}

// Children of children.
kernel void nested(global uint *out) {
    tree(out, 2, 0);
}

// Local memory for a child: two arrays behind its own.
kernel void locals(global uint *out) {
    void (^child)(local void *, local void *) = ^(local void *a, local void *b) {
        local uint *first = a;
        local ulong *second = b;
        uint i = get_local_id(0);
        first[i] = 3 * i;
        second[i] = 5 * i;
        barrier(CLK_LOCAL_MEM_FENCE);
        out[i] = first[63 - i] + (uint)second[(i + 1) % 64];
    };
    enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(64, 64), child, 256, 512);
}

// Children in an order that events impose: the last one comes first in the queue, behind an event of the program's.
kernel void ordered(global uint *out) {
    queue_t queue = get_default_queue();
    ndrange_t one = ndrange_1D(1);
    clk_event_t gate = create_user_event();
    clk_event_t last, first, second, marker;
    enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, one, 1, &gate, &last, ^{ out[0] = out[0] * 10 + 4; });
    enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, one, 0, 0, &first, ^{ out[0] = out[0] * 10 + 1; });
    enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, one, 1, &first, &second, ^{ out[0] = out[0] * 10 + 2; });
    enqueue_marker(queue, 1, &second, &marker);
    enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, one, 1, &marker, 0, ^{
        out[0] = out[0] * 10 + 3;
        set_user_event_status(gate, CL_COMPLETE);
    });
    out[1] = is_valid_event(gate);
    release_event(first);
    release_event(second);
    release_event(marker);
    release_event(last);
}

// A child of what has failed does not run.
kernel void failed(global uint *out) {
    clk_event_t gate = create_user_event();
    clk_event_t event;
    set_user_event_status(gate, -5);
    enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), 1, &gate, &event, ^{ out[0] = 1; });
    enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), 1, &event, 0, ^{ out[1] = 1; });
    enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), ^{ out[2] = 1; });
}

// Nothing completes the event.
kernel void stuck(global uint *out) {
    clk_event_t gate = create_user_event();
    enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), 1, &gate, 0, ^{ out[0] = 1; });
}

// More children than the queue has slots for: those that do not fit are told so.
kernel void full(global uint *out) {
    int status = enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), ^{
        atomic_inc(&out[0]);
    });
    if (status != CLK_SUCCESS)
        atomic_inc(&out[1]);
}

// A queue that is an argument, with local memory, events and times.
kernel void given(queue_t queue, global uint *out, global ulong *times) {
    clk_event_t event;
    enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(64, 64), 0, 0, &event, ^(local void *a) {
        local uint *array = a;
        array[get_local_id(0)] = get_global_id(0);
        barrier(CLK_LOCAL_MEM_FENCE);
        out[get_global_id(0)] = 2 * array[63 - get_local_id(0)];
    }, 256);
    capture_event_profiling_info(event, CLK_PROFILING_COMMAND_EXEC_TIME, times);
    release_event(event);
}
