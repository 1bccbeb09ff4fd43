//! The memory of the device: allocations with names, known to the waves.
//!
//! GPU addresses are host addresses. Every [`Region`] is host memory that is only backed where it is touched, so a
//! large one costs nothing until used. Its name is what a fault report calls it.

use crate::mapping::Mapping;
use crate::pins::Pins;
use crate::reclaim::{Reclaimer, Running};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use wavemill_wave::Memory;
use wavemill_wave::alone::Present;

/// What an allocation is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// Buffers.
    Device,
    /// Kernel arguments.
    Kernarg,
    /// Backing memory of private segments.
    Scratch,
    /// Loaded code objects.
    Code,
    /// Queues, packets, signals.
    Queue,
    /// Memory of the host program.
    Host,
}

impl Use {
    /// A word for reports.
    pub const fn name(self) -> &'static str {
        match self {
            Use::Device => "device memory",
            Use::Kernarg => "kernel arguments",
            Use::Scratch => "scratch",
            Use::Code => "code",
            Use::Queue => "queue memory",
            Use::Host => "host memory",
        }
    }
}

/// What is known about an allocation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Allocation {
    /// First address.
    pub start: u64,
    /// Size in bytes.
    pub len: u64,
    /// Waves may write it.
    pub writable: bool,
    /// What it is for.
    pub usage: Use,
    /// The GPU in whose coarse-grained memory it is ([`Allocations::gpu`]); none of other memory, and where nobody says.
    pub home: Option<u32>,
    /// What reports call it.
    pub name: String,
}

impl Allocation {
    /// One past the last address.
    pub fn end(&self) -> u64 {
        self.start.saturating_add(self.len)
    }
}

/// Why there is no such memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemoryError(pub String);

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for MemoryError {}

/// An allocation that is gone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Freed {
    /// What it was.
    pub allocation: Allocation,
    /// The number of the dispatch that was the next one then.
    pub dispatch: u64,
}

/// How many of these are remembered: pointers that are used too late were mostly freed just before.
const REMEMBERED: usize = 256;

/// Where an address lies with respect to the nearest allocation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Nearest {
    /// The allocation.
    pub allocation: Allocation,
    /// Bytes from its start to the address (negative in front of it).
    pub offset: i128,
}

impl Nearest {
    /// Whether the address lies in the allocation.
    pub fn is_inside(&self) -> bool {
        (0..i128::from(self.allocation.len)).contains(&self.offset)
    }
}

impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let a = &self.allocation;
        let len = i128::from(a.len);
        match self.offset {
            o if o < 0 => write!(f, "{} bytes before", -o)?,
            o if o >= len => write!(f, "{} bytes past the end of", o - len)?,
            o => write!(f, "{o} bytes into")?,
        }
        write!(f, " {} ({}, {} bytes at {:#x}", a.name, a.usage.name(), a.len, a.start)?;
        f.write_str(if a.writable { ")" } else { ", read-only)" })
    }
}

/// Where memory below 4 GiB is handed out, and in which pieces: not where null pointers lead to.
const LOW_START: u64 = 1 << 24;
const LOW_END: u64 = 1 << 32;
const LOW_GRANULE: u64 = 4096;

/// What so many bytes take: whole pages, at least one.
fn paged(len: u64) -> u64 {
    len.max(1).checked_next_multiple_of(4096).unwrap_or(u64::MAX)
}

/// All allocations that a device's waves see.
pub struct Allocations {
    memory: Memory,
    /// The number of the device.
    gpu: u32,
    /// Bytes of all regions, and how many there may be.
    held: AtomicU64,
    limit: AtomicU64,
    named: RwLock<BTreeMap<u64, Allocation>>,
    reclaimer: Arc<Reclaimer>,
    pins: Mutex<Pins>,
    /// What was freed last, and dispatches that have begun.
    freed: Mutex<VecDeque<Freed>>,
    dispatches: AtomicU64,
    /// What is handed out below 4 GiB: first address and end.
    low: Mutex<BTreeMap<u64, u64>>,
}

impl Default for Allocations {
    fn default() -> Allocations {
        Allocations {
            memory: Memory::default(),
            gpu: 0,
            held: AtomicU64::new(0),
            limit: AtomicU64::new(u64::MAX),
            named: RwLock::default(),
            freed: Mutex::default(),
            dispatches: AtomicU64::new(0),
            reclaimer: Arc::default(),
            pins: Mutex::default(),
            low: Mutex::default(),
        }
    }
}

