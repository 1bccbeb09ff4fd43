//! Where the lanes of buffer and scratch instructions go: `sem`'s addresses, sixteen lanes at a time.

use crate::simd::{Bits, V16, lane_numbers};
use std::mem::MaybeUninit;
use wavemill_isa::Level;
use wavemill_sem::address;
use wavemill_sem::buffer::{Buffer, BufferOperands};
use wavemill_sem::lanes::{Long, Mask};

/// What makes addresses of offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rule {
    /// A buffer resource.
    Buffer {
        /// The resource.
        words: [u32; 4],
        /// The scalar offset.
        scalar: u32,
        /// The instruction has an index.
        indexed: bool,
        /// It uses the data format.
        converts: bool,
    },
    /// The wave's private memory.
    Scratch {
        /// Where it begins.
        base: u64,
        /// Bytes of each lane; 0 when nobody knows.
        limit: u32,
    },
}

/// Lanes' accesses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    /// What makes addresses of them.
    pub rule: Rule,
    /// The registers with indices and offsets, if there are any.
    pub index: *const u32,
    /// See `index`.
    pub offset: *const u32,
    /// Added to the offset.
    pub constant: u32,
    /// Bytes of the access before these.
    pub before: u32,
    /// Bytes.
    pub bytes: u8,
    /// Active lanes.
    pub exec: u64,
    /// The processor's.
    pub level: Level,
}

/// Addresses of all lanes, in two halves.
#[repr(align(64))]
#[derive(Clone, Copy)]
pub(crate) struct Places {
    /// Lower halves.
    pub low: [u32; 64],
    /// Upper halves.
    pub high: [u32; 64],
}

/// Finds the addresses of all lanes, and writes them. False where it is not that simple: an active lane's access is out of range or in several pieces.
///
/// # Safety
/// The request's registers must be readable.
#[inline(always)]
pub(crate) unsafe fn places<V: V16>(r: &Request, out: &mut MaybeUninit<Places>) -> bool {
    let out = out.as_mut_ptr();
    // SAFETY: the caller's promise.
    let word =
        |p: *const u32, c: usize| unsafe { if p.is_null() { V::splat(0) } else { V::load(p.add(16 * c)) } };
    let (bytes, before) = (r.bytes as u32, V::Long::splat(r.before as u64));
    let mut good = Bits::ones();
    for c in 0..4 {
        let lane = lane_numbers::<V>(c);
        let offset = word(r.offset, c) + V::splat(r.constant);
        let (address, inside) = match r.rule {
            Rule::Buffer { words, scalar, indexed, converts } => {
                let buffer = Buffer::<V>::new(words.map(V::splat), r.level, converts);
                let (index, scalar) = (word(r.index, c), V::splat(scalar));
                let first = BufferOperands { index, offset: offset.zext() + before, scalar, indexed, lane };
                let last = first.plus(bytes.saturating_sub(4));
                // No access goes on at the other end of the offsets.
                let near = offset.lt_u(V::splat(0xffff_ff00));
                let inside = near & buffer.in_range(first, bytes) & buffer.in_range(last, bytes.min(4));
                (buffer.address(first), inside)
            }
            Rule::Scratch { base, limit } => {
                let offset = offset + V::splat(r.before);
                let end = offset.zext() + V::Long::splat(bytes as u64);
                let inside = if limit == 0 { Bits::ones() } else { !V::Long::splat(limit as u64).lt_u(end) };
                (address::swizzled(V::Long::splat(base), offset, lane), inside)
            }
        };
        let whole = !V::splat(4).lt_u((offset & V::splat(3)) + V::splat(bytes.min(4)));
        good = good & (inside & whole | !Bits((r.exec >> (16 * c)) as u16));
        // SAFETY: inside the arrays, which are aligned.
        unsafe {
            address.lo().store((&raw mut (*out).low).cast::<u32>().add(16 * c));
            address.hi().store((&raw mut (*out).high).cast::<u32>().add(16 * c));
        }
    }
    good.0 == !0
}
