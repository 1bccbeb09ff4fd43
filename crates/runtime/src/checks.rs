//! Checks of a whole process: what they find goes to a file as soon as it is found, so that it is there however the process
//! ends. `wavemill exec` makes reports of it.

use crate::observe::{HostEvent, ProcessObserver};
use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use wavemill_check::{Check, Session, wire};
use wavemill_device::launch::Plan;
use wavemill_device::observe::{DispatchObserver, Scene};
use wavemill_wave::{Observer, WaveId};

/// Checks what a process runs, and hands everything on to another observer if there is one.
pub struct ProcessChecks {
    session: Session,
    out: File,
    next: Option<Arc<dyn ProcessObserver>>,
}

impl ProcessChecks {
    /// Appends lines to `out`: `finding PROCESS NUMBER REPORT`, the later one of a number holding, and for `leak`
    /// `allocated PROCESS ADDRESS BYTES` and `freed PROCESS ADDRESS`, all with tabs between.
    pub fn new(session: Session, out: File, next: Option<Arc<dyn ProcessObserver>>) -> ProcessChecks {
        session.follow_host();
        ProcessChecks { session, out, next }
    }

    fn line(&self, text: &str) {
        // Whole lines, for several processes share the file; a full disk must not stop the program.
        let _ = (&self.out).write_all(text.as_bytes());
    }

    /// Writes down what was found since.
    fn changed(&self) {
        let process = std::process::id();
        for (number, report) in self.session.changed() {
            self.line(&format!("finding\t{process}\t{number}\t{}\n", wire::line(&report)));
        }
    }

    fn tell(&self, what: impl Fn(&dyn ProcessObserver)) {
        self.next.iter().for_each(|o| what(&**o));
    }
}

impl DispatchObserver for ProcessChecks {
    fn dispatch_started(&self, dispatch: &Plan) {
        self.tell(|o| o.dispatch_started(dispatch));
    }

    fn dispatch_ended(&self, number: u64, waves: u64, whole: bool) {
        self.session.dispatch_ended(number, waves, whole);
        self.changed();
        self.tell(|o| o.dispatch_ended(number, waves, whole));
    }

    fn group_started(&self, number: u64, group: [u32; 3]) {
        self.tell(|o| o.group_started(number, group));
    }

    fn group_ended(&self, number: u64, group: [u32; 3]) {
        self.tell(|o| o.group_ended(number, group));
    }

    fn wave_started(&self, id: WaveId) {
        self.tell(|o| o.wave_started(id));
    }

    fn wave_ended(&self, id: WaveId) {
        self.tell(|o| o.wave_ended(id));
    }

    fn barrier_released(&self, number: u64, group: [u32; 3]) {
        self.tell(|o| o.barrier_released(number, group));
    }

    fn wave_observer(&self, scene: &Scene<'_>) -> Option<Arc<dyn Observer>> {
        self.session.wave_observer(scene)
    }
}

impl ProcessObserver for ProcessChecks {
    fn host(&self, event: &HostEvent) {
        let (process, leak) = (std::process::id(), self.session.has(Check::Leak));
        match *event {
            HostEvent::Allocated { address, bytes, .. } => {
                self.session.allocated(address, bytes);
                if leak {
                    self.line(&format!("allocated\t{process}\t{address}\t{bytes}\n"));
                }
            }
            HostEvent::Freed { address } => {
                self.session.freed(address);
                if leak {
                    self.line(&format!("freed\t{process}\t{address}\n"));
                }
            }
            HostEvent::NotFreed { address } => {
                self.session.not_freed(address);
                self.changed();
            }
            HostEvent::Copied { to, from, bytes } => {
                self.session.copied(to, from, bytes);
                self.changed();
            }
            HostEvent::Filled { address, bytes } => {
                self.session.filled(address, bytes);
                self.changed();
            }
            HostEvent::Fenced { gpu, release, .. } => self.session.released(gpu, release),
            _ => {}
        }
        self.tell(|o| o.host(event));
    }
}
