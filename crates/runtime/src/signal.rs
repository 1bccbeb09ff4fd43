//! Signals: `amd_signal_t` objects that host programs, packet processors and device code share by address (ROCm code
//! object format, "Signals").

use crate::arena::{Arena, PAGE};
use crate::doze::{doze, sleeping};
use crate::observe::{HostEvent, observed, tell};
use crate::turns;
use crate::waiters::{self, Word};
use crate::{fork, ipc};
use std::cell::Cell;
use std::collections::HashMap;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use wavemill_device::aql::{SIGNAL_SIZE, signal_field as field};

pub use wavemill_device::aql::SignalKind as Kind;

/// As many signals as there can be at once.
const MOST: u64 = 1 << 22;
/// Waves see signals in pieces of this many bytes.
pub(crate) const PIECE: u64 = 1 << 16;

/// Conditions that one can wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Condition {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Less.
    Lt,
    /// Greater or equal.
    Gte,
}

impl Condition {
    /// Whether a value meets the condition.
    pub fn holds(self, value: i64, compare: i64) -> bool {
        match self {
            Condition::Eq => value == compare,
            Condition::Ne => value != compare,
            Condition::Lt => value < compare,
            Condition::Gte => value >= compare,
        }
    }
}

/// The signals of this process.
struct Signals {
    slots: Arena,
    /// What the host keeps of each, see [`own`]: waves and other processes can write all of `amd_signal_t`, and nothing
    /// but the value and the times is read back.
    own: Arena,
    /// Files of signals that other processes share.
    files: Mutex<HashMap<Signal, File>>,
}

/// What the host keeps of each signal.
mod own {
    /// Bytes of it.
    pub const LEN: u64 = 32;
    /// How many threads sleep on the value (lower half) and how many listen to it among others (upper half).
    pub const WAITING: u64 = 0;
    /// Its kind; 0 when there is no signal.
    pub const KIND: u64 = 8;
    /// A doorbell's queue.
    pub const QUEUE: u64 = 16;
}

/// Signals that rest before their slots are used again.
const REST: usize = 4096;

/// Set in a slot's count of waiting threads when other processes may wait, too.
const SHARED: u64 = 1 << 63;
/// Where a shared signal's page counts the processes that have it.
const HOLDERS: u64 = 64;
/// How long a listener sleeps at most when another process may change a signal.
const SHARED_SLEEP: Duration = Duration::from_millis(1);

fn signals() -> Option<&'static Signals> {
    static SIGNALS: OnceLock<Option<Signals>> = OnceLock::new();
    let make = || {
        let signals = Signals {
            slots: Arena::new(SIGNAL_SIZE, MOST, REST).ok()?,
            own: Arena::new(own::LEN, MOST, 0).ok()?,
            files: Mutex::default(),
        };
        // The first slot is the mailbox that all events share; what is in it does not matter.
        signals.slots.take();
        Some(signals)
    };
    SIGNALS.get_or_init(make).as_ref()
}

/// The part of the signals' memory that waves must see: start and length, which only grows.
pub(crate) fn extent() -> Option<(u64, u64)> {
    signals().map(Signals::extent)
}

/// Destroys every signal. For the end of the runtime.
pub(crate) fn destroy_all() {
    if let Some(signals) = signals() {
        let used = signals.slots.used() / SIGNAL_SIZE;
        let all = (1..used).map(|index| Signal(signals.slots.slot(index)));
        all.filter(|signal| signal.kind().is_some()).for_each(|signal| _ = signal.destroy());
    }
}

/// Has everybody who waits for a signal look again: the host has changed a word that may be a signal's value.
pub fn look_again() {
    waiters::event();
}

/// A signal. The handle is the address of its `amd_signal_t`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Signal(u64);

impl Signal {
    /// A new one of kind [`Kind::User`]. `announce` is called with the memory that signals lie in, which may have grown.
    pub fn new(value: i64, announce: impl Fn(u64, u64)) -> Option<Signal> {
        let signals = signals()?;
        let signal = Signal(signals.slots.take()?);
        signals.show(announce);
        observed(
            || signal.set_up(signals, value),
            |()| Some(HostEvent::SignalCreated { signal: signal.0, value }),
        );
        Some(signal)
    }

