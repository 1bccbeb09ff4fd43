//! A queue's commands, and who runs them: whoever waits for one, else a thread of the queue's own.
//!
//! Commands wait for events. In order, only the first can run; out of order, the first that waits for nothing. A thread
//! that waits for a command runs those before it itself where nobody else does, so that there is no change of threads in
//! the usual way: enqueue, wait. The queue's own thread is woken when the program says that work should begin, asks about
//! it, or has enqueued some.

use crate::abi::{Code, Result};
use crate::event::{Event, Runner, status};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

/// What a command does.
pub type Action = Box<dyn FnOnce() -> Result + Send>;

/// A command.
pub struct Command {
    /// What others see of it.
    pub event: Arc<Event>,
    /// What it waits for.
    pub waits: Vec<Arc<Event>>,
    /// What it does.
    pub action: Action,
}

/// So many commands are enough for the queue's own thread to begin.
const ENOUGH: usize = 16;

#[derive(Default)]
struct Pending {
    commands: VecDeque<Command>,
    /// Somebody runs one.
    busy: bool,
    /// The thread is there.
    started: bool,
    /// The thread may begin.
    flushed: bool,
    /// There will be no more commands.
    ended: bool,
    /// Threads that sleep until something changes, other than the queue's own.
    sleepers: u32,
    /// The queue's own thread sleeps.
    idle: bool,
}

/// A queue's commands.
pub struct Worker {
    /// Itself, for its thread.
    me: Weak<Worker>,
    in_order: bool,
    pending: Mutex<Pending>,
    /// For the thread of the queue's own.
    work: Condvar,
    /// For others.
    done: Condvar,
}

impl Worker {
    pub fn new(in_order: bool) -> Arc<Worker> {
        Arc::new_cyclic(|me| Worker {
            me: me.clone(),
            in_order,
            pending: Mutex::default(),
            work: Condvar::new(),
            done: Condvar::new(),
        })
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a command.
    pub fn push(&self, command: Command) {
        for event in &command.waits {
            // What it waits for must get done, and we must hear of it.
            if event.watch(self.me.clone()) {
                event.flush();
            }
        }
        let mut pending = self.pending();
        pending.commands.push_back(command);
        if pending.commands.len() >= ENOUGH {
            self.begin(pending);
        }
    }

    fn begin(&self, mut pending: MutexGuard<'_, Pending>) {
        pending.flushed = true;
        if let Some(worker) = self.me.upgrade().filter(|_| !pending.started) {
            let thread = std::thread::Builder::new().name("wavemill-opencl".into());
            // Without a thread, whoever waits does the work.
            pending.started = thread.spawn(move || worker.run()).is_ok();
        }
        let idle = pending.idle;
        drop(pending);
        if idle {
            self.work.notify_one();
        }
    }

    /// No more commands will come.
    pub fn end(&self) {
        self.pending().ended = true;
        self.work.notify_one();
    }

    /// The next command that can run, if nobody runs one.
    fn take(&self, pending: &mut Pending) -> Option<Command> {
        if pending.busy {
            return None;
        }
        let ready = |c: &Command| c.waits.iter().all(|e| e.is_over());
        let at = match self.in_order {
            true => pending.commands.front().is_some_and(ready).then_some(0),
            false => pending.commands.iter().position(ready),
        }?;
        pending.busy = true;
        pending.commands.remove(at)
    }

    fn perform(&self, command: Command) {
        let Command { event, waits, action } = command;
        event.advance(status::SUBMITTED);
        let failed = waits.iter().any(|e| e.status() < 0);
        drop(waits);
        let result = match failed {
            true => Err(Code::EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
            false => {
                event.advance(status::RUNNING);
                // What panics is an error of ours and has printed its message.
                std::panic::catch_unwind(std::panic::AssertUnwindSafe(action))
                    .unwrap_or(Err(Code::OUT_OF_RESOURCES))
            }
        };
        let mut pending = self.pending();
        pending.busy = false;
        let (idle, sleepers) = (pending.idle && pending.flushed, pending.sleepers);
        drop(pending);
        // Only now: who waits for the event may find the queue free.
        event.advance(result.map_or_else(|code| code.0, |()| status::COMPLETE));
        if idle {
            self.work.notify_one();
        }
        if sleepers > 0 {
            self.done.notify_all();
        }
    }

    /// The thread of the queue's own.
    fn run(self: Arc<Self>) {
        let mut pending = self.pending();
        loop {
            if pending.flushed
                && let Some(command) = self.take(&mut pending)
            {
                drop(pending);
                self.perform(command);
                pending = self.pending();
                continue;
            }
            if pending.commands.is_empty() {
                pending.flushed = false;
                if pending.ended && !pending.busy {
                    return;
                }
            }
            pending.idle = true;
            pending = self.work.wait(pending).unwrap_or_else(PoisonError::into_inner);
            pending.idle = false;
        }
    }

    /// Waits until all commands are done, and does them where nobody else does.
    pub fn finish(&self) {
        loop {
            while self.step() {}
            let mut pending = self.pending();
            if pending.commands.is_empty() && !pending.busy {
                return;
            }
            if let Some(command) = self.take(&mut pending) {
                drop(pending);
                self.perform(command);
                continue;
            }
            pending.sleepers += 1;
            pending = self.done.wait(pending).unwrap_or_else(PoisonError::into_inner);
            pending.sleepers -= 1;
        }
    }
}

impl Runner for Worker {
    fn wake(&self) {
        let pending = self.pending();
        let (idle, sleepers) = (pending.idle, pending.sleepers);
        drop(pending);
        if idle {
            self.work.notify_one();
        }
        if sleepers > 0 {
            self.done.notify_all();
        }
    }

    fn flush(&self) {
        let pending = self.pending();
        if !pending.commands.is_empty() {
            self.begin(pending);
        }
    }

    fn step(&self) -> bool {
        let taken = self.take(&mut self.pending());
        match taken {
            Some(command) => {
                self.perform(command);
                true
            }
            None => false,
        }
    }
}
