//! What all queues of a system share: the GPUs, the memory that each of them sees, numbers, the journal.

use crate::journal::{Journal, Record};
use crate::signal::PIECE;
use crate::waiters::WaitersHost;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use wavemill_device::Device;
use wavemill_device::control::Host;
use wavemill_device::mapping::Mapping;
use wavemill_device::memory::{MemoryError, Use};
use wavemill_device::observe::Observers;
use wavemill_device::reclaim::Reclaimer;

/// One GPU of a system.
pub struct Gpu {
    /// Its number, counted from 0.
    pub index: usize,
    /// The GPU itself.
    pub device: Device,
}

/// The GPUs and what their queues share.
pub struct Platform {
    /// The GPUs.
    pub gpus: Vec<Arc<Gpu>>,
    reclaimer: Arc<Reclaimer>,
    host: Arc<dyn Host>,
    ids: AtomicU64,
    journal: Option<Journal>,
    observers: Observers,
    /// How much of the signals' memory GPUs know. A process has one such memory, whatever computers it has.
    signals: Mutex<u64>,
}

impl Platform {
    pub(crate) fn new(
        gpus: Vec<Arc<Gpu>>,
        reclaimer: Arc<Reclaimer>,
        journal: Option<Journal>,
        observers: Observers,
    ) -> Platform {
        let (host, ids, signals) = (Arc::new(WaitersHost), AtomicU64::new(0), Mutex::default());
        Platform { gpus, reclaimer, host, ids, journal, observers, signals }
    }

    /// Lets all GPUs access memory.
    ///
    /// # Safety
    /// As for [`Allocations::register`], until [`Platform::withdraw`].
    pub(crate) unsafe fn announce(&self, start: u64, len: u64, name: &str) -> Result<(), MemoryError> {
        for gpu in &self.gpus {
            // SAFETY: promised by the caller.
            unsafe { gpu.device.memory().register(start, len, true, Use::Queue, name) }?;
        }
        Ok(())
    }

    pub(crate) fn withdraw(&self, start: u64) {
        for gpu in &self.gpus {
            gpu.device.memory().withdraw(start);
        }
    }

    pub(crate) fn retire(&self, map: Mapping) {
        self.reclaimer.retire(map);
    }

    /// Signals lie in so many bytes from here on.
    pub(crate) fn show_signals(&self, start: u64, len: u64) {
        let mut known = self.signals.lock().unwrap_or_else(PoisonError::into_inner);
        if len > *known {
            let more = (len - *known).next_multiple_of(PIECE);
            // SAFETY: signals lie in an arena that is never unmapped. Ranges that cannot be registered are there already.
            let _ = unsafe { self.announce(start + *known, more, "signals") };
            *known += more;
        }
    }

    pub(crate) fn next_id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    /// Who wakes threads that sleep on what waves store.
    pub(crate) fn host(&self) -> &Arc<dyn Host> {
        &self.host
    }

    /// Who looks on while dispatches of any queue run.
    pub(crate) fn observers(&self) -> &Observers {
        &self.observers
    }

    /// Whether somebody wants to know about dispatches.
    pub(crate) fn keeps_journal(&self) -> bool {
        self.journal.is_some()
    }

    pub(crate) fn record(&self, record: &Record<'_>) {
        if let Some(journal) = &self.journal {
            journal(record);
        }
    }
}
