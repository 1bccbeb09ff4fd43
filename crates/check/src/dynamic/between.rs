//! Races between dispatches: those that run at the same time share one shadow of memory. Nothing has put them in order, or they
//! would not; what ended before a dispatch began is taken to have been waited for.

use super::book::{Key, Told, Who};
use super::clock::Past;
use super::host::Party;
use super::scene::Scene;
use super::set::Check;
use super::shadow::{Conflict, How, Why};
use super::watch::Context;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use wavemill_device::memory::Nearest;

/// Waves of dispatches, by numbers that no two of them share.
#[derive(Default)]
pub struct Register(Mutex<Times<Option<Arc<Party>>>>);

impl Register {
    fn with<R>(&self, f: impl FnOnce(&mut Times<Option<Arc<Party>>>) -> R) -> R {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A dispatch begins: its waves, and those of dispatches that have ended.
    pub fn enter(&self, party: &Arc<Party>) -> (Range<u32>, Past) {
        let plan = &party.scene.plan;
        let count = (plan.group_count() as u32).saturating_mul(plan.waves).max(1);
        self.with(|all| all.enter(count, Some(party.clone())))
    }

    /// The waves of a GPU's dispatches that others may not know of.
    pub fn waves_of(&self, gpu: u32) -> Vec<Range<u32>> {
        let on = |e: &&Entry<Option<Arc<Party>>>| e.what.as_ref().is_some_and(|party| party.scene.gpu == gpu);
        self.with(|all| all.entries.iter().filter(on).map(|e| e.waves.clone()).collect())
    }

    /// Something happens at once that is no dispatch: its number among waves, if dispatches run which are not in order with it.
    pub fn pass(&self) -> Option<u32> {
        self.with(|all| {
            if all.entries.iter().all(|e| e.ended.is_some()) {
                return None;
            }
            let (waves, _) = all.enter(1, None);
            all.leave(&waves);
            Some(waves.start)
        })
    }

    /// Whether everybody who runs came when these waves had ended.
    pub fn is_gone(&self, wave: u32) -> bool {
        self.with(|all| all.gone.iter().any(|waves| waves.contains(&wave)))
    }

    /// The dispatch that a wave is of if that still runs, and the wave's number there.
    pub fn live(&self, wave: u32) -> Option<(Arc<Party>, u32)> {
        self.with(|all| {
            let entry = all.entries.iter().find(|e| e.waves.contains(&wave) && e.ended.is_none())?;
            Some((entry.what.clone()?, wave - entry.waves.start))
        })
    }

    /// A dispatch is over.
    pub fn leave(&self, waves: &Range<u32>) {
        self.with(|all| all.leave(waves));
    }

    /// The dispatch that a wave is of.
    fn find(&self, wave: u32) -> Option<Arc<Scene>> {
        self.with(|all| {
            let entry = all.entries.iter().find(|e| e.waves.contains(&wave))?;
            Some(entry.what.as_ref()?.scene.clone())
        })
    }
}

/// Who was there at the same time as whom. Those who had left before anybody came who is still there are numbers and nothing
/// more, so that what is kept does not grow with the dispatches of a program, one overlapping the next for ever.
struct Times<T> {
    entries: Vec<Entry<T>>,
    /// Waves of those who are kept no longer.
    gone: Vec<Range<u32>>,
    next: u32,
    now: u64,
}

struct Entry<T> {
    waves: Range<u32>,
    what: T,
    began: u64,
    ended: Option<u64>,
}

impl<T> Default for Times<T> {
    fn default() -> Times<T> {
        Times { entries: Vec::new(), gone: Vec::new(), next: 0, now: 0 }
    }
}

/// Puts ranges together that have nothing between them.
fn joined(mut ranges: Vec<Range<u32>>) -> Vec<Range<u32>> {
    ranges.sort_by_key(|r| r.start);
    let mut out: Vec<Range<u32>> = Vec::new();
    for range in ranges {
        match out.last_mut() {
            Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
            _ => out.push(range),
        }
    }
    out
}

impl<T> Times<T> {
    /// Somebody comes, with so many waves.
    fn enter(&mut self, count: u32, what: T) -> (Range<u32>, Past) {
        let waves = self.next..self.next.saturating_add(count);
        (self.next, self.now) = (waves.end, self.now + 1);
        let ended = self.entries.iter().filter(|e| e.ended.is_some()).map(|e| e.waves.clone());
        let past = joined(self.gone.iter().cloned().chain(ended).collect()).into();
        self.entries.push(Entry { waves: waves.clone(), what, began: self.now, ended: None });
        (waves, past)
    }

