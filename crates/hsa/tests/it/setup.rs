//! What the tests share: the agents and their pools, memory, kernels from assembly, queues and packets.

use crate::constants::*;
use crate::ffi::*;
use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use wavemill_asm::{Options, Os, OutputType, assemble, elf};
use wavemill_isa::target::{Target, processor};
use wavemill_object::link::{self, Input, link};

/// A status must be success.
#[track_caller]
pub fn ok(status: Status) {
    assert_eq!(status, STATUS_SUCCESS, "status {status:#x}");
}

/// The system under test: its first GPU and CPU and their pools.
pub struct System {
    pub gpu: Agent,
    pub cpu: Agent,
    /// The GPU's own memory.
    pub device: Pool,
    /// The host's fine-grained memory.
    pub host: Pool,
    /// The host's memory for kernel arguments.
    pub kernarg: Pool,
}

/// All that an iteration calls back with.
pub fn all<T: Copy>(iterate: impl FnOnce(Each<T>, *mut c_void) -> Status) -> Vec<T> {
    unsafe extern "C" fn push<T>(item: T, data: *mut c_void) -> Status {
        // SAFETY: the data is the vector below, alive during the iteration.
        unsafe { &mut *data.cast::<Vec<T>>() }.push(item);
        STATUS_SUCCESS
    }
    let mut items: Vec<T> = Vec::new();
    ok(iterate(Some(push::<T>), (&raw mut items).cast()));
    items
}

/// An attribute of any kind.
pub fn attribute<T: Default>(get: impl FnOnce(*mut c_void) -> Status) -> T {
    let mut value = T::default();
    ok(get((&raw mut value).cast()));
    value
}

pub fn agent_info<T: Default>(agent: Agent, which: u32) -> T {
    attribute(|p| hsa_agent_get_info(agent, which, p))
}

pub fn pool_info<T: Default>(pool: Pool, which: u32) -> T {
    attribute(|p| hsa_amd_memory_pool_get_info(pool, which, p))
}

/// The runtime, started once.
pub fn system() -> &'static System {
    static SYSTEM: OnceLock<System> = OnceLock::new();
    SYSTEM.get_or_init(|| {
        ok(hsa_init());
        let agents = all(hsa_iterate_agents);
        let kind = |a: &&Agent| agent_info::<u32>(**a, AGENT_INFO_DEVICE);
        let gpu = *agents.iter().find(|a| kind(a) == DEVICE_TYPE_GPU).expect("there is a GPU");
        let cpu = *agents.iter().find(|a| kind(a) == DEVICE_TYPE_CPU).expect("there is a CPU");
        let pool = |agent, flag: u32| {
            let pools = all(|f, d| hsa_amd_agent_iterate_memory_pools(agent, f, d));
            let global = |p: &Pool| {
                pool_info::<u32>(*p, AMD_MEMORY_POOL_INFO_SEGMENT) == AMD_SEGMENT_GLOBAL
                    && pool_info::<u32>(*p, AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS) & flag != 0
            };
            pools.into_iter().find(global).unwrap_or_else(|| panic!("a pool with flag {flag}"))
        };
        System {
            gpu,
            cpu,
            device: pool(gpu, AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED),
            host: pool(cpu, AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED),
            kernarg: pool(cpu, AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT),
        }
    })
}

/// Memory from a pool, zeroed, that goes with its owner. Only copies reach the GPU's own.
pub struct Memory<T: Copy> {
    pub pointer: *mut T,
    pub len: usize,
}

// SAFETY: it is only an address; tests share it between threads through atomics or after signals.
unsafe impl<T: Copy> Send for Memory<T> {}
// SAFETY: as above.
unsafe impl<T: Copy> Sync for Memory<T> {}

impl<T: Copy> Memory<T> {
    /// Room for `len` items that the GPU may use.
    pub fn new(pool: Pool, len: usize) -> Memory<T> {
        let mut pointer = null_mut();
        ok(hsa_amd_memory_pool_allocate(pool, len * size_of::<T>(), 0, &mut pointer));
        if pool != system().device {
            ok(hsa_amd_agents_allow_access(1, &system().gpu, null(), pointer));
        }
        let memory = Memory { pointer: pointer.cast(), len };
        let zeros = vec![0u8; len * size_of::<T>()];
        ok(hsa_memory_copy(pointer, zeros.as_ptr().cast(), zeros.len()));
        memory
    }

    pub fn of(pool: Pool, items: &[T]) -> Memory<T> {
        let memory = Memory::<T>::new(pool, items.len());
        ok(hsa_memory_copy(memory.pointer.cast(), items.as_ptr().cast(), size_of_val(items)));
        memory
    }