impl Allocations {
    /// None yet, of a device that has a number among those it shares memory with. These share the reclaimer, too: what one of
    /// them frees, another may be using.
    pub fn sharing(reclaimer: &Arc<Reclaimer>, gpu: u32) -> Allocations {
        Allocations { reclaimer: reclaimer.clone(), gpu, ..Allocations::default() }
    }

    /// The number of the device whose waves see them, counted from 0.
    pub fn gpu(&self) -> u32 {
        self.gpu
    }

    /// Says in which GPU's coarse-grained memory the allocation is that starts here.
    pub fn set_home(&self, start: u64, gpu: Option<u32>) {
        let mut named = self.named.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(allocation) = named.get_mut(&start) {
            allocation.home = gpu;
        }
    }

    /// What waves see.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Zeroed memory of at least `len` bytes that starts at a multiple of 4 KiB. Of length 0, it takes one byte.
    pub fn allocate(
        self: &Arc<Self>,
        len: u64,
        usage: Use,
        name: impl Into<String>,
    ) -> Result<Region, MemoryError> {
        self.allocate_for(false, len, usage, name)
    }

    /// The same for a kernel: below 4 GiB when its pointers have 32 bits, where waves see it at another address than the
    /// host.
    pub fn allocate_for(
        self: &Arc<Self>,
        narrow: bool,
        len: u64,
        usage: Use,
        name: impl Into<String>,
    ) -> Result<Region, MemoryError> {
        let name = name.into();
        let region = if narrow { self.map_low(len, &name) } else { self.map(len, &name) }?;
        region.announce(0, len.max(1), true, usage, &name)?;
        Ok(region)
    }

    /// Memory that waves do not see until parts of it are announced.
    pub fn map(self: &Arc<Self>, len: u64, name: &str) -> Result<Region, MemoryError> {
        let too_much =
            |e: &dyn fmt::Display| MemoryError(format!("no {len} bytes of memory for {name}: {e}"));
        self.take(len, name)?;
        match Mapping::new(len) {
            Ok(map) => Ok(Region { map: Some(map), len, low: None, owner: self.clone() }),
            Err(e) => {
                self.held.fetch_sub(paged(len), Ordering::Relaxed);
                Err(too_much(&e))
            }
        }
    }

    /// Sets how many bytes all regions together may have. There is no limit else.
    pub fn set_limit(&self, bytes: u64) {
        self.limit.store(bytes, Ordering::Relaxed);
    }

