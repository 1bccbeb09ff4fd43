//! Conflicts between waves of one dispatch, and what is said of them.

use super::book::{Key, Told, Who};
use super::set::Check;
use super::shadow::{Conflict, DWORDS, How, Order, Why};
use super::watch::Context;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};

/// Places that a conflict is remembered at.
const PLACES: usize = 64;

/// What two instructions have done to each other.
struct Pair {
    who: Who,
    times: u64,
    /// Lines and their dwords; more than [`PLACES`] are not remembered.
    places: Vec<(u64, u64)>,
    conflict: Conflict,
    how: How,
    /// The earlier access stands behind the later one in the code.
    swapped: bool,
}

/// Conflicts by their instructions: the later one's, the earlier one's, and whether it is about old data.
#[derive(Default)]
pub struct Conflicts {
    pairs: HashMap<(u64, u32, bool), Pair>,
    /// The dispatch's first wave.
    pub first: u32,
}

/// A dword of a place that is no flag.
pub fn plain((line, dwords): &(u64, u64), flags: impl Fn(u64) -> u64) -> Option<u64> {
    let plain = dwords & !flags(*line);
    (plain != 0).then(|| line * DWORDS + u64::from(plain.trailing_zeros()))
}

impl Conflicts {
    /// None yet, of a dispatch with this first wave.
    pub fn new(first: u32) -> Conflicts {
        Conflicts { first, ..Conflicts::default() }
    }

    /// Notes one, in a line.
    pub fn note(&mut self, at: u64, who: Who, line: u64, how: How, conflict: Conflict) {
        let stale = conflict.why == Why::OldInL1;
        let pair = self.pairs.entry((at, conflict.other.step, stale)).or_insert(Pair {
            who,
            times: 0,
            places: Vec::new(),
            conflict,
            how,
            swapped: false,
        });
        pair.times += u64::from(conflict.other.dwords.count_ones());
        if pair.who.wave == who.wave {
            pair.who.lanes |= who.lanes;
        }
        if pair.places.len() <= PLACES {
            pair.places.push((line, conflict.other.dwords));
        }
    }

    /// Tells what is left when it is known which places are flags.
    pub fn tell(&mut self, cx: &Context<'_>, order: Order, flags: impl Fn(u64) -> u64) {
        // Whichever of two instructions comes first in a run: they are one pair, told at the later one in the code.
        let mut pairs: BTreeMap<(u64, u64, bool), Pair> = BTreeMap::new();
        for ((pc, step, stale), pair) in self.pairs.drain() {
            let other = cx.scene.program().steps[step as usize].at;
            let swapped = other > pc && !stale;
            let key = if swapped { (other, pc, stale) } else { (pc, other, stale) };
            match pairs.entry(key) {
                Entry::Vacant(new) => drop(new.insert(Pair { swapped, ..pair })),
                Entry::Occupied(mut known) => {
                    let known = known.get_mut();
                    let times = known.times + pair.times;
                    if known.swapped {
                        let places = std::mem::take(&mut known.places);
                        *known = Pair { swapped, ..pair };
                        known.places.extend(places);
                    } else {
                        known.places.extend(pair.places);
                    }
                    known.times = times;
                }
            }
        }
        for ((pc, other, stale), pair) in pairs {
            let Some(place) = pair.places.iter().find_map(|p| plain(p, &flags)) else { continue };
            let kind = match (stale, order) {
                (true, _) => "stale-read",
                (false, Order::Lds) => "lds-race",
                (false, Order::Memory) => "memory-race",
            };
            let key = Key { check: Check::Race, kind, pc, other: Some(other) };
            cx.report(key, pair.who, pair.times, || told(cx, order, place * 4, &pair, self.first));
        }
    }
}

fn told(cx: &Context<'_>, order: Order, address: u64, pair: &Pair, first: u32) -> Told {
    let stale = pair.conflict.why == Why::OldInL1;
    let does = |how: How| match (how.writes, how.atomic) {
        (_, true) => "an atomic",
        (true, _) => "a write",
        _ => "a read",
    };
    let earlier = if pair.conflict.wrote { "a write" } else { "a read" };
    let (here, there) = if pair.swapped { (earlier, does(pair.how)) } else { (does(pair.how), earlier) };
    let near = cx.scene.memory.nearest(address).filter(|_| order == Order::Memory);
    let near = near.map_or(String::new(), |n| format!(": {n}"));
    let space = if order == Order::Lds { " in LDS" } else { "" };
    let base = pair.conflict.other.wave - first;
    let whose = match base / cx.scene.plan.waves.max(1) {
        _ if order == Order::Lds => format!("wave {} of the work-group", base % cx.scene.plan.waves.max(1)),
        group => {
            let id = cx.scene.plan.group_id(group.into()).map(|n| n.to_string()).join(",");
            format!("work-group {id}, wave {}", base % cx.scene.plan.waves.max(1))
        }
    };
    let mend = match (stale, order) {
        (true, _) => {
            "invalidate L1 (buffer_wbinvl1_vol; GFX6: buffer_wbinvl1) behind the load of the flag, or read with glc"
        }
        (false, Order::Lds) => "put s_waitcnt lgkmcnt(0) and s_barrier between the two",
        (false, Order::Memory) => {
            "within a work-group, put a barrier between the two; across work-groups, s_waitcnt vmcnt(0) and an atomic behind the \
             first, and an atomic and buffer_wbinvl1_vol before the second"
        }
    };
    Told {
        message: match stale {
            true => "a read may find old data in L1, which has not been invalidated since the flag was read"
                .into(),
            false => format!("{here} and {there} of another wave are not in order"),
        },
        other: if there == "a read" { "read" } else { "written" },
        facts: vec![("address", format!("{address:#x}{space}{near}")), ("by", whose)],
        mend: mend.into(),
        ..Told::default()
    }
}
