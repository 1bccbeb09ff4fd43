//! Checking and running one dispatch.
//!
//! Everything that a real processor would refuse is refused before a wave runs, with one message that says what was
//! asked for and what there is.

use crate::aql::DispatchPacket;
use crate::control::{Control, Host, NORMAL_PRIORITY};
use crate::device::Device;
use crate::fault::Report;
use crate::interrupt;
use crate::kernel::Kernel;
use crate::launch::{Addresses, Plan, SCRATCH_GRANULE, SCRATCH_MAX_GRANULES, Scratch, user_sgprs};
use crate::memory::{Region, Use};
use crate::observe::Observers;
use crate::schedule::Job;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wavemill_object::demangle;
use wavemill_object::limits::{Limits, MAX_WORKGROUP_SIZE, SIMDS_PER_CU};
use wavemill_wave::Counters;

/// What to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// The packet.
    pub packet: DispatchPacket,
    /// Where the packet and its queue are in memory.
    pub addresses: Addresses,
    /// Time after which the dispatch is stopped.
    pub timeout: Option<Duration>,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Completion {
    /// Kernel.
    pub kernel: String,
    /// From start to end.
    pub wall_ns: u64,
    /// CPU time of all threads that took part, if it was measured.
    pub cpu_ns: u64,
    /// Work-groups of the grid.
    pub work_groups: u64,
    /// Waves that ran to their end.
    pub waves: u64,
    /// Wave instructions executed.
    pub counters: Counters,
    /// What stopped it, if it was stopped.
    pub fault: Option<Box<Report>>,
}

/// What is wrong with a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DispatchErrorKind {
    /// There is no kernel where it says.
    Code,
    /// Dimensions or sizes of the grid.
    Dimensions,
    /// The size of a work-group.
    WorkGroup,
    /// LDS or scratch.
    Memory,
    /// Registers, or something else of the kernel that the processor does not have.
    Processor,
}

/// Why a dispatch cannot be run at all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DispatchError {
    /// What is wrong.
    pub kind: DispatchErrorKind,
    /// The same in words.
    pub message: String,
}

impl fmt::Display for DispatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for DispatchError {}

fn fail<T>(kind: DispatchErrorKind, message: impl Into<String>) -> Result<T, DispatchError> {
    Err(DispatchError { kind, message: message.into() })
}

impl Device {
    /// Runs a dispatch to its end.
    pub fn dispatch(&self, request: &Request) -> Result<Completion, DispatchError> {
        self.dispatch_for(request, None, Observers::NONE)
    }

    /// Runs a dispatch to its end, for a host that its waves may want something of.
    pub(crate) fn dispatch_for(
        &self,
        request: &Request,
        host: Option<&Arc<dyn Host>>,
        observers: &Observers,
    ) -> Result<Completion, DispatchError> {
        let control = Control {
            queue: 0,
            stop: &Arc::default(),
            units: self.profile().compute_units,
            priority: NORMAL_PRIORITY,
            timed: true,
            placed: &|_| {},
            slow: None,
            observers,
            host,
        };
        self.dispatch_with(request, &control)
    }

    /// Runs a dispatch as a queue wants it.
    pub fn dispatch_with(
        &self,
        request: &Request,
        control: &Control<'_>,
    ) -> Result<Completion, DispatchError> {
        let began = Instant::now();
        let packet = &request.packet;
        let Some((object, kernel)) = self.kernel_at(packet.kernel_object) else {
            return fail(
                DispatchErrorKind::Code,
                format!("there is no kernel at {:#x}", packet.kernel_object),
            );
        };
        // Nobody knows how deep calls through pointers go: such kernels get more scratch than they say they need.
        let mut packet = *packet;
        if kernel.setup.dynamic_stack {
            packet.private_segment_size = packet.private_segment_size.max(kernel.private_bytes());
        }
        let packet = &packet;
        let mut plan = self.plan(&kernel, packet)?;
        plan.resident = (plan.resident / self.profile().compute_units * control.units).max(1);
        plan.queue = control.queue;
        let scratch = self.scratch(&mut plan)?;
        plan.user = user_sgprs(
            &kernel,
            packet,
            &request.addresses,
            &plan.scratch,
            plan.groups,
            self.target().level(),
            |offset| self.read_u32(packet.kernarg_address.wrapping_add(offset.into())),
        );
        (control.placed)(&plan.scratch);
        let work_groups = plan.group_count();
        let running = self.memory().running();
        self.memory().dispatched();
        // An acquire fence: what was decoded must be what is in memory now.
        self.engine().revalidate();
        let job = Job::new(
            plan,
            *self.target(),
            self.engine(),
            self.memory().clone(),
            self.global(),
            self.allowance(request.timeout),
        )
        .controlled(control, &object)
        .held_by(self.controller())
        .logged(self.log());
        let under_way = interrupt::Running::new();
        let outcome = self.pool().run(Arc::new(job));
        drop((running, under_way));
        if let Some(region) = scratch {
            self.keep_scratch(region);
        }
        let wall_ns = began.elapsed().as_nanos() as u64;
        let fault = outcome.stop.as_ref().map(|stop| {
            let mut report = Box::new(Report::new(self, &object, &kernel, stop));
            report.whereabouts(self, &object, work_groups, &outcome);
            report
        });
        Ok(Completion {
            kernel: kernel.name.clone(),
            wall_ns,
            cpu_ns: outcome.cpu_ns,
            work_groups,
            waves: outcome.waves,
            counters: outcome.counters,
            fault,
        })
    }

    fn read_u32(&self, address: u64) -> u32 {
        let mut bytes = [0; 4];
        // What cannot be read is 0: the kernel faults when it looks there itself.
        self.memory().memory().read(address, &mut bytes);
        u32::from_le_bytes(bytes)
    }

