//! Host memory for allocations, with a gap on both sides that belongs to nobody: what runs over the end of one is caught,
//! instead of landing in another.

use memmap2::{MmapOptions, MmapRaw};
use std::io;

/// Addresses in front of an allocation and behind it that are never handed out. Memory that is not touched costs nothing.
const GAP: usize = 4096;
/// From this size on, the host maps huge pages: the allocation starts at one.
const HUGE: usize = 2 << 20;
/// From this size on, it is asked to do so where it does not by itself: kernels go through large buffers from end to end,
/// and with small pages the host looks up addresses all the time. In smaller ones a page of which little is used would tell.
const ASKED: usize = 16 << 20;

/// Zeroed memory that is only backed where it is touched, between two gaps.
#[derive(Debug)]
pub struct Mapping {
    map: MmapRaw,
    front: usize,
    len: usize,
}

impl Mapping {
    /// Memory of `len` bytes, at least one, that starts at a multiple of 4 KiB.
    pub fn new(len: u64) -> io::Result<Mapping> {
        let none = || io::Error::other("beyond the address space");
        let len =
            usize::try_from(len).ok().filter(|n| *n <= isize::MAX as usize - 4 * HUGE).ok_or_else(none)?;
        let front = if len >= HUGE { HUGE } else { GAP };
        let whole = front + len.max(1).next_multiple_of(GAP) + GAP;
        let map = MmapOptions::new().len(whole).no_reserve_swap().map_anon()?;
        #[cfg(target_os = "linux")]
        if len >= ASKED {
            // Without huge pages it is but slower.
            let _ = map.advise(memmap2::Advice::HugePage);
        }
        Ok(Mapping { map: MmapRaw::from(map), front, len: len.max(1) })
    }

    /// First address.
    pub fn start(&self) -> u64 {
        self.as_mut_ptr() as u64
    }

    /// The first byte.
    pub fn as_mut_ptr(&self) -> *mut u8 {
        self.map.as_mut_ptr().wrapping_add(self.front)
    }

    /// Bytes of the allocation.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Never: an allocation has one byte at least.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Gives the pages back and keeps the addresses; what was in them is lost.
    ///
    /// # Safety
    /// Nobody may hold references into the memory or rely on its content.
    pub(crate) unsafe fn discard(&self) {
        #[cfg(unix)]
        // SAFETY: the caller's promise. Pages that cannot be given back stay, which is as good.
        let _ = unsafe { self.map.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
    }
}
