//! The state between `hsa_init` and `hsa_shut_down`, and how handles are looked up in it.

use crate::abi::*;
use crate::users::{Refused, State, Users};
use memmap2::{MmapOptions, MmapRaw};
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use wavemill_isa::Target;
use wavemill_runtime::environment;
use wavemill_runtime::executable::{Executable, ExecutableSymbol};
use wavemill_runtime::fork;
use wavemill_runtime::heap::Gpus;
use wavemill_runtime::image::Images;
use wavemill_runtime::platform::Gpu;
use wavemill_runtime::queue::{QueueRef, SoftQueue};
use wavemill_runtime::signal::Signal;
use wavemill_runtime::svm::Svm;
use wavemill_runtime::system::System;
use wavemill_runtime::vmem::Vmem;

/// Things by handle. Handles are never used twice, so that a destroyed one is not taken for another.
pub struct Table<T> {
    entries: RwLock<HashMap<u64, T>>,
    next: AtomicU64,
}

impl<T: Clone> Table<T> {
    /// Handles of different tables start at different numbers, so that one is not taken for another.
    fn new(first: u64) -> Table<T> {
        Table { entries: RwLock::default(), next: AtomicU64::new(first) }
    }

    pub fn insert(&self, value: T) -> u64 {
        let handle = self.next.fetch_add(1, Ordering::Relaxed);
        self.entries.write().unwrap_or_else(PoisonError::into_inner).insert(handle, value);
        handle
    }

    pub fn get(&self, handle: u64) -> Option<T> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner).get(&handle).cloned()
    }

    pub fn remove(&self, handle: u64) -> Option<T> {
        self.entries.write().unwrap_or_else(PoisonError::into_inner).remove(&handle)
    }

    /// Every entry, oldest first.
    pub fn list(&self) -> Vec<(u64, T)> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        let mut list: Vec<(u64, T)> = entries.iter().map(|(&h, v)| (h, v.clone())).collect();
        list.sort_by_key(|(h, _)| *h);
        list
    }

    pub fn retain(&self, mut keep: impl FnMut(u64, &T) -> bool) {
        self.entries.write().unwrap_or_else(PoisonError::into_inner).retain(|&h, v| keep(h, v));
    }
}

/// A code object's bytes, and where the program had them.
pub struct Source {
    pub bytes: Vec<u8>,
    pub address: u64,
}

/// A code object of HSA 1.0. Its handle is the address of its bytes: LLVM's offloading plugin changes variables there
/// before it has them loaded.
pub struct OldCodeObject {
    map: MmapRaw,
    address: u64,
}

impl OldCodeObject {
    /// A copy of a source in memory that the program may change.
    pub fn new(source: &Source) -> Result<OldCodeObject> {
        let map = MmapOptions::new().len(source.bytes.len()).map_anon();
        let map = MmapRaw::from(map.map_err(|_| Status::ERROR_OUT_OF_RESOURCES)?);
        copy_host(map.as_mut_ptr() as u64, source.bytes.as_ptr() as u64, source.bytes.len());
        Ok(OldCodeObject { map, address: source.address })
    }

    /// The handle.
    pub fn handle(&self) -> u64 {
        self.map.as_mut_ptr() as u64
    }

    /// The bytes as they are now.
    pub fn source(&self) -> Source {
        let mut bytes = vec![0; self.map.len()];
        copy_host(bytes.as_mut_ptr() as u64, self.handle(), bytes.len());
        Source { bytes, address: self.address }
    }
}

/// An executable with what the program said when it made it.
pub struct Program {
    pub executable: Mutex<Executable>,
    pub profile: u32,
    pub rounding: u32,
}

/// A symbol of an executable.
#[derive(Clone)]
pub struct ProgramSymbol {
    pub executable: u64,
    pub symbol: Arc<ExecutableSymbol>,
}

/// What lives between `hsa_init` and `hsa_shut_down`.
pub struct Runtime {
    pub system: Arc<System>,
    pub readers: Table<Arc<Source>>,
    pub code_objects: Mutex<HashMap<u64, Arc<OldCodeObject>>>,
    pub executables: Table<Arc<Program>>,
    pub symbols: Table<ProgramSymbol>,
    /// Handles of symbols by where they are in memory.
    pub symbol_handles: Mutex<HashMap<usize, u64>>,
    pub soft_queues: Table<Arc<SoftQueue>>,
    pub groups: Table<Arc<Vec<Signal>>>,
    /// Functions to call when memory is freed: its address, the function and what it gets.
    pub deallocated: Mutex<Vec<(u64, Deallocated, Data)>>,
    /// Blocks that are being freed.
    pub freeing: Mutex<BTreeSet<u64>>,
    /// The function to call on memory faults.
    pub event: Mutex<Option<(Handler, Data)>>,
    /// Attributes of shared virtual memory.
    pub svm: Mutex<Svm>,
    /// Virtual memory that the program puts together.
    pub vmem: Mutex<Vmem>,
    /// Numbers of files that programs have got from us.
    pub exported: Mutex<BTreeSet<i32>>,
    /// Addresses of queues that are counted.
    pub counted: Mutex<BTreeSet<u64>>,
    /// Instruction sets that the program has named, other than the GPUs'.
    pub isas: Mutex<Vec<Target>>,
    /// Images and samplers.
    pub images: Images,
}

