//! Events: what others see of a command, and what programs make themselves.

use crate::abi::*;
use crate::context::Context;
use crate::handle::{self, Handle, Object, Slot, Table};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use wavemill_runtime::signal;

/// What is called when an event reaches a state.
pub type Callback = extern "C" fn(Handle<Event>, i32, Data);

/// States of commands; errors are below.
pub mod status {
    pub const COMPLETE: i32 = 0;
    pub const RUNNING: i32 = 1;
    pub const SUBMITTED: i32 = 2;
    pub const QUEUED: i32 = 3;
}

/// What `CL_EVENT_COMMAND_TYPE` calls commands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Kind {
    NdRangeKernel = 0x11f0,
    Task = 0x11f1,
    NativeKernel = 0x11f2,
    ReadBuffer = 0x11f3,
    WriteBuffer = 0x11f4,
    CopyBuffer = 0x11f5,
    ReadImage = 0x11f6,
    WriteImage = 0x11f7,
    CopyImage = 0x11f8,
    CopyImageToBuffer = 0x11f9,
    CopyBufferToImage = 0x11fa,
    MapBuffer = 0x11fb,
    MapImage = 0x11fc,
    UnmapMemObject = 0x11fd,
    Marker = 0x11fe,
    ReadBufferRect = 0x1201,
    WriteBufferRect = 0x1202,
    CopyBufferRect = 0x1203,
    User = 0x1204,
    Barrier = 0x1205,
    MigrateMemObjects = 0x1206,
    FillBuffer = 0x1207,
    FillImage = 0x1208,
    SvmFree = 0x1209,
    SvmMemcpy = 0x120a,
    SvmMemfill = 0x120b,
    SvmMap = 0x120c,
    SvmUnmap = 0x120d,
    SvmMigrateMem = 0x120e,
}

/// Who runs a queue's commands.
pub trait Runner: Send + Sync {
    /// Something that a command waits for has happened.
    fn wake(&self);

    /// Lets work begin.
    fn flush(&self);

    /// Runs one command on this thread; false if there is none that can run now, or somebody else runs one.
    fn step(&self) -> bool;
}

/// The queue of a command, as its event knows it.
pub trait Owner: Send + Sync {
    /// Its handle.
    fn address(&self) -> usize;

    /// Whether its events have times.
    fn is_profiled(&self) -> bool;

    /// Who runs its commands.
    fn runner(&self) -> &dyn Runner;
}

/// `cl_event`.
pub struct Event {
    slot: Slot,
    context: Arc<Context>,
    /// None for events that the program makes.
    queue: Option<Arc<dyn Owner>>,
    kind: Kind,
    status: AtomicI32,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// When it was queued, submitted, started and ended.
    times: [u64; 4],
    callbacks: Vec<(i32, Callback, Data)>,
    /// Whose commands wait for it.
    watchers: Vec<Weak<dyn Runner>>,
    /// Threads that sleep until it is done.
    sleepers: u32,
}

static TABLE: Table<Event> = Table::new();

impl Object for Event {
    const INVALID: Code = Code::INVALID_EVENT;

    fn table() -> &'static Table<Self> {
        &TABLE
    }

    fn slot(&self) -> &Slot {
        &self.slot
    }
}

/// How long a thread looks at an event before it sleeps.
const SPIN: Duration = Duration::from_micros(10);

impl Event {
    /// The event of a command that is queued now.
    pub fn new(context: Arc<Context>, queue: Arc<dyn Owner>, kind: Kind) -> Arc<Event> {
        let times = [signal::now(), 0, 0, 0];
        Event::make(context, Some(queue), kind, status::QUEUED, times)
    }

