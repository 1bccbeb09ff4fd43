//! Memory: pools, what may reach what, copies of every kind, fills, locked memory, and what is known about a pointer.

use crate::constants::*;
use crate::ffi::*;
use crate::setup::*;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering};

fn info_of(pointer: *const c_void) -> PointerInfo {
    // SAFETY: plain data.
    let mut info: PointerInfo = unsafe { std::mem::zeroed() };
    info.size = size_of::<PointerInfo>() as u32;
    ok(hsa_amd_pointer_info(pointer, &mut info, None, null_mut(), null_mut()));
    info
}

#[test]
fn pools_say_what_they_are() {
    let system = system();
    for agent in [system.gpu, system.cpu] {
        for pool in all(|f, d| hsa_amd_agent_iterate_memory_pools(agent, f, d)) {
            let segment: u32 = pool_info(pool, AMD_MEMORY_POOL_INFO_SEGMENT);
            let size: usize = pool_info(pool, AMD_MEMORY_POOL_INFO_SIZE);
            assert!(size > 0);
            let allowed: bool = pool_info(pool, AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED);
            assert_eq!(allowed, segment == AMD_SEGMENT_GLOBAL);
            if !allowed {
                continue;
            }
            let granule: usize = pool_info(pool, AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE);
            let alignment: usize = pool_info(pool, AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT);
            let most: usize = pool_info(pool, AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE);
            assert!(granule.is_power_of_two() && alignment.is_power_of_two() && most <= size);
            let everyone: bool = pool_info(pool, AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL);
            assert_eq!(everyone, agent == system.cpu);
            let mut pointer = null_mut();
            ok(hsa_amd_memory_pool_allocate(pool, 1, 0, &mut pointer));
            assert_eq!(pointer as usize % alignment, 0);
            ok(hsa_amd_memory_pool_free(pointer));
            let access: u32 = attribute(|p| {
                hsa_amd_agent_memory_pool_get_info(agent, pool, AMD_AGENT_MEMORY_POOL_INFO_ACCESS, p)
            });
            assert_eq!(access, AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT, "an agent reaches its own pools");
        }
    }
}

#[test]
fn regions_do_the_same_the_old_way() {
    let system = system();
    for agent in [system.gpu, system.cpu] {
        let regions = all(|f, d| hsa_agent_iterate_regions(agent, f, d));
        assert!(!regions.is_empty());
        for region in regions {
            let segment: u32 = attribute(|p| hsa_region_get_info(region, REGION_INFO_SEGMENT, p));
            let allowed: bool =
                attribute(|p| hsa_region_get_info(region, REGION_INFO_RUNTIME_ALLOC_ALLOWED, p));
            if segment != REGION_SEGMENT_GLOBAL || !allowed {
                continue;
            }
            let mut pointer = null_mut();
            ok(hsa_memory_allocate(region, 10_000, &mut pointer));
            ok(hsa_memory_assign_agent(pointer, system.gpu, ACCESS_PERMISSION_RW));
            let text = b"some bytes";
            let mut back = [0u8; 10];
            ok(hsa_memory_copy(pointer, text.as_ptr().cast(), 10));
            ok(hsa_memory_copy(back.as_mut_ptr().cast(), pointer, 10));
            assert_eq!(&back, text);
            ok(hsa_memory_free(pointer));
        }
    }
}

/// Copies between every two kinds of memory, of odd sizes at odd places.
#[test]
fn asynchronous_copies() {
    let system = system();
    const N: usize = 100_003;
    let bytes: Vec<u8> = (0..N + 64).map(|i| (i * 7 / 4) as u8).collect();
    let source = Memory::of(system.host, &bytes);
    let (a, b) = (Memory::<u8>::new(system.device, N + 64), Memory::<u8>::new(system.device, N + 64));
    let back = Memory::<u8>::new(system.host, N + 64);
    let at = |m: &Memory<u8>, offset| (m.address() + offset) as *mut c_void;
    let signals: Vec<OwnSignal> = (0..3).map(|_| OwnSignal::new(1)).collect();
    let gate = OwnSignal::new(1);
    let (gpu, cpu) = (system.gpu, system.cpu);
    // Each waits for the one before; the first for the gate.
    ok(hsa_amd_memory_async_copy(at(&a, 3), gpu, at(&source, 5), cpu, N, 1, &gate.0, signals[0].0));
    ok(hsa_amd_memory_async_copy(at(&b, 1), gpu, at(&a, 3), gpu, N, 1, &signals[0].0, signals[1].0));
    ok(hsa_amd_memory_async_copy(at(&back, 9), cpu, at(&b, 1), gpu, N, 1, &signals[1].0, signals[2].0));
    std::thread::sleep(std::time::Duration::from_millis(5));
    assert_eq!(signals[0].load(), 1);
    ok(hsa_amd_profiling_async_copy_enable(true));
    hsa_signal_store_screlease(gate.0, 0);
    signals[2].wait();
    let got = back.get();
    assert_eq!(got[9..9 + N], bytes[5..5 + N]);
    assert!(got[..9].iter().chain(&got[9 + N..]).all(|b| *b == 0));
    let done = OwnSignal::new(1);
    ok(hsa_amd_memory_async_copy(at(&back, 0), cpu, at(&b, 1), gpu, 100, 0, null(), done.0));
    done.wait();
    let mut times = Times::default();
    ok(hsa_amd_profiling_get_async_copy_time(done.0, &mut times));
    assert!(times.start > 0 && times.start <= times.end, "{times:?}");
}

