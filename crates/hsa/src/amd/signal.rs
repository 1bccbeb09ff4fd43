//! AMD's functions for signals: functions that are called when one changes, waiting for several.

use crate::abi::*;
use crate::runtime::{runtime, signal};
use crate::signal::{condition, create, timeout};
use std::sync::Arc;
use std::time::Instant;
use wavemill_runtime::signal::{Signal, Wanted, wait_any};

/// `HSA_AMD_SIGNAL_AMD_GPU_ONLY`: a promise that the host does not wait, which needs no thanks.
const GPU_ONLY: u64 = 1;
/// `HSA_AMD_SIGNAL_IPC`: other processes may attach to it.
const IPC: u64 = 2;

type Handler = Option<extern "C" fn(i64, Data) -> bool>;
type Function = Option<extern "C" fn(Data)>;

/// Values of signals, conditions and values to compare with.
fn wanted(
    count: u32,
    signals: In<SignalHandle>,
    conditions: In<u32>,
    values: In<i64>,
) -> Result<Vec<Wanted>> {
    let n = count as usize;
    let lists = signals.list(n)?.into_iter().zip(conditions.list(n)?).zip(values.list(n)?);
    lists
        .map(|((s, c), compare)| Ok(Wanted { signal: signal(s)?, condition: condition(c)?, compare }))
        .collect()
}

/// The members of a group.
fn group(handle: SignalGroup) -> Result<Arc<Vec<Signal>>> {
    runtime()?.groups.get(handle.0).ok_or(Status::ERROR_INVALID_SIGNAL_GROUP)
}

fn wait_group(
    handle: SignalGroup,
    conditions: In<u32>,
    values: In<i64>,
    to: Out<SignalHandle>,
    value: Out<i64>,
) -> Result {
    let members = group(handle)?;
    let (to, value) = (to.check()?, value.check()?);
    let lists = conditions.list(members.len())?.into_iter().zip(values.list(members.len())?);
    let wanted: Result<Vec<Wanted>> = members
        .iter()
        .zip(lists)
        .map(|(&signal, (c, compare))| Ok(Wanted { signal, condition: condition(c)?, compare }))
        .collect();
    let (index, seen) = wait_any(&wanted?, None, None).ok_or(Status::ERROR)?;
    to.set(SignalHandle(members[index].handle()))?;
    value.set(seen)
}

