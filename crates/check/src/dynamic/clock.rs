//! Who knows what of whom: vector clocks of waves.
//!
//! Each memory instruction of a wave has a number, its stamp. A wave knows of another one's accesses up to a stamp: those
//! happened before. In a work-group, barriers and flags hand on what a wave knows, one number for each of its waves and for
//! each of LDS and memory, since each has its own counter to wait for; beyond it, a map has those waves that were heard of.
//!
//! What a wave hands on of itself is what is done: waited for with S_WAITCNT. Only in memory, and within a work-group, order of
//! issue will do, because its waves share one L1 cache that works in order (AMDGPU guide, memory model of GFX6 to GFX9).
//!
//! GPUs have an L2 each. What another GPU's waves have done may still be in theirs, and old lines in one's own: waves also know
//! how much of it was written back, and how much they knew when their GPU's L2 was invalidated (LLVM's AMDGPUUsage, memory
//! model of gfx90a, whose instructions for that these are; others have none).

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use wavemill_isa::info::{Counter, Info, Path, Queue};
use wavemill_wave::observe::WaitCounts;

/// Waves of dispatches that have ended.
pub type Past = Arc<[Range<u32>]>;

/// What is known of waves of other work-groups.
pub type Far = HashMap<u32, u32>;

/// What a wave knew at some time.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// The number of its work-group's first wave.
    pub base: u32,
    /// Of LDS accesses of the waves of its work-group.
    pub lds: Vec<u32>,
    /// Of their memory accesses.
    pub memory: Vec<u32>,
    /// Of those of other work-groups.
    pub far: Arc<Far>,
    /// The same, as far as loads through L1 see it: what was known when that was invalidated last.
    pub visible: Arc<Far>,
    /// How much of what waves of any GPU have done is written back from their L2.
    pub written_back: Arc<Far>,
    /// What was known of waves of other GPUs when L2 was invalidated last.
    pub fresh: Arc<Far>,
    /// The GPU.
    pub gpu: u32,
    /// Waves of dispatches that had ended when this one began.
    pub past: Past,
    /// A wave of the work-group had loaded through L1, and not invalidated it since, when they met at their last barrier.
    pub cached: bool,
}

fn join_all(to: &mut [u32], from: &[u32]) {
    to.iter_mut().zip(from).for_each(|(a, b)| *a = (*a).max(*b));
}

fn join_far(to: &mut Arc<Far>, from: &Arc<Far>) {
    if !Arc::ptr_eq(to, from) && !from.is_empty() {
        let map = Arc::make_mut(to);
        from.iter().for_each(|(wave, stamp)| learn(map, *wave, *stamp));
    }
}

fn learn(map: &mut Far, wave: u32, stamp: u32) {
    let known = map.entry(wave).or_default();
    *known = (*known).max(stamp);
}

impl Known {
    /// Nothing, in a work-group of so many waves.
    pub fn nothing(gpu: u32, base: u32, waves: usize, past: Past) -> Known {
        Known { gpu, base, lds: vec![0; waves], memory: vec![0; waves], past, ..Known::default() }
    }

    /// What another wave of the work-group knew.
    pub fn join(&mut self, other: &Known) {
        join_all(&mut self.lds, &other.lds);
        join_all(&mut self.memory, &other.memory);
        join_far(&mut self.far, &other.far);
        join_far(&mut self.visible, &other.visible);
        join_far(&mut self.written_back, &other.written_back);
        join_far(&mut self.fresh, &other.fresh);
        self.cached |= other.cached;
    }

    /// What a wave of another work-group knew, of others: of its own accesses it hands on what is done, and not what its
    /// work-group knows behind a barrier, where L1 keeps their order.
    fn join_from_afar(&mut self, other: &Known, itself: u32) {
        join_far(&mut self.far, &other.far);
        join_far(&mut self.written_back, &other.written_back);
        if other.gpu == self.gpu {
            join_far(&mut self.fresh, &other.fresh);
        }
        let own = self.base..self.base + self.memory.len() as u32;
        let far = Arc::make_mut(&mut self.far);
        let of_others = |(wave, stamp): &(u32, &u32)| *wave != itself && **stamp > 0;
        for (wave, stamp) in (other.base..).zip(&other.memory).filter(of_others) {
            learn(far, wave, *stamp);
        }
        far.retain(|wave, _| !own.contains(wave));
    }

    /// What a wave has handed on, of this work-group or another one.
    pub fn include(&mut self, release: &Release) {
        let Release { known, wave, lds, memory } = release;
        let index = (wave - known.base) as usize;
        if known.base == self.base {
            self.join(known);
            self.lds[index] = self.lds[index].max(*lds);
            self.memory[index] = self.memory[index].max(*memory);
        } else {
            self.join_from_afar(known, *wave);
            learn(Arc::make_mut(&mut self.far), *wave, *memory);
        }
    }

