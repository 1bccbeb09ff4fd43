//! AMD's functions for queues.

use crate::abi::*;
use crate::runtime::{queue, runtime};
use std::sync::Arc;
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
}
