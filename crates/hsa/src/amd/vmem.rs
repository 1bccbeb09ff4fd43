//! Virtual memory that programs put together themselves, and memory that they hand on as files: `hsa_amd_vmem_*`, dma-buf
//! exports, reading and writing files.

use crate::abi::*;
use crate::pool;
use crate::runtime::{Runtime, runtime};
use crate::transfer::within;
use std::fs::File;
use std::os::fd::{BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::os::unix::fs::FileExt;
use std::sync::{MutexGuard, PoisonError};
use wavemill_runtime::heap::Origin;
use wavemill_runtime::vmem::{Access, Memory, Vmem, VmemError};

/// `hsa_amd_memory_access_desc_t`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct AccessDescription {
    permissions: u32,
    agent: Agent,
}

/// `MEMORY_TYPE_PINNED`, the last one.
const TYPE_PINNED: u32 = 1;

/// Files are read and written in pieces of this size.
const PIECE: usize = 1 << 20;

fn status(error: VmemError) -> Status {
    match error {
        VmemError::Invalid => Status::ERROR_INVALID_ARGUMENT,
        VmemError::Unknown => Status::ERROR_INVALID_ALLOCATION,
        VmemError::InUse => Status::ERROR_RESOURCE_FREE,
        VmemError::Exhausted => Status::ERROR_OUT_OF_RESOURCES,
    }
}

fn vmem(runtime: &Runtime) -> MutexGuard<'_, Vmem> {
    runtime.vmem.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A copy of a file that the program names by its number.
