//! Queues.

use crate::abi::*;

use crate::runtime::{Runtime, queue, runtime, signal};
use std::ffi::c_void;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, PoisonError};
use wavemill_device::dispatch::DispatchErrorKind;
use wavemill_device::fault::Report;
use wavemill_device::schedule::Cause;
use wavemill_device::terminal;
use wavemill_runtime::packet::QueueError;
use wavemill_runtime::processor::QueueRequest;
use wavemill_runtime::queue::{MAX_SIZE, QueueRef};
use wavemill_runtime::turns;
use wavemill_wave::FaultKind;

/// The status that tells a program about a fault.
fn fault_status(report: &Report) -> Status {
    match &report.stop.cause {
        Cause::Fault(f) => match f.kind {
            FaultKind::Read { .. } | FaultKind::Write { .. } | FaultKind::ReadOnly { .. } => {
                Status::ERROR_MEMORY_FAULT
            }
            FaultKind::Fetch | FaultKind::Gone => Status::ERROR_MEMORY_FAULT,
            FaultKind::Misaligned { .. } | FaultKind::Lds { .. } => Status::ERROR_MEMORY_APERTURE_VIOLATION,
            FaultKind::Illegal { .. } | FaultKind::Unsupported { .. } => Status::ERROR_ILLEGAL_INSTRUCTION,
            FaultKind::Descriptor { .. } => Status::ERROR_MEMORY_FAULT,
        },
        Cause::Trap(_) | Cause::Debugtrap(_) | Cause::Exception(_) | Cause::Halt => Status::ERROR_EXCEPTION,
        _ => Status::ERROR,
    }
}

/// The status that tells a program why its queue has stopped.
pub fn error_status(error: &QueueError) -> Status {
    match error {
        QueueError::Packet(_) => Status::ERROR_INVALID_PACKET_FORMAT,
        QueueError::Dispatch(e) => match e.kind {
            DispatchErrorKind::Code => Status::ERROR_INVALID_CODE_OBJECT,
            DispatchErrorKind::Dimensions => Status::ERROR_INCOMPATIBLE_ARGUMENTS,
            DispatchErrorKind::WorkGroup => Status::ERROR_INVALID_ARGUMENT,
            DispatchErrorKind::Memory => Status::ERROR_INVALID_ALLOCATION,
            DispatchErrorKind::Processor => Status::ERROR_INVALID_ISA,
        },
        QueueError::Fault(report) => fault_status(report),
    }
}

/// The program's function for errors.
type ErrorCallback = Option<extern "C" fn(Status, *mut c_void, Data)>;

/// Tells the program that a queue has stopped. Without anybody to tell, the process ends, as it does with a GPU: the
/// program would wait forever.
fn report(at: QueueRef, error: &QueueError, callback: ErrorCallback, data: Data) {
    match error {
        QueueError::Packet(text) => terminal::message(text),
        QueueError::Dispatch(e) => terminal::message(e),
        QueueError::Fault(report) => terminal::report(&report.to_string()),
    }
    let told = crate::amd::event::memory_fault(at, error);
    match callback {
        Some(callback) => callback(error_status(error), at.address() as *mut c_void, data),
        None if told => {}
        None => {
            eprintln!("wavemill: the queue has no error callback and no event handler is registered: abort");
            std::process::abort();
        }
    }
}

/// Packets of a counted queue, as HIP asks for in its own.
const COUNTED_SIZE: u32 = 16384;

/// Makes a queue of a GPU; tells where it is.
fn create(
    runtime: &Runtime,
    agent: Agent,
    size: u32,
    kind: u32,
    callback: ErrorCallback,
    data: Data,
) -> Result<u64> {
    let gpu = runtime.gpu(agent)?;
    let on_error = Box::new(move |at: QueueRef, error: &QueueError| report(at, error, callback, data));
    let request = QueueRequest { size, kind, on_error, observers: Default::default() };
    let at = runtime.system.create_queue(gpu, request).map_err(|_| Status::ERROR_OUT_OF_RESOURCES)?;
    Ok(at.address())
}

fn index_of(address: u64) -> Option<QueueRef> {
    QueueRef::from_address(address)
}

in_all_orders! { hsa_queue_load_read_index_relaxed hsa_queue_load_read_index_scacquire hsa_queue_load_read_index_acquire =>
    /// Index of the first packet that has not been processed.
    (at: u64) -> u64 { turns::pump(); index_of(at).map_or(0, |q| q.read_index().load(SeqCst)) }
}
in_all_orders! { hsa_queue_load_write_index_relaxed hsa_queue_load_write_index_scacquire
    hsa_queue_load_write_index_acquire =>
    /// Index of the next packet that a producer will take.
    (at: u64) -> u64 { index_of(at).map_or(0, |q| q.write_index().load(SeqCst)) }
}
in_all_orders! { hsa_queue_store_write_index_relaxed hsa_queue_store_write_index_screlease
    hsa_queue_store_write_index_release =>
    /// Sets the index of the next packet.
    (at: u64, value: u64) { if let Some(q) = index_of(at) { q.write_index().store(value, SeqCst) } }
}
in_all_orders! { hsa_queue_store_read_index_relaxed hsa_queue_store_read_index_screlease
    hsa_queue_store_read_index_release =>
    /// Says how far packets were processed, for queues that the program processes itself.
    (at: u64, value: u64) { if let Some(q) = index_of(at) { q.read_index().store(value, SeqCst) } }
}
in_all_orders! { hsa_queue_add_write_index_relaxed hsa_queue_add_write_index_scacquire hsa_queue_add_write_index_acquire
    hsa_queue_add_write_index_screlease hsa_queue_add_write_index_release hsa_queue_add_write_index_scacq_screl
    hsa_queue_add_write_index_acq_rel =>
    /// Takes packets; returns the index of the first.
    (at: u64, value: u64) -> u64 { index_of(at).map_or(0, |q| q.write_index().fetch_add(value, SeqCst)) }
}
in_all_orders! { hsa_queue_cas_write_index_relaxed hsa_queue_cas_write_index_scacquire hsa_queue_cas_write_index_acquire
    hsa_queue_cas_write_index_screlease hsa_queue_cas_write_index_release hsa_queue_cas_write_index_scacq_screl
    hsa_queue_cas_write_index_acq_rel =>
    /// Sets the index of the next packet if it is as expected; returns the old one.
    (at: u64, expected: u64, value: u64) -> u64 {
        index_of(at).map_or(0, |q| {
            q.write_index().compare_exchange(expected, value, SeqCst, SeqCst).unwrap_or_else(|old| old)
        })
    }
}

