//! Guest memory. GPU addresses are host addresses; every access is checked against the registered allocations. Only
//! memory that a program has locked is seen elsewhere, as with a real GPU: its range tells how far off.

use crate::{alone, host};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// What hardware protects: bytes of a page.
const PAGE: u64 = 4096;

/// How exactly accesses are held to allocations. Loads of scalar instructions, which compilers widen, may always read on to
/// the end of an allocation's last page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Bounds {
    /// To their last byte.
    #[default]
    Exact,
    /// To the end of their last page, as hardware does it.
    Page,
}

/// One allocation that waves may access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// First address.
    pub start: u64,
    /// One past the last address.
    pub end: u64,
    /// Waves may write it.
    pub writable: bool,
    /// What makes a GPU address in it a host address when added: nearly always 0.
    pub shift: u64,
    /// Fine-grained: host and GPU see it coherently at any time, so it is not in the GPU's own cache.
    pub fine: bool,
    /// Nobody writes to it while waves run but waves of this process, and threads that say so ([`crate::alone`]).
    pub exclusive: bool,
}

/// Finds memory of the program that nobody has registered, for GPUs that replay accesses to pages which come later (XNACK).
pub trait Pager: Send + Sync {
    /// The readable pages around an address, and whether all of them may be written: first address, one past the last.
    fn pages(&self, address: u64) -> Option<(u64, u64, bool)>;
}

/// The allocations of an agent. Whoever registers a range promises that the host memory stays valid until the range
/// is removed *and* no wave that could have seen it is still running.
pub struct Memory {
    /// By start, not overlapping.
    ranges: RwLock<BTreeMap<u64, Range>>,
    /// Changes with every `add` and `remove`, so that waves know when to forget what they cached.
    generation: AtomicU64,
    /// [`Bounds::Page`].
    paged: AtomicBool,
    /// Who finds the program's own memory.
    pager: OnceLock<Arc<dyn Pager>>,
}

impl Default for Memory {
    fn default() -> Memory {
        Memory::new()
    }
}

/// A number that nobody has had yet.
fn next_generation() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Why a range cannot be added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RangeError {
    /// It overlaps this one.
    Overlaps(Range),
    /// It is empty or wraps around.
    Empty,
}

impl Memory {
    /// No allocations.
    pub fn new() -> Memory {
        Memory {
            ranges: RwLock::default(),
            generation: AtomicU64::new(next_generation()),
            paged: AtomicBool::new(false),
            pager: OnceLock::new(),
        }
    }

    /// Lets waves reach what somebody finds beside the allocations. It stays so.
    ///
    /// # Safety
    /// What is found must be memory that waves may access through raw pointers. It may go at any time: that is a fault.
    pub unsafe fn set_pager(&self, pager: Arc<dyn Pager>) {
        // Whoever came first stays.
        let _ = self.pager.set(pager);
    }

    /// Memory of the program around an address that no allocation has, up to the allocations beside it.
    #[cold]
    fn pageable(&self, address: u64, end: u64) -> Option<Range> {
        let (start, last, writable) = self.pager.get()?.pages(address)?;
        let (below, above) = self.around(address);
        let start = below.map_or(start, |r| start.max(r.end));
        let last = above.map_or(last, |r| last.min(r.start));
        (start <= address && end <= last).then_some(Range {
            start,
            end: last,
            writable,
            shift: 0,
            fine: true,
            exclusive: false,
        })
    }

    /// Says how exactly accesses are held to allocations.
    pub fn set_bounds(&self, bounds: Bounds) {
        self.paged.store(bounds == Bounds::Page, Ordering::Relaxed);
        self.generation.store(next_generation(), Ordering::Release);
    }

    /// The range that accesses up to `end` may use, its end being the one for them: for `scalar` loads, and for all with
    /// [`Bounds::Page`], that of its last page, unless another allocation starts before.
    fn usable(&self, address: u64, end: u64, scalar: bool) -> Option<Range> {
        let exact = self.find(address);
        if exact.is_some_and(|r| end <= r.end) || !(scalar || self.paged.load(Ordering::Relaxed)) {
            return exact.filter(|r| end <= r.end);
        }
        let (below, above) = self.around(address);
        // A page of the host ends where a page of waves' addresses does.
        let below = below.filter(|r| r.shift.is_multiple_of(PAGE))?;
        let last = below.end.checked_next_multiple_of(PAGE)?;
        let limit = above.map_or(last, |r| last.min(r.start));
        (end <= limit).then_some(Range { end: limit, ..below })
    }

