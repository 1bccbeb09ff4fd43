//! A computer with GPUs: what a runtime library is the face of. It has the GPUs, the memory they share with the host,
//! and the queues.

use crate::direct::DirectQueue;
use crate::heap::Heap;
use crate::journal::Journal;
use crate::maps;
use crate::observe::{self, ProcessObserver};
use crate::platform::{Gpu, Platform};
use crate::processor::{Queue, QueueRequest};
use crate::queue::{QueueRef, SoftQueue};
use crate::reactor::Reactor;
use crate::signal::{self, Signal};
use crate::turns;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wavemill_device::memory::{Allocations, MemoryError};
use wavemill_device::observe::Observers;
use wavemill_device::profile::Profile;
use wavemill_device::reclaim::Reclaimer;
use wavemill_device::record::Log;
use wavemill_device::{Device, Options};
use wavemill_isa::Target;
use wavemill_wave::Engine;

/// Most GPUs of a system.
pub const MOST_GPUS: usize = 16;

/// A time of the GPUs' constant clock, which S_MEMREALTIME reads, in nanoseconds of [`signal::now`].
pub fn ticks_to_system(ticks: u64) -> u64 {
    let started = signal::now().wrapping_sub(wavemill_wave::clock().as_nanos() as u64);
    started.wrapping_add(ticks.wrapping_mul(40))
}

/// What to make.
pub struct Setup {
    /// The GPUs' kind.
    pub profile: Profile,
    /// The processor and its features.
    pub target: Target,
    /// How many.
    pub gpus: usize,
    /// How each works.
    pub options: Options,
    /// Makes the engine of each.
    pub engine: Box<dyn Fn(Target) -> Arc<dyn Engine>>,
    /// Who wants to know about dispatches.
    pub journal: Option<Journal>,
    /// What the order of things is recorded in, or repeated from; with it, and with deterministic options, everything
    /// happens one after the other.
    pub log: Option<Arc<Log>>,
    /// Who looks on at everything.
    pub observer: Option<Arc<dyn ProcessObserver>>,
    /// Who looks on at dispatches and waves only.
    pub observers: Observers,
}

/// GPUs and what they share.
pub struct System {
    platform: Arc<Platform>,
    /// Memory that programs allocate and lock.
    pub heap: Heap,
    /// Copies memory when signals allow it.
    pub copies: Reactor,
    /// Calls the program when signals change.
    pub handlers: Reactor,
    queues: Mutex<HashMap<QueueRef, Arc<Queue>>>,
}

impl System {
    /// Makes the GPUs.
    pub fn new(setup: Setup) -> Arc<System> {
        let reclaimer = Arc::new(Reclaimer::default());
        let count = setup.gpus.min(MOST_GPUS);
        let memories: Vec<Arc<Allocations>> =
            (0..count as u32).map(|gpu| Arc::new(Allocations::sharing(&reclaimer, gpu))).collect();
        if setup.target.xnack == Some(true) {
            memories.iter().for_each(|memory| maps::show_all(memory.memory()));
        }
        let gpus = memories.iter().enumerate().map(|(index, memory)| {
            let engine = (setup.engine)(setup.target);
            let device =
                Device::with_memory(setup.profile, setup.target, engine, memory.clone(), &setup.options);
            device.set_log(setup.log.clone());
            Arc::new(Gpu { index, device })
        });
        let gpus = gpus.collect();
        if setup.options.deterministic || setup.log.is_some() {
            turns::activate(setup.log.clone());
        }
        let mut observers = setup.observers;
        if let Some(observer) = &setup.observer {
            observers.add(observer.clone());
            observe::install(Some(observer.clone()));
        }
        let platform = Arc::new(Platform::new(gpus, reclaimer.clone(), setup.journal, observers));
        if let Some((start, len)) = signal::extent().filter(|(_, len)| *len > 0) {
            platform.show_signals(start, len);
        }
        Arc::new(System {
            platform,
            heap: Heap::new(memories, reclaimer),
            copies: Reactor::new("wavemill-copy"),
            handlers: Reactor::new("wavemill-event"),
            queues: Mutex::default(),
        })
    }

    /// The GPUs.
    pub fn gpus(&self) -> &[Arc<Gpu>] {
        &self.platform.gpus
    }

    /// A new signal.
    pub fn signal(&self, value: i64) -> Option<Signal> {
        Signal::new(value, |start, len| self.platform.show_signals(start, len))
    }

    /// A new signal that other processes can attach to.
    pub fn shared_signal(&self, value: i64) -> Option<Signal> {
        Signal::new_shared(value, |start, len| self.platform.show_signals(start, len))
    }

    /// The signal that another process shares.
    pub fn attach_signal(&self, pid: u32, file: i32) -> Option<Signal> {
        Signal::attach(pid, file, |start, len| self.platform.show_signals(start, len))
    }

    fn queues(&self) -> MutexGuard<'_, HashMap<QueueRef, Arc<Queue>>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new queue of a GPU.
    pub fn create_queue(&self, gpu: &Arc<Gpu>, request: QueueRequest) -> Result<QueueRef, MemoryError> {
        let queue = Queue::new(&self.platform, gpu, request)?;
        let at = queue.at();
        self.queues().insert(at, queue);
        Ok(at)
    }

    /// A new queue whose packets the runtime processes itself, with so many compute units at most.
    pub fn create_direct_queue(&self, gpu: &Arc<Gpu>, units: u32) -> Result<DirectQueue, MemoryError> {
        DirectQueue::new(&self.platform, gpu, units)
    }

    /// A new queue whose packets the program processes itself, with its own signal as the doorbell.
    pub fn create_soft_queue(
        &self,
        size: u32,
        kind: u32,
        features: u32,
        doorbell: Signal,
    ) -> Result<SoftQueue, MemoryError> {
        SoftQueue::new(&self.platform, size, kind, features, doorbell)
    }

    /// The queue at an address.
    pub fn queue(&self, at: QueueRef) -> Option<Arc<Queue>> {
        self.queues().get(&at).cloned()
    }

    /// Destroys a queue; false when there is none.
    pub fn destroy_queue(&self, at: QueueRef) -> bool {
        let Some(queue) = self.queues().remove(&at) else { return false };
        queue.destroy();
        true
    }

    /// Ends everything: queues stop, signals and memory are gone.
    pub fn shut_down(&self) {
        let queues: Vec<Arc<Queue>> = self.queues().drain().map(|(_, q)| q).collect();
        queues.iter().for_each(|q| q.inactivate());
        self.copies.stop();
        self.handlers.stop();
        queues.iter().for_each(|q| q.destroy());
        if !self.platform.observers().is_empty() {
            observe::install(None);
        }
        turns::deactivate();
        signal::destroy_all();
    }
}
