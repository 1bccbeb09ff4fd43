//! Running the work-groups of a dispatch on host threads.
//!
//! A work-group runs on one thread at a time, its waves in turn. What spins is preempted: a work-group that used up
//! its turns without a wave ending or reaching a barrier is parked, and another one runs, started in order or parked
//! before. So a wave may wait for what a later work-group, another dispatch or the host will write.
//!
//! A wave whose scalar state is the same after a turn as before it most likely waits. Its work-group is parked at
//! once, a new one is started instead if there is room, and its next turns are short: a barrier across a grid of
//! hundreds of work-groups costs each of them a few hundred instructions. A wrong guess costs time, nothing else.
//!
//! Work-groups whose waves wait for their turn at an ordered counter are not tried before it has come.

mod held;

use crate::control::{Callback, Control, Host};
use crate::group::Group;
use crate::hold::{Controller, Dispatch, HoldReason, WaveState};
use crate::interrupt;
use crate::launch::Plan;
use crate::loader::Loaded;
use crate::memory::Allocations;
use crate::observe::{Observers, Scene};
use crate::operands::Registers;
use crate::record::{Log, Mismatch, turn_line};
use crate::traps::DEBUGGER_TRAPS;
use crate::whereabouts::{self, Left};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use wavemill_isa::Target;
use wavemill_wave::alone::Present;
use wavemill_wave::{Caches, Counters, Engine, Event, Fault, Global, Observer, Order, Turns, Wave};

/// Instructions a wave may execute before the next one of its work-group has its turn.
const BUDGET: u64 = 16384;
/// The same for the first turns after progress, which show whether a work-group waits.
const FIRST_BUDGET: u64 = 2048;
/// The same for work-groups that wait.
const WAITING_BUDGET: u64 = 256;
/// A thread looks at the clock, and its host at memory, once in so many turns of work-groups that get on: each of them takes little
/// time.
const TURNS_A_LOOK: u32 = 16;
/// Turns of all its waves without progress after which a work-group is parked.
const TURNS: u32 = 6;

/// Why a dispatch was stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cause {
    /// A wave did something it must not.
    Fault(Fault),
    /// S_TRAP that only the runtime's own trap handler deals with.
    Trap(u8),
    /// S_TRAP 1, the HSA debugtrap, with its argument: what v0 holds in the first active lane.
    Debugtrap(u32),
    /// Exceptions that the kernel lets trap, as bits of TRAPSTS.
    Exception(u32),
    /// S_SETHALT, and nothing can resume the wave.
    Halt,
    /// An observer has stopped the wave, and nothing can resume it.
    Observer,
    /// What the waves do is not what the record says.
    Replay(Mismatch),
    /// The time allowed is over.
    Timeout(Duration),
    /// Whoever asked for it does not want it any more.
    Cancelled,
    /// Somebody wants to know where it is, and no more of it.
    Interrupted,
    /// The emulator itself failed; it has printed a message.
    Internal,
}

/// Where a dispatch was stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stop {
    /// Why.
    pub cause: Cause,
    /// Work-group.
    pub group: [u32; 3],
    /// Its size in work-items.
    pub group_size: [u32; 3],
    /// Wave in the work-group.
    pub wave: u32,
    /// Waves of the work-group.
    pub waves: u32,
    /// Address of the instruction.
    pub pc: u64,
    /// EXEC.
    pub exec: u64,
    /// The wave's registers, if it faulted.
    pub registers: Option<Arc<Registers>>,
}

/// What came of a dispatch.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// Instructions executed.
    pub counters: Counters,
    /// CPU time of all threads.
    pub cpu_ns: u64,
    /// Waves that ran to their end.
    pub waves: u64,
    /// Where it was stopped, if it was.
    pub stop: Option<Stop>,
    /// The waves that had not ended, if it was stopped from outside.
    pub left: Vec<Left>,
    /// Work-groups that had begun by then.
    pub begun: u64,
}

enum Ran {
    Finished,
    Parked,
    /// Somebody has paused the dispatch.
    Paused,
    /// Nothing can go on before a wave is let go that is held.
    Held,
    Stopped,
}

