//! Virtual memory that a program puts together itself (`hsa_amd_vmem_*`): ranges of addresses, memory without addresses, and
//! mappings of the one in the other, with the access of each agent.

use crate::agent;
use crate::heap::Gpus;
use crate::ipc::{self, Content};
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use wavemill_device::memory::{Allocations, Use};

/// Addresses and sizes are multiples of this.
pub const PAGE: u64 = 4096;

/// Why something cannot be done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VmemError {
    /// Numbers that do not fit each other or what is there.
    Invalid,
    /// Nothing of the kind is there.
    Unknown,
    /// It is still in use.
    InUse,
    /// The host has no more.
    Exhausted,
}

/// What an agent may do with a mapping: `hsa_access_permission_t` as bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Access {
    /// It may read.
    pub read: bool,
    /// It may write.
    pub write: bool,
}

/// Memory without addresses.
#[derive(Debug)]
pub struct Memory {
    file: File,
    /// Bytes.
    pub len: u64,
    /// Agent and number of the pool that it is from.
    pub pool: (usize, usize),
    /// `hsa_amd_memory_type_t`, as the program has it: all memory stays where it is here.
    pub kind: u32,
}

impl Memory {
    /// Zeroed memory that counts as a pool's.
    pub fn new(len: u64, pool: (usize, usize), kind: u32) -> Result<Memory, VmemError> {
        if len == 0 || !len.is_multiple_of(PAGE) {
            return Err(VmemError::Invalid);
        }
        let file = ipc::file(len, Content::Memory).map_err(|_| VmemError::Exhausted)?;
        Ok(Memory { file, len, pool, kind })
    }

    /// Memory that somebody has exported, whose pool is not known here.
    pub fn import(file: File, pool: (usize, usize), kind: u32) -> Result<Memory, VmemError> {
        if !ipc::is_ours(&file) {
            return Err(VmemError::Unknown);
        }
        let len = file.metadata().map_err(|_| VmemError::Unknown)?.len();
        Ok(Memory { file, len, pool, kind })
    }

    /// A file through which others reach the memory.
    pub fn export(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Whether a file is this memory.
    pub fn is(&self, file: &File) -> bool {
        let same = |a: std::fs::Metadata, b: std::fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
        self.file.metadata().ok().zip(file.metadata().ok()).is_some_and(|(a, b)| same(a, b))
    }
}

/// Memory at addresses.
struct Mapped {
    len: u64,
    memory: Arc<Memory>,
    host: Access,
    /// What GPUs may do, and which have been told so.
    gpus: BTreeMap<usize, Access>,
}

impl Mapped {
    /// GPUs that see it do so no longer.
    fn hide(&self, gpus: &[Arc<Allocations>], start: u64) {
        let seen = self.gpus.iter().filter(|(_, a)| a.read || a.write);
        seen.filter_map(|(i, _)| gpus.get(*i)).for_each(|gpu| drop(gpu.withdraw(start)));
    }
}

/// A program's name for memory.
struct Handle {
    memory: Arc<Memory>,
    /// How often it must be released. Mapped memory keeps its name after that.
    count: u32,
}

/// The first handle, unlike those of other things.
const FIRST_HANDLE: u64 = 0x3e30_0000_0001;

/// All ranges, memory and mappings.
#[derive(Default)]
pub struct Vmem {
    handles: BTreeMap<u64, Handle>,
    /// How many handles there have been: none is used twice.
    made: u64,
    /// Reserved addresses: start to length.
    ranges: BTreeMap<u64, u64>,
    mapped: BTreeMap<u64, Mapped>,
}

/// Nobody may touch these addresses.
///
/// # Safety
/// The addresses must be a reserved range's, whose content nobody needs any more.
unsafe fn clear(address: u64, len: u64) -> io::Result<()> {
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED;
    // SAFETY: the caller's promise.
    unsafe { mmap_anonymous(address as *mut _, len as usize, ProtFlags::empty(), flags) }?;
    Ok(())
}

impl Vmem {
    /// A handle of memory.
    pub fn insert(&mut self, memory: Memory) -> u64 {
        let handle = FIRST_HANDLE + self.made;
        self.made += 1;
        self.handles.insert(handle, Handle { memory: Arc::new(memory), count: 1 });
        handle
    }

    /// The memory of a handle that was not released.
    pub fn memory(&self, handle: u64) -> Result<Arc<Memory>, VmemError> {
        let found = self.handles.get(&handle).filter(|h| h.count > 0);
        found.map(|h| h.memory.clone()).ok_or(VmemError::Unknown)
    }

