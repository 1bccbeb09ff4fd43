//! Every error code that the headers promise for wrong arguments: null pointers, wrong sizes and attributes, handles
//! that were never given out, objects that are gone.

use crate::constants::*;
use crate::ffi::*;
use crate::setup::*;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

const NEVER: u64 = 0xd_eadb_eef0;

/// Compares statuses and tells all that differ at the end, so that one run shows them all.
struct Refused {
    wrong: Vec<String>,
}

impl Refused {
    fn new() -> Refused {
        system();
        Refused { wrong: Vec::new() }
    }

    fn check(&mut self, expected: Status, status: Status, call: &str) {
        if status != expected {
            let name = |s: Status| {
                let statuses = ALL.iter().filter(|(n, _)| n.starts_with("STATUS_"));
                statuses.clone().find(|(_, v)| *v == s).map_or(format!("{s:#x}"), |(n, _)| n.to_string())
            };
            self.wrong.push(format!("{call}: {}, not {}", name(status), name(expected)));
        }
    }

    #[track_caller]
    fn finish(self) {
        assert!(self.wrong.is_empty(), "\n{}\n", self.wrong.join("\n"));
    }
}

/// `refuse!(list, STATUS: call, call, …)`.
macro_rules! refuse {
    ($list:ident, $status:ident: $($call:expr),+ $(,)?) => {
        $($list.check($status, $call, stringify!($call));)+
    };
}

fn bad_agents() -> [Agent; 2] {
    [Agent { handle: 0 }, Agent { handle: NEVER }]
}

/// Somewhere to write what no call shall write.
fn nowhere() -> *mut c_void {
    static mut SPACE: [u64; 32] = [0; 32];
    (&raw mut SPACE).cast()
}

unsafe extern "C" fn each<T>(_: T, _: *mut c_void) -> Status {
    STATUS_SUCCESS
}

