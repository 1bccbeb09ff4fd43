//! Memory that programs allocate: blocks that belong to a pool, with the GPUs that may access each; and memory of the
//! program itself that it has locked.

use crate::ipc;
use crate::observe::{HostEvent, observed, tell};

pub use crate::observe::Origin;
use memmap2::{MmapOptions, MmapRaw};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
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
}

/// What is behind a block's addresses.
enum Backing {
    /// Memory of ours, and the file it is in when other processes may map it.
    Mapped(MmapRaw, Option<File>),
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
}

impl Heap {
    /// An empty heap for GPUs whose allocations these are.
    pub fn new(gpus: Vec<Arc<Allocations>>, reclaimer: Arc<Reclaimer>) -> Heap {
        Heap { blocks: RwLock::default(), gpus, reclaimer, count: AtomicU64::new(1) }
    }

    /// Zeroed memory that some GPUs may access; it takes no room until it is touched.
    pub fn allocate(&self, len: u64, origin: Origin, usage: Use, gpus: Gpus) -> Result<u64, MemoryError> {
        let map = usize::try_from(len)
            .ok()
            .filter(|&n| n > 0 && n <= isize::MAX as usize)
            .and_then(|n| MmapOptions::new().len(n).no_reserve_swap().map_anon().ok())
            .ok_or_else(|| MemoryError(format!("no {len} bytes of memory")))?;
        observed(
            || self.adopt(MmapRaw::from(map), origin, usage, gpus),
            |made| Some(HostEvent::Allocated { address: *made.as_ref().ok()?, bytes: len, origin }),
        )
    }

    /// Takes memory over that was mapped elsewhere.
    pub(crate) fn adopt(
        &self,
        map: MmapRaw,
        origin: Origin,
        usage: Use,
        gpus: Gpus,
    ) -> Result<u64, MemoryError> {
        let (start, len) = (map.as_mut_ptr() as u64, map.len() as u64);
        let name = format!("allocation {}", self.count.fetch_add(1, Ordering::Relaxed));
        let info = Info { start, host: start, len, origin, gpus: Gpus::default(), user_data: 0 };
        let mut block = Block { info, usage, name, backing: Backing::Mapped(map, None), locks: 0 };
        if let Err(e) = self.show(&mut block, gpus) {
            self.hide(&mut block, Gpus(!0));
            return Err(e);
        }
        self.blocks.write().unwrap_or_else(PoisonError::into_inner).insert(start, block);
        Ok(start)
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
                unsafe { gpu.add(start, host, len, true, block.usage, &block.name) }?;
            } else {
                // SAFETY: the mapping lives until `free`, which withdraws it first and lets it be unmapped only when
                // no wave runs. Host code accesses it through raw pointers only.
                unsafe { gpu.register(start, len, true, block.usage, &block.name) }?;
            }
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
        let end = host.checked_add(len).filter(|_| len > 0);
        let end = end.ok_or_else(|| MemoryError(format!("{len} bytes at {host:#x} are no memory")))?;
        let mut blocks = self.blocks.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(block) = at(&mut blocks, host).filter(|b| b.info.origin != Origin::Locked)
            && end <= block.info.start + block.info.len
        {
            self.show(block, gpus)?;
            return Ok(host);
        }
        if let Some(block) = blocks.values_mut().find(|b| b.info.host == host && b.info.len == len) {
            block.locks += 1;
            self.show(block, gpus)?;
            return Ok(block.info.start);
        }
        let map = reserve(host % PAGE + len)?;
        let start = map.start + host % PAGE;
        let info = Info { start, host, len, origin: Origin::Locked, gpus: Gpus::default(), user_data: 0 };
        let name = format!("memory of the program at {host:#x}");
        let mut block = Block { info, usage: Use::Host, name, backing: Backing::Reserved(map), locks: 1 };
        self.show(&mut block, gpus)?;
        blocks.insert(start, block);
        drop(blocks);
        tell(HostEvent::Locked { host, address: start, bytes: len });
        Ok(start)
    }

    /// Takes one [`Heap::lock`] of memory that starts here back; false when there is none.
    pub fn unlock(&self, host: u64) -> bool {
        let mut blocks = self.blocks.write().unwrap_or_else(PoisonError::into_inner);
        let found = blocks.values_mut().find(|b| b.info.origin == Origin::Locked && b.info.host == host);
        let Some(block) = found else { return at(&mut blocks, host).is_some() };
        block.locks -= 1;
        let (start, last) = (block.info.start, block.locks == 0);
        if last && let Some(mut block) = blocks.remove(&start) {
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
        let holds = |i: &Info| i.origin == Origin::Locked && address >= i.host && address - i.host < i.len;
        blocks.values().map(|b| &b.info).find(|i| holds(i)).cloned()
    }

    /// Notes the program's own value for a block; false when there is none.
    pub fn set_user_data(&self, address: u64, value: u64) -> bool {
        let mut blocks = self.blocks.write().unwrap_or_else(PoisonError::into_inner);
        at(&mut blocks, address).map(|b| b.info.user_data = value).is_some()
    }

    /// Bytes allocated from an agent's pools.
    pub fn used(&self, agent: usize) -> u64 {
        let blocks = self.blocks.read().unwrap_or_else(PoisonError::into_inner);
        let of = |b: &&Block| matches!(b.info.origin, Origin::Pool(a, _) if a == agent);
        blocks.values().filter(of).map(|b| b.info.len).sum()
    }
}

/// The block that an address lies in.
fn at(blocks: &mut BTreeMap<u64, Block>, address: u64) -> Option<&mut Block> {
    let (_, block) = blocks.range_mut(..=address).next_back()?;
    (address - block.info.start < block.info.len).then_some(block)
}
