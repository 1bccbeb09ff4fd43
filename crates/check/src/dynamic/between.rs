//! Races between dispatches: those that run at the same time share one shadow of memory. Nothing has put them in order, or they
//! would not; what ended before a dispatch began is taken to have been waited for.

use super::book::{Key, Told, Who};
use super::clock::Past;
use super::scene::Scene;
use super::set::Check;
use super::shadow::{Conflict, How};
use super::watch::Context;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use wavemill_device::memory::Nearest;

/// Waves of dispatches, by numbers that no two of them share.
#[derive(Default)]
pub struct Register(Mutex<Vec<Entry>>);

struct Entry {
    waves: Range<u32>,
    scene: Arc<Scene>,
    ended: bool,
}

impl Register {
    fn with<R>(&self, f: impl FnOnce(&mut Vec<Entry>) -> R) -> R {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A dispatch begins: its waves, and those of dispatches that have ended.
    pub fn enter(&self, scene: &Arc<Scene>) -> (Range<u32>, Past) {
        let count = (scene.plan.group_count() as u32).saturating_mul(scene.plan.waves).max(1);
        self.with(|all| {
            let first = all.last().map_or(0, |e| e.waves.end);
            let waves = first..first.saturating_add(count);
            let past = all.iter().filter(|e| e.ended).map(|e| e.waves.clone()).collect();
            all.push(Entry { waves: waves.clone(), scene: scene.clone(), ended: false });
            (waves, past)
        })
    }

    /// A dispatch is over.
    pub fn leave(&self, waves: &Range<u32>) {
        self.with(|all| all.iter_mut().filter(|e| e.waves == *waves).for_each(|e| e.ended = true));
    }

    /// The dispatch that a wave is of, and its number there.
    fn find(&self, wave: u32) -> Option<(Arc<Scene>, u32)> {
        self.with(|all| {
            let entry = all.iter().find(|e| e.waves.contains(&wave))?;
            Some((entry.scene.clone(), wave - entry.waves.start))
        })
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

/// Conflicts of a dispatch with others, by both instructions.
#[derive(Default)]
pub struct Between(HashMap<(u64, u64), Pair>);

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
        let Some((other, _)) = register.find(conflict.other.wave) else { return };
        let Some(pc) = other.program().steps.get(conflict.other.step as usize).map(|s| s.at) else { return };
        let pair = self.0.entry((at, pc)).or_insert(Pair {
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
        for ((pc, other), pair) in all {
            let Some(address) = pair.places.iter().find_map(&plain) else { continue };
            let key = Key { check: Check::Race, kind: "dispatch-race", pc, other: Some(other) };
            cx.report(key, pair.who, pair.times, || {
                let word = |writes: bool| if writes { "a write" } else { "a read" };
                let near = cx.scene.memory.nearest(address).map_or(String::new(), |n: Nearest| format!(": {n}"));
                let kernel = wavemill_object::demangle::shown(&pair.other.plan.kernel.name).to_string();
                Told {
                    message: format!(
                        "{} and {} of another dispatch, which runs at the same time, are not in order",
                        word(pair.here.writes),
                        word(pair.wrote)
                    ),
                    other: if pair.wrote { "written" } else { "read" },
                    place: Some(pair.other.place(other)),
                    facts: vec![
                        ("address", format!("{address:#x}{near}")),
                        ("by", format!("kernel {kernel}, dispatch {}", pair.other.plan.number)),
                    ],
                    mend: "let one dispatch wait for the other: the barrier bit or a barrier packet of a queue, or a signal".into(),
                    ..Told::default()
                }
            });
        }
    }
}
