//! What `hsa.h` and `hsa_ext_amd.h` declare, written down again from the specification for tests that need no C
//! compiler, and the functions of the library, found by name as `dlopen` finds them. `declarations` compares with the
//! headers.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::OnceLock;

pub type Status = u32;
pub type Value = i64;

/// Declares handles: structures of one number.
macro_rules! handles {
    ($($name:ident)*) => {$(
        #[repr(C)]
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        pub struct $name {
            pub handle: u64,
        }
    )*};
}

handles! {
    Agent Signal SignalGroup Region Pool Isa Cache Wavefront Reader Executable Symbol Loaded CodeObject CodeSymbol
    CallbackData
}

#[repr(C)]
#[derive(Debug)]
pub struct Queue {
    pub kind: u32,
    pub features: u32,
    pub base_address: *mut c_void,
    pub doorbell_signal: Signal,
    pub size: u32,
    pub reserved1: u32,
    pub id: u64,
}

/// What lies behind a [`Queue`]: device code reads it.
#[repr(C)]
pub struct AmdQueue {
    pub hsa_queue: Queue,
    pub reserved: [u32; 4],
    pub write_dispatch_id: u64,
    pub group_segment_aperture_base_hi: u32,
    pub private_segment_aperture_base_hi: u32,
    pub max_cu_id: u32,
    pub max_wave_id: u32,
    pub max_legacy_doorbell_dispatch_id_plus_1: u64,
    pub legacy_doorbell_lock: u32,
    pub reserved2: [u32; 9],
    pub read_dispatch_id: u64,
    pub read_dispatch_id_field_base_byte_offset: u32,
    pub compute_tmpring_size: u32,
    pub scratch_resource_descriptor: [u32; 4],
    pub scratch_backing_memory_location: u64,
    pub scratch_backing_memory_byte_size: u64,
    pub scratch_wave64_lane_byte_size: u32,
    pub queue_properties: u32,
    pub reserved3: [u32; 2],
    pub queue_inactive_signal: Signal,
    pub reserved4: [u32; 14],
}