/// A box of bytes from one place in a pitched volume to another in another.
#[test]
fn copies_of_boxes() {
    let system = system();
    let (width, height, depth) = (40usize, 9, 5);
    let bytes: Vec<u8> = (0..width * height * depth).map(|i| (i % 251) as u8).collect();
    let from = Memory::of(system.host, &bytes);
    let (pitch, slice) = (64usize, 64 * 12);
    let to = Memory::<u8>::new(system.device, slice * 6);
    let target = PitchedPtr { base: to.pointer.cast(), pitch, slice };
    let source = PitchedPtr { base: from.pointer.cast(), pitch: width, slice: width * height };
    let (to_at, from_at, range) =
        (Dim3 { x: 8, y: 2, z: 1 }, Dim3 { x: 4, y: 1, z: 2 }, Dim3 { x: 24, y: 7, z: 3 });
    let done = OwnSignal::new(1);
    // hsaHostToDevice.
    ok(hsa_amd_memory_async_copy_rect(
        &target,
        &to_at,
        &source,
        &from_at,
        &range,
        system.gpu,
        1,
        0,
        null(),
        done.0,
    ));
    done.wait();
    let got = to.get();
    let mut expected = vec![0u8; slice * 6];
    for z in 0..3 {
        for y in 0..7 {
            for x in 0..24 {
                expected[(z + 1) * slice + (y + 2) * pitch + x + 8] =
                    bytes[(z + 2) * width * height + (y + 1) * width + x + 4];
            }
        }
    }
    assert!(got == expected);
}

#[test]
fn fills() {
    let system = system();
    let memory = Memory::<u32>::new(system.device, 1000);
    ok(hsa_amd_memory_fill((memory.address() + 40) as *mut c_void, 0xabcd_1234, 500));
    let got = memory.get();
    for (i, word) in got.into_iter().enumerate() {
        assert_eq!(word, if (10..510).contains(&i) { 0xabcd_1234 } else { 0 }, "word {i}");
    }
}

/// Memory of the program's own becomes the GPU's for a while.
#[test]
fn locked_memory() {
    let system = system();
    let program = Program::new(&count());
    let ring = Ring::new(64);
    let mut own = vec![0u32; 5000];
    let bytes = own.len() * 4;
    let (mut agents, mut pointer) = ([system.gpu], null_mut());
    ok(hsa_amd_memory_lock(own.as_mut_ptr().cast(), bytes, agents.as_mut_ptr(), 1, &mut pointer));
    let info = info_of(own[10..].as_ptr().cast());
    assert_eq!(info.kind, EXT_POINTER_TYPE_LOCKED);
    assert_eq!(info.host_base_address, own.as_mut_ptr().cast());
    // Discrete GPUs see it elsewhere, and HIP relies on that.
    assert_eq!(info.agent_base_address, pointer);
    assert_ne!(info.agent_base_address, info.host_base_address);
    assert_eq!(info.size_in_bytes, bytes);
    assert_eq!(info_of(pointer).host_base_address, info.host_base_address);
    let arguments = Memory::of(system.kernarg, &[pointer as u64 + 4 * 4999]);
    let done = OwnSignal::new(1);
    ring.submit(&dispatch(program.kernel("count"), 64, 64, arguments.address(), Some(&done)));
    done.wait();
    // SAFETY: a kernel has changed it behind the compiler's back.
    assert_eq!(unsafe { own.as_ptr().add(4999).read_volatile() }, 64);
    // Copies and fills take either address.
    ok(hsa_amd_memory_fill(pointer, 7, 3));
    let copied = OwnSignal::new(1);
    let (cpu, gpu) = (system.cpu, system.gpu);
    let at = (pointer as u64 + 12) as *mut c_void;
    ok(hsa_amd_memory_async_copy(at, gpu, own.as_ptr().cast(), cpu, 8, 0, null(), copied.0));
    copied.wait();
    // SAFETY: as above.
    assert_eq!(unsafe { own.as_ptr().cast::<[u32; 6]>().read_volatile() }, [7, 7, 7, 7, 7, 0]);
    ok(hsa_amd_memory_unlock(own.as_mut_ptr().cast()));
    assert_eq!(info_of(own.as_ptr().cast()).kind, EXT_POINTER_TYPE_UNKNOWN);
    // And through a pool.
    let host = own.as_mut_ptr().cast();
    ok(hsa_amd_memory_lock_to_pool(host, bytes, agents.as_mut_ptr(), 1, system.host, 0, &mut pointer));
    ok(hsa_amd_memory_unlock(host));
    ok(hsa_memory_register(host, bytes));
    ok(hsa_memory_deregister(host, bytes));
    ring.destroy();
}

