//! HSA's own memory functions.

use crate::abi::*;
use crate::pool;
use crate::runtime::runtime;
use std::ffi::c_void;
use wavemill_runtime::observe::{HostEvent, tell};

/// Copies memory as `memmove` does, between addresses of the program or of GPUs.
pub fn copy(to: u64, from: u64, size: usize) {
    let host = |address| runtime().map_or(address, |r| r.system.heap.host_address(address));
    tell(HostEvent::Copied { to, from, bytes: size as u64 });
    copy_host(host(to), host(from), size);
}

/// Copies memory of the program.
pub fn copy_host(to: u64, from: u64, size: usize) {
    // SAFETY: the program promises that both ranges are its own or were allocated by the runtime. Waves may access
    // them at the same time, which the program has to prevent as with a GPU.
    unsafe { std::ptr::copy(from as *const u8, to as *mut u8, size) };
}

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
        runtime()?;
        if to.is_null() || from.is_null() {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        copy(to as u64, from as u64, size);
        Ok(())
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
        let within = |end: u64| runtime.system.heap.find(address).is_some_and(|i| end <= i.host + i.len);
        let end = address.checked_add(size as u64).ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        if within(end) {
            return Ok(());
        }
        for gpu in runtime.system.gpus() {
            // SAFETY: the program promises to keep the memory until it deregisters it.
            let done = unsafe { gpu.device.memory().pin(address, size as u64) };
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
