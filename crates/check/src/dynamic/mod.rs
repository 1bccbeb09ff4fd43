//! What is wrong with code, found while it runs.
//!
//! A [`Session`] looks on at dispatches ([`DispatchObserver`]) and gives each of them [`eyes`], which hand what waves do to the
//! checks. A check is a file with a [`watch::Watch`] for a dispatch, and stands in one list, [`watches`]. What it finds goes to the
//! [`book`], which keeps one report for each cause. Engines know nothing of it, and what is not asked for costs nothing.

mod accesses;
mod between;
mod book;
mod cells;
mod clock;
mod conflicts;
mod eyes;
mod fences;
mod flight;
mod freed;
mod host;
mod init;
mod mem;
mod path;
mod pool;
mod race;
mod recorded;
mod registers;
mod results;
mod scene;
mod set;
mod shadow;
mod sync;
mod undefined;
mod watch;
mod writeback;

pub use set::{Check, Checks};

use crate::hazard::Recent;
use crate::report::Report;
use crate::wait::Outstanding;
use book::Book;
use eyes::Eyes;
use fences::Fences;
use freed::Freed;
use results::Results;
use std::sync::{Arc, Mutex, PoisonError};
use watch::Watch;
use wavemill_device::aql::FenceScope;
use wavemill_device::observe::{DispatchObserver, Scene};
use wavemill_wave::Observer;

/// Checks what runs.
#[derive(Default)]
pub struct Session {
    checks: Checks,
    book: Arc<Book>,
    freed: Arc<Freed>,
    results: Arc<Results>,
    races: race::Shared,
    fences: Arc<Fences>,
    /// Dispatches under way.
    live: Mutex<Vec<Arc<Eyes>>>,
}

impl Session {
    /// Looks on with some checks.
    pub fn new(checks: Checks) -> Session {
        Session { checks, ..Session::default() }
    }

    /// The checks of a dispatch: every one there is stands here, and nowhere else.
    fn watches(&self) -> Vec<Box<dyn Watch>> {
        type Make<'a> = &'a dyn Fn() -> Box<dyn Watch>;
        let all: [(Check, Make<'_>); 7] = [
            (Check::Mem, &|| Box::new(mem::Mem { freed: self.freed.clone() })),
            (Check::Init, &|| Box::new(init::Init::new(self.results.clone()))),
            (Check::Race, &|| Box::new(race::Race::new(&self.races, self.fences.clone()))),
            (Check::Sync, &|| Box::new(sync::Sync)),
            (Check::Wait, &|| Box::new(path::Path::<Outstanding>::new(Check::Wait))),
            (Check::Wait, &|| Box::new(writeback::WriteBack::default())),
            (Check::Hazard, &|| Box::new(path::Path::<Recent>::new(Check::Hazard))),
        ];
        all.iter().filter(|(check, _)| self.checks.has(*check)).map(|(_, make)| make()).collect()
    }

    /// What was found, in its order. What still runs is taken to have been stopped.
    pub fn finish(&self) -> Vec<Report> {
        let live = std::mem::take(&mut *self.live.lock().unwrap_or_else(PoisonError::into_inner));
        live.iter().for_each(|eyes| eyes.end(false));
        self.book.take()
    }

    /// From now on, what the host does is told: [`Self::allocated`], [`Self::freed`], [`Self::copied`],
    /// [`Self::filled`], [`Self::released`].
    pub fn follow_host(&self) {
        self.results.follow_host();
    }

    /// The host has copied memory.
    pub fn copied(&self, to: u64, from: u64, bytes: u64) {
        self.results.copied(&self.book, to, from, bytes);
        self.races.copied(to, from, bytes);
        if self.checks.has(Check::Race) {
            self.fences.host_reads(&self.book, from, bytes);
            self.fences.forget(to, bytes);
        }
    }

    /// The host has filled memory.
    pub fn filled(&self, address: u64, bytes: u64) {
        self.results.forget(address, bytes);
        self.races.filled(address, bytes);
        self.fences.forget(address, bytes);
    }

    /// A packet of a GPU that is no dispatch has released.
    pub fn released(&self, gpu: u32, scope: FenceScope) {
        self.fences.released(gpu, scope);
    }

    /// Whether a check is wanted.
    pub fn has(&self, check: Check) -> bool {
        self.checks.has(check)
    }

    /// Reports that are new or were counted again since this was asked last, with their numbers.
    pub fn changed(&self) -> Vec<(usize, Report)> {
        self.book.changed()
    }

    /// The host has allocated memory.
    pub fn allocated(&self, address: u64, bytes: u64) {
        self.results.forget(address, bytes);
        self.races.forget(address, bytes);
        self.fences.forget(address, bytes);
        self.freed.allocated(address, bytes);
    }

    /// The host wanted to free what is not allocated.
    pub fn not_freed(&self, address: u64) {
        if self.checks.has(Check::Mem) {
            self.book.add(self.freed.wrong(address));
        }
    }

    /// The host has freed memory.
    pub fn freed(&self, address: u64) {
        if let Some(bytes) = self.freed.freed(address) {
            self.races.forget(address, bytes);
            self.fences.forget(address, bytes);
        }
    }
}

impl DispatchObserver for Session {
    fn wave_observer(&self, scene: &Scene<'_>) -> Option<Arc<dyn Observer>> {
        self.freed.dispatched();
        let eyes = Arc::new(Eyes::new(Arc::new(scene::Scene::new(scene)), self.book.clone(), self.watches()));
        self.live.lock().unwrap_or_else(PoisonError::into_inner).push(eyes.clone());
        Some(eyes)
    }

    fn dispatch_ended(&self, number: u64, _: u64, whole: bool) {
        // Several GPUs may count the same.
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        let over: Vec<_> = live.extract_if(.., |e| e.dispatch() == number && e.is_over(whole)).collect();
        drop(live);
        over.iter().for_each(|eyes| eyes.end(whole));
    }
}
