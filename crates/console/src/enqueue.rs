//! Kernels that kernels enqueue: OpenCL's queues on the device, as AMD's device library keeps them.
//!
//! Such a queue is nothing but memory: a header, slots with a packet each, events, and room for arguments and lists of
//! events to wait for. Waves reserve a slot, fill it in and call it ready; a scheduler runs what is ready once the kernel
//! that enqueued it is over. On hardware the scheduler is a kernel of the library's (device-libs, `schedule.cl`, whose rules
//! these are; `devenq.h` has the structures); here it is [`Children`], on the host. Catalyst's queues were the same.
//!
//! Waves can write all of it, so nothing in it is trusted: addresses count if they lead to slots and events of these
//! queues, and are refused otherwise.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use wavemill_device::aql::{DispatchPacket, PACKET_SIZE, packet_type};
use wavemill_device::device::Device;
use wavemill_device::kernarg::Hidden;
use wavemill_device::memory::{Allocations, MemoryError, Region, Use};

/// Bytes of a queue's header, `AmdVQueueHeader`, and where its fields are.
mod header {
    pub const BYTES: u64 = 64;
    pub const SLOTS: u64 = 0;
    pub const EVENTS: u64 = 4;
    pub const EVENT_MASK: u64 = 8;
    pub const EVENT_ARRAY: u64 = 16;
    pub const SLOT_MASK: u64 = 24;
    pub const WAIT_SIZE: u64 = 36;
    pub const ARGUMENT_SIZE: u64 = 40;
    pub const MASK_GROUPS: u64 = 44;
    pub const KERNEL_TABLE: u64 = 48;
}

/// Bytes of a slot, `AmdAqlWrap`, and where its fields are.
mod slot {
    pub const BYTES: u64 = 128;
    pub const STATE: u64 = 0;
    pub const COMMAND: u64 = 8;
    pub const CHILDREN: u64 = 12;
    pub const EVENT: u64 = 16;
    pub const PARENT: u64 = 24;
    pub const WAIT_LIST: u64 = 32;
    pub const WAITS: u64 = 40;
    pub const PACKET: u64 = 64;
    /// In the packet.
    pub const ARGUMENTS: u64 = PACKET + 40;
}

/// Bytes of an event, `AmdEvent`, and where its fields are.
mod event {
    pub const BYTES: u64 = 40;
    pub const STATE: u64 = 0;
    pub const REFERENCES: u64 = 4;
    pub const START: u64 = 8;
    pub const END: u64 = 16;
    pub const COMPLETE: u64 = 24;
    pub const CAPTURE: u64 = 32;
}

/// States of slots; 0 and 1 are for those that are free or being filled in.
mod state {
    pub const FREE: u32 = 0;
    pub const READY: u32 = 2;
    pub const MARKER: u32 = 3;
    pub const BUSY: u32 = 4;
    pub const DONE: u32 = 5;
}

/// `CL_COMPLETE`, as an event's state; negative ones are errors.
const CL_COMPLETE: u32 = 0;

/// Bytes of slots that a queue has unless somebody asks for more.
pub const PREFERRED_BYTES: u64 = 256 << 10;
/// Bytes of slots that a queue can have.
pub const MAX_BYTES: u64 = 1 << 20;
/// Events that a queue can have at a time.
pub const MAX_EVENTS: u64 = 1024;
/// Events that a kernel can wait for.
const MAX_WAITS: u64 = 64;
/// Bytes of arguments: as many as a kernel can have, and the hidden ones.
const ARGUMENT_BYTES: u64 = 4096 + 256;
/// Slots come in numbers of which this is a divisor.
const SLOT_GRANULE: u64 = 64;

/// Where parts of a queue's memory are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Layout {
    slots: u64,
    events: u64,
    slot_mask: u64,
    event_mask: u64,
    arguments: u64,
}

impl Layout {
    /// For so many slots, and one more for the kernel that the host runs.
    fn new(slots: u64) -> Layout {
        let events = header::BYTES + (slots + 1) * slot::BYTES;
        let slot_mask = events + MAX_EVENTS * event::BYTES;
        let event_mask = slot_mask + slots / 8;
        let arguments = (event_mask + MAX_EVENTS / 8).next_multiple_of(256);
        Layout { slots, events, slot_mask, event_mask, arguments }
    }

