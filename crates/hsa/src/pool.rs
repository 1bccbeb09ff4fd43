//! Memory pools and regions, which are the same here under two names: HSA's regions and AMD's pools.

use crate::abi::*;
use crate::runtime::{Runtime, runtime};
use wavemill_device::memory::Use;
pub use wavemill_runtime::agent::flag;
use wavemill_runtime::agent::{self, gpu_pools, host_pools, segment};
use wavemill_runtime::heap::{Gpus, Origin};

/// Memory is handed out in units of this.
pub const GRANULE: usize = 4096;

/// The handle of the first pool; each agent has room for sixteen.
const POOL: u64 = 0xb001_0000_0010;

/// A pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PoolInfo {
    /// Number of the agent.
    pub agent: usize,
    /// Number among the agent's pools.
    pub number: usize,
    pub segment: u32,
    pub flags: u32,
    pub size: u64,
}

impl PoolInfo {
    /// Whether memory can be allocated from it.
    pub fn allocates(&self) -> bool {
        self.segment == segment::GLOBAL
    }

    pub fn handle(&self) -> Pool {
        Pool(POOL + self.agent as u64 * 16 + self.number as u64)
    }
}

/// The pools of an agent.
pub fn pools(runtime: &Runtime, agent: usize) -> Vec<PoolInfo> {
    let gpu = agent.checked_sub(1).and_then(|i| runtime.system.gpus().get(i));
    let list = gpu.map_or_else(host_pools, |g| gpu_pools(g.device.profile()));
    let make = |(number, pool): (usize, agent::Pool)| {
        let agent::Pool { segment, flags, size } = pool;
        PoolInfo { agent, number, segment, flags, size }
    };
    list.into_iter().enumerate().map(make).collect()
}

/// The pool of a handle.
pub fn pool(runtime: &Runtime, handle: Pool) -> Result<PoolInfo> {
    let number = handle.0.checked_sub(POOL).filter(|&n| n < 16 * 256);
    let number = number.ok_or(Status::ERROR_INVALID_MEMORY_POOL)? as usize;
    if number / 16 > runtime.system.gpus().len() {
        return Err(Status::ERROR_INVALID_MEMORY_POOL);
    }
    pools(runtime, number / 16).get(number % 16).copied().ok_or(Status::ERROR_INVALID_MEMORY_POOL)
}

/// Allocates memory that some GPUs may access, beside the one it belongs to.
pub fn allocate(runtime: &Runtime, pool: &PoolInfo, size: usize, gpus: Gpus) -> Result<u64> {
    if size == 0 {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    if !pool.allocates() || size as u64 > pool.size {
        return Err(Status::ERROR_INVALID_ALLOCATION);
    }
    let used = runtime.system.heap.used(pool.agent);
    if pool.agent > 0 && used.saturating_add(size as u64) > pool.size {
        return Err(Status::ERROR_OUT_OF_RESOURCES);
    }
    let owner = pool.agent.checked_sub(1).map_or(Gpus::default(), Gpus::one);
    let usage = match pool.agent {
        0 if pool.flags & flag::KERNARG != 0 => Use::Kernarg,
        0 => Use::Host,
        _ => Use::Device,
    };
    let origin = Origin::Pool(pool.agent, pool.number);
    // Compilers load whole cache lines of arguments.
    let size = if usage == Use::Kernarg { size.next_multiple_of(GRANULE) } else { size };
    let made = runtime.system.heap.allocate(size as u64, origin, usage, owner.with(gpus));
    made.map_err(|_| Status::ERROR_OUT_OF_RESOURCES)
}

/// A fact that pools and regions share.
fn info(pool: &PoolInfo, attribute: u32, value: Any) -> Result {
    let value = value.check()?;
    match attribute {
        0 => value.set(pool.segment),
        1 if pool.segment == segment::GLOBAL => value.set(pool.flags),
        1 => value.set(0u32),
        2 => value.set(pool.size as usize),
        5 => value.set(pool.allocates()),
        6 | 7 => value.set(if pool.allocates() { GRANULE } else { 0 }),
        _ => Err(Status::ERROR_INVALID_ARGUMENT),
    }
}

type Callback = Option<extern "C" fn(Pool, Data) -> Status>;

api! {
    /// Calls a function for each memory region that an agent can use: its own and the host's.
    fn hsa_agent_iterate_regions(agent: Agent, callback: Callback, data: Data) -> Status {
        let runtime = runtime()?;
        let index = runtime.agent(agent)?;
        let callback = callback.ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        let mut list = pools(&runtime, index);
        if index > 0 {
            list.splice(0..0, pools(&runtime, 0));
        }
        list.iter().try_for_each(|p| go_on(callback(p.handle(), data)))
    }

    /// A fact about a region.
    fn hsa_region_get_info(region: Pool, attribute: u32, value: Any) -> Status {
        let runtime = runtime()?;
        let pool = pool(&runtime, region).map_err(|_| Status::ERROR_INVALID_REGION)?;
        match attribute {
            4 => value.set(if pool.allocates() { pool.size as usize } else { 0 }),
            8 => value.set(1024u32),
            // AMD's own: accessible to the host, base address, bus width, clock.
            0xa000 => value.set(pool.allocates()),
            0xa001 => value.set(0u64),
            0xa002 | 0xa003 => {
                let gpu = pool.agent.checked_sub(1).and_then(|i| runtime.system.gpus().get(i));
                let profile = gpu.map(|g| *g.device.profile());
                let fact = profile.map(|p| if attribute == 0xa002 { p.memory_width } else { p.memory_clock });
                value.set(fact.unwrap_or(0))
            }
            _ => info(&pool, attribute, value),
        }
    }

    /// Calls a function for each memory pool of an agent.
    fn hsa_amd_agent_iterate_memory_pools(agent: Agent, callback: Callback, data: Data) -> Status {
        let runtime = runtime()?;
        let index = runtime.agent(agent)?;
        let callback = callback.ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        pools(&runtime, index).iter().try_for_each(|p| go_on(callback(p.handle(), data)))
    }

    /// A fact about a memory pool.
    fn hsa_amd_memory_pool_get_info(handle: Pool, attribute: u32, value: Any) -> Status {
        let runtime = runtime()?;
        let pool = pool(&runtime, handle)?;
        match attribute {
            // Accessible to all agents: the host's memory.
            15 => value.set(pool.agent == 0),
            16 => value.set(if pool.allocates() { pool.size as usize } else { 0 }),
            // Where it is: with the host or with a GPU.
            17 => value.set(u32::from(pool.agent > 0)),
            // A size that is handed out without waste.
            18 => value.set(if pool.allocates() { GRANULE } else { 0 }),
            _ => info(&pool, attribute, value),
        }
    }
}