#[test]
fn pointers_are_known() {
    let system = system();
    let memory = Memory::<u64>::new(system.device, 1000);
    let info = info_of((memory.address() + 4000) as *const c_void);
    assert_eq!(info.kind, EXT_POINTER_TYPE_HSA);
    assert_eq!(info.agent_base_address, memory.pointer.cast());
    assert!(info.size_in_bytes >= 8000);
    assert_eq!(info.agent_owner, system.gpu);
    assert_eq!(info.global_flags & AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED, 4);
    let mut mark = 5u32;
    ok(hsa_amd_pointer_info_set_userdata(memory.pointer.cast(), (&raw mut mark).cast()));
    assert_eq!(info_of(memory.pointer.cast()).user_data, (&raw mut mark).cast());

    let host = Memory::<u64>::new(system.host, 10);
    let info = info_of(host.pointer.cast());
    assert_eq!((info.kind, info.agent_owner), (EXT_POINTER_TYPE_HSA, system.cpu));
    assert_eq!(info.host_base_address, host.pointer.cast());

    let on_stack = 0u64;
    assert_eq!(info_of((&raw const on_stack).cast()).kind, EXT_POINTER_TYPE_UNKNOWN);

    // Who may reach it, in memory that the callback allocates.
    unsafe extern "C" fn allocate(size: usize) -> *mut c_void {
        // SAFETY: any size.
        unsafe { libc::malloc(size) }
    }
    let (mut count, mut agents) = (0, null_mut());
    let mut about = info_of(memory.pointer.cast());
    ok(hsa_amd_pointer_info(memory.pointer.cast(), &mut about, Some(allocate), &mut count, &mut agents));
    // SAFETY: as many as it says; allocated above.
    let reach = unsafe { std::slice::from_raw_parts(agents, count as usize) }.to_vec();
    // SAFETY: malloc's.
    unsafe { libc::free(agents.cast()) };
    assert!(reach.contains(&system.gpu), "{reach:?}");
}

#[test]
fn deallocation_is_announced() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    unsafe extern "C" fn gone(_: *mut c_void, data: *mut c_void) {
        CALLS.fetch_add(data as usize, Ordering::SeqCst);
    }
    unsafe extern "C" fn never(_: *mut c_void, _: *mut c_void) {
        CALLS.fetch_add(1_000_000, Ordering::SeqCst);
    }
    let system = system();
    let memory = Memory::<u8>::new(system.device, 100);
    let pointer: *mut c_void = memory.pointer.cast();
    ok(hsa_amd_register_deallocation_callback(pointer, Some(gone), 7 as *mut c_void));
    ok(hsa_amd_register_deallocation_callback(pointer, Some(never), null_mut()));
    ok(hsa_amd_deregister_deallocation_callback(pointer, Some(never)));
    drop(memory);
    assert_eq!(CALLS.load(Ordering::SeqCst), 7);
}

/// What is being freed is no allocation any more for those who are told; whoever frees it succeeds.
#[test]
fn freed_inside_its_callback() {
    static INNER: AtomicUsize = AtomicUsize::new(0);
    unsafe extern "C" fn again(pointer: *mut c_void, _: *mut c_void) {
        INNER.store(hsa_amd_memory_pool_free(pointer) as usize, Ordering::SeqCst);
    }
    let system = system();
    let mut pointer = null_mut();
    ok(hsa_amd_memory_pool_allocate(system.device, 100, 0, &mut pointer));
    ok(hsa_amd_register_deallocation_callback(pointer, Some(again), null_mut()));
    ok(hsa_amd_memory_pool_free(pointer));
    assert_eq!(INNER.load(Ordering::SeqCst), STATUS_ERROR_INVALID_ALLOCATION as usize);
}

