//! Command queues.

use crate::abi::*;
use crate::context::Context;
use crate::device::Device;
use crate::device_queue::{self, Wanted};
use crate::event::{self, Event, Kind, Owner, Runner};
use crate::handle::{self, Handle, Object, Slot, Table};
use crate::platform::system;
use crate::worker::{Command, Worker};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use wavemill_device::Use;
use wavemill_runtime::direct::DirectQueue;
use wavemill_runtime::heap::{Gpus, Origin};

/// `cl_command_queue`.
pub struct Queue {
    slot: Slot,
    /// Its context.
    pub context: Arc<Context>,
    /// Its device.
    pub device: Arc<Device>,
    /// Its commands.
    pub worker: Arc<Worker>,
    /// What runs kernels.
    pub direct: DirectQueue,
    /// Arguments of the kernel that runs: address and size.
    pub arguments: Mutex<Arguments>,
    properties: AtomicU64,
    /// As they were given to `clCreateCommandQueueWithProperties`.
    given: Vec<u64>,
    order: Mutex<Order>,
}

/// What commands of an out-of-order queue must wait for.
#[derive(Default)]
struct Order {
    /// Commands hold their events until they are over.
    barrier: Weak<Event>,
    since: Vec<Weak<Event>>,
}

/// Memory for kernels' arguments, of which a queue needs one at a time.
#[derive(Default)]
pub struct Arguments {
    address: u64,
    len: u64,
}

impl Arguments {
    /// At least so many bytes.
    pub fn room(&mut self, len: u64, gpu: usize) -> Result<u64> {
        if self.len < len {
            let heap = &system()?.heap;
            let len = len.next_multiple_of(1 << 16);
            let made = heap.allocate(len, Origin::Pool(0, 0), Use::Kernarg, Gpus::one(gpu));
            let made = made.map_err(|_| Code::OUT_OF_RESOURCES)?;
            if self.len > 0 {
                heap.free(self.address);
            }
            (self.address, self.len) = (made, len);
        }
        Ok(self.address)
    }
}

impl Drop for Arguments {
    fn drop(&mut self) {
        if let Ok(system) = system()
            && self.len > 0
        {
            system.heap.free(self.address);
        }
    }
}

static TABLE: Table<Queue> = Table::new();

impl Object for Queue {
    const INVALID: Code = Code::INVALID_COMMAND_QUEUE;

    fn table() -> &'static Table<Self> {
        &TABLE
    }

    fn slot(&self) -> &Slot {
        &self.slot
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.worker.end();
    }
}

const OUT_OF_ORDER: u64 = 1;
const PROFILING: u64 = 2;
const ON_DEVICE: u64 = 4;
const ON_DEVICE_DEFAULT: u64 = 8;

/// What a command waits for, and where its event is wanted.
pub struct Waits {
    events: Vec<Arc<Event>>,
    out: Out<Handle<Event>>,
}

impl Queue {
    fn create(
        context: &Arc<Context>,
        device: Arc<Device>,
        properties: u64,
        given: Vec<u64>,
    ) -> Result<Handle<Queue>> {
        let direct = system()?.create_direct_queue(&device.gpu, device.units);
        let direct = direct.map_err(|_| Code::OUT_OF_RESOURCES)?;
        let made = handle::create(|slot| Queue {
            slot,
            context: context.clone(),
            device,
            worker: Worker::new(properties & OUT_OF_ORDER == 0),
            direct,
            arguments: Mutex::default(),
            properties: AtomicU64::new(properties),
            given,
            order: Mutex::default(),
        });
        Ok(made.handle())
    }

    fn in_order(&self) -> bool {
        self.properties.load(Ordering::Relaxed) & OUT_OF_ORDER == 0
    }

    /// Reads a wait list.
    pub fn waits(&self, count: u32, events: In<Handle<Event>>, out: Out<Handle<Event>>) -> Result<Waits> {
        Ok(Waits { events: event::list(count, events, &self.context)?, out })
    }

