//! Slots of equal size at fixed addresses, for what host programs and device code share by address: signals, queues.
//!
//! An arena reserves its addresses once and never gives them back, so a stale handle points to memory that is still
//! there, and whether a handle is one takes a comparison and no lock. Slots that nobody used cost nothing.

use memmap2::{MmapOptions, MmapRaw};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Bytes that are mapped together.
pub(crate) const PAGE: u64 = 4096;

/// Slots that are handed out, taken back, and never unmapped.
pub(crate) struct Arena {
    map: MmapRaw,
    slot: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    free: Vec<u64>,
    /// Slots from here on were never used.
    next: u64,
}

impl Arena {
    /// Reserves addresses.
    pub(crate) fn new(slot: u64, count: u64) -> std::io::Result<Arena> {
        let map = MmapOptions::new().len((slot * count) as usize).no_reserve_swap().map_anon()?;
        Ok(Arena { map: MmapRaw::from(map), slot, state: Mutex::default() })
    }

    pub(crate) fn start(&self) -> u64 {
        self.map.as_mut_ptr() as u64
    }

    fn end(&self) -> u64 {
        self.start() + self.map.len() as u64
    }

    /// The number of the slot that starts at an address.
    pub(crate) fn index(&self, address: u64) -> Option<u64> {
        let offset = address.checked_sub(self.start())?;
        (address < self.end() && offset.is_multiple_of(self.slot)).then(|| offset / self.slot)
    }

    /// The address of a slot that nobody uses, its content as it was left.
    pub(crate) fn take(&self) -> Option<u64> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(address) = state.free.pop() {
            return Some(address);
        }
        let address = self.start() + state.next * self.slot;
        (address < self.end()).then(|| {
            state.next += 1;
            address
        })
    }

    /// The first of a page of slots that nobody uses, for memory that is mapped in their place.
    pub(crate) fn take_page(&self) -> Option<u64> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let count = PAGE / self.slot;
        while !state.next.is_multiple_of(count) {
            let skipped = self.start() + state.next * self.slot;
            state.free.push(skipped);
            state.next += 1;
        }
        let address = self.start() + state.next * self.slot;
        (address + PAGE <= self.end()).then(|| {
            state.next += count;
            address
        })
    }

    /// Takes a page of slots back.
    pub(crate) fn give_page(&self, address: u64) {
        (0..PAGE).step_by(self.slot as usize).for_each(|offset| self.give(address + offset));
    }

    /// Takes a slot back.
    pub(crate) fn give(&self, address: u64) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).free.push(address);
    }

    /// How many bytes from the start have ever been used.
    pub(crate) fn used(&self) -> u64 {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).next * self.slot
    }

    /// Forgets every slot and clears all memory.
    pub(crate) fn reset(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let used = std::mem::take(&mut *state).next * self.slot;
        for at in (0..used).step_by(8) {
            self.word(self.start() + at).store(0, Ordering::Relaxed);
        }
    }

    /// A word of a slot.
    pub(crate) fn word(&self, address: u64) -> &AtomicU64 {
        debug_assert!(address >= self.start() && address + 8 <= self.end() && address.is_multiple_of(8));
        // SAFETY: inside the mapping, which lives as long as `self`, and aligned. Waves and other threads access it
        // with atomics or, as device code does everywhere, with plain machine accesses that tear at no word.
        unsafe { &*(address as *const AtomicU64) }
    }
}
