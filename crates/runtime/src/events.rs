//! All that happens around a process's GPUs, as lines of JSON: what `wavemill exec --events` writes.

use crate::observe::{HostEvent, ProcessObserver};
use std::io::Write;
use wavemill_device::events::Events;
use wavemill_device::launch::Plan;
use wavemill_device::observe::DispatchObserver;
use wavemill_wave::WaveId;

/// Writes lines for dispatches and for what the host does.
pub struct ProcessEvents(Events);

impl ProcessEvents {
    /// Writes to `out`.
    pub fn new(out: Box<dyn Write + Send>) -> ProcessEvents {
        ProcessEvents(Events::new(out))
    }
}

impl DispatchObserver for ProcessEvents {
    fn dispatch_started(&self, dispatch: &Plan) {
        self.0.dispatch_started(dispatch);
    }

    fn dispatch_ended(&self, number: u64, waves: u64, whole: bool) {
        self.0.dispatch_ended(number, waves, whole);
    }

    fn group_started(&self, number: u64, group: [u32; 3]) {
        self.0.group_started(number, group);
    }

    fn group_ended(&self, number: u64, group: [u32; 3]) {
        self.0.group_ended(number, group);
    }

    fn wave_started(&self, id: WaveId) {
        self.0.wave_started(id);
    }

    fn wave_ended(&self, id: WaveId) {
        self.0.wave_ended(id);
    }

    fn barrier_released(&self, number: u64, group: [u32; 3]) {
        self.0.barrier_released(number, group);
    }
}

impl ProcessObserver for ProcessEvents {
    fn host(&self, event: &HostEvent) {
        let line = match *event {
            HostEvent::Allocated { address, bytes, .. } => {
                format!("\"allocated\", \"address\": \"{address:#x}\", \"bytes\": {bytes}")
            }
            HostEvent::Freed { address } => format!("\"freed\", \"address\": \"{address:#x}\""),
            HostEvent::NotFreed { address } => format!("\"not freed\", \"address\": \"{address:#x}\""),
            HostEvent::Locked { host, address, bytes } => {
                format!(
                    "\"locked\", \"host\": \"{host:#x}\", \"address\": \"{address:#x}\", \"bytes\": {bytes}"
                )
            }
            HostEvent::Unlocked { host } => format!("\"unlocked\", \"host\": \"{host:#x}\""),
            HostEvent::Copied { to, from, bytes } => {
                format!("\"copied\", \"to\": \"{to:#x}\", \"from\": \"{from:#x}\", \"bytes\": {bytes}")
            }
            HostEvent::Filled { address, bytes } => {
                format!("\"filled\", \"address\": \"{address:#x}\", \"bytes\": {bytes}")
            }
            HostEvent::Fenced { gpu, acquire, release } => format!(
                "\"fenced\", \"gpu\": {gpu}, \"acquire\": \"{acquire:?}\", \"release\": \"{release:?}\""
            )
            .to_lowercase(),
            HostEvent::SignalCreated { signal, value } => {
                format!("\"signal created\", \"signal\": \"{signal:#x}\", \"value\": {value}")
            }
            HostEvent::SignalDestroyed { signal } => {
                format!("\"signal destroyed\", \"signal\": \"{signal:#x}\"")
            }
            HostEvent::SignalChanged { signal, operation, old, new } => {
                format!("\"signal {operation}\", \"signal\": \"{signal:#x}\", \"old\": {old}, \"new\": {new}")
            }
            HostEvent::SignalCompleted { signal, new } => {
                format!("\"signal completed\", \"signal\": \"{signal:#x}\", \"new\": {new}")
            }
            HostEvent::SignalLoaded { signal, value } => {
                format!("\"signal loaded\", \"signal\": \"{signal:#x}\", \"value\": {value}")
            }
            HostEvent::WaitStarted { signal } => format!("\"wait started\", \"signal\": \"{signal:#x}\""),
            HostEvent::WaitEnded { signal, value } => {
                format!("\"wait ended\", \"signal\": \"{signal:#x}\", \"value\": {value}")
            }
            HostEvent::DoorbellRung { queue, value } => {
                format!("\"doorbell rung\", \"queue\": \"{queue:#x}\", \"value\": {value}")
            }
            HostEvent::QueueCreated { queue } => format!("\"queue created\", \"queue\": \"{queue:#x}\""),
            HostEvent::QueueDestroyed { queue } => format!("\"queue destroyed\", \"queue\": \"{queue:#x}\""),
            HostEvent::PacketStarted { queue, index, kind } => {
                format!("\"packet started\", \"queue\": \"{queue:#x}\", \"index\": {index}, \"type\": {kind}")
            }
            HostEvent::PacketEnded { queue, index } => {
                format!("\"packet ended\", \"queue\": \"{queue:#x}\", \"index\": {index}")
            }
        };
        self.0.line(&line);
    }
}
