//! Times of dispatches and copies, and coherency types.

use crate::abi::*;
use crate::runtime::{queue, runtime, signal};
use std::sync::atomic::Ordering;

/// `queue_properties`: ENABLE_PROFILING.
const ENABLE_PROFILING: u32 = 1 << 3;

/// `hsa_amd_profiling_dispatch_time_t` and `hsa_amd_profiling_async_copy_time_t`.
#[repr(C)]
pub struct Times {
    start: u64,
    end: u64,
}

fn times(handle: SignalHandle, to: Out<Times>) -> Result {
    let to = to.check()?;
    let (start, end) = signal(handle)?.times();
    if end == 0 {
        return Err(Status::ERROR);
    }
    to.set(Times { start, end })
}

api! {
    /// Asks for times. They are always taken.
    fn hsa_amd_profiling_set_profiler_enabled(address: u64, enable: i32) -> Status {
        runtime()?;
        let properties = queue(address)?.properties();
        match enable {
            0 => properties.fetch_and(!ENABLE_PROFILING, Ordering::SeqCst),
            _ => properties.fetch_or(ENABLE_PROFILING, Ordering::SeqCst),
        };
        Ok(())
    }

    /// Asks for times of copies. They are always taken.
    fn hsa_amd_profiling_async_copy_enable(enable: bool) -> Status {
        let _ = enable;
        runtime().map(drop)
    }

    /// When a packet started and ended, by the signal that it completed.
    fn hsa_amd_profiling_get_dispatch_time(agent: Agent, handle: SignalHandle, to: Out<Times>) -> Status {
        let runtime = runtime()?;
        runtime.gpu(agent)?;
        times(handle, to)
    }

    /// When a copy started and ended, by the signal that it completed.
    fn hsa_amd_profiling_get_async_copy_time(handle: SignalHandle, to: Out<Times>) -> Status {
        runtime()?;
        times(handle, to)
    }

    /// A time of a GPU's clock in the system's.
    fn hsa_amd_profiling_convert_tick_to_system_domain(agent: Agent, tick: u64, to: Out<u64>) -> Status {
        let runtime = runtime()?;
        runtime.gpu(agent)?;
        to.set(wavemill_runtime::system::ticks_to_system(tick))
    }

    /// How memory of the program is kept coherent for an agent.
    fn hsa_amd_coherency_get_type(agent: Agent, to: Out<u32>) -> Status {
        let runtime = runtime()?;
        let to = to.check()?;
        runtime.gpu(agent)?;
        to.set(0)
    }

    /// Says how memory is kept coherent. It always is.
    fn hsa_amd_coherency_set_type(agent: Agent, kind: u32) -> Status {
        let runtime = runtime()?;
        runtime.gpu(agent)?;
        if kind > 1 { Err(Status::ERROR_INVALID_ARGUMENT) } else { Ok(()) }
    }
}