    /// Whether joining what another wave of the work-group, or the same one, knew would change nothing.
    fn covers(&self, other: &Known) -> bool {
        let far = |mine: &Arc<Far>, theirs: &Arc<Far>| {
            let less = |(wave, stamp): (&u32, &u32)| mine.get(wave).is_some_and(|known| known >= stamp);
            Arc::ptr_eq(mine, theirs) || theirs.iter().all(less)
        };
        let all = |mine: &[u32], theirs: &[u32]| mine.iter().zip(theirs).all(|(a, b)| a >= b);
        std::ptr::eq(self, other)
            || all(&self.lds, &other.lds)
                && all(&self.memory, &other.memory)
                && far(&self.far, &other.far)
                && far(&self.visible, &other.visible)
                && far(&self.written_back, &other.written_back)
                && far(&self.fresh, &other.fresh)
                && (self.cached || !other.cached)
    }

    /// What is known of a wave's accesses, in memory; loads through L1 see less.
    pub fn of(&self, wave: u32, through_l1: bool) -> u32 {
        match wave.checked_sub(self.base).and_then(|i| self.memory.get(i as usize)) {
            Some(stamp) => *stamp,
            None if self.past.iter().any(|waves| waves.contains(&wave)) => u32::MAX,
            None => *(if through_l1 { &self.visible } else { &self.far }).get(&wave).unwrap_or(&0),
        }
    }

    /// Whether a wave of another GPU has done something so that it can be seen here: it is written back, or the wave's dispatch
    /// had ended before this one began, which is a matter of their packets' fences.
    pub fn is_written_back(&self, wave: u32, stamp: u32) -> bool {
        self.reaches(&self.written_back, wave, stamp)
    }

    /// Whether L2 has been invalidated since that was known.
    pub fn is_fresh(&self, wave: u32, stamp: u32) -> bool {
        self.reaches(&self.fresh, wave, stamp)
    }

    fn reaches(&self, how_far: &Far, wave: u32, stamp: u32) -> bool {
        how_far.get(&wave).is_some_and(|s| *s >= stamp) || self.past.iter().any(|waves| waves.contains(&wave))
    }
}

/// What a wave hands on with a value that it writes.
#[derive(Clone, Debug)]
pub struct Release {
    /// What it knew of others.
    pub known: Arc<Known>,
    /// The wave.
    pub wave: u32,
    /// What it had done itself.
    pub lds: u32,
    /// The same in memory.
    pub memory: u32,
}

impl Release {
    /// A chain of atomics hands on what each of them knew, whether it looks at the value or not.
    pub fn include(&mut self, before: &Release) {
        if before.wave == self.wave && before.known.covers(&self.known) {
            // The wave's own, and it has learnt nothing else since.
            self.known = before.known.clone();
            (self.lds, self.memory) = (self.lds.max(before.lds), self.memory.max(before.memory));
            return;
        }
        Arc::make_mut(&mut self.known).include(before);
    }
}

/// The clock of a wave.
#[derive(Clone, Debug)]
pub struct Clock {
    /// Its number among all waves of the dispatches that run at the same time.
    pub wave: u32,
    /// The stamp of its latest memory instruction.
    pub now: u32,
    /// What it knows.
    pub known: Arc<Known>,
    /// What was acquired last.
    acquired: Option<(Arc<Known>, u32)>,
    /// Vector memory instructions and those of LDS under way, oldest first.
    vector: VecDeque<u32>,
    lds: VecDeque<u32>,
    /// Those of vector memory that load into LDS, or store from it.
    direct: VecDeque<u32>,
    /// LGKM_CNT also counts what comes back in any order.
    mixed: bool,
    /// It has loaded through L1 since it invalidated that.
    cached: bool,
    /// L2 is being written back: since when, and what is in it.
    writing_back: VecDeque<(u32, Far)>,
}

impl Clock {
    /// A wave that starts, on a GPU.
    pub fn new(gpu: u32, wave: u32, base: u32, waves: usize, past: &Past) -> Clock {
        Clock {
            wave,
            now: 0,
            known: Arc::new(Known::nothing(gpu, base, waves, past.clone())),
            acquired: None,
            vector: VecDeque::new(),
            lds: VecDeque::new(),
            direct: VecDeque::new(),
            mixed: false,
            cached: false,
            writing_back: VecDeque::new(),
        }
    }

    fn index(&self) -> usize {
        (self.wave - self.known.base) as usize
    }

    /// A memory instruction is issued, which accesses LDS or does not. A counter that is full holds it back.
    pub fn issue(&mut self, info: &Info, in_lds: bool, most: WaitCounts) {
        self.now += 1;
        for raise in info.raises() {
            match (raise.counter, raise.queue) {
                (Counter::Vm, _) => self.vector.push_back(self.now),
                (Counter::Lgkm, Queue::Lds) => self.lds.push_back(self.now),
                // Where it is not in LDS, it counts down early.
                (Counter::Lgkm, Queue::Flat) if in_lds => self.lds.push_back(self.now),
                (Counter::Lgkm, Queue::Flat) => {}
                (Counter::Lgkm, _) => self.mixed = true,
                (Counter::Exp, _) => {}
            }
        }
        let counted = |counter| info.raises().any(|r| r.counter == counter);
        let lds = info.memory().any(|m| m.path == Path::Lds);
        if lds && counted(Counter::Vm) && !counted(Counter::Lgkm) {
            self.direct.push_back(self.now);
        }
        self.vector_down_to(most.vm);
    }