api! {
    /// Makes a queue of a GPU.
    fn hsa_queue_create(
        agent: Agent,
        size: u32,
        kind: u32,
        callback: ErrorCallback,
        data: Data,
        private_segment_size: u32,
        group_segment_size: u32,
        to: Out<u64>,
    ) -> Status {
        let runtime = runtime()?;
        let index = runtime.agent(agent)?;
        let to = to.check()?;
        // Memory is given to each dispatch as it asks for it; the hints change nothing.
        let _ = (private_segment_size, group_segment_size);
        if !size.is_power_of_two() || size > MAX_SIZE || kind > 2 {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        if index == 0 {
            return Err(Status::ERROR_INVALID_QUEUE_CREATION);
        }
        to.set(create(&runtime, agent, size, kind, callback, data)?)
    }

    /// A queue of a priority, which may be shared with others; here it never is.
    fn hsa_amd_counted_queue_acquire(
        agent: Agent,
        kind: u32,
        priority: u32,
        callback: ErrorCallback,
        data: Data,
        flags: u64,
        to: Out<u64>,
    ) -> Status {
        let runtime = runtime()?;
        let to = to.check()?;
        // The specification: for future use, ignored.
        let _ = flags;
        if priority > 2 {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        if kind != 0 || runtime.agent(agent)? == 0 {
            return Err(Status::ERROR_INVALID_QUEUE_CREATION);
        }
        let address = create(&runtime, agent, COUNTED_SIZE, kind, callback, data)?;
        let made = queue(address).ok().and_then(|at| runtime.system.queue(at));
        made.ok_or(Status::ERROR)?.set_priority(priority);
        runtime.counted.lock().unwrap_or_else(PoisonError::into_inner).insert(address);
        to.set(address)
    }

    /// Gives such a queue back.
    fn hsa_amd_counted_queue_release(address: u64) -> Status {
        let runtime = runtime()?;
        let at = queue(address).map_err(|_| Status::ERROR)?;
        if !runtime.counted.lock().unwrap_or_else(PoisonError::into_inner).remove(&address) {
            return Err(Status::ERROR);
        }
        if runtime.system.destroy_queue(at) { Ok(()) } else { Err(Status::ERROR) }
    }

    /// Makes a queue that the program processes itself.
    fn hsa_soft_queue_create(
        region: Pool,
        size: u32,
        kind: u32,
        features: u32,
        doorbell: SignalHandle,
        to: Out<u64>,
    ) -> Status {
        let runtime = runtime()?;
        let pool = crate::pool::pool(&runtime, region).map_err(|_| Status::ERROR_INVALID_REGION)?;
        let to = to.check()?;
        if doorbell.0 == 0 || !size.is_power_of_two() || size > MAX_SIZE || kind > 1 || !matches!(features, 1..=3) || !pool.allocates() {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        let doorbell = signal(doorbell)?;
        let made = runtime.system.create_soft_queue(size, kind, features, doorbell);
        let made = made.map_err(|_| Status::ERROR_OUT_OF_RESOURCES)?;
        let at = made.at().address();
        runtime.soft_queues.insert(Arc::new(made));
        to.set(at)
    }

    /// Destroys a queue; what runs is cancelled.
    fn hsa_queue_destroy(at: u64) -> Status {
        let runtime = runtime()?;
        let at = queue(at)?;
        if runtime.system.destroy_queue(at) {
            return Ok(());
        }
        let mut found = false;
        runtime.soft_queues.retain(|_, q| {
            let it = q.at() == at;
            found |= it;
            !it
        });
        if found { Ok(()) } else { Err(Status::ERROR_INVALID_QUEUE) }
    }

    /// Stops a queue; what runs is cancelled.
    fn hsa_queue_inactivate(at: u64) -> Status {
        let runtime = runtime()?;
        let at = queue(at)?;
        if let Some(queue) = runtime.system.queue(at) {
            queue.inactivate();
            return Ok(());
        }
        // Whoever processes a queue himself stops by himself.
        let soft = runtime.soft_queues.list().into_iter().any(|(_, q)| q.at() == at);
        if soft { Ok(()) } else { Err(Status::ERROR_INVALID_QUEUE) }
    }
}
