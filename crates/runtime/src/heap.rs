//! Memory that programs allocate: blocks that belong to a pool, with the GPUs that may access each; and memory of the
//! program itself that it has locked.

use crate::observe::{HostEvent, observed, tell};
use crate::{agent, ipc, maps};

pub use crate::observe::Origin;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use wavemill_device::mapping::Mapping;
use wavemill_device::memory::{Allocations, MemoryError, Use};
use wavemill_device::reclaim::Reclaimer;

/// A set of GPUs, by number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Gpus(pub u64);

impl Gpus {
    /// One GPU.
    pub fn one(index: usize) -> Gpus {
        Gpus(1 << (index & 63))
    }

    /// The first `count`.
    pub fn first(count: usize) -> Gpus {
        Gpus(if count >= 64 { !0 } else { (1 << count) - 1 })
    }

    /// Whether a GPU is among them.
    pub fn contains(self, index: usize) -> bool {
        self.0 >> (index & 63) & 1 != 0
    }

    /// Those in either.
    pub fn with(self, other: Gpus) -> Gpus {
        Gpus(self.0 | other.0)
    }

    /// Their numbers.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..64).filter(move |&i| self.contains(i))
    }
}

/// What is known about an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Info {
    /// First address.
    pub start: u64,
    /// First address as the program sees it: another one if it is locked memory.
    pub host: u64,
    /// Bytes.
    pub len: u64,
    /// Where it comes from.
    pub origin: Origin,
    /// GPUs that may access it.
    pub gpus: Gpus,
    /// The program's own note.
    pub user_data: u64,
}

struct Block {
    info: Info,
    usage: Use,
    name: String,
    backing: Backing,
    /// How often it is locked.
    locks: u32,
    /// GPUs may write it.
    writable: bool,
    /// It is fine-grained.
    fine: bool,
}

impl Block {
    /// Whether nobody writes to it while waves run but waves of this process and copies that the program asks for: GPUs' own
    /// memory is so, as long as it is not shared. For the host to write there by itself while a kernel changes the same words
    /// has no meaning.
    fn is_exclusive(&self) -> bool {
        self.home().is_some() && matches!(self.backing, Backing::Mapped(_, None))
    }

    /// The GPU in whose coarse-grained memory it is.
    fn home(&self) -> Option<u32> {
        match self.info.origin {
            Origin::Pool(agent, _) if !self.fine => agent.checked_sub(1).map(|gpu| gpu as u32),
            _ => None,
        }
    }
}

/// What is behind a block's addresses.
enum Backing {
    /// Memory of ours, and the file it is in when other processes may map it.
    Mapped(Mapping, Option<File>),
    /// Addresses at which GPUs see memory of the program.
    Reserved(#[expect(dead_code, reason = "held until it is dropped")] Reserved),
}

/// Addresses that nobody else gets and nobody can access.
struct Reserved {
    start: u64,
    len: usize,
}

const PAGE: u64 = 4096;

fn reserve(len: u64) -> Result<Reserved, MemoryError> {
    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
    let none = || MemoryError(format!("no {len} bytes of addresses"));
    let len = usize::try_from(len.next_multiple_of(PAGE)).map_err(|_| none())?;
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
    // SAFETY: a new mapping wherever there is room touches nobody's memory.
    let start = unsafe { mmap_anonymous(std::ptr::null_mut(), len, ProtFlags::empty(), flags) };
    Ok(Reserved { start: start.map_err(|_| none())? as u64, len })
}

impl Drop for Reserved {
    fn drop(&mut self) {
        // SAFETY: exactly what `reserve` mapped; nothing is ever accessed there. A failure leaves it reserved.
        let _ = unsafe { rustix::mm::munmap(self.start as *mut _, self.len) };
    }
}

/// All memory that programs have allocated or locked.
pub struct Heap {
    blocks: RwLock<BTreeMap<u64, Block>>,
    gpus: Vec<Arc<Allocations>>,
    reclaimer: Arc<Reclaimer>,
    count: AtomicU64,
    /// Locked blocks: where the program has the memory, and where GPUs see it. Only looked at with `blocks` in hand.
    locked: Mutex<BTreeSet<(u64, u64)>>,
    /// Bytes allocated from the pools of each agent.
    used: RwLock<BTreeMap<usize, u64>>,
}

impl Heap {
    /// An empty heap for GPUs whose allocations these are.
    pub fn new(gpus: Vec<Arc<Allocations>>, reclaimer: Arc<Reclaimer>) -> Heap {
        Heap {
            blocks: RwLock::default(),
            gpus,
            reclaimer,
            count: AtomicU64::new(1),
            locked: Mutex::default(),
            used: RwLock::default(),
        }
    }

