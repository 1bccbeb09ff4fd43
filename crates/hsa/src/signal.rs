//! Signals.

use crate::abi::*;
use crate::runtime::{runtime, signal};
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;
use wavemill_runtime::queue::QueueRef;
use wavemill_runtime::signal::{Condition, Kind, Signal};

/// `hsa_signal_condition_t`.
pub fn condition(code: u32) -> Result<Condition> {
    Ok(match code {
        0 => Condition::Eq,
        1 => Condition::Ne,
        2 => Condition::Lt,
        3 => Condition::Gte,
        _ => return Err(Status::ERROR_INVALID_ARGUMENT),
    })
}

/// A timeout in the system's clock, which counts nanoseconds; the largest is none.
pub fn timeout(hint: u64) -> Option<Duration> {
    (hint != u64::MAX).then(|| Duration::from_nanos(hint))
}

/// Stores a value: a doorbell is rung, a user signal's value changes. Other operations on doorbells do nothing (ROCm
/// code object format, "Signal kernel machine code"), and so does any on what is no signal.
fn store(handle: SignalHandle, value: i64, silent: bool) {
    let Some(signal) = Signal::from_handle(handle.0) else { return };
    match signal.kind() {
        Some(Kind::User) => {
            signal.update("store", |v| v.swap(value, SeqCst));
            if !silent {
                signal.changed_by_host();
            }
        }
        Some(kind) => {
            if let Some(queue) = QueueRef::from_address(signal.queue()) {
                queue.ring_doorbell(value as u64, kind);
            }
        }
        None => {}
    }
}

fn update(
    handle: SignalHandle,
    operation: &'static str,
    change: impl FnOnce(&std::sync::atomic::AtomicI64) -> i64,
) -> i64 {
    let Some(signal) = Signal::from_handle(handle.0).filter(|s| s.kind() == Some(Kind::User)) else {
        return 0;
    };
    let old = signal.update(operation, change);
    signal.changed_by_host();
    old
}

fn load(handle: SignalHandle) -> i64 {
    match Signal::from_handle(handle.0) {
        Some(signal) if signal.kind() == Some(Kind::User) => signal.load(),
        _ => 0,
    }
}

fn wait(handle: SignalHandle, code: u32, compare: i64, hint: u64, state: u32) -> i64 {
    let Some(signal) = Signal::from_handle(handle.0).filter(|s| s.kind() == Some(Kind::User)) else {
        return 0;
    };
    let Ok(condition) = condition(code) else { return load(handle) };
    signal.wait(condition, compare, timeout(hint), state == 1)
}

