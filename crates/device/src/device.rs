//! The virtual GPU: its memory, its engine and host threads, the code objects that are loaded, how its waves trap.
//!
//! What it does with a packet is in [`crate::dispatch`].

use crate::engine::EngineKind;
use crate::hold::Controller;
use crate::kernel::Kernel;
use crate::loader::{self, LoadError, Loaded};
use crate::memory::{Allocations, Region};
use crate::pool::Pool;
use crate::profile::Profile;
use crate::record::Log;
use crate::traps::{self, TrapHandler, Traps};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};
use wavemill_isa::Target;
use wavemill_wave::{Bounds, Clock, CodeStats, Engine, Global, Violations, Watch};

/// How a device shall work.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Host threads for work-groups; 0 takes as many as the host has.
    pub threads: usize,
    /// One thread, work-groups in order, clocks that count instructions: every run is the same.
    pub deterministic: bool,
    /// How exactly accesses are held to allocations.
    pub bounds: Bounds,
    /// What becomes of memory violations that nobody traps.
    pub violations: Violations,
    /// Work-groups have caches of the first level that only instructions keep coherent.
    pub caches: bool,
    /// What executes waves.
    pub engine: EngineKind,
    /// When dispatches are stopped that still run.
    pub deadline: Option<Instant>,
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
pub struct Device {
    target: Target,
    profile: Profile,
    memory: Arc<Allocations>,
    /// Global data share and wave sync, which outlive dispatches.
    global: Arc<Global>,
    engine: Arc<dyn Engine>,
    pool: Pool,
    threads: usize,
    deterministic: bool,
    violations: Violations,
    caches: bool,
    deadline: Option<Instant>,
    objects: RwLock<Objects>,
    scratch: Mutex<Vec<Region>>,
    trap_settings: traps::Settings,
    controller: Mutex<Option<Arc<Controller>>>,
    log: Mutex<Option<Arc<Log>>>,
    clock: Mutex<Clock>,
    dispatches: AtomicU64,
}

impl Device {
    /// A device with the engine that the options name.
    pub fn new(target: Target, options: &Options) -> Device {
        Device::with_engine(target, options.engine.make(target), options)
    }

    /// A device with an engine of one's own.
    pub fn with_engine(target: Target, engine: Arc<dyn Engine>, options: &Options) -> Device {
        Device::with_memory(Profile::of(target.cpu), target, engine, Arc::default(), options)
    }

