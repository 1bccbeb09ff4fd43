//! Functions of `hsa_ext_amd.h` that came after ROCm 5.2, as HIP 6 and 7 call them (declared after ROCm 7's header): virtual
//! memory, exported memory, copy engines, counted queues, facts about agents and queues.

use crate::constants::*;
use crate::ffi::*;
use crate::setup::*;
use std::ffi::c_void;
use std::io::{Seek, Write};
use std::os::fd::AsRawFd;
use std::ptr::{null, null_mut};

/// Declares functions that are found by name.
macro_rules! later {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty;)*) => {$(
        #[allow(clippy::too_many_arguments)]
        fn $name($($argument: $type),*) -> $result {
            let found = function::<unsafe extern "C" fn($($type),*) -> $result>(stringify!($name));
            // SAFETY: declared as in the header; tests hand over what the header asks for, or what it promises an error
            // code for.
            unsafe { found($($argument),*) }
        }
    )*};
}

#[repr(C)]
struct AccessDescription {
    permissions: u32,
    agent: Agent,
}

later! {
    fn hsa_amd_vmem_address_reserve(va: *mut u64, size: usize, address: u64, flags: u64) -> Status;
    fn hsa_amd_vmem_address_reserve_align(va: *mut u64, size: usize, address: u64, align: u64, flags: u64) -> Status;
    fn hsa_amd_vmem_address_free(va: u64, size: usize) -> Status;
    fn hsa_amd_vmem_handle_create(pool: Pool, size: usize, kind: u32, flags: u64, handle: *mut u64) -> Status;
    fn hsa_amd_vmem_handle_release(handle: u64) -> Status;
    fn hsa_amd_vmem_map(va: u64, size: usize, offset: usize, handle: u64, flags: u64) -> Status;
    fn hsa_amd_vmem_unmap(va: u64, size: usize) -> Status;
    fn hsa_amd_vmem_set_access(va: u64, size: usize, list: *const AccessDescription, count: usize) -> Status;
    fn hsa_amd_vmem_get_access(va: u64, permissions: *mut u32, agent: Agent) -> Status;
    fn hsa_amd_vmem_export_shareable_handle(file: *mut i32, handle: u64, flags: u64) -> Status;
    fn hsa_amd_vmem_import_shareable_handle(file: i32, handle: *mut u64) -> Status;
    fn hsa_amd_vmem_retain_alloc_handle(handle: *mut u64, address: u64) -> Status;
    fn hsa_amd_vmem_get_alloc_properties_from_handle(handle: u64, pool: *mut Pool, kind: *mut u32) -> Status;
    fn hsa_amd_portable_export_dmabuf(address: *const c_void, size: usize, file: *mut i32, offset: *mut u64) -> Status;
    fn hsa_amd_portable_export_dmabuf_v2(
        address: *const c_void, size: usize, file: *mut i32, offset: *mut u64, flags: u64,
    ) -> Status;
    fn hsa_amd_portable_close_dmabuf(file: i32) -> Status;
    fn hsa_amd_queue_get_info(queue: *mut Queue, attribute: u32, value: *mut c_void) -> Status;
    fn hsa_amd_agent_set_async_scratch_limit(agent: Agent, threshold: usize) -> Status;
    fn hsa_amd_counted_queue_acquire(
        agent: Agent, kind: u32, priority: u32, callback: QueueCallback, data: *mut c_void, flags: u64,
        queue: *mut *mut Queue,
    ) -> Status;
    fn hsa_amd_counted_queue_release(queue: *mut Queue) -> Status;
    fn hsa_amd_memory_copy_engine_status(to: Agent, from: Agent, mask: *mut u32) -> Status;
    fn hsa_amd_memory_get_preferred_copy_engine(to: Agent, from: Agent, mask: *mut u32) -> Status;
    fn hsa_amd_memory_async_copy_on_engine(
        to: *mut c_void, to_agent: Agent, from: *const c_void, from_agent: Agent, size: usize, count: u32,
        signals: *const Signal, completion: Signal, engine: u32, force: bool,
    ) -> Status;
    fn hsa_amd_signal_wait_all(
        count: u32, signals: *const Signal, conditions: *const u32, values: *const Value, timeout: u64, state: u32,
        met: *mut Value,
    ) -> u32;
    fn hsa_amd_ais_file_write(
        file: u64, address: *mut c_void, size: u64, at: i64, done: *mut u64, remark: *mut i32,
    ) -> Status;
    fn hsa_amd_ais_file_read(
        file: u64, address: *mut c_void, size: u64, at: i64, done: *mut u64, remark: *mut i32,
    ) -> Status;
    fn hsa_amd_memory_async_batch_copy(ops: *const CopyOp, count: u32, signals: u32, list: *const Signal) -> Status;
    fn hsa_amd_agent_preload(agent: Agent, flags: u64) -> Status;
    fn hsa_amd_signal_get_event_id(signal: Signal, number: *mut u32) -> Status;
    fn hsa_amd_svm_discard_batch_async(
        addresses: *const u64, sizes: *const usize, ranges: u32, count: u32, list: *const Signal, done: Signal,
    ) -> Status;
    fn hsa_amd_enable_logging(flags: *const u8, file: *mut c_void) -> Status;
    fn hsa_amd_spm_acquire(agent: Agent) -> Status;
    fn hsa_amd_spm_release(agent: Agent) -> Status;
    fn hsa_amd_spm_set_dest_buffer(
        agent: Agent, size: usize, timeout: *mut u32, copied: *mut u32, to: *mut c_void, lost: *mut bool,
    ) -> Status;
}

