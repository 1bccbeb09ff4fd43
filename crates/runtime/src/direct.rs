//! Queues whose packets are processed by the thread that has them: for runtimes that keep commands of their own, in their
//! own order, and want no other thread between them and the GPU. To kernels they are queues like any other.

use crate::packet::{self, Outcome, QueueError};
use crate::platform::{Gpu, Platform};
use crate::queue::{self, DOORBELL, MIN_SIZE, QueueRef, Ring, place, release};
use crate::signal::{Kind, Signal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use wavemill_device::aql::{DispatchPacket, QueueImage};
use wavemill_device::control::{Callback, NORMAL_PRIORITY};
use wavemill_device::memory::MemoryError;
use wavemill_device::observe::Observers;

/// A queue without threads.
pub struct DirectQueue {
    at: QueueRef,
    /// Its memory, which goes with it.
    _ring: Ring,
    doorbell: Signal,
    gpu: Arc<Gpu>,
    platform: Arc<Platform>,
    stop: Arc<AtomicBool>,
    /// Number of the next packet; held while it is processed.
    next: Mutex<u64>,
    units: u32,
}

/// Nobody waits behind a packet of such a queue, however long it takes.
const PATIENCE: Duration = Duration::from_secs(u32::MAX as u64);

impl DirectQueue {
    pub(crate) fn new(
        platform: &Arc<Platform>,
        gpu: &Arc<Gpu>,
        units: u32,
    ) -> Result<DirectQueue, MemoryError> {
        let image =
            QueueImage { kind: 1, features: 1, size: MIN_SIZE, id: platform.next_id(), ..queue::image(gpu) };
        let ring = Ring::new(platform, MIN_SIZE)?;
        let (at, doorbell) = place(platform, &image, &ring, |at| {
            Signal::doorbell(Kind::Doorbell, at + DOORBELL, at, |start, len| {
                platform.show_signals(start, len)
            })
        })?;
        Ok(DirectQueue {
            at,
            _ring: ring,
            doorbell,
            gpu: gpu.clone(),
            platform: platform.clone(),
            stop: Arc::default(),
            next: Mutex::default(),
            units,
        })
    }

    /// What kernels know of it.
    pub fn at(&self) -> QueueRef {
        self.at
    }

    /// Runs a dispatch to its end on this thread. Others that call it meanwhile wait.
    pub fn dispatch(&self, packet: &DispatchPacket) -> Result<(), QueueError> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let index = *next;
        *next += 1;
        let bytes = packet.to_bytes();
        let address = self.at.packet(index);
        queue::write_packet(address, &bytes);
        self.at.write_index().store(index + 1, Ordering::SeqCst);
        let slow: Callback = Arc::new(|| {});
        let context = packet::Context {
            queue: self.at,
            gpu: &self.gpu,
            platform: &self.platform,
            stop: &self.stop,
            units: self.units,
            priority: NORMAL_PRIORITY,
            observers: &Observers::default().with(self.platform.observers()),
            slow: (PATIENCE, &slow),
        };
        let outcome = packet::perform(&context, &bytes, address, index);
        self.at.read_index().store(index + 1, Ordering::SeqCst);
        match outcome {
            Outcome::Done | Outcome::Cancelled => Ok(()),
            Outcome::Failed(error) => Err(error),
        }
    }
}

impl Drop for DirectQueue {
    fn drop(&mut self) {
        self.platform.withdraw(self.at.address());
        self.doorbell.destroy();
        release(self.at);
    }
}
