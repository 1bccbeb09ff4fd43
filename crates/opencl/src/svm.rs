//! Shared virtual memory: allocations that host and kernels know by the same address.

use crate::abi::*;
use crate::context::Context;
use crate::device::BASE_ALIGN;
use crate::flags;
use crate::handle::{self, Handle};
use crate::platform::system;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};
use wavemill_device::Use;
use wavemill_runtime::heap::Origin;

/// Allocations: first address and size.
static ALL: Mutex<BTreeMap<u64, u64>> = Mutex::new(BTreeMap::new());

fn all() -> MutexGuard<'static, BTreeMap<u64, u64>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes of such memory from an address on; none if it does not lie in it.
fn left(address: u64) -> Option<u64> {
    let all = all();
    let (start, len) = all.range(..=address).next_back()?;
    len.checked_sub(address - start).filter(|left| *left > 0)
}

/// Whether an address lies in such memory.
pub fn holds(address: u64) -> bool {
    left(address).is_some()
}

/// Refuses bytes that begin in such memory and end behind it. What does not begin there is the program's own.
pub fn check(address: u64, len: u64) -> Result {
    if left(address).is_some_and(|left| left < len) { Err(Code::INVALID_VALUE) } else { Ok(()) }
}

const FINE_GRAIN: u64 = 1 << 10;
const ATOMICS: u64 = 1 << 11;

fn allocate(context: Handle<Context>, given: u64, size: usize, align: u32) -> Result<u64> {
    let context = handle::get(context)?;
    let known = flags::DEVICE | FINE_GRAIN | ATOMICS;
    let atomics_alone = given & ATOMICS != 0 && given & FINE_GRAIN == 0;
    if given & !known != 0 || (given & flags::DEVICE).count_ones() > 1 || atomics_alone {
        return Err(Code::INVALID_VALUE);
    }
    let size = size as u64;
    let align_fits = align == 0 || align.is_power_of_two() && u64::from(align) <= BASE_ALIGN;
    if size == 0 || context.devices.iter().any(|d| size > d.memory().1) || !align_fits {
        return Err(Code::INVALID_VALUE);
    }
    let made = system()?.heap.allocate(size, Origin::Pool(0, 0), Use::Device, context.gpus());
    let made = made.map_err(|_| Code::OUT_OF_RESOURCES)?;
    all().insert(made, size);
    Ok(made)
}

/// Frees such memory; what is none is left alone.
pub fn free(address: u64) {
    if all().remove(&address).is_some()
        && let Ok(system) = system()
    {
        system.heap.free(address);
    }
}

api! {
    /// Memory that host and kernels share; null where there is none.
    fn clSVMAlloc(context: Handle<Context>, given: u64, size: usize, align: u32) -> *mut c_void {
        make(Out::NULL, || allocate(context, given, size, align).map(|a| a as *mut c_void))
    }

    /// Frees such memory.
    fn clSVMFree(context: Handle<Context>, pointer: Bytes) {
        enter(|| {
            handle::get(context)?;
            free(pointer.address());
            Ok(())
        });
    }
}
