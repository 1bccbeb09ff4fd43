//! Memory for code: a file in memory, mapped for executing and never for writing. A system call writes new code into it, while
//! other code beside it runs.
//!
//! A program that forks shares the file with its child. The child runs no code from then on ([`forked`]); the interpreter does.

use std::collections::BTreeMap;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};

/// The most that code may take.
const MOST_BYTES: usize = 64 << 20;
/// With less, it is not worth it.
const LEAST_BYTES: usize = 1 << 20;
/// What is given out is a multiple of it, as are its addresses: constants among the code are vectors of so many bytes.
const UNIT: usize = 64;
/// What the system gives and takes.
const PAGE: usize = 4096;

/// A file of which parts are given out.
pub struct Arena {
    file: OwnedFd,
    base: NonNull<u8>,
    bytes: usize,
    /// Runs of bytes that are free, by the first: their lengths. No two are neighbours.
    free: Mutex<BTreeMap<usize, usize>>,
}

// SAFETY: the mapping is owned and nobody writes through it; who has which part of it is settled under the lock.
unsafe impl Send for Arena {}
// SAFETY: as above.
unsafe impl Sync for Arena {}

/// Code: part of an arena, until it is dropped.
pub struct Segment {
    arena: Arc<Arena>,
    start: usize,
    bytes: usize,
}

static FORKED: AtomicBool = AtomicBool::new(false);

/// Whether this process has its code from another one, which may change it.
#[inline]
pub fn forked() -> bool {
    FORKED.load(Ordering::Relaxed)
}

/// Has [`forked`] told; false if it cannot be.
fn watch_forks() -> bool {
    extern "C" fn child() {
        FORKED.store(true, Ordering::Relaxed);
    }
    static WATCHED: Once = Once::new();
    static WATCHES: AtomicBool = AtomicBool::new(false);
    WATCHED.call_once(|| {
        // SAFETY: the function stores a byte and calls nothing.
        let done = unsafe { libc::pthread_atfork(None, None, Some(child)) };
        WATCHES.store(done == 0, Ordering::Relaxed);
    });
    WATCHES.load(Ordering::Relaxed)
}

/// How large a file may become: to make it larger would end the process.
fn file_limit() -> usize {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: it writes the structure.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) } == 0;
    if known { usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX) } else { 0 }
}

/// A file in memory that may be executed.
fn file() -> Option<OwnedFd> {
    let name = c"wavemill-code";
    // Kernels before 6.3 do not know `MFD_EXEC`, and let all be executed.
    [libc::MFD_CLOEXEC | libc::MFD_EXEC, libc::MFD_CLOEXEC].into_iter().find_map(|flags| {
        // SAFETY: a name that ends with zero; the descriptor is new, and ours.
        unsafe {
            let fd = libc::memfd_create(name.as_ptr(), flags);
            (fd >= 0).then(|| OwnedFd::from_raw_fd(fd))
        }
    })
}

impl Arena {
    /// Makes the file; none if the system refuses.
    pub fn new() -> Option<Arc<Arena>> {
        let bytes = MOST_BYTES.min(file_limit()) / PAGE * PAGE;
        if bytes < LEAST_BYTES || !watch_forks() {
            return None;
        }
        let file = file()?;
        // SAFETY: the file is ours; the mapping is a new one, wherever there is room.
        let base = unsafe {
            if libc::ftruncate(file.as_raw_fd(), bytes as libc::off_t) != 0 {
                return None;
            }
            let access = libc::PROT_READ | libc::PROT_EXEC;
            libc::mmap(null_mut(), bytes, access, libc::MAP_SHARED, file.as_raw_fd(), 0)
        };
        if base == libc::MAP_FAILED {
            return None;
        }
        let base = NonNull::new(base.cast())?;
        Some(Arc::new(Arena { file, base, bytes, free: Mutex::new(BTreeMap::from([(0, bytes)])) }))
    }

    /// Bytes that code takes.
    pub fn used(&self) -> usize {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        self.bytes - free.values().sum::<usize>()
    }

    /// Puts code somewhere; none if there is no room.
    pub fn place(self: &Arc<Self>, code: &[u8]) -> Option<Segment> {
        if forked() {
            return None;
        }
        let bytes = code.len().next_multiple_of(UNIT).max(UNIT);
        let start = {
            let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
            let (start, length) = free.iter().map(|(s, l)| (*s, *l)).find(|(_, length)| *length >= bytes)?;
            free.remove(&start);
            if length > bytes {
                free.insert(start + bytes, length - bytes);
            }
            start
        };
        let segment = Segment { arena: self.clone(), start, bytes };
        self.write(start, code).then_some(segment)
    }