    fn leave(&mut self, waves: &Range<u32>) {
        self.now += 1;
        let now = self.now;
        self.entries.iter_mut().filter(|e| e.waves == *waves).for_each(|e| e.ended = Some(now));
        let oldest = self.entries.iter().filter(|e| e.ended.is_none()).map(|e| e.began).min();
        let over = |e: &mut Entry<T>| e.ended.is_some_and(|at| oldest.is_none_or(|oldest| at < oldest));
        let gone = self.entries.extract_if(.., over).map(|e| e.waves).chain(self.gone.drain(..));
        self.gone = joined(gone.collect());
    }
}

/// What an instruction and one of another dispatch have done to each other.
struct Pair {
    who: Who,
    times: u64,
    places: Vec<(u64, u64)>,
    here: How,
    wrote: bool,
    other: Arc<Scene>,
}

/// Conflicts of a dispatch with others, by both instructions and what is wrong.
#[derive(Default)]
pub struct Between(HashMap<(u64, u64, Why), Pair>);

/// Places that a conflict is remembered at.
const PLACES: usize = 64;

impl Between {
    /// Notes a conflict with a wave of another dispatch, in a line.
    pub fn note(
        &mut self,
        register: &Register,
        (at, who): (u64, Who),
        line: u64,
        how: How,
        conflict: Conflict,
    ) {
        let Some(other) = register.find(conflict.other.wave) else { return };
        let Some(pc) = other.program().steps.get(conflict.other.step as usize).map(|s| s.at) else { return };
        let pair = self.0.entry((at, pc, conflict.why)).or_insert(Pair {
            who,
            times: 0,
            places: Vec::new(),
            here: how,
            wrote: conflict.wrote,
            other,
        });
        pair.times += u64::from(conflict.other.dwords.count_ones());
        if pair.places.len() < PLACES {
            pair.places.push((line, conflict.other.dwords));
        }
    }

    /// Tells what is left; `plain` says where, if a place is no flag.
    pub fn tell(&mut self, cx: &Context<'_>, plain: impl Fn(&(u64, u64)) -> Option<u64>) {
        let mut all: Vec<_> = self.0.drain().collect();
        all.sort_by_key(|(key, _)| *key);
        for ((pc, other, why), pair) in all {
            let Some(address) = pair.places.iter().find_map(&plain) else { continue };
            let key = Key { check: Check::Race, kind: kind(why), pc, other: Some(other) };
            cx.report(key, pair.who, pair.times, || {
                let near =
                    cx.scene.memory.nearest(address).map_or(String::new(), |n: Nearest| format!(": {n}"));
                let kernel = wavemill_object::demangle::shown(&pair.other.plan.kernel.name).to_string();
                let by = format!(
                    "kernel {kernel}, dispatch {}{}",
                    pair.other.plan.number,
                    on_gpu(cx, &pair.other)
                );
                Told {
                    message: message(why, pair.here.writes, pair.wrote),
                    other: if pair.wrote { "written" } else { "read" },
                    place: Some(pair.other.place(other)),
                    facts: vec![("address", format!("{address:#x}{near}")), ("by", by)],
                    mend: mend(why).into(),
                    ..Told::default()
                }
            });
        }
    }
}

/// On which GPU another dispatch runs, if not on the same.
pub fn on_gpu(cx: &Context<'_>, other: &Scene) -> String {
    if cx.scene.gpu == other.gpu { String::new() } else { format!(", on GPU {}", other.gpu) }
}

fn kind(why: Why) -> &'static str {
    match why {
        Why::Unordered => "dispatch-race",
        Why::OldInL1 => "stale-read",
        Why::KeptInL2 => "release-scope",
        Why::OldInL2 => "acquire-scope",
    }
}

fn message(why: Why, writes: bool, wrote: bool) -> String {
    let word = |writes: bool| if writes { "a write" } else { "a read" };
    match why {
        Why::Unordered => format!(
            "{} and {} of another dispatch, which runs at the same time, are not in order",
            word(writes),
            word(wrote)
        ),
        Why::OldInL1 => {
            "a read may find old data in L1, which has not been invalidated since the flag was read".into()
        }
        Why::KeptInL2 => format!(
            "{} meets a write of another GPU that its L2 may still keep: it has not been written back since",
            word(writes)
        ),
        Why::OldInL2 => {
            "a read may find old data of another GPU's memory in L2, which has not been invalidated since the flag was read"
                .into()
        }
    }
}

/// LLVM's AMDGPUUsage, memory model of gfx90a: releases and acquires of system scope.
fn mend(why: Why) -> &'static str {
    match why {
        Why::Unordered => {
            "let one dispatch wait for the other: the barrier bit or a barrier packet of a queue, or a signal"
        }
        Why::OldInL1 => "invalidate L1 (buffer_wbinvl1_vol) behind the load of the flag, or read with glc",
        Why::KeptInL2 => {
            "release at system scope: buffer_wbl2 and s_waitcnt vmcnt(0) between the write and the flag; or use fine-grained memory"
        }
        Why::OldInL2 => {
            "acquire at system scope: buffer_invl2 and buffer_wbinvl1_vol behind the load of the flag; or use fine-grained memory"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_there_before_is_known_and_does_not_grow() {
        let mut times: Times<char> = Times::default();
        let (a, past) = times.enter(10, 'a');
        assert_eq!((a.clone(), past.len()), (0..10, 0));
        let (b, past) = times.enter(5, 'b');
        assert_eq!((b.clone(), past.len()), (10..15, 0));
        times.leave(&a);
        // Behind the one, at the same time as the other, which must be found.
        let (mut last, past) = times.enter(1, 'c');
        assert_eq!((past.len(), past[0].clone()), (1, 0..10));
        assert!(times.entries.iter().any(|e| e.what == 'a'));
        times.leave(&b);
        for _ in 0..10_000 {
            let (next, past) = times.enter(3, 'd');
            assert!(past.len() <= 2 && past.iter().all(|r| r.end <= last.start), "{past:?}");
            assert!(past[0].contains(&12));
            times.leave(&last);
            assert!(times.entries.len() <= 3 && times.gone.len() <= 2);
            last = next;
        }
    }
}
