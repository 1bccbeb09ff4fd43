//! The functions as programs call them, on kernels in assembly: no compiler is needed here.

use crate::abi::*;
use crate::buffer::*;
use crate::context::*;
use crate::device::*;
use crate::dispatch::*;
use crate::enqueue::*;
use crate::event::*;
use crate::handle::Handle;
use crate::kernel::*;
use crate::mapping::*;
use crate::memory::*;
use crate::platform::*;
use crate::program::*;
use crate::queue::*;
use crate::svm::*;
use crate::transfer::*;
use std::ffi::c_void;
use std::sync::atomic::{AtomicI32, Ordering};

/// Adds a number to every element: `add(global uint *data, uint amount)`.
const SOURCE: &str = r#"
.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
.text
.globl add
.p2align 8
.type add,@function
add:
  s_load_dwordx2 s[2:3], s[0:1], 0x0
  s_load_dword s5, s[0:1], 0x8
  s_lshl_b32 s4, s4, 6
  v_add_u32 v0, s4, v0
  v_lshlrev_b32 v0, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v1, v0, s[2:3]
  s_waitcnt vmcnt(0)
  v_add_u32 v1, s5, v1
  global_store_dword v0, v1, s[2:3]
  s_endpgm
.size add, .-add
.rodata
.p2align 6
.amdhsa_kernel add
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_user_sgpr_count 4
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 16
  .amdhsa_accum_offset 8
  .amdhsa_kernarg_size 16
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: add
    .symbol: add.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 64
    .reqd_workgroup_size: [64, 1, 1]
    .args:
      - { .name: data, .type_name: 'uint*', .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: amount, .type_name: uint, .offset: 8, .size: 4, .value_kind: by_value }
...
.end_amdgpu_metadata
"#;

pub fn address<T>(of: &T) -> u64 {
    std::ptr::from_ref(of) as u64
}

fn out<T>(to: &mut T) -> Out<T> {
    Out::of(std::ptr::from_mut(to) as u64)
}

pub fn bytes<T>(of: &T) -> Bytes {
    Bytes::at(address(of))
}

/// Where an answer goes.
fn room<T>(to: &mut T) -> Bytes {
    Bytes::at(std::ptr::from_mut(to) as u64)
}

const NONE: Out<Handle<Event>> = Out::NULL;
const NO_DATA: Data = Data(std::ptr::null_mut());

/// What every test begins with.
pub struct Rig {
    pub device: Handle<Device>,
    pub context: Handle<Context>,
    pub queue: Handle<Queue>,
    pub kernel: Handle<Kernel>,
    pub program: Handle<Program>,
}

pub fn made<T>(make: impl FnOnce(Out<Code>) -> Handle<T>) -> Handle<T> {
    let mut code = Code(1);
    let handle = make(out(&mut code));
    assert_eq!(code, Code::SUCCESS);
    handle
}

pub fn rig(properties: u64) -> Rig {
    let mut platform = Handle::of(0);
    assert_eq!(clIcdGetPlatformIDsKHR(1, out(&mut platform), Out::NULL), Code::SUCCESS);
    let mut device = Handle::of(0);
    assert_eq!(clGetDeviceIDs(platform, 4, 1, out(&mut device), Out::NULL), Code::SUCCESS);
    let context = made(|e| clCreateContext(In::NULL, 1, In::of(address(&device)), None, NO_DATA, e));
    let queue = made(|e| clCreateCommandQueue(context, device, properties, e));
    let object = wavemill_compile::source::assemble("test", SOURCE.into(), None, None).unwrap().object;
    let (len, pointer) = (object.len(), bytes(&object[0]));
    let program = made(|e| {
        clCreateProgramWithBinary(
            context,
            1,
            In::of(address(&device)),
            In::of(address(&len)),
            In::of(address(&pointer)),
            Out::NULL,
            e,
        )
    });
    assert_eq!(clBuildProgram(program, 0, In::NULL, Text::NULL, None, NO_DATA), Code::SUCCESS);
    let name = c"add";
    let kernel = made(|e| clCreateKernel(program, Text::of(name), e));
    Rig { device, context, queue, kernel, program }
}