    /// Writes to the file; false if the system refuses.
    fn write(&self, mut at: usize, mut code: &[u8]) -> bool {
        while !code.is_empty() {
            // SAFETY: it reads the code, and changes a part of the file that nobody executes.
            let done = unsafe {
                libc::pwrite(self.file.as_raw_fd(), code.as_ptr().cast(), code.len(), at as libc::off_t)
            };
            match usize::try_from(done) {
                Ok(n @ 1..) => (at, code) = (at + n, &code[n..]),
                Err(_) if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => {}
                _ => return false,
            }
        }
        true
    }

    /// Gives whole pages back to the system.
    fn give_back(&self, from: usize, to: usize) {
        if from < to {
            let how = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
            let (at, bytes) = (from as libc::off_t, (to - from) as libc::off_t);
            // SAFETY: a part of the file in which there is no code. Where it does not work, memory stays taken, not more
            // than the file's size.
            unsafe { libc::fallocate(self.file.as_raw_fd(), how, at, bytes) };
        }
    }
}

impl Segment {
    /// The first instruction.
    pub fn address(&self) -> *const u8 {
        self.arena.base.as_ptr().wrapping_add(self.start)
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // The parent's threads may have had the lock, and nobody puts code anywhere any more.
        if forked() {
            return;
        }
        let (mut start, mut end) = (self.start, self.start + self.bytes);
        let mut free = self.arena.free.lock().unwrap_or_else(PoisonError::into_inner);
        // Neighbours become one run.
        if let Some((&before, &length)) = free.range(..start).next_back()
            && before + length == start
        {
            free.remove(&before);
            start = before;
        }
        if let Some(length) = free.remove(&end) {
            end += length;
        }
        // Before others can have them: pages that had some of this code, and have no other.
        let from = start.next_multiple_of(PAGE).max(self.start / PAGE * PAGE);
        let to = (end / PAGE * PAGE).min((self.start + self.bytes).next_multiple_of(PAGE));
        self.arena.give_back(from, to);
        free.insert(start, end - start);
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`; no segment is left, as each holds the arena.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MOV EAX, n; RET.
    fn function(n: u8, bytes: usize) -> Vec<u8> {
        let mut code = vec![0xb8, n, 0, 0, 0, 0xc3];
        code.resize(bytes, 0xcc);
        code
    }

    fn call(segment: &Segment) -> u32 {
        // SAFETY: the code of such a function.
        unsafe { std::mem::transmute::<*const u8, extern "C" fn() -> u32>(segment.address())() }
    }

    #[test]
    fn code_runs_where_other_code_was() {
        let arena = Arena::new().expect("memory for code");
        let sizes = [6, 64, 65, 5000, 12_288, 100];
        let mut all: Vec<Segment> =
            (0..).zip(sizes).map(|(n, bytes)| arena.place(&function(n, bytes)).expect("room")).collect();
        let used = |sizes: &[usize]| sizes.iter().map(|s| s.next_multiple_of(UNIT)).sum::<usize>();
        assert_eq!(arena.used(), used(&sizes));
        assert!(all.iter().zip(0..).all(|(s, n)| call(s) == n && s.address().addr() % UNIT == 0));
        // Pages go with what was in them; code beside it stays.
        drop(all.remove(4));
        drop(all.remove(3));
        assert_eq!(all.iter().map(call).collect::<Vec<_>>(), [0, 1, 2, 5]);
        all.push(arena.place(&function(9, 17_000)).expect("room"));
        all.push(arena.place(&function(10, 300)).expect("room"));
        assert_eq!(all.iter().map(call).collect::<Vec<_>>(), [0, 1, 2, 5, 9, 10]);
        assert!(arena.place(&vec![0xcc; MOST_BYTES]).is_none());
        drop(all);
        assert_eq!(arena.used(), 0);
        assert_eq!(arena.free.lock().unwrap().len(), 1, "one run again");
    }

    /// What is mapped may be executed, and not be written.
    #[test]
    fn nobody_writes_to_code() {
        let arena = Arena::new().expect("memory for code");
        let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux has it");
        let ours: Vec<&str> = maps.lines().filter(|l| l.contains("memfd:wavemill-code")).collect();
        let start = format!("{:x}-", arena.base.as_ptr().addr());
        assert!(ours.iter().any(|l| l.starts_with(&start)), "{maps}");
        assert!(ours.iter().all(|l| l.contains(" r-xs ")), "{maps}");
    }
}