api! {
    /// Makes a signal.
    fn hsa_amd_signal_create(
        value: i64,
        count: u32,
        consumers: In<Agent>,
        attributes: u64,
        to: Out<SignalHandle>,
    ) -> Status {
        runtime()?;
        to.check()?;
        if attributes & !(GPU_ONLY | IPC) != 0 {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        create(value, &consumers.list(count as usize)?, attributes & IPC != 0, to)
    }

    /// Where a signal's value is.
    fn hsa_amd_signal_value_pointer(handle: SignalHandle, to: Out<*const i64>) -> Status {
        runtime()?;
        let to = to.check()?;
        let signal = signal(handle)?;
        if signal.kind() != Some(wavemill_runtime::signal::Kind::User) {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        to.set(signal.value().as_ptr().cast_const())
    }

    /// The number of the event that device code raises when it has changed a signal, as `amd_signal_t` has it; 0 without one.
    fn hsa_amd_signal_get_event_id(handle: SignalHandle, to: Out<u32>) -> Status {
        runtime()?;
        let to = to.check()?;
        to.set(signal(handle)?.event())
    }

    /// Has a function called when a signal meets a condition; again if the function wants so.
    fn hsa_amd_signal_async_handler(
        handle: SignalHandle,
        code: u32,
        compare: i64,
        handler: Handler,
        data: Data,
    ) -> Status {
        let runtime = runtime()?;
        let handler = handler.ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        let wanted = Wanted { signal: signal(handle)?, condition: condition(code)?, compare };
        let action = Box::new(move |value| handler(value, data));
        let done = runtime.system.handlers.when(vec![wanted], action);
        if done { Ok(()) } else { Err(Status::ERROR_OUT_OF_RESOURCES) }
    }

    /// Has a function called by another thread.
    fn hsa_amd_async_function(function: Function, data: Data) -> Status {
        let runtime = runtime()?;
        let function = function.ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        let action = Box::new(move |_| {
            function(data);
            false
        });
        if runtime.system.handlers.when(Vec::new(), action) { Ok(()) } else { Err(Status::ERROR_OUT_OF_RESOURCES) }
    }

    /// Waits for one of several signals; returns its number, or the largest one when time is over.
    fn hsa_amd_signal_wait_any(
        count: u32,
        signals: In<SignalHandle>,
        conditions: In<u32>,
        values: In<i64>,
        hint: u64,
        state: u32,
        value: Out<i64>,
    ) -> u32 {
        let _ = state;
        let Ok(wanted) = wanted(count, signals, conditions, values) else { return u32::MAX };
        match wait_any(&wanted, timeout(hint), None) {
            Some((index, seen)) => {
                if !value.is_null() {
                    let _ = value.set(seen);
                }
                index as u32
            }
            None => u32::MAX,
        }
    }

    /// Waits until all of several signals have met their conditions: 0, or the largest number when time is over. Signals
    /// that are none count as met, with the value 0.
    fn hsa_amd_signal_wait_all(
        count: u32,
        signals: In<SignalHandle>,
        conditions: In<u32>,
        values: In<i64>,
        hint: u64,
        state: u32,
        met: Out<i64>,
    ) -> u32 {
        let _ = state;
        let n = count as usize;
        let lists = (signals.list(n), conditions.list(n), values.list(n));
        let (Ok(signals), Ok(conditions), Ok(values)) = lists else { return u32::MAX };
        let until = timeout(hint).and_then(|t| Instant::now().checked_add(t));
        for (i, ((handle, code), compare)) in signals.into_iter().zip(conditions).zip(values).enumerate() {
            let seen = match signal(handle) {
                Err(_) => 0,
                Ok(signal) => {
                    let Ok(condition) = condition(code) else { return u32::MAX };
                    let left = until.map(|u| u.saturating_duration_since(Instant::now()));
                    match wait_any(&[Wanted { signal, condition, compare }], left, None) {
                        Some((_, seen)) => seen,
                        None => return u32::MAX,
                    }
                }
            };
            if !met.is_null() {
                let _ = met.set_at(i, seen);
            }
        }
        0
    }

    /// Makes a group of signals.
    fn hsa_signal_group_create(
        count: u32,
        signals: In<SignalHandle>,
        consumer_count: u32,
        consumers: In<Agent>,
        to: Out<SignalGroup>,
    ) -> Status {
        let runtime = runtime()?;
        let to = to.check()?;
        if count == 0 || (consumer_count != 0) == consumers.is_null() {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        let members = signals.list(count as usize)?.into_iter().map(signal).collect::<Result<Vec<_>>>()?;
        runtime.gpus(&consumers.list(consumer_count as usize)?)?;
        to.set(SignalGroup(runtime.groups.insert(Arc::new(members))))
    }

    /// Destroys a group; its signals stay.
    fn hsa_signal_group_destroy(handle: SignalGroup) -> Status {
        runtime()?.groups.remove(handle.0).map(drop).ok_or(Status::ERROR_INVALID_SIGNAL_GROUP)
    }

    /// Waits for one of a group's signals.
    fn hsa_signal_group_wait_any_scacquire(
        handle: SignalGroup,
        conditions: In<u32>,
        values: In<i64>,
        state: u32,
        to: Out<SignalHandle>,
        value: Out<i64>,
    ) -> Status {
        let _ = state;
        wait_group(handle, conditions, values, to, value)
    }

    /// Waits for one of a group's signals.
    fn hsa_signal_group_wait_any_relaxed(
        handle: SignalGroup,
        conditions: In<u32>,
        values: In<i64>,
        state: u32,
        to: Out<SignalHandle>,
        value: Out<i64>,
    ) -> Status {
        let _ = state;
        wait_group(handle, conditions, values, to, value)
    }
}