/// Work-groups go from hand to hand: boxed, they need not be copied.
#[derive(Default)]
#[allow(clippy::vec_box)]
struct Shared {
    parked: VecDeque<Box<Group>>,
    /// Work-groups that wait for their turn at an ordered counter, by the place of their first wave. They cannot go on
    /// before earlier ones, so nobody tries.
    ordered: BTreeMap<u64, Box<Group>>,
    /// Work-groups in which nothing can go on before a wave is let go that is held.
    held: Vec<Box<Group>>,
    /// Threads that run a work-group, counted when somebody may pause them.
    busy: usize,
    /// Work-groups that ended: their memory serves the next.
    spare: Vec<Box<Group>>,
    slots: u32,
    /// Turns of parked work-groups since a new one was started.
    turns: usize,
    /// The last work-group that was parked waits for something: perhaps for one that has not been started.
    starve: bool,
    workers: usize,
    outcome: Outcome,
}

/// One dispatch being run.
pub(crate) struct Job {
    plan: Plan,
    target: Target,
    engine: Arc<dyn Engine>,
    memory: Arc<Allocations>,
    global: Arc<Global>,
    order: Option<Arc<Order>>,
    deadline: Option<(Instant, Duration)>,
    next: AtomicU64,
    parked: AtomicUsize,
    stopped: AtomicBool,
    /// Set from outside.
    cancel: Arc<AtomicBool>,
    /// CPU time is measured.
    timed: bool,
    /// Free threads help jobs of higher priority first.
    priority: u32,
    /// Whom to tell, from when on, that the dispatch takes long.
    slow: Option<(Instant, Callback)>,
    told: AtomicBool,
    host: Option<Arc<dyn Host>>,
    /// Who may hold its waves.
    controller: Option<Arc<Controller>>,
    /// What turns of waves are recorded in.
    log: Option<Arc<Log>>,
    /// Who looks on, and what its waves get of them.
    observers: Observers,
    wave_observer: Option<Arc<dyn Observer>>,
    shared: Mutex<Shared>,
    idle: Condvar,
    /// Held waves may go on.
    resumed: Condvar,
}

/// What a worker has of its own.
struct Local {
    /// What waves are made like.
    prototype: Wave,
    spare: Option<Box<Group>>,
    counters: Counters,
    waves: u64,
    /// What waves had executed before their turn.
    before: Vec<u64>,
    /// Turns of work-groups.
    turns: u32,
}

/// CPU time this thread has used.
fn thread_cpu_ns() -> u64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

impl Job {
    pub(crate) fn new(
        plan: Plan,
        target: Target,
        engine: Arc<dyn Engine>,
        memory: Arc<Allocations>,
        global: Arc<Global>,
        timeout: Option<Duration>,
    ) -> Job {
        let deadline = timeout.and_then(|t| Some((Instant::now().checked_add(t)?, t)));
        Job {
            order: plan.ordered.then(Arc::default),
            plan,
            target,
            engine,
            memory,
            global,
            deadline,
            next: AtomicU64::new(0),
            parked: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            cancel: Arc::default(),
            timed: true,
            priority: 0,
            slow: None,
            told: AtomicBool::new(false),
            host: None,
            controller: None,
            log: None,
            observers: Observers::default(),
            wave_observer: None,
            shared: Mutex::default(),
            idle: Condvar::new(),
            resumed: Condvar::new(),
        }
    }

    /// The same job, as a queue wants it.
    pub(crate) fn controlled(mut self, control: &Control<'_>, object: &Arc<Loaded>) -> Job {
        self.cancel = control.stop.clone();
        self.timed = control.timed;
        self.priority = control.priority;
        self.slow = control.slow.map(|(after, tell)| (Instant::now() + after, tell.clone()));
        self.host = control.host.cloned();
        self.observers = control.observers.clone();
        let (plan, target, memory) = (&self.plan, &self.target, &self.memory);
        self.wave_observer = self.observers.of_waves(&Scene { plan, target, memory, object });
        self
    }

    /// The same job, with somebody who may hold its waves.
    pub(crate) fn held_by(mut self, controller: Option<Arc<Controller>>) -> Job {
        self.controller = controller;
        self
    }

    /// The same job, whose waves' turns are recorded.
    pub(crate) fn logged(mut self, log: Option<Arc<Log>>) -> Job {
        self.log = log;
        self
    }

    /// Free threads help jobs of higher priority first.
    pub(crate) fn priority(&self) -> u32 {
        self.priority
    }

