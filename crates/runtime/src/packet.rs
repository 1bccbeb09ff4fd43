//! What the packets of a queue do.

use crate::interrupt;
use crate::journal::Record;
use crate::observe::{HostEvent, tell};
use crate::platform::{Gpu, Platform};
use crate::queue::QueueRef;
use crate::signal::{self, Condition, Signal, Wanted};
use crate::waiters;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::time::Duration;
use wavemill_device::aql::{AMD_BARRIER_VALUE, DispatchPacket, FenceScope, PACKET_SIZE, packet_type};
use wavemill_device::control::{Callback, Control};
use wavemill_device::dispatch::{DispatchError, Request};
use wavemill_device::fault::Report;
use wavemill_device::launch::Addresses;
use wavemill_device::observe::Observers;
use wavemill_device::schedule::Cause;
use wavemill_device::terminal;

/// What stops a queue.
#[derive(Clone, Debug)]
pub enum QueueError {
    /// A packet of no known kind.
    Packet(String),
    /// A dispatch that cannot be run.
    Dispatch(DispatchError),
    /// A wave did something it must not.
    Fault(Box<Report>),
}

/// Whose packets they are, and how they are to be run.
pub(crate) struct Context<'a> {
    pub(crate) queue: QueueRef,
    pub(crate) gpu: &'a Gpu,
    pub(crate) platform: &'a Platform,
    /// Ends what waits or runs when it is set.
    pub(crate) stop: &'a Arc<AtomicBool>,
    /// Compute units that may be used.
    pub(crate) units: u32,
    pub(crate) priority: u32,
    pub(crate) observers: &'a Observers,
    /// Is called when a kernel takes longer than that.
    pub(crate) slow: (Duration, &'a Callback),
}

/// What came of a packet.
pub(crate) enum Outcome {
    Done,
    /// The queue is to end.
    Cancelled,
    Failed(QueueError),
}

fn wide(packet: &[u8; PACKET_SIZE], at: usize) -> u64 {
    packet[at..at + 8].iter().rev().fold(0, |v, b| v << 8 | u64::from(*b))
}

/// Does what a packet says.
pub(crate) fn perform(
    context: &Context<'_>,
    packet: &[u8; PACKET_SIZE],
    address: u64,
    index: u64,
) -> Outcome {
    let start = signal::now();
    let header = u16::from_le_bytes([packet[0], packet[1]]);
    if let Some(what) = malformed(packet, header) {
        return Outcome::Failed(QueueError::Packet(format!("packet {index} {what}")));
    }
    // Acquire and release at any scope are the same here: host and waves share coherent memory.
    fence(Ordering::SeqCst);
    let outcome = match header & 0xff {
        packet_type::KERNEL_DISPATCH => return dispatch(context, packet, address, index),
        packet_type::BARRIER_AND => {
            let mut wanted: Vec<Wanted> = Vec::new();
            dependencies(packet, &mut wanted);
            match wanted.iter().all(|w| wait(context, &[*w])) {
                true => Outcome::Done,
                false => Outcome::Cancelled,
            }
        }
        packet_type::BARRIER_OR => {
            let mut wanted: Vec<Wanted> = Vec::new();
            dependencies(packet, &mut wanted);
            match wanted.is_empty() || wait(context, &wanted) {
                true => Outcome::Done,
                false => Outcome::Cancelled,
            }
        }
        packet_type::VENDOR_SPECIFIC if packet[2] == AMD_BARRIER_VALUE => barrier_value(context, packet),
        packet_type::VENDOR_SPECIFIC => {
            let text = format!("packet {index} is AMD's packet {}, which Wavemill does not know", packet[2]);
            Outcome::Failed(QueueError::Packet(text))
        }
        packet_type::AGENT_DISPATCH => {
            let text = format!("packet {index} is an agent dispatch, which GPUs cannot do");
            Outcome::Failed(QueueError::Packet(text))
        }
        other => {
            let text = format!("packet {index} has type {other}, which does not exist");
            Outcome::Failed(QueueError::Packet(text))
        }
    };
    if let Outcome::Done = outcome {
        let (acquire, release) = (FenceScope::of_acquire(header), FenceScope::of_release(header));
        tell(HostEvent::Fenced { gpu: context.gpu.index as u32, acquire, release });
        complete(wide(packet, 56), start, signal::now());
    }
    outcome
}