    /// The range that starts at or before an address, and the next one.
    fn around(&self, address: u64) -> (Option<Range>, Option<Range>) {
        let ranges = self.ranges.read().unwrap_or_else(PoisonError::into_inner);
        let below = ranges.range(..=address).next_back().map(|(_, r)| *r);
        let above = address.checked_add(1).and_then(|next| ranges.range(next..).next());
        (below, above.map(|(_, r)| *r))
    }

    /// Registers host memory.
    ///
    /// # Safety
    /// `start..start + len` must be readable (and, if `writable`, writable) host memory that stays so until the range
    /// is removed and every wave that ran meanwhile has returned from its engine. No Rust reference to it may be held
    /// while waves run.
    pub unsafe fn add(&self, start: u64, len: u64, writable: bool) -> Result<(), RangeError> {
        // SAFETY: promised by the caller.
        unsafe { self.add_at(start, start, len, writable) }
    }

    /// Registers host memory at `host` that waves see at `start`.
    ///
    /// # Safety
    /// As for [`Memory::add`], of the memory at `host`.
    pub unsafe fn add_at(&self, start: u64, host: u64, len: u64, writable: bool) -> Result<(), RangeError> {
        let end = start.checked_add(len).filter(|_| len > 0).ok_or(RangeError::Empty)?;
        let mut ranges = self.ranges.write().unwrap_or_else(PoisonError::into_inner);
        let below = ranges.range(..end).next_back().map(|(_, r)| r);
        if let Some(r) = below.filter(|r| r.end > start) {
            return Err(RangeError::Overlaps(*r));
        }
        let shift = host.wrapping_sub(start);
        ranges.insert(start, Range { start, end, writable, shift, fine: false, exclusive: false });
        self.generation.store(next_generation(), Ordering::Release);
        Ok(())
    }

    /// Says whether the range that starts here is fine-grained; ranges are not, unless somebody says so.
    pub fn set_fine(&self, start: u64, fine: bool) {
        self.change(start, |r| r.fine = fine);
    }

    /// Says whether waves have the range that starts here to themselves ([`Range::exclusive`]); they have not, unless somebody
    /// says so. When they have lost it, no atomic operation is under way any more that relied on it.
    pub fn set_exclusive(&self, start: u64, exclusive: bool) {
        if self.change(start, |r| r.exclusive = exclusive) && !exclusive {
            drop(alone::Present::among_others());
        }
    }

    /// Changes the range that starts here; whether that made a difference.
    fn change(&self, start: u64, change: impl FnOnce(&mut Range)) -> bool {
        let mut ranges = self.ranges.write().unwrap_or_else(PoisonError::into_inner);
        let Some(range) = ranges.get_mut(&start) else { return false };
        let before = *range;
        change(range);
        let differs = before != *range;
        if differs {
            self.generation.store(next_generation(), Ordering::Release);
        }
        differs
    }

    /// Forgets the range that starts here, and returns it.
    pub fn remove(&self, start: u64) -> Option<Range> {
        let mut ranges = self.ranges.write().unwrap_or_else(PoisonError::into_inner);
        let range = ranges.remove(&start)?;
        self.generation.store(next_generation(), Ordering::Release);
        Some(range)
    }

    /// The range an address lies in.
    pub fn find(&self, address: u64) -> Option<Range> {
        let ranges = self.ranges.read().unwrap_or_else(PoisonError::into_inner);
        ranges.range(..=address).next_back().map(|(_, r)| *r).filter(|r| address < r.end)
    }

    /// The range nearest to an address, for fault reports.
    pub fn nearest(&self, address: u64) -> Option<Range> {
        let ranges = self.ranges.read().unwrap_or_else(PoisonError::into_inner);
        let distance =
            |r: &Range| if address < r.start { r.start - address } else { address.saturating_sub(r.end - 1) };
        ranges.values().min_by_key(|r| distance(r)).copied()
    }

    /// The address at which waves see what the host has at `host`.
    pub(crate) fn seen_at(&self, host: u64) -> Option<u64> {
        let ranges = self.ranges.read().unwrap_or_else(PoisonError::into_inner);
        let holds = |r: &&Range| host.wrapping_sub(r.shift).wrapping_sub(r.start) < r.end - r.start;
        ranges.values().find(holds).map(|r| host.wrapping_sub(r.shift))
    }

    /// Every range, lowest first.
    pub fn ranges(&self) -> Vec<Range> {
        self.ranges.read().unwrap_or_else(PoisonError::into_inner).values().copied().collect()
    }