#[test]
fn system_and_agents() {
    let mut list = Refused::new();
    let (gpu, isa) = (system().gpu, agent_info::<Isa>(system().gpu, AGENT_INFO_ISA));
    let mut text = null();
    let (mut minor, mut yes, mut mask, mut method) = (0u16, false, 0u16, 0u32);
    refuse!(list, STATUS_ERROR_INVALID_ARGUMENT:
        hsa_status_string(0x7777, &mut text),
        hsa_status_string(STATUS_SUCCESS, null_mut()),
        hsa_system_get_info(0x7777, nowhere()),
        hsa_system_get_info(SYSTEM_INFO_TIMESTAMP, null_mut()),
        hsa_extension_get_name(0x777, &mut text),
        hsa_extension_get_name(EXTENSION_IMAGES as u16, null_mut()),
        hsa_system_extension_supported(0x777, 1, 0, &mut yes),
        hsa_system_extension_supported(EXTENSION_IMAGES as u16, 1, 0, null_mut()),
        hsa_system_major_extension_supported(0x777, 1, &mut minor, &mut yes),
        hsa_system_major_extension_supported(EXTENSION_IMAGES as u16, 1, null_mut(), &mut yes),
        hsa_system_major_extension_supported(EXTENSION_IMAGES as u16, 1, &mut minor, null_mut()),
        hsa_system_get_extension_table(0x777, 1, 0, nowhere()),
        hsa_system_get_extension_table(EXTENSION_AMD_LOADER as u16, 1, 0, null_mut()),
        hsa_system_get_major_extension_table(0x777, 1, 8, nowhere()),
        hsa_system_get_major_extension_table(EXTENSION_AMD_LOADER as u16, 1, 8, null_mut()),
        hsa_agent_get_info(gpu, 0x7777, nowhere()),
        hsa_agent_get_info(gpu, AGENT_INFO_NAME, null_mut()),
        hsa_iterate_agents(None, null_mut()),
        hsa_agent_get_exception_policies(gpu, 9, &mut mask),
        hsa_agent_get_exception_policies(gpu, PROFILE_FULL, null_mut()),
        hsa_agent_iterate_caches(gpu, None, null_mut()),
        hsa_agent_extension_supported(0x777, gpu, 1, 0, &mut yes),
        hsa_agent_extension_supported(EXTENSION_IMAGES as u16, gpu, 1, 0, null_mut()),
        hsa_agent_major_extension_supported(0x777, gpu, 1, &mut minor, &mut yes),
        hsa_agent_major_extension_supported(EXTENSION_IMAGES as u16, gpu, 1, null_mut(), &mut yes),
        hsa_agent_major_extension_supported(EXTENSION_IMAGES as u16, gpu, 1, &mut minor, null_mut()),
        hsa_agent_iterate_isas(gpu, None, null_mut()),
        hsa_agent_iterate_regions(gpu, None, null_mut()),
        hsa_isa_from_name(null(), &mut Isa::default()),
        hsa_isa_from_name(c"amdgcn-amd-amdhsa--gfx90a".as_ptr(), null_mut()),
        hsa_isa_get_info(isa, 0x7777, 0, nowhere()),
        hsa_isa_get_info(isa, ISA_INFO_NAME_LENGTH, 0, null_mut()),
        hsa_isa_get_info_alt(isa, 0x7777, nowhere()),
        hsa_isa_get_info_alt(isa, ISA_INFO_NAME, null_mut()),
        hsa_isa_get_exception_policies(isa, 9, &mut mask),
        hsa_isa_get_exception_policies(isa, PROFILE_FULL, null_mut()),
        hsa_isa_get_round_method(isa, 8, FLUSH_MODE_FTZ, &mut method),
        hsa_isa_get_round_method(isa, FP_TYPE_32, 8, &mut method),
        hsa_isa_get_round_method(isa, FP_TYPE_32, FLUSH_MODE_FTZ, null_mut()),
        hsa_isa_iterate_wavefronts(isa, None, null_mut()),
        hsa_isa_compatible(isa, isa, null_mut()),
    );
    refuse!(list, STATUS_ERROR_INVALID_ISA_NAME:
        hsa_isa_from_name(c"".as_ptr(), &mut Isa::default()),
        hsa_isa_from_name(c"amdgcn-amd-amdhsa--gfx9999".as_ptr(), &mut Isa::default()),
        hsa_isa_from_name(c"x86_64".as_ptr(), &mut Isa::default()),
    );
    for bad in bad_agents() {
        refuse!(list, STATUS_ERROR_INVALID_AGENT:
            hsa_agent_get_info(bad, AGENT_INFO_NAME, nowhere()),
            hsa_agent_get_exception_policies(bad, PROFILE_FULL, &mut mask),
            hsa_agent_iterate_caches(bad, Some(each), null_mut()),
            hsa_agent_extension_supported(EXTENSION_IMAGES as u16, bad, 1, 0, &mut yes),
            hsa_agent_major_extension_supported(EXTENSION_IMAGES as u16, bad, 1, &mut minor, &mut yes),
            hsa_agent_iterate_isas(bad, Some(each), null_mut()),
            hsa_agent_iterate_regions(bad, Some(each), null_mut()),
            hsa_amd_agent_iterate_memory_pools(bad, Some(each), null_mut()),
            hsa_amd_coherency_get_type(bad, &mut method),
            hsa_amd_coherency_set_type(bad, AMD_COHERENCY_TYPE_COHERENT),
            hsa_amd_profiling_convert_tick_to_system_domain(bad, 1, &mut 0),
        );
    }
    for bad in [Isa { handle: 0 }, Isa { handle: NEVER }] {
        refuse!(list, STATUS_ERROR_INVALID_ISA:
            hsa_isa_get_info(bad, ISA_INFO_NAME_LENGTH, 0, nowhere()),
            hsa_isa_get_info_alt(bad, ISA_INFO_NAME_LENGTH, nowhere()),
            hsa_isa_get_exception_policies(bad, PROFILE_FULL, &mut mask),
            hsa_isa_get_round_method(bad, FP_TYPE_32, FLUSH_MODE_FTZ, &mut method),
            hsa_isa_iterate_wavefronts(bad, Some(each), null_mut()),
            hsa_isa_compatible(bad, isa, &mut yes),
            hsa_isa_compatible(isa, bad, &mut yes),
        );
    }
    let cache = all(|f, d| hsa_agent_iterate_caches(gpu, f, d))[0];
    let wave = all(|f, d| hsa_isa_iterate_wavefronts(isa, f, d))[0];
    refuse!(list, STATUS_ERROR_INVALID_ARGUMENT:
        hsa_cache_get_info(cache, 0x77, nowhere()),
        hsa_cache_get_info(cache, CACHE_INFO_SIZE, null_mut()),
        hsa_wavefront_get_info(wave, 0x77, nowhere()),
        hsa_wavefront_get_info(wave, WAVEFRONT_INFO_SIZE, null_mut()),
        hsa_amd_coherency_get_type(gpu, null_mut()),
        hsa_amd_coherency_set_type(gpu, 9),
        hsa_amd_profiling_convert_tick_to_system_domain(gpu, 1, null_mut()),
        hsa_amd_agent_iterate_memory_pools(gpu, None, null_mut()),
    );
    refuse!(list, STATUS_ERROR_INVALID_CACHE:
        hsa_cache_get_info(Cache { handle: 0 }, CACHE_INFO_SIZE, nowhere()),
        hsa_cache_get_info(Cache { handle: NEVER }, CACHE_INFO_SIZE, nowhere()),
    );
    refuse!(list, STATUS_ERROR_INVALID_WAVEFRONT:
        hsa_wavefront_get_info(Wavefront { handle: 0 }, WAVEFRONT_INFO_SIZE, nowhere()),
        hsa_wavefront_get_info(Wavefront { handle: NEVER }, WAVEFRONT_INFO_SIZE, nowhere()),
    );
    list.finish();
}

