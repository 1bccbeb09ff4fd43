//! Events of the system: memory faults.

use crate::abi::*;
use crate::agent;
use crate::runtime::runtime;
use std::sync::PoisonError;
use wavemill_device::schedule::Cause;
use wavemill_runtime::packet::QueueError;
use wavemill_runtime::queue::QueueRef;
use wavemill_wave::FaultKind;

/// `HSA_AMD_MEMORY_FAULT_*`.
mod reason {
    pub const NOT_PRESENT: u32 = 1;
    pub const READ_ONLY: u32 = 2;
    pub const NO_EXECUTE: u32 = 4;
}

/// Tells the program about a memory fault; true when somebody has dealt with it.
pub fn memory_fault(at: QueueRef, error: &QueueError) -> bool {
    let QueueError::Fault(report) = error else { return false };
    let Cause::Fault(fault) = &report.stop.cause else { return false };
    let reasons = match fault.kind {
        FaultKind::Read { .. } | FaultKind::Write { .. } | FaultKind::Gone => reason::NOT_PRESENT,
        FaultKind::ReadOnly { .. } => reason::READ_ONLY,
        FaultKind::Fetch => reason::NO_EXECUTE,
        _ => return false,
    };
    let Ok(runtime) = runtime() else { return false };
    let gpu = runtime.system.queue(at).map_or(0, |q| q.gpu().index);
    let event = Event { kind: 0, agent: agent::of(gpu + 1), address: fault.address, reasons };
    let told = *runtime.event.lock().unwrap_or_else(PoisonError::into_inner);
    told.is_some_and(|(handler, data)| handler(&raw const event, data) == Status::SUCCESS)
}

api! {
    /// Has a function called on events. There is one at most.
    fn hsa_amd_register_system_event_handler(handler: Option<Handler>, data: Data) -> Status {
        let runtime = runtime()?;
        let handler = handler.ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        let mut told = runtime.event.lock().unwrap_or_else(PoisonError::into_inner);
        if told.is_some() {
            return Err(Status::ERROR);
        }
        *told = Some((handler, data));
        Ok(())
    }
}