    const fn slot(&self, number: u64) -> u64 {
        header::BYTES + number * slot::BYTES
    }

    /// Arguments of a slot; its wait list comes behind them.
    const fn arguments_of(&self, number: u64) -> u64 {
        self.arguments + number * (ARGUMENT_BYTES + 8 * MAX_WAITS)
    }

    const fn bytes(&self) -> u64 {
        self.arguments_of(self.slots)
    }
}

/// A queue that kernels can enqueue kernels to.
pub struct DeviceQueue {
    region: Region,
    layout: Layout,
    turn: Mutex<()>,
}

impl DeviceQueue {
    /// A queue with so many bytes of slots, [`MAX_BYTES`] at most; below 4 GiB for kernels whose pointers have 32 bits.
    pub fn new(memory: &Arc<Allocations>, narrow: bool, bytes: u64) -> Result<DeviceQueue, MemoryError> {
        let slots = bytes.clamp(1, MAX_BYTES).div_ceil(slot::BYTES).next_multiple_of(SLOT_GRANULE);
        let layout = Layout::new(slots);
        let region = memory.allocate_for(narrow, layout.bytes(), Use::Queue, "the queue on the device")?;
        let queue = DeviceQueue { region, layout, turn: Mutex::default() };
        queue.reset();
        Ok(queue)
    }

    /// Its address: what kernels call the queue.
    pub fn address(&self) -> u64 {
        self.region.start()
    }

    /// Bytes of its slots.
    pub fn bytes(&self) -> u64 {
        self.layout.slots * slot::BYTES
    }

    /// Waits until no other launch uses it.
    pub fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes it empty.
    fn reset(&self) {
        let (l, start) = (&self.layout, self.address());
        self.region.write(0, &vec![0; l.arguments as usize]);
        self.set32(header::SLOTS, l.slots as u32);
        self.set32(header::EVENTS, MAX_EVENTS as u32);
        self.set64(header::EVENT_MASK, start + l.event_mask);
        self.set64(header::EVENT_ARRAY, start + l.events);
        self.set64(header::SLOT_MASK, start + l.slot_mask);
        self.set32(header::WAIT_SIZE, MAX_WAITS as u32);
        self.set32(header::ARGUMENT_SIZE, ARGUMENT_BYTES as u32);
        self.set32(header::MASK_GROUPS, 1);
        for number in 0..l.slots {
            let arguments = start + l.arguments_of(number);
            self.set64(l.slot(number) + slot::ARGUMENTS, arguments);
            self.set64(l.slot(number) + slot::WAIT_LIST, arguments + ARGUMENT_BYTES);
        }
    }

    fn u32(&self, at: u64) -> u32 {
        let mut bytes = [0; 4];
        self.region.read(at, &mut bytes);
        u32::from_le_bytes(bytes)
    }

    fn u64(&self, at: u64) -> u64 {
        let mut bytes = [0; 8];
        self.region.read(at, &mut bytes);
        u64::from_le_bytes(bytes)
    }

    fn set32(&self, at: u64, value: u32) {
        self.region.write(at, &value.to_le_bytes());
    }

    fn set64(&self, at: u64, value: u64) {
        self.region.write(at, &value.to_le_bytes());
    }

    /// Where an array's element is that an address leads to.
    fn element(&self, address: u64, first: u64, count: u64, bytes: u64) -> Option<u64> {
        let offset = address.checked_sub(self.address() + first)?;
        (offset.is_multiple_of(bytes) && offset / bytes < count).then_some(first + offset)
    }

    /// Where the slots are that somebody has filled in.
    fn filled(&self) -> Vec<u64> {
        let words = 0..self.layout.slots / 32;
        let used = words.flat_map(|w| {
            let mask = self.u32(self.layout.slot_mask + 4 * w);
            (0..32).filter(move |bit| mask >> bit & 1 != 0).map(move |bit| 32 * w + bit)
        });
        let places = used.map(|number| self.layout.slot(number));
        places.filter(|at| self.u32(at + slot::STATE) >= state::READY).collect()
    }