    /// The memory of this process that a file is, if any.
    pub fn imported(&self, file: &File) -> Option<Arc<Memory>> {
        self.handles.values().find(|h| h.memory.is(file)).map(|h| h.memory.clone())
    }

    /// Takes one handle back. The memory stays while it is mapped.
    pub fn release(&mut self, handle: u64) -> Result<(), VmemError> {
        let known = self.handles.get_mut(&handle).filter(|h| h.count > 0).ok_or(VmemError::Unknown)?;
        known.count -= 1;
        self.forget();
        Ok(())
    }

    /// The handle of what is mapped at an address, to be released once more.
    pub fn retain(&mut self, address: u64) -> Result<u64, VmemError> {
        let memory = self.at(address).ok_or(VmemError::Unknown)?.1.memory.clone();
        let same = self.handles.iter_mut().find(|(_, h)| Arc::ptr_eq(&h.memory, &memory));
        let (handle, known) = same.ok_or(VmemError::Unknown)?;
        known.count += 1;
        Ok(*handle)
    }

    /// Forgets handles that are released of memory that is nowhere mapped.
    fn forget(&mut self) {
        self.handles.retain(|_, h| h.count > 0 || Arc::strong_count(&h.memory) > 1);
    }

    /// Reserves addresses: at `wanted` if they are free there, at a multiple of `align`.
    pub fn reserve(&mut self, len: u64, wanted: u64, align: u64) -> Result<u64, VmemError> {
        let align = if align == 0 { PAGE } else { align };
        if len == 0 || !len.is_multiple_of(PAGE) || align < PAGE || !align.is_power_of_two() {
            return Err(VmemError::Invalid);
        }
        // Room to align, and a gap behind it, as all memory has one.
        let whole = len.checked_add(align).and_then(|n| n.checked_add(PAGE));
        let whole = whole.and_then(|n| usize::try_from(n).ok()).ok_or(VmemError::Exhausted)?;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        let hint = if wanted.is_multiple_of(align) { wanted } else { 0 };
        // SAFETY: without FIXED a new mapping touches nobody's memory.
        let at = unsafe { mmap_anonymous(hint as *mut _, whole, ProtFlags::empty(), flags) };
        let at = at.map_err(|_| VmemError::Exhausted)? as u64;
        let start = at.next_multiple_of(align);
        let end = start + len + PAGE;
        for (from, to) in [(at, start), (end, at + whole as u64)] {
            if from < to {
                // SAFETY: the ends of what was just mapped, which nobody knows. A failure leaves them reserved.
                let _ = unsafe { munmap(from as *mut _, (to - from) as usize) };
            }
        }
        self.ranges.insert(start, len);
        Ok(start)
    }

    /// Gives reserved addresses back.
    pub fn free(&mut self, start: u64, len: u64) -> Result<(), VmemError> {
        let known = *self.ranges.get(&start).ok_or(VmemError::Unknown)?;
        if known != len {
            return Err(VmemError::Invalid);
        }
        if self.mapped.range(start..start + len).next().is_some() {
            return Err(VmemError::InUse);
        }
        self.ranges.remove(&start);
        // SAFETY: exactly what `reserve` has left mapped; nothing is mapped in it any more.
        let _ = unsafe { munmap(start as *mut _, (len + PAGE) as usize) };
        Ok(())
    }

    /// Maps memory in a reserved range. Nobody may access it yet.
    pub fn map(&mut self, start: u64, len: u64, memory: Arc<Memory>) -> Result<(), VmemError> {
        let end = start.checked_add(len).ok_or(VmemError::Invalid)?;
        let range = self.ranges.range(..=start).next_back().filter(|(s, l)| end <= *s + *l);
        if len != memory.len || !start.is_multiple_of(PAGE) || range.is_none() {
            return Err(VmemError::Invalid);
        }
        let before = self.mapped.range(..end).next_back().is_some_and(|(s, m)| s + m.len > start);
        if before {
            return Err(VmemError::Invalid);
        }
        // SAFETY: in a reserved range, where nothing is mapped.
        unsafe { ipc::map_at(&memory.file, start, len as usize) }.map_err(|_| VmemError::Exhausted)?;
        // SAFETY: just mapped.
        let hidden = unsafe { mprotect(start as *mut _, len as usize, MprotectFlags::empty()) };
        if hidden.is_err() {
            // SAFETY: as above.
            let _ = unsafe { clear(start, len) };
            return Err(VmemError::Exhausted);
        }
        let mapped = Mapped { len, memory, host: Access::default(), gpus: BTreeMap::new() };
        self.mapped.insert(start, mapped);
        Ok(())
    }