fn borrowed(number: RawFd) -> Result<File> {
    if number < 0 {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    // SAFETY: copied at once; a number that is no file is refused by the host.
    let copy = unsafe { BorrowedFd::borrow_raw(number) }.try_clone_to_owned();
    copy.map(File::from).map_err(|_| Status::ERROR_INVALID_ARGUMENT)
}

/// Hands a file to the program.
fn hand_out(runtime: &Runtime, file: File) -> RawFd {
    let number = file.into_raw_fd();
    runtime.exported.lock().unwrap_or_else(PoisonError::into_inner).insert(number);
    number
}

/// Exports part of an allocation.
fn export(address: u64, size: usize, file: Out<i32>, offset: Out<u64>) -> Result {
    let runtime = runtime()?;
    let (file, offset) = (file.check()?, offset.check()?);
    if address == 0 || size == 0 {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let info = runtime.system.heap.find(address).ok_or(Status::ERROR_INVALID_ALLOCATION)?;
    let Origin::Pool(agent, _) = info.origin else { return Err(Status::ERROR_INVALID_ALLOCATION) };
    let at = address - info.start;
    if at.checked_add(size as u64).is_none_or(|end| end > info.len) {
        return Err(Status::ERROR_INVALID_ALLOCATION);
    }
    // The specification: memory of GPUs only.
    if agent == 0 {
        return Err(Status::ERROR_INVALID_AGENT);
    }
    let shared = runtime.system.heap.share(info.start).map_err(|_| Status::ERROR_OUT_OF_RESOURCES)?;
    let (number, _) = shared.ok_or(Status::ERROR_INVALID_ALLOCATION)?;
    let copy = borrowed(number).map_err(|_| Status::ERROR_OUT_OF_RESOURCES)?;
    file.set(hand_out(&runtime, copy))?;
    offset.set(at)
}

/// Moves bytes between a file and memory, in pieces; tells how many.
fn transfer(
    number: u64,
    address: u64,
    size: u64,
    at: i64,
    done: Out<u64>,
    mut piece: impl FnMut(&File, &mut [u8], u64, u64) -> std::io::Result<usize>,
) -> Result {
    let runtime = runtime()?;
    if address == 0 || size == 0 || at < 0 {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    // The low half of the handle is the file's number.
    let file = borrowed(number as u32 as i32)?;
    runtime.system.heap.find(address).ok_or(Status::ERROR_INVALID_ALLOCATION)?;
    within(&runtime, address, size as usize).map_err(|_| Status::ERROR_INVALID_ALLOCATION)?;
    let host = runtime.system.heap.host_address(address);
    let mut bytes = vec![0; PIECE.min(size as usize)];
    let mut moved = 0;
    while moved < size {
        let part = &mut bytes[..PIECE.min((size - moved) as usize)];
        match piece(&file, part, host + moved, at as u64 + moved) {
            Ok(0) => break,
            Ok(n) => moved += n as u64,
            Err(_) => return Err(Status::ERROR),
        }
    }
    if done.is_null() { Ok(()) } else { done.set(moved) }
}

/// What went wrong beside the status, if somebody wants to know: nothing.
fn no_remark(to: Out<i32>) -> Result {
    if to.is_null() { Ok(()) } else { to.set(0) }
}

api! {
    /// Reserves addresses.
    fn hsa_amd_vmem_address_reserve(to: Out<u64>, size: usize, wanted: u64, flags: u64) -> Status {
        reserve(to, size, wanted, 0, flags)
    }

    /// Reserves addresses that are a multiple of something.
    fn hsa_amd_vmem_address_reserve_align(
        to: Out<u64>,
        size: usize,
        wanted: u64,
        alignment: u64,
        flags: u64,
    ) -> Status {
        reserve(to, size, wanted, alignment, flags)
    }

    /// Gives addresses back.
    fn hsa_amd_vmem_address_free(address: u64, size: usize) -> Status {
        let runtime = runtime()?;
        vmem(&runtime).free(address, size as u64).map_err(status)
    }

    /// Makes memory that has no addresses yet.
    fn hsa_amd_vmem_handle_create(
        handle: Pool,
        size: usize,
        kind: u32,
        flags: u64,
        to: Out<VmemHandle>,
    ) -> Status {
        let runtime = runtime()?;
        let to = to.check()?;
        let pool = pool::pool(&runtime, handle)?;
        if kind > TYPE_PINNED || flags != 0 {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        if !pool.allocates() {
            return Err(Status::ERROR_INVALID_ALLOCATION);
        }
        if size as u64 > pool.size {
            return Err(Status::ERROR_OUT_OF_RESOURCES);
        }
        let memory = Memory::new(size as u64, (pool.agent, pool.number), kind).map_err(status)?;
        to.set(VmemHandle(vmem(&runtime).insert(memory)))
    }

    /// Takes a handle back.
    fn hsa_amd_vmem_handle_release(handle: VmemHandle) -> Status {
        let runtime = runtime()?;
        vmem(&runtime).release(handle.0).map_err(status)
    }

    /// Maps memory at reserved addresses.
    fn hsa_amd_vmem_map(address: u64, size: usize, offset: usize, handle: VmemHandle, flags: u64) -> Status {
        let runtime = runtime()?;
        if address == 0 || offset != 0 || flags != 0 {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        let mut vmem = vmem(&runtime);
        let memory = vmem.memory(handle.0).map_err(|_| Status::ERROR_INVALID_ARGUMENT)?;
        vmem.map(address, size as u64, memory).map_err(status)
    }

    /// Takes memory out of its addresses.
    fn hsa_amd_vmem_unmap(address: u64, size: usize) -> Status {
        let runtime = runtime()?;
        vmem(&runtime).unmap(runtime.system.heap.gpus(), address, size as u64).map_err(status)
    }

    /// Says what agents may do with mapped memory.
    fn hsa_amd_vmem_set_access(
        address: u64,
        size: usize,
        list: In<AccessDescription>,
        count: usize,
    ) -> Status {
        let runtime = runtime()?;
        if list.is_null() || count == 0 {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        let wanted = list.list(count)?.into_iter().map(|d| {
            if d.permissions > 3 {
                return Err(Status::ERROR_INVALID_ARGUMENT);
            }
            Ok((runtime.agent(d.agent)?, Access { read: d.permissions & 1 != 0, write: d.permissions & 2 != 0 }))
        });
        let wanted = wanted.collect::<Result<Vec<_>>>()?;
        vmem(&runtime).set_access(runtime.system.heap.gpus(), address, size as u64, &wanted).map_err(status)
    }

    /// What an agent may do at an address.
    fn hsa_amd_vmem_get_access(address: u64, to: Out<u32>, agent: Agent) -> Status {
        let runtime = runtime()?;
        let to = to.check()?;
        let index = runtime.agent(agent)?;
        let access = vmem(&runtime).access(address, index).ok_or(Status::ERROR_INVALID_ALLOCATION)?;
        to.set(u32::from(access.read) | u32::from(access.write) << 1)
    }

    /// Memory as a file that other processes can import.
    fn hsa_amd_vmem_export_shareable_handle(to: Out<i32>, handle: VmemHandle, flags: u64) -> Status {
        let runtime = runtime()?;
        let to = to.check()?;
        if flags != 0 {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        let memory = vmem(&runtime).memory(handle.0).map_err(status)?;
        let file = memory.export().map_err(|_| Status::ERROR_OUT_OF_RESOURCES)?;
        to.set(hand_out(&runtime, file))
    }

    /// Memory that somebody has exported.
    fn hsa_amd_vmem_import_shareable_handle(number: i32, to: Out<VmemHandle>) -> Status {
        let runtime = runtime()?;
        let to = to.check()?;
        let file = borrowed(number).map_err(|_| Status::ERROR_INVALID_ALLOCATION)?;
        let mut vmem = vmem(&runtime);
        // What another process has made counts as the first GPU's.
        let (pool, kind) = vmem.imported(&file).map_or(((1, 0), 0), |m| (m.pool, m.kind));
        let memory = Memory::import(file, pool, kind).map_err(status)?;
        to.set(VmemHandle(vmem.insert(memory)))
    }

    /// The handle of mapped memory, once more.
    fn hsa_amd_vmem_retain_alloc_handle(to: Out<VmemHandle>, address: u64) -> Status {
        let runtime = runtime()?;
        let to = to.check()?;
        to.set(VmemHandle(vmem(&runtime).retain(address).map_err(status)?))
    }

    /// Where memory is from.
    fn hsa_amd_vmem_get_alloc_properties_from_handle(
        handle: VmemHandle,
        to: Out<Pool>,
        kind: Out<u32>,
    ) -> Status {
        let runtime = runtime()?;
        let (to, kind) = (to.check()?, kind.check()?);
        let memory = vmem(&runtime).memory(handle.0).map_err(status)?;
        let (agent, number) = memory.pool;
        let pool = pool::pools(&runtime, agent).get(number).copied().ok_or(Status::ERROR_INVALID_ALLOCATION)?;
        to.set(pool.handle())?;
        kind.set(memory.kind)
    }

    /// Part of an allocation of a GPU as a file.
    fn hsa_amd_portable_export_dmabuf(address: u64, size: usize, file: Out<i32>, offset: Out<u64>) -> Status {
        export(address, size, file, offset)
    }

    /// The same; through the bus or not makes no difference here.
    fn hsa_amd_portable_export_dmabuf_v2(
        address: u64,
        size: usize,
        file: Out<i32>,
        offset: Out<u64>,
        flags: u64,
    ) -> Status {
        if flags > 1 {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        export(address, size, file, offset)
    }

    /// Closes such a file. Others are not ours to close.
    fn hsa_amd_portable_close_dmabuf(number: i32) -> Status {
        let runtime = runtime()?;
        if !runtime.exported.lock().unwrap_or_else(PoisonError::into_inner).remove(&number) {
            return Err(Status::ERROR_RESOURCE_FREE);
        }
        // SAFETY: made by `hand_out`, and the program has just given it back.
        drop(unsafe { OwnedFd::from_raw_fd(number) });
        Ok(())
    }

    /// Writes memory to a file.
    fn hsa_amd_ais_file_write(
        handle: u64,
        address: u64,
        size: u64,
        at: i64,
        done: Out<u64>,
        remark: Out<i32>,
    ) -> Status {
        no_remark(remark)?;
        transfer(handle, address, size, at, done, |file, part, from, at| {
            match copy_host(part.as_mut_ptr() as u64, from, part.len()) {
                true => file.write_at(part, at),
                false => Err(std::io::ErrorKind::InvalidInput.into()),
            }
        })
    }

    /// Reads memory from a file.
    fn hsa_amd_ais_file_read(
        handle: u64,
        address: u64,
        size: u64,
        at: i64,
        done: Out<u64>,
        remark: Out<i32>,
    ) -> Status {
        no_remark(remark)?;
        transfer(handle, address, size, at, done, |file, part, to, at| {
            let n = file.read_at(part, at)?;
            match copy_host(to, part.as_ptr() as u64, n) {
                true => Ok(n),
                false => Err(std::io::ErrorKind::InvalidInput.into()),
            }
        })
    }
}

fn reserve(to: Out<u64>, size: usize, wanted: u64, alignment: u64, flags: u64) -> Result {
    let runtime = runtime()?;
    let to = to.check()?;
    // The only flag keeps the driver out, and there is none.
    if flags > 1 {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    to.set(vmem(&runtime).reserve(size as u64, wanted, alignment).map_err(status)?)
}
