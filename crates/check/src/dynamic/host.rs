//! Races with the host: copies that it makes while a dispatch runs, of memory that the dispatch accesses.
//!
//! A dispatch that talks with the host (writes memory of the host, or reads flags there) may be told when a copy is done, or tell
//! the host when it may copy; which word of theirs means that, nothing shows. Such a dispatch is not blamed.

use super::book::{Key, Told, Who};
use super::cells::Numbered;
use super::clock::Known;
use super::scene::Scene;
use super::set::Check;
use super::shadow::{DWORDS, PAGE, dwords_of};
use super::watch::Context;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use wavemill_sem::state::lanes;
use wavemill_wave::WaveId;

/// Copies that are remembered.
const MOST: usize = 1024;
/// Bytes of a page, by which copies are found.
const BYTES: u64 = PAGE * DWORDS * 4;
/// Copies of more pages are in none of them.
const WIDE: u64 = 64;

/// A dispatch, as others meet it.
pub struct Party {
    /// What it runs in.
    pub scene: Arc<Scene>,
    /// It talks with the host.
    talks: AtomicBool,
    /// What it has done that meets a copy, by instruction.
    met: Mutex<BTreeMap<u64, Met>>,
}

/// An instruction and a copy.
struct Met {
    who: Who,
    times: u64,
    address: u64,
    /// The instruction writes; the copy writes.
    writes: [bool; 2],
}

impl Party {
    /// A dispatch that begins.
    pub fn new(scene: &Arc<Scene>) -> Party {
        Party { scene: scene.clone(), talks: AtomicBool::new(false), met: Mutex::default() }
    }

    /// It has written memory of the host, or read a flag there.
    pub fn talks(&self) {
        self.talks.store(true, Ordering::Relaxed);
    }

    /// The wave of a number in the dispatch.
    pub fn wave(&self, number: u32) -> WaveId {
        let plan = &self.scene.plan;
        let group = plan.group_id((number / plan.waves.max(1)).into());
        WaveId { dispatch: plan.number, group, wave: number % plan.waves.max(1) }
    }

    /// An access and a copy are not in order.
    pub fn meets(&self, pc: u64, who: Who, address: u64, writes: [bool; 2]) {
        let mut met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        met.entry(pc).or_insert(Met { who, times: 0, address, writes }).times += 1;
    }

    /// Tells what is left when the dispatch has ended.
    pub fn tell(&self, cx: &Context<'_>) {
        let met = std::mem::take(&mut *self.met.lock().unwrap_or_else(PoisonError::into_inner));
        if self.talks.load(Ordering::Relaxed) {
            return;
        }
        for (pc, Met { who, times, address, writes }) in met {
            let key = Key { check: Check::Race, kind: "host-race", pc, other: None };
            cx.report(key, who, times, || {
                let [here, there] = [["a read", "a write"][writes[0] as usize], ["from", "to"][writes[1] as usize]];
                let near = cx.scene.memory.nearest(address).map_or(String::new(), |n| format!(": {n}"));
                Told {
                    message: format!(
                        "{here} and a copy of the host {there} the same place, made while the dispatch runs, are not in order"
                    ),
                    facts: vec![("address", format!("{address:#x}{near}"))],
                    mend: "let the copy wait for the dispatch, or the dispatch for the copy: in one stream or queue, or with a signal".into(),
                    ..Told::default()
                }
            });
        }
    }
}

/// A copy's side of memory.
#[derive(Clone)]
pub struct Side {
    /// Where.
    pub bytes: Range<u64>,
    /// It is written there.
    pub writes: bool,
}

impl Side {
    /// What is written.
    pub fn written(start: u64, bytes: u64) -> Side {
        Side { bytes: start..start.saturating_add(bytes), writes: true }
    }

    /// Both sides of a copy.
    pub fn both(to: u64, from: u64, bytes: u64) -> [Side; 2] {
        [(to, true), (from, false)]
            .map(|(start, writes)| Side { bytes: start..start.saturating_add(bytes), writes })
    }

    /// Dwords of a line that lie in it, as a whole.
    pub fn dwords(&self, line: u64) -> u64 {
        dwords_of(&self.bytes, line)
    }
}

/// Copies made while dispatches ran.
#[derive(Default)]
pub struct Copies {
    any: AtomicBool,
    sides: Mutex<Sides>,
}

/// Sides of copies, each with the number that the copy has among waves, by the pages they touch: kernels ask at each access.
#[derive(Default)]
struct Sides {
    pages: Numbered<Vec<(u32, Side)>>,
    /// Those that touch more than [`WIDE`] pages.
    wide: Vec<(u32, Side)>,
    /// Copies that are remembered, oldest first.
    numbers: VecDeque<u32>,
    /// So many of them are looked through for such as are over.
    full: usize,
}