#[test]
fn signals() {
    let mut list = Refused::new();
    let (gpu, cpu) = (system().gpu, system().cpu);
    let twice = [gpu, gpu];
    let mut signal = Signal::default();
    let good = OwnSignal::new(1);
    let mut group = SignalGroup::default();
    ok(hsa_signal_group_create(1, &good.0, 1, &cpu, &mut group));
    let (conditions, values) = ([SIGNAL_CONDITION_EQ], [1]);
    let (mut which, mut value) = (Signal::default(), 0);
    let mut times = Times::default();
    let mut handle = IpcMemory::default();
    refuse!(list, STATUS_ERROR_INVALID_ARGUMENT:
        hsa_signal_create(0, 0, null(), null_mut()),
        hsa_signal_create(0, 1, null(), &mut signal),
        hsa_signal_create(0, 2, twice.as_ptr(), &mut signal),
        hsa_amd_signal_create(0, 0, null(), 0, null_mut()),
        hsa_amd_signal_create(0, 1, null(), 0, &mut signal),
        hsa_amd_signal_create(0, 2, twice.as_ptr(), 0, &mut signal),
        hsa_signal_destroy(Signal { handle: 0 }),
        hsa_signal_group_create(0, &good.0, 1, &cpu, &mut group),
        hsa_signal_group_create(1, null(), 1, &cpu, &mut group),
        hsa_signal_group_create(1, &good.0, 0, &cpu, &mut group),
        hsa_signal_group_create(1, &good.0, 1, null(), &mut group),
        hsa_signal_group_create(1, &good.0, 1, &cpu, null_mut()),
        hsa_signal_group_wait_any_scacquire(group, null(), values.as_ptr(), 0, &mut which, &mut value),
        hsa_signal_group_wait_any_scacquire(group, conditions.as_ptr(), null(), 0, &mut which, &mut value),
        hsa_signal_group_wait_any_relaxed(group, conditions.as_ptr(), values.as_ptr(), 0, null_mut(), &mut value),
        hsa_signal_group_wait_any_relaxed(group, conditions.as_ptr(), values.as_ptr(), 0, &mut which, null_mut()),
        hsa_amd_signal_async_handler(good.0, SIGNAL_CONDITION_EQ, 0, None, null_mut()),
        hsa_amd_async_function(None, null_mut()),
        hsa_amd_profiling_get_dispatch_time(gpu, good.0, null_mut()),
        hsa_amd_profiling_get_async_copy_time(good.0, null_mut()),
        hsa_amd_ipc_signal_create(good.0, &mut handle),
        hsa_amd_ipc_signal_create(good.0, null_mut()),
        hsa_amd_ipc_signal_attach(&handle, &mut signal),
        hsa_amd_ipc_signal_attach(null(), &mut signal),
        hsa_amd_signal_value_pointer(good.0, null_mut()),
    );
    unsafe extern "C" fn handler(_: Value, _: *mut c_void) -> bool {
        false
    }
    // A signal that is gone, and one that never was.
    ok(hsa_signal_create(0, 0, null(), &mut signal));
    ok(hsa_signal_destroy(signal));
    for bad in [signal, Signal { handle: NEVER }] {
        refuse!(list, STATUS_ERROR_INVALID_SIGNAL:
            hsa_signal_destroy(bad),
            hsa_amd_signal_async_handler(bad, SIGNAL_CONDITION_EQ, 0, Some(handler), null_mut()),
            hsa_amd_profiling_get_dispatch_time(gpu, bad, &mut times),
            hsa_amd_profiling_get_async_copy_time(bad, &mut times),
        );
    }
    for bad in bad_agents() {
        refuse!(list, STATUS_ERROR_INVALID_AGENT:
            hsa_amd_profiling_get_dispatch_time(bad, good.0, &mut times));
    }
    ok(hsa_signal_group_destroy(group));
    for bad in [group, SignalGroup { handle: 0 }, SignalGroup { handle: NEVER }] {
        refuse!(list, STATUS_ERROR_INVALID_SIGNAL_GROUP:
            hsa_signal_group_destroy(bad),
            hsa_signal_group_wait_any_scacquire(
                bad, conditions.as_ptr(), values.as_ptr(), 0, &mut which, &mut value),
            hsa_signal_group_wait_any_relaxed(
                bad, conditions.as_ptr(), values.as_ptr(), 0, &mut which, &mut value),
        );
    }
    list.finish();
}

