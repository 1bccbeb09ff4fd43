//! Commands that run kernels, and functions of the program.

use crate::abi::*;
use crate::device::LOCAL_BYTES;
use crate::device_queue::{self, OnDevice};
use crate::event::{Event, Kind};
use crate::handle::{self, Handle};
use crate::kernel::{Arg, Kernel};
use crate::memory::{Mem, Shape};
use crate::narrow::{self, Low};
use crate::program::Loaded;
use crate::queue::Queue;
use std::io::Write;
use std::sync::{Arc, PoisonError};
use wavemill_console::printf::{Printer, Stream};
use wavemill_console::services::{self, Services};
use wavemill_device::Kernel as DeviceKernel;
use wavemill_device::aql::DispatchPacket;
use wavemill_device::kernarg::{self, Hidden, Value};
use wavemill_device::run::{Services as _, Sizes};
use wavemill_device::terminal;
use wavemill_runtime::packet::QueueError;

/// A function of the program that is run like a kernel.
pub type Native = extern "C" fn(Data);

/// A kernel with everything it needs.
struct Launch {
    /// What must stay until it has run.
    held: (Arc<Loaded>, Vec<Arg>),
    kernel: Arc<DeviceKernel>,
    values: Vec<Value>,
    sizes: Sizes,
    offset: [u64; 3],
}

/// Sizes as the program gives them.
struct Grid {
    dimensions: u32,
    offset: In<usize>,
    global: In<usize>,
    local: In<usize>,
}

/// The largest divisor of `n` that is at most `most`.
fn divisor(n: u32, most: u32) -> u32 {
    (1..=most.min(n)).rev().find(|d| n.is_multiple_of(*d)).unwrap_or(1)
}

/// A work-group for a grid where the program has no wish.
fn work_group(grid: [u32; 3], dimensions: usize, most: u32) -> [u32; 3] {
    let first = divisor(grid[0], if dimensions == 1 { most } else { most.min(64) });
    let second = divisor(grid[1], most / first);
    [first, second, divisor(grid[2], most / first / second)]
}

impl Grid {
    /// Checks sizes; `None` for a grid without work-items.
    fn sizes(&self, kernel: &DeviceKernel, uniform: bool) -> Result<Option<Sizes>> {
        if !(1..=3).contains(&self.dimensions) {
            return Err(Code::INVALID_WORK_DIMENSION);
        }
        let count = self.dimensions as usize;
        let Some(global) = self.global.list_or_none(count)? else {
            return Err(Code::INVALID_GLOBAL_WORK_SIZE);
        };
        let mut grid = [1; 3];
        for (to, n) in grid.iter_mut().zip(global) {
            *to = u32::try_from(n).map_err(|_| Code::INVALID_GLOBAL_WORK_SIZE)?;
        }
        if grid.contains(&0) {
            return Ok(None);
        }
        let most = Kernel::most(kernel);
        let mut group = [1; 3];
        match (self.local.list_or_none(count)?, kernel.required_size) {
            (Some(local), required) => {
                for (to, n) in group.iter_mut().zip(local) {
                    *to = u32::try_from(n).ok().filter(|n| (1..=1024).contains(n)).ok_or(match n {
                        0 => Code::INVALID_WORK_GROUP_SIZE,
                        _ => Code::INVALID_WORK_ITEM_SIZE,
                    })?;
                }
                if required.is_some_and(|r| r != group) {
                    return Err(Code::INVALID_WORK_GROUP_SIZE);
                }
            }
            (None, Some(required)) => group = required,
            (None, None) => group = work_group(grid, count, most as u32),
        }
        let items: u64 = group.iter().map(|n| u64::from(*n)).product();
        let divides = (0..3).all(|i| grid[i].is_multiple_of(group[i]));
        if items > most as u64 || uniform && !divides {
            return Err(Code::INVALID_WORK_GROUP_SIZE);
        }
        Ok(Some(Sizes { dimensions: self.dimensions as u16, grid, group }))
    }

    fn offset(&self) -> Result<[u64; 3]> {
        let mut offset = [0; 3];
        let given = self.offset.list_or_none(self.dimensions as usize)?.unwrap_or_default();
        for (to, n) in offset.iter_mut().zip(given) {
            *to = n as u64;
        }
        Ok(offset)
    }
}

fn value(arg: &Arg, queue: &Queue) -> Result<Value> {
    let gpu = &queue.device.gpu;
    Ok(match arg {
        Arg::Bytes(bytes) => Value::Bytes(bytes.clone()),
        Arg::Local(bytes) => Value::Local(*bytes),
        Arg::Pointer(address) => Value::Pointer(*address),
        Arg::Queue(queue) => Value::Object("queue", queue.memory.address()),
        Arg::Sampler(sampler) => Value::Object("sampler", sampler.address(gpu)?),
        Arg::Mem(None) => Value::Pointer(0),
        Arg::Mem(Some(mem)) => match &mem.shape {
            Shape::Buffer => Value::Pointer(mem.storage.device),
            Shape::Image(image) => Value::Object("image", image.address(gpu, mem.storage.device)?),
            Shape::Pipe(..) => Value::Object("pipe", mem.storage.device),
        },
    })
}

