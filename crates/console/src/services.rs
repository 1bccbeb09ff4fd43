//! What a kernel's hidden arguments let it ask the host for, when one kernel is run by itself: printf, hostcalls, a heap,
//! queues for other kernels.
//!
//! Programs under `wavemill exec` bring a runtime that does this; a kernel by itself has nobody else.

use crate::enqueue::{Children, DeviceQueue, PREFERRED_BYTES};
use crate::hostcall::Hostcalls;
use crate::printf::Printer;
use crate::printf::records::{self, Formats};
use std::sync::Arc;
use wavemill_device::aql::DispatchPacket;
use wavemill_device::control::Host;
use wavemill_device::device::Device;
use wavemill_device::dispatch::Completion;
use wavemill_device::fault::Report;
use wavemill_device::kernarg::{Hidden, Value};
use wavemill_device::kernel::Kernel;
use wavemill_device::launch::Plan;
use wavemill_device::memory::{MemoryError, Region, Use};
use wavemill_device::run::{self, Launch, Sizes};
use wavemill_object::limits::{Limits, SIMDS_PER_CU};
use wavemill_object::read::File;

/// Bytes of the printf buffer.
const PRINTF_BYTES: u64 = 16 << 20;

/// Bytes of the device library's heap, which are zero at first. Its slabs come by hostcalls.
const HEAP_BYTES: u64 = 128 << 10;

/// Addresses below this are what null pointers lead to.
const NULL_AREA: u64 = 1 << 16;

/// Runs a kernel once and the kernels that it enqueues, and prints what they print: hostcalls while they run, the printf
/// buffer when all have ended, for whatever reason. A queue that is null among the arguments is the default queue. Errors
/// are for what cannot be run; what goes wrong while it runs is in the completions.
pub fn launch(
    device: &Device,
    kernel: &Kernel,
    launch: &Launch,
    printer: &Printer,
) -> Result<Vec<Completion>, String> {
    let mut launch = launch.clone();
    let mut queues = Vec::new();
    if enqueues(device, kernel)? {
        let queue = DeviceQueue::new(device.memory(), kernel.narrow, PREFERRED_BYTES);
        let queue = Arc::new(queue.map_err(|e| e.to_string())?);
        for value in &mut launch.values {
            if *value == Value::Object("queue", 0) {
                *value = Value::Object("queue", queue.address());
            }
        }
        queues.push(queue);
    }
    let services = Services::new(device, kernel, &launch.sizes()?, printer)?.with_queues(
        device,
        kernel,
        queues.first().map(|q| q.address()),
        queues.clone(),
    )?;
    device.launch_with(kernel, &launch, &services)
}

/// The services of one launch.
pub struct Services {
    printf: Option<(Region, Formats)>,
    hostcalls: Option<Arc<Hostcalls>>,
    heap: Option<Region>,
    default_queue: u64,
    children: Option<Children>,
    printer: Printer,
}

fn wants(kernel: &Kernel, kind: &str) -> bool {
    kernel.args.iter().flatten().any(|a| a.kind == kind)
}

/// Whether a kernel has arguments that lead to a queue on the device.
fn has_queue(kernel: &Kernel) -> bool {
    ["hidden_default_queue", "hidden_completion_action", "queue"].iter().any(|kind| wants(kernel, kind))
}

/// Whether a kernel may enqueue others. Those of Catalyst all have the arguments for it, and say apart whether they do.
pub fn enqueues(device: &Device, kernel: &Kernel) -> Result<bool, String> {
    if !has_queue(kernel) {
        return Ok(false);
    }
    let Some((object, _)) = device.kernel_at(kernel.object) else { return Ok(true) };
    let file = File::parse(&object.file).map_err(|e| e.to_string())?;
    let Some(container) = &file.catalyst else { return Ok(true) };
    let records = container.records().collect::<Result<Vec<_>, _>>().map_err(|e| e.to_string())?;
    Ok(records.iter().any(|(part, record)| part.kernel == kernel.name && record.enqueues))
}

/// The kernels of a Catalyst binary by their numbers, which is how they enqueue each other.
fn kernel_table(device: &Device, kernel: &Kernel) -> Result<Option<Region>, String> {
    let Some((object, _)) = device.kernel_at(kernel.object) else { return Ok(None) };
    let file = File::parse(&object.file).map_err(|e| e.to_string())?;
    let Some(container) = &file.catalyst else { return Ok(None) };
    let records = container.records().collect::<Result<Vec<_>, _>>().map_err(|e| e.to_string())?;
    let count = records.len() as u64;
    let table = device.memory().allocate_for(kernel.narrow, 8 * count, Use::Device, "the kernels' table");
    let table = table.map_err(|e| e.to_string())?;
    for (part, record) in &records {
        let found = object.kernel(part.kernel).filter(|_| u64::from(record.index) < count);
        let Some(found) = found else {
            return Err(format!("kernel {} has number {} of {count}", part.kernel, record.index));
        };
        table.write(8 * u64::from(record.index), &found.object.to_le_bytes());
    }
    Ok(Some(table))
}

