//! Where the events of waves arrive: they are put in the form that checks want, and handed to those that look on.
//!
//! What a work-group's checks know is behind a lock of its own that only the thread which runs the work-group takes. Accesses
//! come lane by lane; a thread gathers those of an instruction and hands them on together.

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
use wavemill_sem::state::lanes as active;
use wavemill_wave::observe::{Access, Control, Instruction, Kind, Lanes, Space, WaitCounts, Wants};
use wavemill_wave::{Event, Observer, Wave};

/// Instructions that a thread remembers.
const KNOWN: usize = 1024;

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
    /// Nobody looks at more than accesses ([`Watch::is_narrow`]).
    narrow: bool,
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
    known: Vec<Option<Rc<Executed>>>,
    accesses: Vec<Access>,
    /// Not all of them were taken together ([`GroupWatch::takes`]).
    apart: bool,
    running: Option<Rc<Executed>>,
}

thread_local! {
    static HAND: RefCell<Hand> = const {
        RefCell::new(Hand {
            eyes: 0,
            group: [0; 3],
            state: None,
            known: Vec::new(),
            accesses: Vec::new(),
            apart: false,
            running: None,
        })
    };
}

impl Hand {
    /// The instruction at an address.
    fn executed(&mut self, scene: &Scene, instruction: &Instruction) -> Rc<Executed> {
        let slot = &mut self.known[instruction.pc as usize / 4 % KNOWN];
        let same =
            |e: &&Rc<Executed>| e.step.at == instruction.pc && e.step.inst.bits == instruction.inst.bits;
        match slot.as_ref().filter(same) {
            Some(known) => known.clone(),
            None => {
                let found = scene.executed(instruction.pc, &instruction.inst);
                slot.insert(Rc::new(Executed::clone(&found))).clone()
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Eyes {
    /// Looks on with these checks.
    pub fn new(scene: Arc<Scene>, book: Arc<Book>, watches: Vec<Box<dyn Watch>>) -> Eyes {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        Eyes {
            number: NUMBER.fetch_add(1, Ordering::Relaxed),
            scene,
            book,
            narrow: watches.iter().all(|w| w.is_narrow()),
            watches,
            groups: Mutex::default(),
            faulted: AtomicBool::new(false),
            over: AtomicU64::new(0),
            ended: AtomicBool::new(false),
        }
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
        let cx = self.context(false);
        self.with(wave, |hand, group| {
            let Some(at) = hand.running.take() else { return };
            for (watch, kind) in group.watches.iter_mut().zip(&self.watches) {
                // Who looks at accesses only has seen what it took.
                let seen = kind.is_narrow() && !hand.apart;
                watch.after(&cx, wave, &at, if seen { &[] } else { &hand.accesses });
            }
        });
    }
}

impl Observer for Eyes {
    fn wants(&self) -> Wants {
        Wants { instructions: !self.narrow, exceptions: false }
    }

    fn takes(&self, wave: &Wave, space: Space, first: u64, bytes: u64) -> bool {
        let cx = self.context(false);
        self.with(wave, |_, group| group.watches.iter_mut().all(|w| w.takes(&cx, space, first, bytes)))
    }

    fn lanes(&self, _: &Wave, lanes: &Lanes<'_>) {
        if self.narrow {
            return;
        }
        let Lanes { space, kind, coherence, pc, bytes, .. } = *lanes;
        // Dwords, as where each lane is told by itself; atomics are one access. No check looks at values.
        let piece = if matches!(kind, Kind::Atomic(_)) { bytes } else { bytes.min(4) };
        HAND.with_borrow_mut(|hand| {
            for lane in active(lanes.exec) {
                let start = lanes.address(lane);
                for address in (start..start + u64::from(bytes)).step_by(piece as usize) {
                    let lane = Some(lane as u8);
                    let access = Access {
                        pc,
                        space,
                        address,
                        bytes: piece,
                        kind,
                        coherence,
                        lane,
                        value: 0,
                        fault: None,
                    };
                    hand.accesses.push(access);
                }
            }
        });
    }

    fn wave_started(&self, wave: &Wave) {
        self.tell(wave, |w, cx| w.wave_started(cx, wave));
    }

    fn before(&self, wave: &Wave, instruction: &Instruction) -> Control {
        let cx = self.context(false);
        self.with(wave, |hand, group| {
            let at = hand.executed(&self.scene, instruction);
            hand.accesses.clear();
            hand.apart = false;
            group.watches.iter_mut().for_each(|w| w.before(&cx, wave, &at));
            hand.running = Some(at);
        });
        Control::Continue
    }

    fn access(&self, _: &Wave, access: &Access) -> Control {
        if access.space != Space::Code {
            HAND.with_borrow_mut(|hand| {
                hand.accesses.push(*access);
                hand.apart = true;
            });
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
