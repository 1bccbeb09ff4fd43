//! The last accesses to each dword, and whether a new one is in order with them.

use super::clock::{Clock, Known};
use std::sync::Arc;

/// An access that was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark {
    /// Its wave.
    pub wave: u32,
    /// Its stamp.
    pub stamp: u32,
    /// Its instruction.
    pub step: u32,
    /// The bytes of the dword.
    pub mask: u8,
    /// It reads and writes as one.
    pub atomic: bool,
}

/// What a dword has seen.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    write: Option<(Mark, Arc<Known>)>,
    /// Reads since, of each wave the last one that no later read has come after.
    reads: Vec<Mark>,
    /// Waves talk to each other through it: it is read and written as one, polled, or read past the caches.
    pub flag: bool,
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
}

/// Two accesses that are not in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// The earlier one.
    pub other: Mark,
    /// It wrote.
    pub wrote: bool,
    /// They are in order, but the later one may find old data in L1.
    pub stale: bool,
}

/// Which clock orders accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// LDS.
    Lds,
    /// Memory.
    Memory,
}

impl Cell {
    /// An access is made: whether it conflicts with an earlier one.
    pub fn access(&mut self, clock: &mut Clock, own: Mark, how: How, order: Order) -> Option<Conflict> {
        self.flag |= how.atomic || how.polls;
        let knows = |known: &Known, other: &Mark, through_l1: bool| match order {
            Order::Lds => known.lds[(other.wave - known.base) as usize] >= other.stamp,
            Order::Memory => known.of(other.wave, through_l1) >= other.stamp,
        };
        let meets = |other: &Mark| other.wave != own.wave && other.mask & own.mask != 0;
        let mut found = None;
        if let Some((write, _)) = self.write.as_ref().filter(|(w, _)| meets(w) && !self.flag) {
            let through_l1 = how.through_l1 && !how.writes;
            if !knows(&clock.known, write, through_l1) {
                let stale = through_l1 && knows(&clock.known, write, false);
                found = Some(Conflict { other: *write, wrote: true, stale });
            }
        }
        if how.writes && found.is_none() && !self.flag {
            let read = self.reads.iter().find(|r| meets(r) && !knows(&clock.known, r, false));
            found = read.map(|r| Conflict { other: *r, wrote: false, stale: false });
        }
        // Whoever reads a flag knows what its writer knew.
        if self.flag
            && how.reads
            && let Some((write, known)) = self.write.as_ref().filter(|(w, _)| w.wave != own.wave)
        {
            clock.acquire(known, write.wave, write.stamp);
        }
        if how.writes {
            self.reads.retain(|r| r.mask & !own.mask != 0);
            let mut known = clock.hand_on();
            // A chain of atomics hands on what each of them knew, whether it looks at the value or not.
            if how.atomic
                && let Some((_, before)) = &self.write
            {
                Arc::make_mut(&mut known).include(before);
            }
            self.write = Some((own, known));
        } else {
            // A read that comes after another one stands for it.
            self.reads
                .retain(|r| r.wave != own.wave && !knows(&clock.known, r, false) || r.mask & !own.mask != 0);
            self.reads.push(own);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITE: How = How { writes: true, reads: false, atomic: false, through_l1: true, polls: false };
    const READ: How = How { writes: false, reads: true, atomic: false, through_l1: true, polls: false };

    fn mark(clock: &mut Clock) -> Mark {
        clock.now += 1;
        Mark { wave: clock.wave, stamp: clock.now, step: 0, mask: 15, atomic: false }
    }

    #[test]
    fn order_comes_from_barriers() {
        let (mut a, mut b) = (Clock::new(0, 0, 2), Clock::new(1, 0, 2));
        let mut cell = Cell::default();
        let m = mark(&mut a);
        assert_eq!(cell.access(&mut a, m, WRITE, Order::Lds), None);
        let mut again = cell.clone();
        let m = mark(&mut b);
        assert!(cell.access(&mut b, m, READ, Order::Lds).is_some_and(|c| c.wrote));
        let mut all = a.at_barrier();
        all.join(&b.at_barrier());
        b.join(&all);
        let m = mark(&mut b);
        assert_eq!(again.access(&mut b, m, READ, Order::Lds), None);
        // The other way round: the read must be known to who writes.
        let m = mark(&mut a);
        assert!(again.access(&mut a, m, WRITE, Order::Lds).is_some_and(|c| !c.wrote));
    }

    #[test]
    fn what_is_seen_of_others_needs_an_invalidated_cache() {
        let (mut a, mut b) = (Clock::new(0, 0, 1), Clock::new(1, 1, 1));
        let (mut data, mut flag) = (Cell::default(), Cell::default());
        let polls = How { polls: true, through_l1: false, ..READ };
        let m = mark(&mut a);
        assert_eq!(data.access(&mut a, m, WRITE, Order::Memory), None);
        let m = mark(&mut a);
        assert_eq!(flag.access(&mut a, m, WRITE, Order::Memory), None);
        let m = mark(&mut b);
        assert_eq!(flag.access(&mut b, m, polls, Order::Memory), None);
        let mut again = data.clone();
        let m = mark(&mut b);
        assert!(data.access(&mut b, m, READ, Order::Memory).is_some_and(|c| c.stale));
        b.invalidate();
        assert_eq!(again.access(&mut b, m, READ, Order::Memory), None);
    }
}
