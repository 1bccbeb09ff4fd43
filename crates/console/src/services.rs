//! What a kernel's hidden arguments let it ask the host for, when one kernel is run by itself: printf, hostcalls, a heap.
//!
//! Programs under `wavemill exec` bring a runtime that does this; a kernel by itself has nobody else.

use crate::hostcall::Hostcalls;
use crate::printf::Printer;
use crate::printf::records::{self, Formats};
use std::sync::Arc;
use wavemill_device::control::Host;
use wavemill_device::device::Device;
use wavemill_device::dispatch::Completion;
use wavemill_device::fault::Report;
use wavemill_device::kernarg::Hidden;
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

/// Runs a kernel once, and prints what it prints: hostcalls while it runs, the printf buffer when it has ended, for
/// whatever reason. Errors are for what cannot be run; what goes wrong while it runs is in the completion.
pub fn launch(
    device: &Device,
    kernel: &Kernel,
    launch: &Launch,
    printer: &Printer,
) -> Result<Completion, String> {
    let services = Services::new(device, kernel, &launch.sizes()?, printer)?;
    device.launch_with(kernel, launch, &services)
}

/// The services of one launch.
pub struct Services {
    printf: Option<(Region, Formats)>,
    hostcalls: Option<Arc<Hostcalls>>,
    heap: Option<Region>,
    printer: Printer,
}

fn wants(kernel: &Kernel, kind: &str) -> bool {
    kernel.args.iter().flatten().any(|a| a.kind == kind)
}

impl Services {
    /// Those that a kernel wants.
    pub fn new(
        device: &Device,
        kernel: &Kernel,
        sizes: &Sizes,
        printer: &Printer,
    ) -> Result<Services, String> {
        let text = |e: MemoryError| e.to_string();
        let memory = device.memory();
        let mut printf = None;
        if wants(kernel, "hidden_printf_buffer") {
            let formats = match device.kernel_at(kernel.object) {
                Some((object, _)) => {
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
        if wants(kernel, "hidden_hostcall_buffer") {
            let profile = device.profile();
            let fit = Limits::of(device.target().cpu).waves_per_simd * SIMDS_PER_CU * profile.compute_units;
            let groups = (0..3).map(|d| u64::from(sizes.grid[d].div_ceil(sizes.group[d].max(1))));
            let waves = groups.fold(u64::from(Plan::wave_count(sizes.group)), u64::saturating_mul);
            let calls =
                Hostcalls::new(memory, waves.min(fit.into()), profile.memory << 20, printer).map_err(text)?;
            hostcalls = Some(Arc::new(calls));
        }
        let mut heap = None;
        if wants(kernel, "hidden_heap_v1") {
            heap = Some(memory.allocate(HEAP_BYTES, Use::Device, "the device heap").map_err(text)?);
        }
        Ok(Services { printf, hostcalls, heap, printer: printer.clone() })
    }
}

impl run::Services for Services {
    fn hidden(&self, hidden: &mut Hidden) {
        hidden.printf_buffer = self.printf.as_ref().map_or(0, |(buffer, _)| buffer.start());
        hidden.hostcall_buffer = self.hostcalls.as_ref().map_or(0, |calls| calls.address());
        hidden.heap = self.heap.as_ref().map_or(0, Region::start);
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
