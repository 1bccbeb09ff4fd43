//! A thread that does things when signals say so: copies, the program's own functions.

use crate::signal::{Listener, Wanted};
use crate::turns;
use crate::waiters;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// What to do; gets the value of the last signal waited for, and tells whether to wait again.
pub type Action = Box<dyn FnMut(i64) -> bool + Send>;

struct Entry {
    /// All must be met, one after the other.
    wanted: Vec<Wanted>,
    /// How many have been.
    met: usize,
    value: i64,
    action: Action,
}

impl Entry {
    /// Looks at the signals; true when all were met.
    fn ready(&mut self) -> bool {
        while let Some(wanted) = self.wanted.get(self.met) {
            match wanted.met() {
                Some(value) => {
                    self.value = value;
                    self.met += 1;
                }
                None => return false,
            }
        }
        true
    }

    /// The signal it waits for was destroyed: nothing will come of it.
    fn dead(&self) -> bool {
        self.wanted.get(self.met).is_some_and(|w| w.signal.kind().is_none())
    }
}

#[derive(Default)]
struct Shared {
    new: Mutex<Vec<Entry>>,
    stop: AtomicBool,
}

/// A thread that does things when signals say so. It is started when there is something to do.
pub struct Reactor {
    name: &'static str,
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Reactor {
    /// One that has nothing to do.
    pub fn new(name: &'static str) -> Reactor {
        Reactor { name, shared: Arc::default(), thread: Mutex::default() }
    }

    /// Does something when all conditions have been met; false when there is no thread to do it.
    pub fn when(&self, wanted: Vec<Wanted>, action: Action) -> bool {
        let entry = Entry { wanted, met: 0, value: 0, action };
        self.shared.new.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.is_none() {
            let shared = self.shared.clone();
            let builder = std::thread::Builder::new().name(self.name.into());
            let actor = turns::actor();
            let body = move || {
                actor.begin(|| shared.stop.load(Ordering::SeqCst));
                run(&shared);
                drop(actor);
            };
            *thread = builder.spawn(body).ok();
        }
        let started = thread.is_some();
        drop(thread);
        waiters::event();
        started
    }

    /// Ends the thread; what has not been done is not done any more.
    pub fn stop(&self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        waiters::event();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread.filter(|t| t.thread().id() != std::thread::current().id()) {
            // A panic there has printed its message.
            let _ = thread.join();
        }
    }
}

fn run(shared: &Shared) {
    let mut entries: Vec<Entry> = Vec::new();
    loop {
        entries.append(&mut shared.new.lock().unwrap_or_else(PoisonError::into_inner));
        if shared.stop.load(Ordering::SeqCst) {
            return;
        }
        let mut idle = true;
        let mut at = 0;
        while at < entries.len() {
            let entry = &mut entries[at];
            if entry.dead() {
                entries.remove(at);
                continue;
            }
            if entry.ready() {
                idle = false;
                if (entry.action)(entry.value) {
                    entry.met = 0;
                } else {
                    entries.remove(at);
                    continue;
                }
            }
            at += 1;
        }
        if turns::rest(!idle, || shared.stop.load(Ordering::SeqCst)) {
            continue;
        }
        if idle {
            let first = entries.iter().filter_map(|e| e.wanted.get(e.met));
            let listener = Listener::new(first.map(|w| w.signal).collect());
            listener.sleep(None, || {
                shared.stop.load(Ordering::SeqCst)
                    || !shared.new.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
                    || entries.iter_mut().any(Entry::ready)
            });
        }
    }
}
