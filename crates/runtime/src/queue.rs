//! Queues as memory: `amd_queue_t`, the ring of packets, the doorbell (ROCm code object format, "AMD Queue"; HSA Platform
//! System Architecture Specification, "User mode queuing").
//!
//! [`QueueRef`] is what anybody may do with a queue whose address he has. Waves can write all of `amd_queue_t`: nothing
//! in it is read back, what the host must know of a queue is in memory of its own. Who processes the packets is in
//! [`crate::processor`], what they do in [`crate::packet`].

use crate::arena::Arena;
use crate::doze::sleeping;
use crate::observe::{HostEvent, observed};
use crate::platform::{Gpu, Platform};
use crate::signal::{Kind, Signal};
use crate::turns;
use crate::waiters;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use wavemill_device::aql::{PACKET_SIZE, QueueImage, packet_type};
use wavemill_device::launch::{SCRATCH_GRANULE, Scratch};
use wavemill_device::mapping::Mapping;
use wavemill_device::memory::MemoryError;
use wavemill_isa::Level;
use wavemill_object::limits::{Limits, SIMDS_PER_CU};
use wavemill_wave::GroupShared;

/// Queues that there can be at once.
const MOST: u64 = 1 << 15;
/// Pages of queues that rest before they are used again.
const REST: usize = 64;
/// A queue's page: `amd_queue_t`, then the doorbell.
const PAGE: u64 = 4096;
pub(crate) const DOORBELL: u64 = 512;
const VISIBLE: u64 = 1024;

/// What the host keeps of each queue, where no wave can write.
mod own {
    /// Bytes of it.
    pub const LEN: u64 = 64;
    /// Packets in the ring; 0 when there is no queue.
    pub const SIZE: u64 = 0;
    /// Address of the ring.
    pub const RING: u64 = 8;
    /// The queue's number.
    pub const ID: u64 = 16;
    /// The word its threads sleep on.
    pub const BELL: u64 = 24;
    /// How many do.
    pub const ASLEEP: u64 = 32;
    /// How many packets doorbells have been rung for, where things happen one after the other.
    pub const RUNG: u64 = 40;
}

/// Fewest packets of a queue.
pub const MIN_SIZE: u32 = 64;
/// Most packets of a queue.
pub const MAX_SIZE: u32 = 1 << 17;

/// The queues of this process: what all see, and what the host keeps for itself.
struct Queues {
    pages: Arena,
    own: Arena,
}

fn queues() -> Option<&'static Queues> {
    static QUEUES: OnceLock<Option<Queues>> = OnceLock::new();
    let make = || {
        Some(Queues { pages: Arena::new(PAGE, MOST, REST).ok()?, own: Arena::new(own::LEN, MOST, 0).ok()? })
    };
    QUEUES.get_or_init(make).as_ref()
}

/// A queue by its address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct QueueRef(u64);

impl QueueRef {
    /// The queue at this address, if there is one.
    pub fn from_address(address: u64) -> Option<QueueRef> {
        queues()?.pages.index(address)?;
        let queue = QueueRef(address);
        (queue.size() != 0).then_some(queue)
    }

    /// Address of its `amd_queue_t`.
    pub fn address(self) -> u64 {
        self.0
    }