    /// Checks a packet against the kernel and the processor.
    fn plan(&self, kernel: &Arc<Kernel>, packet: &DispatchPacket) -> Result<Plan, DispatchError> {
        let target = self.target();
        let limits = Limits::of(target.cpu);
        let cpu = target.cpu.name;
        kernel
            .check(target)
            .map_err(|e| DispatchError { kind: DispatchErrorKind::Processor, message: e.to_string() })?;
        let dimensions = usize::from(packet.dimensions());
        if dimensions == 0 {
            return fail(DispatchErrorKind::Dimensions, "a grid has one, two or three dimensions, not none");
        }
        let size: [u32; 3] =
            std::array::from_fn(|d| if d < dimensions { packet.workgroup_size[d].into() } else { 1 });
        let grid: [u32; 3] = std::array::from_fn(|d| if d < dimensions { packet.grid_size[d] } else { 1 });
        let text = |n: [u32; 3]| n.map(|n| n.to_string()).join(",");
        if grid.contains(&0) {
            return fail(DispatchErrorKind::Dimensions, format!("the grid {} has no work-items", text(grid)));
        }
        if size.contains(&0) {
            return fail(
                DispatchErrorKind::Dimensions,
                format!("the work-group {} has no work-items", text(size)),
            );
        }
        let items: u64 = size.iter().map(|&n| u64::from(n)).product();
        if items > u64::from(MAX_WORKGROUP_SIZE) {
            return fail(
                DispatchErrorKind::WorkGroup,
                format!(
                    "the work-group {} has {items} work-items, {cpu} can run {MAX_WORKGROUP_SIZE}",
                    text(size)
                ),
            );
        }
        let items = items as u32;
        if let Some(wanted) = kernel.required_size.filter(|&wanted| wanted != size) {
            return fail(
                DispatchErrorKind::WorkGroup,
                format!(
                    "kernel {} can only run with work-groups of {}, not {}",
                    demangle::shown(&kernel.name),
                    text(wanted),
                    text(size)
                ),
            );
        }
        if packet.group_segment_size > limits.lds_bytes {
            return fail(
                DispatchErrorKind::Memory,
                format!(
                    "the work-group needs {} bytes of LDS, {cpu} has {}",
                    packet.group_segment_size, limits.lds_bytes
                ),
            );
        }
        let most = SCRATCH_MAX_GRANULES * SCRATCH_GRANULE / 64;
        if u64::from(packet.private_segment_size) > most {
            return fail(
                DispatchErrorKind::Memory,
                format!(
                    "a work-item needs {} bytes of scratch, {cpu} has at most {most}",
                    packet.private_segment_size
                ),
            );
        }
        let waves = Plan::wave_count(size);
        let per_simd = waves.div_ceil(SIMDS_PER_CU);
        let by_vgprs = limits.waves_by_vgprs(kernel.setup.allocated_vgprs);
        if per_simd > by_vgprs {
            return fail(
                DispatchErrorKind::Processor,
                format!(
                    "a work-group of {items} work-items has {per_simd} waves on each SIMD, but with {} VGPRs only \
                 {by_vgprs} fit",
                    kernel.setup.allocated_vgprs
                ),
            );
        }
        let groups = std::array::from_fn(|d| grid[d].div_ceil(size[d]));
        if groups.iter().try_fold(1u64, |n, &g| n.checked_mul(g.into())).is_none() {
            return fail(
                DispatchErrorKind::Dimensions,
                format!("the grid {} has too many work-groups to count", text(grid)),
            );
        }
        let (occupancy, _) = limits.occupancy(
            kernel.setup.allocated_vgprs,
            kernel.setup.sgprs,
            packet.group_segment_size,
            items,
        );
        let resident = (occupancy * SIMDS_PER_CU / waves).max(1) * self.profile().compute_units;
        Ok(Plan {
            kernel: kernel.clone(),
            packet: *packet,
            user: Vec::new(),
            size,
            grid,
            groups,
            waves,
            // Hardware gives and checks whole granules.
            lds: packet.group_segment_size.next_multiple_of(limits.lds_granule),
            scratch: Scratch {
                per_item: packet.private_segment_size.next_multiple_of(4),
                per_wave: Scratch::wave_bytes(packet.private_segment_size),
                ..Scratch::default()
            },
            resident,
            clock: self.clock(),
            level: target.level(),
            traps: self.traps(),
            caches: self.caches(),
            units: self.profile().units(),
            queue: 0,
            replay: target.xnack == Some(true),
            number: self.next_dispatch(),
            ordered: self.counts_in_order() || kernel.setup.ordered_append,
        })
    }

    /// Gets the scratch for all work-groups that may be under way at once.
    fn scratch(&self, plan: &mut Plan) -> Result<Option<Region>, DispatchError> {
        plan.resident = u64::from(plan.resident).min(plan.group_count()) as u32;
        if plan.scratch.per_item == 0 {
            return Ok(None);
        }
        let per_group = plan.scratch.per_wave * u64::from(plan.waves);
        // Waves find theirs by a 32-bit offset.
        let fit = (u64::from(u32::MAX) / per_group).max(1);
        plan.resident = u64::from(plan.resident).min(fit) as u32;
        let len = per_group * u64::from(plan.resident);
        let region = match self.kept_scratch(len) {
            Some(region) => region,
            None => {
                let region = self.memory().allocate(len, Use::Scratch, "scratch");
                region
                    .map_err(|e| DispatchError { kind: DispatchErrorKind::Memory, message: e.to_string() })?
            }
        };
        plan.scratch.base = region.start();
        plan.scratch.len = len;
        Ok(Some(region))
    }
}
