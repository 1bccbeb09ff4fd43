//! Ordered count: waves count in the order in which they were launched (DS_ORDERED_COUNT, before gfx90a).
//!
//! The MI200 manual does not have the instruction. What the offset's bits mean is in LLVM's `llvm.amdgcn.ds.ordered.add`
//! and its lowering: bits 7:2 the counter, 8 *wave release*, 9 *wave done*, 11:10 the shader's type, 12 exchange instead
//! of add; M0 holds the counters' address in its upper half and the wave's number in its lower one.

use std::collections::BTreeSet;

/// What an instruction's offset says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Count {
    /// The counter, 0 to 63.
    pub counter: u8,
    /// The counter's turn passes to the next wave.
    pub release: bool,
    /// The wave counts no more, on any counter.
    pub done: bool,
    /// The datum replaces the counter's value; else it is added.
    pub swap: bool,
}

impl Count {
    /// Takes an offset apart.
    pub const fn of(offset: u32) -> Count {
        Count {
            counter: (offset >> 2 & 63) as u8,
            release: offset >> 8 & 1 != 0,
            done: offset >> 9 & 1 != 0,
            swap: offset >> 12 & 1 != 0,
        }
    }

    /// Byte of the counter behind the address in M0.
    pub const fn address(self) -> u32 {
        self.counter as u32 * 4
    }
}

/// Numbers that have been passed, all below some number and a few above.
#[derive(Clone, Debug, Default)]
struct Passed {
    below: u64,
    early: BTreeSet<u64>,
}

impl Passed {
    fn contains(&self, n: u64) -> bool {
        n < self.below || self.early.contains(&n)
    }

    fn add(&mut self, n: u64) {
        if n >= self.below {
            self.early.insert(n);
        }
    }

    /// Moves the lower end up as far as it goes, also over what `others` has.
    fn settle(&mut self, others: &Passed) {
        while self.early.remove(&self.below) || others.contains(self.below) {
            self.below += 1;
        }
    }
}

/// Whose turn it is at the counters of a dispatch. Waves are numbered in the order of their launch, without gaps.
#[derive(Clone, Debug)]
pub struct Turns {
    counters: Box<[Passed; 64]>,
    /// Counters that somebody has asked for, one bit each.
    used: u64,
    done: Passed,
}

impl Default for Turns {
    fn default() -> Turns {
        Turns {
            counters: Box::new(std::array::from_fn(|_| Passed::default())),
            used: 0,
            done: Passed::default(),
        }
    }
}

impl Turns {
    /// Whether a wave may count now: every earlier one has released the counter, is done or has ended. A wave that has
    /// released the counter itself does not wait again.
    pub fn may_count(&mut self, wave: u64, count: Count) -> bool {
        let counter = &mut self.counters[count.counter as usize % 64];
        self.used |= 1 << (count.counter % 64);
        counter.settle(&self.done);
        wave <= counter.below || counter.early.contains(&wave)
    }

    /// The counters in use, each with the wave whose turn it is: the only one that may have waited and need not any more.
    pub fn now(&mut self) -> impl Iterator<Item = (u8, u64)> + '_ {
        let (used, done) = (self.used, &self.done);
        let counters = (0u8..).zip(self.counters.iter_mut()).filter(move |(i, _)| used >> i & 1 != 0);
        counters.map(move |(i, counter)| {
            counter.settle(done);
            (i, counter.below)
        })
    }

    /// A wave has counted.
    pub fn counted(&mut self, wave: u64, count: Count) {
        if count.release {
            self.counters[count.counter as usize % 64].add(wave);
        }
        if count.done {
            self.ended(wave);
        }
    }

    /// A wave has ended, or will not count any more: its turns pass.
    pub fn ended(&mut self, wave: u64) {
        self.done.add(wave);
        while self.done.early.remove(&self.done.below) {
            self.done.below += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LLVM's own example: counter 1, release and done, is offset 772; an exchange at counter 1 is 4868.
    #[test]
    fn offsets() {
        assert_eq!(Count::of(772), Count { counter: 1, release: true, done: true, swap: false });
        assert_eq!(Count::of(4868), Count { counter: 1, release: true, done: true, swap: true });
        assert_eq!(Count::of(772).address(), 4);
    }

    #[test]
    fn turns() {
        let count = |counter, release, done| Count { counter, release, done, swap: false };
        let mut turns = Turns::default();
        let hold = count(0, false, false);
        let release = count(0, true, false);
        assert!(!turns.may_count(1, release));
        assert!(turns.may_count(0, hold));
        turns.counted(0, hold);
        // It has not been released.
        assert!(!turns.may_count(1, release));
        turns.counted(0, release);
        assert_eq!(turns.now().collect::<Vec<_>>(), [(0, 1)]);
        assert!(turns.may_count(1, release) && !turns.may_count(2, release));
        // The other counters are still wave 0's.
        assert!(!turns.may_count(1, count(3, true, false)));
        // Waves that end have no turn.
        turns.ended(2);
        turns.ended(3);
        turns.counted(1, count(0, true, true));
        assert!(turns.may_count(4, release) && !turns.may_count(5, release));
        // Nobody waits a second time.
        assert!(turns.may_count(0, release));
        turns.ended(0);
        assert!(turns.may_count(4, count(3, true, false)));
        assert_eq!(turns.now().collect::<Vec<_>>(), [(0, 4), (3, 4)]);
        assert_eq!(turns.done.below, 4);
        assert!(turns.done.early.is_empty());
    }
}
