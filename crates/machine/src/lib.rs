//! The GPU around the waves: memory, the loader, dispatches on host threads, fault reports.
//!
//! ```no_run
//! use wavemill_isa::target::{Target, processor};
//! use wavemill_machine::{Machine, Options, run::Launch};
//! let target = Target::new(processor("gfx90a").unwrap());
//! let machine = Machine::new(target, &Options::default());
//! let object = machine.load("k.hsaco", std::fs::read("k.hsaco").unwrap()).unwrap();
//! let kernel = object.kernel("vadd").unwrap();
//! let done = machine.launch(kernel, &Launch { grid: vec![1024], block: vec![256], ..Launch::default() });
//! ```
//!
//! [`memory`] holds allocations, [`loader`] puts code objects there, [`kernarg`] builds argument blocks, [`launch`]
//! sets up waves, [`dispatch`] checks and runs a packet, [`schedule`] spreads its work-groups over threads, [`fault`]
//! explains what went wrong. [`run`] does all of it for one kernel, with [`printf`], hostcalls and a heap for it to use.

pub mod agent;
pub mod aql;
mod arena;
pub mod dispatch;
pub mod executable;
pub mod fault;
mod graves;
pub mod heap;
mod hostcall;
mod ipc;
pub mod json;
pub mod kernarg;
pub mod kernel;
pub mod launch;
mod lines;
pub mod loader;
pub mod memory;
mod packet;
mod pins;
pub mod printf;
pub mod profile;
pub mod queue;
pub mod reactor;
pub mod run;
mod scan;
pub mod schedule;
mod services;
pub mod signal;
pub mod svm;
pub mod system;
pub mod traps;
mod watch;

pub use dispatch::{Completion, DispatchError, Request};
pub use kernel::Kernel;
pub use loader::{LoadError, LoadErrorKind, Loaded};
pub use memory::{Allocations, Region, Use};
pub use profile::Profile;

use schedule::Pool;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use wavemill_isa::Target;
use wavemill_wave::{Engine, Global, Interp};

/// How a machine shall work.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Host threads for work-groups; 0 takes as many as the host has.
    pub threads: usize,
    /// One thread, work-groups in order, clocks that count instructions: every run is the same.
    pub deterministic: bool,
}

/// The code objects that are loaded.
#[derive(Default)]
struct Objects {
    /// By first address.
    all: BTreeMap<u64, Arc<Loaded>>,
    /// Kernels by the address of their descriptor.
    kernels: HashMap<u64, (Arc<Loaded>, Arc<Kernel>)>,
}

/// A virtual GPU.
pub struct Machine {
    target: Target,
    profile: Profile,
    memory: Arc<Allocations>,
    /// Global data share and wave sync, which outlive dispatches.
    global: Arc<Global>,
    engine: Arc<dyn Engine>,
    pool: Pool,
    threads: usize,
    deterministic: bool,
    objects: RwLock<Objects>,
    scratch: Mutex<Vec<Region>>,
    trap_settings: traps::Settings,
}

impl Machine {
    /// A machine with the interpreter.
    pub fn new(target: Target, options: &Options) -> Machine {
        Machine::with_engine(target, Arc::new(Interp::new(target)), options)
    }

    /// A machine with an engine of one's own.
    pub fn with_engine(target: Target, engine: Arc<dyn Engine>, options: &Options) -> Machine {
        Machine::with_memory(Profile::of(target.cpu), target, engine, Arc::default(), options)
    }

    /// A machine of a certain size, with an engine of one's own, whose memory has been made before.
    pub fn with_memory(
        profile: Profile,
        target: Target,
        engine: Arc<dyn Engine>,
        memory: Arc<Allocations>,
        options: &Options,
    ) -> Machine {
        let host = || std::thread::available_parallelism().map_or(1, |n| n.get());
        let threads = match (options.deterministic, options.threads) {
            (true, _) => 1,
            (false, 0) => host(),
            (false, n) => n,
        };
        Machine {
            target,
            profile,
            memory,
            global: Arc::default(),
            engine,
            pool: Pool::new(threads - 1),
            threads,
            deterministic: options.deterministic,
            objects: RwLock::default(),
            scratch: Mutex::default(),
            trap_settings: traps::Settings::default(),
        }
    }

    /// Processor and features.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Size of the GPU.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Its memory.
    pub fn memory(&self) -> &Arc<Allocations> {
        &self.memory
    }

    /// Host threads that run work-groups.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Whether every run is the same.
    pub fn deterministic(&self) -> bool {
        self.deterministic
    }

    fn engine(&self) -> Arc<dyn Engine> {
        self.engine.clone()
    }

    fn global(&self) -> Arc<Global> {
        self.global.clone()
    }

    fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Loads a code object, or links and loads a relocatable one.
    pub fn load(&self, name: &str, data: Vec<u8>) -> Result<Arc<Loaded>, LoadError> {
        self.load_with(name, data, &HashMap::new())
    }

    /// Loads a code object that needs symbols of others.
    pub fn load_with(
        &self,
        name: &str,
        data: Vec<u8>,
        externs: &HashMap<String, u64>,
    ) -> Result<Arc<Loaded>, LoadError> {
        let loaded = Arc::new(loader::load(&self.memory, &self.target, name, data, externs)?);
        // The addresses may have been those of another code object before.
        let (start, len) = loaded.extent();
        self.engine.invalidate(start, len);
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        for kernel in &loaded.kernels {
            objects.kernels.insert(kernel.object, (loaded.clone(), kernel.clone()));
        }
        objects.all.insert(start, loaded.clone());
        drop(objects);
        Ok(loaded)
    }

    /// Forgets a code object; its memory goes when the last reference does.
    pub fn unload(&self, object: &Arc<Loaded>) {
        let (start, len) = object.extent();
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        objects.all.remove(&start);
        objects.kernels.retain(|&address, _| !object.contains(address));
        drop(objects);
        self.engine.invalidate(start, len);
    }

    /// The code object that an address lies in.
    pub fn object_at(&self, address: u64) -> Option<Arc<Loaded>> {
        let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
        objects.all.range(..=address).next_back().map(|(_, o)| o).filter(|o| o.contains(address)).cloned()
    }

    /// Whether some code object may count in the order of a dispatch's waves.
    fn counts_in_order(&self) -> bool {
        let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
        objects.all.values().any(|o| o.counts_in_order)
    }

    /// The kernel whose descriptor is at an address.
    pub fn kernel_at(&self, address: u64) -> Option<(Arc<Loaded>, Arc<Kernel>)> {
        self.objects.read().unwrap_or_else(PoisonError::into_inner).kernels.get(&address).cloned()
    }

    /// Scratch that an earlier dispatch has left, if it is large enough.
    fn kept_scratch(&self, len: u64) -> Option<Region> {
        let mut kept = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|r| r.len() >= len)?;
        Some(kept.swap_remove(at))
    }

    fn keep_scratch(&self, region: Region) {
        let mut kept = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push(region);
        // The largest ones serve best; more than a few are of no use.
        kept.sort_by_key(|r| r.len());
        if kept.len() > 4 {
            kept.remove(0);
        }
    }
}
