//! Memory for code. It is written first and made executable then, never both at once, and belongs to this process alone: a
//! program that forks has two copies of it.

use std::ptr::{NonNull, null_mut};
use std::sync::{Arc, Mutex, PoisonError};

/// The most that code may take.
const MOST_BYTES: usize = 64 << 20;
/// Bytes that are given out and protected together.
const PAGE: usize = 4096;

/// Address space of which parts are given out.
pub struct Arena {
    base: NonNull<u8>,
    /// Runs of pages that are free: first page and length, in order.
    free: Mutex<Vec<(usize, usize)>>,
}

// SAFETY: the address space is owned, and who has which part of it is settled under the lock.
unsafe impl Send for Arena {}
// SAFETY: as above.
unsafe impl Sync for Arena {}

/// Code: part of an arena, until it is dropped.
pub struct Segment {
    arena: Arc<Arena>,
    page: usize,
    pages: usize,
}

impl Arena {
    /// Reserves address space; none if the system refuses.
    pub fn new() -> Option<Arc<Arena>> {
        // SAFETY: a new mapping wherever there is room.
        let base = unsafe {
            libc::mmap(
                null_mut(),
                MOST_BYTES,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return None;
        }
        let base = NonNull::new(base.cast())?;
        Some(Arc::new(Arena { base, free: Mutex::new(vec![(0, MOST_BYTES / PAGE)]) }))
    }

    /// Bytes that code takes.
    pub fn used(&self) -> usize {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        MOST_BYTES - free.iter().map(|run| run.1 * PAGE).sum::<usize>()
    }

    /// Puts code somewhere; none if there is no room, or if the system does not let it be executed.
    pub fn place(self: &Arc<Self>, code: &[u8]) -> Option<Segment> {
        let pages = code.len().div_ceil(PAGE).max(1);
        let page = {
            let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
            let run = free.iter_mut().find(|run| run.1 >= pages)?;
            let page = run.0;
            *run = (run.0 + pages, run.1 - pages);
            free.retain(|run| run.1 > 0);
            page
        };
        let segment = Segment { arena: self.clone(), page, pages };
        let (at, len) = (segment.address().cast_mut(), pages * PAGE);
        // SAFETY: pages of ours that nobody else has; they are written before anybody may execute them.
        let done = unsafe {
            let writable = libc::mprotect(at.cast(), len, libc::PROT_READ | libc::PROT_WRITE) == 0;
            if writable {
                std::ptr::copy_nonoverlapping(code.as_ptr(), at, code.len());
            }
            writable && libc::mprotect(at.cast(), len, libc::PROT_READ | libc::PROT_EXEC) == 0
        };
        done.then_some(segment)
    }
}

impl Segment {
    /// The first instruction.
    pub fn address(&self) -> *const u8 {
        self.arena.base.as_ptr().wrapping_add(self.page * PAGE)
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        let len = self.pages * PAGE;
        // SAFETY: pages of ours: whoever drops the segment executes it no more. What they held is given back.
        unsafe {
            libc::mprotect(self.address().cast_mut().cast(), len, libc::PROT_NONE);
            libc::madvise(self.address().cast_mut().cast(), len, libc::MADV_DONTNEED);
        }
        let mut free = self.arena.free.lock().unwrap_or_else(PoisonError::into_inner);
        let at = free.partition_point(|run| run.0 < self.page);
        free.insert(at, (self.page, self.pages));
        // Neighbours become one run.
        let mut runs: Vec<(usize, usize)> = Vec::with_capacity(free.len());
        for &(page, pages) in free.iter() {
            match runs.last_mut() {
                Some(last) if last.0 + last.1 == page => last.1 += pages,
                _ => runs.push((page, pages)),
            }
        }
        *free = runs;
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`; no segment is left, as each holds the arena.
        unsafe { libc::munmap(self.base.as_ptr().cast(), MOST_BYTES) };
    }
}
