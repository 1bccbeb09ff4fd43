//! Memory pools: allocating, access of agents, locking, facts about pointers.

use crate::abi::*;
use crate::agent;
use crate::pool::{self, flag, pools};
use crate::runtime::{Runtime, runtime};
use std::sync::PoisonError;
use wavemill_runtime::heap::{Gpus, Info, Origin};
use wavemill_runtime::maps;
use wavemill_runtime::observe::{HostEvent, tell};

/// `hsa_amd_pointer_info_t`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct PointerInfo {
    size: u32,
    kind: u32,
    agent_base: u64,
    host_base: u64,
    bytes: usize,
    user_data: u64,
    owner: Agent,
    global_flags: u32,
}

/// `hsa_amd_memory_pool_link_info_t`.
#[repr(C)]
struct LinkInfo {
    min_latency: u32,
    max_latency: u32,
    min_bandwidth: u32,
    max_bandwidth: u32,
    atomics32: bool,
    atomics64: bool,
    coherent: bool,
    kind: u32,
    distance: u32,
}

const LINK_PCIE: u32 = 2;
const LINK_XGMI: u32 = 4;

/// Frees memory, after having told whoever wants to know.
pub fn free(runtime: &Runtime, address: u64) -> Result {
    let info = runtime.system.heap.find(address).filter(|i| i.start == address && i.origin != Origin::Locked);
    let Some(info) = info else {
        tell(HostEvent::NotFreed { address });
        return Err(Status::ERROR_INVALID_ALLOCATION);
    };
    // Whoever is told may try to free it as well; it is no allocation any more then.
    let freeing = Freeing::new(runtime, address).ok_or(Status::ERROR_INVALID_ALLOCATION)?;
    let told: Vec<(u64, Deallocated, Data)> = {
        let mut wanted = runtime.deallocated.lock().unwrap_or_else(PoisonError::into_inner);
        let inside = |at: u64| at >= info.start && at - info.start < info.len;
        let told = wanted.iter().filter(|(at, ..)| inside(*at)).copied().collect();
        wanted.retain(|(at, ..)| !inside(*at));
        told
    };
    told.into_iter().for_each(|(at, callback, data)| callback(at, data));
    // Before the address can be another block's, which another thread may free at once.
    drop(freeing);
    if runtime.system.heap.free(address) { Ok(()) } else { Err(Status::ERROR_INVALID_ALLOCATION) }
}

/// A block that is being freed.
struct Freeing<'a> {
    runtime: &'a Runtime,
    address: u64,
}

impl<'a> Freeing<'a> {
    /// Nothing if it is being freed already.
    fn new(runtime: &'a Runtime, address: u64) -> Option<Freeing<'a>> {
        let mut freeing = runtime.freeing.lock().unwrap_or_else(PoisonError::into_inner);
        freeing.insert(address).then(|| Freeing { runtime, address })
    }
}

impl Drop for Freeing<'_> {
    fn drop(&mut self) {
        self.runtime.freeing.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.address);
    }
}

