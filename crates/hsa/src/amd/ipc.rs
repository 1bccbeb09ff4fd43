//! Memory and signals that several processes share.

use crate::abi::*;
use crate::runtime::{runtime, signal};
use wavemill_runtime::heap::Origin;

/// `hsa_amd_ipc_memory_t` and `hsa_amd_ipc_signal_t`: who shares it, the file it is in, and how large it is.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Handle {
    kind: u32,
    pid: u32,
    file: i32,
    zero: u32,
    len: u64,
    zeros: u64,
}

const MEMORY: u32 = 0x6d77_6d61;
const SIGNAL: u32 = 0x6d77_6d62;

impl Handle {
    fn new(kind: u32, file: i32, len: u64) -> Handle {
        Handle { kind, pid: std::process::id(), file, zero: 0, len, zeros: 0 }
    }
}

api! {
    /// Makes a handle by which other processes can map an allocation.
    fn hsa_amd_ipc_memory_create(address: u64, len: usize, to: Out<Handle>) -> Status {
        let runtime = runtime()?;
        let to = to.check()?;
        if address == 0 || len == 0 {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        let info = runtime.system.heap.find(address).filter(|i| matches!(i.origin, Origin::Pool(..)));
        // The whole allocation is shared; programs may round its size up to pages.
        info.filter(|i| i.start == address && len as u64 <= i.len.next_multiple_of(4096))
            .ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        let shared = runtime.system.heap.share(address).map_err(|_| Status::ERROR_OUT_OF_RESOURCES)?;
        let (file, len) = shared.ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        to.set(Handle::new(MEMORY, file, len))
    }

    /// Maps an allocation of another process.
    fn hsa_amd_ipc_memory_attach(
        from: In<Handle>,
        len: usize,
        count: u32,
        agents: In<Agent>,
        to: Out<u64>,
    ) -> Status {
        let runtime = runtime()?;
        let (from, to) = (from.get()?, to.check()?);
        if (count != 0) == agents.is_null() {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        let gpus = match count {
            0 => runtime.all_gpus(),
            n => runtime.gpus(&agents.list(n as usize)?)?,
        };
        if from.kind != MEMORY || len as u64 > from.len.next_multiple_of(4096) {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        let mapped = runtime.system.heap.attach(from.pid, from.file, from.len, gpus);
        to.set(mapped.map_err(|_| Status::ERROR_INVALID_ARGUMENT)?)
    }

    /// Takes such a mapping back.
    fn hsa_amd_ipc_memory_detach(address: u64) -> Status {
        let runtime = runtime()?;
        let heap = &runtime.system.heap;
        let mapped = heap.find(address).filter(|i| i.origin == Origin::Ipc && i.start == address);
        mapped.ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        if heap.free(address) { Ok(()) } else { Err(Status::ERROR_INVALID_ARGUMENT) }
    }

    /// Makes a handle by which other processes can attach to a signal that was made for it.
    fn hsa_amd_ipc_signal_create(handle: SignalHandle, to: Out<Handle>) -> Status {
        runtime()?;
        let to = to.check()?;
        let file = signal(handle)?.shared_file().ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        to.set(Handle::new(SIGNAL, file, 0))
    }

    /// Attaches to a signal of another process.
    fn hsa_amd_ipc_signal_attach(from: In<Handle>, to: Out<SignalHandle>) -> Status {
        let runtime = runtime()?;
        let (from, to) = (from.get()?, to.check()?);
        if from.kind != SIGNAL {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        let signal = runtime.system.attach_signal(from.pid, from.file).ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        to.set(SignalHandle(signal.handle()))
    }
}