    /// Counts bytes of a new region, if they are within the limit.
    fn take(&self, len: u64, name: &str) -> Result<(), MemoryError> {
        let limit = self.limit.load(Ordering::Relaxed);
        let within = |held: u64| held.checked_add(paged(len)).filter(|&all| all <= limit);
        let held = self.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, within);
        held.map(drop).map_err(|held| {
            let so_far = if held == 0 { String::new() } else { format!(", of which {held} are taken") };
            MemoryError(format!("no {len} bytes of memory for {name}: the limit is {limit} bytes{so_far}"))
        })
    }

    /// The same below 4 GiB.
    pub fn map_low(self: &Arc<Self>, len: u64, name: &str) -> Result<Region, MemoryError> {
        let mut region = self.map(len, name)?;
        region.low = Some(self.take_low(len, name)?);
        Ok(region)
    }

    /// Lets waves see host memory below 4 GiB as well.
    ///
    /// # Safety
    /// As for [`Memory::add`]: the memory must stay valid until the mirror is dropped and no wave runs that saw it.
    pub unsafe fn mirror_low(
        self: &Arc<Self>,
        host: u64,
        len: u64,
        name: &str,
    ) -> Result<Mirror, MemoryError> {
        let start = self.take_low(len, name)?;
        let mirror = Mirror { start, owner: self.clone() };
        // SAFETY: promised by the caller; dropping the mirror withdraws it.
        unsafe { self.add(start, host, len, true, Use::Device, name) }?;
        Ok(mirror)
    }

    /// Addresses below 4 GiB that nothing else has.
    fn take_low(&self, len: u64, name: &str) -> Result<u64, MemoryError> {
        let size = len.max(1).next_multiple_of(LOW_GRANULE);
        let mut low = self.low.lock().unwrap_or_else(PoisonError::into_inner);
        // Host memory may be down there, too, in programs that are not position-independent.
        let others = self.memory.ranges().into_iter().map(|r| (r.start, r.end));
        let mut taken: Vec<(u64, u64)> = low.iter().map(|(&s, &e)| (s, e)).chain(others).collect();
        taken.sort_unstable();
        let mut at = LOW_START;
        for (start, end) in taken {
            if start >= at.saturating_add(size) {
                break;
            }
            at = at.max(end.next_multiple_of(LOW_GRANULE));
        }
        if at.saturating_add(size) > LOW_END {
            return Err(MemoryError(format!("no {len} bytes of memory for {name} below 4 GiB")));
        }
        low.insert(at, at + size);
        Ok(at)
    }

    /// Makes host memory visible to waves.
    ///
    /// # Safety
    /// As for [`Memory::add`]: the memory must stay valid until it is withdrawn and no wave runs that saw it.
    pub unsafe fn register(
        &self,
        start: u64,
        len: u64,
        writable: bool,
        usage: Use,
        name: &str,
    ) -> Result<(), MemoryError> {
        {
            // What the program had pinned here is no longer its own.
            let mut pins = self.pins.lock().unwrap_or_else(PoisonError::into_inner);
            let end = start.saturating_add(len);
            if pins.cut(start, end) {
                self.show_pins(&mut pins, start, end)?;
            }
        }
        // SAFETY: promised by the caller.
        unsafe { self.add(start, start, len, writable, usage, name) }
    }

    /// Makes host memory at `host` visible to waves at `start`.
    ///
    /// # Safety
    /// As for [`Allocations::register`], of the memory at `host`.
    pub unsafe fn add(
        &self,
        start: u64,
        host: u64,
        len: u64,
        writable: bool,
        usage: Use,
        name: &str,
    ) -> Result<(), MemoryError> {
        // SAFETY: promised by the caller.
        unsafe { self.memory.add_at(start, host, len, writable) }
            .map_err(|e| MemoryError(format!("{name} at {start:#x}, {len} bytes: {e:?}")))?;
        let allocation = Allocation { start, len, writable, usage, home: None, name: name.to_owned() };
        self.named.write().unwrap_or_else(PoisonError::into_inner).insert(start, allocation);
        Ok(())
    }

    /// Waves no longer see the allocation that starts here.
    pub fn withdraw(&self, start: u64) -> Option<Allocation> {
        self.memory.remove(start)?;
        let gone = self.named.write().unwrap_or_else(PoisonError::into_inner).remove(&start);
        // What programs allocate they may use when it is gone.
        if let Some(allocation) = gone.as_ref().filter(|a| matches!(a.usage, Use::Device | Use::Host)) {
            let mut freed = self.freed.lock().unwrap_or_else(PoisonError::into_inner);
            if freed.len() == REMEMBERED {
                freed.pop_front();
            }
            let dispatch = self.dispatches.load(Ordering::Relaxed);
            freed.push_back(Freed { allocation: allocation.clone(), dispatch });
        }
        gone
    }

    /// The allocation an address lies in.
    pub fn find(&self, address: u64) -> Option<Allocation> {
        let named = self.named.read().unwrap_or_else(PoisonError::into_inner);
        named.range(..=address).next_back().map(|(_, a)| a).filter(|a| address < a.end()).cloned()
    }

    /// The allocation nearest to an address. Scratch and the like lie where a program does not look; they are only
    /// named when the address is in them.
    pub fn nearest(&self, address: u64) -> Option<Nearest> {
        let named = self.named.read().unwrap_or_else(PoisonError::into_inner);
        let distance = |a: &Allocation| match address {
            x if x < a.start => a.start - x,
            x => x.saturating_sub(a.end() - 1),
        };
        // What a program has not allocated itself it does not mean, unless it is right there.
        const CLOSE: u64 = 4096;
        let meant = |a: &&Allocation| matches!(a.usage, Use::Device | Use::Host) || distance(a) < CLOSE;
        let best = named.values().filter(meant).min_by_key(|a| distance(a))?;
        Some(Nearest { offset: i128::from(address) - i128::from(best.start), allocation: best.clone() })
    }

    /// What was at an address, if that was freed not long ago.
    pub fn freed_at(&self, address: u64) -> Option<Freed> {
        let freed = self.freed.lock().unwrap_or_else(PoisonError::into_inner);
        freed.iter().rev().find(|f| (f.allocation.start..f.allocation.end()).contains(&address)).cloned()
    }

    /// A dispatch begins.
    pub(crate) fn dispatched(&self) {
        self.dispatches.fetch_add(1, Ordering::Relaxed);
    }

    /// Every allocation, lowest address first.
    pub fn list(&self) -> Vec<Allocation> {
        self.named.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Makes host memory that the program owns visible to waves. Ranges may overlap one another. It is fine-grained unless
    /// it is said to be coarse.
    ///
    /// # Safety
    /// As for [`Memory::add`], until [`Allocations::unpin`].
    pub unsafe fn pin(&self, start: u64, len: u64, coarse: bool) -> Result<(), MemoryError> {
        let end = start.checked_add(len).filter(|_| len > 0);
        let end = end.ok_or_else(|| MemoryError(format!("{len} bytes at {start:#x} are no memory")))?;
        let mut pins = self.pins.lock().unwrap_or_else(PoisonError::into_inner);
        pins.add(start, end, coarse);
        self.show_pins(&mut pins, start, end)
    }

    /// Whether exactly this range is pinned. It no longer is when an allocation was made there meanwhile.
    pub fn is_pinned(&self, start: u64, len: u64) -> bool {
        let pins = self.pins.lock().unwrap_or_else(PoisonError::into_inner);
        pins.has(start, start.saturating_add(len))
    }

    /// Takes one [`Allocations::pin`] back; false when there is none.
    pub fn unpin(&self, start: u64, len: u64) -> bool {
        let mut pins = self.pins.lock().unwrap_or_else(PoisonError::into_inner);
        let end = start.saturating_add(len);
        pins.remove(start, end) && self.show_pins(&mut pins, start, end).is_ok()
    }

    /// Brings what waves see of pinned memory up to date around a range.
    fn show_pins(&self, pins: &mut Pins, start: u64, end: u64) -> Result<(), MemoryError> {
        for old in pins.hide(start, end) {
            self.withdraw(old);
        }
        let others: Vec<(u64, u64)> = self.memory.ranges().iter().map(|r| (r.start, r.end)).collect();
        for (from, to, coarse) in pins.show(start, end, &others) {
            // SAFETY: only what `pin` was promised to be valid is shown, until the last `unpin` of it.
            unsafe { self.add(from, from, to - from, true, Use::Host, "memory of the program") }?;
            self.memory.set_fine(from, !coarse);
        }
        Ok(())
    }

    pub(crate) fn running(&self) -> Running<'_> {
        self.reclaimer.running()
    }
}