fn lock(address: u64, size: usize, agents: In<Agent>, count: i32, to: Out<u64>, fine: bool) -> Result {
    let runtime = runtime()?;
    let to = to.check()?;
    to.set(0)?;
    if address == 0 || size == 0 || (count != 0) == agents.is_null() {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let count = usize::try_from(count).map_err(|_| Status::ERROR_INVALID_ARGUMENT)?;
    let gpus = match count {
        0 => runtime.all_gpus(),
        n => runtime.gpus(&agents.list(n)?)?,
    };
    let end = address.checked_add(size as u64).ok_or(Status::ERROR_INVALID_ARGUMENT)?;
    maps::access(address, end).ok_or(Status::ERROR_INVALID_ARGUMENT)?;
    // SAFETY: the program promises to keep the memory until it unlocks it.
    let done = unsafe { runtime.system.heap.lock_as(address, size as u64, gpus, fine) };
    to.set(done.map_err(|_| Status::ERROR_OUT_OF_RESOURCES)?)
}

fn pointer_info(runtime: &Runtime, info: &Info) -> PointerInfo {
    let (kind, owner, flags) = match info.origin {
        Origin::Pool(agent, number) => {
            (1, agent::of(agent), pools(runtime, agent).get(number).map_or(0, |p| p.flags))
        }
        Origin::Locked => (2, agent::of(0), flag::FINE),
        Origin::Ipc => (4, agent::of(0), flag::FINE),
    };
    PointerInfo {
        size: size_of::<PointerInfo>() as u32,
        kind,
        agent_base: info.start,
        host_base: info.host,
        bytes: info.len as usize,
        user_data: info.user_data,
        owner,
        global_flags: flags,
    }
}

type Alloc = Option<extern "C" fn(usize) -> *mut Agent>;

api! {
    /// Allocates memory. The agent it belongs to may access it, others when they are allowed to.
    fn hsa_amd_memory_pool_allocate(handle: Pool, size: usize, flags: u32, to: Out<u64>) -> Status {
        let runtime = runtime()?;
        if size == 0 || to.is_null() || flags > 1 {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        let pool = pool::pool(&runtime, handle)?;
        to.set(pool::allocate(&runtime, &pool, size, Gpus::default())?)
    }

    /// Frees memory.
    fn hsa_amd_memory_pool_free(address: u64) -> Status {
        let runtime = runtime()?;
        if address == 0 { Ok(()) } else { free(&runtime, address) }
    }

    /// Says which agents may access an allocation, beside its own.
    fn hsa_amd_agents_allow_access(count: u32, agents: In<Agent>, flags: In<u32>, address: u64) -> Status {
        let runtime = runtime()?;
        if count == 0 || agents.is_null() || !flags.is_null() || address == 0 {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        let gpus = runtime.gpus(&agents.list(count as usize)?)?;
        let done = runtime.system.heap.allow(address, gpus).map_err(|_| Status::ERROR_OUT_OF_RESOURCES)?;
        if done { Ok(()) } else { Err(Status::ERROR_INVALID_ARGUMENT) }
    }

    /// A fact about an agent and a pool.
    fn hsa_amd_agent_memory_pool_get_info(agent: Agent, handle: Pool, attribute: u32, value: Any) -> Status {
        let runtime = runtime()?;
        let index = runtime.agent(agent)?;
        let pool = pool::pool(&runtime, handle)?;
        let value = value.check()?;
        let own = index == pool.agent;
        match attribute {
            // Never, by default, or when allowed.
            0 if !pool.allocates() => value.set(u32::from(own)),
            0 => value.set(if own { 1u32 } else { 2 }),
            1 => value.set(u32::from(!own)),
            2 if own => Ok(()),
            2 => {
                let peers = index > 0 && pool.agent > 0;
                value.set(LinkInfo {
                    min_latency: 0,
                    max_latency: 0,
                    min_bandwidth: 0,
                    max_bandwidth: 0,
                    atomics32: true,
                    atomics64: true,
                    coherent: true,
                    kind: if peers { LINK_XGMI } else { LINK_PCIE },
                    distance: if peers { 15 } else { 20 },
                })
            }
            _ => Err(Status::ERROR_INVALID_ARGUMENT),
        }
    }

    /// Whether memory of one pool can move to another: it cannot.
    fn hsa_amd_memory_pool_can_migrate(from: Pool, to: Pool, result: Out<bool>) -> Status {
        let runtime = runtime()?;
        let result = result.check()?;
        pool::pool(&runtime, from)?;
        pool::pool(&runtime, to)?;
        result.set(false)
    }

    /// Moves memory to another pool, which cannot be done.
    fn hsa_amd_memory_migrate(address: u64, handle: Pool, flags: u32) -> Status {
        let runtime = runtime()?;
        if address == 0 || flags != 0 {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        pool::pool(&runtime, handle)?;
        Err(Status::ERROR_OUT_OF_RESOURCES)
    }

    /// Lets agents access memory of the program.
    fn hsa_amd_memory_lock(address: u64, size: usize, agents: In<Agent>, count: i32, to: Out<u64>) -> Status {
        lock(address, size, agents, count, to, true)
    }

    /// Lets agents access memory of the program, as if it were of a pool.
    fn hsa_amd_memory_lock_to_pool(
        address: u64,
        size: usize,
        agents: In<Agent>,
        count: i32,
        handle: Pool,
        flags: u32,
        to: Out<u64>,
    ) -> Status {
        let runtime = runtime()?;
        if flags != 0 || to.is_null() {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        let pool = pool::pool(&runtime, handle)?;
        if pool.agent != 0 {
            return Err(Status::ERROR_INVALID_MEMORY_POOL);
        }
        lock(address, size, agents, count, to, pool.flags & flag::FINE != 0)
    }

    /// Takes a lock back.
    fn hsa_amd_memory_unlock(address: u64) -> Status {
        let runtime = runtime()?;
        if address == 0 {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        runtime.system.heap.unlock(address);
        Ok(())
    }

    /// Tells what an address lies in.
    fn hsa_amd_pointer_info(
        address: u64,
        to: Out<PointerInfo>,
        alloc: Alloc,
        count: Out<u32>,
        accessible: Out<*mut Agent>,
    ) -> Status {
        let runtime = runtime()?;
        // Callers say how much of the structure they know.
        let room = Out::<u32>::get(Out::of(to.address()))? as usize;
        if address == 0 || room < 8 {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        let found = runtime.system.heap.find(address);
        let facts = match &found {
            Some(info) => pointer_info(&runtime, info),
            None => PointerInfo {
                size: size_of::<PointerInfo>() as u32,
                kind: 0,
                agent_base: 0,
                host_base: 0,
                bytes: 0,
                user_data: 0,
                owner: Agent(0),
                global_flags: 0,
            },
        };
        to.set_start(PointerInfo { size: room.min(size_of::<PointerInfo>()) as u32, ..facts }, room)?;
        let (Some(alloc), false, false) = (alloc, count.is_null(), accessible.is_null()) else { return Ok(()) };
        let Some(info) = found else { return count.set(0) };
        let mut agents: Vec<Agent> = info.gpus.iter().map(|i| agent::of(i + 1)).collect();
        if info.origin != Origin::Locked {
            agents.insert(0, agent::of(0));
        }
        let list = alloc(agents.len() * size_of::<Agent>());
        if list.is_null() {
            return Err(Status::ERROR_OUT_OF_RESOURCES);
        }
        let out = Out::of(list as u64);
        agents.iter().enumerate().try_for_each(|(i, a)| out.set_at(i, *a))?;
        count.set(agents.len() as u32)?;
        accessible.set(list)
    }

    /// Notes a value of the program for an allocation.
    fn hsa_amd_pointer_info_set_userdata(address: u64, user_data: u64) -> Status {
        let runtime = runtime()?;
        if address != 0 && runtime.system.heap.set_user_data(address, user_data) {
            Ok(())
        } else {
            Err(Status::ERROR_INVALID_ARGUMENT)
        }
    }

    /// Has a function called when an allocation is freed.
    fn hsa_amd_register_deallocation_callback(
        address: u64,
        callback: Option<Deallocated>,
        data: Data,
    ) -> Status {
        let runtime = runtime()?;
        let callback = callback.filter(|_| address != 0).ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        runtime.system.heap.find(address).ok_or(Status::ERROR_INVALID_ALLOCATION)?;
        runtime.deallocated.lock().unwrap_or_else(PoisonError::into_inner).push((address, callback, data));
        Ok(())
    }

    /// Takes such a function back.
    fn hsa_amd_deregister_deallocation_callback(address: u64, callback: Option<Deallocated>) -> Status {
        let runtime = runtime()?;
        let callback = callback.filter(|_| address != 0).ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        let mut wanted = runtime.deallocated.lock().unwrap_or_else(PoisonError::into_inner);
        let found = wanted.iter().position(|(at, c, _)| *at == address && *c as usize == callback as usize);
        wanted.remove(found.ok_or(Status::ERROR_INVALID_ARGUMENT)?);
        Ok(())
    }
}