impl Rig {
    pub fn buffer(&self, content: &[u32]) -> Handle<Mem> {
        made(|e| clCreateBuffer(self.context, 1 | 1 << 5, 4 * content.len(), bytes(&content[0]), e))
    }

    fn add(
        &self,
        to: Handle<Mem>,
        n: u32,
        items: usize,
        waits: &[Handle<Event>],
        event: Out<Handle<Event>>,
    ) -> Code {
        assert_eq!(clSetKernelArg(self.kernel, 0, 8, bytes(&to)), Code::SUCCESS);
        assert_eq!(clSetKernelArg(self.kernel, 1, 4, bytes(&n)), Code::SUCCESS);
        let list = if waits.is_empty() { In::NULL } else { In::of(address(&waits[0])) };
        let global = In::of(address(&items));
        clEnqueueNDRangeKernel(
            self.queue,
            self.kernel,
            1,
            In::NULL,
            global,
            In::NULL,
            waits.len() as u32,
            list,
            event,
        )
    }

    pub fn read(&self, from: Handle<Mem>, count: usize) -> Vec<u32> {
        let mut content = vec![0u32; count];
        let to = Bytes::at(content.as_mut_ptr() as u64);
        assert_eq!(
            clEnqueueReadBuffer(self.queue, from, 1, 0, 4 * count, to, 0, In::NULL, NONE),
            Code::SUCCESS
        );
        content
    }
}

#[test]
fn a_kernel_runs_and_its_result_is_read() {
    let rig = rig(2);
    let content: Vec<u32> = (0..256).collect();
    let buffer = rig.buffer(&content);
    let mut event = Handle::of(0);
    assert_eq!(rig.add(buffer, 5, 256, &[], out(&mut event)), Code::SUCCESS);
    assert_eq!(rig.add(buffer, 100, 128, &[], NONE), Code::SUCCESS);
    let want: Vec<u32> = content.iter().map(|n| n + 5 + if *n < 128 { 100 } else { 0 }).collect();
    assert_eq!(rig.read(buffer, 256), want);
    let mut times = [0u64; 4];
    for (i, time) in times.iter_mut().enumerate() {
        let to = Bytes::at(std::ptr::from_mut(time) as u64);
        assert_eq!(clGetEventProfilingInfo(event, 0x1280 + i as u32, 8, to, Out::NULL), Code::SUCCESS);
    }
    assert!(times.is_sorted() && times[0] > 0, "{times:?}");
    // A grid that the work-group does not divide, a wrong work-group, no arguments.
    assert_eq!(rig.add(buffer, 5, 100, &[], NONE), Code::INVALID_WORK_GROUP_SIZE);
    let (global, local) = (64usize, 32usize);
    let run = |kernel| {
        clEnqueueNDRangeKernel(
            rig.queue,
            kernel,
            1,
            In::NULL,
            In::of(address(&global)),
            In::of(address(&local)),
            0,
            In::NULL,
            NONE,
        )
    };
    assert_eq!(run(rig.kernel), Code::INVALID_WORK_GROUP_SIZE);
    let fresh = made(|e| clCreateKernel(rig.program, Text::of(c"add"), e));
    assert_eq!(run(fresh), Code::INVALID_KERNEL_ARGS);
    let mut code = Code::SUCCESS;
    clCreateKernel(rig.program, Text::of(c"sub"), out(&mut code));
    assert_eq!(code, Code::INVALID_KERNEL_NAME);
}