impl Launch {
    fn new(queue: &Queue, kernel: &Kernel, grid: &Grid) -> Result<Option<Launch>> {
        if !Arc::ptr_eq(&kernel.program.context, &queue.context) {
            return Err(Code::INVALID_CONTEXT);
        }
        let (code, own) = kernel.on(&queue.device).ok_or(Code::INVALID_PROGRAM_EXECUTABLE)?;
        let args: Option<Vec<Arg>> = kernel.args().iter().cloned().collect();
        let args = args.ok_or(Code::INVALID_KERNEL_ARGS)?;
        // Checked first: how many dimensions there are says how much of the others is read.
        let Some(sizes) = grid.sizes(own, code.uniform)? else { return Ok(None) };
        let offset = grid.offset()?;
        if own.narrow && !args.iter().all(narrow::takes) {
            let text = "shared virtual memory and pipes are not for kernels with 32-bit pointers";
            queue.context.tell(&format!("kernel {}: {text}", own.name));
            return Err(Code::INVALID_KERNEL_ARGS);
        }
        let values = args.iter().map(|a| value(a, queue)).collect::<Result<Vec<Value>>>()?;
        let local = |a: &Arg| if let Arg::Local(n) = a { u64::from(*n) } else { 0 };
        if u64::from(own.setup.group_bytes) + args.iter().map(local).sum::<u64>() > LOCAL_BYTES {
            return Err(Code::OUT_OF_RESOURCES);
        }
        Ok(Some(Launch { held: (code.clone(), args), kernel: own.clone(), values, sizes, offset }))
    }

    /// Runs it on this thread.
    fn run(self, queue: &Queue) -> Result {
        let device = &queue.device.gpu.device;
        let Sizes { dimensions, grid, group } = self.sizes;
        let refused = |message: String| {
            terminal::message(message);
            Code::OUT_OF_RESOURCES
        };
        let (mut default, queues) = self.queues(queue).map_err(refused)?;
        // Launches take turns at them.
        let _turns: Vec<_> = queues.iter().map(|q| q.memory.turn()).collect();
        let mut memories: Vec<_> = queues.iter().map(|q| q.memory.clone()).collect();
        let mut low = Low::default();
        let mut values = self.values;
        if self.kernel.narrow {
            if !memories.is_empty() {
                low.with_queue(queue).map_err(refused)?;
                memories = low.queue.iter().cloned().collect();
                default = default.and(memories.first().map(|q| q.address()));
            }
            values = self.held.1.iter().map(|a| low.value(a, queue)).collect::<Result<_>>()?;
        }
        let services = Services::new(device, &self.kernel, &self.sizes, &printer())
            .and_then(|s| s.with_queues(device, &self.kernel, default, memories))
            .map_err(refused)?;
        let mut hidden =
            Hidden { grid, size: group, dimensions, queue: queue.direct.at().address(), ..Hidden::default() };
        hidden.global_offset = self.offset;
        services.hidden(&mut hidden);
        let block = kernarg::build(&self.kernel, &values, &hidden, self.kernel.setup.group_bytes);
        let block = block.map_err(|e| {
            terminal::message(format_args!("kernel {}: {e}", self.kernel.name));
            Code::INVALID_KERNEL_ARGS
        })?;
        // Compilers load a few bytes beyond the arguments.
        let room = (block.bytes.len() as u64).next_multiple_of(64);
        let mut arguments = queue.arguments.lock().unwrap_or_else(PoisonError::into_inner);
        let address = match self.kernel.narrow {
            true => low.arguments(room, queue)?,
            false => arguments.room(room, queue.device.gpu.index)?,
        };
        match self.kernel.narrow {
            true => low.write(address, &block.placed(address)),
            false => Bytes::at(address).set(&block.placed(address)),
        }
        let packet = DispatchPacket {
            header: DispatchPacket::HEADER,
            setup: dimensions,
            workgroup_size: group.map(|n| n as u16),
            grid_size: grid,
            private_segment_size: self.kernel.private_bytes(),
            group_segment_size: block.lds,
            kernel_object: self.kernel.object,
            kernarg_address: address,
            completion_signal: 0,
        };
        let mut next = Ok(Some(packet));
        while let Ok(Some(packet)) = next {
            let done = queue.direct.dispatch(&packet);
            next = match done {
                Ok(()) => services.next(device, &hidden).map_err(QueueError::Packet),
                Err(QueueError::Fault(mut report)) => {
                    report.hint = services.hint(&self.kernel, &report);
                    Err(QueueError::Fault(report))
                }
                Err(error) => Err(error),
            };
        }
        services.finish();
        next.map(|_| ()).map_err(|error| {
            let text = match &error {
                QueueError::Packet(text) => format!("wavemill: {text}\n"),
                QueueError::Dispatch(e) => format!("wavemill: {e}\n"),
                QueueError::Fault(report) => report.to_string(),
            };
            terminal::report(&text);
            queue.context.tell(&text);
            Code::OUT_OF_RESOURCES
        })
    }

