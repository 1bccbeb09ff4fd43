//! Accesses that nothing puts in order: two waves, one place, at least one of them writes.
//!
//! Order comes from barriers and from flags: places that are read and written as one, polled, or read past the caches. Which
//! places are flags shows while the kernel runs, so that conflicts are kept until its end. Lanes of a wave run in step and do
//! not race.

use super::book::{Key, Told, Who};
use super::clock::{Clock, Known};
use super::scene::Executed;
use super::set::Check;
use super::shadow::{Cell, Conflict, How, Mark, Order};
use super::watch::{Context, GroupWatch, Watch};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wavemill_isa::info::Waits;
use wavemill_wave::observe::{Access, Counters, Kind, Space};
use wavemill_wave::{Wave, WaveId};

/// Dwords of a page of shadow memory.
const PAGE: u64 = 1024;
/// Locks that pages are shared out among.
const SHARDS: usize = 64;
/// Places that a conflict is remembered at.
const PLACES: usize = 64;

type Pages = HashMap<u64, Box<[Cell]>>;

/// The check.
#[derive(Default)]
pub struct Race {
    memory: Arc<Memory>,
}

struct Memory {
    shards: [Mutex<Pages>; SHARDS],
    conflicts: Mutex<Conflicts>,
}

impl Default for Memory {
    fn default() -> Memory {
        Memory { shards: std::array::from_fn(|_| Mutex::default()), conflicts: Mutex::default() }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Memory {
    fn shard(&self, page: u64) -> &Mutex<Pages> {
        &self.shards[page as usize % SHARDS]
    }

    fn is_flag(&self, dword: u64) -> bool {
        let pages = lock(self.shard(dword / PAGE));
        pages.get(&(dword / PAGE)).is_some_and(|page| page[(dword % PAGE) as usize].flag)
    }
}

/// What two instructions have done to each other.
struct Pair {
    who: Who,
    times: u64,
    /// Where; more than [`PLACES`] are not remembered.
    places: Vec<u64>,
    conflict: Conflict,
    how: How,
    /// The earlier access stands behind the later one in the code.
    swapped: bool,
}

/// Conflicts by their instructions: the later one's, the earlier one's, and whether it is about old data.
#[derive(Default)]
struct Conflicts(HashMap<(u64, u32, bool), Pair>);

impl Conflicts {
    fn note(&mut self, at: u64, who: Who, dword: u64, how: How, conflict: Conflict) {
        let pair = self.0.entry((at, conflict.other.step, conflict.stale)).or_insert(Pair {
            who,
            times: 0,
            places: Vec::new(),
            conflict,
            how,
            swapped: false,
        });
        pair.times += 1;
        if pair.who.wave == who.wave {
            pair.who.lanes |= who.lanes;
        }
        if pair.places.len() <= PLACES {
            pair.places.push(dword);
        }
    }

    /// Tells what is left when it is known which places are flags.
    fn tell(&mut self, cx: &Context<'_>, order: Order, is_flag: impl Fn(u64) -> bool) {
        // Whichever of two instructions comes first in a run: they are one pair, told at the later one in the code.
        let mut pairs: BTreeMap<(u64, u64, bool), Pair> = BTreeMap::new();
        for ((pc, step, stale), pair) in self.0.drain() {
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
            let Some(place) = pair.places.iter().find(|dword| !is_flag(**dword)) else { continue };
            let kind = match (stale, order) {
                (true, _) => "stale-read",
                (false, Order::Lds) => "lds-race",
                (false, Order::Memory) => "memory-race",
            };
            let key = Key { check: Check::Race, kind, pc, other: Some(other) };
            cx.report(key, pair.who, pair.times, || told(cx, order, *place * 4, &pair, stale));
        }
    }
}

fn told(cx: &Context<'_>, order: Order, address: u64, pair: &Pair, stale: bool) -> Told {
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
    let base = pair.conflict.other.wave;
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
    }
}

impl Watch for Race {
    fn group(&self, cx: &Context<'_>, id: [u32; 3], waves: u32) -> Box<dyn GroupWatch> {
        let plan = &cx.scene.plan;
        let [gx, gy, _] = plan.groups;
        let number = id[0].wrapping_add(gx.wrapping_mul(id[1].wrapping_add(gy.wrapping_mul(id[2]))));
        let base = number.wrapping_mul(plan.waves);
        let Waits { vm, lgkm, exp } = Waits::none(cx.scene.target.level());
        Box::new(Group {
            memory: self.memory.clone(),
            clocks: (0..waves).map(|w| Clock::new(base + w, base, waves as usize)).collect(),
            lds: Vec::new(),
            conflicts: Conflicts::default(),
            most: Counters { vm, exp, lgkm },
            scratch: plan.scratch.base..plan.scratch.base + plan.scratch.len,
            episodes: vec![0; waves as usize],
            episode: 0,
            arrived: None,
            joined: None,
            read: vec![None; waves as usize],
        })
    }

