//! Packet processors: the threads of a queue that take its packets in turn.
//!
//! The queue's memory is in [`crate::queue`], what packets do in [`crate::packet`].

use crate::doze::doze;
use crate::observe::{HostEvent, tell};
use crate::packet::{self, Outcome, QueueError};
use crate::platform::{Gpu, Platform};
use crate::queue::{self, DOORBELL, MIN_SIZE, QueueRef, Ring, header_at, place, release};
use crate::signal::{Kind, Signal};
use crate::turns;
use crate::waiters::{self, Word};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use wavemill_device::aql::{BARRIER_BIT, PACKET_SIZE, QueueImage, packet_type};
use wavemill_device::control::{Callback, NORMAL_PRIORITY};
use wavemill_device::memory::MemoryError;
use wavemill_device::observe::Observers;

/// How long an idle packet processor looks for the next packet before it sleeps. Not long: whoever is to send it may need
/// the same processor.
const SPIN: Duration = Duration::from_micros(8);

/// A kernel that runs for longer does not keep the packets behind it waiting, unless they ask for it.
const PATIENCE: Duration = Duration::from_millis(1);

/// Threads that may process one queue's packets at the same time.
const MOST_THREADS: usize = 8;

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
    /// Who looks on while its dispatches run, beside those who look at the whole process.
    pub observers: Observers,
}