#[test]
fn queues() {
    let mut list = Refused::new();
    let (gpu, cpu) = (system().gpu, system().cpu);
    let mut queue = null_mut();
    let (none, any) = (null_mut(), u32::MAX);
    let most: u32 = agent_info(gpu, AGENT_INFO_QUEUE_MAX_SIZE);
    let region = all(|f, d| hsa_agent_iterate_regions(cpu, f, d))[0];
    let bell = OwnSignal::new(0);
    let ring = Ring::new(64);
    let mut mask = [0u32; 4];
    refuse!(list, STATUS_ERROR_INVALID_ARGUMENT:
        hsa_queue_create(gpu, 0, QUEUE_TYPE_MULTI, None, none, any, any, &mut queue),
        hsa_queue_create(gpu, 100, QUEUE_TYPE_MULTI, None, none, any, any, &mut queue),
        hsa_queue_create(gpu, most * 2, QUEUE_TYPE_MULTI, None, none, any, any, &mut queue),
        hsa_queue_create(gpu, 64, 77, None, none, any, any, &mut queue),
        hsa_queue_create(gpu, 64, QUEUE_TYPE_MULTI, None, none, any, any, null_mut()),
        hsa_soft_queue_create(region, 0, QUEUE_TYPE_MULTI, 2, bell.0, &mut queue),
        hsa_soft_queue_create(region, 48, QUEUE_TYPE_MULTI, 2, bell.0, &mut queue),
        hsa_soft_queue_create(region, 64, 77, 2, bell.0, &mut queue),
        hsa_soft_queue_create(region, 64, QUEUE_TYPE_MULTI, 2, Signal { handle: 0 }, &mut queue),
        hsa_soft_queue_create(region, 64, QUEUE_TYPE_MULTI, 2, bell.0, null_mut()),
        hsa_queue_destroy(null_mut()),
        hsa_queue_inactivate(null_mut()),
        hsa_amd_profiling_set_profiler_enabled(null_mut(), 1),
        hsa_amd_queue_cu_set_mask(ring.0, 20, mask.as_ptr()),
        hsa_amd_queue_cu_set_mask(ring.0, 32, null()),
        hsa_amd_queue_cu_get_mask(ring.0, 0, mask.as_mut_ptr()),
        hsa_amd_queue_cu_get_mask(ring.0, 20, mask.as_mut_ptr()),
        hsa_amd_queue_cu_get_mask(ring.0, 32, null_mut()),
        hsa_amd_queue_set_priority(ring.0, 9),
    );
    for bad in bad_agents() {
        refuse!(list, STATUS_ERROR_INVALID_AGENT:
            hsa_queue_create(bad, 64, QUEUE_TYPE_MULTI, None, none, any, any, &mut queue));
    }
    // The CPU has no queues.
    refuse!(list, STATUS_ERROR_INVALID_QUEUE_CREATION:
        hsa_queue_create(cpu, 64, QUEUE_TYPE_MULTI, None, none, any, any, &mut queue));
    ring.destroy();
    // A queue that is gone, and something that is none.
    let mut other = [0u64; 64];
    for bad in [ring.0, other.as_mut_ptr().cast()] {
        refuse!(list, STATUS_ERROR_INVALID_QUEUE:
            hsa_queue_destroy(bad),
            hsa_queue_inactivate(bad),
            hsa_amd_profiling_set_profiler_enabled(bad, 1),
            hsa_amd_queue_cu_set_mask(bad, 32, mask.as_ptr()),
            hsa_amd_queue_cu_get_mask(bad, 32, mask.as_mut_ptr()),
            hsa_amd_queue_set_priority(bad, AMD_QUEUE_PRIORITY_NORMAL),
        );
    }
    refuse!(list, STATUS_ERROR_INVALID_QUEUE:
        hsa_amd_queue_cu_set_mask(null(), 32, mask.as_ptr()),
        hsa_amd_queue_cu_get_mask(null(), 32, mask.as_mut_ptr()),
        hsa_amd_queue_set_priority(null_mut(), AMD_QUEUE_PRIORITY_NORMAL),
    );
    list.finish();
}