in_all_orders! { hsa_signal_load_relaxed hsa_signal_load_scacquire hsa_signal_load_acquire =>
    /// The value.
    (handle: SignalHandle) -> i64 { load(handle) }
}
in_all_orders! { hsa_signal_store_relaxed hsa_signal_store_screlease hsa_signal_store_release =>
    /// Stores a value and wakes whoever waits for it.
    (handle: SignalHandle, value: i64) { store(handle, value, false) }
}
in_all_orders! { hsa_signal_silent_store_relaxed hsa_signal_silent_store_screlease =>
    /// Stores a value and wakes nobody.
    (handle: SignalHandle, value: i64) { store(handle, value, true) }
}
in_all_orders! { hsa_signal_exchange_relaxed hsa_signal_exchange_scacquire hsa_signal_exchange_acquire
    hsa_signal_exchange_screlease hsa_signal_exchange_release hsa_signal_exchange_scacq_screl
    hsa_signal_exchange_acq_rel =>
    /// Stores a value and returns the old one.
    (handle: SignalHandle, value: i64) -> i64 { update(handle, "exchange", |v| v.swap(value, SeqCst)) }
}
in_all_orders! { hsa_signal_cas_relaxed hsa_signal_cas_scacquire hsa_signal_cas_acquire hsa_signal_cas_screlease
    hsa_signal_cas_release hsa_signal_cas_scacq_screl hsa_signal_cas_acq_rel =>
    /// Stores a value if the old one is as expected; returns the old one.
    (handle: SignalHandle, expected: i64, value: i64) -> i64 {
        update(handle, "cas", |v| v.compare_exchange(expected, value, SeqCst, SeqCst).unwrap_or_else(|old| old))
    }
}
in_all_orders! { hsa_signal_add_relaxed hsa_signal_add_scacquire hsa_signal_add_acquire hsa_signal_add_screlease
    hsa_signal_add_release hsa_signal_add_scacq_screl hsa_signal_add_acq_rel =>
    /// Adds to the value.
    (handle: SignalHandle, value: i64) { update(handle, "add", |v| v.fetch_add(value, SeqCst)); }
}
in_all_orders! { hsa_signal_subtract_relaxed hsa_signal_subtract_scacquire hsa_signal_subtract_acquire
    hsa_signal_subtract_screlease hsa_signal_subtract_release hsa_signal_subtract_scacq_screl
    hsa_signal_subtract_acq_rel =>
    /// Subtracts from the value.
    (handle: SignalHandle, value: i64) { update(handle, "subtract", |v| v.fetch_sub(value, SeqCst)); }
}
in_all_orders! { hsa_signal_and_relaxed hsa_signal_and_scacquire hsa_signal_and_acquire hsa_signal_and_screlease
    hsa_signal_and_release hsa_signal_and_scacq_screl hsa_signal_and_acq_rel =>
    /// Keeps the bits of the value that are in another.
    (handle: SignalHandle, value: i64) { update(handle, "and", |v| v.fetch_and(value, SeqCst)); }
}
in_all_orders! { hsa_signal_or_relaxed hsa_signal_or_scacquire hsa_signal_or_acquire hsa_signal_or_screlease
    hsa_signal_or_release hsa_signal_or_scacq_screl hsa_signal_or_acq_rel =>
    /// Sets bits of the value.
    (handle: SignalHandle, value: i64) { update(handle, "or", |v| v.fetch_or(value, SeqCst)); }
}
in_all_orders! { hsa_signal_xor_relaxed hsa_signal_xor_scacquire hsa_signal_xor_acquire hsa_signal_xor_screlease
    hsa_signal_xor_release hsa_signal_xor_scacq_screl hsa_signal_xor_acq_rel =>
    /// Inverts bits of the value.
    (handle: SignalHandle, value: i64) { update(handle, "xor", |v| v.fetch_xor(value, SeqCst)); }
}
in_all_orders! { hsa_signal_wait_relaxed hsa_signal_wait_scacquire hsa_signal_wait_acquire =>
    /// Waits until the value meets a condition or time is over; returns the value.
    (handle: SignalHandle, code: u32, compare: i64, hint: u64, state: u32) -> i64 {
        wait(handle, code, compare, hint, state)
    }
}

/// Makes a signal.
pub fn create(value: i64, consumers: &[Agent], shared: bool, to: Out<SignalHandle>) -> Result {
    let runtime = runtime()?;
    let to = to.check()?;
    for (i, &agent) in consumers.iter().enumerate() {
        runtime.agent(agent)?;
        if consumers[..i].contains(&agent) {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
    }
    let system = &runtime.system;
    let signal = if shared { system.shared_signal(value) } else { system.signal(value) };
    let signal = signal.ok_or(Status::ERROR_OUT_OF_RESOURCES)?;
    to.set(SignalHandle(signal.handle()))
}

api! {
    /// Makes a signal.
    fn hsa_signal_create(value: i64, count: u32, consumers: In<Agent>, to: Out<SignalHandle>) -> Status {
        runtime()?;
        to.check()?;
        create(value, &consumers.list(count as usize)?, false, to)
    }

    /// Destroys a signal.
    fn hsa_signal_destroy(handle: SignalHandle) -> Status {
        runtime()?;
        if handle.0 == 0 {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        let signal = signal(handle)?;
        // A doorbell belongs to its queue.
        if signal.kind() != Some(Kind::User) {
            return Err(Status::ERROR_INVALID_SIGNAL);
        }
        if signal.destroy() { Ok(()) } else { Err(Status::ERROR_INVALID_SIGNAL) }
    }
}