    fn make(
        context: Arc<Context>,
        queue: Option<Arc<dyn Owner>>,
        kind: Kind,
        status: i32,
        times: [u64; 4],
    ) -> Arc<Event> {
        handle::create(|slot| Event {
            slot,
            context,
            queue,
            kind,
            status: AtomicI32::new(status),
            state: Mutex::new(State { times, ..State::default() }),
            changed: Condvar::new(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Its state.
    pub fn status(&self) -> i32 {
        self.status.load(Ordering::Acquire)
    }

    /// Whether nothing happens to it any more.
    pub fn is_over(&self) -> bool {
        self.status() <= status::COMPLETE
    }

    /// Brings it on to another state. False when it was over already.
    pub fn advance(self: &Arc<Self>, to: i32) -> bool {
        let mut state = self.state();
        if self.is_over() {
            return false;
        }
        // A state is reached by whoever gets further: all of those in between are over, too.
        let now = signal::now();
        match to {
            status::SUBMITTED => state.times[1] = now,
            status::RUNNING => state.times[2] = now,
            _ => {
                state.times[3] = now;
                let known = state.times;
                for i in (1..3).rev().filter(|i| known[*i] == 0) {
                    state.times[i] = state.times[i + 1];
                }
            }
        }
        self.status.store(to, Ordering::Release);
        let mut due = Vec::new();
        state.callbacks.retain(|call| {
            let is_due = to <= call.0;
            if is_due {
                due.push(*call);
            }
            !is_due
        });
        let watchers = if to <= status::COMPLETE { std::mem::take(&mut state.watchers) } else { Vec::new() };
        let sleepers = state.sleepers > 0;
        drop(state);
        if sleepers {
            self.changed.notify_all();
        }
        watchers.iter().filter_map(Weak::upgrade).for_each(|w| w.wake());
        for (wanted, call, data) in due {
            call(self.handle(), if to < 0 { to } else { wanted }, data);
        }
        true
    }

    /// Has a worker woken when it is over; false when it is.
    pub fn watch(&self, runner: Weak<dyn Runner>) -> bool {
        let mut state = self.state();
        if self.is_over() {
            return false;
        }
        state.watchers.push(runner);
        true
    }

    /// Makes sure that somebody is working on it.
    pub fn flush(&self) {
        if let Some(queue) = &self.queue {
            queue.runner().flush();
        }
    }

    /// Waits until it is over, and does the work itself where nobody else does.
    pub fn wait(&self) {
        if let Some(queue) = &self.queue {
            while !self.is_over() && queue.runner().step() {}
        }
        let began = Instant::now();
        while !self.is_over() && began.elapsed() < SPIN {
            std::hint::spin_loop();
        }
        if self.is_over() {
            return;
        }
        self.flush();
        let mut state = self.state();
        state.sleepers += 1;
        while !self.is_over() {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.sleepers -= 1;
    }
}

/// The events of a list; they must be of the context, if one is given.
pub fn list(count: u32, events: In<Handle<Event>>, context: &Arc<Context>) -> Result<Vec<Arc<Event>>> {
    if events.is_null() != (count == 0) {
        return Err(Code::INVALID_EVENT_WAIT_LIST);
    }
    let one = |event: Handle<Event>| {
        let event = handle::get(event).map_err(|_| Code::INVALID_EVENT_WAIT_LIST)?;
        match Arc::ptr_eq(event.context(), context) {
            true => Ok(event),
            false => Err(Code::INVALID_CONTEXT),
        }
    };
    events.list(count as usize)?.into_iter().map(one).collect()
}

api! {
    /// Waits until all events of a list are over.
    fn clWaitForEvents(count: u32, events: In<Handle<Event>>) -> Code {
        if count == 0 || events.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let events: Vec<Arc<Event>> =
            events.list(count as usize)?.into_iter().map(handle::get).collect::<Result<_>>()?;
        if events.iter().any(|e| !Arc::ptr_eq(e.context(), events[0].context())) {
            return Err(Code::INVALID_CONTEXT);
        }
        events.iter().for_each(|e| e.flush_others(&events));
        events.iter().for_each(|e| e.wait());
        match events.iter().any(|e| e.status() < 0) {
            true => Err(Code::EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
            false => Ok(()),
        }
    }

    /// A fact about an event.
    fn clGetEventInfo(event: Handle<Event>, name: u32, room: usize, value: Bytes, size: Out<usize>) -> Code {
        let event = handle::get(event)?;
        let answer = Answer::new(room, value, size);
        match name {
            0x11d0 => answer.set(event.queue.as_ref().map_or(0, |q| q.address())),
            0x11d1 => answer.set(event.kind as u32),
            0x11d2 => answer.set(handle::references(&event)?),
            0x11d3 => {
                // Who asks may ask again and again, and has not said that work should begin.
                event.flush();
                answer.set(event.status())
            }
            0x11d4 => answer.set(event.context.handle()),
            _ => Err(Code::INVALID_VALUE),
        }
    }

    /// When things happened to a command.
    fn clGetEventProfilingInfo(
        event: Handle<Event>,
        name: u32,
        room: usize,
        value: Bytes,
        size: Out<usize>,
    ) -> Code {
        let event = handle::get(event)?;
        let profiled = event.queue.as_ref().is_some_and(|q| q.is_profiled());
        if !profiled || event.status() != status::COMPLETE {
            return Err(Code::PROFILING_INFO_NOT_AVAILABLE);
        }
        let times = event.state().times;
        let time = match name {
            0x1280..=0x1283 => times[(name - 0x1280) as usize],
            // Nothing that a command has started goes on after it.
            0x1284 => times[3],
            _ => return Err(Code::INVALID_VALUE),
        };
        Answer::new(room, value, size).set(time)
    }

    /// One reference more.
    fn clRetainEvent(event: Handle<Event>) -> Code {
        handle::retain(event)
    }

    /// One reference less.
    fn clReleaseEvent(event: Handle<Event>) -> Code {
        handle::release(event).map(|_| ())
    }

    /// An event that the program completes itself.
    fn clCreateUserEvent(context: Handle<Context>) -> make Handle<Event> {
        let context = handle::get(context)?;
        Ok(Event::make(context, None, Kind::User, status::SUBMITTED, [0; 4]).handle())
    }

    /// Completes such an event, or says that what it stands for has failed.
    fn clSetUserEventStatus(event: Handle<Event>, to: i32) -> Code {
        let event = handle::get(event)?;
        match event.kind {
            _ if to > status::COMPLETE => Err(Code::INVALID_VALUE),
            Kind::User if event.advance(to) => Ok(()),
            Kind::User => Err(Code::INVALID_OPERATION),
            _ => Err(Code::INVALID_EVENT),
        }
    }

    /// Has a function called when an event reaches a state.
    fn clSetEventCallback(event: Handle<Event>, wanted: i32, call: Option<Callback>, data: Data) -> Code {
        let event = handle::get(event)?;
        let call = call.ok_or(Code::INVALID_VALUE)?;
        if !(status::COMPLETE..=status::SUBMITTED).contains(&wanted) {
            return Err(Code::INVALID_VALUE);
        }
        let mut state = event.state();
        let now = event.status();
        if now > wanted {
            state.callbacks.push((wanted, call, data));
            drop(state);
            event.flush();
            return Ok(());
        }
        drop(state);
        call(event.handle(), if now < 0 { now } else { wanted }, data);
        Ok(())
    }
}

impl Event {
    /// Starts work on it, if other events wait for the same thread.
    fn flush_others(&self, events: &[Arc<Event>]) {
        if events.len() > 1 {
            self.flush();
        }
    }
}
