//! Bytes that the host moves, between addresses of the program or of GPUs.

use crate::abi::*;
use crate::runtime::{Runtime, runtime};
use wavemill_runtime::observe::{HostEvent, tell};

/// Does memory of ours end before the last byte? What is not ours is the program's own, and its business.
pub fn within(runtime: &Runtime, address: u64, size: usize) -> Result {
    let Some(info) = runtime.system.heap.find(address) else { return Ok(()) };
    // Locked memory may be named by either of its addresses.
    let base = if address.wrapping_sub(info.start) < info.len { info.start } else { info.host };
    let fits = (address - base).checked_add(size as u64).is_some_and(|end| end <= info.len);
    if fits { Ok(()) } else { Err(Status::ERROR_INVALID_ARGUMENT) }
}

/// Copies memory as `memmove` does, between addresses of the program or of GPUs; false when some of it is not there.
pub fn copy(to: u64, from: u64, size: usize) -> bool {
    let host = |address| runtime().map_or(address, |r| r.system.heap.host_address(address));
    tell(HostEvent::Copied { to, from, bytes: size as u64 });
    copy_host(host(to), host(from), size)
}

/// Exchanges what is in two places, piece by piece; false when some of it is not there.
pub fn exchange(one: u64, other: u64, size: usize) -> bool {
    let host = |address| runtime().map_or(address, |r| r.system.heap.host_address(address));
    tell(HostEvent::Copied { to: one, from: other, bytes: size as u64 });
    tell(HostEvent::Copied { to: other, from: one, bytes: size as u64 });
    let (one, other) = (host(one), host(other));
    let mut between = vec![0u8; size.min(64 << 10)];
    let room = between.as_mut_ptr() as u64;
    (0..size).step_by(between.len().max(1)).all(|at| {
        let (part, at) = (between.len().min(size - at), at as u64);
        copy_host(room, one + at, part)
            && copy_host(one + at, other + at, part)
            && copy_host(other + at, room, part)
    })
}
