//! HSA's own memory functions.

use crate::abi::*;
use crate::pool;
use crate::runtime::runtime;
use crate::transfer::{copy, within};
use std::ffi::c_void;
use wavemill_runtime::maps;

api! {
    /// Allocates memory that all GPUs may access if it is the host's.
    fn hsa_memory_allocate(region: Pool, size: usize, to: Out<u64>) -> Status {
        let runtime = runtime()?;
        let to = to.check()?;
        if size == 0 {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        let pool = pool::pool(&runtime, region).map_err(|_| Status::ERROR_INVALID_REGION)?;
        let gpus = if pool.agent == 0 { runtime.all_gpus() } else { Default::default() };
        to.set(pool::allocate(&runtime, &pool, size, gpus)?)
    }

    /// Frees memory.
    fn hsa_memory_free(address: u64) -> Status {
        let runtime = runtime()?;
        if address == 0 {
            return Ok(());
        }
        crate::amd::memory::free(&runtime, address)
    }

    /// Copies memory.
    fn hsa_memory_copy(to: *mut c_void, from: *const c_void, size: usize) -> Status {
        let runtime = runtime()?;
        if to.is_null() || from.is_null() {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        within(&runtime, to as u64, size)?;
        within(&runtime, from as u64, size)?;
        if copy(to as u64, from as u64, size) { Ok(()) } else { Err(Status::ERROR_INVALID_ARGUMENT) }
    }

    /// Gives memory to an agent. All see the same memory at any time, so there is nothing to do.
    fn hsa_memory_assign_agent(address: u64, agent: Agent, access: u32) -> Status {
        let runtime = runtime()?;
        if address == 0 || !matches!(access, 1..=3) {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        runtime.agent(agent)?;
        Ok(())
    }

    /// Lets all agents access memory of the program.
    fn hsa_memory_register(address: u64, size: usize) -> Status {
        let runtime = runtime()?;
        if address == 0 {
            return if size == 0 { Ok(()) } else { Err(Status::ERROR_INVALID_ARGUMENT) };
        }
        if size == 0 {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        let ours = |end: u64| runtime.system.heap.find(address).is_some_and(|i| end <= i.host + i.len);
        let end = address.checked_add(size as u64).ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        if ours(end) {
            return Ok(());
        }
        maps::access(address, end).ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        for gpu in runtime.system.gpus() {
            // SAFETY: the program promises to keep the memory until it deregisters it.
            let done = unsafe { gpu.device.memory().pin(address, size as u64, false) };
            done.map_err(|_| Status::ERROR_OUT_OF_RESOURCES)?;
        }
        Ok(())
    }

    /// Takes a registration back.
    fn hsa_memory_deregister(address: u64, size: usize) -> Status {
        let runtime = runtime()?;
        for gpu in runtime.system.gpus() {
            gpu.device.memory().unpin(address, size as u64);
        }
        Ok(())
    }
}
