//! Shared virtual memory.

use crate::abi::*;
use crate::agent;
use crate::amd::copy::{dependencies, when};
use crate::runtime::{Runtime, runtime, signal, signal_or_none};
use std::sync::PoisonError;
use wavemill_runtime::heap::Gpus;
use wavemill_runtime::signal::{Condition, Wanted};
use wavemill_runtime::svm::Attributes;

/// `hsa_amd_svm_attribute_pair_t`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Pair {
    attribute: u64,
    value: u64,
}

/// `HSA_AMD_SVM_ATTRIB_*`.
mod attribute {
    pub const GLOBAL_FLAG: u64 = 0;
    pub const PREFERRED_LOCATION: u64 = 4;
    pub const PREFETCH_LOCATION: u64 = 5;
    pub const READ_MOSTLY: u64 = 6;
    pub const ACCESSIBLE: u64 = 0x200;
    pub const IN_PLACE: u64 = 0x201;
    pub const NO_ACCESS: u64 = 0x202;
    pub const ACCESS_QUERY: u64 = 0x203;
}

/// `HSA_AMD_SVM_GLOBAL_FLAG_INDETERMINATE`.
const INDETERMINATE: u64 = 2;

/// The pages that a range takes part of.
fn pages(address: u64, size: usize) -> Result<(u64, u64)> {
    if address == 0 || size == 0 {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let end = address.checked_add(size as u64).ok_or(Status::ERROR_INVALID_ARGUMENT)?;
    Ok((address & !0xfff, end.next_multiple_of(0x1000)))
}

/// A GPU that an attribute names; the host needs no access.
fn one(runtime: &Runtime, handle: u64) -> Result<Gpus> {
    let index = runtime.agent(Agent(handle))?;
    Ok(index.checked_sub(1).map_or(Gpus::default(), Gpus::one))
}

/// One value for all parts, if they agree.
fn uniform(parts: &[Attributes], number: usize) -> Option<u64> {
    let first = parts.first()?.values[number];
    parts.iter().all(|p| p.values[number] == first).then_some(first.unwrap_or(0))
}

api! {
    /// Sets attributes of memory.
    fn hsa_amd_svm_attributes_set(address: u64, size: usize, list: In<Pair>, count: usize) -> Status {
        let runtime = runtime()?;
        let (start, end) = pages(address, size)?;
        let pairs = list.list(count)?;
        for pair in &pairs {
            match pair.attribute {
                attribute::GLOBAL_FLAG if pair.value > 1 => return Err(Status::ERROR_INVALID_ARGUMENT),
                attribute::PREFERRED_LOCATION if pair.value != 0 => drop(runtime.agent(Agent(pair.value))?),
                attribute::PREFETCH_LOCATION => return Err(Status::ERROR_INVALID_ARGUMENT),
                attribute::GLOBAL_FLAG..=attribute::READ_MOSTLY => {}
                attribute::ACCESSIBLE..=attribute::NO_ACCESS => drop(one(&runtime, pair.value)?),
                _ => return Err(Status::ERROR_INVALID_ARGUMENT),
            }
        }
        let change = |a: &mut Attributes| {
            for pair in &pairs {
                let gpu = one(&runtime, pair.value).unwrap_or_default();
                match pair.attribute {
                    attribute::ACCESSIBLE | attribute::IN_PLACE => {
                        a.accessible = a.accessible.with(gpu);
                        let in_place = pair.attribute == attribute::IN_PLACE;
                        a.in_place.0 = a.in_place.0 & !gpu.0 | if in_place { gpu.0 } else { 0 };
                    }
                    attribute::NO_ACCESS => {
                        a.accessible.0 &= !gpu.0;
                        a.in_place.0 &= !gpu.0;
                    }
                    number => a.values[number as usize & 7] = Some(pair.value),
                }
            }
        };
        let mut svm = runtime.svm.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the program promises to keep the memory as long as GPUs access it.
        let done = unsafe { svm.set(runtime.system.gpus(), start, end, change) };
        done.map_err(|_| Status::ERROR_OUT_OF_RESOURCES)
    }

    /// Tells attributes of memory.
    fn hsa_amd_svm_attributes_get(address: u64, size: usize, list: Out<Pair>, count: usize) -> Status {
        let runtime = runtime()?;
        let (start, end) = pages(address, size)?;
        // The driver: memory of pools has no such attributes (`svm_range_check_vm`, EADDRINUSE).
        if runtime.system.heap.overlaps(start, end) {
            return Err(Status::ERROR);
        }
        let svm = runtime.svm.lock().unwrap_or_else(PoisonError::into_inner);
        let parts = svm.get(start, end);
        drop(svm);
        for i in 0..count {
            let pair = Out::of(list.check()?.address() + (i * size_of::<Pair>()) as u64);
            let Pair { attribute, value } = pair.get()?;
            let answer = match attribute {
                attribute::GLOBAL_FLAG => {
                    Pair { attribute, value: uniform(&parts, 0).unwrap_or(INDETERMINATE) }
                }
                1..=attribute::READ_MOSTLY => {
                    Pair { attribute, value: uniform(&parts, attribute as usize).unwrap_or(0) }
                }
                attribute::ACCESS_QUERY => {
                    let gpu = one(&runtime, value)?;
                    let all = |f: fn(&Attributes) -> Gpus| parts.iter().all(|p| f(p).0 & gpu.0 == gpu.0);
                    let access = match () {
                        // The host always may.
                        _ if gpu == Gpus::default() || all(|p| p.in_place) => attribute::IN_PLACE,
                        _ if all(|p| p.accessible) => attribute::ACCESSIBLE,
                        _ => attribute::NO_ACCESS,
                    };
                    Pair { attribute: access, value }
                }
                _ => return Err(Status::ERROR_INVALID_ARGUMENT),
            };
            pair.set(answer)?;
        }
        Ok(())
    }

    /// Moves memory near an agent when signals are 0. It is near to all; only the wish is noted.
    fn hsa_amd_svm_prefetch_async(
        address: u64,
        size: usize,
        agent: Agent,
        count: u32,
        signals: In<SignalHandle>,
        completion: SignalHandle,
    ) -> Status {
        let runtime = runtime()?;
        let (start, end) = pages(address, size)?;
        let index = runtime.agent(agent)?;
        let wanted = signals.list(count as usize)?.into_iter().map(signal).collect::<Result<Vec<_>>>()?;
        let completion = signal_or_none(completion)?;
        let note = |a: &mut Attributes| a.values[attribute::PREFETCH_LOCATION as usize] = Some(agent::of(index).0);
        let mut svm = runtime.svm.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: access does not change.
        let done = unsafe { svm.set(runtime.system.gpus(), start, end, note) };
        done.map_err(|_| Status::ERROR_OUT_OF_RESOURCES)?;
        drop(svm);
        let Some(completion) = completion else { return Ok(()) };
        let wanted: Vec<Wanted> =
            wanted.into_iter().map(|signal| Wanted { signal, condition: Condition::Eq, compare: 0 }).collect();
        when(&runtime, wanted, completion, 0, || true)
    }

    /// Gives the pages of some ranges back when signals are 0: what was in them is lost. Here the program that owns them may keep
    /// them, as the header leaves to the system. Only GPUs with XNACK can go on without pages.
    fn hsa_amd_svm_discard_batch_async(
        addresses: In<u64>,
        sizes: In<usize>,
        ranges: u32,
        count: u32,
        signals: In<SignalHandle>,
        completion: SignalHandle,
    ) -> Status {
        let runtime = runtime()?;
        if ranges == 0 {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        let (addresses, sizes) = (addresses.list(ranges as usize)?, sizes.list(ranges as usize)?);
        addresses.into_iter().zip(sizes).try_for_each(|(at, size)| pages(at, size).map(drop))?;
        let wanted = dependencies(count, signals)?;
        let completion = signal_or_none(completion)?;
        if !runtime.system.gpus().iter().any(|g| g.device.target().xnack == Some(true)) {
            return Err(Status::ERROR_XNACK_DISABLED);
        }
        match completion {
            Some(completion) => when(&runtime, wanted, completion, 0, || true),
            None => Ok(()),
        }
    }
}