    /// What is in memory from an address on: each range with where it lies and its bytes. Equal images have equal
    /// allocations and equal bytes.
    pub(crate) fn image(&self, start: u64, len: u64) -> Vec<u8> {
        let end = start.saturating_add(len);
        let ranges = self.ranges.read().unwrap_or_else(PoisonError::into_inner);
        let below = ranges.range(..start).next_back().map(|(_, r)| r).filter(|r| r.end > start);
        let inside = below.into_iter().chain(ranges.range(start..end).map(|(_, r)| r));
        let inside: Vec<Range> = inside.copied().collect();
        drop(ranges);
        let mut image = Vec::with_capacity(len as usize + 32);
        for r in inside {
            let (from, to) = (r.start.max(start), r.end.min(end));
            image.extend(from.to_le_bytes());
            image.extend(to.to_le_bytes());
            let (host, at) = (from.wrapping_add(r.shift) as *const u8, image.len());
            image.resize(at + (to - from) as usize, 0);
            // SAFETY: inside a registered range (see `add`); as many bytes as `image` just got.
            let copied = unsafe { host::copy(host, image.as_mut_ptr().add(at), (to - from) as usize) };
            if copied.is_err() {
                image.truncate(at);
            }
        }
        image
    }

    /// Whether these bytes are at an address of an image, all in one range.
    pub(crate) fn image_has(mut image: &[u8], address: u64, bytes: &[u8]) -> bool {
        while let Some((&from, rest)) = image.split_first_chunk()
            && let Some((&to, rest)) = rest.split_first_chunk()
        {
            let (from, to) = (u64::from_le_bytes(from), u64::from_le_bytes(to));
            let (range, behind) = rest.split_at(rest.len().min((to - from) as usize));
            if (from..to).contains(&address) {
                return range.get((address - from) as usize..).is_some_and(|r| r.starts_with(bytes));
            }
            image = behind;
        }
        false
    }

    /// A number that changes whenever the allocations do, and that no other memory ever has.
    #[inline]
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Reads bytes, if all of them are in one allocation whose pages are there.
    pub fn read(&self, address: u64, out: &mut [u8]) -> bool {
        let end = address.checked_add(out.len() as u64);
        match (self.find(address), end) {
            (Some(r), Some(end)) if end <= r.end => {
                let from = address.wrapping_add(r.shift) as *const u8;
                // SAFETY: inside a registered range (see `add`).
                unsafe { host::copy(from, out.as_mut_ptr(), out.len()) }.is_ok()
            }
            _ => false,
        }
    }

    /// Writes bytes, if all of them are in one allocation that waves may write and whose pages are there.
    pub fn write(&self, address: u64, bytes: &[u8]) -> bool {
        let end = address.checked_add(bytes.len() as u64);
        match (self.find(address), end) {
            (Some(r), Some(end)) if end <= r.end && r.writable => {
                let to = address.wrapping_add(r.shift) as *mut u8;
                let _present = alone::Present::among_others();
                // SAFETY: inside a registered range that is writable (see `add`).
                unsafe { host::copy(bytes.as_ptr(), to, bytes.len()) }.is_ok()
            }
            _ => false,
        }
    }
}

/// What a wave remembers of the ranges it touched, so that most accesses need no lock.
#[derive(Clone, Debug)]
pub(crate) struct RangeCache {
    generation: u64,
    entries: [Range; 4],
    next: u8,
}

impl RangeCache {
    pub(crate) const fn new() -> RangeCache {
        RangeCache {
            generation: 0,
            entries: [Range { start: 0, end: 0, writable: false, shift: 0, fine: false, exclusive: false };
                4],
            next: 0,
        }
    }

    /// The range that holds `address..address + len` as a whole.
    #[inline]
    pub(crate) fn lookup(&mut self, memory: &Memory, address: u64, len: u64) -> Option<Range> {
        let end = address.checked_add(len)?;
        let generation = memory.generation();
        if generation == self.generation {
            for r in &self.entries {
                if address >= r.start && end <= r.end {
                    return Some(*r);
                }
            }
        }
        self.miss(memory, generation, address, end)
    }

    /// The same for a scalar load.
    #[inline]
    pub(crate) fn lookup_scalar(&mut self, memory: &Memory, address: u64, len: u64) -> Option<Range> {
        // What is beyond the last byte is for these loads only: nobody else is to find it in the cache.
        self.lookup(memory, address, len).or_else(|| memory.usable(address, address.checked_add(len)?, true))
    }

    #[cold]
    fn miss(&mut self, memory: &Memory, generation: u64, address: u64, end: u64) -> Option<Range> {
        if generation != self.generation {
            *self = RangeCache::new();
            self.generation = generation;
        }
        let r = memory.usable(address, end, false).or_else(|| memory.pageable(address, end))?;
        self.entries[self.next as usize & 3] = r;
        self.next = self.next.wrapping_add(1);
        Some(r)
    }
}
