//! What happens to dispatches, as lines of JSON: what `wavemill run --events` writes.

use crate::json::{list, quoted};
use crate::launch::Plan;
use crate::observe::DispatchObserver;
use std::io::Write;
use std::sync::{Mutex, PoisonError};
use wavemill_wave::WaveId;

/// Writes a line for each dispatch, work-group and wave that begins or ends, and for each barrier that is released.
pub struct Events(Mutex<Box<dyn Write + Send>>);

impl Events {
    /// Writes to `out`.
    pub fn new(out: Box<dyn Write + Send>) -> Events {
        Events(Mutex::new(out))
    }

    /// Writes a line: the event's name in quotes, and its fields.
    pub fn line(&self, event: &str) {
        // A line at a time, so that a program that ends in the middle leaves whole lines. A full disk must not stop it.
        let text = format!("{{\"event\": {event}}}\n");
        let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).write_all(text.as_bytes());
    }

    fn group(&self, event: &str, number: u64, group: [u32; 3]) {
        self.line(&format!("\"{event}\", \"dispatch\": {number}, \"work_group\": {}", list(&group)));
    }

    fn wave(&self, event: &str, id: WaveId) {
        let WaveId { dispatch, group, wave } = id;
        let group = list(&group);
        self.line(&format!(
            "\"{event}\", \"dispatch\": {dispatch}, \"work_group\": {group}, \"wave\": {wave}"
        ));
    }
}

impl DispatchObserver for Events {
    fn dispatch_started(&self, dispatch: &Plan) {
        self.line(&format!(
            "\"dispatch started\", \"dispatch\": {}, \"kernel\": {}, \"grid\": {}, \"block\": {}",
            dispatch.number,
            quoted(&dispatch.kernel.name),
            list(&dispatch.grid),
            list(&dispatch.size)
        ));
    }

    fn dispatch_ended(&self, number: u64, waves: u64, whole: bool) {
        self.line(&format!(
            "\"dispatch ended\", \"dispatch\": {number}, \"waves\": {waves}, \"stopped\": {}",
            !whole
        ));
    }

    fn group_started(&self, number: u64, group: [u32; 3]) {
        self.group("work-group started", number, group);
    }

    fn group_ended(&self, number: u64, group: [u32; 3]) {
        self.group("work-group ended", number, group);
    }

    fn wave_started(&self, id: WaveId) {
        self.wave("wave started", id);
    }

    fn wave_ended(&self, id: WaveId) {
        self.wave("wave ended", id);
    }

    fn barrier_released(&self, number: u64, group: [u32; 3]) {
        self.group("barrier released", number, group);
    }
}
