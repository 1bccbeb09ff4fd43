//! Waves that are held: a dispatch paused as a whole or wave by wave, its waves listed, looked at, changed, stepped and let
//! go by another thread.
//!
//! A [`Controller`] is installed on a device ([`crate::Device::set_controller`]) before a dispatch begins. Then a wave that
//! halts itself, comes to a debugger's trap or is stopped by an observer does not end the dispatch: it is held, others go
//! on, and the dispatch waits until somebody lets the wave go.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use wavemill_wave::{Event, GroupShared, Memory, Wave, WaveId};

/// Why a wave is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HoldReason {
    /// Somebody asked for it.
    Asked,
    /// The wave has halted itself.
    Halted,
    /// S_TRAP for a debugger, with this id. The PC is behind it.
    Trap(u8),
    /// An observer has stopped it.
    Observer,
}

/// What a wave of a dispatch does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaveState {
    /// It runs, or will when it is its turn.
    Ready,
    /// It waits at a barrier.
    Barrier,
    /// It is held.
    Held(HoldReason),
    /// It has ended.
    Ended,
}

/// A wave that no thread runs at the moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaveStatus {
    /// Which wave it is.
    pub id: WaveId,
    /// What it does.
    pub state: WaveState,
    /// Address of its next instruction.
    pub pc: u64,
    /// EXEC.
    pub exec: u64,
}

/// A dispatch under way, as the controller sees it. Waves that some thread runs are not seen.
pub(crate) trait Dispatch: Send + Sync {
    fn is_busy(&self) -> bool;
    fn is_over(&self) -> bool;
    fn list(&self, out: &mut Vec<WaveStatus>);
    fn visit(&self, id: &WaveId, visitor: &mut dyn FnMut(&mut Wave, &GroupShared, &Memory)) -> bool;
    fn release(&self, id: &WaveId) -> bool;
    fn step(&self, id: &WaveId) -> Option<Event>;
    fn wake(&self);
}

#[derive(Default)]
struct Shared {
    dispatches: Vec<Weak<dyn Dispatch>>,
    /// Waves that are to be held.
    wanted: HashSet<WaveId>,
}

/// Holds waves of a device's dispatches.
#[derive(Default)]
pub struct Controller {
    paused: AtomicBool,
    /// How many waves are to be held, so that nobody looks when none is.
    wanted: AtomicUsize,
    shared: Mutex<Shared>,
    changed: Condvar,
}

impl Controller {
    /// One that holds nothing.
    pub fn new() -> Arc<Controller> {
        Arc::default()
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A dispatch begins.
    pub(crate) fn add(&self, dispatch: &Arc<dyn Dispatch>) {
        self.lock().dispatches.push(Arc::downgrade(dispatch));
        self.changed();
    }

    /// Something has happened that somebody may wait for.
    pub(crate) fn changed(&self) {
        // Whoever has looked and not gone to sleep yet holds the lock.
        drop(self.lock());
        self.changed.notify_all();
    }

    /// Whether the dispatches are paused.
    #[inline]
    pub fn is_paused(&self) -> bool {
        self.paused.load(Ordering::SeqCst)
    }

    /// Whether a wave is to be held.
    #[inline]
    pub(crate) fn wants(&self, id: &WaveId) -> bool {
        self.wanted.load(Ordering::SeqCst) > 0 && self.lock().wanted.contains(id)
    }

    fn dispatches(&self) -> Vec<Arc<dyn Dispatch>> {
        let mut shared = self.lock();
        shared.dispatches.retain(|d| d.strong_count() > 0);
        let all = shared.dispatches.iter().filter_map(Weak::upgrade);
        all.filter(|d| !d.is_over()).collect()
    }

    /// Waits until something is so; false when it is not after this time.
    fn wait_until(&self, limit: Duration, is: impl Fn() -> bool) -> bool {
        let began = Instant::now();
        loop {
            if is() {
                return true;
            }
            let Some(left) = limit.checked_sub(began.elapsed()) else { return false };
            // What was overlooked between the look and the sleep is seen soon.
            let nap = left.min(Duration::from_millis(5));
            drop(self.changed.wait_timeout(self.lock(), nap).unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Pauses all dispatches, those that begin later included, and waits until no wave runs; false when one still does
    /// after this time.
    pub fn pause(&self, limit: Duration) -> bool {
        self.paused.store(true, Ordering::SeqCst);
        self.wait_until(limit, || self.dispatches().iter().all(|d| !d.is_busy()))
    }

    /// Lets paused dispatches go on. Waves that are held one by one stay so.
    pub fn resume(&self) {
        self.paused.store(false, Ordering::SeqCst);
        self.dispatches().iter().for_each(|d| d.wake());
    }

    /// Waves of work-groups that have been started, in the order of their ids: all of them when the dispatches are paused,
    /// else those of work-groups that no thread runs.
    pub fn waves(&self) -> Vec<WaveStatus> {
        let mut all = Vec::new();
        self.dispatches().iter().for_each(|d| d.list(&mut all));
        all.sort_by_key(|w| (w.id.dispatch, w.id.group[2], w.id.group[1], w.id.group[0], w.id.wave));
        all
    }

    /// Holds a wave at the end of its turn, and waits until it is held; false when it is not after this time.
    pub fn hold(&self, id: WaveId, limit: Duration) -> bool {
        let mut shared = self.lock();
        shared.wanted.insert(id);
        self.wanted.store(shared.wanted.len(), Ordering::SeqCst);
        drop(shared);
        self.wait_until(limit, || {
            self.is_paused()
                || self.waves().iter().any(|w| w.id == id && matches!(w.state, WaveState::Held(_)))
        })
    }

    /// Waits until a wave is held, for whatever reason, and tells which; none when there is none after this time.
    pub fn wait_for_held(&self, limit: Duration) -> Option<WaveStatus> {
        let held = || self.waves().into_iter().find(|w| matches!(w.state, WaveState::Held(_)));
        self.wait_until(limit, || held().is_some());
        held()
    }

    /// Lets a wave go on that was held, a halted one too; false when it is not held.
    pub fn release(&self, id: WaveId) -> bool {
        let mut shared = self.lock();
        let wanted = shared.wanted.remove(&id);
        self.wanted.store(shared.wanted.len(), Ordering::SeqCst);
        drop(shared);
        self.dispatches().iter().any(|d| d.release(&id)) || wanted
    }

    /// Calls a function with a wave that no thread runs, what its work-group shares, and memory; none when there is no such
    /// wave. Whatever is changed is what the wave finds when it goes on.
    pub fn inspect<R>(
        &self,
        id: WaveId,
        visitor: impl FnOnce(&mut Wave, &GroupShared, &Memory) -> R,
    ) -> Option<R> {
        let (mut visitor, mut answer) = (Some(visitor), None);
        self.dispatches().iter().any(|d| {
            d.visit(&id, &mut |wave, group, memory| {
                answer = visitor.take().map(|f| f(wave, group, memory));
            })
        });
        answer
    }

    /// Runs one instruction of a wave that is held or whose dispatch is paused, on this thread; it stays held. The event is
    /// [`Event::Stopped`] unless something else happened. None when the wave cannot run: it does not exist, a thread runs
    /// it, it waits at a barrier, or it has ended.
    pub fn step(&self, id: WaveId) -> Option<Event> {
        self.dispatches().iter().find_map(|d| d.step(&id))
    }
}
