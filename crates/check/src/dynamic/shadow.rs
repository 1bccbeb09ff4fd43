//! The last accesses to memory, and whether a new one is in order with them.
//!
//! Lanes of a wave mostly access what lies side by side, so that accesses are kept for 256 bytes together, each with the dwords
//! it touches: a dword has as much history as it needs, and 64 of them that were written together have one.

use super::clock::{Clock, Known, Release};
use std::ops::Range;

/// Dwords of a line.
pub const DWORDS: u64 = 64;
/// Lines of a page of shadow memory.
pub const PAGE: u64 = 16;

/// Dwords of a line that lie in a range, as a whole.
pub fn dwords_of(bytes: &Range<u64>, line: u64) -> u64 {
    let first = bytes.start.div_ceil(4).max(line * DWORDS) - line * DWORDS;
    let end = (bytes.end / 4).min((line + 1) * DWORDS).saturating_sub(line * DWORDS);
    if first >= end { 0 } else { (!0 >> (64 - (end - first))) << first }
}

/// Reads of a line that are remembered. Where more waves than that read it at the same time, a write that conflicts with all of
/// them still does with these.
const READS: usize = 32;

/// An access that was made, to dwords of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark {
    /// The dwords.
    pub dwords: u64,
    /// Its wave.
    pub wave: u32,
    /// Its stamp.
    pub stamp: u32,
    /// Its instruction.
    pub step: u32,
    /// The bytes of each dword.
    pub bytes: u8,
    /// Its wave's GPU, the last eight bits.
    pub gpu: u8,
}

impl Mark {
    /// Has nothing left where another one has been.
    fn give_way(&mut self, to: &Mark) {
        if self.bytes & !to.bytes == 0 {
            self.dwords &= !to.dwords;
        }
    }
}

/// What a line has seen.
#[derive(Clone, Debug, Default)]
pub struct Line {
    writes: Vec<(Mark, Release)>,
    /// Reads since, of each wave the last one that no later read has come after.
    reads: Vec<Mark>,
    /// Dwords through which waves talk to each other: read and written as one, polled, or read past the caches.
    pub flags: u64,
}

/// How an access is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct How {
    /// It writes.
    pub writes: bool,
    /// It reads, and the wave gets the value.
    pub reads: bool,
    /// It reads and writes as one.
    pub atomic: bool,
    /// It may find old data in L1.
    pub through_l1: bool,
    /// It waits for the value to change, or reads past the caches.
    pub polls: bool,
    /// What L2 does there.
    pub l2: L2,
}

/// What the L2 of a GPU does with some memory (LLVM's AMDGPUUsage, memory model of gfx90a).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum L2 {
    /// Nothing that others would see: memory of the host, and all that is fine-grained, is written through (MTYPE CC) or not
    /// kept there (UC). Also where nothing is known, and on other processors.
    Coherent,
    /// The GPU's own coarse-grained memory (RW): writes stay there until BUFFER_WBL2, reads are right.
    Own,
    /// That of another GPU (NC): writes stay there, and so does what was read, until BUFFER_INVL2.
    Remote,
}

/// Two accesses that are not in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// The earlier one; its dwords are those where they meet.
    pub other: Mark,
    /// It wrote.
    pub wrote: bool,
    /// What is wrong.
    pub why: Why,
}

/// What is wrong with two accesses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Why {
    /// Nothing puts them in order.
    Unordered,
    /// They are in order, but the later one may find old data in L1.
    OldInL1,
    /// What the earlier one has written may still be in its GPU's L2.
    KeptInL2,
    /// The later one may find old data in its GPU's L2.
    OldInL2,
}

/// Which clock orders accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// LDS.
    Lds,
    /// Memory.
    Memory,
}

impl Order {
    /// Whether an access is known.
    fn knows(self, known: &Known, other: &Mark, through_l1: bool) -> bool {
        match self {
            Order::Lds => known.lds[(other.wave - known.base) as usize] >= other.stamp,
            Order::Memory => known.of(other.wave, through_l1) >= other.stamp,
        }
    }
}

impl Line {
    /// Of which nothing is known but which dwords are flags.
    pub fn new(flags: u64) -> Line {
        Line { flags, ..Line::default() }
    }