/// `HSA_STATUS_ERROR_NOT_SUPPORTED`.
const NOT_SUPPORTED: Status = 47;
const READ: u32 = 1;
const READ_WRITE: u32 = 3;
const SIZE: usize = 1 << 16;

/// Runs `count` on a word at an address; true when it completed.
fn counts(program: &Program, address: u64) -> bool {
    unsafe extern "C" fn noted(_: Status, _: *mut Queue, data: *mut c_void) {
        // SAFETY: the flag below, which outlives the queue.
        unsafe { &*data.cast::<std::sync::atomic::AtomicBool>() }
            .store(true, std::sync::atomic::Ordering::SeqCst);
    }
    let failed = std::sync::atomic::AtomicBool::new(false);
    let ring = Ring::create(64, Some(noted), (&raw const failed).cast_mut().cast());
    let argument = Memory::<u64>::of(system().kernarg, &[address]);
    let done = OwnSignal::new(1);
    ring.submit(&dispatch(program.kernel("count"), 64, 64, argument.pointer as u64, Some(&done)));
    while done.load() >= 1 && !failed.load(std::sync::atomic::Ordering::SeqCst) {
        std::thread::yield_now();
    }
    let ok = !failed.load(std::sync::atomic::Ordering::SeqCst);
    ring.destroy();
    ok
}

fn allow(address: u64, list: &[(u32, Agent)]) -> Status {
    let list: Vec<AccessDescription> =
        list.iter().map(|&(permissions, agent)| AccessDescription { permissions, agent }).collect();
    hsa_amd_vmem_set_access(address, SIZE, list.as_ptr(), list.len())
}