impl Services {
    /// Those that a kernel wants, and if it can enqueue others, those that its neighbours want.
    pub fn new(
        device: &Device,
        kernel: &Kernel,
        sizes: &Sizes,
        printer: &Printer,
    ) -> Result<Services, String> {
        let text = |e: MemoryError| e.to_string();
        let memory = device.memory();
        let object = device.kernel_at(kernel.object).map(|(object, _)| object);
        let wanted = |kind: &str| {
            let mut others = object.iter().flat_map(|o| &o.kernels).filter(|_| has_queue(kernel));
            wants(kernel, kind) || others.any(|k| wants(k, kind))
        };
        let mut printf = None;
        if wanted("hidden_printf_buffer") {
            let formats = match &object {
                Some(object) => {
                    let file = File::parse(&object.file).map_err(|e| e.to_string())?;
                    Formats::of(&file)?
                }
                None => Formats::default(),
            };
            let buffer = memory.allocate_for(kernel.narrow, PRINTF_BYTES, Use::Device, "the printf buffer");
            let buffer = buffer.map_err(text)?;
            records::prepare(&buffer, &formats);
            printf = Some((buffer, formats));
        }
        let mut hostcalls = None;
        if wanted("hidden_hostcall_buffer") {
            let profile = device.profile();
            let fit = Limits::of(device.target().cpu).waves_per_simd * SIMDS_PER_CU * profile.compute_units;
            let groups = (0..3).map(|d| u64::from(sizes.grid[d].div_ceil(sizes.group[d].max(1))));
            let waves = groups.fold(u64::from(Plan::wave_count(sizes.group)), u64::saturating_mul);
            let calls =
                Hostcalls::new(memory, waves.min(fit.into()), profile.memory << 20, printer).map_err(text)?;
            hostcalls = Some(Arc::new(calls));
        }
        let mut heap = None;
        if wanted("hidden_heap_v1") {
            heap = Some(memory.allocate(HEAP_BYTES, Use::Device, "the device heap").map_err(text)?);
        }
        let printer = printer.clone();
        Ok(Services { printf, hostcalls, heap, default_queue: 0, children: None, printer })
    }

    /// The same with queues that the kernel can enqueue others to: the address of the one that is the default, and all.
    pub fn with_queues(
        mut self,
        device: &Device,
        kernel: &Kernel,
        default: Option<u64>,
        queues: Vec<Arc<DeviceQueue>>,
    ) -> Result<Services, String> {
        if !queues.is_empty() {
            self.default_queue = default.unwrap_or(0);
            self.children = Some(Children::new(queues, kernel_table(device, kernel)?, kernel.narrow));
        }
        Ok(self)
    }
}

impl run::Services for Services {
    fn hidden(&self, hidden: &mut Hidden) {
        hidden.printf_buffer = self.printf.as_ref().map_or(0, |(buffer, _)| buffer.start());
        hidden.hostcall_buffer = self.hostcalls.as_ref().map_or(0, |calls| calls.address());
        hidden.heap = self.heap.as_ref().map_or(0, Region::start);
        hidden.default_queue = self.default_queue;
        hidden.completion_action = self.children.as_ref().map_or(0, Children::parent);
    }

    fn next(&self, device: &Device, hidden: &Hidden) -> Result<Option<DispatchPacket>, String> {
        self.children.as_ref().map_or(Ok(None), |children| children.next(device, hidden))
    }

    fn host(&self) -> Option<Arc<dyn Host>> {
        let calls = self.hostcalls.clone()?;
        Some(calls)
    }

    /// Prints what has not been printed.
    fn finish(&self) {
        if let Some(calls) = &self.hostcalls {
            calls.finish();
        }
        if let Some((buffer, formats)) = &self.printf {
            records::print(buffer, formats, &self.printer);
        }
    }

    fn hint(&self, kernel: &Kernel, report: &Report) -> Option<String> {
        let null = report.address.is_some_and(|a| a < NULL_AREA);
        if null && self.default_queue == 0 && wants(kernel, "hidden_default_queue") {
            return Some(
                "there is no default queue on the device (clCreateCommandQueueWithProperties makes one with \
                 CL_QUEUE_ON_DEVICE_DEFAULT)"
                    .into(),
            );
        }
        hint(kernel, report)
    }
}

/// What else there is to say about a fault: a null pointer may be a hidden argument that nobody serves.
fn hint(kernel: &Kernel, report: &Report) -> Option<String> {
    report.address.filter(|a| *a < NULL_AREA)?;
    let function = report.function.as_ref().map_or("", |(name, _)| name);
    if function == "__printf_alloc" && !wants(kernel, "hidden_printf_buffer") {
        return Some(
            "the compiler has linked the library's printf, which prints nothing, before it could lower the calls; \
             clang -Xclang -mlink-builtin-bitcode-postopt links later"
                .into(),
        );
    }
    let missing: Vec<&str> = kernel
        .args
        .iter()
        .flatten()
        .filter(|a| a.is_hidden() && !Hidden::serves(&a.kind))
        .map(|a| a.kind.as_str())
        .collect();
    (!missing.is_empty()).then(|| {
        format!("hidden arguments that are null here (only `wavemill exec` has them): {}", missing.join(", "))
    })
}