    /// Takes memory out of its addresses.
    pub fn unmap(&mut self, gpus: &[Arc<Allocations>], start: u64, len: u64) -> Result<(), VmemError> {
        let known = self.mapped.get(&start).ok_or(VmemError::Unknown)?;
        if known.len != len {
            return Err(VmemError::Invalid);
        }
        known.hide(gpus, start);
        self.mapped.remove(&start);
        self.forget();
        // SAFETY: mapped by `map`. A wave in the middle of an access finds that the page is gone, which is a fault.
        unsafe { clear(start, len) }.map_err(|_| VmemError::Exhausted)
    }

    /// Says what agents may do with a mapping: the host is agent 0, GPU n agent n + 1. Others stay as they are.
    pub fn set_access(
        &mut self,
        gpus: &[Arc<Allocations>],
        start: u64,
        len: u64,
        wanted: &[(usize, Access)],
    ) -> Result<(), VmemError> {
        let mapped = self.mapped.get_mut(&start).ok_or(VmemError::Unknown)?;
        if mapped.len != len {
            return Err(VmemError::Invalid);
        }
        mapped.hide(gpus, start);
        for &(agent, access) in wanted {
            match agent.checked_sub(1) {
                None => mapped.host = access,
                Some(gpu) => drop(mapped.gpus.insert(gpu, access)),
            }
        }
        // GPUs use the host's page tables here: these allow what anybody may.
        let anybody = |f: fn(&Access) -> bool| f(&mapped.host) || mapped.gpus.values().any(f);
        let mut flags = MprotectFlags::empty();
        flags.set(MprotectFlags::READ, anybody(|a| a.read || a.write));
        flags.set(MprotectFlags::WRITE, anybody(|a| a.write));
        // SAFETY: mapped by `map`.
        unsafe { mprotect(start as *mut _, len as usize, flags) }.map_err(|_| VmemError::Exhausted)?;
        for (index, gpu) in gpus.iter().enumerate() {
            let Some(access) = mapped.gpus.get(&index) else { continue };
            if access.read || access.write {
                // SAFETY: the mapping lives until `unmap`, which withdraws it first.
                let shown = unsafe { gpu.register(start, len, access.write, Use::Device, "virtual memory") };
                shown.map_err(|_| VmemError::Exhausted)?;
                let (agent, pool) = mapped.memory.pool;
                gpu.memory().set_fine(start, agent::is_fine(agent, pool));
            }
        }
        Ok(())
    }

    /// What an agent may do at an address; nothing when nobody has said so.
    pub fn access(&self, address: u64, agent: usize) -> Option<Access> {
        let mapped = self.at(address)?.1;
        match agent.checked_sub(1) {
            None => Some(mapped.host).filter(|a| *a != Access::default()),
            Some(gpu) => mapped.gpus.get(&gpu).copied(),
        }
    }

    /// The memory mapped at an address, with where that mapping starts and who may access it.
    pub fn find(&self, address: u64) -> Option<(u64, Arc<Memory>, Gpus)> {
        let (start, mapped) = self.at(address)?;
        let may = mapped.gpus.iter().filter(|(_, a)| a.read || a.write);
        let gpus = may.fold(Gpus::default(), |all, (i, _)| all.with(Gpus::one(*i)));
        Some((start, mapped.memory.clone(), gpus))
    }

    /// The reserved range that an address lies in.
    pub fn reserved(&self, address: u64) -> Option<(u64, u64)> {
        let (start, len) = self.ranges.range(..=address).next_back()?;
        (address - start < *len).then_some((*start, *len))
    }

    fn at(&self, address: u64) -> Option<(u64, &Mapped)> {
        let (start, mapped) = self.mapped.range(..=address).next_back()?;
        (address - start < mapped.len).then_some((*start, mapped))
    }
}

impl Drop for Vmem {
    fn drop(&mut self) {
        for (&start, &len) in &self.ranges {
            // SAFETY: exactly what `reserve` has left mapped; the runtime is gone, and with it every wave.
            let _ = unsafe { munmap(start as *mut _, (len + PAGE) as usize) };
        }
    }
}