    /// The queues that it can enqueue kernels to, lowest address first, and the address of the default one.
    fn queues(&self, queue: &Queue) -> std::result::Result<(Option<u64>, Vec<Arc<OnDevice>>), String> {
        if !services::enqueues(&queue.device.gpu.device, &self.kernel)? {
            return Ok((None, Vec::new()));
        }
        let default = device_queue::default_of(&queue.context, &queue.device);
        let given = self.held.1.iter().filter_map(|a| match a {
            Arg::Queue(queue) => Some(queue.clone()),
            _ => None,
        });
        let mut all: Vec<Arc<OnDevice>> = default.iter().cloned().chain(given).collect();
        all.sort_by_key(|q| q.memory.address());
        all.dedup_by_key(|q| q.memory.address());
        Ok((default.map(|q| q.memory.address()), all))
    }
}

/// What kernels print goes where the program's own text goes.
fn printer() -> Printer {
    Printer::new(|stream, text| match stream {
        Stream::Out => {
            flush_program();
            let mut out = std::io::stdout().lock();
            // Nobody can be told.
            let _ = out.write_all(text).and_then(|()| out.flush());
        }
        Stream::Err => _ = std::io::stderr().write_all(text),
        Stream::Note => terminal::message(String::from_utf8_lossy(text)),
    })
}

fn enqueue(
    queue: Handle<Queue>,
    kernel: Handle<Kernel>,
    kind: Kind,
    grid: &Grid,
    events: (u32, In<Handle<Event>>, Out<Handle<Event>>),
) -> Result {
    let queue = handle::get(queue)?;
    let kernel = handle::get(kernel)?;
    let launch = Launch::new(&queue, &kernel, grid)?;
    let waits = queue.waits(events.0, events.1, events.2)?;
    let on = Arc::downgrade(&queue);
    queue.submit(kind, waits, false, move || match (launch, on.upgrade()) {
        (Some(launch), Some(queue)) => launch.run(&queue),
        _ => Ok(()),
    })
}

api! {
    /// Runs a kernel.
    fn clEnqueueNDRangeKernel(
        queue: Handle<Queue>,
        kernel: Handle<Kernel>,
        dimensions: u32,
        offset: In<usize>,
        global: In<usize>,
        local: In<usize>,
        waits: u32,
        events: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) -> Code {
        let grid = Grid { dimensions, offset, global, local };
        enqueue(queue, kernel, Kind::NdRangeKernel, &grid, (waits, events, event))
    }

    /// Runs a kernel with one work-item.
    fn clEnqueueTask(
        queue: Handle<Queue>,
        kernel: Handle<Kernel>,
        waits: u32,
        events: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) -> Code {
        let one = In::of(std::ptr::from_ref(&1usize) as u64);
        let grid = Grid { dimensions: 1, offset: In::NULL, global: one, local: one };
        enqueue(queue, kernel, Kind::Task, &grid, (waits, events, event))
    }

    /// Runs a function of the program, with pointers to memory objects in the place of their handles.
    fn clEnqueueNativeKernel(
        queue: Handle<Queue>,
        call: Option<Native>,
        args: Bytes,
        size: usize,
        count: u32,
        mems: In<Handle<Mem>>,
        places: In<u64>,
        waits: u32,
        events: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) -> Code {
        let queue = handle::get(queue)?;
        let waits = queue.waits(waits, events, event)?;
        let call = call.ok_or(Code::INVALID_VALUE)?;
        let empty = args.is_null() && (size > 0 || count > 0) || !args.is_null() && size == 0;
        if empty || (count == 0) != mems.is_null() || (count == 0) != places.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let mut block = if args.is_null() { Vec::new() } else { args.get(size)? };
        let mut held = Vec::new();
        for (mem, place) in mems.list(count as usize)?.into_iter().zip(places.list(count as usize)?) {
            let mem = handle::get(mem)?;
            let at = place.checked_sub(args.address()).map(|n| n as usize).filter(|n| n.checked_add(8).is_some_and(|end| end <= size));
            let at = at.ok_or(Code::INVALID_VALUE)?;
            block[at..at + 8].copy_from_slice(&mem.storage.host.to_le_bytes());
            held.push(mem);
        }
        queue.submit(Kind::NativeKernel, waits, false, move || {
            let mut block = block;
            call(Data(if block.is_empty() { std::ptr::null_mut() } else { block.as_mut_ptr().cast() }));
            drop(held);
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_groups_divide_grids() {
        assert_eq!(work_group([1024, 1, 1], 1, 256), [256, 1, 1]);
        assert_eq!(work_group([1000, 1, 1], 1, 256), [250, 1, 1]);
        assert_eq!(work_group([64, 64, 1], 2, 256), [64, 4, 1]);
        assert_eq!(work_group([7, 11, 13], 3, 256), [7, 11, 1]);
    }
}
