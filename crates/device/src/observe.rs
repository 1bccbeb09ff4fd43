//! Who looks on while dispatches run: what observers are told about dispatches, work-groups and waves, and how several of
//! them share a wave.
//!
//! An observer is installed with a launch ([`crate::run::Launch::observers`]), with a queue or with a whole process (crate
//! `runtime`). What happens inside waves is told to a [`wavemill_wave::Observer`], which a [`DispatchObserver`] may
//! provide; such waves run step by step. Without observers nothing of this costs more than a look at an empty list.

use crate::launch::Plan;
use crate::loader::Loaded;
use crate::memory::Allocations;
use std::fmt;
use std::sync::Arc;
use wavemill_isa::Target;
use wavemill_wave::observe::{Access, Control, Instruction, WaitCounts};
use wavemill_wave::{Event, Observer, Wave, WaveId};

/// What the waves of a dispatch run in.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// The dispatch.
    pub plan: &'a Plan,
    /// The processor.
    pub target: &'a Target,
    /// The memory that the waves see.
    pub memory: &'a Arc<Allocations>,
    /// The code object that the kernel is of.
    pub object: &'a Arc<Loaded>,
}

/// Is told about dispatches. All methods do nothing unless written; they are called on the threads that run the waves.
#[allow(unused_variables)] // what the provided methods do not look at
pub trait DispatchObserver: Send + Sync {
    /// A dispatch begins.
    fn dispatch_started(&self, dispatch: &Plan) {}

    /// A dispatch is over; `number` is its [`Plan::number`], `waves` how many ran to their end, `whole` whether nothing has
    /// stopped it.
    fn dispatch_ended(&self, number: u64, waves: u64, whole: bool) {}

    /// A work-group's waves are ready to run.
    fn group_started(&self, number: u64, group: [u32; 3]) {}

    /// All waves of a work-group have ended.
    fn group_ended(&self, number: u64, group: [u32; 3]) {}

    /// A wave is ready to run.
    fn wave_started(&self, id: WaveId) {}

    /// A wave has ended.
    fn wave_ended(&self, id: WaveId) {}

    /// All waves of a work-group have come to a barrier, and go on.
    fn barrier_released(&self, number: u64, group: [u32; 3]) {}

    /// Who is told what the waves of a dispatch do, if anybody. Asked once for each dispatch.
    fn wave_observer(&self, scene: &Scene<'_>) -> Option<Arc<dyn Observer>> {
        None
    }
}

/// Any number of observers.
#[derive(Clone, Default)]
pub struct Observers(Vec<Arc<dyn DispatchObserver>>);

impl fmt::Debug for Observers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} observers", self.0.len())
    }
}

impl Observers {
    /// None.
    pub const NONE: &'static Observers = &Observers(Vec::new());

    /// One.
    pub fn one(observer: Arc<dyn DispatchObserver>) -> Observers {
        Observers(vec![observer])
    }

    /// One more.
    pub fn add(&mut self, observer: Arc<dyn DispatchObserver>) {
        self.0.push(observer);
    }

    /// These, and others.
    pub fn with(mut self, others: &Observers) -> Observers {
        self.0.extend(others.0.iter().cloned());
        self
    }

    /// True when nobody looks on.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Tells all of them something.
    #[inline]
    pub fn tell(&self, what: impl Fn(&dyn DispatchObserver)) {
        for observer in &self.0 {
            what(&**observer);
        }
    }

    /// What the waves of a dispatch get: nothing, an observer, or one that tells several.
    pub(crate) fn of_waves(&self, scene: &Scene<'_>) -> Option<Arc<dyn Observer>> {
        let mut all: Vec<_> = self.0.iter().filter_map(|o| o.wave_observer(scene)).collect();
        if all.len() > 1 { Some(Arc::new(Relay { observers: all, steps: false })) } else { all.pop() }
    }
}

/// Tells several observers everything, and may stop the wave after each instruction.
pub(crate) struct Relay {
    pub(crate) observers: Vec<Arc<dyn Observer>>,
    /// Whoever steps a wave has been asked already: it stops behind the instruction, whatever the others want.
    pub(crate) steps: bool,
}

impl Relay {
    fn tell(&self, what: impl Fn(&dyn Observer)) {
        self.observers.iter().for_each(|o| what(&**o));
    }

    /// Everybody is told; one who wants to stop is enough.
    fn ask(&self, what: impl Fn(&dyn Observer) -> Control) -> Control {
        let stop = self.observers.iter().filter(|o| what(&***o) == Control::Stop).count() > 0;
        if stop && !self.steps { Control::Stop } else { Control::Continue }
    }
}

impl Observer for Relay {
    fn wave_started(&self, wave: &Wave) {
        self.tell(|o| o.wave_started(wave));
    }

    fn wave_ended(&self, wave: &Wave, how: &Event) {
        self.tell(|o| o.wave_ended(wave, how));
    }

    fn before(&self, wave: &Wave, instruction: &Instruction) -> Control {
        self.ask(|o| o.before(wave, instruction))
    }

    fn after(&self, wave: &Wave, instruction: &Instruction) -> Control {
        let asked = self.ask(|o| o.after(wave, instruction));
        if self.steps { Control::Stop } else { asked }
    }

    fn access(&self, wave: &Wave, access: &Access) -> Control {
        self.ask(|o| o.access(wave, access))
    }

    fn counters_raised(&self, wave: &Wave, instruction: &Instruction, by: WaitCounts) {
        self.tell(|o| o.counters_raised(wave, instruction, by));
    }

    fn waited(&self, wave: &Wave, instruction: &Instruction, until: WaitCounts) {
        self.tell(|o| o.waited(wave, instruction, until));
    }

    fn barrier_reached(&self, wave: &Wave) {
        self.tell(|o| o.barrier_reached(wave));
    }

    fn barrier_released(&self, wave: &Wave) {
        self.tell(|o| o.barrier_released(wave));
    }

    fn exception(&self, wave: &Wave, instruction: &Instruction, trapsts: u32) {
        self.tell(|o| o.exception(wave, instruction, trapsts));
    }

    fn trap(&self, wave: &Wave, instruction: &Instruction) {
        self.tell(|o| o.trap(wave, instruction));
    }

    fn message(&self, wave: &Wave, instruction: &Instruction, message: u16, m0: u32) {
        self.tell(|o| o.message(wave, instruction, message, m0));
    }

    fn stopped(&self, wave: &Wave, event: &Event) {
        self.tell(|o| o.stopped(wave, event));
    }
}