    /// Zeroed memory that some GPUs may access; it takes no room until it is touched.
    pub fn allocate(&self, len: u64, origin: Origin, usage: Use, gpus: Gpus) -> Result<u64, MemoryError> {
        let none = || MemoryError(format!("no {len} bytes of memory"));
        let map = (len > 0).then(|| Mapping::new(len)).ok_or_else(none)?.map_err(|_| none())?;
        observed(
            || self.adopt(map, origin, usage, gpus),
            |made| Some(HostEvent::Allocated { address: *made.as_ref().ok()?, bytes: len, origin }),
        )
    }

    /// Takes memory over that was mapped elsewhere.
    pub(crate) fn adopt(
        &self,
        map: Mapping,
        origin: Origin,
        usage: Use,
        gpus: Gpus,
    ) -> Result<u64, MemoryError> {
        let (start, len) = (map.start(), map.len() as u64);
        let name = format!("allocation {}", self.count.fetch_add(1, Ordering::Relaxed));
        let info = Info { start, host: start, len, origin, gpus: Gpus::default(), user_data: 0 };
        let fine = matches!(origin, Origin::Pool(agent, pool) if agent::is_fine(agent, pool));
        let backing = Backing::Mapped(map, None);
        let mut block = Block { info, usage, name, backing, locks: 0, writable: true, fine };
        if let Err(e) = self.show(&mut block, gpus) {
            self.hide(&mut block, Gpus(!0));
            return Err(e);
        }
        self.blocks.write().unwrap_or_else(PoisonError::into_inner).insert(start, block);
        self.account(origin, |used| used + len);
        Ok(start)
    }

    /// Notes that an agent's pools have more or less.
    fn account(&self, origin: Origin, change: impl FnOnce(u64) -> u64) {
        if let Origin::Pool(agent, _) = origin {
            let mut used = self.used.write().unwrap_or_else(PoisonError::into_inner);
            let used = used.entry(agent).or_default();
            *used = change(*used);
        }
    }

    fn locked(&self) -> MutexGuard<'_, BTreeSet<(u64, u64)>> {
        self.locked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets GPUs see a block.
    fn show(&self, block: &mut Block, gpus: Gpus) -> Result<(), MemoryError> {
        for (i, gpu) in self.gpus.iter().enumerate() {
            if !gpus.contains(i) || block.info.gpus.contains(i) {
                continue;
            }
            let Info { start, host, len, .. } = block.info;
            if block.info.origin == Origin::Locked {
                // SAFETY: whoever locked the memory has promised to keep it until it is unlocked.
                unsafe { gpu.add(start, host, len, block.writable, block.usage, &block.name) }?;
            } else {
                // SAFETY: the mapping lives until `free`, which withdraws it first and lets it be unmapped only when
                // no wave runs. Host code accesses it through raw pointers only.
                unsafe { gpu.register(start, len, true, block.usage, &block.name) }?;
            }
            gpu.memory().set_fine(start, block.fine);
            gpu.memory().set_exclusive(start, block.is_exclusive());
            gpu.set_home(start, block.home());
            block.info.gpus = block.info.gpus.with(Gpus::one(i));
        }
        Ok(())
    }

    fn hide(&self, block: &mut Block, gpus: Gpus) {
        for i in Gpus(gpus.0 & block.info.gpus.0).iter() {
            let Some(gpu) = self.gpus.get(i) else { break };
            gpu.withdraw(block.info.start);
            block.info.gpus.0 &= !Gpus::one(i).0;
        }
    }