    fn set_up(self, signals: &Signals, value: i64) {
        let signal = self;
        signal.word(field::EVENT_MAILBOX_PTR).store(signals.slots.start(), Ordering::Relaxed);
        let id = signals.slots.index(signal.0).unwrap_or(0);
        signal.word(field::EVENT_ID).store(id, Ordering::Relaxed);
        signal.word(field::START_TS).store(0, Ordering::Relaxed);
        signal.word(field::END_TS).store(0, Ordering::Relaxed);
        signal.word(field::VALUE).store(value as u64, Ordering::Relaxed);
        signal.set_kind(Kind::User, 0);
    }

    /// The signal is there from now on.
    fn set_kind(self, kind: Kind, queue: u64) {
        self.word(field::QUEUE_PTR).store(queue, Ordering::Relaxed);
        self.word(field::KIND).store(kind as i64 as u64, Ordering::Release);
        self.own(own::QUEUE).store(queue, Ordering::Relaxed);
        self.own(own::KIND).store(kind as i64 as u64, Ordering::Release);
    }

    /// A new one that other processes can attach to.
    pub fn new_shared(value: i64, announce: impl Fn(u64, u64)) -> Option<Signal> {
        let signal = Signal::in_file(ipc::file(PAGE, ipc::Content::Signal).ok()?, announce)?;
        signal.set_up(signals()?, value);
        // Events are this process's own.
        signal.word(field::EVENT_MAILBOX_PTR).store(0, Ordering::Relaxed);
        signal.word(field::EVENT_ID).store(0, Ordering::Relaxed);
        signal.word(HOLDERS).store(1, Ordering::Release);
        Some(signal)
    }

    /// The signal that another process shares.
    pub fn attach(pid: u32, file: i32, announce: impl Fn(u64, u64)) -> Option<Signal> {
        let file = ipc::open(pid, file, ipc::Content::Signal).ok()?;
        // A foreign file is looked at before anything is written to it.
        let mut kind = [0; 8];
        file.read_exact_at(&mut kind, field::KIND).ok()?;
        if i64::from_le_bytes(kind) != Kind::User as i64 {
            return None;
        }
        let signal = Signal::in_file(file, announce)?;
        signal.word(HOLDERS).fetch_add(1, Ordering::AcqRel);
        signal.own(own::QUEUE).store(0, Ordering::Relaxed);
        signal.own(own::KIND).store(Kind::User as i64 as u64, Ordering::Release);
        Some(signal)
    }

    /// Puts a file's page in the place of a page of slots, whose first is the signal.
    fn in_file(file: File, announce: impl Fn(u64, u64)) -> Option<Signal> {
        let signals = signals()?;
        let signal = Signal(signals.slots.take_page()?);
        // SAFETY: nobody uses these slots.
        unsafe { ipc::map_at(&file, signal.0, PAGE as usize) }.ok()?;
        signals.show(announce);
        signal.waiting().store(SHARED, Ordering::SeqCst);
        signals.files.lock().unwrap_or_else(PoisonError::into_inner).insert(signal, file);
        Some(signal)
    }

    /// The number of the file that holds a shared signal.
    pub fn shared_file(self) -> Option<i32> {
        let files = &signals()?.files;
        files.lock().unwrap_or_else(PoisonError::into_inner).get(&self).map(|f| f.as_raw_fd())
    }

    /// This process does not use a shared signal any more.
    fn leave(self) {
        let Some(signals) = signals() else { return };
        let file = signals.files.lock().unwrap_or_else(PoisonError::into_inner).remove(&self);
        if file.is_none() {
            // Somebody else was faster.
            return;
        }
        self.own(own::KIND).store(0, Ordering::SeqCst);
        if self.word(HOLDERS).fetch_sub(1, Ordering::AcqRel) == 1 {
            self.word(field::KIND).store(0, Ordering::Release);
        }
        self.changed();
        self.waiting().fetch_and(!SHARED, Ordering::SeqCst);
        // SAFETY: nobody uses the page any more. If it cannot be had anew, its slots are lost, nothing else.
        if unsafe { ipc::map_zeros_at(self.0, PAGE as usize) }.is_ok() {
            signals.slots.give_page(self.0);
        }
    }