    /// An access is made: `found` is told of earlier ones that it conflicts with.
    pub fn access(
        &mut self,
        clock: &mut Clock,
        own: Mark,
        how: How,
        order: Order,
        mut found: impl FnMut(Conflict),
    ) {
        if how.atomic || how.polls {
            self.flags |= own.dwords;
        }
        let plain = own.dwords & !self.flags;
        let meets = |other: &Mark| {
            let dwords = other.dwords & plain;
            (dwords != 0 && other.wave != own.wave && other.bytes & own.bytes != 0)
                .then_some(Mark { dwords, ..*other })
        };
        // Dwords that a conflict was told of: one is enough.
        let mut told = 0;
        let through_l1 = how.through_l1 && !how.writes;
        for other in self.writes.iter().filter_map(|(w, _)| meets(w)) {
            let mut wrong = |why| {
                told |= other.dwords;
                found(Conflict { other, wrote: true, why });
            };
            let known = &clock.known;
            if !order.knows(known, &other, through_l1) {
                let old = through_l1 && order.knows(known, &other, false);
                wrong(if old { Why::OldInL1 } else { Why::Unordered });
                if !old {
                    continue;
                }
            }
            if how.l2 == L2::Coherent || other.gpu == own.gpu {
                continue;
            }
            if !known.is_written_back(other.wave, other.stamp) {
                wrong(Why::KeptInL2);
            }
            if how.l2 == L2::Remote && how.reads && !known.is_fresh(other.wave, other.stamp) {
                wrong(Why::OldInL2);
            }
        }
        if how.writes {
            for other in self.reads.iter().filter_map(meets) {
                if other.dwords & !told != 0 && !order.knows(&clock.known, &other, false) {
                    told |= other.dwords;
                    found(Conflict { other, wrote: false, why: Why::Unordered });
                }
            }
        }
        if how.reads {
            self.acquire(clock, own.dwords);
        }
        if how.writes {
            self.reads.retain_mut(|r| {
                r.give_way(&own);
                r.dwords != 0
            });
            let mut release = clock.hand_on();
            let chained = self.writes.iter().filter(|(w, _)| how.atomic && w.dwords & own.dwords != 0);
            chained.for_each(|(_, before)| release.include(before));
            self.writes.retain_mut(|(w, _)| {
                w.give_way(&own);
                w.dwords != 0
            });
            self.writes.push((own, release));
        } else {
            // A read that comes after another one stands for it.
            self.reads.retain_mut(|r| {
                if r.wave == own.wave || order.knows(&clock.known, r, false) {
                    r.give_way(&own);
                }
                r.dwords != 0
            });
            if self.reads.len() == READS {
                self.reads.remove(0);
            }
            self.reads.push(own);
        }
    }

    /// All accesses that are remembered, and whether they wrote.
    pub fn marks(&self) -> impl Iterator<Item = (Mark, bool)> {
        self.writes.iter().map(|(mark, _)| (*mark, true)).chain(self.reads.iter().map(|mark| (*mark, false)))
    }