    /// A device of a certain size, with an engine of one's own, whose memory has been made before.
    pub fn with_memory(
        profile: Profile,
        target: Target,
        engine: Arc<dyn Engine>,
        memory: Arc<Allocations>,
        options: &Options,
    ) -> Device {
        memory.memory().set_bounds(options.bounds);
        let host = || std::thread::available_parallelism().map_or(1, |n| n.get());
        let threads = match (options.deterministic, options.threads) {
            (true, _) => 1,
            (false, 0) => host(),
            (false, n) => n,
        };
        Device {
            target,
            profile,
            memory,
            global: Arc::default(),
            engine,
            pool: Pool::new(threads - 1),
            threads,
            deterministic: options.deterministic,
            violations: options.violations,
            caches: options.caches,
            deadline: options.deadline,
            objects: RwLock::default(),
            scratch: Mutex::default(),
            trap_settings: traps::Settings::default(),
            controller: Mutex::default(),
            log: Mutex::default(),
            clock: Mutex::new(match options.deterministic {
                true => Clock::Instructions,
                false => Clock::Host { shader: profile.clock },
            }),
            dispatches: AtomicU64::new(0),
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

    /// The name of what executes waves.
    pub fn engine_name(&self) -> &'static str {
        self.engine.name()
    }

    /// What has been compiled, where something compiles.
    pub fn code_stats(&self) -> Option<CodeStats> {
        self.engine.code_stats()
    }

    /// Host threads that run work-groups.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// How long a dispatch may run that starts now, if not for as long as it likes.
    pub(crate) fn allowance(&self, asked: Option<Duration>) -> Option<Duration> {
        let left = self.deadline.map(|d| d.saturating_duration_since(Instant::now()));
        match (asked, left) {
            (Some(asked), Some(left)) => Some(asked.min(left)),
            (asked, left) => asked.or(left),
        }
    }

    /// Whether every run is the same.
    pub fn deterministic(&self) -> bool {
        self.deterministic
    }

    pub(crate) fn engine(&self) -> Arc<dyn Engine> {
        self.engine.clone()
    }

    pub(crate) fn global(&self) -> Arc<Global> {
        self.global.clone()
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Loads a code object, or links and loads a relocatable one.
    pub fn load(&self, name: &str, data: Vec<u8>) -> Result<Arc<Loaded>, LoadError> {
        let loaded = self.load_with(name, data, &HashMap::new())?;
        if let Err(e) = loaded.resolve(&HashMap::new()) {
            self.unload(&loaded);
            return Err(e);
        }
        Ok(loaded)
    }

    /// Loads a code object that needs symbols of others, some of which may come later ([`Loaded::resolve`]).
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
    pub(crate) fn counts_in_order(&self) -> bool {
        let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
        objects.all.values().any(|o| o.counts_in_order)
    }

    /// The kernel whose descriptor is at an address.
    pub fn kernel_at(&self, address: u64) -> Option<(Arc<Loaded>, Arc<Kernel>)> {
        self.objects.read().unwrap_or_else(PoisonError::into_inner).kernels.get(&address).cloned()
    }

    /// Scratch that an earlier dispatch has left, if it is large enough.
    pub(crate) fn kept_scratch(&self, len: u64) -> Option<Region> {
        let mut kept = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|r| r.len() >= len)?;
        Some(kept.swap_remove(at))
    }

    pub(crate) fn keep_scratch(&self, region: Region) {
        let mut kept = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push(region);
        // The largest ones serve best; more than a few are of no use.
        kept.sort_by_key(|r| r.len());
        if kept.len() > 4 {
            kept.remove(0);
        }
    }

    /// Installs a trap handler for dispatches that begin from now on, or takes it away. Its code must be in memory that
    /// the device knows, like that of a code object.
    pub fn set_trap_handler(&self, handler: Option<TrapHandler>) {
        self.trap_settings.set_handler(handler);
    }

    /// Watches addresses in dispatches that begin from now on. `index` is 0 to 3; others are ignored.
    pub fn set_watch(&self, index: usize, watch: Option<Watch>) {
        self.trap_settings.set_watch(index, watch);
    }

    /// Makes every wave under way enter its trap handler, with this id. Waves without a handler of the user's ignore it.
    pub fn host_trap(&self, id: u8) {
        self.trap_settings.host_trap(id);
    }

    /// What waves of a new dispatch are told.
    pub(crate) fn traps(&self) -> Traps {
        let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
        self.trap_settings.traps(objects.all.values().any(|o| o.reads_trapsts), self.violations)
    }

    /// Whether work-groups have caches of the first level.
    pub(crate) fn caches(&self) -> bool {
        self.caches
    }

    /// Lets somebody hold the waves of dispatches that begin from now on, or nobody.
    pub fn set_controller(&self, controller: Option<Arc<Controller>>) {
        *self.controller.lock().unwrap_or_else(PoisonError::into_inner) = controller;
    }

    /// Who may hold waves.
    pub(crate) fn controller(&self) -> Option<Arc<Controller>> {
        self.controller.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records the turns of waves of dispatches that begin from now on, or repeats a record.
    pub fn set_log(&self, log: Option<Arc<Log>>) {
        *self.log.lock().unwrap_or_else(PoisonError::into_inner) = log;
    }

    /// What turns of waves are recorded in.
    pub(crate) fn log(&self) -> Option<Arc<Log>> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Says what clock waves of dispatches that begin from now on read.
    pub fn set_clock(&self, clock: Clock) {
        *self.clock.lock().unwrap_or_else(PoisonError::into_inner) = clock;
    }

    /// The clock that waves read.
    pub(crate) fn clock(&self) -> Clock {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The number of a new dispatch, counted from 0.
    pub(crate) fn next_dispatch(&self) -> u64 {
        self.dispatches.fetch_add(1, Ordering::Relaxed)
    }
}
