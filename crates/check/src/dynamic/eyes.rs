//! Where the events of waves arrive: they are put in the form that checks want, and handed to those that look on.
//!
//! What a work-group's checks know is behind a lock of its own that only the thread which runs the work-group takes. Accesses
//! come lane by lane, or of all lanes together; a thread gathers those of an instruction and hands them on.

use super::accesses::Accesses;
use super::book::Book;
use super::flight;
use super::scene::{Executed, Scene};
use super::watch::{Context, GroupWatch, Watch};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wavemill_device::launch::Plan;
use wavemill_wave::observe::{Access, Control, Instruction, Lanes, Space, WaitCounts, Wants};
use wavemill_wave::{Event, Observer, Wave};

/// Instructions that a thread remembers.
const KNOWN: usize = 1024;

/// Checks of a dispatch, by their numbers.
type Set = u32;

/// All numbers of a set, and whether each is in it.
fn members(set: Set) -> impl Iterator<Item = bool> {
    (0..).map(move |i| set >> i & 1 != 0)
}

/// An instruction, and who wants to be told of it.
struct Known {
    at: Executed,
    before: Set,
    idle: Set,
}

/// A work-group under way.
struct Group {
    watches: Vec<Box<dyn GroupWatch>>,
    left: u32,
}

/// Looks on at the waves of a dispatch.
pub struct Eyes {
    number: u64,
    scene: Arc<Scene>,
    book: Arc<Book>,
    watches: Vec<Box<dyn Watch>>,
    /// Those that look at nothing but accesses ([`Watch::is_narrow`]), and whether all do.
    narrow: Set,
    all_narrow: bool,
    groups: Mutex<HashMap<[u32; 3], Arc<Mutex<Group>>>>,
    /// A wave has faulted or trapped.
    faulted: AtomicBool,
    /// Work-groups that are over.
    over: AtomicU64,
    ended: AtomicBool,
}

/// What a thread has at hand.
struct Hand {
    eyes: u64,
    group: [u32; 3],
    state: Option<Arc<Mutex<Group>>>,
    known: Vec<Option<Rc<Known>>>,
    accesses: Accesses,
    running: Option<Rc<Known>>,
}

thread_local! {
    static HAND: RefCell<Hand> = const {
        RefCell::new(Hand {
            eyes: 0,
            group: [0; 3],
            state: None,
            known: Vec::new(),
            accesses: Accesses::new(),
            running: None,
        })
    };
}