/// Packets under way.
#[derive(Default)]
struct InFlight {
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
            drop(lead);
            let rested = turns::rest(false, || self.queue.ended());
            lead = self.queue.lead();
            if rested {
                continue;
            }
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

impl InFlight {
    /// Whether a packet under way has the place of the packet with an index in a ring of `size`.
    fn full(&self, index: u64, size: u32) -> bool {
        self.started.first().is_some_and(|&oldest| index - oldest >= u64::from(size))
    }
}

/// A packet processor.
pub struct Queue {
    at: QueueRef,
    /// Its memory, which goes with it.
    _ring: Ring,
    doorbell: Signal,
    gpu: Arc<Gpu>,
    platform: Arc<Platform>,
    /// The queue is to process no more packets.
    inactive: AtomicBool,
    /// Running dispatches are to end.
    stop: Arc<AtomicBool>,
    on_error: OnError,
    observers: Observers,
    lead: Mutex<Lead>,
    follow: Condvar,
    in_flight: Mutex<InFlight>,
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
        platform: &Arc<Platform>,
        gpu: &Arc<Gpu>,
        request: QueueRequest,
    ) -> Result<Arc<Queue>, MemoryError> {
        let size = request.size.max(MIN_SIZE);
        let device = &gpu.device;
        let image =
            QueueImage { kind: request.kind, features: 1, size, id: platform.next_id(), ..queue::image(gpu) };
        let kind = if device.target().level().is_gfx9() { Kind::Doorbell } else { Kind::LegacyDoorbell };
        let ring = Ring::new(platform, size)?;
        let (at, doorbell) = place(platform, &image, &ring, |at| {
            Signal::doorbell(kind, at + DOORBELL, at, |start, len| platform.show_signals(start, len))
        })?;
        let queue = Arc::new(Queue {
            at,
            _ring: ring,
            doorbell,
            gpu: gpu.clone(),
            platform: platform.clone(),
            inactive: AtomicBool::new(false),
            stop: Arc::default(),
            on_error: request.on_error,
            observers: request.observers.with(platform.observers()),
            lead: Mutex::default(),
            follow: Condvar::new(),
            in_flight: Mutex::default(),
            landed: Condvar::new(),
            threads: Mutex::default(),
            units: AtomicU32::new(device.profile().compute_units),
            priority: AtomicU32::new(NORMAL_PRIORITY),
            mask: Mutex::new(all_units(device.profile().compute_units)),
        });
        if !queue.spawn() {
            return Err(MemoryError("no thread for a queue".into()));
        }
        tell(HostEvent::QueueCreated { queue: at.address() });
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

    /// Says which compute units may be used. Which ones makes no difference; how many bounds the work-groups under way.
    pub fn set_mask(&self, mask: Vec<u32>) {
        self.units.store(mask.iter().map(|w| w.count_ones()).sum(), Ordering::Relaxed);
        *self.mask.lock().unwrap_or_else(PoisonError::into_inner) = mask;
    }

    /// Sets the priority of what is dispatched from now on: 0 is low, 2 high.
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

    /// Processes no more packets; what runs is cancelled.
    pub fn inactivate(&self) {
        self.inactive.store(true, Ordering::SeqCst);
        self.stop.store(true, Ordering::SeqCst);
        self.at.wake();
        self.landed.notify_all();
        self.follow.notify_all();
        waiters::event();
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
        let actor = turns::actor();
        let thread = builder.spawn(move || {
            actor.begin(|| queue.ended());
            queue.process();
            drop(actor);
        });
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
        self.platform.withdraw(self.at.address());
        tell(HostEvent::QueueDestroyed { queue: self.at.address() });
        self.doorbell.destroy();
        release(self.at);
    }

    fn in_flight(&self) -> MutexGuard<'_, InFlight> {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A processor thread. One thread leads: it waits for the next packet and does what it says. When a kernel takes
    /// long, the thread lets another one lead meanwhile.
    fn process(self: Arc<Self>) {
        let share = Arc::new(Share { queue: self.clone(), leads: AtomicBool::new(false) });
        let slow: Callback = {
            let share = share.clone();
            Arc::new(move || share.give())
        };
        while !self.ended() {
            if !share.leads.load(Ordering::SeqCst) {
                share.take();
            }
            let index = self.in_flight().next;
            if !self.wait_for_room(index) {
                return;
            }
            let Some(header) = self.next_header(index) else { return };
            if header & BARRIER_BIT != 0 && !self.wait_for_all() {
                return;
            }
            let mut flight = self.in_flight();
            flight.next = index + 1;
            flight.started.insert(index);
            drop(flight);
            self.perform(index, &slow);
        }
    }

    fn perform(&self, index: u64, slow: &Callback) {
        let address = self.at.packet(index);
        let mut packet = [0; PACKET_SIZE];
        // SAFETY: the packet is in our ring, and its producer does not touch it after having set the header.
        unsafe { std::ptr::copy_nonoverlapping(address as *const u8, packet.as_mut_ptr(), PACKET_SIZE) };
        let context = packet::Context {
            queue: self.at,
            gpu: &self.gpu,
            platform: &self.platform,
            stop: &self.stop,
            units: self.units.load(Ordering::Relaxed),
            priority: self.priority(),
            observers: &self.observers,
            // Time is not the same every time.
            slow: (if turns::active() { Duration::ZERO } else { PATIENCE }, slow),
        };
        let queue = self.at.address();
        tell(HostEvent::PacketStarted { queue, index, kind: packet[0] });
        match packet::perform(&context, &packet, address, index) {
            Outcome::Done => {
                self.retire(index, address);
                tell(HostEvent::PacketEnded { queue, index });
            }
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
        let mut flight = self.in_flight();
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

    fn wait_while(&self, busy: impl Fn(&InFlight) -> bool) -> bool {
        let mut flight = self.in_flight();
        while busy(&flight) && !self.ended() {
            drop(flight);
            let rested = turns::rest(false, || self.ended());
            flight = self.in_flight();
            if rested {
                continue;
            }
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
        let ready = || {
            let h = header.load(Ordering::Acquire);
            (h & 0xff != packet_type::INVALID).then_some(h)
        };
        while turns::active() && !self.ended() {
            match ready().filter(|_| self.at.rung_for(index)) {
                Some(h) => return Some(h),
                None if turns::rest(false, || self.ended()) => {}
                None => break,
            }
        }
        if self.ended() {
            return None;
        }
        let began = Instant::now();
        loop {
            if let Some(h) = waiters::spin(ready) {
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
            // Device code stores to the doorbell, perhaps the value that was there: the packet itself counts, too.
            let mut registered = None;
            let look = || {
                let seen = bell.load(Ordering::SeqCst);
                let words = [Word::Value(doorbell), Word::Header(header)];
                registered = Some(words.map(|word| waiters::register(word, word.load(), bell)));
                (ready().is_none() && !self.ended()).then_some(seen)
            };
            doze(self.at.asleep(), look, |seen| waiters::sleep(bell, seen, None));
            drop(registered);
            if self.ended() {
                return None;
            }
            if let Some(h) = ready() {
                return Some(h);
            }
        }
    }
}

/// A mask with every one of so many compute units.
pub fn all_units(count: u32) -> Vec<u32> {
    (0..count.div_ceil(32)).map(|i| !0 >> (32 - (count - 32 * i).min(32))).collect()
}