    /// VM_CNT has come down.
    fn vector_down_to(&mut self, count: u8) {
        while self.vector.len() > count.into() {
            self.vector.pop_front();
        }
        let oldest = self.vector.front().copied().unwrap_or(u32::MAX);
        while self.direct.front().is_some_and(|stamp| *stamp < oldest) {
            self.direct.pop_front();
        }
        while let Some((_, all)) = self.writing_back.pop_front_if(|(stamp, _)| *stamp < oldest) {
            let known = Arc::make_mut(&mut self.known);
            join_far(&mut known.written_back, &Arc::new(all));
        }
    }

    /// S_WAITCNT.
    pub fn waited(&mut self, until: WaitCounts) {
        self.vector_down_to(until.vm);
        if until.lgkm == 0 {
            self.mixed = false;
        }
        while !self.mixed && self.lds.len() > until.lgkm.into() {
            self.lds.pop_front();
        }
    }

    fn done(&self, under_way: &VecDeque<u32>) -> u32 {
        under_way.front().map_or(self.now, |oldest| oldest - 1)
    }

    /// LDS accesses that are done.
    fn lds_done(&self) -> u32 {
        self.done(&self.lds).min(self.done(&self.direct))
    }

    /// Memory accesses that are done.
    fn memory_done(&self) -> u32 {
        self.done(&self.vector)
    }

    /// What the wave hands on at a barrier.
    pub fn at_barrier(&self) -> Known {
        let mut known = Known::clone(&self.known);
        let own = self.index();
        known.lds[own] = self.lds_done();
        known.memory[own] = self.now;
        known.cached = self.cached;
        known
    }

    /// What it hands on with a value that it writes: what is done.
    pub fn hand_on(&self) -> Release {
        Release {
            known: self.known.clone(),
            wave: self.wave,
            lds: self.lds_done(),
            memory: self.memory_done(),
        }
    }

    /// What another wave has handed on, with a value that it wrote at `stamp`. In its own work-group, what was issued before
    /// that is in order.
    pub fn acquire(&mut self, other: &Release, stamp: u32) {
        // A wave that polls finds the same again and again.
        if self.acquired.as_ref().is_some_and(|(known, at)| Arc::ptr_eq(known, &other.known) && *at == stamp)
        {
            return;
        }
        self.acquired = Some((other.known.clone(), stamp));
        if Arc::ptr_eq(&self.known, &other.known) {
            return;
        }
        let known = Arc::make_mut(&mut self.known);
        known.include(other);
        if other.known.base == known.base {
            let theirs = &mut known.memory[(other.wave - known.base) as usize];
            *theirs = (*theirs).max(stamp);
        }
    }

    /// What all waves of the work-group know behind a barrier.
    pub fn join(&mut self, all: &Known) {
        let known = Arc::make_mut(&mut self.known);
        known.join(all);
        known.cached = all.cached;
    }

    /// Whether the work-group may have left something in L1.
    pub fn has_cached(&self) -> bool {
        self.cached || self.known.cached
    }

    /// A load through L1.
    pub fn loaded(&mut self) {
        self.cached = true;
    }

    /// L1 forgets what it has: loads see what is known.
    pub fn invalidate(&mut self) {
        self.cached = false;
        self.see_all();
    }

    /// L2 is told to write back what is in it: what this wave has done, and what it knows of others of the same GPU. They are
    /// in memory when the instruction, which has been issued, is waited for.
    pub fn write_back_l2(&mut self, is_local: impl Fn(u32) -> bool) {
        let Known { base, memory, far, .. } = &*self.known;
        let near = (*base..).zip(memory.iter().copied()).filter(|(_, stamp)| *stamp > 0);
        let others = far.iter().map(|(wave, stamp)| (*wave, *stamp)).filter(|(wave, _)| is_local(*wave));
        let mut all: Far = near.chain(others).collect();
        all.insert(self.wave, self.now);
        self.writing_back.push_back((self.now, all));
    }

    /// L2 forgets what it has of other GPUs' memory.
    pub fn invalidate_l2(&mut self) {
        if !Arc::ptr_eq(&self.known.fresh, &self.known.far) {
            let known = Arc::make_mut(&mut self.known);
            known.fresh = known.far.clone();
        }
    }

    /// L1 has nothing old, whoever it was that invalidated it.
    pub fn see_all(&mut self) {
        if !Arc::ptr_eq(&self.known.visible, &self.known.far) {
            let known = Arc::make_mut(&mut self.known);
            known.visible = known.far.clone();
        }
    }
}
