//! Slots of equal size at fixed addresses, for what host programs and device code share by address: signals, queues.
//!
//! An arena reserves its addresses once and never gives them back, so a stale handle points to memory that is still
//! there, and whether a handle is one takes a comparison and no lock. Slots that nobody used cost nothing.

use memmap2::{MmapOptions, MmapRaw};
use std::collections::VecDeque;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};

/// Bytes that are mapped together.
pub(crate) const PAGE: u64 = 4096;

/// Slots that are handed out, taken back, and never unmapped.
pub(crate) struct Arena {
    map: MmapRaw,
    slot: u64,
    /// So many slots rest after they were given back: who still has an old handle finds nothing there, rather than
    /// something else.
    rest: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Slots that were given back, the longest first.
    free: VecDeque<u64>,
    /// Pages of slots that were given back.
    free_pages: Vec<u64>,
    /// Slots from here on were never used.
    next: u64,
}

impl Arena {
    /// Reserves addresses.
    pub(crate) fn new(slot: u64, count: u64, rest: usize) -> std::io::Result<Arena> {
        let map = MmapOptions::new().len((slot * count) as usize).no_reserve_swap().map_anon()?;
        Ok(Arena { map: MmapRaw::from(map), slot, rest, state: Mutex::default() })
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
        let address = self.start() + state.next * self.slot;
        if state.free.len() > self.rest || address >= self.end() {
            return state.free.pop_front();
        }
        state.next += 1;
        Some(address)
    }

    /// The first of a page of slots that nobody uses, for memory that is mapped in their place.
    pub(crate) fn take_page(&self) -> Option<u64> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(page) = state.free_pages.pop() {
            return Some(page);
        }
        let count = PAGE / self.slot;
        while !state.next.is_multiple_of(count) {
            let skipped = self.start() + state.next * self.slot;
            state.free.push_back(skipped);
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
        self.state.lock().unwrap_or_else(PoisonError::into_inner).free_pages.push(address);
    }

    /// Takes a slot back.
    pub(crate) fn give(&self, address: u64) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).free.push_back(address);
    }

    /// How many bytes from the start have ever been used.
    pub(crate) fn used(&self) -> u64 {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).next * self.slot
    }

    /// The slot with a number.
    pub(crate) fn slot(&self, index: u64) -> u64 {
        debug_assert!(index * self.slot < self.map.len() as u64);
        self.start() + index * self.slot
    }

    /// A word of a slot.
    pub(crate) fn word(&self, address: u64) -> &AtomicU64 {
        debug_assert!(address >= self.start() && address + 8 <= self.end() && address.is_multiple_of(8));
        // SAFETY: inside the mapping, which lives as long as `self`, and aligned. Waves and other threads access it
        // with atomics or, as device code does everywhere, with plain machine accesses that tear at no word.
        unsafe { &*(address as *const AtomicU64) }
    }
}