    /// Frees the block that starts here; false when there is none.
    pub fn free(&self, start: u64) -> bool {
        observed(|| self.remove(start), |freed| freed.then_some(HostEvent::Freed { address: start }))
    }

    fn remove(&self, start: u64) -> bool {
        let removed = {
            let mut blocks = self.blocks.write().unwrap_or_else(PoisonError::into_inner);
            match blocks.get(&start) {
                Some(block) if block.info.origin != Origin::Locked => blocks.remove(&start),
                _ => None,
            }
        };
        let Some(mut block) = removed else { return false };
        self.hide(&mut block, Gpus(!0));
        self.account(block.info.origin, |used| used - block.info.len);
        if let Backing::Mapped(map, _) = block.backing {
            self.reclaimer.retire(map);
        }
        true
    }

    /// Says which GPUs may access the block that an address lies in; false when there is none.
    pub fn allow(&self, address: u64, gpus: Gpus) -> Result<bool, MemoryError> {
        let mut blocks = self.blocks.write().unwrap_or_else(PoisonError::into_inner);
        let Some(block) = at(&mut blocks, address) else { return Ok(false) };
        let owner = match block.info.origin {
            Origin::Pool(agent, _) if agent > 0 => Gpus::one(agent - 1),
            _ => Gpus::default(),
        };
        let wanted = gpus.with(owner);
        let others = Gpus(!wanted.0);
        self.hide(block, others);
        self.show(block, wanted)?;
        Ok(true)
    }

    /// Lets GPUs access memory of the program, which may be locked several times, and tells where they see it: at other
    /// addresses than the program, as with a real GPU (HIP relies on it). Within a block of ours, only access is granted.
    ///
    /// # Safety
    /// The memory must stay valid until it is unlocked.
    pub unsafe fn lock(&self, host: u64, len: u64, gpus: Gpus) -> Result<u64, MemoryError> {
        // SAFETY: promised by the caller.
        unsafe { self.lock_as(host, len, gpus, true) }
    }

    /// The same for memory that is fine-grained or not. Whoever locks it first decides.
    ///
    /// # Safety
    /// As for [`Heap::lock`].
    pub unsafe fn lock_as(&self, host: u64, len: u64, gpus: Gpus, fine: bool) -> Result<u64, MemoryError> {
        let end = host.checked_add(len).filter(|_| len > 0);
        let end = end.ok_or_else(|| MemoryError(format!("{len} bytes at {host:#x} are no memory")))?;
        let mut blocks = self.blocks.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(block) = at(&mut blocks, host).filter(|b| b.info.origin != Origin::Locked)
            && end <= block.info.start + block.info.len
        {
            self.show(block, gpus)?;
            return Ok(host);
        }
        let same: Vec<u64> = self.locked().range((host, 0)..=(host, u64::MAX)).map(|l| l.1).collect();
        for start in same {
            if let Some(block) = blocks.get_mut(&start).filter(|b| b.info.len == len) {
                block.locks += 1;
                self.show(block, gpus)?;
                return Ok(start);
            }
        }
        let Some(writable) = maps::access(host, end) else {
            return Err(MemoryError(format!("{len} bytes at {host:#x} are not all mapped")));
        };
        // A gap on both sides, as all memory has it.
        let map = reserve((host % PAGE).saturating_add(len).saturating_add(2 * PAGE))?;
        let start = map.start + PAGE + host % PAGE;
        let info = Info { start, host, len, origin: Origin::Locked, gpus: Gpus::default(), user_data: 0 };
        let name = format!("memory of the program at {host:#x}");
        let backing = Backing::Reserved(map);
        let mut block = Block { info, usage: Use::Host, name, backing, locks: 1, writable, fine };
        self.show(&mut block, gpus)?;
        blocks.insert(start, block);
        self.locked().insert((host, start));
        drop(blocks);
        tell(HostEvent::Locked { host, address: start, bytes: len });
        Ok(start)
    }

