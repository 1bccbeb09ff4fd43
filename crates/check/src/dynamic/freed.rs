//! What the host has allocated and freed: for accesses that come too late.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Freed ranges that are remembered.
const MOST: usize = 1 << 16;

#[derive(Default)]
struct State {
    /// Live memory: size, and the number of the allocation.
    live: BTreeMap<u64, (u64, u64)>,
    /// Freed memory: size, the number of the allocation, and how many dispatches had begun.
    freed: BTreeMap<u64, (u64, u64, u64)>,
    allocated: u64,
    dispatches: u64,
}

/// Allocations of the host, and what became of them.
#[derive(Default)]
pub struct Freed(Mutex<State>);

impl Freed {
    fn with<R>(&self, f: impl FnOnce(&mut State) -> R) -> R {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Memory was allocated: what was there before is forgotten.
    pub fn allocated(&self, address: u64, bytes: u64) {
        self.with(|s| {
            let end = address.saturating_add(bytes);
            let covers: Vec<u64> =
                s.freed.range(..end).filter(|(a, f)| **a + f.0 > address).map(|(a, _)| *a).collect();
            s.freed.retain(|a, _| !covers.contains(a));
            s.live.insert(address, (bytes, s.allocated));
            s.allocated += 1;
        });
    }

    /// Memory was freed.
    pub fn freed(&self, address: u64) {
        self.with(|s| {
            let Some((bytes, number)) = s.live.remove(&address) else { return };
            if s.freed.len() == MOST {
                s.freed.pop_first();
            }
            s.freed.insert(address, (bytes, number, s.dispatches));
        });
    }

    /// A dispatch begins.
    pub fn dispatched(&self) {
        self.with(|s| s.dispatches += 1);
    }

    /// What is known of memory that was freed.
    pub fn find(&self, address: u64) -> Option<String> {
        self.with(|s| {
            let (start, (bytes, number, dispatches)) = s.freed.range(..=address).next_back()?;
            (address < start + bytes).then(|| {
                format!(
                    "{} bytes into allocation {number} ({bytes} bytes at {start:#x}), freed when {dispatches} dispatches had begun",
                    address - start
                )
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_memory_is_remembered_until_it_is_used_again() {
        let all = Freed::default();
        all.allocated(0x1000, 64);
        all.dispatched();
        assert!(all.find(0x1000).is_none());
        all.freed(0x1000);
        let text = all.find(0x1010).unwrap();
        assert!(text.starts_with("16 bytes into allocation 0 (64 bytes at 0x1000), freed when 1"), "{text}");
        assert!(all.find(0x1040).is_none());
        all.allocated(0x1020, 4);
        assert!(all.find(0x1010).is_none());
    }
}
