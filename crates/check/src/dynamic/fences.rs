//! Fences of packets: what dispatches leave for the host.
//!
//! GPUs keep in L2 what they have written, and the host and its copies go past it: what a dispatch leaves for them must be released at
//! system scope, by its own packet or a later one (HSA Platform System Architecture Specification, fences of packets). Between
//! dispatches of a GPU nothing is asked for: L1 is invalidated before each of them (AMDGPU guide, memory spaces), and they share
//! L2. Nor is an acquire of what the host has copied: AMD's own runtime dispatches with a scope of the agent behind its copies.
//!
//! Which GPU a packet is for is not told: a fence is taken for one of all GPUs. Memory of the host is not kept in L2.

use super::book::{Book, Key, Told, Who};
use super::scene::Scene;
use super::set::Check;
use super::shadow::{DWORDS, dwords_of};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wavemill_device::aql::FenceScope;
use wavemill_sem::state::lanes;

/// What a dispatch has written and not released at system scope, in a line.
pub struct Written {
    /// The dwords.
    pub dwords: u64,
    /// The instruction.
    pub pc: u64,
    /// The wave.
    pub who: Who,
}

/// What dispatches that have ended did not release, by lines.
type Unreleased = BTreeMap<u64, Vec<(Written, Arc<Scene>)>>;

/// What is on its way from GPUs to the host.
#[derive(Default)]
pub struct Fences(Mutex<Unreleased>);

impl Fences {
    fn unreleased(&self) -> MutexGuard<'_, Unreleased> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A dispatch has ended; `written` has the dwords of lines that it has written.
    pub fn ended(&self, scene: &Arc<Scene>, written: impl FnOnce() -> Vec<(u64, Written)>) {
        let scope = FenceScope::of_release(scene.plan.packet.header);
        if scope == FenceScope::System {
            return self.released(scope);
        }
        let written = written();
        let mut unreleased = self.unreleased();
        for (line, w) in written {
            let all = unreleased.entry(line).or_default();
            all.retain_mut(|(old, _)| {
                old.dwords &= !w.dwords;
                old.dwords != 0
            });
            all.push((w, scene.clone()));
        }
    }

    /// A packet has released.
    pub fn released(&self, scope: FenceScope) {
        if scope == FenceScope::System {
            self.unreleased().clear();
        }
    }

    /// The host reads memory.
    pub fn host_reads(&self, book: &Book, address: u64, bytes: u64) {
        let range = address..address.saturating_add(bytes);
        for (line, all) in self.unreleased().range_mut(lines_of(&range)) {
            let read = dwords_of(&range, *line);
            for (w, scene) in all {
                if let Some(first) = lanes(w.dwords & read).next() {
                    tell(book, scene, w, (line * DWORDS + u64::from(first)) * 4, w.dwords & read);
                    // It is told once.
                    w.dwords &= !read;
                }
            }
        }
    }

    /// Memory is freed, or allocated anew, or written by the host.
    pub fn forget(&self, address: u64, bytes: u64) {
        let range = address..address.saturating_add(bytes);
        for (line, all) in self.unreleased().range_mut(lines_of(&range)) {
            let gone = dwords_of(&range, *line);
            all.iter_mut().for_each(|(w, _)| w.dwords &= !gone);
        }
    }
}

fn lines_of(bytes: &Range<u64>) -> Range<u64> {
    bytes.start / (DWORDS * 4)..bytes.end.div_ceil(DWORDS * 4)
}

fn tell(book: &Book, scene: &Scene, w: &Written, address: u64, dwords: u64) {
    let key = Key { check: Check::Race, kind: "release-scope", pc: w.pc, other: None };
    book.note(scene, key, w.who, dwords.count_ones().into(), || {
        let near = scene.memory.nearest(address).map_or(String::new(), |n| format!(": {n}"));
        let scope = match FenceScope::of_release(scene.plan.packet.header) {
            FenceScope::None => "no release fence".to_owned(),
            scope => format!("a release fence of {} scope", format!("{scope:?}").to_lowercase()),
        };
        Told {
            message: "the host copies what was written here, and no packet has released it at system scope".into(),
            facts: vec![
                ("address", format!("{address:#x}{near}")),
                ("packet", format!("dispatch {}, with {scope}", scene.plan.number)),
            ],
            mend: "give the packet a release fence of system scope (HSA_FENCE_SCOPE_SYSTEM), or let a barrier packet with one \
                   follow before the copy"
                .into(),
            ..Told::default()
        }
    });
}
