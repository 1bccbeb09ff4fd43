//! AMD's functions for queues.

use crate::abi::*;
use crate::runtime::{queue, runtime};
use std::sync::{Arc, PoisonError};
use wavemill_runtime::processor::{Queue, all_units};

fn of(address: u64) -> Result<Arc<Queue>> {
    let runtime = runtime()?;
    // Unlike HSA's own functions, AMD's take a null pointer for any wrong queue.
    let at = queue(address).map_err(|_| Status::ERROR_INVALID_QUEUE)?;
    runtime.system.queue(at).ok_or(Status::ERROR_INVALID_QUEUE)
}

api! {
    /// Says on which compute units a queue's work-groups may run. Which one it is makes no difference here, but their
    /// number bounds how many work-groups are under way.
    fn hsa_amd_queue_cu_set_mask(address: u64, count: u32, mask: In<u32>) -> Status {
        let queue = of(address)?;
        let units = queue.gpu().device.profile().compute_units;
        if !count.is_multiple_of(32) {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        if count == 0 {
            queue.set_mask(all_units(units));
            return Ok(());
        }
        let words = mask.list((count / 32) as usize)?;
        let bits = |word: u32, i: usize| {
            let valid = units.saturating_sub(i as u32 * 32).min(32);
            if valid == 32 { word } else { word & ((1 << valid) - 1) }
        };
        let kept: Vec<u32> = words.iter().enumerate().map(|(i, &w)| bits(w, i)).collect();
        if kept.iter().all(|&w| w == 0) {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        let reduced = kept != words;
        queue.set_mask(kept);
        if reduced { Err(Status::CU_MASK_REDUCED) } else { Ok(()) }
    }

    /// The compute units of a queue.
    fn hsa_amd_queue_cu_get_mask(address: u64, count: u32, mask: Out<u32>) -> Status {
        let queue = of(address)?;
        if count == 0 || !count.is_multiple_of(32) {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        let mask = mask.check()?;
        let words = queue.mask();
        (0..(count / 32) as usize).try_for_each(|i| mask.set_at(i, words.get(i).copied().unwrap_or(0)))
    }

    /// Sets a queue's priority: host threads that are free help the queues with the highest one first.
    fn hsa_amd_queue_set_priority(address: u64, priority: u32) -> Status {
        let queue = of(address)?;
        if priority > 2 {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        queue.set_priority(priority);
        Ok(())
    }

    /// A fact about a queue: its GPU, its doorbell's number, how often it is shared, which queue of the hardware it is.
    fn hsa_amd_queue_get_info(address: u64, attribute: u32, value: Any) -> Status {
        let queue = of(address)?;
        let value = value.check()?;
        let number = queue.at().id();
        match attribute {
            0 => value.set(crate::agent::of(queue.gpu().index + 1)),
            1 => value.set(number),
            2 => {
                let counted = runtime()?.counted.lock().unwrap_or_else(PoisonError::into_inner).contains(&address);
                value.set(if counted { 1 } else { u32::MAX })
            }
            3 => value.set(number as u32),
            _ => Err(Status::ERROR_INVALID_ARGUMENT),
        }
    }

    /// Limits the scratch that queues of a GPU keep. Only GPUs that can take it back while queues run have such a limit,
    /// gfx942 and later.
    fn hsa_amd_agent_set_async_scratch_limit(agent: Agent, threshold: usize) -> Status {
        let runtime = runtime()?;
        runtime.gpu(agent)?;
        let _ = threshold;
        Err(Status::ERROR_INVALID_ARGUMENT)
    }

    /// Gets a GPU ready beforehand for what would otherwise be got ready when it is first used (clocks, copies): nothing is slow
    /// the first time here.
    fn hsa_amd_agent_preload(agent: Agent, flags: u64) -> Status {
        let _ = flags;
        runtime()?.gpu(agent).map(drop)
    }

    /// Logs what the runtime enqueues by itself. It enqueues nothing: copies and fills are the host's.
    fn hsa_amd_enable_logging(flags: In<[u8; 8]>, file: u64) -> Status {
        runtime()?;
        let _ = (flags.get()?, file);
        Ok(())
    }

    /// Performance counters as a stream: GPUs here have none.
    fn hsa_amd_spm_acquire(agent: Agent) -> Status {
        runtime()?.gpu(agent)?;
        Err(Status::ERROR_NOT_SUPPORTED)
    }

    /// Nobody has them.
    fn hsa_amd_spm_release(agent: Agent) -> Status {
        runtime()?.gpu(agent)?;
        Err(Status::ERROR_NOT_SUPPORTED)
    }

    /// Nothing can be written anywhere.
    fn hsa_amd_spm_set_dest_buffer(
        agent: Agent,
        size: usize,
        timeout: Out<u32>,
        copied: Out<u32>,
        to: u64,
        lost: Out<bool>,
    ) -> Status {
        runtime()?.gpu(agent)?;
        let _ = (size, timeout, copied, to, lost);
        Err(Status::ERROR_NOT_SUPPORTED)
    }
}
