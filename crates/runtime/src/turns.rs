//! One thing after the other: for programs that are to run the same way every time, and for records of how they ran.
//!
//! Packet processors, copies and handlers have threads of their own, but take turns here: one runs only while a call of the
//! host program lets it ([`pump`]), until it rests ([`rest`]): when it waits for a packet or a signal, or after a turn of a
//! work-group. They come in the order in which they were made. Calls of the host's threads come one after the other, too.
//! So what the GPUs do, and when, depends on these calls alone; a [`Log`] of them is a record of the whole run.
//!
//! Nothing of this is on unless [`activate`] is called. What the program does between its calls is its own. It may wait for
//! the GPUs without a call, for a lock that a handler opens or by looking at memory: when it does nothing, or nothing but
//! look, a thread of ours lets them go on ([`Idle`]), as one more caller that the record knows.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use wavemill_device::record::Log;

/// Rounds of all actors in one call, at most: a kernel that waits for the host must not keep the host from going on.
const ROUNDS: u32 = 1000;
/// While some work, the others have a look only in every so many rounds.
const LOOK_AGAIN: u32 = 16;
/// An actor that does not rest for so long waits for something outside, perhaps a lock of the program's: its turn goes on
/// beside the host.
const RUNAWAY: Duration = Duration::from_millis(500);
/// How long threads sleep before they look again.
const NAP: Duration = Duration::from_millis(20);
/// A program whose threads all sleep, and have made no call for so long, waits.
const ASLEEP: Duration = Duration::from_millis(40);
/// A program that makes no call for so long, though its threads run, may be waiting for memory to change.
const SILENT: Duration = Duration::from_secs(1);
/// The line of the record for the GPUs going on without a call.
const IDLE: &str = "idle";
/// A call whose turn does not come for so long, by the record, will not come.
const PATIENCE: Duration = Duration::from_secs(20);

static ACTIVE: AtomicBool = AtomicBool::new(false);
/// A turn has ended.
static TURN_ENDED: Condvar = Condvar::new();
/// A call has ended.
static CALL_ENDED: Condvar = Condvar::new();
static SHARED: Mutex<Shared> = Mutex::new(Shared::new(0));
static IDLE_THREAD: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);

struct Shared {
    /// What each actor sleeps on.
    actors: BTreeMap<u64, Arc<Condvar>>,
    next_actor: u64,
    /// The actor whose turn it is.
    turn: Option<u64>,
    /// It did something.
    worked: bool,
    /// A host thread is in a call.
    calling: bool,
    /// Calls come in the order in which they were made.
    ticket: u64,
    serving: u64,
    /// Host threads that have called.
    threads: u64,
    log: Option<Arc<Log>>,
    /// How often this was begun: numbers of threads are of one time.
    epoch: u64,
}

impl Shared {
    const fn new(epoch: u64) -> Shared {
        Shared {
            actors: BTreeMap::new(),
            next_actor: 0,
            turn: None,
            worked: false,
            calling: false,
            ticket: 0,
            serving: 0,
            threads: 0,
            log: None,
            epoch,
        }
    }

    /// The number of this host thread, if it has called before.
    fn thread(&self) -> Option<u64> {
        THREAD.get().filter(|(epoch, _)| *epoch == self.epoch).map(|(_, number)| number)
    }
}