    /// A doorbell: device code stores to the word at `doorbell`.
    pub(crate) fn doorbell(
        kind: Kind,
        doorbell: u64,
        queue: u64,
        announce: impl Fn(u64, u64),
    ) -> Option<Signal> {
        let signal = Signal::new(doorbell as i64, announce)?;
        signal.word(field::EVENT_MAILBOX_PTR).store(0, Ordering::Relaxed);
        signal.word(field::EVENT_ID).store(0, Ordering::Relaxed);
        signal.set_kind(kind, queue);
        Some(signal)
    }

    /// The signal with this handle, if there is one.
    #[inline]
    pub fn from_handle(handle: u64) -> Option<Signal> {
        signals()?.slots.index(handle).filter(|&i| i > 0)?;
        let signal = Signal(handle);
        signal.kind().map(|_| signal)
    }

    /// The signal as programs name it.
    pub fn handle(self) -> u64 {
        self.0
    }

    /// What it is; `None` after it was destroyed.
    #[inline]
    pub fn kind(self) -> Option<Kind> {
        match self.own(own::KIND).load(Ordering::Acquire) as i64 {
            1 => Some(Kind::User),
            -1 => Some(Kind::Doorbell),
            -2 => Some(Kind::LegacyDoorbell),
            _ => None,
        }
    }

    /// The number of the event that device code raises for it; 0 when nobody sleeps on events of it.
    pub fn event(self) -> u32 {
        self.word(field::EVENT_ID).load(Ordering::Relaxed) as u32
    }

    /// Destroys the signal; false when somebody else was faster.
    pub fn destroy(self) -> bool {
        let Some(signals) = signals() else { return false };
        if self.shared_file().is_some() {
            self.leave();
            return true;
        }
        let alive = observed(
            || self.own(own::KIND).swap(0, Ordering::SeqCst) != 0,
            |alive| alive.then_some(HostEvent::SignalDestroyed { signal: self.0 }),
        );
        if alive {
            self.word(field::KIND).store(0, Ordering::Release);
            // Who waits for it has waited in vain.
            self.changed();
            signals.slots.give(self.0);
        }
        alive
    }

