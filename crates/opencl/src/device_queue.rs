//! Queues on the device: what kernels enqueue other kernels to. Programs make them, choose the default one, and hand them to
//! kernels; they cannot enqueue to them, so that these handles are no command queues to any other function.

use crate::abi::*;
use crate::context::Context;
use crate::device::Device;
use crate::handle::{self, Handle, Object, Slot, Table};
use crate::queue::Queue;
use std::sync::{Arc, Weak};
use wavemill_console::enqueue::{DeviceQueue, MAX_BYTES, PREFERRED_BYTES};

/// A queue on the device, which programs know as a `cl_command_queue`.
pub struct OnDevice {
    slot: Slot,
    context: Arc<Context>,
    device: Arc<Device>,
    /// What kernels see of it.
    pub memory: Arc<DeviceQueue>,
    properties: u64,
    /// As they were given.
    given: Vec<u64>,
}

static TABLE: Table<OnDevice> = Table::new();

impl Object for OnDevice {
    const INVALID: Code = Code::INVALID_COMMAND_QUEUE;

    fn table() -> &'static Table<Self> {
        &TABLE
    }

    fn slot(&self) -> &Slot {
        &self.slot
    }
}

/// So many of them can be on a device at a time.
pub const MOST: usize = 8;

/// The queues on the devices of a context, and which are the default ones.
#[derive(Default)]
pub struct OnDevices {
    all: Vec<Weak<OnDevice>>,
    defaults: Vec<Weak<OnDevice>>,
}

impl OnDevices {
    /// The default queue of a device.
    pub fn default_of(&self, device: &Arc<Device>) -> Option<Arc<OnDevice>> {
        self.defaults.iter().filter_map(Weak::upgrade).find(|q| Arc::ptr_eq(&q.device, device))
    }

    fn set_default(&mut self, queue: &Arc<OnDevice>) {
        self.defaults.retain(|q| q.upgrade().is_some_and(|q| !Arc::ptr_eq(&q.device, &queue.device)));
        self.defaults.push(Arc::downgrade(queue));
    }
}

/// What a queue on the device was asked for with.
pub struct Wanted {
    /// Bits of `cl_command_queue_properties`.
    pub properties: u64,
    /// The default queue is wanted.
    pub default: bool,
    /// Bytes.
    pub size: Option<u64>,
    /// All properties.
    pub given: Vec<u64>,
}

/// Makes a queue, or finds the default one.
pub fn create(context: &Arc<Context>, device: Arc<Device>, wanted: Wanted) -> Result<Handle<Queue>> {
    let size = wanted.size.unwrap_or(PREFERRED_BYTES);
    if !device.has_device_queues() || !(1..=MAX_BYTES).contains(&size) {
        return Err(Code::INVALID_QUEUE_PROPERTIES);
    }
    let mut queues = context.on_devices();
    if let Some(found) = queues.default_of(&device).filter(|_| wanted.default) {
        handle::retain(found.handle())?;
        return Ok(Handle::of(found.handle().address()));
    }
    queues.all.retain(|q| q.strong_count() > 0);
    let there = queues.all.iter().filter_map(Weak::upgrade).filter(|q| Arc::ptr_eq(&q.device, &device));
    if there.count() >= MOST {
        return Err(Code::OUT_OF_RESOURCES);
    }
    let memory = DeviceQueue::new(device.gpu.device.memory(), false, size);
    let memory = memory.map_err(|_| Code::OUT_OF_RESOURCES)?;
    let made = handle::create(|slot| OnDevice {
        slot,
        context: context.clone(),
        device,
        memory: Arc::new(memory),
        properties: wanted.properties,
        given: wanted.given,
    });
    queues.all.push(Arc::downgrade(&made));
    if wanted.default {
        queues.set_default(&made);
    }
    Ok(Handle::of(made.handle().address()))
}

/// The queue on the device that a handle is, if it is one.
pub fn of(queue: Handle<Queue>) -> Option<Arc<OnDevice>> {
    handle::get(Handle::<OnDevice>::of(queue.address())).ok()
}

/// The queue on the device that a kernel's argument is.
pub fn argument(address: usize, context: &Arc<Context>) -> Result<Arc<OnDevice>> {
    let queue = of(Handle::of(address)).ok_or(Code::INVALID_DEVICE_QUEUE)?;
    if Arc::ptr_eq(&queue.context, context) { Ok(queue) } else { Err(Code::INVALID_DEVICE_QUEUE) }
}

/// The handle of a device's default queue; null if it has none.
pub fn default_handle(context: &Arc<Context>, device: &Arc<Device>) -> Handle<Queue> {
    context.on_devices().default_of(device).map_or(Handle::NULL, |q| Handle::of(q.handle().address()))
}

/// A fact about a queue on the device.
pub fn info(queue: &Arc<OnDevice>, name: u32, answer: Answer) -> Result {
    match name {
        0x1090 => answer.set(queue.context.handle()),
        0x1091 => answer.set(queue.device.handle()),
        0x1092 => answer.set(handle::references(queue)?),
        0x1093 => answer.set(queue.properties),
        0x1094 => answer.set(queue.memory.bytes() as u32),
        0x1095 => answer.set(default_handle(&queue.context, &queue.device)),
        0x1098 => answer.list(&queue.given),
        _ => Err(Code::INVALID_VALUE),
    }
}

/// Makes a queue the default one of its device.
pub fn set_default(context: &Arc<Context>, device: &Arc<Device>, queue: Handle<Queue>) -> Result {
    let queue = of(queue).ok_or(Code::INVALID_COMMAND_QUEUE)?;
    if !Arc::ptr_eq(&queue.context, context) || !Arc::ptr_eq(&queue.device, device) {
        return Err(Code::INVALID_COMMAND_QUEUE);
    }
    context.on_devices().set_default(&queue);
    Ok(())
}
