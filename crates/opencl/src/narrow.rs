//! Kernels with 32-bit pointers, which OpenCL 2.0 binaries of Catalyst may have: what they are given lies below 4 GiB while they run.
//! Buffers are seen there a second time; descriptors and arguments are copies.

use crate::abi::*;
use crate::kernel::Arg;
use crate::memory::{Mirrored, Shape};
use crate::queue::Queue;
use std::sync::Arc;
use wavemill_console::enqueue::{DeviceQueue, PREFERRED_BYTES};
use wavemill_device::image::{IMAGE_BYTES, sampler::SAMPLER_BYTES};
use wavemill_device::kernarg::Value;
use wavemill_device::{Region, Use};

/// Whether such a kernel can be given an argument: not an address that the program shares with it, nor a pipe, whose counters
/// have the size of a pointer.
pub fn takes(arg: &Arg) -> bool {
    match arg {
        Arg::Pointer(address) => *address == 0,
        Arg::Mem(Some(mem)) => !matches!(mem.shape, Shape::Pipe(..)),
        _ => true,
    }
}

/// What a launch has below 4 GiB, as long as it runs.
#[derive(Default)]
pub struct Low {
    mirrors: Vec<Mirrored>,
    regions: Vec<Region>,
    /// The queue for kernels that it enqueues.
    pub queue: Option<Arc<DeviceQueue>>,
}

impl Low {
    /// Room for bytes.
    fn room(&mut self, len: u64, usage: Use, name: &str, queue: &Queue) -> Result<&Region> {
        let made = queue.device.gpu.device.memory().allocate_for(true, len, usage, name);
        self.regions.push(made.map_err(|_| Code::OUT_OF_RESOURCES)?);
        self.regions.last().ok_or(Code::OUT_OF_RESOURCES)
    }

    /// A copy of a descriptor.
    fn copy(&mut self, address: u64, len: u64, name: &'static str, queue: &Queue) -> Result<Value> {
        let bytes = Bytes::at(address).get(len as usize)?;
        let region = self.room(len, Use::Device, name, queue)?;
        region.write(0, &bytes);
        Ok(Value::Object(name, region.start()))
    }

    /// An argument as such a kernel gets it.
    pub fn value(&mut self, arg: &Arg, queue: &Queue) -> Result<Value> {
        let gpu = &queue.device.gpu;
        Ok(match arg {
            Arg::Bytes(bytes) => Value::Bytes(bytes.clone()),
            Arg::Local(bytes) => Value::Local(*bytes),
            Arg::Mem(None) | Arg::Pointer(0) => Value::Pointer(0),
            Arg::Queue(_) => Value::Object("queue", self.queue.as_ref().map_or(0, |q| q.address())),
            Arg::Sampler(sampler) => self.copy(sampler.address(gpu)?, SAMPLER_BYTES, "sampler", queue)?,
            Arg::Mem(Some(mem)) => match &mem.shape {
                Shape::Buffer => {
                    let mirrored = mem.mirrored(gpu)?;
                    let value = Value::Pointer(mirrored.start());
                    self.mirrors.push(mirrored);
                    value
                }
                // Texels are found through the descriptor, wherever they are.
                Shape::Image(image) => {
                    self.copy(image.address(gpu, mem.storage.device)?, IMAGE_BYTES, "image", queue)?
                }
                Shape::Pipe(..) => return Err(Code::INVALID_KERNEL_ARGS),
            },
            Arg::Pointer(_) => return Err(Code::INVALID_KERNEL_ARGS),
        })
    }

    /// Makes the queue for kernels that it enqueues.
    pub fn with_queue(&mut self, queue: &Queue) -> std::result::Result<(), String> {
        let made = DeviceQueue::new(queue.device.gpu.device.memory(), true, PREFERRED_BYTES);
        self.queue = Some(Arc::new(made.map_err(|e| e.to_string())?));
        Ok(())
    }

    /// Room for the arguments.
    pub fn arguments(&mut self, len: u64, queue: &Queue) -> Result<u64> {
        Ok(self.room(len, Use::Kernarg, "the arguments", queue)?.start())
    }

    /// Puts the arguments there.
    pub fn write(&self, address: u64, bytes: &[u8]) {
        if let Some(region) = self.regions.iter().find(|r| r.start() == address) {
            region.write(0, bytes);
        }
    }
}