#[test]
fn out_of_order_commands_wait_for_events_only() {
    let rig = rig(1);
    let buffer = rig.buffer(&[0; 64]);
    let user = made(|e| clCreateUserEvent(rig.context, e));
    let (mut first, mut second) = (Handle::of(0), Handle::of(0));
    assert_eq!(rig.add(buffer, 1, 64, &[user], out(&mut first)), Code::SUCCESS);
    // This one does not wait, although it comes later.
    assert_eq!(rig.add(buffer, 10, 64, &[], out(&mut second)), Code::SUCCESS);
    assert_eq!(clWaitForEvents(1, In::of(address(&second))), Code::SUCCESS);
    let mut status = 7i32;
    let ask = |event, status: &mut i32| {
        clGetEventInfo(event, 0x11d3, 4, Bytes::at(std::ptr::from_mut(status) as u64), Out::NULL)
    };
    assert_eq!(ask(first, &mut status), Code::SUCCESS);
    assert!(status > 0, "{status}");
    assert_eq!(clSetUserEventStatus(user, 0), Code::SUCCESS);
    assert_eq!(clSetUserEventStatus(user, 0), Code::INVALID_OPERATION);
    assert_eq!(clFinish(rig.queue), Code::SUCCESS);
    assert_eq!(rig.read(buffer, 64), [11; 64]);
    // What waits for something that has failed fails.
    let user = made(|e| clCreateUserEvent(rig.context, e));
    assert_eq!(rig.add(buffer, 1, 64, &[user], out(&mut first)), Code::SUCCESS);
    assert_eq!(clSetUserEventStatus(user, -5), Code::SUCCESS);
    assert_eq!(clWaitForEvents(1, In::of(address(&first))), Code::EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_eq!(ask(first, &mut status), Code::SUCCESS);
    assert_eq!(status, Code::EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST.0);
}

static CALLED: AtomicI32 = AtomicI32::new(100);

extern "C" fn called(_: Handle<Event>, status: i32, _: Data) {
    CALLED.store(status, Ordering::SeqCst);
}

#[test]
fn callbacks_barriers_and_markers() {
    let rig = rig(1);
    let buffer = rig.buffer(&[1; 64]);
    let user = made(|e| clCreateUserEvent(rig.context, e));
    assert_eq!(rig.add(buffer, 1, 64, &[user], NONE), Code::SUCCESS);
    assert_eq!(clEnqueueBarrier(rig.queue), Code::SUCCESS);
    let mut event = Handle::of(0);
    assert_eq!(rig.add(buffer, 2, 64, &[], out(&mut event)), Code::SUCCESS);
    assert_eq!(clSetEventCallback(event, 0, Some(called), NO_DATA), Code::SUCCESS);
    // The barrier keeps the second kernel back.
    std::thread::sleep(std::time::Duration::from_millis(20));
    assert_eq!(CALLED.load(Ordering::SeqCst), 100);
    assert_eq!(clSetUserEventStatus(user, 0), Code::SUCCESS);
    assert_eq!(clWaitForEvents(1, In::of(address(&event))), Code::SUCCESS);
    assert_eq!(clFinish(rig.queue), Code::SUCCESS);
    assert_eq!(CALLED.load(Ordering::SeqCst), 0);
    assert_eq!(rig.read(buffer, 64), [4; 64]);
}

#[test]
fn handles_are_looked_up() {
    let rig = rig(0);
    let buffer = rig.buffer(&[1; 64]);
    assert_eq!(clReleaseMemObject(buffer), Code::SUCCESS);
    assert_eq!(clReleaseMemObject(buffer), Code::INVALID_MEM_OBJECT);
    assert_eq!(clRetainContext(Handle::of(0)), Code::INVALID_CONTEXT);
    assert_eq!(clFinish(Handle::of(0xdead_beef)), Code::INVALID_COMMAND_QUEUE);
    // One kind is not taken for another.
    assert_eq!(clReleaseEvent(Handle::of(rig.queue.address())), Code::INVALID_EVENT);
    assert_eq!(clSetKernelArg(rig.kernel, 0, 8, bytes(&buffer)), Code::INVALID_MEM_OBJECT);
    assert_eq!(clSetKernelArg(rig.kernel, 2, 8, bytes(&buffer)), Code::INVALID_ARG_INDEX);
    assert_eq!(clSetKernelArg(rig.kernel, 1, 8, bytes(&buffer)), Code::INVALID_ARG_SIZE);
    // A program lives as long as its kernels, under its old handle.
    assert_eq!(clReleaseProgram(rig.program), Code::SUCCESS);
    let mut found = 0usize;
    assert_eq!(clGetKernelInfo(rig.kernel, 0x1194, 8, room(&mut found), Out::NULL), Code::SUCCESS);
    assert_eq!(found, rig.program.address());
    assert_eq!(clRetainProgram(Handle::of(found)), Code::SUCCESS);
    assert_eq!(clReleaseProgram(rig.program), Code::SUCCESS);
    assert_eq!(clReleaseKernel(rig.kernel), Code::SUCCESS);
    assert_eq!(clReleaseProgram(rig.program), Code::INVALID_PROGRAM);
}

#[test]
fn boxes_parts_and_maps_of_buffers() {
    let rig = rig(0);
    let content: Vec<u32> = (0..1024).collect();
    let buffer = rig.buffer(&content);
    // Rows 2 and 3 of a matrix of 32 columns, columns 4 to 7.
    let mut got = [0u32; 8];
    let (origin, host, region) = ([16usize, 2, 0], [0usize; 3], [16usize, 2, 1]);
    let at = |a: &[usize; 3]| In::of(address(a));
    let to = Bytes::at(got.as_mut_ptr() as u64);
    assert_eq!(
        clEnqueueReadBufferRect(
            rig.queue,
            buffer,
            1,
            at(&origin),
            at(&host),
            at(&region),
            128,
            0,
            0,
            0,
            to,
            0,
            In::NULL,
            NONE
        ),
        Code::SUCCESS
    );
    assert_eq!(got, [68, 69, 70, 71, 100, 101, 102, 103]);
    let beyond = [16usize, 32, 0];
    assert_eq!(
        clEnqueueReadBufferRect(
            rig.queue,
            buffer,
            1,
            at(&beyond),
            at(&host),
            at(&region),
            128,
            0,
            0,
            0,
            to,
            0,
            In::NULL,
            NONE
        ),
        Code::INVALID_VALUE
    );
    // A part is the whole's memory.
    let place = [1024usize, 256];
    let part = made(|e| clCreateSubBuffer(buffer, 0, 0x1220, bytes(&place), e));
    assert_eq!(rig.add(part, 1000, 64, &[], NONE), Code::SUCCESS);
    assert_eq!(
        rig.read(buffer, 321)[255..],
        [&[255][..], &(1256..1320).collect::<Vec<u32>>(), &[320]].concat()
    );
    let odd = [100usize, 256];
    let mut code = Code::SUCCESS;
    clCreateSubBuffer(buffer, 0, 0x1220, bytes(&odd), out(&mut code));
    assert_eq!(code, Code::MISALIGNED_SUB_BUFFER_OFFSET);
    // What the host writes into a map is there.
    let pointer = clEnqueueMapBuffer(rig.queue, buffer, 1, 2, 8, 4, 0, In::NULL, NONE, out(&mut code));
    assert_eq!(code, Code::SUCCESS);
    Bytes::at(pointer as u64).set(&77u32.to_le_bytes());
    assert_eq!(
        clEnqueueUnmapMemObject(rig.queue, buffer, Bytes::at(pointer as u64), 0, In::NULL, NONE),
        Code::SUCCESS
    );
    assert_eq!(
        clEnqueueUnmapMemObject(rig.queue, buffer, Bytes::at(pointer as u64), 0, In::NULL, NONE),
        Code::INVALID_VALUE
    );
    assert_eq!(rig.read(buffer, 4), [0, 1, 77, 3]);
    let pattern = 0x1234_5678u32;
    assert_eq!(
        clEnqueueFillBuffer(rig.queue, buffer, bytes(&pattern), 4, 4, 8, 0, In::NULL, NONE),
        Code::SUCCESS
    );
    assert_eq!(
        clEnqueueFillBuffer(rig.queue, buffer, bytes(&pattern), 3, 4, 8, 0, In::NULL, NONE),
        Code::INVALID_VALUE
    );
    assert_eq!(rig.read(buffer, 4), [0, pattern, pattern, 3]);
}

#[test]
fn shared_memory_and_the_programs_own() {
    let rig = rig(0);
    let shared = clSVMAlloc(rig.context, 1 | 1 << 10, 256, 0) as u64;
    assert_ne!(shared, 0);
    Bytes::at(shared).set(&[1; 256]);
    assert_eq!(clSetKernelArgSVMPointer(rig.kernel, 0, Bytes::at(shared)), Code::SUCCESS);
    assert_eq!(clSetKernelArgSVMPointer(rig.kernel, 0, bytes(&rig)), Code::INVALID_ARG_VALUE);
    let (n, global) = (0x0101_0101u32, 64usize);
    assert_eq!(clSetKernelArg(rig.kernel, 1, 4, bytes(&n)), Code::SUCCESS);
    assert_eq!(
        clEnqueueNDRangeKernel(
            rig.queue,
            rig.kernel,
            1,
            In::NULL,
            In::of(address(&global)),
            In::NULL,
            0,
            In::NULL,
            NONE
        ),
        Code::SUCCESS
    );
    assert_eq!(clFinish(rig.queue), Code::SUCCESS);
    assert_eq!(Bytes::at(shared).get(256).unwrap(), [2; 256]);
    clSVMFree(rig.context, Bytes::at(shared));
    assert_eq!(clSetKernelArgSVMPointer(rig.kernel, 0, Bytes::at(shared)), Code::INVALID_ARG_VALUE);
    let own = vec![7u32; 64];
    let buffer = made(|e| clCreateBuffer(rig.context, 1 | 1 << 3, 256, bytes(&own[0]), e));
    assert_eq!(rig.add(buffer, 3, 64, &[], NONE), Code::SUCCESS);
    assert_eq!(clFinish(rig.queue), Code::SUCCESS);
    assert_eq!(bytes(&own[0]).get(4).unwrap(), 10u32.to_le_bytes());
}

extern "C" fn native(data: Data) {
    let block = Bytes::at(data.0 as u64).get(16).unwrap_or_default();
    let word = |i: usize| u64::from_le_bytes(block[i..i + 8].try_into().unwrap_or_default());
    Bytes::at(word(8)).set(&word(0).to_le_bytes());
}

#[test]
fn functions_of_the_program_get_pointers() {
    let rig = rig(0);
    let buffer = rig.buffer(&[0; 64]);
    let block = [42u64, 0];
    let place = address(&block[1]);
    assert_eq!(
        clEnqueueNativeKernel(
            rig.queue,
            Some(native),
            bytes(&block),
            16,
            1,
            In::of(address(&buffer)),
            In::of(address(&place)),
            0,
            In::NULL,
            NONE
        ),
        Code::SUCCESS
    );
    assert_eq!(rig.read(buffer, 2), [42, 0]);
}

#[test]
fn devices_are_divided() {
    let rig = rig(0);
    let properties = [0x1087isize, 4, 8, 0, 0];
    let mut parts = [Handle::<Device>::of(0); 2];
    let to = Out::of(parts.as_mut_ptr() as u64);
    assert_eq!(clCreateSubDevices(rig.device, In::of(address(&properties)), 2, to, Out::NULL), Code::SUCCESS);
    let mut units = 0u32;
    assert_eq!(clGetDeviceInfo(parts[1], 0x1002, 4, room(&mut units), Out::NULL), Code::SUCCESS);
    assert_eq!(units, 8);
    let many = [0x1087isize, 4000, 0, 0];
    assert_eq!(
        clCreateSubDevices(rig.device, In::of(address(&many)), 0, Out::NULL, Out::NULL),
        Code::INVALID_DEVICE_PARTITION_COUNT
    );
    for part in parts {
        assert_eq!(clReleaseDevice(part), Code::SUCCESS);
        assert_eq!(clReleaseDevice(part), Code::INVALID_DEVICE);
    }
}

#[test]
fn queries_say_how_much_room_they_need() {
    let rig = rig(0);
    let mut size = 0usize;
    assert_eq!(clGetDeviceInfo(rig.device, 0x102b, 0, Bytes::at(0), out(&mut size)), Code::SUCCESS);
    let mut name = vec![0u8; size];
    let to = Bytes::at(name.as_mut_ptr() as u64);
    assert_eq!(clGetDeviceInfo(rig.device, 0x102b, size - 1, to, Out::NULL), Code::INVALID_VALUE);
    assert_eq!(clGetDeviceInfo(rig.device, 0x102b, size, to, Out::NULL), Code::SUCCESS);
    assert_eq!(name, b"AMD Instinct MI210\0");
    let function = clGetExtensionFunctionAddress(Text::of(c"clIcdGetPlatformIDsKHR"));
    assert_eq!(function, clIcdGetPlatformIDsKHR as *mut c_void);
    assert!(clGetExtensionFunctionAddress(Text::of(c"clNothing")).is_null());
    assert_eq!(clGetPlatformInfo(Handle::of(5), 0x0902, 0, Bytes::at(0), Out::NULL), Code::INVALID_PLATFORM);
}

/// Every query of every kind of object, with no room, too little and enough: an answer or a code, and never more bytes than
/// there is room for.
#[test]
fn queries_of_any_name_have_an_answer_or_a_code() {
    let rig = rig(2);
    let buffer = rig.buffer(&[0; 64]);
    let mut event = Handle::of(0);
    assert_eq!(rig.add(buffer, 1, 64, &[], out(&mut event)), Code::SUCCESS);
    assert_eq!(clFinish(rig.queue), Code::SUCCESS);
    type Ask<'a> = Box<dyn Fn(u32, usize, Bytes, Out<usize>) -> Code + 'a>;
    let asks: Vec<Ask<'_>> = vec![
        Box::new(|n, room, to, size| clGetPlatformInfo(Handle::of(0), n, room, to, size)),
        Box::new(|n, room, to, size| clGetDeviceInfo(rig.device, n, room, to, size)),
        Box::new(|n, room, to, size| clGetContextInfo(rig.context, n, room, to, size)),
        Box::new(|n, room, to, size| clGetCommandQueueInfo(rig.queue, n, room, to, size)),
        Box::new(|n, room, to, size| clGetMemObjectInfo(buffer, n, room, to, size)),
        Box::new(|n, room, to, size| clGetProgramBuildInfo(rig.program, rig.device, n, room, to, size)),
        Box::new(|n, room, to, size| clGetKernelInfo(rig.kernel, n, room, to, size)),
        Box::new(|n, room, to, size| clGetKernelArgInfo(rig.kernel, 0, n, room, to, size)),
        Box::new(|n, room, to, size| clGetKernelWorkGroupInfo(rig.kernel, rig.device, n, room, to, size)),
        Box::new(|n, room, to, size| clGetEventInfo(event, n, room, to, size)),
        Box::new(|n, room, to, size| clGetEventProfilingInfo(event, n, room, to, size)),
    ];
    let mut answers = 0;
    for ask in &asks {
        for name in (0x0900..0x0930).chain(0x1000..0x1300).chain([0, u32::MAX]) {
            let mut size = usize::MAX;
            if ask(name, 0, Bytes::at(0), out(&mut size)) != Code::SUCCESS {
                continue;
            }
            answers += 1;
            let mut content = vec![0xa5u8; size + 8];
            let to = Bytes::at(content.as_mut_ptr() as u64);
            assert_eq!(ask(name, size, to, Out::NULL), Code::SUCCESS, "{name:#x}");
            assert_eq!(content[size..], [0xa5; 8], "{name:#x}");
            if size > 0 {
                assert_eq!(ask(name, size - 1, to, Out::NULL), Code::INVALID_VALUE, "{name:#x}");
            }
        }
    }
    // The device alone has more than a hundred.
    assert!(answers > 130, "{answers}");
}