impl Hand {
    /// The instruction at an address.
    fn known(&mut self, eyes: &Eyes, instruction: &Instruction) -> Rc<Known> {
        let slot = &mut self.known[instruction.pc as usize / 4 % KNOWN];
        let same =
            |k: &&Rc<Known>| k.at.step.at == instruction.pc && k.at.step.inst.bits == instruction.inst.bits;
        match slot.as_ref().filter(same) {
            Some(known) => known.clone(),
            None => {
                let at = Executed::clone(&eyes.scene.executed(instruction.pc, &instruction.inst));
                let before = eyes.those(|w| w.wants_before(&at));
                let idle = eyes.those(|w| w.wants_idle(&at));
                slot.insert(Rc::new(Known { at, before, idle })).clone()
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Checks of which something holds.
fn those(watches: &[Box<dyn Watch>], holds: impl Fn(&dyn Watch) -> bool) -> Set {
    (0..).zip(watches).fold(0, |set, (i, w)| set | Set::from(holds(&**w)) << i)
}

impl Eyes {
    /// Looks on with these checks.
    pub fn new(scene: Arc<Scene>, book: Arc<Book>, watches: Vec<Box<dyn Watch>>) -> Eyes {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        Eyes {
            number: NUMBER.fetch_add(1, Ordering::Relaxed),
            scene,
            book,
            narrow: those(&watches, |w| w.is_narrow()),
            all_narrow: watches.iter().all(|w| w.is_narrow()),
            watches,
            groups: Mutex::default(),
            faulted: AtomicBool::new(false),
            over: AtomicU64::new(0),
            ended: AtomicBool::new(false),
        }
    }

    fn those(&self, holds: impl Fn(&dyn Watch) -> bool) -> Set {
        those(&self.watches, holds)
    }

    fn context(&self, stopped: bool) -> Context<'_> {
        Context { scene: &self.scene, book: &self.book, stopped }
    }

    /// The dispatch's number on its device.
    pub fn dispatch(&self) -> u64 {
        self.scene.plan.number
    }

    /// Whether this may be the dispatch that has ended: one that nothing has stopped has no work-groups left.
    pub fn is_over(&self, whole: bool) -> bool {
        !whole || self.over.load(Ordering::Relaxed) == self.scene.plan.group_count()
    }

    /// The dispatch is over: what is left is told. `whole` says that nothing has stopped it.
    pub fn end(&self, whole: bool) {
        if self.ended.swap(true, Ordering::Relaxed) {
            return;
        }
        let stopped = !whole && !self.faulted.load(Ordering::Relaxed);
        let cx = self.context(stopped);
        for (_, group) in lock(&self.groups).drain() {
            lock(&group).watches.iter_mut().for_each(|w| w.ended(&cx));
        }
        self.watches.iter().for_each(|w| w.ended(&cx));
    }

    /// Calls a function with the wave's work-group.
    fn with<R>(&self, wave: &Wave, f: impl FnOnce(&mut Hand, &mut Group) -> R) -> R {
        HAND.with_borrow_mut(|hand| {
            if hand.eyes != self.number {
                hand.eyes = self.number;
                hand.state = None;
                hand.known.clear();
                hand.known.resize(KNOWN, None);
            }
            if hand.state.is_none() || hand.group != wave.id.group {
                hand.group = wave.id.group;
                let mut groups = lock(&self.groups);
                let group =
                    groups.entry(wave.id.group).or_insert_with(|| Arc::new(Mutex::new(self.start(wave))));
                hand.state = Some(group.clone());
            }
            let state = hand.state.take().expect("it was put there");
            let result = f(hand, &mut lock(&state));
            hand.state = Some(state);
            result
        })
    }

    fn start(&self, wave: &Wave) -> Group {
        let id = wave.id.group;
        let waves = Plan::wave_count(self.scene.plan.group_size(id));
        let cx = self.context(false);
        Group { watches: self.watches.iter().map(|w| w.group(&cx, id, waves)).collect(), left: waves }
    }

    /// Tells all checks something about a wave.
    fn tell(&self, wave: &Wave, what: impl Fn(&mut dyn GroupWatch, &Context<'_>)) {
        let cx = self.context(false);
        self.with(wave, |_, group| group.watches.iter_mut().for_each(|w| what(&mut **w, &cx)));
    }

    /// Hands the accesses of the running instruction on.
    fn done(&self, wave: &Wave) {
        // Most instructions access nothing, and nobody minds.
        let over = HAND.with_borrow_mut(|hand| {
            let idle = |known: &mut Rc<Known>| known.idle == 0 && hand.accesses.is_empty();
            hand.running.take_if(idle).is_some() || hand.running.is_none()
        });
        if over {
            return;
        }
        let cx = self.context(false);
        self.with(wave, |hand, group| {
            let Some(known) = hand.running.take() else { return };
            let wanted = match (hand.accesses.is_empty(), hand.accesses.apart) {
                (true, _) => known.idle,
                (false, true) => !0,
                // Who looks at accesses only has seen what it took.
                (false, false) => !self.narrow,
            };
            for (watch, _) in group.watches.iter_mut().zip(members(wanted)).filter(|(_, wanted)| *wanted) {
                watch.after(&cx, wave, &known.at, &mut hand.accesses);
            }
        });
    }
}

impl Observer for Eyes {
    fn wants(&self) -> Wants {
        Wants { instructions: !self.all_narrow, exceptions: false }
    }

    fn takes(&self, wave: &Wave, space: Space, first: u64, bytes: u64) -> bool {
        let cx = self.context(false);
        self.with(wave, |_, group| group.watches.iter_mut().all(|w| w.takes(&cx, space, first, bytes)))
    }

    fn lanes(&self, _: &Wave, lanes: &Lanes<'_>) {
        if !self.all_narrow {
            HAND.with_borrow_mut(|hand| hand.accesses.add_lanes(lanes));
        }
    }

    fn wave_started(&self, wave: &Wave) {
        self.tell(wave, |w, cx| w.wave_started(cx, wave));
    }

    fn before(&self, wave: &Wave, instruction: &Instruction) -> Control {
        let cx = self.context(false);
        self.with(wave, |hand, group| {
            let known = hand.known(self, instruction);
            hand.accesses.clear();
            let wanted = group.watches.iter_mut().zip(members(known.before)).filter(|(_, wanted)| *wanted);
            wanted.for_each(|(w, _)| w.before(&cx, wave, &known.at));
            hand.running = Some(known);
        });
        Control::Continue
    }

    fn access(&self, _: &Wave, access: &Access) -> Control {
        if access.space != Space::Code {
            HAND.with_borrow_mut(|hand| hand.accesses.add(*access));
        }
        Control::Continue
    }

    fn after(&self, wave: &Wave, _: &Instruction) -> Control {
        self.done(wave);
        Control::Continue
    }

    fn waited(&self, wave: &Wave, _: &Instruction, until: WaitCounts) {
        self.tell(wave, |w, cx| w.waited(cx, wave, until));
    }

    fn barrier_reached(&self, wave: &Wave) {
        self.tell(wave, |w, cx| w.barrier_reached(cx, wave));
    }

    fn barrier_released(&self, wave: &Wave) {
        self.tell(wave, |w, cx| w.barrier_released(cx, wave));
    }

    fn stopped(&self, wave: &Wave, event: &Event) {
        if matches!(event, Event::Fault(_) | Event::Trap(_) | Event::Exception { .. } | Event::Halt) {
            self.faulted.store(true, Ordering::Relaxed);
            self.done(wave);
        }
        flight::end();
    }

    fn wave_ended(&self, wave: &Wave, how: &Event) {
        let cx = self.context(false);
        let over = self.with(wave, |_, group| {
            group.watches.iter_mut().for_each(|w| w.wave_ended(&cx, wave, how));
            group.left = group.left.saturating_sub(1);
            if group.left == 0 {
                group.watches.iter_mut().for_each(|w| w.ended(&cx));
            }
            group.left == 0
        });
        if over {
            self.over.fetch_add(1, Ordering::Relaxed);
            lock(&self.groups).remove(&wave.id.group);
            HAND.with_borrow_mut(|hand| hand.state = None);
        }
    }
}