/// Host memory that waves see a second time, below 4 GiB, until this is dropped.
pub struct Mirror {
    start: u64,
    owner: Arc<Allocations>,
}

impl Mirror {
    /// First address, as waves see it.
    pub fn start(&self) -> u64 {
        self.start
    }
}

impl Drop for Mirror {
    fn drop(&mut self) {
        self.owner.withdraw(self.start);
        self.owner.low.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.start);
    }
}

/// Memory that is freed when this is dropped.
pub struct Region {
    map: Option<Mapping>,
    len: u64,
    /// Where waves see it, if that is elsewhere.
    low: Option<u64>,
    owner: Arc<Allocations>,
}

impl Region {
    /// First address, as waves see it.
    pub fn start(&self) -> u64 {
        self.low.unwrap_or_else(|| self.host())
    }

    /// First address, as the host sees it.
    fn host(&self) -> u64 {
        self.map.as_ref().map_or(0, |m| m.as_mut_ptr() as u64)
    }

    /// Makes part of it visible to waves.
    pub fn announce(
        &self,
        offset: u64,
        len: u64,
        writable: bool,
        usage: Use,
        name: &str,
    ) -> Result<(), MemoryError> {
        if offset.checked_add(len).is_none_or(|end| end > self.len.max(1)) {
            return Err(MemoryError(format!("{name}: {len} bytes at {offset} are not in its region")));
        }
        let owner = &self.owner;
        // SAFETY: the region keeps the pages mapped; dropping it withdraws them first and unmaps them only when no wave
        // runs. Host code accesses them through raw pointers only.
        unsafe {
            match self.low {
                Some(low) => owner.add(low + offset, self.host() + offset, len, writable, usage, name),
                None => owner.register(self.host() + offset, len, writable, usage, name),
            }
        }
    }

    /// The host will not write to it while waves run: of what is announced from an offset on, only they change anything.
    pub fn keep_out(&self, offset: u64) {
        self.owner.memory.set_exclusive(self.start() + offset, true);
    }

