//! Queues on the device: what kernels enqueue other kernels to. Programs make them, choose the default one, and hand them to
//! kernels; they cannot enqueue to them, so that these handles are no command queues to any other function.

use crate::abi::*;
use crate::context::Context;
use crate::device::{Device, MOST_DEVICE_QUEUES};
use crate::handle::{self, Handle, Object, Slot, Table};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
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
    /// It is the default one of its device in its context.
    default: AtomicBool,
}

static TABLE: Table<OnDevice> = Table::new();
/// All of them, whatever the context.
static ALL: Mutex<Vec<Weak<OnDevice>>> = Mutex::new(Vec::new());

impl Object for OnDevice {
    const INVALID: Code = Code::INVALID_COMMAND_QUEUE;

    fn table() -> &'static Table<Self> {
        &TABLE
    }

    fn slot(&self) -> &Slot {
        &self.slot
    }
}

impl OnDevice {
    fn is_of(&self, context: &Arc<Context>, device: &Arc<Device>) -> bool {
        Arc::ptr_eq(&self.context, context) && Arc::ptr_eq(&self.device, device)
    }
}

type All = MutexGuard<'static, Vec<Weak<OnDevice>>>;

fn all() -> All {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Those of a device in a context.
fn of_device(all: &All, context: &Arc<Context>, device: &Arc<Device>) -> Vec<Arc<OnDevice>> {
    all.iter().filter_map(Weak::upgrade).filter(|q| q.is_of(context, device)).collect()
}

/// The default queue of a device.
pub fn default_of(context: &Arc<Context>, device: &Arc<Device>) -> Option<Arc<OnDevice>> {
    of_device(&all(), context, device).into_iter().find(|q| q.default.load(Ordering::SeqCst))
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

/// Makes a queue, or finds the default one; its handle's address.
pub fn create(context: &Arc<Context>, device: Arc<Device>, wanted: Wanted) -> Result<usize> {
    let size = wanted.size.unwrap_or(PREFERRED_BYTES);
    if !device.has_device_queues() || !(1..=MAX_BYTES).contains(&size) {
        return Err(Code::INVALID_QUEUE_PROPERTIES);
    }
    // Let go of after the lock: the last reference may end a context, and that calls the program.
    let there;
    let mut all = all();
    all.retain(|q| q.strong_count() > 0);
    there = of_device(&all, context, &device);
    if let Some(found) = there.iter().find(|q| wanted.default && q.default.load(Ordering::SeqCst)) {
        handle::retain(found.handle())?;
        return Ok(found.handle().address());
    }
    if there.len() >= MOST_DEVICE_QUEUES {
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
        default: AtomicBool::new(wanted.default),
    });
    all.push(Arc::downgrade(&made));
    Ok(made.handle().address())
}

/// The queue on the device that a handle is, by its address, if it is one.
pub fn of(address: usize) -> Option<Arc<OnDevice>> {
    handle::get(Handle::<OnDevice>::of(address)).ok()
}

/// The queue on the device that a kernel's argument is.
pub fn argument(address: usize, context: &Arc<Context>) -> Result<Arc<OnDevice>> {
    let queue = of(address).ok_or(Code::INVALID_DEVICE_QUEUE)?;
    if Arc::ptr_eq(&queue.context, context) { Ok(queue) } else { Err(Code::INVALID_DEVICE_QUEUE) }
}

/// The handle of a device's default queue; null if it has none.
pub fn default_handle(context: &Arc<Context>, device: &Arc<Device>) -> Handle<OnDevice> {
    default_of(context, device).map_or(Handle::NULL, |q| q.handle())
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

/// Makes a queue, by its handle's address, the default one of its device.
pub fn set_default(context: &Arc<Context>, device: &Arc<Device>, address: usize) -> Result {
    let queue = of(address).filter(|q| q.is_of(context, device)).ok_or(Code::INVALID_COMMAND_QUEUE)?;
    // As above.
    let there;
    let all = all();
    there = of_device(&all, context, device);
    there.iter().for_each(|q| q.default.store(false, Ordering::SeqCst));
    queue.default.store(true, Ordering::SeqCst);
    Ok(())
}