thread_local! {
    /// The actor that this thread is.
    static ACTOR: Cell<Option<u64>> = const { Cell::new(None) };
    /// The number of this host thread, and since when.
    static THREAD: Cell<Option<(u64, u64)>> = const { Cell::new(None) };
    /// Calls that this thread is in: handlers of the program may call again.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

fn lock() -> MutexGuard<'static, Shared> {
    SHARED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn sleep(on: &Condvar, shared: MutexGuard<'static, Shared>) -> MutexGuard<'static, Shared> {
    on.wait_timeout(shared, NAP).unwrap_or_else(PoisonError::into_inner).0
}

/// From now on things happen one after the other, and are recorded if there is a log.
pub fn activate(log: Option<Arc<Log>>) {
    let mut shared = lock();
    *shared = Shared { log, ..Shared::new(shared.epoch + 1) };
    ACTIVE.store(true, Ordering::SeqCst);
    drop(shared);
    let watch = || Idle::new().watch();
    // Without the thread, programs that wait without a call wait for ever; all others are the same.
    let thread = std::thread::Builder::new().name("wavemill idle".into()).spawn(watch).ok();
    *IDLE_THREAD.lock().unwrap_or_else(PoisonError::into_inner) = thread;
}

/// Whether things happen one after the other.
#[inline]
pub fn active() -> bool {
    ACTIVE.load(Ordering::Relaxed)
}

/// The end: whoever waits goes on.
pub(crate) fn deactivate() {
    ACTIVE.store(false, Ordering::SeqCst);
    let mut shared = lock();
    shared.log = None;
    shared.actors.values().for_each(|a| a.notify_all());
    drop(shared);
    TURN_ENDED.notify_all();
    CALL_ENDED.notify_all();
    let thread = IDLE_THREAD.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(thread) = thread {
        // It ends at its next look, and must not outlive the library.
        let _ = thread.join();
    }
}

/// A thread of ours that takes turns; made by whoever makes the thread, so that the order is the same every time.
pub(crate) struct Actor(Option<u64>);

/// A new actor; it does nothing when nobody takes turns.
pub(crate) fn actor() -> Actor {
    if !active() {
        return Actor(None);
    }
    let mut shared = lock();
    let id = shared.next_actor;
    shared.next_actor += 1;
    shared.actors.insert(id, Arc::new(Condvar::new()));
    Actor(Some(id))
}

impl Actor {
    /// The thread begins, as soon as it is its turn.
    pub(crate) fn begin(&self, over: impl Fn() -> bool) {
        if let Some(id) = self.0 {
            ACTOR.set(self.0);
            await_turn(lock(), id, over);
        }
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        if let Some(id) = self.0 {
            let mut shared = lock();
            shared.actors.remove(&id);
            if shared.turn == Some(id) {
                shared.turn = None;
                shared.worked = true;
            }
            drop(shared);
            TURN_ENDED.notify_all();
        }
    }
}

/// Ends this thread's turn and waits for the next one, or until `over`; `worked` says whether it did something. False, and
/// nothing done, when the thread does not take turns.
pub(crate) fn rest(worked: bool, over: impl Fn() -> bool) -> bool {
    // Asked first, since it costs less.
    if !active() {
        return false;
    }
    let Some(id) = ACTOR.get() else { return false };
    let mut shared = lock();
    if shared.turn == Some(id) {
        shared.turn = None;
        shared.worked |= worked;
        TURN_ENDED.notify_all();
    }
    await_turn(shared, id, over);
    true
}

fn await_turn(mut shared: MutexGuard<'static, Shared>, id: u64, over: impl Fn() -> bool) {
    let Some(turn) = shared.actors.get(&id).cloned() else { return };
    while shared.turn != Some(id) && active() && !over() {
        shared = sleep(&turn, shared);
    }
}

/// Lets all actors work until none can, or the host has waited long enough; true when one did something. For calls of the
/// host; it does nothing elsewhere.
pub fn pump() -> bool {
    if !active() || ACTOR.get().is_some() || DEPTH.get() == 0 {
        return false;
    }
    let (mut any, mut rounds) = (false, 0);
    // Who had nothing to do in the last turn; whether everybody has one in this round.
    let (mut resting, mut everybody) = (BTreeSet::new(), true);
    'all: while rounds < ROUNDS {
        rounds += 1;
        let mut worked = false;
        let mut shared = lock();
        let mut actors: Vec<u64> = shared.actors.keys().copied().collect();
        actors.retain(|id| everybody || !resting.contains(id));
        for id in actors {
            let began = Instant::now();
            // One may still be at what it began in an earlier call.
            if shared.turn.is_none()
                && let Some(turn) = shared.actors.get(&id).cloned()
            {
                shared.turn = Some(id);
                shared.worked = false;
                turn.notify_all();
            }
            while shared.turn.is_some() && active() {
                if began.elapsed() > RUNAWAY {
                    break 'all;
                }
                shared = sleep(&TURN_ENDED, shared);
            }
            worked |= shared.worked;
            if shared.worked {
                resting.remove(&id);
            } else {
                resting.insert(id);
            }
        }
        drop(shared);
        any |= worked;
        if everybody && !worked {
            break;
        }
        everybody = !worked || rounds % LOOK_AGAIN == 0;
    }
    let log = lock().log.clone();
    if let Some(log) = log.filter(|_| any) {
        // Whoever is told of a mismatch ends the program.
        let _ = log.note(&format!("rounds {rounds}"));
    }
    any
}

/// A call of the host; others wait until it is dropped.
pub struct Call(bool);

/// A host thread calls a function.
#[inline]
pub fn call(name: &'static str) -> Call {
    if !active() || ACTOR.get().is_some() {
        return Call(false);
    }
    DEPTH.set(DEPTH.get() + 1);
    if DEPTH.get() == 1 {
        enter(name);
    }
    Call(true)
}

#[cold]
fn enter(name: &str) {
    let mut shared = lock();
    let ticket = shared.ticket;
    shared.ticket += 1;
    let began = Instant::now();
    loop {
        let replay = shared.log.clone().filter(|l| l.replays());
        let event = |thread: u64| format!("call {thread} {name}");
        let ready = match &replay {
            // A thread that has not called before is the one that calls next, by the record.
            Some(log) => log.is_next(&event(shared.thread().unwrap_or(shared.threads))),
            None => shared.serving == ticket,
        };
        // The record has another call of this thread here, or none that will come.
        let other = |log: &Arc<Log>| shared.thread().is_some_and(|n| log.goes_on_with(&format!("call {n} ")));
        let late = replay.as_ref().is_some_and(other) || replay.is_some() && began.elapsed() > PATIENCE;
        if !shared.calling && (ready || late) || !active() {
            break;
        }
        shared = sleep(&CALL_ENDED, shared);
    }
    shared.calling = true;
    let thread = shared.thread().unwrap_or(shared.threads);
    if shared.thread().is_none() {
        THREAD.set(Some((shared.epoch, thread)));
        shared.threads += 1;
    }
    let log = shared.log.clone();
    drop(shared);
    if let Some(log) = log {
        let _ = log.note(&format!("call {thread} {name}"));
    }
}

fn leave() {
    let mut shared = lock();
    shared.calling = false;
    shared.serving += 1;
    drop(shared);
    CALL_ENDED.notify_all();
}

impl Drop for Call {
    fn drop(&mut self) {
        if self.0 {
            DEPTH.set(DEPTH.get() - 1);
            if DEPTH.get() == 0 {
                leave();
            }
        }
    }
}

/// A host thread waits for something: the GPUs go on, and other host threads may call.
pub(crate) fn wait() {
    let worked = pump();
    if DEPTH.get() > 0 && active() {
        leave();
        if !worked {
            std::thread::sleep(Duration::from_millis(1));
        }
        enter("waits");
    }
}

/// Lets the GPUs go on while the program waits for them without a call. What the program does before it waits, it must have
/// done before they go on, also when a record is repeated; so the pause is the same then.
struct Idle {
    /// Calls that had ended when it last looked.
    served: u64,
    /// Since when there was no other.
    since: Instant,
    /// How often in a row nobody had anything to do; the pauses grow with it.
    vain: u32,
}

impl Idle {
    fn new() -> Idle {
        Idle { served: 0, since: Instant::now(), vain: 0 }
    }

    fn watch(mut self) {
        while active() {
            std::thread::sleep(NAP);
            let shared = lock();
            if shared.serving != self.served || shared.calling {
                self = Idle { served: shared.serving, ..Idle::new() };
            }
            let due = match shared.log.as_ref().filter(|l| l.replays()) {
                Some(log) => log.goes_on_with(IDLE) && !shared.calling,
                // Nobody is in a call or waits for one.
                None => !shared.calling && shared.serving == shared.ticket,
            };
            if due && self.waited() && active() {
                self.turn(shared);
            }
        }
    }

    fn waited(&self) -> bool {
        let elapsed = self.since.elapsed();
        let pause = 1 << self.vain.min(5);
        elapsed > SILENT * pause || elapsed > ASLEEP * pause && others_sleep()
    }

    fn turn(&mut self, mut shared: MutexGuard<'static, Shared>) {
        shared.calling = true;
        // Calls of the program go on behind this one. While a record is repeated, some may wait already.
        shared.ticket += 1;
        let log = shared.log.clone();
        drop(shared);
        if let Some(log) = log {
            let _ = log.note(IDLE);
        }
        DEPTH.set(1);
        let worked = pump();
        DEPTH.set(0);
        leave();
        let vain = if worked { 0 } else { self.vain + 1 };
        *self = Idle { served: lock().serving, since: Instant::now(), vain };
    }
}

/// Whether all other threads of this process sleep; false where the system does not tell.
fn others_sleep() -> bool {
    let me = rustix::thread::gettid().as_raw_nonzero().to_string();
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return false };
    let others = tasks.flatten().filter(|t| t.file_name().to_str() != Some(&me));
    // The state is a letter after the name, which may hold anything but ends with the last parenthesis (proc(5)).
    let sleeps = |stat: String| stat.rsplit_once(')').is_some_and(|(_, rest)| rest.starts_with(" S"));
    // A thread that has just ended is not there.
    others.filter_map(|t| std::fs::read_to_string(t.path().join("stat")).ok()).all(sleeps)
}