#[test]
fn memory() {
    let mut list = Refused::new();
    let system = system();
    let (gpu, cpu) = (system.gpu, system.cpu);
    let region = all(|f, d| hsa_agent_iterate_regions(cpu, f, d))[0];
    let most: usize = attribute(|p| hsa_region_get_info(region, REGION_INFO_ALLOC_MAX_SIZE, p));
    let memory = Memory::<u64>::new(system.host, 512);
    let p: *mut c_void = memory.pointer.cast();
    let mut out = null_mut();
    let signal = OwnSignal::new(1);
    let (mut yes, mut agents) = (false, [gpu]);
    // SAFETY: plain data.
    let mut info: PointerInfo = unsafe { std::mem::zeroed() };
    info.size = size_of::<PointerInfo>() as u32;
    let mut handle = IpcMemory::default();
    let mut own = [0u64; 64];
    let own: *mut c_void = own.as_mut_ptr().cast();
    unsafe extern "C" fn gone(_: *mut c_void, _: *mut c_void) {}
    refuse!(list, STATUS_ERROR_INVALID_ARGUMENT:
        hsa_region_get_info(region, 0x7777, nowhere()),
        hsa_region_get_info(region, REGION_INFO_SIZE, null_mut()),
        hsa_memory_allocate(region, 0, &mut out),
        hsa_memory_allocate(region, 64, null_mut()),
        hsa_memory_copy(null_mut(), p, 8),
        hsa_memory_copy(p, null(), 8),
        hsa_memory_assign_agent(null_mut(), gpu, ACCESS_PERMISSION_RW),
        hsa_memory_assign_agent(p, gpu, 9),
        hsa_memory_register(p, 0),
        hsa_amd_memory_pool_allocate(system.host, 0, 0, &mut out),
        hsa_amd_memory_pool_allocate(system.host, 64, 0, null_mut()),
        hsa_amd_memory_pool_get_info(system.host, 0x7777, nowhere()),
        hsa_amd_memory_pool_get_info(system.host, AMD_MEMORY_POOL_INFO_SIZE, null_mut()),
        hsa_amd_memory_async_copy(null_mut(), cpu, p, cpu, 8, 0, null(), signal.0),
        hsa_amd_memory_async_copy(p, cpu, null(), cpu, 8, 0, null(), signal.0),
        hsa_amd_memory_async_copy(p, cpu, p, cpu, 8, 1, null(), signal.0),
        hsa_amd_agent_memory_pool_get_info(gpu, system.host, 0x77, nowhere()),
        hsa_amd_agent_memory_pool_get_info(gpu, system.host, AMD_AGENT_MEMORY_POOL_INFO_ACCESS, null_mut()),
        hsa_amd_agents_allow_access(0, &gpu, null(), p),
        hsa_amd_agents_allow_access(1, null(), null(), p),
        hsa_amd_agents_allow_access(1, &gpu, &1, p),
        hsa_amd_agents_allow_access(1, &gpu, null(), null()),
        hsa_amd_memory_pool_can_migrate(system.host, system.device, null_mut()),
        hsa_amd_memory_lock(null_mut(), 64, agents.as_mut_ptr(), 1, &mut out),
        hsa_amd_memory_lock(own, 0, agents.as_mut_ptr(), 1, &mut out),
        hsa_amd_memory_lock(own, 64, agents.as_mut_ptr(), 1, null_mut()),
        hsa_amd_memory_lock_to_pool(null_mut(), 64, agents.as_mut_ptr(), 1, system.host, 0, &mut out),
        hsa_amd_memory_lock_to_pool(own, 0, agents.as_mut_ptr(), 1, system.host, 0, &mut out),
        hsa_amd_memory_lock_to_pool(own, 64, agents.as_mut_ptr(), 1, system.host, 0, null_mut()),
        hsa_amd_memory_fill(null_mut(), 0, 4),
        hsa_amd_memory_fill((memory.address() + 2) as *mut c_void, 0, 4),
        hsa_amd_pointer_info(null(), &mut info, None, null_mut(), null_mut()),
        hsa_amd_pointer_info(p, null_mut(), None, null_mut(), null_mut()),
        hsa_amd_pointer_info_set_userdata(own, null_mut()),
        hsa_amd_pointer_info_set_userdata(null(), null_mut()),
        hsa_amd_ipc_memory_create(null_mut(), 4096, &mut handle),
        hsa_amd_ipc_memory_create((memory.address() + 64) as *mut c_void, 4096, &mut handle),
        hsa_amd_ipc_memory_create(p, 4096, null_mut()),
        hsa_amd_ipc_memory_attach(&IpcMemory::default(), 4096, 1, &gpu, &mut out),
        hsa_amd_ipc_memory_attach(null(), 4096, 1, &gpu, &mut out),
        hsa_amd_ipc_memory_detach(p),
        hsa_amd_ipc_memory_detach(null_mut()),
        hsa_amd_register_deallocation_callback(null_mut(), Some(gone), null_mut()),
        hsa_amd_register_deallocation_callback(p, None, null_mut()),
        hsa_amd_deregister_deallocation_callback(p, Some(gone)),
        hsa_amd_interop_map_buffer(
            1, agents.as_mut_ptr(), 0, 0, null_mut(), &mut out, null_mut(), null_mut()),
        hsa_amd_interop_unmap_buffer(null_mut()),
        hsa_amd_image_get_info_max_dim(gpu, 0x3000, null_mut()),
        hsa_amd_image_get_info_max_dim(gpu, AGENT_INFO_NAME, nowhere()),
    );
    refuse!(list, STATUS_ERROR_INVALID_ALLOCATION:
        hsa_memory_allocate(region, most + 4096, &mut out),
        hsa_memory_free(own),
        hsa_amd_memory_pool_free(own),
        hsa_amd_memory_fill(own, 0, 4),
        hsa_amd_register_deallocation_callback(own, Some(gone), null_mut()),
    );
    // Free has C's rule.
    ok(hsa_memory_free(null_mut()));
    ok(hsa_amd_memory_pool_free(null_mut()));
    for bad in [Region { handle: 0 }, Region { handle: NEVER }] {
        refuse!(list, STATUS_ERROR_INVALID_REGION:
            hsa_region_get_info(bad, REGION_INFO_SIZE, nowhere()),
            hsa_memory_allocate(bad, 64, &mut out),
        );
    }
    for bad in [Pool { handle: 0 }, Pool { handle: NEVER }] {
        refuse!(list, STATUS_ERROR_INVALID_MEMORY_POOL:
            hsa_amd_memory_pool_get_info(bad, AMD_MEMORY_POOL_INFO_SIZE, nowhere()),
            hsa_amd_memory_pool_allocate(bad, 64, 0, &mut out),
            hsa_amd_agent_memory_pool_get_info(gpu, bad, AMD_AGENT_MEMORY_POOL_INFO_ACCESS, nowhere()),
            hsa_amd_memory_pool_can_migrate(bad, system.host, &mut yes),
            hsa_amd_memory_pool_can_migrate(system.host, bad, &mut yes),
            hsa_amd_memory_migrate(p, bad, 0),
            hsa_amd_memory_lock_to_pool(own, 64, agents.as_mut_ptr(), 1, bad, 0, &mut out),
        );
    }
    // A pool that is no CPU's.
    refuse!(list, STATUS_ERROR_INVALID_MEMORY_POOL:
        hsa_amd_memory_lock_to_pool(own, 64, agents.as_mut_ptr(), 1, system.device, 0, &mut out));
    for bad in bad_agents() {
        let mut bads = [bad];
        refuse!(list, STATUS_ERROR_INVALID_AGENT:
            hsa_memory_assign_agent(p, bad, ACCESS_PERMISSION_RW),
            hsa_amd_memory_async_copy(p, bad, p, cpu, 8, 0, null(), signal.0),
            hsa_amd_memory_async_copy(p, cpu, p, bad, 8, 0, null(), signal.0),
            hsa_amd_agents_allow_access(1, &bad, null(), p),
            hsa_amd_agent_memory_pool_get_info(bad, system.host, AMD_AGENT_MEMORY_POOL_INFO_ACCESS, nowhere()),
            hsa_amd_memory_lock(own, 64, bads.as_mut_ptr(), 1, &mut out),
            hsa_amd_memory_lock_to_pool(own, 64, bads.as_mut_ptr(), 1, system.host, 0, &mut out),
        );
    }
    refuse!(list, STATUS_ERROR_INVALID_SIGNAL:
        hsa_amd_memory_async_copy(p, cpu, p, cpu, 8, 0, null(), Signal { handle: NEVER }));
    // Freed twice.
    ok(hsa_amd_memory_pool_allocate(system.host, 64, 0, &mut out));
    ok(hsa_amd_memory_pool_free(out));
    refuse!(list, STATUS_ERROR_INVALID_ALLOCATION: hsa_amd_memory_pool_free(out));
    list.finish();
}

