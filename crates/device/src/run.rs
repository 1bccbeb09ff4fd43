//! One kernel, run: a queue, a packet and arguments made for it.

use crate::aql::{DispatchPacket, QUEUE_SIZE, QueueImage};
use crate::control::Host;
use crate::device::Device;
use crate::dispatch::{Completion, Request};
use crate::fault::Report;
use crate::kernarg::{self, Hidden, Value};
use crate::kernel::Kernel;
use crate::launch::Addresses;
use crate::memory::Use;
use crate::observe::Observers;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wavemill_object::limits::{Limits, SIMDS_PER_CU};
use wavemill_wave::GroupShared;

/// A launch: sizes and arguments.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// Work-items of the grid, one to three dimensions.
    pub grid: Vec<u32>,
    /// Work-items of a work-group, as many dimensions or fewer.
    pub block: Vec<u32>,
    /// Where global ids start in each dimension (OpenCL's global offset).
    pub offset: [u64; 3],
    /// LDS bytes beyond what the kernel and its local arguments have.
    pub dynamic_lds: u32,
    /// The visible arguments.
    pub values: Vec<Value>,
    /// Time after which the dispatch is stopped.
    pub timeout: Option<Duration>,
    /// Who looks on.
    pub observers: Observers,
}

/// Sizes of a launch, as packets have them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sizes {
    /// Grid dimensions, 1 to 3.
    pub dimensions: u16,
    /// Work-items of the grid.
    pub grid: [u32; 3],
    /// Work-items of a work-group.
    pub group: [u32; 3],
}

impl Launch {
    /// The sizes, unless no packet can have them.
    pub fn sizes(&self) -> Result<Sizes, String> {
        let dimensions = self.grid.len();
        if !(1..=3).contains(&dimensions) || self.block.len() > dimensions {
            return Err(format!(
                "a grid has one to three dimensions and a work-group no more: {dimensions} and {} are given",
                self.block.len()
            ));
        }
        let mut grid = [1; 3];
        grid[..dimensions].copy_from_slice(&self.grid);
        let mut group = [1; 3];
        group[..self.block.len()].copy_from_slice(&self.block);
        if let Some(n) = group.iter().find(|n| u16::try_from(**n).is_err()) {
            return Err(format!("a work-group of {n} work-items in one dimension is too large"));
        }
        Ok(Sizes { dimensions: dimensions as u16, grid, group })
    }
}

/// What a kernel's hidden arguments let it ask the host for.
pub trait Services {
    /// Says where the services are.
    fn hidden(&self, hidden: &mut Hidden);

    /// Who answers while the kernel runs.
    fn host(&self) -> Option<Arc<dyn Host>>;

    /// What the kernel, and those before, have enqueued and can be run next. A message says why nothing can although
    /// something was.
    fn next(&self, device: &Device, hidden: &Hidden) -> Result<Option<DispatchPacket>, String>;

    /// All is over, for whatever reason.
    fn finish(&self);

    /// What else there is to say about a fault.
    fn hint(&self, kernel: &Kernel, report: &Report) -> Option<String>;
}

/// No services: what hidden arguments would lead to them is null.
impl Services for () {
    fn hidden(&self, _: &mut Hidden) {}

    fn host(&self) -> Option<Arc<dyn Host>> {
        None
    }

    fn next(&self, _: &Device, _: &Hidden) -> Result<Option<DispatchPacket>, String> {
        Ok(None)
    }

    fn finish(&self) {}

    fn hint(&self, _: &Kernel, _: &Report) -> Option<String> {
        None
    }
}

impl Device {
    /// Runs a kernel once. Errors are for what cannot be run; what goes wrong while it runs is in the completion.
    pub fn launch(&self, kernel: &Kernel, launch: &Launch) -> Result<Completion, String> {
        let mut done = self.launch_with(kernel, launch, &())?;
        done.pop().ok_or_else(|| "nothing was run".into())
    }