    #[inline]
    fn word(self, offset: u64) -> &'static AtomicU64 {
        // SAFETY: every `Signal` is a slot of the arena, which is never unmapped; see `Arena::word`.
        unsafe { &*((self.0 + offset) as *const AtomicU64) }
    }

    /// The value, for atomics. Whoever changes it calls [`Signal::changed`].
    #[inline]
    pub fn value(self) -> &'static AtomicI64 {
        // SAFETY: as in `word`; both atomics have the same layout.
        unsafe { &*((self.0 + field::VALUE) as *const AtomicI64) }
    }

    /// The lower half of the value, to sleep on.
    fn bell(self) -> &'static AtomicU32 {
        // SAFETY: as in `word`: the first four bytes of an aligned word. The kernel compares them when a thread goes
        // to sleep, nothing else reads them through this reference.
        unsafe { &*((self.0 + field::VALUE) as *const AtomicU32) }
    }

    #[inline]
    fn own(self, offset: u64) -> &'static AtomicU64 {
        static NONE: AtomicU64 = AtomicU64::new(0);
        let found = signals().and_then(|s| Some(s.own.word(s.own.slot(s.slots.index(self.0)?) + offset)));
        found.unwrap_or(&NONE)
    }

    #[inline]
    fn waiting(self) -> &'static AtomicU64 {
        self.own(own::WAITING)
    }

    /// Wakes whoever waits for this signal.
    #[inline]
    pub fn changed(self) {
        let waiting = sleeping(self.waiting());
        if waiting != 0 {
            self.wake(waiting);
        }
    }

    /// Wakes whoever waits, and lets the GPUs go on, after a change by the host.
    #[inline]
    pub fn changed_by_host(self) {
        self.changed();
        turns::pump();
    }

    #[cold]
    fn wake(self, waiting: u64) {
        let shared = waiting & SHARED != 0;
        if waiting as u32 != 0 || shared {
            waiters::wake(self.bell());
        }
        if waiting >> 32 != 0 {
            waiters::event();
        }
    }

    /// When the packet that completes it started and ended, in nanoseconds of [`now`].
    pub fn times(self) -> (u64, u64) {
        (self.word(field::START_TS).load(Ordering::Acquire), self.word(field::END_TS).load(Ordering::Acquire))
    }

    /// Sets the times.
    pub(crate) fn set_times(self, start: u64, end: u64) {
        self.word(field::START_TS).store(start, Ordering::Release);
        self.word(field::END_TS).store(end, Ordering::Release);
    }

    /// Subtracts one, as completions do.
    pub fn complete(self, start: u64, end: u64) {
        if self.kind() == Some(Kind::User) {
            self.set_times(start, end);
            observed(
                || self.value().fetch_sub(1, Ordering::SeqCst).wrapping_sub(1),
                |new| Some(HostEvent::SignalCompleted { signal: self.0, new: *new }),
            );
            self.changed();
        }
    }

    /// The value, as the host reads it.
    #[inline]
    pub fn load(self) -> i64 {
        turns::pump();
        observed(
            || self.value().load(Ordering::SeqCst),
            |value| Some(HostEvent::SignalLoaded { signal: self.0, value: *value }),
        )
    }

    /// Changes the value for the host; the answer is the old one. Whoever waits is woken by [`Signal::changed`].
    #[inline]
    pub fn update(self, operation: &'static str, change: impl FnOnce(&AtomicI64) -> i64) -> i64 {
        observed(
            || change(self.value()),
            |old| {
                let new = self.value().load(Ordering::SeqCst);
                Some(HostEvent::SignalChanged { signal: self.0, operation, old: *old, new })
            },
        )
    }

    /// Says that what was to complete it has failed.
    pub fn fail(self) {
        if self.kind() == Some(Kind::User) {
            self.value().store(-1, Ordering::SeqCst);
            self.changed();
        }
    }

    /// A doorbell's queue.
    pub fn queue(self) -> u64 {
        self.own(own::QUEUE).load(Ordering::Relaxed)
    }

    /// Waits until the value meets a condition or time is over, and returns the value seen last. `active` asks for a
    /// fast answer rather than an idle processor.
    pub fn wait(self, condition: Condition, compare: i64, timeout: Option<Duration>, active: bool) -> i64 {
        tell(HostEvent::WaitStarted { signal: self.0 });
        let value = self.sleep(condition, compare, timeout, active);
        tell(HostEvent::WaitEnded { signal: self.0, value });
        value
    }

    fn sleep(self, condition: Condition, compare: i64, timeout: Option<Duration>, active: bool) -> i64 {
        let load = || self.value().load(Ordering::SeqCst);
        let mut value = load();
        if condition.holds(value, compare) || timeout == Some(Duration::ZERO) {
            return value;
        }
        let began = Instant::now();
        while turns::active() {
            if !turns::rest(false, || false) {
                turns::wait();
            }
            value = load();
            if condition.holds(value, compare) || timeout.is_some_and(|t| began.elapsed() >= t) {
                return value;
            }
        }
        let spin = if active { ACTIVE_SPIN } else { SPIN };
        loop {
            if let Some(value) = waiters::spin(|| Some(load()).filter(|v| condition.holds(*v, compare))) {
                return value;
            }
            value = load();
            let past = began.elapsed();
            if timeout.is_some_and(|t| past >= t) {
                return value;
            }
            if past >= spin {
                break;
            }
        }
        loop {
            let last = Cell::new(value);
            let look = || {
                last.set(load());
                let waits = !condition.holds(last.get(), compare) && self.kind().is_some();
                waits.then_some(last.get() as u32)
            };
            doze(self.waiting(), look, |seen| {
                let left = timeout.map(|t| t.saturating_sub(began.elapsed()));
                let sleeper =
                    waiters::register(Word::Value(self.word(field::VALUE)), last.get() as u64, self.bell());
                waiters::sleep(self.bell(), seen, left);
                drop(sleeper);
                last.set(load());
            });
            value = last.get();
            // Nothing will change a signal that was destroyed.
            let over =
                timeout.is_some_and(|t| began.elapsed() >= t) || self.kind().is_none() || fork::forked();
            if over || condition.holds(value, compare) {
                return value;
            }
        }
    }
}