    pub(crate) fn word(self, offset: u64) -> &'static AtomicU64 {
        // SAFETY: every `QueueRef` is a page of the arena, which is never unmapped; see `Arena::word`.
        unsafe { &*((self.0 + offset) as *const AtomicU64) }
    }

    pub(crate) fn half(self, offset: u64) -> &'static AtomicU32 {
        // SAFETY: as in `word`.
        unsafe { &*((self.0 + offset) as *const AtomicU32) }
    }

    /// A word that the host keeps for itself.
    fn own(self, offset: u64) -> &'static AtomicU64 {
        static NONE: AtomicU64 = AtomicU64::new(0);
        let found = queues().and_then(|q| Some(q.own.word(q.own.slot(q.pages.index(self.0)?) + offset)));
        found.unwrap_or(&NONE)
    }

    /// Packets in the ring.
    pub fn size(self) -> u32 {
        self.own(own::SIZE).load(Ordering::Acquire) as u32
    }

    /// Its number.
    pub fn id(self) -> u64 {
        self.own(own::ID).load(Ordering::Relaxed)
    }

    /// Address of the ring.
    pub fn ring(self) -> u64 {
        self.own(own::RING).load(Ordering::Relaxed)
    }

    /// Index of the next packet that a producer will take.
    pub fn write_index(self) -> &'static AtomicU64 {
        self.word(QueueImage::WRITE_DISPATCH_ID)
    }

    /// Index of the first packet that has not been processed.
    pub fn read_index(self) -> &'static AtomicU64 {
        self.word(QueueImage::READ_DISPATCH_ID)
    }

    /// Its `queue_properties`.
    pub fn properties(self) -> &'static AtomicU32 {
        self.half(QueueImage::PROPERTIES)
    }

    /// What a store to the doorbell signal does.
    pub fn ring_doorbell(self, value: u64, kind: Kind) {
        if kind == Kind::LegacyDoorbell {
            // The hardware wants the index behind the last packet.
            self.word(QueueImage::MAX_LEGACY_DOORBELL).fetch_max(value.wrapping_add(1), Ordering::AcqRel);
        }
        self.own(own::RUNG).fetch_max(value.wrapping_add(1), Ordering::SeqCst);
        observed(
            || self.word(DOORBELL).store(value, Ordering::SeqCst),
            |()| Some(HostEvent::DoorbellRung { queue: self.0, value }),
        );
        self.wake();
        turns::pump();
    }

    /// Whether a doorbell was rung for a packet. Where things happen one after the other, a packet counts from then on: the
    /// call that rings is in the record, the store that makes the packet valid is not.
    pub(crate) fn rung_for(self, index: u64) -> bool {
        // Device code stores to the doorbell itself.
        let by_waves = self.word(DOORBELL).load(Ordering::SeqCst).wrapping_add(1);
        index < self.own(own::RUNG).load(Ordering::SeqCst).max(by_waves)
    }

    pub(crate) fn bell(self) -> &'static AtomicU32 {
        // SAFETY: the first half of an aligned word of memory that is never unmapped, and that is only used so.
        unsafe { AtomicU32::from_ptr(self.own(own::BELL).as_ptr().cast()) }
    }

    /// How many of its threads sleep.
    pub(crate) fn asleep(self) -> &'static AtomicU64 {
        self.own(own::ASLEEP)
    }

    /// Makes the packet processor look.
    pub(crate) fn wake(self) {
        self.bell().fetch_add(1, Ordering::SeqCst);
        if sleeping(self.asleep()) != 0 {
            waiters::wake(self.bell());
        }
    }

    /// Notes where a dispatch's scratch is, for whoever looks at the queue.
    pub(crate) fn set_scratch(self, scratch: &Scratch, level: Level) {
        let put = |at: u64, value: u32| self.half(at).store(value, Ordering::Relaxed);
        let descriptor = scratch.descriptor(level, 4);
        for (at, value) in (QueueImage::SCRATCH..).step_by(4).zip(descriptor) {
            put(at, value);
        }
        self.word(QueueImage::SCRATCH + 16).store(scratch.base, Ordering::Relaxed);
        self.word(QueueImage::SCRATCH + 24).store(scratch.len, Ordering::Relaxed);
        put(QueueImage::SCRATCH + 32, scratch.per_item);
        // COMPUTE_TMPRING_SIZE: waves in bits 11:0, granules of a wave in 24:12.
        let waves = (scratch.len / scratch.per_wave.max(1)).min(0xfff);
        let granules = scratch.per_wave / SCRATCH_GRANULE;
        put(QueueImage::TMPRING, waves as u32 | (granules as u32) << 12);
    }

    pub(crate) fn packet(self, index: u64) -> u64 {
        self.ring() + (index & u64::from(self.size().wrapping_sub(1))) * PACKET_SIZE as u64
    }
}

/// Memory of a queue that all GPUs see.
pub(crate) struct Ring {
    map: Option<Mapping>,
    platform: Arc<Platform>,
}

impl Ring {
    pub(crate) fn new(platform: &Arc<Platform>, packets: u32) -> Result<Ring, MemoryError> {
        let len = packets as usize * PACKET_SIZE;
        let map = Mapping::new(len as u64).map_err(|e| MemoryError(format!("no memory for a queue: {e}")))?;
        let ring = Ring { map: Some(map), platform: platform.clone() };
        for i in 0..packets {
            // SAFETY: inside the mapping, which nobody else has yet.
            unsafe {
                *((ring.start() + u64::from(i) * PACKET_SIZE as u64) as *mut u16) = packet_type::INVALID
            };
        }
        // SAFETY: the mapping lives until `drop`, which withdraws it first.
        unsafe { platform.announce(ring.start(), len as u64, "the packets of a queue") }?;
        Ok(ring)
    }