    /// Whoever reads a flag knows what its writer knew.
    pub fn acquire(&self, clock: &mut Clock, dwords: u64) {
        let flags = self.flags & dwords;
        if flags == 0 {
            return;
        }
        // Of its own, too: an atomic that returns nothing has taken part in a chain that the wave learns of now.
        for (write, release) in self.writes.iter().filter(|(w, _)| w.dwords & flags != 0) {
            clock.acquire(release, write.stamp);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use wavemill_wave::observe::WaitCounts;

    const WRITE: How =
        How { writes: true, reads: false, atomic: false, through_l1: true, polls: false, l2: L2::Coherent };
    const READ: How =
        How { writes: false, reads: true, atomic: false, through_l1: true, polls: false, l2: L2::Coherent };

    fn clock(wave: u32, base: u32, waves: usize) -> Clock {
        Clock::new(0, wave, base, waves, &Arc::default())
    }

    fn access(line: &mut Line, clock: &mut Clock, how: How, order: Order, dwords: u64) -> Vec<Conflict> {
        clock.now += 1;
        let own = Mark {
            dwords,
            wave: clock.wave,
            stamp: clock.now,
            step: 0,
            bytes: 15,
            gpu: clock.known.gpu as u8,
        };
        let mut found = Vec::new();
        line.access(clock, own, how, order, |c| found.push(c));
        found
    }

    #[test]
    fn order_comes_from_barriers() {
        let (mut a, mut b) = (clock(0, 0, 2), clock(1, 0, 2));
        let mut line = Line::default();
        assert_eq!(access(&mut line, &mut a, WRITE, Order::Lds, 6), []);
        let mut again = line.clone();
        // Beside it there is nothing to meet.
        assert_eq!(access(&mut line, &mut b, READ, Order::Lds, 1), []);
        let found = access(&mut line, &mut b, READ, Order::Lds, 3);
        assert!(
            matches!(found[..], [Conflict { wrote: true, other: Mark { dwords: 2, .. }, .. }]),
            "{found:?}"
        );
        let mut all = a.at_barrier();
        all.join(&b.at_barrier());
        b.join(&all);
        assert_eq!(access(&mut again, &mut b, READ, Order::Lds, 6), []);
        // The other way round: the read must be known to who writes.
        let found = access(&mut again, &mut a, WRITE, Order::Lds, 4);
        assert!(
            matches!(found[..], [Conflict { wrote: false, other: Mark { dwords: 4, .. }, .. }]),
            "{found:?}"
        );
    }

    #[test]
    fn who_is_the_last_of_a_chain_learns_of_the_others() {
        let (mut a, mut b) = (clock(0, 0, 1), clock(1, 1, 1));
        let (mut data, mut count) = (Line::default(), Line::default());
        let add = How { atomic: true, through_l1: false, ..WRITE };
        let polls = How { polls: true, through_l1: false, ..READ };
        assert_eq!(access(&mut data, &mut a, READ, Order::Memory, 1), []);
        assert_eq!(access(&mut count, &mut a, add, Order::Memory, 1), []);
        assert_eq!(access(&mut count, &mut b, add, Order::Memory, 1), []);
        assert_eq!(access(&mut data.clone(), &mut b, WRITE, Order::Memory, 1).len(), 1);
        assert_eq!(access(&mut count, &mut b, polls, Order::Memory, 1), []);
        assert_eq!(access(&mut data, &mut b, WRITE, Order::Memory, 1), []);
    }

    #[test]
    fn what_is_seen_of_others_needs_an_invalidated_cache() {
        let (mut a, mut b) = (clock(0, 0, 1), clock(1, 1, 1));
        let (mut data, mut flag) = (Line::default(), Line::default());
        let polls = How { polls: true, through_l1: false, ..READ };
        assert_eq!(access(&mut data, &mut a, WRITE, Order::Memory, 1), []);
        assert_eq!(access(&mut flag, &mut a, WRITE, Order::Memory, 1), []);
        assert_eq!(access(&mut flag, &mut b, polls, Order::Memory, 1), []);
        let mut again = data.clone();
        assert!(access(&mut data, &mut b, READ, Order::Memory, 1)[0].why == Why::OldInL1);
        b.invalidate();
        assert_eq!(access(&mut again, &mut b, READ, Order::Memory, 1), []);
    }

    #[test]
    fn gpus_see_each_other_s_writes_past_two_caches() {
        let of = |gpu: u32, wave: u32| Clock::new(gpu, wave, wave, 1, &Arc::default());
        let polls = How { polls: true, through_l1: false, ..READ };
        let (remote, own) = (How { l2: L2::Remote, ..READ }, How { l2: L2::Own, ..READ });
        let why = |found: Vec<Conflict>| found.iter().map(|c| c.why).collect::<Vec<_>>();
        // The writer and the second reader are on GPU 0, two others on GPU 1, one on GPU 2.
        let (mut a, mut b, mut c, mut d, mut e) = (of(0, 0), of(1, 1), of(1, 2), of(2, 3), of(0, 4));
        let (mut data, mut flag) = (Line::default(), Line::default());
        let pass = |line: &mut Line, from: &mut Clock, to: &mut Clock| {
            assert_eq!(access(line, from, How { l2: L2::Own, ..WRITE }, Order::Memory, 1), []);
            assert_eq!(access(line, to, polls, Order::Memory, 1), []);
            to.invalidate();
        };
        flag.flags = 1;
        assert_eq!(access(&mut data, &mut a, How { l2: L2::Own, ..WRITE }, Order::Memory, 1), []);
        pass(&mut flag, &mut a, &mut b);
        // Nothing was done for other GPUs, which the writer's own does not need.
        assert_eq!(
            why(access(&mut data.clone(), &mut b, remote, Order::Memory, 1)),
            [Why::KeptInL2, Why::OldInL2]
        );
        assert_eq!(why(access(&mut data.clone(), &mut b, own, Order::Memory, 1)), [Why::KeptInL2]);
        pass(&mut flag, &mut a, &mut e);
        assert_eq!(access(&mut data.clone(), &mut e, own, Order::Memory, 1), []);
        // Another wave of its GPU, which knows of the write, writes back; who is on another GPU writes nothing back.
        b.write_back_l2(|_| false);
        b.waited(WaitCounts { vm: 0, lgkm: 0, exp: 0 });
        assert_eq!(why(access(&mut data.clone(), &mut b, own, Order::Memory, 1)), [Why::KeptInL2]);
        e.write_back_l2(|wave| wave == 0);
        e.waited(WaitCounts { vm: 0, lgkm: 0, exp: 0 });
        pass(&mut flag, &mut e, &mut b);
        assert_eq!(access(&mut data.clone(), &mut b, own, Order::Memory, 1), []);
        assert_eq!(why(access(&mut data.clone(), &mut b, remote, Order::Memory, 1)), [Why::OldInL2]);
        // One wave invalidates for its GPU, not for another.
        b.invalidate_l2();
        assert_eq!(access(&mut data.clone(), &mut b, remote, Order::Memory, 1), []);
        pass(&mut flag, &mut b, &mut c);
        assert_eq!(access(&mut data.clone(), &mut c, remote, Order::Memory, 1), []);
        pass(&mut flag, &mut b, &mut d);
        assert_eq!(why(access(&mut data, &mut d, remote, Order::Memory, 1)), [Why::OldInL2]);
    }
}