/// How long a thread looks at a value before it sleeps.
const SPIN: Duration = Duration::from_micros(10);
/// The same for those who ask for a fast answer.
const ACTIVE_SPIN: Duration = Duration::from_micros(50);

impl Signals {
    fn extent(&self) -> (u64, u64) {
        (self.slots.start(), self.slots.used())
    }

    fn show(&self, announce: impl Fn(u64, u64)) {
        let (start, len) = self.extent();
        announce(start, len);
    }
}

/// Listens to several signals at once.
pub(crate) struct Listener {
    signals: Vec<Signal>,
}

impl Listener {
    /// Starts to listen.
    pub(crate) fn new(signals: Vec<Signal>) -> Listener {
        for signal in &signals {
            signal.waiting().fetch_add(1 << 32, Ordering::SeqCst);
        }
        Listener { signals }
    }

    /// Sleeps until one of the signals changes, [`waiters::event`] is called or time is over, unless `done` already
    /// says true.
    pub(crate) fn sleep(&self, limit: Option<Duration>, done: impl FnOnce() -> bool) {
        let shared = |s: &Signal| s.waiting().load(Ordering::Relaxed) & SHARED != 0;
        let limit = match self.signals.iter().any(shared) {
            true => Some(limit.map_or(SHARED_SLEEP, |l| l.min(SHARED_SLEEP))),
            false => limit,
        };
        let events = waiters::events();
        let seen = events.load(Ordering::SeqCst);
        let registered: Vec<_> = self
            .signals
            .iter()
            .map(|s| {
                let word = Word::Value(s.word(field::VALUE));
                waiters::register(word, word.load(), events)
            })
            .collect();
        if !done() {
            waiters::sleep_for_event(seen, limit);
        }
        drop(registered);
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        for signal in &self.signals {
            signal.waiting().fetch_sub(1 << 32, Ordering::SeqCst);
        }
    }
}

/// One of several things to wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// The signal.
    pub signal: Signal,
    /// What to wait for.
    pub condition: Condition,
    /// What to compare with.
    pub compare: i64,
}

impl Wanted {
    /// The value, if it meets the condition, or if the signal was destroyed and nothing will change it any more.
    pub fn met(&self) -> Option<i64> {
        let value = self.signal.value().load(Ordering::SeqCst);
        (self.condition.holds(value, self.compare) || self.signal.kind().is_none()).then_some(value)
    }
}

/// Waits until one of several conditions is met; tells which and the value. `None` when time is over or `stop` is set.
pub fn wait_any(
    wanted: &[Wanted],
    timeout: Option<Duration>,
    stop: Option<&AtomicBool>,
) -> Option<(usize, i64)> {
    let began = Instant::now();
    let met = || wanted.iter().enumerate().find_map(|(i, w)| Some((i, w.met()?)));
    let over = || {
        timeout.is_some_and(|t| began.elapsed() >= t)
            || stop.is_some_and(|s| s.load(Ordering::SeqCst))
            || fork::forked()
    };
    while turns::active() {
        if let Some(found) = met() {
            return Some(found);
        }
        if over() {
            return None;
        }
        if !turns::rest(false, over) {
            turns::wait();
        }
    }
    loop {
        if let Some(found) = waiters::spin(met) {
            return Some(found);
        }
        if over() {
            return None;
        }
        if began.elapsed() >= SPIN {
            break;
        }
    }
    let listener = Listener::new(wanted.iter().map(|w| w.signal).collect());
    loop {
        if let Some(found) = met() {
            return Some(found);
        }
        if over() {
            return None;
        }
        let left = timeout.map(|t| t.saturating_sub(began.elapsed()));
        listener.sleep(left, || met().is_some() || over());
    }
}

/// The system clock that times are told in: nanoseconds.
pub fn now() -> u64 {
    use rustix::time::{ClockId, clock_gettime};
    #[cfg(target_os = "linux")]
    let clock = ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    let clock = ClockId::Monotonic;
    let t = clock_gettime(clock);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}
