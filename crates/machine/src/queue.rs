//! Queues: `amd_queue_t`, the ring of packets and the threads that process them (ROCm code object format, "AMD
//! Queue"; HSA Platform System Architecture Specification, "User mode queuing").
//!
//! [`QueueRef`] is what anybody may do with a queue whose address he has; [`Queue`] is its packet processor.
//! What packets do is in [`crate::packet`].

use crate::aql::{PACKET_SIZE, QueueImage, packet_type};
use crate::arena::Arena;
use crate::dispatch::Tell;
use crate::fault::Report;
use crate::memory::MemoryError;
use crate::packet::Outcome;
use crate::signal::{Kind, Signal};
use crate::system::{Gpu, System};
use crate::watch;
use memmap2::{MmapOptions, MmapRaw};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use wavemill_object::limits::{Limits, SIMDS_PER_CU};
use wavemill_wave::GroupShared;

/// Queues that there can be at once.
const MOST: u64 = 1 << 15;
/// A queue's page: `amd_queue_t`, then the doorbell; beyond what waves see, the words its threads sleep on.
const PAGE: u64 = 4096;
const DOORBELL: u64 = 512;
const VISIBLE: u64 = 1024;
const BELL: u64 = 2048;
const ASLEEP: u64 = 2056;

/// Fewest packets of a queue.
pub const MIN_SIZE: u32 = 64;
/// Most packets of a queue.
pub const MAX_SIZE: u32 = 1 << 17;

/// How long an idle packet processor looks for the next packet before it sleeps. Not long: whoever is to send it may need
/// the same processor.
const SPIN: Duration = Duration::from_micros(8);

/// A kernel that runs for longer does not keep the packets behind it waiting, unless they ask for it.
const PATIENCE: Duration = Duration::from_millis(1);

/// Threads that may process one queue's packets at the same time.
const MOST_THREADS: usize = 8;

fn pages() -> Option<&'static Arena> {
    static PAGES: OnceLock<Option<Arena>> = OnceLock::new();
    PAGES.get_or_init(|| Arena::new(PAGE, MOST).ok()).as_ref()
}

/// Forgets every queue. For the end of the runtime.
pub(crate) fn reset() {
    if let Some(pages) = pages() {
        pages.reset();
    }
}

/// A queue by its address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct QueueRef(u64);

impl QueueRef {
    /// The queue at this address, if there is one.
    pub fn from_address(address: u64) -> Option<QueueRef> {
        pages()?.index(address)?;
        let queue = QueueRef(address);
        (queue.size() != 0).then_some(queue)
    }

    /// Address of its `amd_queue_t`.
    pub fn address(self) -> u64 {
        self.0
    }

    fn word(self, offset: u64) -> &'static AtomicU64 {
        // SAFETY: every `QueueRef` is a page of the arena, which is never unmapped; see `Arena::word`.
        unsafe { &*((self.0 + offset) as *const AtomicU64) }
    }

    fn half(self, offset: u64) -> &'static AtomicU32 {
        // SAFETY: as in `word`.
        unsafe { &*((self.0 + offset) as *const AtomicU32) }
    }

    /// Packets in the ring.
    pub fn size(self) -> u32 {
        self.half(24).load(Ordering::Acquire)
    }

    /// Its number.
    pub fn id(self) -> u64 {
        self.word(32).load(Ordering::Relaxed)
    }

    /// Address of the ring.
    pub fn ring(self) -> u64 {
        self.word(8).load(Ordering::Relaxed)
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
        self.word(DOORBELL).store(value, Ordering::SeqCst);
        self.wake();
    }

    fn bell(self) -> &'static AtomicU32 {
        self.half(BELL)
    }

    /// Makes the packet processor look.
    pub(crate) fn wake(self) {
        self.bell().fetch_add(1, Ordering::SeqCst);
        if self.half(ASLEEP).load(Ordering::SeqCst) != 0 {
            watch::wake(self.bell());
        }
    }

    fn packet(self, index: u64) -> u64 {
        self.ring() + (index & u64::from(self.size().wrapping_sub(1))) * PACKET_SIZE as u64
    }
}

/// Memory of a queue that all GPUs see.
struct Ring {
    map: Option<MmapRaw>,
    system: Weak<System>,
}