#[test]
fn code() {
    let mut list = Refused::new();
    let gpu = system().gpu;
    let mut bytes = code_object(&empty());
    let size = bytes.len();
    let code: *mut c_void = bytes.as_mut_ptr().cast();
    let (mut reader, mut executable, mut symbol) =
        (Reader::default(), Executable::default(), Symbol::default());
    let (mut object, mut code_symbol) = (CodeObject::default(), CodeSymbol::default());
    let (base, near) = (PROFILE_BASE, DEFAULT_FLOAT_ROUNDING_MODE_NEAR);
    let (name, missing) = (c"empty.kd".as_ptr(), c"missing".as_ptr());
    refuse!(list, STATUS_ERROR_INVALID_ARGUMENT:
        hsa_code_object_reader_create_from_memory(null(), size, &mut reader),
        hsa_code_object_reader_create_from_memory(code, 0, &mut reader),
        hsa_code_object_reader_create_from_memory(code, size, null_mut()),
        hsa_code_object_reader_create_from_file(0, null_mut()),
        hsa_executable_create_alt(9, near, null(), &mut executable),
        hsa_executable_create_alt(base, near, null(), null_mut()),
        hsa_executable_create(9, EXECUTABLE_STATE_UNFROZEN, null(), &mut executable),
        hsa_executable_create(base, 9, null(), &mut executable),
        hsa_executable_create(base, EXECUTABLE_STATE_UNFROZEN, null(), null_mut()),
        hsa_code_object_deserialize(null_mut(), size, null(), &mut object),
        hsa_code_object_deserialize(code, 0, null(), &mut object),
        hsa_code_object_deserialize(code, size, null(), null_mut()),
    );
    refuse!(list, STATUS_ERROR_INVALID_FILE: hsa_code_object_reader_create_from_file(-1, &mut reader));

    ok(hsa_code_object_reader_create_from_memory(code, size, &mut reader));
    ok(hsa_executable_create_alt(base, near, null(), &mut executable));
    for bad in bad_agents() {
        refuse!(list, STATUS_ERROR_INVALID_AGENT:
            hsa_executable_load_agent_code_object(executable, bad, reader, null(), null_mut()),
            hsa_executable_agent_global_variable_define(executable, bad, name, nowhere()),
            hsa_executable_readonly_variable_define(executable, bad, name, nowhere()),
        );
    }
    for bad in [Reader { handle: 0 }, Reader { handle: NEVER }] {
        refuse!(list, STATUS_ERROR_INVALID_CODE_OBJECT_READER:
            hsa_executable_load_agent_code_object(executable, gpu, bad, null(), null_mut()),
            hsa_executable_load_program_code_object(executable, bad, null(), null_mut()),
            hsa_code_object_reader_destroy(bad),
        );
    }
    for bad in [CodeObject { handle: 0 }, CodeObject { handle: NEVER }] {
        refuse!(list, STATUS_ERROR_INVALID_CODE_OBJECT:
            hsa_executable_load_code_object(executable, gpu, bad, null()));
    }
    refuse!(list, STATUS_ERROR_INVALID_ARGUMENT:
        hsa_executable_global_variable_define(executable, null(), nowhere()),
        hsa_executable_agent_global_variable_define(executable, gpu, null(), nowhere()),
        hsa_executable_readonly_variable_define(executable, gpu, null(), nowhere()),
    );
    ok(hsa_executable_load_agent_code_object(executable, gpu, reader, null(), null_mut()));
    ok(hsa_executable_freeze(executable, null()));
    ok(hsa_code_object_deserialize(code, size, null(), &mut object));
    refuse!(list, STATUS_ERROR_FROZEN_EXECUTABLE:
        hsa_executable_load_agent_code_object(executable, gpu, reader, null(), null_mut()),
        hsa_executable_load_code_object(executable, gpu, object, null()),
        hsa_executable_freeze(executable, null()),
        hsa_executable_global_variable_define(executable, missing, nowhere()),
        hsa_executable_agent_global_variable_define(executable, gpu, missing, nowhere()),
        hsa_executable_readonly_variable_define(executable, gpu, missing, nowhere()),
    );
    refuse!(list, STATUS_ERROR_INVALID_SYMBOL_NAME:
        hsa_executable_get_symbol(executable, null(), missing, gpu, 0, &mut symbol),
        hsa_executable_get_symbol_by_name(executable, missing, &gpu, &mut symbol),
        hsa_code_object_get_symbol(object, missing, &mut code_symbol),
        hsa_code_object_get_symbol_from_name(object, null(), missing, &mut code_symbol),
    );
    ok(hsa_executable_get_symbol_by_name(executable, name, &gpu, &mut symbol));
    ok(hsa_code_object_get_symbol(object, name, &mut code_symbol));
    refuse!(list, STATUS_ERROR_INVALID_ARGUMENT:
        hsa_executable_get_info(executable, 0x77, nowhere()),
        hsa_executable_get_info(executable, EXECUTABLE_INFO_STATE, null_mut()),
        hsa_executable_validate(executable, null_mut()),
        hsa_executable_validate_alt(executable, null(), null_mut()),
        hsa_executable_get_symbol(executable, null(), null(), gpu, 0, &mut symbol),
        hsa_executable_get_symbol(executable, null(), name, gpu, 0, null_mut()),
        hsa_executable_get_symbol_by_name(executable, null(), &gpu, &mut symbol),
        hsa_executable_get_symbol_by_name(executable, name, &gpu, null_mut()),
        hsa_executable_symbol_get_info(symbol, 0x77, nowhere()),
        hsa_executable_symbol_get_info(symbol, EXECUTABLE_SYMBOL_INFO_TYPE, null_mut()),
        hsa_executable_iterate_symbols(executable, None, null_mut()),
        hsa_executable_iterate_agent_symbols(executable, gpu, None, null_mut()),
        hsa_executable_iterate_program_symbols(executable, None, null_mut()),
        hsa_code_object_get_info(object, 0x77, nowhere()),
        hsa_code_object_get_info(object, CODE_OBJECT_INFO_TYPE, null_mut()),
        hsa_code_object_get_symbol(object, null(), &mut code_symbol),
        hsa_code_object_get_symbol(object, name, null_mut()),
        hsa_code_object_get_symbol_from_name(object, null(), null(), &mut code_symbol),
        hsa_code_object_get_symbol_from_name(object, null(), name, null_mut()),
        hsa_code_symbol_get_info(code_symbol, 0x77, nowhere()),
        hsa_code_symbol_get_info(code_symbol, 0, null_mut()),
        hsa_code_object_iterate_symbols(object, None, null_mut()),
        hsa_code_object_serialize(object, None, CallbackData::default(), null(), &mut null_mut(), &mut 0),
    );
    for bad in [Symbol { handle: 0 }, Symbol { handle: NEVER }] {
        refuse!(list, STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL:
            hsa_executable_symbol_get_info(bad, EXECUTABLE_SYMBOL_INFO_TYPE, nowhere()));
    }
    for bad in [CodeSymbol { handle: 0 }, CodeSymbol { handle: NEVER }] {
        refuse!(list, STATUS_ERROR_INVALID_CODE_SYMBOL: hsa_code_symbol_get_info(bad, 0, nowhere()));
    }
    ok(hsa_executable_destroy(executable));
    for bad in [executable, Executable { handle: 0 }, Executable { handle: NEVER }] {
        let mut result = 0;
        refuse!(list, STATUS_ERROR_INVALID_EXECUTABLE:
            hsa_executable_destroy(bad),
            hsa_executable_freeze(bad, null()),
            hsa_executable_load_agent_code_object(bad, gpu, reader, null(), null_mut()),
            hsa_executable_load_program_code_object(bad, reader, null(), null_mut()),
            hsa_executable_load_code_object(bad, gpu, object, null()),
            hsa_executable_get_info(bad, EXECUTABLE_INFO_STATE, nowhere()),
            hsa_executable_global_variable_define(bad, name, nowhere()),
            hsa_executable_agent_global_variable_define(bad, gpu, name, nowhere()),
            hsa_executable_readonly_variable_define(bad, gpu, name, nowhere()),
            hsa_executable_validate(bad, &mut result),
            hsa_executable_validate_alt(bad, null(), &mut result),
            hsa_executable_get_symbol(bad, null(), name, gpu, 0, &mut symbol),
            hsa_executable_get_symbol_by_name(bad, name, &gpu, &mut symbol),
            hsa_executable_iterate_symbols(bad, Some(each2), null_mut()),
            hsa_executable_iterate_agent_symbols(bad, gpu, Some(each3), null_mut()),
            hsa_executable_iterate_program_symbols(bad, Some(each2), null_mut()),
        );
    }
    ok(hsa_code_object_reader_destroy(reader));
    ok(hsa_code_object_destroy(object));
    refuse!(list, STATUS_ERROR_INVALID_CODE_OBJECT_READER: hsa_code_object_reader_destroy(reader));
    for bad in [object, CodeObject { handle: 0 }, CodeObject { handle: NEVER }] {
        refuse!(list, STATUS_ERROR_INVALID_CODE_OBJECT:
            hsa_code_object_destroy(bad),
            hsa_code_object_get_info(bad, CODE_OBJECT_INFO_TYPE, nowhere()),
            hsa_code_object_get_symbol(bad, name, &mut code_symbol),
            hsa_code_object_get_symbol_from_name(bad, null(), name, &mut code_symbol),
            hsa_code_object_iterate_symbols(bad, Some(each2), null_mut()),
            hsa_code_object_serialize(
                bad, Some(allocate), CallbackData::default(), null(), &mut null_mut(), &mut 0),
        );
    }
    list.finish();
}

unsafe extern "C" fn each2<E, T>(_: E, _: T, _: *mut c_void) -> Status {
    STATUS_SUCCESS
}

unsafe extern "C" fn each3(_: Executable, _: Agent, _: Symbol, _: *mut c_void) -> Status {
    STATUS_SUCCESS
}

unsafe extern "C" fn allocate(_: usize, _: CallbackData, _: *mut *mut c_void) -> Status {
    STATUS_ERROR
}