#[test]
fn virtual_memory_is_put_together() {
    let system = system();
    let program = Program::new(&count());
    let (mut range, mut handle) = (0, 0);
    ok(hsa_amd_vmem_address_reserve_align(&mut range, 4 * SIZE, 0, 1 << 21, 0));
    assert!(range.is_multiple_of(1 << 21));
    ok(hsa_amd_vmem_handle_create(system.device, SIZE, 1, 0, &mut handle));
    let (mut pool, mut kind) = (Pool::default(), 0);
    ok(hsa_amd_vmem_get_alloc_properties_from_handle(handle, &mut pool, &mut kind));
    assert_eq!((pool, kind), (system.device, 1));
    // The same memory twice: what is counted in one place shows in the other.
    let (first, second) = (range, range + 2 * SIZE as u64);
    for at in [first, second] {
        ok(hsa_amd_vmem_map(at, SIZE, 0, handle, 0));
        let mut permissions = 9;
        assert_eq!(
            hsa_amd_vmem_get_access(at, &mut permissions, system.gpu),
            STATUS_ERROR_INVALID_ALLOCATION,
            "nobody has said so"
        );
        ok(allow(at, &[(READ_WRITE, system.gpu), (READ_WRITE, system.cpu)]));
        ok(hsa_amd_vmem_get_access(at, &mut permissions, system.gpu));
        assert_eq!(permissions, READ_WRITE);
    }
    assert!(counts(&program, first + 8) && counts(&program, second + 8));
    // SAFETY: mapped above, for the host too; no wave runs.
    assert_eq!(unsafe { ((first + 8) as *const u32).read_volatile() }, 128);
    // Read only, none at all, and gone: a fault each, which the queue survives as a report.
    ok(allow(first, &[(READ, system.gpu)]));
    assert!(!counts(&program, first + 8));
    ok(allow(first, &[(0, system.gpu)]));
    assert!(!counts(&program, first + 8));
    ok(hsa_amd_vmem_unmap(first, SIZE));
    assert!(!counts(&program, first + 8));
    assert!(counts(&program, second + 8), "the other place is as it was");
    // The handle of what is mapped lives on without the program's own.
    ok(hsa_amd_vmem_handle_release(handle));
    assert_eq!(hsa_amd_vmem_handle_release(handle), STATUS_ERROR_INVALID_ALLOCATION);
    let mut again = 0;
    ok(hsa_amd_vmem_retain_alloc_handle(&mut again, second + 100));
    assert_eq!(again, handle);
    assert_eq!(hsa_amd_vmem_address_free(range, 4 * SIZE), STATUS_ERROR_RESOURCE_FREE, "still mapped");
    ok(hsa_amd_vmem_unmap(second, SIZE));
    ok(hsa_amd_vmem_handle_release(again));
    assert_eq!(hsa_amd_vmem_handle_release(again), STATUS_ERROR_INVALID_ALLOCATION);
    assert_eq!(hsa_amd_vmem_address_free(range, SIZE), STATUS_ERROR_INVALID_ARGUMENT);
    ok(hsa_amd_vmem_address_free(range, 4 * SIZE));
    assert_eq!(hsa_amd_vmem_address_free(range, 4 * SIZE), STATUS_ERROR_INVALID_ALLOCATION);
}

#[test]
fn virtual_memory_refuses_what_does_not_fit() {
    let system = system();
    let (mut range, mut handle) = (0, 0);
    let invalid = STATUS_ERROR_INVALID_ARGUMENT;
    assert_eq!(hsa_amd_vmem_address_reserve(null_mut(), SIZE, 0, 0), invalid);
    assert_eq!(hsa_amd_vmem_address_reserve(&mut range, 100, 0, 0), invalid);
    assert_eq!(hsa_amd_vmem_address_reserve(&mut range, 0, 0, 0), invalid);
    assert_eq!(hsa_amd_vmem_address_reserve_align(&mut range, SIZE, 0, 3000, 0), invalid);
    assert_eq!(hsa_amd_vmem_address_reserve(&mut range, 1 << 62, 0, 0), STATUS_ERROR_OUT_OF_RESOURCES);
    ok(hsa_amd_vmem_address_reserve(&mut range, 2 * SIZE, 0, 0));
    assert_eq!(hsa_amd_vmem_handle_create(system.device, 100, 0, 0, &mut handle), invalid);
    assert_eq!(hsa_amd_vmem_handle_create(system.device, SIZE, 7, 0, &mut handle), invalid);
    assert_eq!(
        hsa_amd_vmem_handle_create(Pool { handle: 5 }, SIZE, 0, 0, &mut handle),
        STATUS_ERROR_INVALID_MEMORY_POOL
    );
    ok(hsa_amd_vmem_handle_create(system.device, SIZE, 0, 0, &mut handle));
    assert_eq!(hsa_amd_vmem_map(range, 2 * SIZE, 0, handle, 0), invalid, "another size");
    assert_eq!(
        hsa_amd_vmem_map(range + 2 * SIZE as u64 - 4096, SIZE, 0, handle, 0),
        invalid,
        "beyond the end"
    );
    assert_eq!(hsa_amd_vmem_map(0x1000, SIZE, 0, handle, 0), invalid, "not reserved");
    assert_eq!(hsa_amd_vmem_map(range, SIZE, 0, handle + 99, 0), invalid);
    ok(hsa_amd_vmem_map(range, SIZE, 0, handle, 0));
    assert_eq!(hsa_amd_vmem_map(range + 4096, SIZE, 0, handle, 0), invalid, "already mapped");
    assert_eq!(allow(range, &[(4, system.gpu)]), invalid);
    assert_eq!(allow(range, &[(1, Agent { handle: 1 })]), STATUS_ERROR_INVALID_AGENT);
    assert_eq!(allow(range + 4096, &[(1, system.gpu)]), STATUS_ERROR_INVALID_ALLOCATION);
    assert_eq!(hsa_amd_vmem_unmap(range, 4096), invalid);
    assert_eq!(hsa_amd_vmem_unmap(range + 4096, SIZE), STATUS_ERROR_INVALID_ALLOCATION);
    ok(hsa_amd_vmem_unmap(range, SIZE));
    ok(hsa_amd_vmem_handle_release(handle));
    ok(hsa_amd_vmem_address_free(range, 2 * SIZE));
}