impl Sides {
    fn add(&mut self, number: u32, sides: &[Side]) {
        self.numbers.push_back(number);
        for side in sides.iter().filter(|s| !s.bytes.is_empty()) {
            let pages = side.bytes.start / BYTES..side.bytes.end.div_ceil(BYTES);
            if pages.end - pages.start > WIDE {
                self.wide.push((number, side.clone()));
            } else {
                pages.for_each(|page| self.pages.entry(page).or_default().push((number, side.clone())));
            }
        }
    }

    /// Forgets copies that nobody who runs can meet, and the older half of very many.
    fn thin(&mut self, over: impl Fn(u32) -> bool) {
        while self.numbers.front().is_some_and(|n| over(*n)) {
            self.numbers.pop_front();
        }
        if self.numbers.len() >= MOST {
            self.numbers.drain(..MOST / 2);
        }
        let oldest = self.numbers.front().copied().unwrap_or(u32::MAX);
        self.wide.retain(|(n, _)| *n >= oldest);
        self.pages.retain(|_, all| {
            all.retain(|(n, _)| *n >= oldest);
            !all.is_empty()
        });
        self.full = (self.numbers.len() * 2).clamp(16, MOST);
    }
}

impl Copies {
    /// A copy is made; `over` says of an earlier one that nobody runs any more who is not in order with it.
    pub fn add(&self, number: u32, copy: &[Side], over: impl Fn(u32) -> bool) {
        let mut sides = self.sides.lock().unwrap_or_else(PoisonError::into_inner);
        if sides.numbers.len() >= sides.full {
            sides.thin(over);
        }
        sides.add(number, copy);
        self.any.store(true, Ordering::Relaxed);
    }

    /// An address at which an access to some dwords of a line meets a copy that it is not in order with, and whether the copy
    /// writes.
    pub fn meet(&self, known: &Known, line: u64, dwords: u64, writes: bool) -> Option<(u64, bool)> {
        if !self.any.load(Ordering::Relaxed) {
            return None;
        }
        let sides = self.sides.lock().unwrap_or_else(PoisonError::into_inner);
        let near = sides.pages.get(&(line / PAGE)).into_iter().flatten();
        near.chain(&sides.wide).filter(|(_, s)| writes || s.writes).find_map(|(number, side)| {
            let dword = lanes(side.dwords(line) & dwords).next()?;
            (known.of(*number, false) == 0).then_some(((line * DWORDS + u64::from(dword)) * 4, side.writes))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_meet_what_is_not_in_order_with_them() {
        let copies = Copies::default();
        let line = 0x1000 / (DWORDS * 4);
        let nothing = Known::nothing(0, 0, 1, Arc::default());
        assert_eq!(copies.meet(&nothing, line, !0, true), None);
        let never = |_| false;
        copies.add(7, &Side::both(0x1010, 0x1080, 8), never);
        // Two dwords are written, two others read.
        assert_eq!(copies.meet(&nothing, line, 1 << 4, false), Some((0x1010, true)));
        assert_eq!(copies.meet(&nothing, line, 1 << 5, true), Some((0x1014, true)));
        assert_eq!(copies.meet(&nothing, line, 1 << 6 | 1 << 3, true), None);
        assert_eq!(copies.meet(&nothing, line, 1 << 32, false), None);
        assert_eq!(copies.meet(&nothing, line, 1 << 32, true), Some((0x1080, false)));
        assert_eq!(copies.meet(&nothing, line + 1, !0, true), None);
        // Who began later knows of it.
        let later = Known::nothing(0, 8, 1, std::iter::once(7..8).collect());
        assert_eq!(copies.meet(&later, line, !0, true), None);
        // Much memory is no more than a few numbers.
        copies.add(9, &Side::both(0x10_0000, 0x1000_0000, 1 << 30), never);
        assert_eq!(copies.meet(&nothing, 0x20_0000 / 256, !0, false), Some((0x20_0000, true)));
        assert_eq!(Side::both(0x10_0000, 0, 1 << 30)[0].dwords(0x20_0000 / 256), !0);
        let count = || {
            let sides = copies.sides.lock().unwrap();
            (sides.numbers.len(), sides.wide.len(), sides.pages.values().map(Vec::len).sum::<usize>())
        };
        for n in 10..10_000 {
            copies.add(n, &Side::both(0, 0x2000, 4), never);
        }
        let (copied, wide, near) = count();
        assert!(copied <= MOST && near == 2 * copied && wide == 0, "{:?}", count());
        assert_eq!(copies.meet(&nothing, 0, 1, false), Some((0, true)));
        // Of copies that are over for everybody, few are left.
        for n in 10_000..20_000 {
            copies.add(n, &Side::both(0, 0x2000, 4), |_| true);
        }
        assert!(count().0 <= 16, "{:?}", count());
    }
}