impl Ring {
    fn new(system: &Arc<System>, packets: u32) -> Result<Ring, MemoryError> {
        let len = packets as usize * PACKET_SIZE;
        let map = MmapOptions::new().len(len).no_reserve_swap().map_anon();
        let map = MmapRaw::from(map.map_err(|e| MemoryError(format!("no memory for a queue: {e}")))?);
        let ring = Ring { map: Some(map), system: Arc::downgrade(system) };
        for i in 0..packets {
            // SAFETY: inside the mapping, which nobody else has yet.
            unsafe {
                *((ring.start() + u64::from(i) * PACKET_SIZE as u64) as *mut u16) = packet_type::INVALID
            };
        }
        // SAFETY: the mapping lives until `drop`, which withdraws it first.
        unsafe { system.announce(ring.start(), len as u64, "the packets of a queue") }?;
        Ok(ring)
    }

    fn start(&self) -> u64 {
        self.map.as_ref().map_or(0, |m| m.as_mut_ptr() as u64)
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let start = self.start();
        if let (Some(system), Some(map)) = (self.system.upgrade(), self.map.take()) {
            system.withdraw(start);
            system.bury(map);
        }
    }
}

/// What stops a queue.
#[derive(Clone, Debug)]
pub enum QueueError {
    /// A packet of no known kind.
    Packet(String),
    /// A dispatch that cannot be run.
    Dispatch(crate::DispatchError),
    /// A wave did something it must not.
    Fault(Box<Report>),
}

/// Whom a queue tells about errors.
pub type OnError = Box<dyn Fn(QueueRef, &QueueError) + Send + Sync>;

/// What to make.
pub struct QueueRequest {
    /// Packets, a power of two.
    pub size: u32,
    /// 0 for several producers, 1 for one, 2 for cooperative kernels.
    pub kind: u32,
    /// Whom to tell about errors.
    pub on_error: OnError,
}

/// Packets under way.
#[derive(Default)]
struct Flight {
    started: BTreeSet<u64>,
    /// Index behind the last packet that was started.
    next: u64,
    /// A thread waits until some have ended.
    awaited: bool,
}

/// Who looks for the next packet.
#[derive(Default)]
struct Lead {
    /// Somebody does.
    taken: bool,
    /// Threads that would like to.
    willing: usize,
}

/// A processor thread's part in the lead.
struct Share {
    queue: Arc<Queue>,
    /// This thread looks for the next packet.
    leads: AtomicBool,
}

impl Share {
    /// Waits until nobody else leads.
    fn take(&self) {
        let mut lead = self.queue.lead();
        lead.willing += 1;
        while lead.taken && !self.queue.ended() {
            let pause = Duration::from_millis(100);
            lead = self.queue.follow.wait_timeout(lead, pause).unwrap_or_else(PoisonError::into_inner).0;
        }
        lead.willing -= 1;
        lead.taken = true;
        self.leads.store(true, Ordering::SeqCst);
    }

    /// Lets another thread lead.
    fn give(&self) {
        if !self.leads.swap(false, Ordering::SeqCst) || self.queue.ended() {
            return;
        }
        let mut lead = self.queue.lead();
        lead.taken = false;
        let alone = lead.willing == 0;
        drop(lead);
        self.queue.follow.notify_one();
        if alone {
            self.queue.spawn();
        }
    }
}

impl Flight {
    /// Whether a packet under way has the place of the packet with an index in a ring of `size`.
    fn full(&self, index: u64, size: u32) -> bool {
        self.started.first().is_some_and(|&oldest| index - oldest >= u64::from(size))
    }
}

/// A packet processor.
pub struct Queue {
    at: QueueRef,
    ring: Ring,
    doorbell: Signal,
    gpu: Arc<Gpu>,
    system: Weak<System>,
    /// The queue is to process no more packets.
    inactive: AtomicBool,
    /// Running dispatches are to end.
    stop: Arc<AtomicBool>,
    on_error: OnError,
    lead: Mutex<Lead>,
    follow: Condvar,
    flight: Mutex<Flight>,
    landed: Condvar,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// Compute units that may be used, one bit each.
    mask: Mutex<Vec<u32>>,
    units: AtomicU32,
    priority: AtomicU32,
}