#[test]
fn memory_travels_as_files() {
    let system = system();
    let (mut handle, mut copy, mut file, mut range) = (0, 0, -1, 0);
    ok(hsa_amd_vmem_handle_create(system.device, SIZE, 0, 0, &mut handle));
    ok(hsa_amd_vmem_export_shareable_handle(&mut file, handle, 0));
    ok(hsa_amd_vmem_import_shareable_handle(file, &mut copy));
    let mut pool = Pool::default();
    ok(hsa_amd_vmem_get_alloc_properties_from_handle(copy, &mut pool, &mut 0));
    assert_eq!(pool, system.device);
    ok(hsa_amd_portable_close_dmabuf(file));
    assert_eq!(hsa_amd_portable_close_dmabuf(file), STATUS_ERROR_RESOURCE_FREE);
    ok(hsa_amd_vmem_address_reserve(&mut range, 2 * SIZE, 0, 0));
    for (at, which) in [(range, handle), (range + SIZE as u64, copy)] {
        ok(hsa_amd_vmem_map(at, SIZE, 0, which, 0));
        ok(allow(at, &[(READ_WRITE, system.cpu)]));
    }
    // SAFETY: mapped just now.
    unsafe { ((range + 40) as *mut u64).write_volatile(0x1234_5678_9abc) };
    // SAFETY: as above.
    assert_eq!(unsafe { ((range + SIZE as u64 + 40) as *const u64).read_volatile() }, 0x1234_5678_9abc);
    // What is no memory of ours is refused.
    let other = std::fs::File::open("/proc/self/exe").unwrap();
    let refused = hsa_amd_vmem_import_shareable_handle(other.as_raw_fd(), &mut copy);
    assert_eq!(refused, STATUS_ERROR_INVALID_ALLOCATION);
    assert_eq!(hsa_amd_vmem_import_shareable_handle(-3, &mut copy), STATUS_ERROR_INVALID_ALLOCATION);
}

#[test]
fn allocations_are_exported() {
    let system = system();
    let memory = Memory::<u32>::of(system.device, &[7; 5000]);
    let inside = memory.pointer.wrapping_add(100).cast();
    let (mut file, mut offset) = (-1, 0);
    ok(hsa_amd_portable_export_dmabuf(inside, 800, &mut file, &mut offset));
    assert!(file >= 0 && offset == 400);
    ok(hsa_amd_portable_close_dmabuf(file));
    ok(hsa_amd_portable_export_dmabuf_v2(inside, 800, &mut file, &mut offset, 1));
    ok(hsa_amd_portable_close_dmabuf(file));
    assert_eq!(
        hsa_amd_portable_export_dmabuf(inside, 20_000, &mut file, &mut offset),
        STATUS_ERROR_INVALID_ALLOCATION
    );
    assert_eq!(
        hsa_amd_portable_export_dmabuf(null(), 8, &mut file, &mut offset),
        STATUS_ERROR_INVALID_ARGUMENT
    );
    let host = Memory::<u32>::new(system.host, 16);
    assert_eq!(
        hsa_amd_portable_export_dmabuf(host.pointer.cast(), 8, &mut file, &mut offset),
        STATUS_ERROR_INVALID_AGENT
    );
}