    /// Takes a bit out of a mask.
    fn clear(&self, mask: u64, number: u64) {
        let at = mask + number / 32 * 4;
        self.set32(at, self.u32(at) & !(1 << (number % 32)));
    }
}

/// A slot, or an event, of one of the queues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct SlotId {
    queue: usize,
    at: u64,
}

/// What is known about events that a slot waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Waits {
    Pending,
    Over,
    Failed,
}

/// What a launch enqueues, and what these kernels enqueue in turn.
pub struct Children {
    queues: Vec<Arc<DeviceQueue>>,
    /// Addresses of kernels by their numbers, for code that enqueues by number.
    _table: Option<Region>,
    running: Mutex<Option<SlotId>>,
    began: Instant,
    narrow: bool,
}

impl Children {
    /// For a launch that can enqueue to these queues, the first of which has its own slot. Kernels find others by number
    /// in `table`, if there is one.
    pub fn new(queues: Vec<Arc<DeviceQueue>>, table: Option<Region>, narrow: bool) -> Children {
        let own = queues.first().map(|q| (q, q.layout.slot(q.layout.slots)));
        if let Some((queue, at)) = own {
            queue.region.write(at, &[0; slot::BYTES as usize]);
            queue.set32(at + slot::STATE, state::BUSY);
        }
        for queue in &queues {
            queue.set64(header::KERNEL_TABLE, table.as_ref().map_or(0, Region::start));
        }
        Children { queues, _table: table, running: Mutex::default(), began: Instant::now(), narrow }
    }

    /// Address of the launch's own slot: what kernels call their parent.
    pub fn parent(&self) -> u64 {
        self.queues.first().map_or(0, |q| q.address() + q.layout.slot(q.layout.slots))
    }

    /// The next kernel that can run, now that the one before is over. A message says why none can.
    pub fn next(&self, device: &Device, hidden: &Hidden) -> Result<Option<DispatchPacket>, String> {
        let Some(place) = self.find(device)? else { return Ok(None) };
        self.complete_arguments(place, device, hidden);
        let mut packet = [0; PACKET_SIZE];
        self.queues[place.queue].region.read(place.at + slot::PACKET, &mut packet);
        let packet = DispatchPacket::from_bytes(&packet);
        match packet.header & 0xff {
            // A command is done when its children are, and what these leave is released to the host with it.
            packet_type::KERNEL_DISPATCH => {
                Ok(Some(DispatchPacket { header: DispatchPacket::HEADER, ..packet }))
            }
            other => Err(format!("a kernel has enqueued a packet of type {other}")),
        }
    }