    /// Size in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// True when it was asked for with length 0.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn place(&self, offset: u64, len: usize) -> Option<*mut u8> {
        let end = offset.checked_add(len as u64)?;
        let map = self.map.as_ref().filter(|_| end <= self.len)?;
        Some(map.as_mut_ptr().wrapping_add(offset as usize))
    }

    /// Copies bytes in; false, and nothing copied, when they do not fit.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> bool {
        let Some(to) = self.place(offset, bytes.len()) else { return false };
        let _present = Present::among_others();
        // SAFETY: `place` checked that the bytes are inside the mapping, which nobody has references to.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        true
    }

    /// Copies bytes out; false, and nothing copied, when they are not all inside.
    pub fn read(&self, offset: u64, out: &mut [u8]) -> bool {
        let Some(from) = self.place(offset, out.len()) else { return false };
        // SAFETY: as in `write`.
        unsafe { std::ptr::copy_nonoverlapping(from, out.as_mut_ptr(), out.len()) };
        true
    }

    /// The aligned word at an offset, which waves may change at any time.
    pub fn word(&self, offset: u64) -> Option<&AtomicU64> {
        let place = self.place(offset, 8).filter(|p| p.addr() % 8 == 0)?;
        // SAFETY: `place` checked that the word is inside the mapping, which lives as long as `self`; atomic accesses
        // may meet those of waves.
        Some(unsafe { AtomicU64::from_ptr(place.cast()) })
    }

    /// A copy of all bytes.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.len as usize];
        self.read(0, &mut bytes);
        bytes
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        let (start, end) = (self.start(), self.start() + self.len.max(1));
        let inside: Vec<u64> = {
            let named = self.owner.named.read().unwrap_or_else(PoisonError::into_inner);
            named.range(start..end).map(|(&s, _)| s).collect()
        };
        for part in inside {
            self.owner.withdraw(part);
        }
        if let Some(low) = self.low {
            self.owner.low.lock().unwrap_or_else(PoisonError::into_inner).remove(&low);
        }
        if let Some(map) = self.map.take() {
            self.owner.held.fetch_sub(paged(self.len), Ordering::Relaxed);
            self.owner.reclaimer.retire(map);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_nearest_allocation() {
        let all = Arc::new(Allocations::default());
        let a = all.allocate(100, Use::Device, "argument 0").unwrap();
        let past = all.nearest(a.start() + 104).unwrap().to_string();
        assert!(past.starts_with("4 bytes past the end of argument 0 (device memory, 100 bytes"), "{past}");
        let before = all.nearest(a.start() - 8).unwrap().to_string();
        assert!(before.starts_with("8 bytes before argument 0"), "{before}");
        assert!(a.write(96, &[1, 2, 3, 4]) && !a.write(97, &[1, 2, 3, 4]));
        assert_eq!(a.to_vec()[95..], [0, 1, 2, 3, 4]);
        drop(a);
        assert!(all.list().is_empty() && all.nearest(0).is_none());
    }

    #[test]
    fn memory_has_mirrors_below_four_gib() {
        let all = Arc::new(Allocations::default());
        let memory = all.allocate(8192, Use::Device, "a buffer").unwrap();
        assert!(memory.write(4096, &[7]));
        // SAFETY: the memory outlives the mirrors, and no wave runs.
        let mirror = || unsafe { all.mirror_low(memory.start() + 4096, 4096, "its second half") }.unwrap();
        let (first, second) = (mirror(), mirror());
        assert!(first.start() < second.start() && second.start() + 4096 <= 1 << 32);
        assert_eq!(all.find(second.start() + 4095).map(|a| a.name).as_deref(), Some("its second half"));
        let gone = first.start();
        drop(first);
        assert!(all.find(gone).is_none());
        assert_eq!(mirror().start(), gone, "its addresses are there for others");
    }

    #[test]
    fn what_was_freed_is_remembered_with_its_dispatch() {
        let memory = Arc::new(Allocations::default());
        let first = memory.allocate(4096, Use::Device, "a buffer").unwrap();
        let code = memory.allocate(4096, Use::Code, "code").unwrap();
        let (at, code_at) = (first.start(), code.start());
        memory.dispatched();
        drop((first, code));
        let freed = memory.freed_at(at + 8).unwrap();
        assert_eq!(
            (freed.allocation.name.as_str(), freed.allocation.len, freed.dispatch),
            ("a buffer", 4096, 1)
        );
        assert!(memory.freed_at(code_at).is_none(), "no program has allocated it");
        // The oldest are forgotten.
        for _ in 0..REMEMBERED {
            drop(memory.allocate(64, Use::Device, "another").unwrap());
        }
        assert!(memory.freed_at(at).is_none_or(|f| f.allocation.name == "another"));
    }

    #[test]
    fn freed_memory_stays_mapped_while_waves_run() {
        let reclaimer = Arc::new(Reclaimer::default());
        let all = Arc::new(Allocations::sharing(&reclaimer, 0));
        let running = all.running();
        drop(all.allocate(1 << 34, Use::Device, "16 GiB, untouched").unwrap());
        assert_eq!(reclaimer.waiting(), 1);
        drop(running);
        assert_eq!(reclaimer.waiting(), 0);
    }
}