#[test]
fn files_are_read_and_written() {
    let path = std::env::temp_dir().join(format!("wavemill-ais-{}", std::process::id()));
    let mut file =
        std::fs::File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
    file.write_all(b"0123456789").unwrap();
    file.rewind().unwrap();
    let memory = Memory::<u8>::new(system().device, 64);
    let (number, at, mut done) = (file.as_raw_fd() as u64, memory.pointer.cast(), 0);
    ok(hsa_amd_ais_file_read(number, at, 64, 3, &mut done, &mut 0));
    assert_eq!(done, 7, "up to the end");
    ok(hsa_amd_ais_file_write(number, at, 4, 10, &mut done, null_mut()));
    assert_eq!(done, 4);
    assert_eq!(std::fs::read(&path).unwrap(), b"01234567893456");
    assert_eq!(hsa_amd_ais_file_read(number, at, 0, 0, &mut done, &mut 0), STATUS_ERROR_INVALID_ARGUMENT);
    assert_eq!(hsa_amd_ais_file_read(9999, at, 4, 0, &mut done, &mut 0), STATUS_ERROR_INVALID_ARGUMENT);
    let beyond = hsa_amd_ais_file_read(number, at, 1 << 30, 0, &mut done, &mut 0);
    assert_eq!(beyond, STATUS_ERROR_INVALID_ALLOCATION);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn engines_copy() {
    let system = system();
    let mut free = 0;
    ok(hsa_amd_memory_copy_engine_status(system.gpu, system.cpu, &mut free));
    assert_eq!(free.count_ones(), agent_info::<u32>(system.gpu, 0xa10a));
    let mut best = 0;
    ok(hsa_amd_memory_get_preferred_copy_engine(system.gpu, system.cpu, &mut best));
    assert_eq!(best & !free, 0);
    assert_eq!(
        hsa_amd_memory_copy_engine_status(system.cpu, system.cpu, &mut free),
        STATUS_ERROR_INVALID_AGENT
    );
    let (from, to) = (Memory::of(system.host, &[5u32; 100]), Memory::<u32>::new(system.device, 100));
    let done = OwnSignal::new(1);
    let copy = |engine, done: &OwnSignal| {
        let (to, from) = (to.pointer.cast(), from.pointer.cast());
        hsa_amd_memory_async_copy_on_engine(
            to,
            system.gpu,
            from,
            system.cpu,
            400,
            0,
            null(),
            done.0,
            engine,
            true,
        )
    };
    assert_eq!(copy(1 << 9, &done), STATUS_ERROR_INVALID_ARGUMENT);
    assert_eq!(copy(3, &done), STATUS_ERROR_INVALID_ARGUMENT);
    ok(copy(2, &done));
    done.wait();
    let mut back = [0u32; 100];
    ok(hsa_memory_copy(back.as_mut_ptr().cast(), to.pointer.cast(), 400));
    assert_eq!(back, [5; 100]);
}

#[test]
fn all_of_several_signals() {
    let (a, b) = (OwnSignal::new(3), OwnSignal::new(1));
    let signals = [a.0, Signal::default(), b.0];
    let conditions = [SIGNAL_CONDITION_EQ; 3];
    let mut met = [-1; 3];
    let mut wait = |timeout| {
        let values = [3, 77, 0];
        let (s, c, v) = (signals.as_ptr(), conditions.as_ptr(), values.as_ptr());
        hsa_amd_signal_wait_all(3, s, c, v, timeout, WAIT_STATE_BLOCKED, met.as_mut_ptr())
    };
    assert_eq!(wait(1_000_000), u32::MAX, "one of them is not there yet");
    hsa_signal_store_screlease(b.0, 0);
    assert_eq!(wait(u64::MAX), 0);
    assert_eq!(met, [3, 0, 0]);
}

#[test]
fn queues_are_counted() {
    let system = system();
    let mut counted = [null_mut(); 2];
    for queue in &mut counted {
        ok(hsa_amd_counted_queue_acquire(system.gpu, QUEUE_TYPE_MULTI, 1, None, null_mut(), 0, queue));
    }
    assert_ne!(counted[0], counted[1]);
    let plain = Ring::new(64);
    let fact = |queue, which| attribute::<u32>(|p| hsa_amd_queue_get_info(queue, which, p));
    assert_eq!(attribute::<Agent>(|p| hsa_amd_queue_get_info(counted[0], 0, p)), system.gpu);
    assert_eq!((fact(counted[0], 2), fact(plain.0, 2)), (1, u32::MAX));
    assert_ne!(fact(counted[0], 3), fact(plain.0, 3));
    let doorbell = |queue| attribute::<u64>(|p| hsa_amd_queue_get_info(queue, 1, p));
    assert_ne!(doorbell(counted[0]), doorbell(counted[1]));
    let done = OwnSignal::new(1);
    Ring(counted[0]).submit(&barrier(PACKET_TYPE_BARRIER_AND, &[], Some(&done)));
    done.wait();
    assert_eq!(hsa_amd_counted_queue_release(plain.0), STATUS_ERROR);
    for queue in counted {
        ok(hsa_amd_counted_queue_release(queue));
        assert_eq!(hsa_amd_counted_queue_release(queue), STATUS_ERROR);
    }
    plain.destroy();
    let acquire = |agent, kind, priority| {
        hsa_amd_counted_queue_acquire(agent, kind, priority, None, null_mut(), 0, &mut null_mut())
    };
    assert_eq!(acquire(system.cpu, QUEUE_TYPE_MULTI, 1), STATUS_ERROR_INVALID_QUEUE_CREATION);
    assert_eq!(acquire(system.gpu, QUEUE_TYPE_MULTI, 3), STATUS_ERROR_INVALID_ARGUMENT);
}

#[test]
fn later_facts_about_agents_and_pools() {
    let system = system();
    // AMDGPU_FAMILY_AI of the kernel's amdgpu_drm.h.
    assert_eq!(agent_info::<u32>(system.gpu, 0xa107), 141);
    assert_eq!(agent_info::<u32>(system.gpu, 0xa111), 1, "one die");
    assert_eq!(agent_info::<Agent>(system.gpu, 0xa113), system.cpu);
    assert_eq!(agent_info::<[u8; 8]>(system.gpu, 0xa114), [0; 8], "no APU");
    let clocks: [u64; 4] = agent_info(system.gpu, 0xa118);
    assert!(clocks[0] > 0 && clocks[3] == 1_000_000_000, "{clocks:?}");
    assert_eq!(pool_info::<u32>(system.device, 17), 1);
    assert_eq!(pool_info::<u32>(system.host, 17), 0);
    // Only gfx942 and later can take scratch back.
    assert_eq!(hsa_amd_agent_set_async_scratch_limit(system.gpu, 1 << 20), STATUS_ERROR_INVALID_ARGUMENT);
    assert_eq!(hsa_amd_agent_set_async_scratch_limit(Agent { handle: 3 }, 0), STATUS_ERROR_INVALID_AGENT);
    ok(hsa_amd_enable_logging([0u8; 8].as_ptr(), null_mut()));
    assert_eq!(hsa_amd_spm_acquire(system.gpu), NOT_SUPPORTED);
    assert_eq!(hsa_amd_spm_release(system.gpu), NOT_SUPPORTED);
    let (mut timeout, mut copied, mut lost) = (0, 0, false);
    let stream = hsa_amd_spm_set_dest_buffer(system.gpu, 0, &mut timeout, &mut copied, null_mut(), &mut lost);
    assert_eq!(stream, NOT_SUPPORTED);
}

/// The driver: memory of pools has no attributes of shared virtual memory.
#[test]
fn pool_memory_has_no_svm_attributes() {
    let memory = Memory::<u32>::new(system().device, 5000);
    let mut pair = SvmAttribute { attribute: 0, value: 9 };
    assert_eq!(hsa_amd_svm_attributes_get(memory.pointer.cast(), 4096, &mut pair, 1), STATUS_ERROR);
    assert_eq!(pair.value, 9);
}

/// HIP unmaps managed memory without a word. Its addresses come back as an allocation, then as managed memory again.
#[test]
fn addresses_of_unmapped_shared_memory_come_back() {
    let system = system();
    let program = Program::new(&count());
    let (mut range, mut handle) = (0, 0);
    // Addresses that are the test's to map things at.
    ok(hsa_amd_vmem_address_reserve(&mut range, SIZE, 0, 0));
    ok(hsa_amd_vmem_handle_create(system.device, SIZE, 0, 0, &mut handle));
    for _ in 0..2 {
        // Memory of the program with attributes.
        ok(hsa_amd_vmem_map(range, SIZE, 0, handle, 0));
        ok(allow(range, &[(READ_WRITE, system.cpu)]));
        let mut pair = SvmAttribute { attribute: 0x201, value: system.gpu.handle };
        ok(hsa_amd_svm_attributes_set(range as *mut c_void, SIZE, &mut pair, 1));
        assert!(counts(&program, range));
        ok(hsa_amd_vmem_unmap(range, SIZE));
        assert!(!counts(&program, range), "what is gone is a fault");
        // The same addresses as an allocation.
        ok(hsa_amd_vmem_map(range, SIZE, 0, handle, 0));
        ok(allow(range, &[(READ_WRITE, system.gpu)]));
        assert!(counts(&program, range));
        ok(hsa_amd_vmem_unmap(range, SIZE));
    }
    ok(hsa_amd_vmem_handle_release(handle));
    ok(hsa_amd_vmem_address_free(range, SIZE));
}

/// Names of instruction sets as code objects of versions 1 and 2 have them (ROCm code object format, "Instruction set
/// architecture").
#[test]
fn old_names_of_instruction_sets() {
    system();
    let named = |name: &std::ffi::CStr| {
        let mut isa = Isa::default();
        let status = hsa_isa_from_name(name.as_ptr(), &mut isa);
        let mut text = [0u8; 64];
        if status == STATUS_SUCCESS {
            ok(hsa_isa_get_info_alt(isa, ISA_INFO_NAME, text.as_mut_ptr().cast()));
        }
        let end = text.iter().position(|b| *b == 0).unwrap();
        (status, String::from_utf8_lossy(&text[..end]).into_owned())
    };
    assert_eq!(named(c"AMD:AMDGPU:8:0:3"), (STATUS_SUCCESS, "amdgcn-amd-amdhsa--gfx803".into()));
    assert_eq!(named(c"AMD:AMDGPU:9:0:1"), (STATUS_SUCCESS, "amdgcn-amd-amdhsa--gfx900:xnack+".into()));
    for wrong in [c"AMD:AMDGPU:8:0", c"AMD:AMDGPU:8:0:x", c"AMD:AMDGPU:99:0:0", c"AMD:AMDGPU:8:0:3:1"] {
        assert_eq!(named(wrong).0, STATUS_ERROR_INVALID_ISA_NAME, "{wrong:?}");
    }
}

/// `hsa_amd_memory_copy_op_t` (`hsa_ext_amd.h` 1.17), its unions by what they hold first.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct CopyOp {
    version: u16,
    kind: u16,
    entries: u16,
    traffic_class: u16,
    completion: Signal,
    from: u64,
    from_agent: Agent,
    to_agent: u64,
    to: u64,
    size: u64,
    other_size: u64,
    /// Function, scope and reserved; address, value, mask.
    wait: [u64; 4],
    /// Operation, scope and reserved; address, data.
    signal: [u64; 3],
    reserved: u64,
}

