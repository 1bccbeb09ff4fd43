//! What was found so far: one report for each cause, and how often.

use super::scene::Scene;
use super::set::Check;
use crate::report::{CodeLocation, Report};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};
use wavemill_device::launch::item_id;
use wavemill_wave::WaveId;

/// What makes two findings the same: check, kind, and the places of both sides.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Key {
    /// The check.
    pub check: Check,
    /// What it is.
    pub kind: &'static str,
    /// Where.
    pub pc: u64,
    /// The other side.
    pub other: Option<u64>,
}

/// Who did it: a wave, and which of its lanes.
#[derive(Clone, Copy, Debug)]
pub struct Who {
    /// The wave.
    pub wave: WaveId,
    /// The lanes; none of what a wave does as a whole.
    pub lanes: u64,
}

/// What is said about a finding when it is found for the first time.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// One sentence.
    pub message: String,
    /// What the other side is.
    pub other: &'static str,
    /// What else there is to say.
    pub facts: Vec<(&'static str, String)>,
    /// How it may be mended.
    pub mend: String,
    /// The kernel faults there.
    pub fault: bool,
    /// Where the other side is, if that is another dispatch's code.
    pub place: Option<CodeLocation>,
}

/// Reports in the order in which they were found.
#[derive(Default)]
pub struct Book(Mutex<Pages>);

#[derive(Default)]
struct Pages {
    reports: Vec<Report>,
    index: HashMap<(String, Key), usize>,
    changed: BTreeSet<usize>,
}

impl Book {
    /// Notes a finding, or counts it.
    pub fn note(&self, scene: &Scene, key: Key, who: Who, times: u64, tell: impl FnOnce() -> Told) {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Pages { reports, index, changed } = &mut *pages;
        let name = &scene.plan.kernel.name;
        if let Some(at) = index.get(&(name.clone(), key)) {
            reports[*at].count += times;
            changed.insert(*at);
            return;
        }
        let told = tell();
        let WaveId { group, wave, .. } = who.wave;
        let first = wave * 64 + who.lanes.trailing_zeros().min(63);
        index.insert((name.clone(), key), reports.len());
        changed.insert(reports.len());
        reports.push(Report {
            check: key.check.name().into(),
            kind: key.kind.into(),
            kernel: name.clone(),
            message: told.message,
            place: scene.place(key.pc),
            listing: scene.listing(key.pc),
            other: key.other.map(|pc| (told.other.into(), told.place.unwrap_or_else(|| scene.place(pc)))),
            wave: Some((group, wave)),
            lanes: who.lanes,
            item: Some(item_id(scene.plan.group_size(group), first)),
            facts: told.facts.into_iter().map(|(name, fact)| (name.into(), fact)).collect(),
            mend: told.mend,
            count: times,
            fault: told.fault,
        });
    }

    /// Adds what no kernel has done: the same message is the same finding.
    pub fn add(&self, report: Report) {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Pages { reports, changed, .. } = &mut *pages;
        let same = |r: &Report| r.kernel.is_empty() && r.kind == report.kind && r.message == report.message;
        match reports.iter().position(same) {
            Some(at) => {
                reports[at].count += 1;
                changed.insert(at);
            }
            None => {
                changed.insert(reports.len());
                reports.push(report);
            }
        }
    }

    /// Reports that are new or were counted again since this was asked last, with their numbers.
    pub fn changed(&self) -> Vec<(usize, Report)> {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = std::mem::take(&mut pages.changed);
        changed.into_iter().map(|at| (at, pages.reports[at].clone())).collect()
    }

    /// Takes the reports.
    pub fn take(&self) -> Vec<Report> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).reports
    }
}