    pub fn address(&self) -> u64 {
        self.pointer as u64
    }

    pub fn get(&self) -> Vec<T>
    where
        T: Default,
    {
        let mut items = vec![T::default(); self.len];
        ok(hsa_memory_copy(items.as_mut_ptr().cast(), self.pointer.cast(), self.len * size_of::<T>()));
        items
    }
}

impl<T: Copy> Drop for Memory<T> {
    fn drop(&mut self) {
        ok(hsa_amd_memory_pool_free(self.pointer.cast()));
    }
}

/// The linked code object of a source for the GPU's processor.
pub fn code_object(source: &str) -> Vec<u8> {
    code_object_for("gfx90a", source)
}

/// The linked code object of a source.
pub fn code_object_for(cpu: &str, source: &str) -> Vec<u8> {
    let mut options = Options::new(Target::new(processor(cpu).expect("a processor")));
    options.triple = "amdgcn-amd-amdhsa".into();
    options.os = Os::AmdHsa;
    options.output = OutputType::Obj;
    let output = assemble(&options, "test.s", source.as_bytes().to_vec());
    assert!(!output.failed(), "{}", String::from_utf8_lossy(&output.render_diagnostics()));
    let object = elf::write(&output).expect("an object");
    let input = Input { name: "test.o".into(), data: &object };
    link(&[input], &link::Options { allow_undefined: true, ..Default::default() })
        .unwrap_or_else(|e| panic!("{}", e[0]))
}

/// A kernel's text: code, then a descriptor with a kernarg segment pointer in s[0:1] and these other lines.
pub fn kernel_text(name: &str, kernarg: u32, code: &str, lines: &str) -> String {
    format!(
        ".text\n.globl {name}\n.p2align 8\n.type {name},@function\n{name}:\n{code}\n  s_endpgm\n.size {name}, .-{name}\n\
         .rodata\n.p2align 6\n.amdhsa_kernel {name}\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n\
         .amdhsa_kernarg_size {kernarg}\n.amdhsa_next_free_vgpr 16\n.amdhsa_next_free_sgpr 32\n\
         .amdhsa_accum_offset 16\n{lines}\n.end_amdhsa_kernel\n"
    )
}

/// Nothing.
pub fn empty() -> String {
    kernel_text("empty", 0, "", "")
}

/// Adds one to the counter whose address is the argument, once for each lane.
pub fn count() -> String {
    let code = "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  v_mov_b32_e32 v1, 0\n  v_mov_b32_e32 v2, 1\n\
                s_waitcnt lgkmcnt(0)\n  global_atomic_add v1, v2, s[4:5]";
    kernel_text("count", 8, code, "")
}

/// A loaded, frozen executable.
pub struct Program(pub Executable);

impl Program {
    pub fn new(source: &str) -> Program {
        let code = code_object(source);
        let mut reader = Reader::default();
        ok(hsa_code_object_reader_create_from_memory(code.as_ptr().cast(), code.len(), &mut reader));
        let mut executable = Executable::default();
        ok(hsa_executable_create_alt(
            PROFILE_BASE,
            DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
            null(),
            &mut executable,
        ));
        ok(hsa_executable_load_agent_code_object(executable, system().gpu, reader, null(), null_mut()));
        ok(hsa_executable_freeze(executable, null()));
        ok(hsa_code_object_reader_destroy(reader));
        Program(executable)
    }

    pub fn symbol(&self, name: &str) -> Symbol {
        let mut symbol = Symbol::default();
        let name = CString::new(name).expect("without zeros");
        ok(hsa_executable_get_symbol_by_name(self.0, name.as_ptr(), &system().gpu, &mut symbol));
        symbol
    }

    /// A kernel's handle for packets.
    pub fn kernel(&self, name: &str) -> u64 {
        let symbol = self.symbol(&format!("{name}.kd"));
        attribute(|p| hsa_executable_symbol_get_info(symbol, EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, p))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        ok(hsa_executable_destroy(self.0));
    }
}

/// A signal that goes with its owner.
pub struct OwnSignal(pub Signal);

impl OwnSignal {
    pub fn new(value: Value) -> OwnSignal {
        let mut signal = Signal::default();
        ok(hsa_signal_create(value, 0, null(), &mut signal));
        OwnSignal(signal)
    }

    pub fn load(&self) -> Value {
        hsa_signal_load_scacquire(self.0)
    }

    /// Waits until the value is below one; fails after half a minute.
    #[track_caller]
    pub fn wait(&self) {
        let frequency: u64 = attribute(|p| hsa_system_get_info(SYSTEM_INFO_TIMESTAMP_FREQUENCY, p));
        let began = std::time::Instant::now();
        while hsa_signal_wait_scacquire(self.0, SIGNAL_CONDITION_LT, 1, frequency, WAIT_STATE_BLOCKED) >= 1 {
            assert!(began.elapsed().as_secs() < 30, "the signal is still {}", self.load());
        }
    }
}