/// Copies of every kind in one call, each of which takes one off the signal: one piece, several, one source for several places, an
/// exchange, addresses that are in memory; a word that is waited for, and one that is changed (`hsa_ext_amd.h` 1.17).
#[test]
fn copies_in_batches() {
    let system = system();
    assert_eq!(size_of::<CopyOp>(), 128, "as the header's fields add up");
    let words = |n: u32| Memory::of(system.host, &[n; 64]);
    let (one, two, three, four) = (words(1), words(2), words(3), words(4));
    let all = Memory::of(system.device, &[0u32; 64 * 8]);
    let place = |i: u64| all.pointer as u64 + 256 * i;
    let flags = Memory::of(system.host, &[0u64, 5, 0]);
    let flag = |i: u64| flags.pointer as u64 + 8 * i;
    let done = OwnSignal::new(6);
    let agents = [system.gpu.handle; 2];
    let (froms, tos, sizes) =
        ([two.pointer as u64, three.pointer as u64], [place(1), place(2)], [256u64, 128]);
    let both = [place(3), place(4)];
    let plain = CopyOp {
        version: 1,
        completion: done.0,
        from_agent: system.cpu,
        to_agent: system.gpu.handle,
        size: 256,
        ..CopyOp::default()
    };
    let several = |kind, from, to: &[u64; 2], size| CopyOp {
        kind,
        entries: 2,
        from,
        to: to.as_ptr() as u64,
        to_agent: agents.as_ptr() as u64,
        size,
        ..plain
    };
    let indirect = Memory::of(system.host, &[four.pointer as u64, place(6)]);
    let ops = [
        CopyOp { from: one.pointer as u64, to: place(0), ..plain },
        several(0, froms.as_ptr() as u64, &tos, sizes.as_ptr() as u64),
        several(1, four.pointer as u64, &both, 256),
        // Exchanged when the first flag is 7; then 3 is taken off the second.
        CopyOp {
            kind: 2,
            from: two.pointer as u64,
            to: three.pointer as u64,
            other_size: 256,
            wait: [3, flag(0), 7, 0xff],
            signal: [3, flag(1), 3],
            ..plain
        },
        CopyOp { kind: 3, from: indirect.pointer as u64, to: place(5), ..plain },
        CopyOp {
            kind: 5,
            from: indirect.pointer as u64,
            to: indirect.pointer as u64 + 8,
            signal: [1, flag(2), 9],
            ..plain
        },
    ];
    ok(hsa_amd_memory_async_batch_copy(ops.as_ptr(), 6, 0, null()));
    while hsa_signal_load_relaxed(done.0) > 1 {
        std::thread::yield_now();
    }
    // SAFETY: host memory of this test, which the runtime reads whole.
    let read = |i: u64| unsafe { (flag(i) as *const u64).read_volatile() };
    assert_eq!((hsa_signal_load_relaxed(done.0), read(1), read(2)), (1, 5, 9), "one waits for its word");
    // SAFETY: as above.
    unsafe { (flag(0) as *mut u64).write_volatile(0x107) };
    done.wait();
    assert_eq!(read(1), 2);
    let mut back = [0u32; 64 * 8];
    ok(hsa_memory_copy(back.as_mut_ptr().cast(), all.pointer.cast(), 4 * back.len()));
    let filled = |i: usize, n: usize, value: u32| {
        back[64 * i..64 * i + n].iter().all(|&w| w == value)
            && back[64 * i + n..64 * (i + 1)].iter().all(|&w| w == 0)
    };
    let expected =
        [(0, 64, 1), (1, 64, 2), (2, 32, 3), (3, 64, 4), (4, 64, 4), (5, 64, 4), (6, 64, 4), (7, 64, 0)];
    assert!(expected.iter().all(|&(i, n, v)| filled(i, n, v)), "{back:?}");
    let mut exchanged = [[0u32; 64]; 2];
    ok(hsa_memory_copy(exchanged[0].as_mut_ptr().cast(), two.pointer.cast(), 256));
    ok(hsa_memory_copy(exchanged[1].as_mut_ptr().cast(), three.pointer.cast(), 256));
    assert_eq!(exchanged, [[3; 64], [2; 64]]);
    // What is not in order: another version, no such kind, sizes that differ, a list without entries, reserved bits.
    for wrong in [
        CopyOp { version: 2, ..ops[0] },
        CopyOp { kind: 6, ..ops[0] },
        CopyOp { other_size: 128, ..ops[3] },
        CopyOp { entries: 0, ..ops[2] },
        CopyOp { reserved: 1, ..ops[0] },
        CopyOp { from: 0, ..ops[0] },
        CopyOp { size: 1 << 40, ..ops[0] },
    ] {
        assert_eq!(hsa_amd_memory_async_batch_copy(&wrong, 1, 0, null()), STATUS_ERROR_INVALID_ARGUMENT);
    }
    assert_eq!(hsa_amd_memory_async_batch_copy(ops.as_ptr(), 0, 0, null()), STATUS_ERROR_INVALID_ARGUMENT);
}