/// What is wrong with a packet's format (HSA Platform System Architecture Specification, "Architected Queuing Language":
/// reserved bits must be 0). The last reserved word of packets is left alone: HIP's runtime keeps a number of its own there.
fn malformed(packet: &[u8; PACKET_SIZE], header: u16) -> Option<String> {
    let reserved = |from: usize, to: usize| packet[from..to].iter().any(|b| *b != 0);
    if header >> 13 != 0 {
        return Some(format!("has a header with reserved bits: {header:#06x}"));
    }
    if [header >> 9 & 3, header >> 11 & 3].contains(&3) {
        return Some(format!("has a fence of scope 3, which does not exist: header {header:#06x}"));
    }
    let (wrong, dependencies) = match header & 0xff {
        packet_type::KERNEL_DISPATCH => (packet[2] & !3 != 0 || packet[3] != 0 || reserved(10, 12), 0),
        packet_type::BARRIER_AND | packet_type::BARRIER_OR => (reserved(2, 8), 5),
        _ => (false, 0),
    };
    if wrong {
        return Some("has reserved bits that are not 0".into());
    }
    let signals = (0..dependencies).map(|i| ("depends on", wide(packet, 8 + 8 * i)));
    let known = matches!(header & 0xff, 2 | 3 | 5) || header & 0xff == 0 && packet[2] == AMD_BARRIER_VALUE;
    let completion = known.then(|| ("completes", wide(packet, 56)));
    let unknown = |(_, handle): &(&str, u64)| *handle != 0 && Signal::from_handle(*handle).is_none();
    let (does, handle) = signals.chain(completion).find(unknown)?;
    Some(format!("{does} signal {handle:#x}, which does not exist"))
}

/// The signals of a barrier packet that must become 0.
fn dependencies(packet: &[u8; PACKET_SIZE], wanted: &mut Vec<Wanted>) {
    let handles = (0..5).map(|i| wide(packet, 8 + 8 * i));
    let signals = handles.filter_map(Signal::from_handle);
    wanted.extend(signals.map(|signal| Wanted { signal, condition: Condition::Eq, compare: 0 }));
}

/// Waits for one of several conditions; false when the queue is to end.
fn wait(context: &Context<'_>, wanted: &[Wanted]) -> bool {
    signal::wait_any(wanted, None, Some(context.stop)).is_some()
}

/// AMD's barrier-value packet: waits until the masked value of a signal meets a condition.
fn barrier_value(context: &Context<'_>, packet: &[u8; PACKET_SIZE]) -> Outcome {
    let condition = match wide(packet, 32) as u32 {
        0 => Condition::Eq,
        1 => Condition::Ne,
        2 => Condition::Lt,
        3 => Condition::Gte,
        other => {
            let text = format!("a barrier-value packet with condition {other}, which does not exist");
            return Outcome::Failed(QueueError::Packet(text));
        }
    };
    let Some(signal) = Signal::from_handle(wide(packet, 8)) else { return Outcome::Done };
    let (compare, mask) = (wide(packet, 16) as i64, wide(packet, 24) as i64);
    loop {
        let value = signal.value().load(Ordering::SeqCst);
        if condition.holds(value & mask, compare) {
            return Outcome::Done;
        }
        let changed = Wanted { signal, condition: Condition::Ne, compare: value };
        if !wait(context, &[changed]) {
            return Outcome::Cancelled;
        }
    }
}

fn complete(handle: u64, start: u64, end: u64) {
    if let Some(signal) = Signal::from_handle(handle) {
        signal.complete(start, end);
    }
}

fn dispatch(context: &Context<'_>, bytes: &[u8; PACKET_SIZE], address: u64, index: u64) -> Outcome {
    let start = signal::now();
    let packet = DispatchPacket::from_bytes(bytes);
    let Context { queue, gpu, platform, .. } = *context;
    let addresses = Addresses { packet: address, queue: queue.address(), dispatch_id: index };
    let request = Request { packet, addresses, timeout: None };
    let device = &gpu.device;
    let control = Control {
        stop: context.stop,
        units: context.units,
        queue: queue.id() as u32 & 31,
        priority: context.priority,
        slow: Some(context.slow),
        observers: context.observers,
        host: Some(platform.host()),
        timed: platform.keeps_journal(),
        placed: &|scratch| {
            if scratch.len > 0 {
                queue.set_scratch(scratch, device.target().level());
            }
        },
    };
    let done = device.dispatch_with(&request, &control);
    let end = signal::now();
    // What the waves have stored last may be what somebody sleeps on.
    waiters::wake_changed();
    let completion = match done {
        Ok(completion) => completion,
        Err(e) => return Outcome::Failed(QueueError::Dispatch(e)),
    };
    if completion.fault.as_ref().is_some_and(|f| f.stop.cause == Cause::Cancelled) {
        return Outcome::Cancelled;
    }
    if let Some(report) = completion.fault.as_ref().filter(|f| f.stop.cause == Cause::Interrupted) {
        terminal::report(&report.to_string());
        interrupt::end();
        return Outcome::Cancelled;
    }
    platform.record(&Record {
        gpu: gpu.index,
        queue: queue.id(),
        index,
        packet: &packet,
        completion: &completion,
        start,
        end,
    });
    match completion.fault {
        Some(report) => Outcome::Failed(QueueError::Fault(report)),
        None => {
            complete(packet.completion_signal, start, end);
            Outcome::Done
        }
    }
}