impl Queue {
    /// Makes a queue and starts its processor.
    pub fn new(
        system: &Arc<System>,
        gpu: &Arc<Gpu>,
        request: QueueRequest,
    ) -> Result<Arc<Queue>, MemoryError> {
        let size = request.size.max(MIN_SIZE);
        let machine = &gpu.machine;
        let limits = Limits::of(machine.target().cpu);
        let image = QueueImage {
            kind: request.kind,
            features: 1,
            size,
            id: system.next_id(),
            group_segment_aperture_base_hi: (GroupShared::SHARED_BASE >> 32) as u32,
            private_segment_aperture_base_hi: (GroupShared::PRIVATE_BASE >> 32) as u32,
            max_cu_id: machine.profile().compute_units - 1,
            max_wave_id: limits.waves_per_simd * SIMDS_PER_CU - 1,
            ..QueueImage::default()
        };
        let kind = if machine.target().level().is_gfx9() { Kind::Doorbell } else { Kind::LegacyDoorbell };
        let ring = Ring::new(system, size)?;
        let (at, doorbell) = place(system, &image, &ring, |at| {
            Signal::doorbell(kind, at + DOORBELL, at, |start, len| system.show_signals(start, len))
        })?;
        let queue = Arc::new(Queue {
            at,
            ring,
            doorbell,
            gpu: gpu.clone(),
            system: Arc::downgrade(system),
            inactive: AtomicBool::new(false),
            stop: Arc::default(),
            on_error: request.on_error,
            lead: Mutex::default(),
            follow: Condvar::new(),
            flight: Mutex::default(),
            landed: Condvar::new(),
            threads: Mutex::default(),
            units: AtomicU32::new(machine.profile().compute_units),
            priority: AtomicU32::new(Self::NORMAL_PRIORITY),
            mask: Mutex::new(all_units(machine.profile().compute_units)),
        });
        if !queue.spawn() {
            return Err(MemoryError("no thread for a queue".into()));
        }
        Ok(queue)
    }

    /// What programs know of it.
    pub fn at(&self) -> QueueRef {
        self.at
    }

