//! Ranges of the program's own memory that waves may access. They may overlap; waves see their union, cut where an
//! allocation lies already.

use std::collections::BTreeMap;

/// Which ranges are pinned, and what waves see of them.
#[derive(Default)]
pub(crate) struct Pins {
    /// How often each (start, end) is pinned.
    pinned: BTreeMap<(u64, u64), Count>,
    /// Shown pieces: start to end.
    shown: BTreeMap<u64, u64>,
}

/// How often a range is pinned.
#[derive(Clone, Copy, Default)]
struct Count {
    times: u32,
    coarse: bool,
}

impl Pins {
    /// The last one to pin a range says whether it is coarse-grained.
    pub(crate) fn add(&mut self, start: u64, end: u64, coarse: bool) {
        let count = self.pinned.entry((start, end)).or_default();
        *count = Count { times: count.times + 1, coarse };
    }

    pub(crate) fn remove(&mut self, start: u64, end: u64) -> bool {
        let Some(count) = self.pinned.get_mut(&(start, end)) else { return false };
        count.times -= 1;
        if count.times == 0 {
            self.pinned.remove(&(start, end));
        }
        true
    }

    /// Whether exactly this range is pinned.
    pub(crate) fn has(&self, start: u64, end: u64) -> bool {
        self.pinned.contains_key(&(start, end))
    }

    /// Forgets what is pinned of a range; true when something was.
    pub(crate) fn cut(&mut self, start: u64, end: u64) -> bool {
        let hit: Vec<(u64, u64)> =
            self.pinned.keys().copied().filter(|&(s, e)| s < end && e > start).collect();
        for &(s, e) in &hit {
            let count = self.pinned.remove(&(s, e)).unwrap_or_default();
            for rest in [(s, start), (end, e)].into_iter().filter(|r| r.0 < r.1) {
                let before = self.pinned.entry(rest).or_default();
                *before = Count { times: before.times + count.times, coarse: count.coarse };
            }
        }
        !hit.is_empty()
    }

    /// The extent of everything that is connected with a range.
    fn extent(&self, mut start: u64, mut end: u64) -> (u64, u64) {
        loop {
            let (from, to) = (start, end);
            let pinned = self.pinned.keys().copied();
            let shown = self.shown.iter().map(|(&s, &e)| (s, e));
            for (s, e) in pinned.chain(shown).filter(|&(s, e)| s <= to && e >= from) {
                start = start.min(s);
                end = end.max(e);
            }
            if (start, end) == (from, to) {
                return (start, end);
            }
        }
    }

    /// Forgets the pieces shown around a range, and tells where they start.
    pub(crate) fn hide(&mut self, start: u64, end: u64) -> Vec<u64> {
        let (start, end) = self.extent(start, end);
        let old: Vec<u64> = self.shown.range(start..end).map(|(&s, _)| s).collect();
        self.shown.retain(|s, _| !old.contains(s));
        old
    }

    /// The pieces to show around a range, and whether each is coarse-grained: the union of what is pinned, less `others`
    /// (sorted). Where fine- and coarse-grained ranges overlap, it is fine-grained.
    pub(crate) fn show(&mut self, start: u64, end: u64, others: &[(u64, u64)]) -> Vec<(u64, u64, bool)> {
        let (start, end) = self.extent(start, end);
        let mut union: Vec<(u64, u64, bool)> = Vec::new();
        for (&(s, e), count) in self.pinned.iter().filter(|((s, e), _)| *s < end && *e > start) {
            match union.last_mut() {
                Some(last) if s < last.1 || s == last.1 && last.2 == count.coarse => {
                    last.1 = last.1.max(e);
                    last.2 &= count.coarse;
                }
                _ => union.push((s, e, count.coarse)),
            }
        }
        let mut pieces = Vec::new();
        for (mut from, to, coarse) in union {
            for &(s, e) in others {
                if s >= to || e <= from {
                    continue;
                }
                if s > from {
                    pieces.push((from, s, coarse));
                }
                from = from.max(e);
            }
            if from < to {
                pieces.push((from, to, coarse));
            }
        }
        self.shown.extend(pieces.iter().map(|&(s, e, _)| (s, e)));
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_pins_are_one_range_until_the_last_goes() {
        let mut pins = Pins::default();
        pins.add(100, 200, false);
        assert_eq!(pins.show(100, 200, &[]), [(100, 200, false)]);
        pins.add(150, 300, false);
        assert_eq!(pins.hide(150, 300), [100]);
        assert_eq!(pins.show(150, 300, &[]), [(100, 300, false)]);
        assert!(pins.remove(100, 200) && !pins.remove(100, 200));
        assert_eq!(pins.hide(100, 200), [100]);
        assert_eq!(pins.show(100, 200, &[]), [(150, 300, false)]);
        assert!(pins.remove(150, 300));
        assert_eq!(pins.hide(150, 300), [150]);
        assert!(pins.show(150, 300, &[]).is_empty());
    }

    #[test]
    fn what_becomes_an_allocation_is_no_longer_pinned() {
        let mut pins = Pins::default();
        pins.add(100, 200, false);
        assert_eq!(pins.show(100, 200, &[]), [(100, 200, false)]);
        assert!(pins.cut(120, 150) && !pins.cut(120, 150));
        assert_eq!(pins.hide(120, 150), [100]);
        assert_eq!(pins.show(100, 200, &[]), [(100, 120, false), (150, 200, false)]);
    }

    #[test]
    fn allocations_are_left_out() {
        let mut pins = Pins::default();
        pins.add(100, 400, false);
        let others = [(50, 120), (200, 210), (390, 500)];
        assert_eq!(pins.show(100, 400, &others), [(120, 200, false), (210, 390, false)]);
        assert_eq!(pins.hide(100, 400), [120, 210]);
    }

    #[test]
    fn coarse_and_fine_memory_stay_apart() {
        let mut pins = Pins::default();
        pins.add(100, 200, true);
        pins.add(200, 300, false);
        assert_eq!(pins.show(100, 300, &[]), [(100, 200, true), (200, 300, false)]);
        // Where both are, it is fine-grained.
        pins.add(150, 220, false);
        assert_eq!(pins.hide(100, 300), [100, 200]);
        assert_eq!(pins.show(100, 300, &[]), [(100, 300, false)]);
    }
}
