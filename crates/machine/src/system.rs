//! A computer with GPUs: what a runtime library is the face of. It has the GPUs, the memory they share with the host,
//! and the queues.

use crate::aql::DispatchPacket;
use crate::dispatch::Completion;
use crate::graves::Graveyard;
use crate::heap::Heap;
use crate::memory::{Allocations, MemoryError, Use};
use crate::profile::Profile;
use crate::queue::{self, Queue, QueueRef, QueueRequest};
use crate::reactor::Reactor;
use crate::signal::{self, Signal};
use crate::{Machine, Options};
use memmap2::MmapRaw;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wavemill_isa::Target;
use wavemill_wave::Engine;

/// Most GPUs of a system.
pub const MOST_GPUS: usize = 16;

/// One GPU of a system.
pub struct Gpu {
    /// Its number, counted from 0.
    pub index: usize,
    /// The GPU itself.
    pub machine: Machine,
}

/// A dispatch that ended.
pub struct Record<'a> {
    /// Number of the GPU.
    pub gpu: usize,
    /// Number of the queue.
    pub queue: u64,
    /// Number of the packet.
    pub index: u64,
    /// The packet.
    pub packet: &'a DispatchPacket,
    /// What came of it.
    pub completion: &'a Completion,
    /// When it started, by [`signal::now`].
    pub start: u64,
    /// When it ended.
    pub end: u64,
}

/// A time of the GPUs' constant clock, which S_MEMREALTIME reads, in nanoseconds of [`signal::now`].
pub fn ticks_to_system(ticks: u64) -> u64 {
    let started = signal::now().wrapping_sub(wavemill_wave::clock().as_nanos() as u64);
    started.wrapping_add(ticks.wrapping_mul(40))
}

/// Who wants to know about dispatches.
pub type Observer = Box<dyn Fn(&Record<'_>) + Send + Sync>;

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
    pub observer: Option<Observer>,
}

/// GPUs and what they share.
pub struct System {
    /// The GPUs.
    pub gpus: Vec<Arc<Gpu>>,
    /// Memory that programs allocate and lock.
    pub heap: Heap,
    /// Copies memory when signals allow it.
    pub copies: Reactor,
    /// Calls the program when signals change.
    pub handlers: Reactor,
    graves: Arc<Graveyard>,
    queues: Mutex<HashMap<QueueRef, Arc<Queue>>>,
    ids: AtomicU64,
    observer: Option<Observer>,
}

impl System {
    /// Makes the GPUs.
    pub fn new(setup: Setup) -> Arc<System> {
        let graves = Arc::new(Graveyard::default());
        let count = setup.gpus.min(MOST_GPUS);
        let memories: Vec<Arc<Allocations>> =
            (0..count).map(|_| Arc::new(Allocations::sharing(&graves))).collect();
        let gpus = memories.iter().enumerate().map(|(index, memory)| {
            let engine = (setup.engine)(setup.target);
            let machine =
                Machine::with_memory(setup.profile, setup.target, engine, memory.clone(), &setup.options);
            Arc::new(Gpu { index, machine })
        });
        let system = Arc::new(System {
            gpus: gpus.collect(),
            heap: Heap::new(memories, graves.clone()),
            copies: Reactor::new("wavemill-copy"),
            handlers: Reactor::new("wavemill-event"),
            graves,
            queues: Mutex::default(),
            ids: AtomicU64::new(0),
            observer: setup.observer,
        });
        if let Some((start, len)) = signal::extent().filter(|(_, len)| *len > 0) {
            system.show_signals(start, len);
        }
        system
    }

    /// Lets all GPUs access memory.
    ///
    /// # Safety
    /// As for [`Allocations::register`], until [`System::withdraw`].
    pub(crate) unsafe fn announce(&self, start: u64, len: u64, name: &str) -> Result<(), MemoryError> {
        for gpu in &self.gpus {
            // SAFETY: promised by the caller.
            unsafe { gpu.machine.memory().register(start, len, true, Use::Queue, name) }?;
        }
        Ok(())
    }

    pub(crate) fn withdraw(&self, start: u64) {
        for gpu in &self.gpus {
            gpu.machine.memory().withdraw(start);
        }
    }

    pub(crate) fn bury(&self, map: MmapRaw) {
        self.graves.bury(map);
    }

    pub(crate) fn show_signals(&self, start: u64, len: u64) {
        // SAFETY: signals lie in an arena that is never unmapped. Ranges that cannot be registered are there already.
        let _ = unsafe { self.announce(start, len, "signals") };
    }

    pub(crate) fn next_id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    /// Whether somebody wants to know about dispatches.
    pub(crate) fn observed(&self) -> bool {
        self.observer.is_some()
    }

    pub(crate) fn record(&self, record: &Record<'_>) {
        if let Some(observer) = &self.observer {
            observer(record);
        }
    }

    /// A new signal.
    pub fn signal(&self, value: i64) -> Option<Signal> {
        Signal::new(value, |start, len| self.show_signals(start, len))
    }

    /// A new signal that other processes can attach to.
    pub fn shared_signal(&self, value: i64) -> Option<Signal> {
        Signal::new_shared(value, |start, len| self.show_signals(start, len))
    }

    /// The signal that another process shares.
    pub fn attach_signal(&self, pid: u32, file: i32) -> Option<Signal> {
        Signal::attach(pid, file, |start, len| self.show_signals(start, len))
    }

    fn queues(&self) -> MutexGuard<'_, HashMap<QueueRef, Arc<Queue>>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new queue of a GPU.
    pub fn create_queue(
        self: &Arc<Self>,
        gpu: &Arc<Gpu>,
        request: QueueRequest,
    ) -> Result<QueueRef, MemoryError> {
        let queue = Queue::new(self, gpu, request)?;
        let at = queue.at();
        self.queues().insert(at, queue);
        Ok(at)
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
        queue::reset();
        signal::reset();
    }
}