    /// Takes one [`Heap::lock`] of memory that starts here back; false when there is none.
    pub fn unlock(&self, host: u64) -> bool {
        let mut blocks = self.blocks.write().unwrap_or_else(PoisonError::into_inner);
        let found = self.locked().range((host, 0)..=(host, u64::MAX)).next().map(|l| l.1);
        let Some(block) = found.and_then(|start| blocks.get_mut(&start)) else {
            return at(&mut blocks, host).is_some();
        };
        block.locks -= 1;
        let (start, last) = (block.info.start, block.locks == 0);
        if last && let Some(mut block) = blocks.remove(&start) {
            self.locked().remove(&(host, start));
            self.hide(&mut block, Gpus(!0));
        }
        drop(blocks);
        tell(HostEvent::Unlocked { host });
        true
    }

    /// Where the host sees what GPUs see at an address.
    pub fn host_address(&self, address: u64) -> u64 {
        let blocks = self.blocks.read().unwrap_or_else(PoisonError::into_inner);
        let below = blocks.range(..=address).next_back().map(|(_, b)| &b.info);
        let inside = below.filter(|i| i.origin == Origin::Locked && address - i.start < i.len);
        inside.map_or(address, |i| address - i.start + i.host)
    }

    /// Makes a block's memory one that other processes can map; returns the file's number and its size. `None` when no
    /// block starts here.
    pub fn share(&self, start: u64) -> Result<Option<(i32, u64)>, MemoryError> {
        let mut blocks = self.blocks.write().unwrap_or_else(PoisonError::into_inner);
        let Some(block) = blocks.get_mut(&start) else { return Ok(None) };
        let Backing::Mapped(map, file) = &mut block.backing else { return Ok(None) };
        if file.is_none() {
            for gpu in &self.gpus {
                gpu.memory().set_exclusive(start, false);
            }
            *file = Some(ipc::share(map).map_err(|e| MemoryError(format!("memory cannot be shared: {e}")))?);
        }
        Ok(file.as_ref().map(|f| (f.as_raw_fd(), block.info.len)))
    }

    /// Maps memory that another process shares.
    pub fn attach(&self, pid: u32, file: i32, len: u64, gpus: Gpus) -> Result<u64, MemoryError> {
        let map = ipc::attach(pid, file, len).map_err(|e| MemoryError(format!("no shared memory: {e}")))?;
        self.adopt(map, Origin::Ipc, Use::Device, gpus)
    }

    /// What an address lies in.
    pub fn find(&self, address: u64) -> Option<Info> {
        let mut blocks = self.blocks.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(block) = at(&mut blocks, address) {
            return Some(block.info.clone());
        }
        // Locked memory has an address of the program's own, too.
        let holds = |i: &&Info| address >= i.host && address - i.host < i.len;
        let locked = self.locked();
        let below = locked.range(..=(address, u64::MAX)).rev();
        below.filter_map(|l| blocks.get(&l.1)).map(|b| &b.info).find(holds).cloned()
    }

    /// Whether memory of ours lies in a range.
    pub fn overlaps(&self, start: u64, end: u64) -> bool {
        let blocks = self.blocks.read().unwrap_or_else(PoisonError::into_inner);
        let below = blocks.range(..end).rev().map(|(_, b)| &b.info).find(|i| i.origin != Origin::Locked);
        below.is_some_and(|i| i.start + i.len > start)
    }

    /// GPUs' views of memory, by their numbers.
    pub fn gpus(&self) -> &[Arc<Allocations>] {
        &self.gpus
    }

    /// Notes the program's own value for a block; false when there is none.
    pub fn set_user_data(&self, address: u64, value: u64) -> bool {
        let mut blocks = self.blocks.write().unwrap_or_else(PoisonError::into_inner);
        at(&mut blocks, address).map(|b| b.info.user_data = value).is_some()
    }

    /// Bytes allocated from an agent's pools.
    pub fn used(&self, agent: usize) -> u64 {
        self.used.read().unwrap_or_else(PoisonError::into_inner).get(&agent).copied().unwrap_or(0)
    }
}

/// The block that an address lies in.
fn at(blocks: &mut BTreeMap<u64, Block>, address: u64) -> Option<&mut Block> {
    let (_, block) = blocks.range_mut(..=address).next_back()?;
    (address - block.info.start < block.info.len).then_some(block)
}