/// A handle of shared memory, attached in the same process.
#[test]
fn shared_between_processes() {
    let system = system();
    let mut pointer = null_mut();
    ok(hsa_amd_memory_pool_allocate(system.host, 8192, 0, &mut pointer));
    let mut handle = IpcMemory::default();
    ok(hsa_amd_ipc_memory_create(pointer, 8192, &mut handle));
    let mut view = null_mut();
    ok(hsa_amd_ipc_memory_attach(&handle, 8192, 1, &system.gpu, &mut view));
    let text = b"seen by both";
    ok(hsa_memory_copy(pointer, text.as_ptr().cast(), text.len()));
    let mut back = [0u8; 12];
    ok(hsa_memory_copy(back.as_mut_ptr().cast(), view, back.len()));
    assert_eq!(&back, text);
    ok(hsa_amd_ipc_memory_detach(view));
    ok(hsa_amd_memory_pool_free(pointer));
}

/// Much memory is promised, little is taken; more than there is is refused.
#[test]
fn large_allocations() {
    let system = system();
    let most: usize = pool_info(system.device, AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE);
    let mut pointer = null_mut();
    ok(hsa_amd_memory_pool_allocate(system.device, 8 << 30, 0, &mut pointer));
    let end = (pointer as u64 + (8 << 30) - 4) as *mut c_void;
    ok(hsa_amd_memory_fill(end, 99, 1));
    let mut word = 0u32;
    ok(hsa_memory_copy((&raw mut word).cast(), end, 4));
    assert_eq!(word, 99);
    ok(hsa_amd_memory_pool_free(pointer));
    let status = hsa_amd_memory_pool_allocate(system.device, most + (1 << 30), 0, &mut pointer);
    assert!(
        [STATUS_ERROR_INVALID_ALLOCATION, STATUS_ERROR_OUT_OF_RESOURCES].contains(&status),
        "{status:#x}"
    );
}

#[test]
fn svm_attributes() {
    let system = system();
    if !attribute::<bool>(|p| hsa_system_get_info(AMD_SYSTEM_INFO_SVM_SUPPORTED, p)) {
        return;
    }
    // SAFETY: anonymous memory of the program's own.
    let pages = unsafe {
        libc::mmap(
            null_mut(),
            1 << 20,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    let mut set = [
        SvmAttribute { attribute: u64::from(AMD_SVM_ATTRIB_AGENT_ACCESSIBLE), value: system.gpu.handle },
        SvmAttribute {
            attribute: u64::from(AMD_SVM_ATTRIB_GLOBAL_FLAG),
            value: u64::from(AMD_SVM_GLOBAL_FLAG_FINE_GRAINED),
        },
    ];
    ok(hsa_amd_svm_attributes_set(pages, 1 << 20, set.as_mut_ptr(), set.len()));
    let mut get = [
        SvmAttribute { attribute: u64::from(AMD_SVM_ATTRIB_ACCESS_QUERY), value: system.gpu.handle },
        SvmAttribute { attribute: u64::from(AMD_SVM_ATTRIB_GLOBAL_FLAG), value: 77 },
    ];
    ok(hsa_amd_svm_attributes_get(pages, 1 << 20, get.as_mut_ptr(), get.len()));
    assert_eq!(get[0].attribute, u64::from(AMD_SVM_ATTRIB_AGENT_ACCESSIBLE));
    assert_eq!(get[1].value, u64::from(AMD_SVM_GLOBAL_FLAG_FINE_GRAINED));
    let done = OwnSignal::new(1);
    ok(hsa_amd_svm_prefetch_async(pages, 1 << 20, system.gpu, 0, null(), done.0));
    done.wait();
    // A kernel works there.
    let program = Program::new(&count());
    let arguments = Memory::of(system.kernarg, &[pages as u64 + 4096]);
    let (ring, ran) = (Ring::new(64), OwnSignal::new(1));
    ring.submit(&dispatch(program.kernel("count"), 64, 64, arguments.address(), Some(&ran)));
    ran.wait();
    // SAFETY: within the pages.
    assert_eq!(unsafe { pages.cast::<u32>().add(1024).read_volatile() }, 64);
    ring.destroy();
}

/// What one thread has freed another gets at once, and may free at once.
#[test]
fn addresses_that_are_given_again() {
    let system = system();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..2000 {
                    let mut pointer = null_mut();
                    ok(hsa_amd_memory_pool_allocate(system.host, 64, 0, &mut pointer));
                    ok(hsa_amd_memory_pool_free(pointer));
                }
            });
        }
    });
}