    fn ended(&self, cx: &Context<'_>) {
        let mut conflicts = std::mem::take(&mut *lock(&self.memory.conflicts));
        conflicts.tell(cx, Order::Memory, |dword| self.memory.is_flag(dword));
    }
}

struct Group {
    memory: Arc<Memory>,
    clocks: Vec<Clock>,
    lds: Vec<Cell>,
    conflicts: Conflicts,
    most: Counters,
    /// Private memory, which is a lane's own: another work-group may have it next.
    scratch: Range<u64>,
    /// The barrier each wave is at, counted from 0.
    episodes: Vec<u64>,
    episode: u64,
    /// What those know that have come to the barrier, and what all knew at the last one.
    arrived: Option<Known>,
    joined: Option<Known>,
    /// Each wave's last read: the instruction and the first address.
    read: Vec<Option<(u32, u64)>>,
}

/// The bytes of dwords that an access touches.
fn dwords(access: &Access) -> impl Iterator<Item = (u64, u8)> + use<> {
    let (start, end) = (access.address, access.address + u64::from(access.bytes));
    (start / 4..end.div_ceil(4)).map(move |dword| {
        let (from, to) = ((dword * 4).max(start) - dword * 4, (dword * 4 + 4).min(end) - dword * 4);
        (dword, ((1u8 << to) - 1) & !((1u8 << from) - 1))
    })
}

impl Group {
    /// A load that the wave repeats, with no other access and no barrier between, waits for something.
    fn polls(&mut self, wave: WaveId, at: &Executed, first: &Access) -> bool {
        let own = (first.kind == Kind::Read).then_some((at.index, first.address));
        let before = std::mem::replace(&mut self.read[wave.wave as usize], own);
        own.is_some() && before == own
    }
}

impl GroupWatch for Group {
    fn after(&mut self, _: &Context<'_>, wave: &Wave, at: &Executed, accesses: &[Access]) {
        let Some(first) = accesses.first() else { return };
        let waits = self.polls(wave.id, at, first);
        let Group { memory, clocks, lds, conflicts, most, scratch, .. } = self;
        let clock = &mut clocks[wave.id.wave as usize];
        clock.issue(&at.step.info, *most);
        let returns = at.step.info.writes().any(|u| u.role.is_some());
        let mut open: Option<(u64, MutexGuard<'_, Pages>)> = None;
        for access in accesses.iter().filter(|a| a.fault.is_none()) {
            let atomic = matches!(access.kind, Kind::Atomic(_));
            let how = match access.kind {
                Kind::Invalidate => {
                    clock.invalidate();
                    continue;
                }
                Kind::WriteBack => continue,
                Kind::Read | Kind::Write | Kind::Atomic(_) => How {
                    writes: access.kind != Kind::Read,
                    reads: access.kind == Kind::Read || atomic && returns,
                    atomic,
                    through_l1: !atomic && !access.coherence.glc,
                    polls: waits || access.kind == Kind::Read && access.coherence.glc,
                },
            };
            let who = Who { wave: wave.id, lanes: access.lane.map_or(0, |l| 1 << l) };
            let order = match access.space {
                Space::Lds => Order::Lds,
                Space::Global | Space::Scalar if scratch.contains(&access.address) => continue,
                Space::Global | Space::Scalar => Order::Memory,
                Space::Gds | Space::Scratch | Space::Code => continue,
            };
            for (dword, mask) in dwords(access) {
                let own = Mark { wave: clock.wave, stamp: clock.now, step: at.index, mask, atomic };
                if order == Order::Lds {
                    if lds.len() as u64 <= dword {
                        lds.resize(dword as usize + 1, Cell::default());
                    }
                    if let Some(conflict) = lds[dword as usize].access(clock, own, how, order) {
                        conflicts.note(at.step.at, who, dword, how, conflict);
                    }
                    continue;
                }
                let page = dword / PAGE;
                if open.as_ref().is_none_or(|(p, _)| *p != page) {
                    drop(open.take());
                    open = Some((page, lock(memory.shard(page))));
                }
                let Some((_, pages)) = &mut open else { continue };
                let cells = pages
                    .entry(page)
                    .or_insert_with(|| vec![Cell::default(); PAGE as usize].into_boxed_slice());
                if let Some(conflict) = cells[(dword % PAGE) as usize].access(clock, own, how, order) {
                    lock(&memory.conflicts).note(at.step.at, who, dword, how, conflict);
                }
            }
        }
    }

    fn waited(&mut self, _: &Context<'_>, wave: &Wave, until: Counters) {
        self.clocks[wave.id.wave as usize].waited(until);
    }

    fn barrier_reached(&mut self, _: &Context<'_>, wave: &Wave) {
        let index = wave.id.wave as usize;
        self.read[index] = None;
        self.episodes[index] = self.episode;
        let known = self.clocks[index].at_barrier();
        match &mut self.arrived {
            Some(all) => all.join(&known),
            none => *none = Some(known),
        }
    }

    fn barrier_released(&mut self, _: &Context<'_>, wave: &Wave) {
        let index = wave.id.wave as usize;
        if self.episodes[index] == self.episode {
            self.joined = self.arrived.take();
            self.episode += 1;
        }
        if let Some(all) = &self.joined {
            self.clocks[index].join(all);
        }
    }

    fn ended(&mut self, cx: &Context<'_>) {
        let lds = &self.lds;
        self.conflicts.tell(cx, Order::Lds, |dword| lds.get(dword as usize).is_some_and(|c| c.flag));
    }
}