    /// Tells whoever wants to know that there is a dispatch now.
    pub(crate) fn begin(self: &Arc<Self>) {
        if let Some(controller) = &self.controller {
            let job: Arc<dyn Dispatch> = self.clone();
            controller.add(&job);
        }
        self.observers.tell(|o| o.dispatch_started(&self.plan));
    }

    fn cpu_ns(&self) -> u64 {
        if self.timed { thread_cpu_ns() } else { 0 }
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many threads can work on it.
    pub(crate) fn width(&self) -> u64 {
        self.plan.group_count()
    }

    /// Runs work-groups until none is left for this thread, which may be the only one that is asked to.
    pub(crate) fn work(&self, only: bool) {
        let _present = if only { Present::perhaps_alone() } else { Present::among_others() };
        self.lock().workers += 1;
        let mut worker = Worker { job: self, local: self.local(), began: self.cpu_ns() };
        let local = &mut worker.local;
        while !self.stopped.load(Ordering::Relaxed) {
            let Some(mut group) = self.next_group(local) else { break };
            match self.run_group(&mut group, local) {
                Ran::Finished => local.spare = Some(group),
                Ran::Parked => self.park(group),
                Ran::Paused => {
                    self.lock().parked.push_front(group);
                    self.parked.fetch_add(1, Ordering::Release);
                }
                Ran::Held => self.lock().held.push(group),
                Ran::Stopped => {
                    whereabouts::note(&group, &mut self.lock().outcome.left);
                    self.rest();
                    break;
                }
            }
            self.rest();
        }
        self.engine.rest();
    }

    fn local(&self) -> Local {
        let mut prototype = self.plan.prototype(&self.target);
        // A trap handler may look at them at any time.
        prototype.forgets = self.unattended() && prototype.trap_handler() == 0;
        prototype.observer.clone_from(&self.wave_observer);
        let (counters, waves) = (Counters::default(), 0);
        Local { prototype, spare: None, counters, waves, before: Vec::new(), turns: 0 }
    }

    /// The next work-group to run. Where somebody may hold waves, waits until one may run.
    fn next_group(&self, local: &mut Local) -> Option<Box<Group>> {
        let Some(controller) = &self.controller else { return self.take(local) };
        loop {
            // Whoever pauses the dispatch waits for those that were busy before they could see it.
            self.lock().busy += 1;
            if !controller.is_paused()
                && let Some(group) = self.take(local)
            {
                return Some(group);
            }
            self.rest();
            self.tell_if_slow();
            let mut shared = self.lock();
            let left = !shared.held.is_empty()
                || !shared.parked.is_empty()
                || !shared.ordered.is_empty()
                || self.next.load(Ordering::Relaxed) < self.plan.group_count();
            if !left || self.stopped.load(Ordering::Relaxed) {
                return None;
            }
            // Time passes for those that are held, too. They stay where others find them until it is over.
            if let Some(cause) = self.unwanted().or_else(|| self.over()) {
                let group = shared.held.pop().or_else(|| {
                    let group = shared.parked.pop_front();
                    group.inspect(|_| _ = self.parked.fetch_sub(1, Ordering::Release))
                });
                if let Some(group) = group {
                    drop(shared);
                    self.stop_waiting(&group, cause);
                    return None;
                }
            }
            if controller.is_paused() || !shared.held.is_empty() {
                let pause = Duration::from_millis(20);
                drop(self.resumed.wait_timeout(shared, pause).unwrap_or_else(PoisonError::into_inner));
            }
        }
    }

    /// This thread runs no work-group for the moment.
    fn rest(&self) {
        if let Some(controller) = &self.controller {
            self.lock().busy -= 1;
            controller.changed();
        }
    }

    /// Waits for all threads, and tells what came of it.
    pub(crate) fn finish(&self) -> Outcome {
        let mut shared = self.lock();
        while shared.workers > 0 {
            shared = self.idle.wait(shared).unwrap_or_else(PoisonError::into_inner);
        }
        let mut outcome = std::mem::take(&mut shared.outcome);
        for group in shared.parked.iter().chain(&shared.held).chain(shared.ordered.values()) {
            whereabouts::note(group, &mut outcome.left);
        }
        outcome.begun = self.next.load(Ordering::Relaxed).min(self.plan.group_count());
        drop(shared);
        if let Some(controller) = &self.controller {
            controller.changed();
        }
        let number = self.plan.number;
        self.observers.tell(|o| o.dispatch_ended(number, outcome.waves, outcome.stop.is_none()));
        outcome
    }

    /// A work-group whose turn at an ordered counter has come.
    fn take_turn(&self, order: &Order) -> Option<Box<Group>> {
        let mut shared = self.lock();
        let place = order.find(|(counter, place)| {
            let (first, group) = shared.ordered.range(..=place).next_back()?;
            let mut waves = group.waiting();
            waves.any(|w| w.place == place && w.awaited_turn() == Some(counter)).then_some(*first)
        })?;
        shared.ordered.remove(&place)
    }

    /// The next work-group to run: a new one, or when some are parked, each of them in turn before a new one.
    fn take(&self, local: &mut Local) -> Option<Box<Group>> {
        if let Some(group) = self.order.as_ref().and_then(|order| self.take_turn(order)) {
            return Some(group);
        }
        if self.parked.load(Ordering::Acquire) > 0 {
            let mut shared = self.lock();
            let turn_is_new = shared.starve || shared.turns >= shared.parked.len();
            if turn_is_new && let Some(group) = self.start_next(local, &mut shared) {
                shared.turns = 0;
                return Some(group);
            }
            if let Some(group) = shared.parked.pop_front() {
                self.parked.fetch_sub(1, Ordering::Release);
                shared.turns += 1;
                return Some(group);
            }
        }
        if let Some(mut group) = local.spare.take() {
            if let Some(index) = self.claim() {
                self.start(&mut group, index, &local.prototype);
                return Some(group);
            }
            local.spare = Some(group);
        }
        let mut shared = self.lock();
        let new = self.start_next(local, &mut shared);
        new.or_else(|| {
            let group = shared.parked.pop_front()?;
            self.parked.fetch_sub(1, Ordering::Release);
            Some(group)
        })
        .or_else(|| {
            self.order.as_ref()?;
            // Others run those whose turn it is. Somebody has to look at the time meanwhile.
            drop(shared);
            std::thread::yield_now();
            self.lock().ordered.pop_first().map(|(_, group)| group)
        })
    }

    /// The number of the next work-group that has not been started.
    fn claim(&self) -> Option<u64> {
        // Near the end every thread adds one too many; the count cannot come near overflow.
        let total = self.plan.group_count();
        if self.next.load(Ordering::Relaxed) >= total {
            return None;
        }
        Some(self.next.fetch_add(1, Ordering::Relaxed)).filter(|&n| n < total)
    }

    fn start_next(&self, local: &mut Local, shared: &mut Shared) -> Option<Box<Group>> {
        let mut group = local.spare.take().or_else(|| shared.spare.pop());
        if group.is_none() && shared.slots < self.plan.resident {
            group = Some(Box::new(Group::new(shared.slots, self.plan.lds)));
            shared.slots += 1;
        }
        let mut group = group?;
        match self.claim() {
            Some(index) => {
                self.start(&mut group, index, &local.prototype);
                Some(group)
            }
            None => {
                shared.spare.push(group);
                None
            }
        }
    }

    /// Makes a work-group's waves ready to run.
    fn start(&self, group: &mut Group, index: u64, prototype: &Wave) {
        let plan = &self.plan;
        group.id = plan.group_id(index);
        group.size = plan.group_size(group.id);
        if plan.lds > 0 {
            group.shared.lds.clear();
        }
        group.shared.scratch_base = plan.scratch.hidden_base();
        if !Arc::ptr_eq(&group.shared.global, &self.global) {
            group.shared.global = self.global.clone();
        }
        if self.order.is_some() {
            group.shared.order.clone_from(&self.order);
        }
        let count = Plan::wave_count(group.size);
        while group.waves.len() < count as usize {
            group.waves.push(plan.wave(&self.target, group.slot, group.waves.len() as u32));
        }
        let waves = &mut group.waves[..count as usize];
        plan.start(waves, prototype, (group.id, group.size), group.slot, &mut group.ids);
        if plan.caches {
            let caches = Some(Arc::<Caches>::default());
            waves.iter_mut().for_each(|wave| wave.caches.clone_from(&caches));
        }
        self.observers.tell(|o| {
            o.group_started(plan.number, group.id);
            group.waves.iter().take(count as usize).for_each(|w| o.wave_started(w.id));
        });
        group.states.clear();
        group.states.resize(count as usize, WaveState::Ready);
        group.fresh = true;
        group.mark = 0;
        group.waits = false;
        group.parked = 0;
        group.host_traps = plan.traps.host.latest().0;
    }

    /// A work-group is over.
    fn ended(&self, group: &Group) {
        if let Some(caches) = group.waves.first().and_then(|w| w.caches.as_deref()) {
            caches.flush(self.memory.memory());
        }
        self.observers.tell(|o| o.group_ended(self.plan.number, group.id));
    }

    /// Tells the waves of a trap that the host has asked for.
    fn host_trap(&self, group: &mut Group) {
        let (count, id) = self.plan.traps.host.latest();
        if count != group.host_traps {
            group.host_traps = count;
            let waves = group.waves.iter_mut().zip(&group.states);
            waves.filter(|(_, s)| **s != WaveState::Ended).for_each(|(wave, _)| wave.host_trap(id));
        }
    }

    fn park(&self, group: Box<Group>) {
        let mut shared = self.lock();
        if self.order.is_some() && group.awaits_turn() {
            let first = group.waves[0].place;
            shared.ordered.insert(first, group);
            return;
        }
        let alone = shared.parked.is_empty();
        let waits = group.waits;
        shared.starve = waits || group.parked > 2;
        shared.parked.push_back(group);
        self.parked.fetch_add(1, Ordering::Release);
        drop(shared);
        if waits && alone {
            // Whatever it waits for needs the processor more.
            std::thread::yield_now();
        }
    }

    fn run_group(&self, group: &mut Group, local: &mut Local) -> Ran {
        let mut idle_turns = 0;
        loop {
            local.turns = local.turns.wrapping_add(1);
            let due = local.turns.is_multiple_of(TURNS_A_LOOK);
            if self.out_of_time(group, due || idle_turns > 0 || group.parked > 0) {
                return Ran::Stopped;
            }
            if self.controller.as_ref().is_some_and(|c| c.is_paused()) {
                return Ran::Paused;
            }
            self.host_trap(group);
            let mut progress = false;
            let mut asleep = true;
            let budget = match (group.waits, idle_turns) {
                (true, _) => WAITING_BUDGET,
                (false, ..2) => FIRST_BUDGET,
                (false, _) => (BUDGET >> group.parked.min(8)).max(FIRST_BUDGET),
            };
            let mut run: Option<(usize, u64, Event)> = None;
            for i in 0..group.states.len() {
                if group.states[i] != WaveState::Ready {
                    continue;
                }
                if self.stopped.load(Ordering::Relaxed) {
                    Self::count(group, local);
                    return Ran::Stopped;
                }
                if run.is_none() && self.unattended() {
                    run = self.run_in_turn(group, i, budget, local);
                    if group.states[i] != WaveState::Ready {
                        progress = true;
                        continue;
                    }
                }
                let wave = &mut group.waves[i];
                if let Some(controller) = &self.controller {
                    if controller.is_paused() {
                        return Ran::Paused;
                    }
                    if controller.wants(&wave.id) {
                        group.states[i] = WaveState::Held(HoldReason::Asked);
                        controller.changed();
                        continue;
                    }
                }
                let (before, mut run) = match run.take_if(|(at, ..)| *at == i) {
                    Some((_, before, event)) => (before, Some(event)),
                    None => (wave.counters.total(), None),
                };
                let event = loop {
                    let again = || self.engine.run(wave, &group.shared, self.memory.memory(), budget);
                    match run.take().unwrap_or_else(again) {
                        // A message tells the host that a signal has changed; the wave goes on.
                        Event::Message { .. } => {
                            if let Some(host) = &self.host {
                                host.message();
                            }
                            if wave.counters.total() - before >= budget {
                                break Event::Preempted;
                            }
                        }
                        // A debugger does not ignore what is for it.
                        Event::Trap(id)
                            if self.plan.kernel.setup.ignores_trap(id) && self.controller.is_none() =>
                        {
                            if wave.counters.total() - before >= budget {
                                break Event::Preempted;
                            }
                        }
                        event => break event,
                    }
                };
                if let Some(log) = &self.log
                    && let Err(mismatch) = log.note(&turn_line(wave, wave.counters.total() - before, &event))
                {
                    let pc = wave.pc;
                    return self.stop(group, i, local, pc, Cause::Replay(mismatch));
                }
                match event {
                    Event::End => {
                        group.states[i] = WaveState::Ended;
                        if let Some(order) = &self.order {
                            order.ended(wave.place);
                        }
                        local.counters.add(&wave.counters);
                        local.waves += 1;
                        self.observers.tell(|o| o.wave_ended(wave.id));
                        progress = true;
                    }
                    Event::Barrier => {
                        group.states[i] = WaveState::Barrier;
                        progress = true;
                    }
                    Event::Preempted | Event::Message { .. } => {
                        asleep &= wave.counters.total() - before < budget;
                    }
                    Event::Fault(fault) => {
                        let pc = fault.pc;
                        return self.stop(group, i, local, pc, Cause::Fault(fault));
                    }
                    event if let Some((reason, controller)) = self.holds(&event) => {
                        group.states[i] = WaveState::Held(reason);
                        controller.changed();
                        progress = true;
                    }
                    // The PC is behind these instructions, which take four bytes.
                    Event::Trap(id) => {
                        let pc = wave.pc.wrapping_sub(4);
                        let lane = wave.exec().trailing_zeros() as usize & 63;
                        let cause = match id {
                            1 => Cause::Debugtrap(wave.vgpr(0).map_or(0, |v| v[lane])),
                            id => Cause::Trap(id),
                        };
                        return self.stop(group, i, local, pc, cause);
                    }
                    Event::Exception { trapsts, pc } => {
                        return self.stop(group, i, local, pc, Cause::Exception(trapsts));
                    }
                    Event::Halt => {
                        let pc = wave.pc.wrapping_sub(4);
                        return self.stop(group, i, local, pc, Cause::Halt);
                    }
                    Event::Stopped => {
                        let pc = wave.pc;
                        return self.stop(group, i, local, pc, Cause::Observer);
                    }
                }
            }
            // The waves may have stored to a doorbell or to a signal that somebody sleeps on. Who waits for an answer makes no
            // progress.
            if let Some(host) = self.host.as_ref().filter(|_| due || !progress) {
                host.turn_ended();
            }
            if group.is_over() {
                self.ended(group);
                return Ran::Finished;
            }
            self.release_barrier(group);
            if self.controller.is_some() && group.is_held() {
                return Ran::Held;
            }
            if progress {
                idle_turns = 0;
                group.waits = false;
                group.mark = 0;
                group.parked = 0;
                continue;
            }
            idle_turns += 1;
            let mark = group.fingerprint();
            group.waits = asleep || mark == group.mark;
            group.mark = mark;
            if group.waits || idle_turns >= TURNS >> group.parked.min(8) {
                group.parked += 1;
                return Ran::Parked;
            }
        }
    }

    /// Whether nobody wants to know of each wave when it ends.
    fn unattended(&self) -> bool {
        self.controller.is_none() && self.log.is_none() && self.order.is_none() && self.observers.is_empty()
    }

    /// Runs the waves from one on that can run, as long as they end or reach a barrier. The next one has come to something
    /// else; what it had executed before is told, too.
    fn run_in_turn(
        &self,
        group: &mut Group,
        first: usize,
        budget: u64,
        local: &mut Local,
    ) -> Option<(usize, u64, Event)> {
        let ready =
            group.states[first..].iter().take(Turns::MOST).take_while(|s| **s == WaveState::Ready).count();
        let waves = &mut group.waves[first..first + ready];
        local.before.clear();
        // A wave that has not run has executed nothing.
        if !std::mem::take(&mut group.fresh) {
            local.before.extend(waves.iter().map(|w| w.counters.total()));
        }
        let memory = self.memory.memory();
        let Turns { done, at_barrier, other } = self.engine.run_in_turn(waves, &group.shared, memory, budget);
        for (i, (wave, state)) in waves.iter().zip(&mut group.states[first..]).take(done).enumerate() {
            *state = if at_barrier >> i & 1 != 0 {
                WaveState::Barrier
            } else {
                local.counters.add(&wave.counters);
                local.waves += 1;
                WaveState::Ended
            };
        }
        other.map(|event| (first + done, local.before.get(done).copied().unwrap_or(0), event))
    }

    /// Why a wave is held after an event that ends a dispatch which nobody holds.
    fn holds(&self, event: &Event) -> Option<(HoldReason, &Arc<Controller>)> {
        let reason = match event {
            Event::Halt => HoldReason::Halted,
            Event::Stopped => HoldReason::Observer,
            Event::Trap(id) if DEBUGGER_TRAPS.contains(id) => HoldReason::Trap(*id),
            _ => return None,
        };
        Some((reason, self.controller.as_ref()?))
    }

    /// Lets the waves go on that are at a barrier, when all have come there.
    fn release_barrier(&self, group: &mut Group) {
        if group.release_barrier() {
            self.observers.tell(|o| o.barrier_released(self.plan.number, group.id));
        }
    }

    /// Counts what the waves that have not ended have done.
    fn count(group: &Group, local: &mut Local) {
        for (wave, _) in group.waves.iter().zip(&group.states).filter(|(_, s)| **s != WaveState::Ended) {
            local.counters.add(&wave.counters);
        }
    }

    fn stop(&self, group: &Group, wave: usize, local: &mut Local, pc: u64, cause: Cause) -> Ran {
        Self::count(group, local);
        self.record(group, wave, pc, cause);
        Ran::Stopped
    }

    fn record(&self, group: &Group, wave: usize, pc: u64, cause: Cause) {
        self.stopped.store(true, Ordering::Relaxed);
        let faulted = matches!(cause, Cause::Fault(_));
        let registers = group.waves.get(wave).filter(|_| faulted).map(|w| Arc::new(Registers::of(w)));
        let stop = Stop {
            registers,
            cause,
            group: group.id,
            group_size: group.size,
            wave: wave as u32,
            waves: group.states.len() as u32,
            pc,
            exec: group.waves.get(wave).map_or(0, Wave::exec),
        };
        self.lock().outcome.stop.get_or_insert(stop);
    }

    /// Stops the dispatch when its time is over, if somebody is to look at the clock, or nobody wants it any more; the report
    /// shows a wave of the work-group that noticed.
    fn out_of_time(&self, group: &Group, look: bool) -> bool {
        if look {
            self.tell_if_slow();
        }
        let cause = self.unwanted().or_else(|| if look { self.over() } else { None });
        cause.map(|cause| self.stop_waiting(group, cause)).is_some()
    }

    /// Says that it takes long, once.
    fn tell_if_slow(&self) {
        if let Some((after, tell)) = &self.slow
            && !self.told.load(Ordering::Relaxed)
            && Instant::now() >= *after
        {
            self.told.store(true, Ordering::Relaxed);
            tell();
        }
    }

    /// Why nothing may run any more: nobody wants it.
    fn unwanted(&self) -> Option<Cause> {
        if self.cancel.load(Ordering::Relaxed) {
            return Some(Cause::Cancelled);
        }
        interrupt::asked().then_some(Cause::Interrupted)
    }

    /// Why nothing may run any more: its time is over.
    fn over(&self) -> Option<Cause> {
        let (deadline, allowed) = self.deadline?;
        (Instant::now() >= deadline).then_some(Cause::Timeout(allowed))
    }

    /// The dispatch ends at a work-group that might go on, for a reason of its own.
    fn stop_waiting(&self, group: &Group, cause: Cause) {
        let wave = group.states.iter().position(|s| *s == WaveState::Ready).unwrap_or(0);
        self.record(group, wave, group.waves.get(wave).map_or(0, |w| w.pc), cause);
    }
}

/// A thread's part in a job; tells the job when it is over, whichever way it ends.
struct Worker<'a> {
    job: &'a Job,
    local: Local,
    began: u64,
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        let mut shared = self.job.lock();
        if std::thread::panicking() {
            self.job.stopped.store(true, Ordering::Relaxed);
            shared.outcome.stop.get_or_insert(Stop {
                cause: Cause::Internal,
                group: [0; 3],
                group_size: [0; 3],
                wave: 0,
                waves: 0,
                pc: 0,
                exec: 0,
                registers: None,
            });
        }
        shared.outcome.counters.add(&self.local.counters);
        shared.outcome.waves += self.local.waves;
        shared.outcome.cpu_ns += self.job.cpu_ns().saturating_sub(self.began);
        shared.spare.extend(self.local.spare.take());
        shared.workers -= 1;
        if shared.workers == 0 {
            self.job.idle.notify_all();
        }
    }
}