    /// Compute units that may be used, one bit each.
    pub fn mask(&self) -> Vec<u32> {
        self.mask.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many compute units may be used.
    pub(crate) fn units(&self) -> u32 {
        self.units.load(Ordering::Relaxed)
    }

    /// Says which compute units may be used. Which ones makes no difference; how many bounds the work-groups under way.
    pub fn set_mask(&self, mask: Vec<u32>) {
        self.units.store(mask.iter().map(|w| w.count_ones()).sum(), Ordering::Relaxed);
        *self.mask.lock().unwrap_or_else(PoisonError::into_inner) = mask;
    }

    /// The priority of queues that nobody gave another: 0 is low, 2 high.
    pub const NORMAL_PRIORITY: u32 = 1;

    /// Sets the priority of what is dispatched from now on.
    pub fn set_priority(&self, priority: u32) {
        self.priority.store(priority, Ordering::Relaxed);
    }

    /// Its priority.
    pub fn priority(&self) -> u32 {
        self.priority.load(Ordering::Relaxed)
    }

    /// The GPU it belongs to.
    pub fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    pub(crate) fn system(&self) -> Option<Arc<System>> {
        self.system.upgrade()
    }

    pub(crate) fn stop(&self) -> &Arc<AtomicBool> {
        &self.stop
    }

    /// Processes no more packets; what runs is cancelled.
    pub fn inactivate(&self) {
        self.inactive.store(true, Ordering::SeqCst);
        self.stop.store(true, Ordering::SeqCst);
        self.at.wake();
        self.landed.notify_all();
        self.follow.notify_all();
        watch::event();
    }

    fn lead(&self) -> MutexGuard<'_, Lead> {
        self.lead.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ended(&self) -> bool {
        self.inactive.load(Ordering::SeqCst)
    }

    fn spawn(self: &Arc<Self>) -> bool {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        if threads.len() >= MOST_THREADS {
            return true;
        }
        let queue = self.clone();
        let builder = std::thread::Builder::new().name("wavemill-queue".into());
        let thread = builder.spawn(move || queue.process());
        thread.map(|t| threads.push(t)).is_ok()
    }

    /// Waits for the processor's threads after [`Queue::inactivate`], and gives the memory back.
    pub fn destroy(&self) {
        self.inactivate();
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        let me = std::thread::current().id();
        for thread in threads.into_iter().filter(|t| t.thread().id() != me) {
            // What panicked there has been reported.
            let _ = thread.join();
        }
        if let Some(system) = self.system() {
            system.withdraw(self.at.0);
        }
        self.doorbell.destroy();
        release(self.at);
    }

    fn flight(&self) -> MutexGuard<'_, Flight> {
        self.flight.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A processor thread. One thread leads: it waits for the next packet and does what it says. When a kernel takes
    /// long, the thread lets another one lead meanwhile.
    fn process(self: Arc<Self>) {
        let share = Arc::new(Share { queue: self.clone(), leads: AtomicBool::new(false) });
        let slow: Tell = {
            let share = share.clone();
            Arc::new(move || share.give())
        };
        while !self.ended() {
            if !share.leads.load(Ordering::SeqCst) {
                share.take();
            }
            let index = self.flight().next;
            if !self.wait_for_room(index) {
                return;
            }
            let Some(header) = self.next_header(index) else { return };
            if header & crate::aql::BARRIER_BIT != 0 && !self.wait_for_all() {
                return;
            }
            let mut flight = self.flight();
            flight.next = index + 1;
            flight.started.insert(index);
            drop(flight);
            self.perform(index, &slow);
        }
    }

    fn perform(&self, index: u64, slow: &Tell) {
        let address = self.at.packet(index);
        let mut packet = [0; PACKET_SIZE];
        // SAFETY: the packet is in our ring, and its producer does not touch it after having set the header.
        unsafe { std::ptr::copy_nonoverlapping(address as *const u8, packet.as_mut_ptr(), PACKET_SIZE) };
        match crate::packet::perform(self, &packet, address, index, (PATIENCE, slow)) {
            Outcome::Done => self.retire(index, address),
            Outcome::Cancelled => {}
            Outcome::Failed(error) => {
                self.inactivate();
                (self.on_error)(self.at, &error);
            }
        }
    }

    /// The packet is done: the producer may use its place again.
    fn retire(&self, index: u64, address: u64) {
        header_at(address).store(packet_type::INVALID, Ordering::Release);
        let mut flight = self.flight();
        flight.started.remove(&index);
        let read = flight.started.first().copied().unwrap_or(flight.next);
        self.at.read_index().store(read, Ordering::SeqCst);
        let awaited = flight.awaited;
        drop(flight);
        if awaited {
            self.landed.notify_all();
        }
    }

    /// Waits until no packet is under way; false when the queue is to end.
    fn wait_for_all(&self) -> bool {
        self.wait_while(|flight| !flight.started.is_empty())
    }

    /// Waits until the place of a packet in the ring is no longer that of one under way, whose header would be taken
    /// for the new one's; false when the queue is to end.
    fn wait_for_room(&self, index: u64) -> bool {
        let size = self.at.size();
        self.wait_while(|flight| flight.full(index, size))
    }

    fn wait_while(&self, busy: impl Fn(&Flight) -> bool) -> bool {
        let mut flight = self.flight();
        while busy(&flight) && !self.ended() {
            flight.awaited = true;
            let pause = Duration::from_millis(100);
            flight = self.landed.wait_timeout(flight, pause).unwrap_or_else(PoisonError::into_inner).0;
        }
        flight.awaited = false;
        !self.ended()
    }

    /// Waits for a packet; `None` when the queue is to end.
    fn next_header(&self, index: u64) -> Option<u16> {
        let header = header_at(self.at.packet(index));
        // SAFETY: the first word of a packet of our ring, which lives as long as the processor's threads.
        let packet = unsafe { &*(self.at.packet(index) as *const AtomicU64) };
        let ready = || {
            let h = header.load(Ordering::Acquire);
            (h & 0xff != packet_type::INVALID).then_some(h)
        };
        if self.ended() {
            return None;
        }
        let began = Instant::now();
        loop {
            if let Some(h) = watch::glance(ready) {
                return Some(h);
            }
            if self.ended() {
                return None;
            }
            if began.elapsed() >= SPIN {
                break;
            }
        }
        let (bell, doorbell) = (self.at.bell(), self.at.word(DOORBELL));
        loop {
            let seen = bell.load(Ordering::SeqCst);
            self.at.half(ASLEEP).store(1, Ordering::SeqCst);
            // Device code stores to the doorbell, perhaps the value that was there: the packet itself counts, too.
            let words = [doorbell, packet];
            let registered = words.map(|word| watch::register(word, word.load(Ordering::SeqCst), bell));
            if ready().is_none() && !self.ended() {
                watch::sleep(bell, seen, None);
            }
            drop(registered);
            self.at.half(ASLEEP).store(0, Ordering::SeqCst);
            if self.ended() {
                return None;
            }
            if let Some(h) = ready() {
                return Some(h);
            }
        }
    }

    /// Notes where a dispatch's scratch is, for whoever looks at the queue.
    pub(crate) fn set_scratch(&self, scratch: &crate::launch::Scratch) {
        let put = |at: u64, value: u32| self.at.half(at).store(value, Ordering::Relaxed);
        let descriptor = scratch.descriptor(self.gpu.machine.target().level());
        for (at, value) in (QueueImage::SCRATCH..).step_by(4).zip(descriptor) {
            put(at, value);
        }
        self.at.word(QueueImage::SCRATCH + 16).store(scratch.base, Ordering::Relaxed);
        self.at.word(QueueImage::SCRATCH + 24).store(scratch.len, Ordering::Relaxed);
        put(QueueImage::SCRATCH + 32, scratch.per_item);
        // COMPUTE_TMPRING_SIZE: waves in bits 11:0, granules of a wave in 24:12.
        let waves = (scratch.len / scratch.per_wave.max(1)).min(0xfff);
        let granules = scratch.per_wave / crate::launch::SCRATCH_GRANULE;
        put(QueueImage::TMPRING, waves as u32 | (granules as u32) << 12);
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        debug_assert!(self.ring.map.is_some());
    }
}

/// A mask with every one of so many compute units.
pub fn all_units(count: u32) -> Vec<u32> {
    (0..count.div_ceil(32)).map(|i| !0 >> (32 - (count - 32 * i).min(32))).collect()
}

fn header_at(address: u64) -> &'static AtomicU16 {
    // SAFETY: only called with packets of a ring that lives as long as the processor's threads; headers are aligned.
    unsafe { &*(address as *const AtomicU16) }
}