    fn find(&self, device: &Device) -> Result<Option<SlotId>, String> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = running.take() {
            self.queues[place.queue].set32(place.at + slot::STATE, state::DONE);
            self.stamp(place, event::END)?;
        }
        loop {
            self.settle(device)?;
            let mut ready = self.places(|s| s == state::READY);
            ready.sort_by_key(|p| (p.queue, self.queues[p.queue].u32(p.at + slot::COMMAND)));
            let mut failed = false;
            for place in ready {
                match self.waits(place)? {
                    Waits::Pending => continue,
                    Waits::Over => {
                        self.begin(place)?;
                        *running = Some(place);
                        return Ok(Some(place));
                    }
                    // What it waits for has failed, and so has it.
                    Waits::Failed => {
                        self.begin(place)?;
                        if let Some(event) = self.event(place)? {
                            self.queues[event.queue].set32(event.at + event::STATE, u32::MAX);
                        }
                        self.queues[place.queue].set32(place.at + slot::STATE, state::DONE);
                        failed = true;
                    }
                }
            }
            if failed {
                continue;
            }
            return match self.places(|_| true).len() {
                0 => Ok(None),
                n => Err(format!(
                    "{n} of the kernels and markers that were enqueued on the device wait for events that nothing completes"
                )),
            };
        }
    }

    /// Slots in some state.
    fn places(&self, wanted: impl Fn(u32) -> bool) -> Vec<SlotId> {
        let all = self.queues.iter().enumerate();
        let all = all.flat_map(|(queue, q)| q.filled().into_iter().map(move |at| SlotId { queue, at }));
        all.filter(|p| wanted(self.queues[p.queue].u32(p.at + slot::STATE))).collect()
    }

    /// Ends what can be ended: kernels whose children are over, and markers.
    fn settle(&self, device: &Device) -> Result<(), String> {
        loop {
            let mut changed = false;
            for place in self.places(|s| matches!(s, state::DONE | state::MARKER)) {
                let queue = &self.queues[place.queue];
                let over = match queue.u32(place.at + slot::STATE) {
                    state::DONE => queue.u32(place.at + slot::CHILDREN) == 0,
                    _ => self.marker(place)?,
                };
                if over {
                    self.end(place, device)?;
                    changed = true;
                }
            }
            if !changed {
                return Ok(());
            }
        }
    }

    /// Whether a marker is reached: by its list, or else by all commands before it.
    fn marker(&self, place: SlotId) -> Result<bool, String> {
        let queue = &self.queues[place.queue];
        if queue.u32(place.at + slot::WAITS) == 0 {
            let first = queue.filled().into_iter().map(|at| queue.u32(at + slot::COMMAND)).min();
            return Ok(first == Some(queue.u32(place.at + slot::COMMAND)));
        }
        let waits = self.waits(place)?;
        if waits == Waits::Failed
            && let Some(event) = self.event(place)?
        {
            self.queues[event.queue].set32(event.at + event::STATE, u32::MAX);
        }
        if waits != Waits::Pending {
            self.release_waits(place)?;
        }
        Ok(waits != Waits::Pending)
    }

    /// A slot's kernel starts: what it waited for is no longer needed.
    fn begin(&self, place: SlotId) -> Result<(), String> {
        self.queues[place.queue].set32(place.at + slot::STATE, state::BUSY);
        self.stamp(place, event::START)?;
        self.release_waits(place)
    }

    /// A slot's kernel and all that it enqueued are over.
    fn end(&self, place: SlotId, device: &Device) -> Result<(), String> {
        self.stamp(place, event::COMPLETE)?;
        if let Some(event) = self.event(place)? {
            let queue = &self.queues[event.queue];
            if (queue.u32(event.at + event::STATE) as i32) >= 0 {
                queue.set32(event.at + event::STATE, CL_COMPLETE);
            }
            let capture = queue.u64(event.at + event::CAPTURE);
            if capture != 0 {
                let start = queue.u64(event.at + event::START);
                let since = |at: u64| queue.u64(event.at + at).saturating_sub(start).to_le_bytes();
                let times = [since(event::END), since(event::COMPLETE)].concat();
                // The kernel may have given the memory back.
                let _ = device.memory().memory().write(capture, &times);
            }
            self.release(event);
        }
        let queue = &self.queues[place.queue];
        let address = queue.u64(place.at + slot::PARENT);
        let Some(parent) = self.slot(address) else {
            return Err(format!(
                "the parent of an enqueued kernel is {address:#x}, where no kernel has its slot"
            ));
        };
        let children = parent.at + slot::CHILDREN;
        let parent = &self.queues[parent.queue];
        parent.set32(children, parent.u32(children).saturating_sub(1));
        queue.set32(place.at + slot::STATE, state::FREE);
        queue.clear(queue.layout.slot_mask, (place.at - header::BYTES) / slot::BYTES);
        Ok(())
    }

    /// Notes the time in a slot's event.
    fn stamp(&self, place: SlotId, which: u64) -> Result<(), String> {
        if let Some(event) = self.event(place)? {
            let now = self.began.elapsed().as_nanos() as u64;
            self.queues[event.queue].set64(event.at + which, now);
        }
        Ok(())
    }

    /// The event of a slot, if somebody wants one.
    fn event(&self, place: SlotId) -> Result<Option<SlotId>, String> {
        match self.queues[place.queue].u64(place.at + slot::EVENT) {
            0 => Ok(None),
            address => self.event_at(address).map(Some),
        }
    }

    fn event_at(&self, address: u64) -> Result<SlotId, String> {
        let find = |q: &DeviceQueue| q.element(address, q.layout.events, MAX_EVENTS, event::BYTES);
        let found =
            self.queues.iter().enumerate().find_map(|(queue, q)| Some(SlotId { queue, at: find(q)? }));
        found.ok_or_else(|| {
            format!("an enqueued kernel has an event at {address:#x}, where its queues have none")
        })
    }

    /// The slot at an address, that of the kernel which the host runs included.
    fn slot(&self, address: u64) -> Option<SlotId> {
        let find = |q: &DeviceQueue| q.element(address, header::BYTES, q.layout.slots + 1, slot::BYTES);
        self.queues.iter().enumerate().find_map(|(queue, q)| Some(SlotId { queue, at: find(q)? }))
    }

    /// The events that a slot waits for.
    fn wait_list(&self, place: SlotId) -> Result<Vec<SlotId>, String> {
        let queue = &self.queues[place.queue];
        let count = u64::from(queue.u32(place.at + slot::WAITS));
        if count == 0 {
            return Ok(Vec::new());
        }
        if self.narrow {
            return Err(
                "a kernel with pointers of 32 bits waits for events on the device: nothing says how such a \
                        list is laid out"
                    .into(),
            );
        }
        let number = (place.at - header::BYTES) / slot::BYTES;
        let list = queue.layout.arguments_of(number) + ARGUMENT_BYTES;
        if count > MAX_WAITS {
            return Err(format!("an enqueued kernel waits for {count} events, {MAX_WAITS} is the most"));
        }
        (0..count).map(|i| self.event_at(queue.u64(list + 8 * i))).collect()
    }

    fn waits(&self, place: SlotId) -> Result<Waits, String> {
        for event in self.wait_list(place)? {
            match self.queues[event.queue].u32(event.at + event::STATE) {
                CL_COMPLETE => {}
                status if (status as i32) < 0 => return Ok(Waits::Failed),
                _ => return Ok(Waits::Pending),
            }
        }
        Ok(Waits::Over)
    }

    fn release_waits(&self, place: SlotId) -> Result<(), String> {
        self.wait_list(place)?.into_iter().for_each(|event| self.release(event));
        Ok(())
    }

    /// One reference to an event less.
    fn release(&self, event: SlotId) {
        let queue = &self.queues[event.queue];
        let left = queue.u32(event.at + event::REFERENCES).saturating_sub(1);
        queue.set32(event.at + event::REFERENCES, left);
        if left == 0 {
            queue.clear(queue.layout.event_mask, (event.at - queue.layout.events) / event::BYTES);
        }
    }

    /// Fills in what hosts give each kernel. The library only hands on what the enqueuing kernel was given itself.
    fn complete_arguments(&self, place: SlotId, device: &Device, hidden: &Hidden) {
        let queue = &self.queues[place.queue];
        let number = (place.at - header::BYTES) / slot::BYTES;
        let arguments = queue.layout.arguments_of(number);
        let kernel = device.kernel_at(queue.u64(place.at + slot::PACKET + 32));
        let args = kernel.iter().flat_map(|(_, k)| k.args.iter().flatten());
        for argument in args.filter(|a| SAME_FOR_ALL.contains(&a.kind.as_str())) {
            let (at, size) = (u64::from(argument.offset), argument.size.min(8) as usize);
            if at + size as u64 <= ARGUMENT_BYTES {
                queue.region.write(arguments + at, &hidden.value(&argument.kind, 0).to_le_bytes()[..size]);
            }
        }
    }
}

/// What could not go on leaves no trace in the queues.
impl Drop for Children {
    fn drop(&mut self) {
        for queue in self.queues.iter().filter(|q| !q.filled().is_empty()) {
            queue.reset();
        }
    }
}

/// Hidden arguments that do not depend on the launch's sizes.
const SAME_FOR_ALL: [&str; 7] = [
    "hidden_printf_buffer",
    "hidden_hostcall_buffer",
    "hidden_heap_v1",
    "hidden_default_queue",
    "hidden_private_base",
    "hidden_shared_base",
    "hidden_queue_ptr",
];