/// What a signal's handle is the address of.
#[repr(C, align(64))]
pub struct AmdSignal {
    pub kind: i64,
    /// Or the address of the doorbell.
    pub value: i64,
    pub event_mailbox_ptr: u64,
    pub event_id: u32,
    pub reserved1: u32,
    pub start_ts: u64,
    pub end_ts: u64,
    pub queue_ptr: u64,
    pub reserved3: [u32; 2],
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct KernelDispatch {
    pub header: u16,
    pub setup: u16,
    pub workgroup_size: [u16; 3],
    pub reserved0: u16,
    pub grid_size: [u32; 3],
    pub private_segment_size: u32,
    pub group_segment_size: u32,
    pub kernel_object: u64,
    pub kernarg_address: u64,
    pub reserved2: u64,
    pub completion_signal: Signal,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct AgentDispatch {
    pub header: u16,
    pub kind: u16,
    pub reserved0: u32,
    pub return_address: u64,
    pub arg: [u64; 4],
    pub reserved2: u64,
    pub completion_signal: Signal,
}

/// Barrier-AND and barrier-OR have the same layout.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Barrier {
    pub header: u16,
    pub reserved0: u16,
    pub reserved1: u32,
    pub dep_signal: [Signal; 5],
    pub reserved2: u64,
    pub completion_signal: Signal,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct BarrierValue {
    pub header: u16,
    pub amd_format: u8,
    pub reserved: u8,
    pub reserved0: u32,
    pub signal: Signal,
    pub value: Value,
    pub mask: Value,
    pub cond: u32,
    pub reserved1: u32,
    pub reserved2: [u64; 2],
    pub completion_signal: Signal,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PointerInfo {
    pub size: u32,
    pub kind: u32,
    pub agent_base_address: *mut c_void,
    pub host_base_address: *mut c_void,
    pub size_in_bytes: usize,
    pub user_data: *mut c_void,
    pub agent_owner: Agent,
    pub global_flags: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub struct Times {
    pub start: u64,
    pub end: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct PitchedPtr {
    pub base: *mut c_void,
    pub pitch: usize,
    pub slice: usize,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Dim3 {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct MemoryFault {
    pub agent: Agent,
    pub virtual_address: u64,
    pub fault_reason_mask: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Event {
    pub event_type: u32,
    pub memory_fault: MemoryFault,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct SvmAttribute {
    pub attribute: u64,
    pub value: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct IpcMemory {
    pub handle: [u32; 8],
}

pub type QueueCallback = Option<unsafe extern "C" fn(Status, *mut Queue, *mut c_void)>;
pub type SignalHandler = Option<unsafe extern "C" fn(Value, *mut c_void) -> bool>;
pub type Each<T> = Option<unsafe extern "C" fn(T, *mut c_void) -> Status>;
pub type EachSymbol<E, T> = Option<unsafe extern "C" fn(E, T, *mut c_void) -> Status>;

/// The built library. `cargo test` builds it before the tests of its package.
fn library() -> *mut c_void {
    static LIBRARY: OnceLock<usize> = OnceLock::new();
    let open = || {
        let test = std::env::current_exe().expect("a test has a path");
        let names = test.ancestors().skip(1).take(2).map(|dir| dir.join("libhsa_runtime64.so"));
        let path = names.clone().find(|p| p.exists()).unwrap_or_else(|| panic!("none of {names:?} exists"));
        let name = CString::new(path.to_str().expect("the path is text")).expect("without zeros");
        // SAFETY: the library's initialisers are Rust's own.
        let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        // SAFETY: dlerror gives a string after a failure.
        let message = || unsafe { CStr::from_ptr(libc::dlerror()) }.to_string_lossy().into_owned();
        assert!(!library.is_null(), "{}", message());
        library as usize
    };
    *LIBRARY.get_or_init(open) as *mut c_void
}

/// The address of a function, as a pointer of type `F`.
pub fn function<F: Copy>(name: &str) -> F {
    let symbol = CString::new(name).expect("without zeros");
    // SAFETY: the library stays loaded; the name is a string.
    let address = unsafe { libc::dlsym(library(), symbol.as_ptr()) };
    assert!(!address.is_null(), "the library has no {name}");
    assert_eq!(size_of::<F>(), size_of::<*mut c_void>());
    // SAFETY: `F` is a function pointer, which has the size of an address; callers declare it as the header does.
    unsafe { std::mem::transmute_copy(&address) }
}

/// Declares functions that look themselves up when they are called first.
macro_rules! functions {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty;)*) => {
        $(
            #[allow(clippy::too_many_arguments)]
            pub fn $name($($argument: $type),*) -> $result {
                type Pointer = unsafe extern "C" fn($($type),*) -> $result;
                static POINTER: OnceLock<Pointer> = OnceLock::new();
                // SAFETY: declared as in the header; tests hand over what the header asks for, or what it promises an
                // error code for.
                unsafe { POINTER.get_or_init(|| function(stringify!($name)))($($argument),*) }
            }
        )*
        /// The functions above.
        pub const FUNCTIONS: &[&str] = &[$(stringify!($name)),*];
    };
}

functions! {
    fn hsa_init() -> Status;
    fn hsa_shut_down() -> Status;
    fn hsa_status_string(status: Status, text: *mut *const c_char) -> Status;
    fn hsa_system_get_info(attribute: u32, value: *mut c_void) -> Status;
    fn hsa_extension_get_name(extension: u16, name: *mut *const c_char) -> Status;
    fn hsa_system_extension_supported(extension: u16, major: u16, minor: u16, result: *mut bool) -> Status;
    fn hsa_system_major_extension_supported(extension: u16, major: u16, minor: *mut u16, result: *mut bool) -> Status;
    fn hsa_system_get_extension_table(extension: u16, major: u16, minor: u16, table: *mut c_void) -> Status;
    fn hsa_system_get_major_extension_table(extension: u16, major: u16, length: usize, table: *mut c_void) -> Status;
    fn hsa_agent_get_info(agent: Agent, attribute: u32, value: *mut c_void) -> Status;
    fn hsa_iterate_agents(callback: Each<Agent>, data: *mut c_void) -> Status;
    fn hsa_agent_get_exception_policies(agent: Agent, profile: u32, mask: *mut u16) -> Status;
    fn hsa_cache_get_info(cache: Cache, attribute: u32, value: *mut c_void) -> Status;
    fn hsa_agent_iterate_caches(agent: Agent, callback: Each<Cache>, data: *mut c_void) -> Status;
    fn hsa_agent_extension_supported(extension: u16, agent: Agent, major: u16, minor: u16, result: *mut bool) -> Status;
    fn hsa_agent_major_extension_supported(
        extension: u16, agent: Agent, major: u16, minor: *mut u16, result: *mut bool,
    ) -> Status;

    fn hsa_signal_create(value: Value, count: u32, consumers: *const Agent, signal: *mut Signal) -> Status;
    fn hsa_signal_destroy(signal: Signal) -> Status;
    fn hsa_signal_load_relaxed(signal: Signal) -> Value;
    fn hsa_signal_load_scacquire(signal: Signal) -> Value;
    fn hsa_signal_store_relaxed(signal: Signal, value: Value) -> ();
    fn hsa_signal_store_screlease(signal: Signal, value: Value) -> ();
    fn hsa_signal_silent_store_relaxed(signal: Signal, value: Value) -> ();
    fn hsa_signal_silent_store_screlease(signal: Signal, value: Value) -> ();
    fn hsa_signal_subtract_screlease(signal: Signal, value: Value) -> ();
    fn hsa_signal_add_screlease(signal: Signal, value: Value) -> ();
    fn hsa_signal_wait_scacquire(
        signal: Signal, condition: u32, compare: Value, timeout: u64, state: u32,
    ) -> Value;
    fn hsa_signal_wait_relaxed(signal: Signal, condition: u32, compare: Value, timeout: u64, state: u32) -> Value;
    fn hsa_signal_group_create(
        count: u32, signals: *const Signal, consumers_count: u32, consumers: *const Agent, group: *mut SignalGroup,
    ) -> Status;
    fn hsa_signal_group_destroy(group: SignalGroup) -> Status;
    fn hsa_signal_group_wait_any_scacquire(
        group: SignalGroup, conditions: *const u32, values: *const Value, state: u32, signal: *mut Signal,
        value: *mut Value,
    ) -> Status;
    fn hsa_signal_group_wait_any_relaxed(
        group: SignalGroup, conditions: *const u32, values: *const Value, state: u32, signal: *mut Signal,
        value: *mut Value,
    ) -> Status;

    fn hsa_queue_create(
        agent: Agent, size: u32, kind: u32, callback: QueueCallback, data: *mut c_void, private: u32, group: u32,
        queue: *mut *mut Queue,
    ) -> Status;
    fn hsa_soft_queue_create(
        region: Region, size: u32, kind: u32, features: u32, doorbell: Signal, queue: *mut *mut Queue,
    ) -> Status;
    fn hsa_queue_destroy(queue: *mut Queue) -> Status;
    fn hsa_queue_inactivate(queue: *mut Queue) -> Status;
    fn hsa_queue_load_read_index_relaxed(queue: *const Queue) -> u64;
    fn hsa_queue_load_read_index_scacquire(queue: *const Queue) -> u64;
    fn hsa_queue_load_write_index_relaxed(queue: *const Queue) -> u64;
    fn hsa_queue_load_write_index_scacquire(queue: *const Queue) -> u64;
    fn hsa_queue_add_write_index_relaxed(queue: *const Queue, value: u64) -> u64;
    fn hsa_queue_add_write_index_screlease(queue: *const Queue, value: u64) -> u64;
    fn hsa_queue_store_write_index_relaxed(queue: *const Queue, value: u64) -> ();
    fn hsa_queue_store_write_index_screlease(queue: *const Queue, value: u64) -> ();
    fn hsa_queue_store_read_index_relaxed(queue: *const Queue, value: u64) -> ();
    fn hsa_queue_store_read_index_screlease(queue: *const Queue, value: u64) -> ();

    fn hsa_region_get_info(region: Region, attribute: u32, value: *mut c_void) -> Status;
    fn hsa_agent_iterate_regions(agent: Agent, callback: Each<Region>, data: *mut c_void) -> Status;
    fn hsa_memory_allocate(region: Region, size: usize, pointer: *mut *mut c_void) -> Status;
    fn hsa_memory_free(pointer: *mut c_void) -> Status;
    fn hsa_memory_copy(to: *mut c_void, from: *const c_void, size: usize) -> Status;
    fn hsa_memory_assign_agent(pointer: *mut c_void, agent: Agent, access: u32) -> Status;
    fn hsa_memory_register(pointer: *mut c_void, size: usize) -> Status;
    fn hsa_memory_deregister(pointer: *mut c_void, size: usize) -> Status;

    fn hsa_isa_from_name(name: *const c_char, isa: *mut Isa) -> Status;
    fn hsa_agent_iterate_isas(agent: Agent, callback: Each<Isa>, data: *mut c_void) -> Status;
    fn hsa_isa_get_info(isa: Isa, attribute: u32, index: u32, value: *mut c_void) -> Status;
    fn hsa_isa_get_info_alt(isa: Isa, attribute: u32, value: *mut c_void) -> Status;
    fn hsa_isa_get_exception_policies(isa: Isa, profile: u32, mask: *mut u16) -> Status;
    fn hsa_isa_get_round_method(isa: Isa, fp_type: u32, flush_mode: u32, method: *mut u32) -> Status;
    fn hsa_wavefront_get_info(wavefront: Wavefront, attribute: u32, value: *mut c_void) -> Status;
    fn hsa_isa_iterate_wavefronts(isa: Isa, callback: Each<Wavefront>, data: *mut c_void) -> Status;
    fn hsa_isa_compatible(code_object_isa: Isa, agent_isa: Isa, result: *mut bool) -> Status;

    fn hsa_code_object_reader_create_from_file(file: c_int, reader: *mut Reader) -> Status;
    fn hsa_code_object_reader_create_from_memory(data: *const c_void, size: usize, reader: *mut Reader) -> Status;
    fn hsa_code_object_reader_destroy(reader: Reader) -> Status;
    fn hsa_executable_create(profile: u32, state: u32, options: *const c_char, executable: *mut Executable) -> Status;
    fn hsa_executable_create_alt(
        profile: u32, rounding: u32, options: *const c_char, executable: *mut Executable,
    ) -> Status;
    fn hsa_executable_destroy(executable: Executable) -> Status;
    fn hsa_executable_load_program_code_object(
        executable: Executable, reader: Reader, options: *const c_char, loaded: *mut Loaded,
    ) -> Status;
    fn hsa_executable_load_agent_code_object(
        executable: Executable, agent: Agent, reader: Reader, options: *const c_char, loaded: *mut Loaded,
    ) -> Status;
    fn hsa_executable_freeze(executable: Executable, options: *const c_char) -> Status;
    fn hsa_executable_get_info(executable: Executable, attribute: u32, value: *mut c_void) -> Status;
    fn hsa_executable_global_variable_define(
        executable: Executable, name: *const c_char, address: *mut c_void,
    ) -> Status;
    fn hsa_executable_agent_global_variable_define(
        executable: Executable, agent: Agent, name: *const c_char, address: *mut c_void,
    ) -> Status;
    fn hsa_executable_readonly_variable_define(
        executable: Executable, agent: Agent, name: *const c_char, address: *mut c_void,
    ) -> Status;
    fn hsa_executable_validate(executable: Executable, result: *mut u32) -> Status;
    fn hsa_executable_validate_alt(executable: Executable, options: *const c_char, result: *mut u32) -> Status;
    fn hsa_executable_get_symbol(
        executable: Executable, module: *const c_char, name: *const c_char, agent: Agent, convention: i32,
        symbol: *mut Symbol,
    ) -> Status;
    fn hsa_executable_get_symbol_by_name(
        executable: Executable, name: *const c_char, agent: *const Agent, symbol: *mut Symbol,
    ) -> Status;
    fn hsa_executable_symbol_get_info(symbol: Symbol, attribute: u32, value: *mut c_void) -> Status;
    fn hsa_executable_iterate_symbols(
        executable: Executable, callback: EachSymbol<Executable, Symbol>, data: *mut c_void,
    ) -> Status;
    fn hsa_executable_iterate_agent_symbols(
        executable: Executable, agent: Agent,
        callback: Option<unsafe extern "C" fn(Executable, Agent, Symbol, *mut c_void) -> Status>, data: *mut c_void,
    ) -> Status;
    fn hsa_executable_iterate_program_symbols(
        executable: Executable, callback: EachSymbol<Executable, Symbol>, data: *mut c_void,
    ) -> Status;
    fn hsa_code_object_serialize(
        object: CodeObject, allocate: Option<unsafe extern "C" fn(usize, CallbackData, *mut *mut c_void) -> Status>,
        data: CallbackData, options: *const c_char, serialized: *mut *mut c_void, size: *mut usize,
    ) -> Status;
    fn hsa_code_object_deserialize(
        data: *mut c_void, size: usize, options: *const c_char, object: *mut CodeObject,
    ) -> Status;
    fn hsa_code_object_destroy(object: CodeObject) -> Status;
    fn hsa_code_object_get_info(object: CodeObject, attribute: u32, value: *mut c_void) -> Status;
    fn hsa_executable_load_code_object(
        executable: Executable, agent: Agent, object: CodeObject, options: *const c_char,
    ) -> Status;
    fn hsa_code_object_get_symbol(object: CodeObject, name: *const c_char, symbol: *mut CodeSymbol) -> Status;
    fn hsa_code_object_get_symbol_from_name(
        object: CodeObject, module: *const c_char, name: *const c_char, symbol: *mut CodeSymbol,
    ) -> Status;
    fn hsa_code_symbol_get_info(symbol: CodeSymbol, attribute: u32, value: *mut c_void) -> Status;
    fn hsa_code_object_iterate_symbols(
        object: CodeObject, callback: EachSymbol<CodeObject, CodeSymbol>, data: *mut c_void,
    ) -> Status;

    fn hsa_amd_coherency_get_type(agent: Agent, kind: *mut u32) -> Status;
    fn hsa_amd_coherency_set_type(agent: Agent, kind: u32) -> Status;
    fn hsa_amd_profiling_set_profiler_enabled(queue: *mut Queue, enable: c_int) -> Status;
    fn hsa_amd_profiling_async_copy_enable(enable: bool) -> Status;
    fn hsa_amd_profiling_get_dispatch_time(agent: Agent, signal: Signal, time: *mut Times) -> Status;
    fn hsa_amd_profiling_get_async_copy_time(signal: Signal, time: *mut Times) -> Status;
    fn hsa_amd_profiling_convert_tick_to_system_domain(agent: Agent, tick: u64, system: *mut u64) -> Status;
    fn hsa_amd_signal_create(
        value: Value, count: u32, consumers: *const Agent, attributes: u64, signal: *mut Signal,
    ) -> Status;
    fn hsa_amd_signal_async_handler(
        signal: Signal, condition: u32, value: Value, handler: SignalHandler, argument: *mut c_void,
    ) -> Status;
    fn hsa_amd_async_function(callback: Option<unsafe extern "C" fn(*mut c_void)>, argument: *mut c_void) -> Status;
    fn hsa_amd_signal_wait_any(
        count: u32, signals: *mut Signal, conditions: *mut u32, values: *mut Value, timeout: u64, state: u32,
        satisfying: *mut Value,
    ) -> u32;
    fn hsa_amd_signal_value_pointer(signal: Signal, pointer: *mut *mut Value) -> Status;
    fn hsa_amd_image_get_info_max_dim(agent: Agent, attribute: u32, value: *mut c_void) -> Status;
    fn hsa_amd_queue_cu_set_mask(queue: *const Queue, count: u32, mask: *const u32) -> Status;
    fn hsa_amd_queue_cu_get_mask(queue: *const Queue, count: u32, mask: *mut u32) -> Status;
    fn hsa_amd_queue_set_priority(queue: *mut Queue, priority: u32) -> Status;
    fn hsa_amd_memory_pool_get_info(pool: Pool, attribute: u32, value: *mut c_void) -> Status;
    fn hsa_amd_agent_iterate_memory_pools(agent: Agent, callback: Each<Pool>, data: *mut c_void) -> Status;
    fn hsa_amd_memory_pool_allocate(pool: Pool, size: usize, flags: u32, pointer: *mut *mut c_void) -> Status;
    fn hsa_amd_memory_pool_free(pointer: *mut c_void) -> Status;
    fn hsa_amd_memory_async_copy(
        to: *mut c_void, to_agent: Agent, from: *const c_void, from_agent: Agent, size: usize, count: u32,
        dependencies: *const Signal, completion: Signal,
    ) -> Status;
    fn hsa_amd_memory_async_copy_rect(
        to: *const PitchedPtr, to_offset: *const Dim3, from: *const PitchedPtr, from_offset: *const Dim3,
        range: *const Dim3, agent: Agent, direction: u32, count: u32, dependencies: *const Signal,
        completion: Signal,
    ) -> Status;
    fn hsa_amd_agent_memory_pool_get_info(agent: Agent, pool: Pool, attribute: u32, value: *mut c_void) -> Status;
    fn hsa_amd_agents_allow_access(
        count: u32, agents: *const Agent, flags: *const u32, pointer: *const c_void,
    ) -> Status;
    fn hsa_amd_memory_pool_can_migrate(from: Pool, to: Pool, result: *mut bool) -> Status;
    fn hsa_amd_memory_migrate(pointer: *const c_void, pool: Pool, flags: u32) -> Status;
    fn hsa_amd_memory_lock(
        host: *mut c_void, size: usize, agents: *mut Agent, count: c_int, pointer: *mut *mut c_void,
    ) -> Status;
    fn hsa_amd_memory_lock_to_pool(
        host: *mut c_void, size: usize, agents: *mut Agent, count: c_int, pool: Pool, flags: u32,
        pointer: *mut *mut c_void,
    ) -> Status;
    fn hsa_amd_memory_unlock(host: *mut c_void) -> Status;
    fn hsa_amd_memory_fill(pointer: *mut c_void, value: u32, count: usize) -> Status;
    fn hsa_amd_interop_map_buffer(
        count: u32, agents: *mut Agent, handle: c_int, flags: u32, size: *mut usize, pointer: *mut *mut c_void,
        metadata_size: *mut usize, metadata: *mut *const c_void,
    ) -> Status;
    fn hsa_amd_interop_unmap_buffer(pointer: *mut c_void) -> Status;
    fn hsa_amd_pointer_info(
        pointer: *const c_void, info: *mut PointerInfo, allocate: Option<unsafe extern "C" fn(usize) -> *mut c_void>,
        count: *mut u32, accessible: *mut *mut Agent,
    ) -> Status;
    fn hsa_amd_pointer_info_set_userdata(pointer: *const c_void, data: *mut c_void) -> Status;
    fn hsa_amd_ipc_memory_create(pointer: *mut c_void, size: usize, handle: *mut IpcMemory) -> Status;
    fn hsa_amd_ipc_memory_attach(
        handle: *const IpcMemory, size: usize, count: u32, agents: *const Agent, pointer: *mut *mut c_void,
    ) -> Status;
    fn hsa_amd_ipc_memory_detach(pointer: *mut c_void) -> Status;
    fn hsa_amd_ipc_signal_create(signal: Signal, handle: *mut IpcMemory) -> Status;
    fn hsa_amd_ipc_signal_attach(handle: *const IpcMemory, signal: *mut Signal) -> Status;
    fn hsa_amd_register_system_event_handler(
        callback: Option<unsafe extern "C" fn(*const Event, *mut c_void) -> Status>, data: *mut c_void,
    ) -> Status;
    fn hsa_amd_register_deallocation_callback(
        pointer: *mut c_void, callback: Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>, data: *mut c_void,
    ) -> Status;
    fn hsa_amd_deregister_deallocation_callback(
        pointer: *mut c_void, callback: Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>,
    ) -> Status;
    fn hsa_amd_svm_attributes_set(
        pointer: *mut c_void, size: usize, attributes: *mut SvmAttribute, count: usize,
    ) -> Status;
    fn hsa_amd_svm_attributes_get(
        pointer: *mut c_void, size: usize, attributes: *mut SvmAttribute, count: usize,
    ) -> Status;
    fn hsa_amd_svm_prefetch_async(
        pointer: *mut c_void, size: usize, agent: Agent, count: u32, dependencies: *const Signal, completion: Signal,
    ) -> Status;
}