    /// Adds a command. If it is a blocking one, waits for it.
    pub fn submit(
        self: &Arc<Self>,
        kind: Kind,
        waits: Waits,
        blocking: bool,
        action: impl FnOnce() -> Result + Send + 'static,
    ) -> Result {
        if blocking && waits.events.iter().any(|e| e.status() < 0) {
            return Err(Code::EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        }
        let event = Event::new(self.context.clone(), self.clone(), kind);
        let mut list = waits.events;
        if !self.in_order() {
            self.order(kind, &event, &mut list);
        }
        self.worker.push(Command { event: event.clone(), waits: list, action: Box::new(action) });
        if blocking {
            event.wait();
        }
        let failed = blocking && event.status() < 0;
        let code = Code(event.status());
        match waits.out.is_null() || failed {
            true => _ = handle::release(event.handle())?,
            false => waits.out.put(event.handle()),
        }
        if failed { Err(code) } else { Ok(()) }
    }

    /// Out of order, barriers and markers without a list wait for all before them, and all after a barrier for it.
    fn order(&self, kind: Kind, event: &Arc<Event>, list: &mut Vec<Arc<Event>>) {
        let mut order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        order.since.retain(|e| e.upgrade().is_some_and(|e| !e.is_over()));
        if matches!(kind, Kind::Barrier | Kind::Marker) && list.is_empty() {
            list.extend(order.since.iter().filter_map(Weak::upgrade));
        }
        if let Some(barrier) = order.barrier.upgrade().filter(|b| !b.is_over()) {
            list.push(barrier);
        }
        if kind == Kind::Barrier {
            order.barrier = Arc::downgrade(event);
        }
        order.since.push(Arc::downgrade(event));
    }
}

impl Owner for Queue {
    fn address(&self) -> usize {
        self.handle().address()
    }

    fn is_profiled(&self) -> bool {
        self.properties.load(Ordering::Relaxed) & PROFILING != 0
    }