/// `hsa_ext_amd.h` 1.19 to 1.21: what gets a GPU ready, discards pages (which needs XNACK), and tells a signal's event.
#[test]
fn the_latest_functions() {
    let system = system();
    ok(hsa_amd_agent_preload(system.gpu, 0));
    assert_eq!(hsa_amd_agent_preload(system.cpu, 0), STATUS_ERROR_INVALID_AGENT);
    let (signal, mut number) = (OwnSignal::new(1), 0);
    ok(hsa_amd_signal_get_event_id(signal.0, &mut number));
    // `amd_signal_t`: event_id is at byte 24 (amd_hsa_signal.h).
    // SAFETY: a signal's handle is the address of its structure.
    assert_eq!(number, unsafe { *((signal.0.handle + 24) as *const u32) });
    assert_eq!(hsa_amd_signal_get_event_id(Signal { handle: 8 }, &mut number), STATUS_ERROR_INVALID_SIGNAL);
    let pages = Memory::of(system.host, &[1u32; 1024]);
    let (address, size) = (pages.pointer as u64, 4096);
    let discard = |ranges| hsa_amd_svm_discard_batch_async(&address, &size, ranges, 0, null(), signal.0);
    assert_eq!(discard(0), STATUS_ERROR_INVALID_ARGUMENT);
    const XNACK_DISABLED: Status = 48;
    assert_eq!(discard(1), XNACK_DISABLED);
    assert_eq!(hsa_signal_load_relaxed(signal.0), 1);
}
