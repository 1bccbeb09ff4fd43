//! Programs that say too much: sizes, offsets and pointers beyond what there is are error codes, and nothing is written.

use crate::abi::*;
use crate::buffer::*;
use crate::event::Event;
use crate::handle::Handle;
use crate::kernel::*;
use crate::svm::*;
use crate::svm_commands::*;
use crate::tests::{bytes, made, rig};
use crate::transfer::*;

const NONE: Out<Handle<Event>> = Out::NULL;

fn list(of: &[usize; 3]) -> In<usize> {
    In::of(of.as_ptr() as u64)
}

/// Memory that host and kernels share has an end for commands, too.
#[test]
fn shared_memory_ends_where_it_ends() {
    let rig = rig(0);
    let memory = Bytes::at(clSVMAlloc(rig.context, 1, 256, 0) as u64);
    let part = |offset: u64| Bytes::at(memory.address() + offset);
    let mut mine = [0u8; 512];
    let own = Bytes::at(mine.as_mut_ptr() as u64);
    let copy = |to, from, size| clEnqueueSVMMemcpy(rig.queue, 1, to, from, size, 0, In::NULL, NONE);
    assert_eq!(copy(own, memory, 256), Code::SUCCESS);
    assert_eq!(copy(part(255), own, 1), Code::SUCCESS);
    assert_eq!(copy(own, memory, 257), Code::INVALID_VALUE);
    assert_eq!(copy(part(255), own, 2), Code::INVALID_VALUE);
    assert_eq!(copy(memory, own, usize::MAX), Code::INVALID_VALUE);
    let pattern = 7u32;
    let fill = |to, size| clEnqueueSVMMemFill(rig.queue, to, bytes(&pattern), 4, size, 0, In::NULL, NONE);
    assert_eq!(fill(part(128), 128), Code::SUCCESS);
    assert_eq!(fill(part(128), 132), Code::INVALID_VALUE);
    assert_eq!(clEnqueueSVMMap(rig.queue, 1, 1, memory, 257, 0, In::NULL, NONE), Code::INVALID_VALUE);
    // A buffer in it is no longer than it.
    let mut code = Code::SUCCESS;
    let wrong = Out::of(std::ptr::from_mut(&mut code) as u64);
    clCreateBuffer(rig.context, 1 | 1 << 3, 257, memory, wrong);
    assert_eq!(code, Code::INVALID_HOST_PTR);
    made(|e| clCreateBuffer(rig.context, 1 | 1 << 3, 256, memory, e));
}

/// Sums and products of what a program says do not wrap around.
#[test]
fn numbers_without_end() {
    const MOST: usize = usize::MAX;
    let rig = rig(0);
    let buffer = rig.buffer(&[7; 64]);
    let mut mine = [0u8; 512];
    let own = Bytes::at(mine.as_mut_ptr() as u64);
    let all = [0, 1, 2, 255, 256, 257, 1 << 32, 1 << 63, MOST - 256, MOST - 1, MOST];
    for (offset, size) in all.into_iter().flat_map(|a| all.map(|b| (a, b))) {
        if offset.checked_add(size).is_some_and(|end| end <= 256) {
            continue;
        }
        let read = clEnqueueReadBuffer(rig.queue, buffer, 1, offset, size, own, 0, In::NULL, NONE);
        let write = clEnqueueWriteBuffer(rig.queue, buffer, 1, offset, size, own, 0, In::NULL, NONE);
        let copy = clEnqueueCopyBuffer(rig.queue, buffer, buffer, offset, 0, size, 0, In::NULL, NONE);
        assert_eq!([read, write, copy], [Code::INVALID_VALUE; 3], "{offset:#x} {size:#x}");
    }
    for (n, pitch) in all.into_iter().filter(|n| *n > 256).flat_map(|a| all.map(|b| (a, b))) {
        for i in 0..3 {
            let (mut origin, mut region) = ([0; 3], [1; 3]);
            (if n & 1 == 0 { &mut origin } else { &mut region })[i] = n;
            for (row, slice) in [(pitch, 0), (0, pitch), (pitch, pitch)] {
                let (origin, zero, region) = (list(&origin), list(&[0; 3]), list(&region));
                let read = clEnqueueReadBufferRect(
                    rig.queue,
                    buffer,
                    1,
                    origin,
                    zero,
                    region,
                    row,
                    slice,
                    0,
                    0,
                    own,
                    0,
                    In::NULL,
                    NONE,
                );
                assert_eq!(read, Code::INVALID_VALUE, "{n:#x} in {i}, pitches {row:#x} {slice:#x}");
            }
        }
    }
    // The program's own side: what would lie beyond all addresses.
    let (far, one) = ([MOST, 0, 0], [1; 3]);
    let (zero, far, one) = (list(&[0; 3]), list(&far), list(&one));
    let read =
        clEnqueueReadBufferRect(rig.queue, buffer, 1, zero, far, one, 0, 0, 0, 0, own, 0, In::NULL, NONE);
    assert_eq!(read, Code::INVALID_VALUE);
    // Sub-groups of a work-group that there cannot be.
    let sizes = [MOST; 3];
    let mut answer = 0usize;
    let to = Bytes::at(std::ptr::from_mut(&mut answer) as u64);
    for (name, wanted) in [(0x2033, 64), (0x2034, MOST.div_ceil(64))] {
        let asked =
            clGetKernelSubGroupInfo(rig.kernel, rig.device, name, 24, bytes(&sizes), 8, to, Out::NULL);
        assert_eq!((asked, answer), (Code::SUCCESS, wanted));
    }
    // More dimensions than there are, of which as many numbers would be read.
    assert_eq!(clSetKernelArg(rig.kernel, 0, 8, bytes(&buffer)), Code::SUCCESS);
    assert_eq!(clSetKernelArg(rig.kernel, 1, 4, bytes(&1u32)), Code::SUCCESS);
    for dimensions in [0, 4, u32::MAX] {
        let run = crate::enqueue::clEnqueueNDRangeKernel(
            rig.queue,
            rig.kernel,
            dimensions,
            one,
            one,
            one,
            0,
            In::NULL,
            NONE,
        );
        assert_eq!(run, Code::INVALID_WORK_DIMENSION);
    }
    // A place for a pointer that lies before the arguments.
    extern "C" fn nothing(_: Data) {}
    let place = own.address().wrapping_sub(4);
    for place in [place, own.address() + 60, u64::MAX] {
        let native = crate::enqueue::clEnqueueNativeKernel(
            rig.queue,
            Some(nothing),
            own,
            64,
            1,
            In::of(std::ptr::from_ref(&buffer) as u64),
            In::of(std::ptr::from_ref(&place) as u64),
            0,
            In::NULL,
            NONE,
        );
        assert_eq!(native, Code::INVALID_VALUE);
    }
    assert_eq!(rig.read(buffer, 64), [7; 64]);
}
