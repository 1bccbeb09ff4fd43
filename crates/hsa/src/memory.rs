//! HSA's own memory functions.

use crate::abi::*;
use crate::pool;
use crate::runtime::{Runtime, runtime};
use std::ffi::c_void;
use wavemill_runtime::maps;
use wavemill_runtime::observe::{HostEvent, tell};

/// Does memory of ours end before the last byte? What is not ours is the program's own, and its business.
pub fn within(runtime: &Runtime, address: u64, size: usize) -> Result {
    let Some(info) = runtime.system.heap.find(address) else { return Ok(()) };
    // Locked memory may be named by either of its addresses.
    let base = if address.wrapping_sub(info.start) < info.len { info.start } else { info.host };
    let fits = (address - base).checked_add(size as u64).is_some_and(|end| end <= info.len);
    if fits { Ok(()) } else { Err(Status::ERROR_INVALID_ARGUMENT) }
}

/// Copies memory as `memmove` does, between addresses of the program or of GPUs; false when some of it is not there.
pub fn copy(to: u64, from: u64, size: usize) -> bool {
    let host = |address| runtime().map_or(address, |r| r.system.heap.host_address(address));
    tell(HostEvent::Copied { to, from, bytes: size as u64 });
    copy_host(host(to), host(from), size)
}

/// Copies memory of the program; false when some of it is not there.
pub fn copy_host(to: u64, from: u64, size: usize) -> bool {
    // SAFETY: the program promises that both ranges are its own or were allocated by the runtime. Waves may access
    // them at the same time, which the program has to prevent as with a GPU. A copy that is given up leaves nothing
    // behind but bytes.
    unsafe { wavemill_wave::host::guarded(|| std::ptr::copy(from as *const u8, to as *mut u8, size)) }.is_ok()
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