static USERS: Users<Runtime> = Users { state: RwLock::new(State::new()), lifecycle: Mutex::new(()) };

impl From<Refused> for Status {
    fn from(refused: Refused) -> Status {
        match refused {
            Refused::Busy | Refused::Unused => Status::ERROR_NOT_INITIALIZED,
            Refused::TooMany => Status::ERROR_REFCOUNT_OVERFLOW,
        }
    }
}

/// Whether this thread may wait for a start or end of the runtime. Threads of ours, which run functions of the program, do
/// not: the end waits for them.
fn waits() -> bool {
    !std::thread::current().name().is_some_and(|n| n.starts_with("wavemill-"))
}

/// The runtime, or the error that there is none.
pub fn runtime() -> Result<Arc<Runtime>> {
    if fork::forked() {
        return Err(Status::ERROR_NOT_INITIALIZED);
    }
    USERS.get().ok_or(Status::ERROR_NOT_INITIALIZED)
}

/// `hsa_init`.
pub fn init() -> Result {
    if fork::forked() {
        eprintln!(
            "wavemill: hsa_init in a process that was forked off one that uses the runtime: not possible"
        );
        return Err(Status::ERROR_OUT_OF_RESOURCES);
    }
    fork::watch();
    USERS.enter(waits(), Runtime::new)
}

/// `hsa_shut_down`.
pub fn shut_down() -> Result {
    if fork::forked() {
        return Err(Status::ERROR_NOT_INITIALIZED);
    }
    USERS.leave(waits(), |runtime| {
        runtime.soft_queues.retain(|_, _| false);
        runtime.system.shut_down();
    })
}

impl Runtime {
    fn new() -> Result<Runtime> {
        let setup = environment::setup().map_err(|message| {
            wavemill_device::terminal::message(message);
            Status::ERROR_OUT_OF_RESOURCES
        })?;
        Ok(Runtime {
            system: System::new(setup),
            readers: Table::new(0x1_0000_0001),
            code_objects: Mutex::default(),
            executables: Table::new(0x3_0000_0001),
            symbols: Table::new(0x4_0000_0001),
            symbol_handles: Mutex::default(),
            soft_queues: Table::new(0x5_0000_0001),
            groups: Table::new(0x6_0000_0001),
            deallocated: Mutex::default(),
            freeing: Mutex::default(),
            event: Mutex::default(),
            svm: Mutex::default(),
            vmem: Mutex::default(),
            exported: Mutex::default(),
            counted: Mutex::default(),
            isas: Mutex::default(),
            images: Images::default(),
        })
    }

    /// The number of an agent: 0 is the host, others are GPUs.
    pub fn agent(&self, agent: Agent) -> Result<usize> {
        let index = agent.0.checked_sub(AGENT).map(|i| i as usize);
        index.filter(|&i| i <= self.system.gpus().len()).ok_or(Status::ERROR_INVALID_AGENT)
    }

    /// Every agent.
    pub fn agents(&self) -> impl Iterator<Item = Agent> + use<> {
        (0..=self.system.gpus().len()).map(agent_handle)
    }

    /// An agent that must be a GPU.
    pub fn gpu(&self, agent: Agent) -> Result<&Arc<Gpu>> {
        let index = self.agent(agent)?;
        index.checked_sub(1).and_then(|i| self.system.gpus().get(i)).ok_or(Status::ERROR_INVALID_AGENT)
    }

    /// The GPUs among agents.
    pub fn gpus(&self, agents: &[Agent]) -> Result<Gpus> {
        let mut set = Gpus::default();
        for &agent in agents {
            if let Some(i) = self.agent(agent)?.checked_sub(1) {
                set = set.with(Gpus::one(i));
            }
        }
        Ok(set)
    }

    /// Every GPU.
    pub fn all_gpus(&self) -> Gpus {
        Gpus::first(self.system.gpus().len())
    }

    pub fn code_object(&self, handle: CodeObject) -> Result<Source> {
        let objects = self.code_objects.lock().unwrap_or_else(PoisonError::into_inner);
        let object = objects.get(&handle.0).cloned().ok_or(Status::ERROR_INVALID_CODE_OBJECT)?;
        drop(objects);
        Ok(object.source())
    }

    pub fn executable(&self, handle: ExecutableHandle) -> Result<Arc<Program>> {
        self.executables.get(handle.0).ok_or(Status::ERROR_INVALID_EXECUTABLE)
    }
}

/// The handle of the first agent.
const AGENT: u64 = 0x57a7_e000_0001;

/// The handle of an agent.
pub fn agent_handle(index: usize) -> Agent {
    Agent(AGENT + index as u64)
}

/// The signal of a handle.
pub fn signal(handle: SignalHandle) -> Result<Signal> {
    Signal::from_handle(handle.0).ok_or(Status::ERROR_INVALID_SIGNAL)
}

/// The signal of a handle that may be 0 for none.
pub fn signal_or_none(handle: SignalHandle) -> Result<Option<Signal>> {
    if handle.0 == 0 { Ok(None) } else { signal(handle).map(Some) }
}

/// The queue at an address.
pub fn queue(address: u64) -> Result<QueueRef> {
    if address == 0 {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    QueueRef::from_address(address).ok_or(Status::ERROR_INVALID_QUEUE)
}