/// Puts a queue into a page that all GPUs see. `doorbell` gets the page's address.
fn place(
    system: &Arc<System>,
    image: &QueueImage,
    ring: &Ring,
    doorbell: impl FnOnce(u64) -> Option<Signal>,
) -> Result<(QueueRef, Signal), MemoryError> {
    let none = || MemoryError("there are too many queues".into());
    let at = pages().and_then(Arena::take).ok_or_else(none)?;
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
    // SAFETY: pages of the arena are never unmapped.
    unsafe { system.announce(at, VISIBLE, "a queue") }?;
    Ok((queue, signal))
}

/// Gives a queue's page back.
fn release(queue: QueueRef) {
    for offset in (0..VISIBLE).step_by(8).chain([BELL, ASLEEP]) {
        queue.word(offset).store(0, Ordering::Release);
    }
    if let Some(pages) = pages() {
        pages.give(queue.0);
    }
}

/// A queue whose packets the program processes itself.
pub struct SoftQueue {
    at: QueueRef,
    ring: Ring,
    system: Weak<System>,
}

impl SoftQueue {
    /// Makes one. The doorbell is the program's own signal.
    pub fn new(
        system: &Arc<System>,
        size: u32,
        kind: u32,
        features: u32,
        doorbell: Signal,
    ) -> Result<SoftQueue, MemoryError> {
        let ring = Ring::new(system, size)?;
        let image = QueueImage { kind, features, size, id: system.next_id(), ..QueueImage::default() };
        let (at, _) = place(system, &image, &ring, |_| Some(doorbell))?;
        Ok(SoftQueue { at, ring, system: Arc::downgrade(system) })
    }

    /// What programs know of it.
    pub fn at(&self) -> QueueRef {
        self.at
    }
}

impl Drop for SoftQueue {
    fn drop(&mut self) {
        debug_assert_eq!(self.ring.start(), self.at.ring());
        if let Some(system) = self.system.upgrade() {
            system.withdraw(self.at.0);
        }
        release(self.at);
    }
}