    pub(crate) fn start(&self) -> u64 {
        self.map.as_ref().map_or(0, |m| m.as_mut_ptr() as u64)
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let start = self.start();
        if let Some(map) = self.map.take() {
            self.platform.withdraw(start);
            self.platform.retire(map);
        }
    }
}

pub(crate) fn header_at(address: u64) -> &'static AtomicU16 {
    // SAFETY: only called with packets of a ring that lives as long as the processor's threads; headers are aligned.
    unsafe { &*(address as *const AtomicU16) }
}

/// Puts a packet into a ring that has no processor.
pub(crate) fn write_packet(address: u64, packet: &[u8; PACKET_SIZE]) {
    // SAFETY: only called with packets of a ring of the caller's own, which no other thread of the host accesses.
    unsafe { std::ptr::copy_nonoverlapping(packet.as_ptr(), address as *mut u8, PACKET_SIZE) };
}

/// What every queue of a GPU says of it.
pub(crate) fn image(gpu: &Gpu) -> QueueImage {
    let device = &gpu.device;
    let limits = Limits::of(device.target().cpu);
    QueueImage {
        group_segment_aperture_base_hi: (GroupShared::SHARED_BASE >> 32) as u32,
        private_segment_aperture_base_hi: (GroupShared::PRIVATE_BASE >> 32) as u32,
        max_cu_id: device.profile().compute_units - 1,
        max_wave_id: limits.waves_per_simd * SIMDS_PER_CU - 1,
        ..QueueImage::default()
    }
}

/// Puts a queue into a page that all GPUs see. `doorbell` gets the page's address.
pub(crate) fn place(
    platform: &Arc<Platform>,
    image: &QueueImage,
    ring: &Ring,
    doorbell: impl FnOnce(u64) -> Option<Signal>,
) -> Result<(QueueRef, Signal), MemoryError> {
    let none = || MemoryError("there are too many queues".into());
    let at = queues().and_then(|q| q.pages.take()).ok_or_else(none)?;
    let Some(signal) = doorbell(at) else {
        release(QueueRef(at));
        return Err(none());
    };
    let image = QueueImage { base_address: ring.start(), doorbell_signal: signal.handle(), ..*image };
    let queue = QueueRef(at);
    for (offset, bytes) in (0u64..).step_by(8).zip(image.to_bytes().chunks_exact(8)) {
        let value = u64::from_le_bytes(bytes.try_into().unwrap_or_default());
        queue.word(offset).store(value, Ordering::Release);
    }
    // No packet's number, so that the first one can be told.
    queue.word(DOORBELL).store(u64::MAX, Ordering::Release);
    queue.own(own::RING).store(ring.start(), Ordering::Relaxed);
    queue.own(own::ID).store(image.id, Ordering::Relaxed);
    queue.own(own::SIZE).store(image.size.into(), Ordering::Release);
    // SAFETY: pages of the arena are never unmapped.
    if let Err(e) = unsafe { platform.announce(at, VISIBLE, "a queue") } {
        platform.withdraw(at);
        release(queue);
        return Err(e);
    }
    Ok((queue, signal))
}

/// Gives a queue's page back.
pub(crate) fn release(queue: QueueRef) {
    for offset in [own::SIZE, own::RING, own::ID, own::BELL, own::ASLEEP, own::RUNG] {
        queue.own(offset).store(0, Ordering::Release);
    }
    for offset in (0..VISIBLE).step_by(8) {
        queue.word(offset).store(0, Ordering::Release);
    }
    if let Some(queues) = queues() {
        queues.pages.give(queue.0);
    }
}

/// A queue whose packets the program processes itself.
pub struct SoftQueue {
    at: QueueRef,
    /// Its memory, which goes with it.
    _ring: Ring,
    platform: Arc<Platform>,
}

impl SoftQueue {
    /// Makes one. The doorbell is the program's own signal.
    pub fn new(
        platform: &Arc<Platform>,
        size: u32,
        kind: u32,
        features: u32,
        doorbell: Signal,
    ) -> Result<SoftQueue, MemoryError> {
        let ring = Ring::new(platform, size)?;
        let image = QueueImage { kind, features, size, id: platform.next_id(), ..QueueImage::default() };
        let (at, _) = place(platform, &image, &ring, |_| Some(doorbell))?;
        Ok(SoftQueue { at, _ring: ring, platform: platform.clone() })
    }

    /// What programs know of it.
    pub fn at(&self) -> QueueRef {
        self.at
    }
}

impl Drop for SoftQueue {
    fn drop(&mut self) {
        self.platform.withdraw(self.at.0);
        release(self.at);
    }
}