    /// The same for a kernel that may ask the host for something, and for the kernels that it enqueues: what came of each.
    pub fn launch_with(
        &self,
        kernel: &Kernel,
        launch: &Launch,
        services: &dyn Services,
    ) -> Result<Vec<Completion>, String> {
        let Sizes { dimensions, grid, group } = launch.sizes()?;
        let memory = self.memory();
        // One packet, the queue behind it: both are read by device code.
        let queue = memory.allocate(4096, Use::Queue, "the queue").map_err(|e| e.to_string())?;
        let (packet_at, queue_at) = (queue.start(), queue.start() + 1024);
        let limits = Limits::of(self.target().cpu);
        let image = QueueImage {
            base_address: packet_at,
            size: 1,
            id: 1,
            kind: 1,
            features: 1,
            doorbell_signal: 0,
            group_segment_aperture_base_hi: (GroupShared::SHARED_BASE >> 32) as u32,
            private_segment_aperture_base_hi: (GroupShared::PRIVATE_BASE >> 32) as u32,
            max_cu_id: self.profile().compute_units - 1,
            max_wave_id: limits.waves_per_simd * SIMDS_PER_CU - 1,
        };
        let mut hidden = Hidden { grid, size: group, dimensions, queue: queue_at, ..Hidden::default() };
        hidden.global_offset = launch.offset;
        services.hidden(&mut hidden);
        let fixed = kernel.setup.group_bytes;
        let block = kernarg::build(kernel, &launch.values, &hidden, fixed).map_err(|e| e.to_string())?;
        let lds = block.lds.checked_add(launch.dynamic_lds);
        let lds = lds.ok_or_else(|| format!("{} more bytes of LDS are too many", launch.dynamic_lds))?;
        // Compilers load a few bytes beyond the arguments, since a load's size is a power of two and whoever makes the
        // block has room for whole cache lines.
        let room = (block.bytes.len() as u64).next_multiple_of(64);
        let kernarg = memory.allocate_for(kernel.narrow, room, Use::Kernarg, "the arguments");
        let kernarg = kernarg.map_err(|e| e.to_string())?;
        kernarg.write(0, &block.placed(kernarg.start()));
        let packet = DispatchPacket {
            header: DispatchPacket::HEADER,
            setup: dimensions,
            workgroup_size: group.map(|n| n as u16),
            grid_size: grid,
            private_segment_size: kernel.private_bytes(),
            group_segment_size: lds,
            kernel_object: kernel.object,
            kernarg_address: kernarg.start(),
            completion_signal: 0,
        };
        let image: [u8; QUEUE_SIZE] = image.to_bytes();
        queue.write(queue_at - packet_at, &image);
        let began = Instant::now();
        let dispatch = |packet: DispatchPacket, id: u64| {
            queue.write(0, &packet.to_bytes());
            let end = (id + 1).to_le_bytes();
            queue.write(queue_at - packet_at + QueueImage::WRITE_DISPATCH_ID, &end);
            let addresses = Addresses { packet: packet_at, queue: queue_at, dispatch_id: id };
            // What it has enqueued has the rest of its time.
            let spent = if id == 0 { Duration::ZERO } else { began.elapsed() };
            let timeout = launch.timeout.map(|t| t.saturating_sub(spent));
            let request = Request { packet, addresses, timeout };
            self.dispatch_for(&request, services.host().as_ref(), &launch.observers)
                .map_err(|e| e.to_string())
        };
        let mut all = Vec::new();
        let mut next = Ok(Some(packet));
        while let Ok(Some(packet)) = next {
            match dispatch(packet, all.len() as u64) {
                Ok(mut done) => {
                    next = if done.fault.is_none() { services.next(self, &hidden) } else { Ok(None) };
                    let of = self.kernel_at(packet.kernel_object);
                    if let (Some(report), Some((_, kernel))) = (&mut done.fault, of) {
                        report.hint = services.hint(&kernel, report);
                    }
                    all.push(done);
                }
                Err(message) => next = Err(message),
            }
        }
        services.finish();
        next.map(|_| all)
    }
}
