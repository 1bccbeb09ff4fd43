//! Copies that wait for signals and complete one, and filling memory.

use crate::abi::*;
use crate::agent::{COPY_ENGINES, Dim3};
use crate::runtime::{Runtime, runtime, signal};
use crate::transfer::{copy, within};
use wavemill_device::Present;
use wavemill_runtime::observe::{HostEvent, tell};
use wavemill_runtime::signal::{Condition, Signal, Wanted, now};

/// `hsa_pitched_ptr_t`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Pitched {
    base: u64,
    pitch: usize,
    slice: usize,
}

/// Copies up to this size are done at once if nothing has to be waited for: a thread would take longer to start.
const AT_ONCE: usize = 256 << 10;

/// The signals that must be 0 before a copy.
pub fn dependencies(count: u32, signals: In<SignalHandle>) -> Result<Vec<Wanted>> {
    if (count != 0) == signals.is_null() {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let wanted = |s: Signal| Wanted { signal: s, condition: Condition::Eq, compare: 0 };
    signals.list(count as usize)?.into_iter().map(|h| signal(h).map(wanted)).collect()
}

/// Does something when signals are 0, and completes one.
pub fn when(
    runtime: &Runtime,
    wanted: Vec<Wanted>,
    completion: Signal,
    bytes: usize,
    work: impl Fn() -> bool + Send + 'static,
) -> Result {
    let act = move || {
        let start = now();
        match work() {
            true => completion.complete(start, now()),
            // As the specification has it: a negative value says that a copy failed.
            false => completion.fail(),
        }
    };
    if bytes <= AT_ONCE && wanted.iter().all(|w| w.met().is_some()) {
        act();
        return Ok(());
    }
    let action = Box::new(move |_| {
        act();
        false
    });
    if runtime.system.copies.when(wanted, action) { Ok(()) } else { Err(Status::ERROR_OUT_OF_RESOURCES) }
}

/// Where something is copied to or from: address and agent.
type Side = (u64, Agent);

fn copy_later(
    (to, to_agent): Side,
    (from, from_agent): Side,
    size: usize,
    (count, signals): (u32, In<SignalHandle>),
    completion: SignalHandle,
) -> Result {
    let runtime = runtime()?;
    if to == 0 || from == 0 {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let wanted = dependencies(count, signals)?;
    runtime.agent(to_agent)?;
    runtime.agent(from_agent)?;
    let completion = signal(completion)?;
    within(&runtime, to, size)?;
    within(&runtime, from, size)?;
    when(&runtime, wanted, completion, size, move || copy(to, from, size))
}

/// The engines that copy between two agents: all of a GPU's, if one of them is a GPU.
fn engines(to: Agent, from: Agent) -> Result<u32> {
    let runtime = runtime()?;
    match (runtime.agent(to)?, runtime.agent(from)?) {
        (0, 0) => Err(Status::ERROR_INVALID_AGENT),
        _ => Ok((1 << COPY_ENGINES) - 1),
    }
}

api! {
    /// Copies memory when signals are 0.
    fn hsa_amd_memory_async_copy(
        to: u64,
        to_agent: Agent,
        from: u64,
        from_agent: Agent,
        size: usize,
        count: u32,
        signals: In<SignalHandle>,
        completion: SignalHandle,
    ) -> Status {
        copy_later((to, to_agent), (from, from_agent), size, (count, signals), completion)
    }

    /// The same with a certain engine. All are the host's threads here; the engine must be there.
    fn hsa_amd_memory_async_copy_on_engine(
        to: u64,
        to_agent: Agent,
        from: u64,
        from_agent: Agent,
        size: usize,
        count: u32,
        signals: In<SignalHandle>,
        completion: SignalHandle,
        engine: u32,
        force: bool,
    ) -> Status {
        let _ = force;
        if !engine.is_power_of_two() || engine & engines(to_agent, from_agent)? == 0 {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        copy_later((to, to_agent), (from, from_agent), size, (count, signals), completion)
    }

    /// The engines that are free: all of them.
    fn hsa_amd_memory_copy_engine_status(to: Agent, from: Agent, mask: Out<u32>) -> Status {
        let free = engines(to, from)?;
        mask.set(free)
    }

    /// The engines that are best for a copy: all are as good.
    fn hsa_amd_memory_get_preferred_copy_engine(to: Agent, from: Agent, mask: Out<u32>) -> Status {
        let best = engines(to, from)?;
        mask.set(best)
    }

    /// Copies a box of memory when signals are 0.
    fn hsa_amd_memory_async_copy_rect(
        to: In<Pitched>,
        to_offset: In<Dim3>,
        from: In<Pitched>,
        from_offset: In<Dim3>,
        range: In<Dim3>,
        agent: Agent,
        direction: u32,
        count: u32,
        signals: In<SignalHandle>,
        completion: SignalHandle,
    ) -> Status {
        let runtime = runtime()?;
        let (to, from, range) = (to.get()?, from.get()?, range.get()?);
        let (to_offset, from_offset) = (to_offset.get()?, from_offset.get()?);
        let wanted = dependencies(count, signals)?;
        runtime.gpu(agent)?;
        let completion = signal(completion)?;
        let wide = |d: Dim3| (d.x as usize, d.y as usize, d.z as usize);
        let (width, height, depth) = wide(range);
        let reaches = |p: &Pitched, o: Dim3| {
            let (x, y, _) = wide(o);
            let slices = depth > 1 || o.z > 0;
            x + width <= p.pitch && (!slices || (y + height).saturating_mul(p.pitch) <= p.slice)
        };
        let inside = |p: &Pitched, o: Dim3| {
            if width == 0 || height == 0 || depth == 0 {
                return Ok(());
            }
            let (x, y, z) = wide(o);
            let lines = (y + height - 1).checked_mul(p.pitch);
            let slices = (z + depth - 1).checked_mul(p.slice);
            let end = lines.zip(slices).and_then(|(l, s)| l.checked_add(s)?.checked_add(x + width));
            within(&runtime, p.base, end.ok_or(Status::ERROR_INVALID_ARGUMENT)?)
        };
        if to.base == 0 || from.base == 0 || direction > 3 {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        if !(reaches(&to, to_offset) && reaches(&from, from_offset)) {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        inside(&to, to_offset)?;
        inside(&from, from_offset)?;
        let line = move |p: Pitched, o: Dim3, y: usize, z: usize| {
            let (x0, y0, z0) = wide(o);
            p.base + (x0 + (y0 + y) * p.pitch + (z0 + z) * p.slice) as u64
        };
        let bytes = width.saturating_mul(height).saturating_mul(depth);
        when(&runtime, wanted, completion, bytes, move || {
            let mut lines = (0..depth).flat_map(|z| (0..height).map(move |y| (y, z)));
            lines.all(|(y, z)| copy(line(to, to_offset, y, z), line(from, from_offset, y, z), width))
        })
    }

    /// Fills memory with a 32-bit value, `count` times.
    fn hsa_amd_memory_fill(to: u64, value: u32, count: usize) -> Status {
        let runtime = runtime()?;
        if to == 0 || !to.is_multiple_of(4) {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        runtime.system.heap.find(to).ok_or(Status::ERROR_INVALID_ALLOCATION)?;
        within(&runtime, to, count.checked_mul(4).ok_or(Status::ERROR_INVALID_ARGUMENT)?)?;
        tell(HostEvent::Filled { address: to, bytes: count as u64 * 4 });
        let out = Out::<u32>::of(runtime.system.heap.host_address(to));
        let _present = Present::among_others();
        (0..count).try_for_each(|i| out.set_at(i, value))
    }
}
