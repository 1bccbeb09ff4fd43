//! How far dispatches are that take long: a line on a terminal that is gone when they end.

use crate::launch::Plan;
use crate::observe::DispatchObserver;
use crate::terminal::visible;
use std::collections::HashMap;
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};
use wavemill_object::demangle;

/// Nobody wonders about less.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often the line changes.
const STEP: Duration = Duration::from_millis(200);

/// Shows how far dispatches are.
pub struct Progress(Arc<Shared>);

type Out = Box<dyn Write + Send>;

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    out: Out,
    /// Dispatches under way by their numbers.
    running: HashMap<u64, Work>,
    /// There is a line that must go.
    shown: bool,
    /// Somebody looks at the clock.
    watched: bool,
}

struct Work {
    kernel: String,
    groups: u64,
    done: u64,
    began: Instant,
}

impl Progress {
    /// Writes to a terminal.
    pub fn new(out: Out) -> Progress {
        let state = State { out, running: HashMap::new(), shown: false, watched: false };
        Progress(Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() }))
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.0.state.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// A line instead of the one before, without an end.
const ANEW: &str = "\r\x1b[K";

impl State {
    fn show(&mut self) {
        let late = self.running.values().filter(|w| w.began.elapsed() >= PATIENCE);
        let Some(work) = late.min_by_key(|w| w.began) else { return };
        let percent = work.done.saturating_mul(100).checked_div(work.groups).unwrap_or(0);
        let line = format!(
            "{ANEW}{}: {} of {} work-groups ({percent}%), {:.0} s",
            work.kernel,
            work.done,
            work.groups,
            work.began.elapsed().as_secs_f64()
        );
        self.shown = true;
        let _ = self.out.write_all(line.as_bytes()).and_then(|()| self.out.flush());
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = self.out.write_all(ANEW.as_bytes()).and_then(|()| self.out.flush());
        }
    }
}

/// Looks at the clock while something runs, as long as the process lives.
fn watch(shared: &Shared) {
    let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        state = match state.running.is_empty() {
            true => shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            false => shared.changed.wait_timeout(state, STEP).unwrap_or_else(PoisonError::into_inner).0,
        };
        state.show();
    }
}

/// A kernel's name as a terminal may see it.
fn shown(name: &str) -> String {
    let name = demangle::short(name).unwrap_or_else(|| name.to_owned());
    String::from_utf8_lossy(&visible(name.as_bytes())).into_owned()
}

impl DispatchObserver for Progress {
    fn dispatch_started(&self, dispatch: &Plan) {
        let work = Work {
            kernel: shown(&dispatch.kernel.name),
            groups: dispatch.group_count(),
            done: 0,
            began: Instant::now(),
        };
        let mut first = false;
        self.change(|state| {
            first = !std::mem::replace(&mut state.watched, true);
            // The thread sleeps only while nothing runs.
            if state.running.is_empty() {
                self.0.changed.notify_all();
            }
            state.running.insert(dispatch.number, work);
        });
        if first {
            let shared = self.0.clone();
            // Without a thread for it, nothing is shown.
            let _ =
                std::thread::Builder::new().name("wavemill-progress".into()).spawn(move || watch(&shared));
        }
    }

    fn group_ended(&self, number: u64, _: [u32; 3]) {
        self.change(|state| {
            if let Some(work) = state.running.get_mut(&number) {
                work.done += 1;
            }
        });
    }

    fn dispatch_ended(&self, number: u64, _: u64, _: bool) {
        self.change(|state| {
            state.running.remove(&number);
            // Before anything else is said.
            state.clear();
        });
    }
}
