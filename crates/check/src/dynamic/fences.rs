//! Fences of packets: what dispatches leave for the host, and for other GPUs.
//!
//! GPUs keep in L2 what they have written, and the host and its copies go past it: what a dispatch leaves for them must be released at
//! system scope, by its own packet or a later one of the same GPU (HSA Platform System Architecture Specification, fences of
//! packets). The same holds for dispatches of other GPUs, where L2 keeps what the memory is for: their coarse-grained memory
//! (LLVM's AMDGPUUsage, memory model of gfx90a). Between dispatches of a GPU nothing is asked for: L1 is invalidated before each of
//! them (AMDGPU guide, memory spaces), and they share L2. Nor is an acquire of what the host has copied: AMD's own runtime
//! dispatches with a scope of the agent behind its copies. Memory of the host is not kept in L2.

use super::between::on_gpu;
use super::book::{Book, Key, Told, Who};
use super::scene::Scene;
use super::set::Check;
use super::shadow::{DWORDS, dwords_of};
use super::watch::Context;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
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

/// What a dispatch that has ended did not release, in a line.
struct Kept {
    written: Written,
    scene: Arc<Scene>,
    /// When the dispatch ended.
    time: u64,
}

/// All of that, by lines.
type Unreleased = BTreeMap<u64, Vec<Kept>>;

/// What is on its way from GPUs to the host and to each other.
#[derive(Default)]
pub struct Fences {
    unreleased: Mutex<Unreleased>,
    /// GPUs that have run something, as a set.
    gpus: AtomicU64,
    /// How many dispatches have begun or ended.
    time: AtomicU64,
}

impl Fences {
    fn unreleased(&self) -> MutexGuard<'_, Unreleased> {
        self.unreleased.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A dispatch begins on a GPU: the time that it is.
    pub fn begun(&self, gpu: u32) -> u64 {
        self.gpus.fetch_or(1 << (gpu % 64), Ordering::Relaxed);
        self.time.fetch_add(1, Ordering::Relaxed)
    }

    /// A dispatch has ended; `written` has the dwords of lines that it has written.
    pub fn ended(&self, scene: &Arc<Scene>, written: impl FnOnce() -> Vec<(u64, Written)>) {
        let scope = FenceScope::of_release(scene.plan.packet.header);
        if scope == FenceScope::System {
            return self.released(scene.gpu, scope);
        }
        let written = written();
        let time = self.time.fetch_add(1, Ordering::Relaxed);
        let mut unreleased = self.unreleased();
        for (line, w) in written {
            let all = unreleased.entry(line).or_default();
            all.retain_mut(|old| {
                old.written.dwords &= !w.dwords;
                old.written.dwords != 0
            });
            all.push(Kept { written: w, scene: scene.clone(), time });
        }
    }

    /// A packet of a GPU has released.
    pub fn released(&self, gpu: u32, scope: FenceScope) {
        if scope == FenceScope::System {
            self.unreleased().retain(|_, all| {
                all.retain(|kept| kept.scene.gpu != gpu);
                !all.is_empty()
            });
        }
    }

    /// A dispatch that began at some time accesses dwords of a line that L2 keeps. What ended later is in order with it by other
    /// means, if at all.
    pub fn gpu_meets(
        &self,
        cx: &Context<'_>,
        began: u64,
        who: (u64, Who),
        (line, dwords): (u64, u64),
        writes: bool,
    ) {
        if self.gpus.load(Ordering::Relaxed).count_ones() < 2 {
            return;
        }
        let mut unreleased = self.unreleased();
        let all = unreleased.get_mut(&line).into_iter().flatten();
        for kept in all.filter(|kept| kept.scene.gpu != cx.scene.gpu && kept.time < began) {
            let met = kept.written.dwords & dwords;
            if met != 0 {
                tell_gpu(cx, who, kept, (line, met), writes);
                kept.written.dwords &= !met;
            }
        }
    }

    /// The host reads memory.
    pub fn host_reads(&self, book: &Book, address: u64, bytes: u64) {
        let range = address..address.saturating_add(bytes);
        for (line, all) in self.unreleased().range_mut(lines_of(&range)) {
            let read = dwords_of(&range, *line);
            for Kept { written: w, scene, .. } in all {
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
            all.iter_mut().for_each(|kept| kept.written.dwords &= !gone);
        }
    }
}

fn lines_of(bytes: &Range<u64>) -> Range<u64> {
    bytes.start / (DWORDS * 4)..bytes.end.div_ceil(DWORDS * 4)
}

/// What a release fence is.
fn fence_of(scene: &Scene) -> String {
    match FenceScope::of_release(scene.plan.packet.header) {
        FenceScope::None => "no release fence".to_owned(),
        scope => format!("a release fence of {} scope", format!("{scope:?}").to_lowercase()),
    }
}

fn tell_gpu(
    cx: &Context<'_>,
    (pc, who): (u64, Who),
    Kept { written: w, scene, .. }: &Kept,
    (line, dwords): (u64, u64),
    writes: bool,
) {
    let address = (line * DWORDS + u64::from(dwords.trailing_zeros())) * 4;
    let key = Key { check: Check::Race, kind: "release-scope", pc, other: Some(w.pc) };
    cx.report(key, who, dwords.count_ones().into(), || {
        let near = cx.scene.memory.nearest(address).map_or(String::new(), |n| format!(": {n}"));
        let word = if writes { "a write" } else { "a read" };
        let by = format!("dispatch {}{}, with {}", scene.plan.number, on_gpu(cx, scene), fence_of(scene));
        Told {
            message: format!("{word} meets what a dispatch of another GPU has written, and no packet has released it at system scope"),
            other: "written",
            place: Some(scene.place(w.pc)),
            facts: vec![("address", format!("{address:#x}{near}")), ("by", by)],
            mend: "give the packet that has written a release fence of system scope (HSA_FENCE_SCOPE_SYSTEM), or let a barrier \
                   packet with one follow in its queue"
                .into(),
            ..Told::default()
        }
    });
}

fn tell(book: &Book, scene: &Scene, w: &Written, address: u64, dwords: u64) {
    let key = Key { check: Check::Race, kind: "release-scope", pc: w.pc, other: None };
    book.note(scene, key, w.who, dwords.count_ones().into(), || {
        let near = scene.memory.nearest(address).map_or(String::new(), |n| format!(": {n}"));
        Told {
            message: "the host copies what was written here, and no packet has released it at system scope".into(),
            facts: vec![
                ("address", format!("{address:#x}{near}")),
                ("packet", format!("dispatch {}, with {}", scene.plan.number, fence_of(scene))),
            ],
            mend: "give the packet a release fence of system scope (HSA_FENCE_SCOPE_SYSTEM), or let a barrier packet with one \
                   follow before the copy"
                .into(),
            ..Told::default()
        }
    });
}
