//! Memory that programs allocate: blocks that belong to a pool, with the GPUs that may access each; and memory of the
//! program itself that it has locked.

use crate::graves::Graveyard;
use crate::memory::{Allocations, MemoryError, Use};
use memmap2::{MmapOptions, MmapRaw};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

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

/// Where memory comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// A pool: the number of the agent it belongs to, 0 for the host, and of the pool there.
    Pool(usize, usize),
    /// The program's own memory, locked.
    Locked,
    /// Another process's memory.
    Ipc,
}

/// What is known about an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Info {
    /// First address.
    pub start: u64,
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
    /// None for locked memory.
    map: Option<MmapRaw>,
    /// How often it is locked.
    locks: u32,
}

/// All memory that programs have allocated or locked.
pub struct Heap {
    blocks: RwLock<BTreeMap<u64, Block>>,
    gpus: Vec<Arc<Allocations>>,
    graves: Arc<Graveyard>,
    count: AtomicU64,
}

impl Heap {
    /// An empty heap for GPUs whose allocations these are.
    pub fn new(gpus: Vec<Arc<Allocations>>, graves: Arc<Graveyard>) -> Heap {
        Heap { blocks: RwLock::default(), gpus, graves, count: AtomicU64::new(1) }
    }

    /// Zeroed memory that some GPUs may access; it takes no room until it is touched.
    pub fn allocate(&self, len: u64, origin: Origin, usage: Use, gpus: Gpus) -> Result<u64, MemoryError> {
        let map = usize::try_from(len)
            .ok()
            .filter(|&n| n > 0 && n <= isize::MAX as usize)
            .and_then(|n| MmapOptions::new().len(n).no_reserve_swap().map_anon().ok())
            .ok_or_else(|| MemoryError(format!("no {len} bytes of memory")))?;
        self.adopt(MmapRaw::from(map), origin, usage, gpus)
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
        let info = Info { start, len, origin, gpus: Gpus::default(), user_data: 0 };
        let mut block = Block { info, usage, name, map: Some(map), locks: 0 };
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
            let Info { start, len, .. } = block.info;
            if block.map.is_some() {
                // SAFETY: the mapping lives until `free`, which withdraws it first and lets it be unmapped only when
                // no wave runs. Host code accesses it through raw pointers only.
                unsafe { gpu.register(start, len, true, block.usage, &block.name) }?;
            } else {
                // SAFETY: whoever locked the memory has promised to keep it until it is unlocked.
                unsafe { gpu.pin(start, len) }?;
            }
            block.info.gpus = block.info.gpus.with(Gpus::one(i));
        }
        Ok(())
    }

    fn hide(&self, block: &mut Block, gpus: Gpus) {
        for i in Gpus(gpus.0 & block.info.gpus.0).iter() {
            let Some(gpu) = self.gpus.get(i) else { break };
            if block.map.is_some() {
                gpu.withdraw(block.info.start);
            } else {
                gpu.unpin(block.info.start, block.info.len);
            }
            block.info.gpus.0 &= !Gpus::one(i).0;
        }
    }

    /// Frees the block that starts here; false when there is none.
    pub fn free(&self, start: u64) -> bool {
        let removed = {
            let mut blocks = self.blocks.write().unwrap_or_else(PoisonError::into_inner);
            match blocks.get(&start) {
                Some(block) if block.map.is_some() => blocks.remove(&start),
                _ => None,
            }
        };
        let Some(mut block) = removed else { return false };
        self.hide(&mut block, Gpus(!0));
        if let Some(map) = block.map.take() {
            self.graves.bury(map);
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

    /// Lets GPUs access memory of the program, which may be locked several times. Within a block of ours, only the
    /// access is granted.
    ///
    /// # Safety
    /// The memory must stay valid until it is unlocked.
    pub unsafe fn lock(&self, start: u64, len: u64, gpus: Gpus) -> Result<(), MemoryError> {
        let mut blocks = self.blocks.write().unwrap_or_else(PoisonError::into_inner);
        let end = start.checked_add(len).filter(|_| len > 0);
        let end = end.ok_or_else(|| MemoryError(format!("{len} bytes at {start:#x} are no memory")))?;
        if let Some(block) = at(&mut blocks, start).filter(|b| b.map.is_some())
            && end <= block.info.start + block.info.len
        {
            return self.show(block, gpus);
        }
        if let Some(block) = blocks.get_mut(&start) {
            // Locked again, perhaps for more: the larger range stays until the last one is unlocked.
            let was = block.info.gpus;
            if block.info.len < len {
                self.hide(block, Gpus(!0));
                block.info.len = len;
            }
            block.locks += 1;
            return self.show(block, gpus.with(was));
        }
        let info = Info { start, len, origin: Origin::Locked, gpus: Gpus::default(), user_data: 0 };
        let name = "memory of the program".to_owned();
        let mut block = Block { info, usage: Use::Host, name, map: None, locks: 1 };
        self.show(&mut block, gpus)?;
        blocks.insert(start, block);
        Ok(())
    }

    /// Takes one [`Heap::lock`] back; false when there is none.
    pub fn unlock(&self, start: u64) -> bool {
        let mut blocks = self.blocks.write().unwrap_or_else(PoisonError::into_inner);
        let Some(block) = blocks.get_mut(&start) else { return false };
        if block.map.is_some() {
            return true;
        }
        block.locks -= 1;
        if block.locks == 0
            && let Some(mut block) = blocks.remove(&start)
        {
            self.hide(&mut block, Gpus(!0));
        }
        true
    }

    /// What an address lies in.
    pub fn find(&self, address: u64) -> Option<Info> {
        let mut blocks = self.blocks.write().unwrap_or_else(PoisonError::into_inner);
        at(&mut blocks, address).map(|b| b.info.clone())
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

/// The block that an address lies in. Locked ranges may overlap: the one that starts last counts.
fn at(blocks: &mut BTreeMap<u64, Block>, address: u64) -> Option<&mut Block> {
    let holds = |b: &Block| address >= b.info.start && address - b.info.start < b.info.len;
    let start = blocks.range(..=address).rev().take(64).find(|(_, b)| holds(b)).map(|(&s, _)| s)?;
    blocks.get_mut(&start)
}