impl Drop for OwnSignal {
    fn drop(&mut self) {
        ok(hsa_signal_destroy(self.0));
    }
}

/// A packet: 64 bytes, of which the first four make it visible.
pub trait Packet: Copy {}
impl Packet for KernelDispatch {}
impl Packet for AgentDispatch {}
impl Packet for Barrier {}
impl Packet for BarrierValue {}

/// A queue that goes with its owner.
#[derive(Clone, Copy)]
pub struct Ring(pub *mut Queue);

// SAFETY: queues of type MULTI are made for many producers.
unsafe impl Send for Ring {}
// SAFETY: as above.
unsafe impl Sync for Ring {}

impl Ring {
    pub fn create(size: u32, callback: QueueCallback, data: *mut c_void) -> Ring {
        let mut queue = null_mut();
        let gpu = system().gpu;
        ok(hsa_queue_create(gpu, size, QUEUE_TYPE_MULTI, callback, data, u32::MAX, u32::MAX, &mut queue));
        Ring(queue)
    }

    pub fn new(size: u32) -> Ring {
        Ring::create(size, None, null_mut())
    }

    pub fn queue(&self) -> &Queue {
        // SAFETY: the queue lives until `destroy`.
        unsafe { &*self.0 }
    }

    /// Where the packet with an index lies.
    pub fn slot(&self, index: u64) -> *mut u8 {
        let queue = self.queue();
        // SAFETY: within the ring.
        unsafe { queue.base_address.cast::<u8>().add((index & (u64::from(queue.size) - 1)) as usize * 64) }
    }

    /// Takes a place in the ring and waits until it is free.
    pub fn reserve(&self) -> u64 {
        let index = hsa_queue_add_write_index_screlease(self.0, 1);
        while index - hsa_queue_load_read_index_scacquire(self.0) >= u64::from(self.queue().size) {
            std::thread::yield_now();
        }
        index
    }

    /// Writes a packet to its place, its first four bytes last.
    pub fn write(&self, index: u64, packet: &impl Packet) {
        assert_eq!(size_of_val(packet), 64);
        let (to, from) = (self.slot(index), (&raw const *packet).cast::<u8>());
        // SAFETY: both are 64 bytes; the packet processor looks at the rest only after the first word has changed.
        unsafe {
            to.add(4).copy_from(from.add(4), 60);
            (*to.cast::<AtomicU32>()).store(from.cast::<u32>().read_unaligned(), Ordering::Release);
        }
    }

    pub fn ring(&self, index: u64) {
        hsa_signal_store_screlease(self.queue().doorbell_signal, index as Value);
    }

    /// Writes a packet and rings the doorbell.
    pub fn submit(&self, packet: &impl Packet) -> u64 {
        let index = self.reserve();
        self.write(index, packet);
        self.ring(index);
        index
    }

    pub fn destroy(self) {
        ok(hsa_queue_destroy(self.0));
    }
}

/// A packet's header with fences of system scope.
pub fn header(kind: u32, barrier: bool) -> u16 {
    let fence = FENCE_SCOPE_SYSTEM;
    (kind << PACKET_HEADER_TYPE
        | u32::from(barrier) << PACKET_HEADER_BARRIER
        | fence << PACKET_HEADER_SCACQUIRE_FENCE_SCOPE
        | fence << PACKET_HEADER_SCRELEASE_FENCE_SCOPE) as u16
}

/// A one-dimensional dispatch.
pub fn dispatch(
    kernel: u64,
    grid: u32,
    group: u16,
    kernarg: u64,
    completion: Option<&OwnSignal>,
) -> KernelDispatch {
    KernelDispatch {
        header: header(PACKET_TYPE_KERNEL_DISPATCH, false),
        setup: 1,
        workgroup_size: [group, 1, 1],
        grid_size: [grid, 1, 1],
        kernel_object: kernel,
        kernarg_address: kernarg,
        completion_signal: completion.map_or(Signal::default(), |s| s.0),
        ..KernelDispatch::default()
    }
}

/// A barrier packet of a type.
pub fn barrier(kind: u32, dependencies: &[&OwnSignal], completion: Option<&OwnSignal>) -> Barrier {
    let mut packet = Barrier {
        header: header(kind, false),
        completion_signal: completion.map_or(Signal::default(), |s| s.0),
        ..Barrier::default()
    };
    for (slot, signal) in packet.dep_signal.iter_mut().zip(dependencies) {
        *slot = signal.0;
    }
    packet
}