    fn runner(&self) -> &dyn Runner {
        &*self.worker
    }
}

fn marker(
    queue: Handle<Queue>,
    kind: Kind,
    count: u32,
    events: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result {
    let queue = handle::get(queue)?;
    let waits = queue.waits(count, events, event)?;
    queue.submit(kind, waits, false, || Ok(()))
}

api! {
    /// A queue.
    fn clCreateCommandQueue(
        context: Handle<Context>,
        device: Handle<Device>,
        properties: u64,
    ) -> make Handle<Queue> {
        let context = handle::get(context)?;
        let device = context.device(device)?;
        if properties & !(OUT_OF_ORDER | PROFILING) != 0 {
            return Err(Code::INVALID_VALUE);
        }
        Queue::create(&context, device, properties, Vec::new())
    }

    /// A queue.
    fn clCreateCommandQueueWithProperties(
        context: Handle<Context>,
        device: Handle<Device>,
        properties: In<u64>,
    ) -> make Handle<Queue> {
        let context = handle::get(context)?;
        let device = context.device(device)?;
        let pairs = properties.pairs()?;
        let mut bits = 0;
        let mut size = None;
        for (name, value) in &pairs {
            match name {
                0x1093 => bits = *value,
                // The size of a queue on the device.
                0x1094 => size = Some(*value),
                _ => return Err(Code::INVALID_VALUE),
            }
        }
        if bits & !(OUT_OF_ORDER | PROFILING | ON_DEVICE | ON_DEVICE_DEFAULT) != 0 {
            return Err(Code::INVALID_VALUE);
        }
        // Queues on the device are out of order; only they have a size, or can be the default one.
        let on_device = bits & ON_DEVICE != 0;
        let default = bits & ON_DEVICE_DEFAULT != 0;
        if on_device && bits & OUT_OF_ORDER == 0 || !on_device && (default || size.is_some()) {
            return Err(Code::INVALID_VALUE);
        }
        let mut given: Vec<u64> = pairs.into_iter().flat_map(|(k, v)| [k, v]).collect();
        if !properties.is_null() {
            given.push(0);
        }
        if on_device {
            let wanted = Wanted { properties: bits, default, size, given };
            return device_queue::create(&context, device, wanted).map(Handle::of);
        }
        Queue::create(&context, device, bits, given)
    }

    /// One reference more.
    fn clRetainCommandQueue(queue: Handle<Queue>) -> Code {
        match device_queue::of(queue.address()) {
            Some(queue) => handle::retain(queue.handle()),
            None => handle::retain(queue),
        }
    }

    /// One reference less; what was enqueued will be done.
    fn clReleaseCommandQueue(queue: Handle<Queue>) -> Code {
        if let Some(queue) = device_queue::of(queue.address()) {
            return handle::release(queue.handle()).map(|_| ());
        }
        handle::get(queue)?.worker.flush();
        handle::release(queue).map(|_| ())
    }

    /// A fact about a queue.
    fn clGetCommandQueueInfo(
        queue: Handle<Queue>,
        name: u32,
        room: usize,
        value: Bytes,
        size: Out<usize>,
    ) -> Code {
        let answer = Answer::new(room, value, size);
        if let Some(queue) = device_queue::of(queue.address()) {
            return device_queue::info(&queue, name, answer);
        }
        let queue = handle::get(queue)?;
        match name {
            0x1090 => answer.set(queue.context.handle()),
            0x1091 => answer.set(queue.device.handle()),
            0x1092 => answer.set(handle::references(&queue)?),
            0x1093 => answer.set(queue.properties.load(Ordering::Relaxed)),
            // Only queues on the device have a size.
            0x1094 => Err(Code::INVALID_COMMAND_QUEUE),
            0x1095 => answer.set(device_queue::default_handle(&queue.context, &queue.device)),
            0x1098 => answer.list(&queue.given),
            _ => Err(Code::INVALID_VALUE),
        }
    }

    /// Profiling can be switched on and off; the order cannot.
    fn clSetCommandQueueProperty(queue: Handle<Queue>, properties: u64, enable: u32, old: Out<u64>) -> Code {
        let queue = handle::get(queue)?;
        if properties & !PROFILING != 0 {
            return Err(match properties & !(PROFILING | OUT_OF_ORDER) {
                0 => Code::INVALID_QUEUE_PROPERTIES,
                _ => Code::INVALID_VALUE,
            });
        }
        let before = match enable {
            0 => queue.properties.fetch_and(!properties, Ordering::Relaxed),
            _ => queue.properties.fetch_or(properties, Ordering::Relaxed),
        };
        old.put(before);
        Ok(())
    }

    /// Makes a queue the one that kernels on a device find by default.
    fn clSetDefaultDeviceCommandQueue(
        context: Handle<Context>,
        device: Handle<Device>,
        queue: Handle<Queue>,
    ) -> Code {
        let context = handle::get(context)?;
        let device = context.device(device)?;
        if !device.has_device_queues() {
            return Err(Code::INVALID_OPERATION);
        }
        device_queue::set_default(&context, &device, queue.address())
    }

    /// Lets work begin.
    fn clFlush(queue: Handle<Queue>) -> Code {
        handle::get(queue)?.worker.flush();
        Ok(())
    }

    /// Waits until all is done.
    fn clFinish(queue: Handle<Queue>) -> Code {
        handle::get(queue)?.worker.finish();
        Ok(())
    }

    /// An event for all before, or for a list.
    fn clEnqueueMarkerWithWaitList(
        queue: Handle<Queue>,
        count: u32,
        events: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) -> Code {
        marker(queue, Kind::Marker, count, events, event)
    }

    /// Keeps what comes behind from starting before.
    fn clEnqueueBarrierWithWaitList(
        queue: Handle<Queue>,
        count: u32,
        events: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) -> Code {
        marker(queue, Kind::Barrier, count, events, event)
    }

    /// An event for all before.
    fn clEnqueueMarker(queue: Handle<Queue>, event: Out<Handle<Event>>) -> Code {
        if event.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        marker(queue, Kind::Marker, 0, In::NULL, event)
    }

    /// A barrier for all before.
    fn clEnqueueBarrier(queue: Handle<Queue>) -> Code {
        marker(queue, Kind::Barrier, 0, In::NULL, Out::NULL)
    }

    /// A barrier for a list.
    fn clEnqueueWaitForEvents(queue: Handle<Queue>, count: u32, events: In<Handle<Event>>) -> Code {
        if count == 0 || events.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        marker(queue, Kind::Barrier, count, events, Out::NULL).map_err(|code| match code {
            Code::INVALID_EVENT_WAIT_LIST => Code::INVALID_EVENT,
            other => other,
        })
    }
}
